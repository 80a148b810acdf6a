"""From the names that a user gives to the sources themselves."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from kgreason.base.errors import OptionError
from kgreason.base.fetching import CACHE, Fetch
from kgreason.observe.request import Request
from kgreason.record.policy import Policy
from kgreason.record.remote import address_of
from kgreason.sources import crossref, openalex, pubmed, semantic_scholar, sparql_endpoint
from kgreason.sources.arxiv import Arxiv
from kgreason.sources.crossref import Crossref
from kgreason.sources.described import Described, Service, services
from kgreason.sources.document_folder import DocumentFolder
from kgreason.sources.europe_pmc import EuropePmc
from kgreason.sources.further import TermChooser
from kgreason.sources.look_up import FURTHER_KINDS, LookUp
from kgreason.sources.openalex import OpenAlex
from kgreason.sources.pubmed import PubMed
from kgreason.sources.readings import PassageReader, Readings, readings_of
from kgreason.sources.semantic_scholar import SemanticScholar
from kgreason.sources.sparql_endpoint import SparqlEndpoint
from kgreason.sources.text_graph import PREFIX, TextGraph
from kgreason.sources.works import Source
from kgreason.test.tester import Tester

_NOTHING: Final[Callable[[], dict[str, str]]] = dict
_MADE: Final[dict[str, Callable[[Fetch], Source]]] = {
    "pubmed": PubMed,
    "europepmc": EuropePmc,
    "semanticscholar": SemanticScholar,
    "openalex": OpenAlex,
    "crossref": Crossref,
    "arxiv": Arxiv,
}
_SECRET: Final = {"pubmed": pubmed.keys, "openalex": openalex.keys, "crossref": crossref.keys}
_HEADERS: Final = {"semanticscholar": semantic_scholar.headers}


def source_testers(
    request: Request,
    ledger: Path | None = None,
    rules: Policy | None = None,
    model: PassageReader | None = None,
    chooser: TermChooser | None = None,
) -> tuple[Tester, ...]:
    """Return the tester that looks hypotheses up in the sources of a request; none where none is.

    Answers of services are kept in the folder of the ledger; a `model` reads what nobody has read,
    and a `chooser` chooses words of what is looked up further, which is done under `rules` that say
    what that is worth. Raises OptionError for a source that there is not, and for readings that
    cannot be read.
    """
    if not request.sources:
        return ()
    cache = None if ledger is None or address_of(ledger) else ledger / CACHE
    known = services()
    sources = {name: _opened(name, known, cache) for name in request.sources}
    reader = Readings() if request.readings is None else readings_of(request.readings)
    more = rules is None or all((kind, "silent") in rules.outcomes for kind in FURTHER_KINDS)
    return (LookUp(sources, Described(request.sources), reader, model, chooser, more),)


def connected(service: Service, cache: Path | None = None) -> Source:
    """Return a literature service, ready to be asked, with the keys of the environment."""
    secret = _SECRET.get(service.name, _NOTHING)()
    headers = _HEADERS.get(service.name, _NOTHING)()
    fetch = Fetch(service.address, service.per_second, cache, headers, secret)
    return _MADE[service.name](fetch)


def _opened(name: str, known: dict[str, Service], cache: Path | None) -> Source:
    if name in known:
        return connected(known[name], cache)
    if name.startswith(PREFIX):
        return TextGraph(name)
    if name.startswith(sparql_endpoint.PREFIX):
        address, pace = sparql_endpoint.address_of(name), sparql_endpoint.PER_SECOND
        return SparqlEndpoint(name, Fetch(address, pace, cache, sparql_endpoint.HEADERS))
    if not Path(name).is_dir() and "/" not in name:
        raise OptionError(
            f"--source {name}: there is no such service or folder. Services are "
            f"{', '.join(known)}; else name a folder of documents, graph:IRI, or sparql:ADDRESS."
        )
    return DocumentFolder(Path(name))
