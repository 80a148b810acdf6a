"""Europe PMC: the search of its REST service, with `resultType=core` for abstracts (JSON).

The format is that of https://europepmc.org/RestfulWebService; a wrong request is answered with
status 200 and `errCode`, `errMsg`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kgreason.base.fetching import Fetch, SourceError
from kgreason.sources.reading_answers import json_object, objects, quoted, words
from kgreason.sources.works import Answer, Part, Work, address, doi

NAME = "europepmc"


@dataclass
class EuropePmc:
    """Europe PMC, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works with all terms; raises SourceError."""
        text = self.fetch.get(
            "search",
            {
                "query": " AND ".join(quoted(term) for term in terms),
                "resultType": "core",
                "format": "json",
                "pageSize": most,
            },
        )
        found = json_object(text, NAME)
        if "errMsg" in found:
            raise SourceError(f"{NAME}: {words(found['errMsg'])}")
        results = found.get("resultList")
        if not isinstance(results, dict):
            raise SourceError(f"{NAME}: the answer has no resultList.")
        works = []
        for one in objects(results.get("result", []), NAME):
            title = words(one.get("title"))
            if not title:
                continue
            numbers = {kind: words(one.get(kind)) for kind in ("pmid", "pmcid")}
            ids = [f"{kind}:{value}" for kind, value in numbers.items() if value]
            if number := doi(one.get("doi")):
                ids.append(f"doi:{number}")
            own = f"https://europepmc.org/article/{words(one.get('source'))}/{words(one.get('id'))}"
            abstract = words(one.get("abstractText"))
            parts = [Part(title, "title"), *([Part(abstract, "abstract")] if abstract else [])]
            works.append(Work(address(ids, own), title, tuple(parts), tuple(ids)))
        return Answer(tuple(works), self.fetch.taken())
