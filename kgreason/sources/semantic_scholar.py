"""Semantic Scholar: paper search of the Academic Graph API (JSON).

The format is that of https://api.semanticscholar.org/api-docs/graph: `data` is left out where
nothing is found, an abstract may be null, and an error is `error` or `message`.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from kgreason.base.fetching import Fetch, SourceError
from kgreason.sources.reading_answers import json_object, objects, words
from kgreason.sources.works import Answer, Part, Work, address, doi

NAME = "semanticscholar"
_IDS = {"DOI": "doi", "PubMed": "pmid", "PubMedCentral": "pmcid", "ArXiv": "arxiv"}


def headers() -> dict[str, str]:
    """Return the header with the key of the user, where the environment has one."""
    key = os.environ.get("S2_API_KEY")
    return {"x-api-key": key} if key else {}


@dataclass
class SemanticScholar:
    """Semantic Scholar, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works that fit the terms best; the search knows no operators.

        Raises SourceError.
        """
        text = self.fetch.get(
            "paper/search",
            {"query": " ".join(terms), "limit": most, "fields": "title,abstract,year,externalIds"},
        )
        found = json_object(text, NAME)
        wrong = words(found.get("error")) or words(found.get("message"))
        if wrong or ("data" not in found and "total" not in found):
            raise SourceError(f"{NAME}: {wrong or 'the answer has neither data nor total'}.")
        works = []
        for one in objects(found.get("data", []), NAME):
            title, abstract = words(one.get("title")), words(one.get("abstract"))
            if not title:
                continue
            numbers = one.get("externalIds")
            ids = []
            for kind, value in (numbers if isinstance(numbers, dict) else {}).items():
                said = doi(value) if kind == "DOI" else str(value)
                if kind in _IDS and said:
                    prefix = "PMC" if kind == "PubMedCentral" and said.isdigit() else ""
                    ids.append(f"{_IDS[kind]}:{prefix}{said}")
            own = f"https://www.semanticscholar.org/paper/{words(one.get('paperId'))}"
            parts = [Part(title, "title"), *([Part(abstract, "abstract")] if abstract else [])]
            works.append(Work(address(ids, own), title, tuple(parts), tuple(ids)))
        return Answer(tuple(works), self.fetch.taken())
