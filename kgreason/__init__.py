"""Find out why a knowledge graph is wrong: hypothesis-driven reasoning on RDF graphs.

>>> import kgreason
>>> result = kgreason.investigate("data/", shapes="shapes.ttl")  # doctest: +SKIP
>>> print(result.markdown())  # doctest: +SKIP
"""

from kgreason.api import investigate, result, resume, symptoms
from kgreason.errors import KgreasonError
from kgreason.request import Request
from kgreason.result import Result

__all__ = [
    "KgreasonError",
    "Request",
    "Result",
    "investigate",
    "result",
    "resume",
    "symptoms",
]
