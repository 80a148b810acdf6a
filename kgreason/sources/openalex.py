"""OpenAlex: search over works (JSON); an abstract comes as an index of its words.

The format is that of https://developers.openalex.org; an error is `error` and `message`, and a
rate limit is answered with 403 or 429.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgreason.base.fetching import Fetch, SourceError, from_environment
from kgreason.sources.reading_answers import json_object, objects, quoted, words
from kgreason.sources.works import Answer, Part, Work, address, doi

NAME = "openalex"


def keys() -> dict[str, str]:
    """Return the parameters that only the user may see, from the environment."""
    return from_environment(api_key="OPENALEX_API_KEY", mailto="KGREASON_MAILTO")


@dataclass
class OpenAlex:
    """OpenAlex, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works with all terms; raises SourceError."""
        text = self.fetch.get(
            "works",
            {
                "search": " AND ".join(quoted(term) for term in terms),
                "per_page": most,
                "select": "id,doi,ids,display_name,abstract_inverted_index",
            },
        )
        found = json_object(text, NAME)
        if "results" not in found:
            wrong = words(found.get("message")) or words(found.get("error"))
            raise SourceError(f"{NAME}: {wrong or 'the answer has no results'}.")
        works = []
        for one in objects(found["results"], NAME):
            title = words(one.get("display_name"))
            if not title:
                continue
            abstract = abstract_of(one.get("abstract_inverted_index"))
            parts = [Part(title, "title"), *([Part(abstract, "abstract")] if abstract else [])]
            ids = _ids(one)
            works.append(Work(address(ids, words(one.get("id"))), title, tuple(parts), tuple(ids)))
        return Answer(tuple(works), self.fetch.taken())


def abstract_of(index: Any) -> str:
    """Return the text of an abstract that is given as the places of each of its words."""
    if not isinstance(index, dict):
        return ""
    places = {
        place: word
        for word, at in index.items()
        if isinstance(at, list)
        for place in at
        if isinstance(place, int)
    }
    return " ".join(places[place] for place in sorted(places))


def _ids(one: Mapping[str, Any]) -> list[str]:
    out = [f"doi:{number}"] if (number := doi(one.get("doi"))) else []
    own = one.get("ids")
    for kind in ("pmid", "pmcid"):
        value = words(own.get(kind)) if isinstance(own, dict) else ""
        if value:
            last = value.rstrip("/").rpartition("/")[2]
            out.append(f"{kind}:{last}")
    return out
