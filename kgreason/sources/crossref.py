"""Crossref: search over works by bibliographic words (JSON); abstracts are in JATS where given.

The format is that of https://api.crossref.org: `message.items`, a title as a list, an error with
`status` "failed". The search joins words by OR, so that works without all terms are left out here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kgreason.base.fetching import Fetch, SourceError, from_environment
from kgreason.sources.passages import has_all
from kgreason.sources.reading_answers import json_object, objects, words
from kgreason.sources.works import Answer, Part, Work, address, doi

NAME = "crossref"


def keys() -> dict[str, str]:
    """Return the parameter that only the user may see, from the environment."""
    return from_environment(mailto="KGREASON_MAILTO")


@dataclass
class Crossref:
    """Crossref, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works with all terms in title or abstract; raises SourceError."""
        text = self.fetch.get(
            "works",
            {
                "query.bibliographic": " ".join(terms),
                "rows": most,
                "select": "DOI,title,abstract",
            },
        )
        found = json_object(text, NAME)
        message = found.get("message")
        if found.get("status") != "ok" or not isinstance(message, dict):
            raise SourceError(f"{NAME}: the answer says status {words(found.get('status'))!r}.")
        works = []
        for one in objects(message.get("items"), NAME):
            titles = one.get("title")
            title = words(titles[0]) if isinstance(titles, list) and titles else ""
            number = doi(one.get("DOI"))
            abstract = words(one.get("abstract"))
            if not title or not number or not has_all(f"{title} {abstract}", terms):
                continue
            ids = (f"doi:{number}",)
            parts = [Part(title, "title"), *([Part(abstract, "abstract")] if abstract else [])]
            works.append(Work(address(ids, number), title, tuple(parts), ids))
        return Answer(tuple(works), self.fetch.taken())
