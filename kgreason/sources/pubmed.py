"""PubMed: ESearch gives numbers (JSON), EFetch the records (XML).

The formats are those of the E-utilities (https://www.ncbi.nlm.nih.gov/books/NBK25499/) and of the
PubMed DTD. A wrong query is answered with status 200 and `esearchresult.ERROR`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgreason.base.fetching import Fetch, SourceError, from_environment
from kgreason.sources.reading_answers import inner, json_object, quoted, xml
from kgreason.sources.works import Answer, Part, Work, address, doi

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAME = "pubmed"


def keys() -> dict[str, str]:
    """Return the parameters that only the user may see, from the environment."""
    return from_environment(api_key="NCBI_API_KEY", email="KGREASON_MAILTO")


@dataclass
class PubMed:
    """PubMed, behind a connection."""

    fetch: Fetch
    name: str = NAME

    def search(self, terms: Sequence[str], most: int, /) -> Answer:
        """Return the works with all terms; raises SourceError."""
        asked: dict[str, str | int] = {"db": "pubmed", "tool": "kgreason"}
        term = " AND ".join(quoted(term) for term in terms)
        found = json_object(
            self.fetch.get(
                "esearch.fcgi",
                {**asked, "term": term, "retmax": most, "sort": "relevance", "retmode": "json"},
            ),
            NAME,
        )
        numbers = _numbers(found)
        if not numbers:
            return Answer((), self.fetch.taken())
        records = self.fetch.get(
            "efetch.fcgi", {**asked, "id": ",".join(numbers), "retmode": "xml"}
        )
        works = [_work(one) for one in xml(records, NAME).iter("PubmedArticle")]
        return Answer(tuple(work for work in works if work is not None), self.fetch.taken())


def _numbers(found: Any) -> list[str]:
    result = found.get("esearchresult")
    wrong = found.get("error") or (result.get("ERROR") if isinstance(result, dict) else None)
    if wrong or not isinstance(result, dict) or not isinstance(result.get("idlist"), list):
        raise SourceError(f"{NAME}: {wrong or 'the answer has no esearchresult.idlist'}.")
    return [one for one in result["idlist"] if isinstance(one, str) and one.isdigit()]


def _work(article: "Element") -> Work | None:
    number = inner(article.find("MedlineCitation/PMID"))
    title = inner(article.find("MedlineCitation/Article/ArticleTitle"))
    if not number or not title:
        return None
    ids = [f"pmid:{number}"]
    for one in article.findall("PubmedData/ArticleIdList/ArticleId"):
        kind, value = one.get("IdType"), inner(one)
        if kind == "doi" and (found := doi(value)):
            ids.append(f"doi:{found}")
        elif kind == "pmc" and value:
            ids.append(f"pmcid:{value}")
    parts = [Part(title, "title")]
    for one in article.findall("MedlineCitation/Article/Abstract/AbstractText"):
        label = one.get("Label")
        text = inner(one)
        if text:
            parts.append(Part(text, f"abstract, {label.lower()}" if label else "abstract"))
    iri = address(ids, f"https://pubmed.ncbi.nlm.nih.gov/{number}/")
    return Work(iri, title, tuple(parts), tuple(ids))
