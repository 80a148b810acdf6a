"""Copy the queries of `queries/audit/` into the shapes.

A shape holds the text of its constraint, so that any SHACL engine can run it. After a change of a
query: `python -m kgreason.audit.texts`.
"""

import re
from typing import Final

from kgreason.audit.shapes import ROLE, files
from kgreason.templates import template

_SELECT: Final = re.compile(
    r'(?P<head>\naudit:(?P<name>[\w-]+) a sh:SPARQLConstraint ;\n.*?sh:select """).*?"""', re.DOTALL
)


def refresh(text: str) -> str:
    """Give the text of a file of shapes with every sh:select as `queries/audit/` has it."""

    def replaced(found: re.Match[str]) -> str:
        select = template(ROLE, found["name"]).fragment().text.strip().replace("\\", "\\\\")
        return f'{found["head"]}{select}"""'

    return _SELECT.sub(replaced, text)


if __name__ == "__main__":
    for file in files():
        file.write_text(refresh(file.read_text(encoding="utf-8")), encoding="utf-8")
