"""arXiv: the query interface of its API (Atom).

The format is that of https://info.arxiv.org/help/api/user-manual.html: a wrong query is answered
with status 200 and one entry with the title "Error", too many requests with the words "Rate
exceeded." in place of a feed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kgreason.base.fetching import Fetch, SourceError
from kgreason.sources.reading_answers import inner, quoted, xml
from kgreason.sources.works import Answer, Part, Work, address, doi

NAME = "arxiv"
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_ARXIV: Final = "{http://arxiv.org/schemas/atom}"
_NUMBER: Final = re.compile(r"/abs/(.+?)(?:v\d+)?$")


@dataclass
class Arxiv:
    """arXiv, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works with all terms; raises SourceError."""
        asked = " AND ".join(f"all:{quoted(term)}" for term in terms)
        text = self.fetch.get("query", {"search_query": asked, "max_results": most})
        if text.strip().startswith("Rate exceeded"):
            raise SourceError(f"{NAME}: it was asked too often; try again later.")
        works = []
        root = xml(text, NAME)
        if root.tag != f"{_ATOM}feed":
            raise SourceError(f"{NAME}: the answer is no Atom feed.")
        for entry in root.iter(f"{_ATOM}entry"):
            title, summary = (
                inner(entry.find(f"{_ATOM}title")),
                inner(entry.find(f"{_ATOM}summary")),
            )
            where = inner(entry.find(f"{_ATOM}id"))
            number = _NUMBER.search(where)
            if number is None:
                if title == "Error":
                    raise SourceError(f"{NAME}: {summary or 'the query was refused'}.")
                continue
            ids = [f"arxiv:{number[1]}"]
            if own := doi(inner(entry.find(f"{_ARXIV}doi"))):
                ids.append(f"doi:{own}")
            parts = [Part(title, "title"), *([Part(summary, "abstract")] if summary else [])]
            iri = address(ids, f"https://arxiv.org/abs/{number[1]}")
            works.append(Work(iri, title, tuple(parts), tuple(ids)))
        return Answer(tuple(works), self.fetch.taken())
