"""A server on loopback that answers as the literature services document it, errors among it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PUBMED_SEARCH = {
    "header": {"type": "esearch", "version": "0.3"},
    "esearchresult": {"count": "2", "retmax": "2", "retstart": "0", "idlist": ["111", "222"]},
}
PUBMED_RECORDS = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "x.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">111</PMID><Article PubModel="Print"><ArticleTitle>Aspirin and <i>headache</i>
in adults.</ArticleTitle><Abstract>
<AbstractText Label="BACKGROUND">Headache is common.</AbstractText>
<AbstractText Label="RESULTS">Aspirin eased headache in 61 of 100 patients.</AbstractText>
</Abstract></Article></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">111</ArticleId><ArticleId IdType="doi">10.1000/ABC.1</ArticleId>
<ArticleId IdType="pmc">PMC9</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">222</PMID><Article>
<ArticleTitle>A letter about aspirin and headache.</ArticleTitle></Article></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">222</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>"""
EUROPE_PMC = {
    "version": "6.9",
    "hitCount": 1,
    "resultList": {
        "result": [
            {
                "id": "111",
                "source": "MED",
                "pmid": "111",
                "pmcid": "PMC9",
                "doi": "10.1000/abc.1",
                "title": "Aspirin and <i>headache</i> in adults.",
                "abstractText": "<h4>Results</h4>Aspirin eased headache in 61 of 100 patients.",
            }
        ]
    },
}
SEMANTIC_SCHOLAR = {
    "total": 2,
    "offset": 0,
    "data": [
        {
            "paperId": "f00",
            "title": "Aspirin and headache in adults",
            "abstract": "Aspirin eased headache in 61 of 100 patients.",
            "year": 2020,
            "externalIds": {"DOI": "10.1000/ABC.1", "PubMed": "111", "CorpusId": 7},
        },
        {"paperId": "f01", "title": "No abstract here at all", "abstract": None,
         "externalIds": {"ArXiv": "2101.00001"}},
    ],
}  # fmt: skip
OPENALEX = {
    "meta": {"count": 1, "page": 1, "per_page": 25},
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.1000/abc.1",
            "display_name": "Aspirin and headache in adults",
            "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/111"},
            "abstract_inverted_index": {"headache.": [2], "Aspirin": [0], "eased": [1]},
        }
    ],
}
CROSSREF = {
    "status": "ok",
    "message-type": "work-list",
    "message": {
        "total-results": 2,
        "items": [
            {
                "DOI": "10.1000/ABC.1",
                "title": ["Aspirin and headache in adults"],
                "abstract": "<jats:p>Aspirin eased headache &amp; pain.</jats:p>",
            },
            {"DOI": "10.1000/other", "title": ["Aspirin in cattle"]},
        ],
    },
}
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title>
<entry><id>http://arxiv.org/abs/2101.00001v2</id><title>Aspirin models
  of headache in adults</title><summary>  We model how aspirin
  eases headache. </summary>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.1000/ABC.1</arxiv:doi></entry></feed>"""
ARXIV_ERROR = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>
<summary>incorrect query</summary></entry></feed>"""
EMPTY = {
    "pubmed": json.dumps({"esearchresult": {"count": "0", "idlist": []}}),
    "europepmc": json.dumps({"hitCount": 0, "resultList": {"result": []}}),
    "semanticscholar": json.dumps({"total": 0, "offset": 0}),
    "openalex": json.dumps({"meta": {"count": 0}, "results": []}),
    "crossref": json.dumps({"status": "ok", "message": {"total-results": 0, "items": []}}),
    "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title></feed>',
}
"""What each service answers where it has nothing."""
WRONG = {
    "pubmed": (200, json.dumps({"esearchresult": {"ERROR": "Invalid db name specified: pub"}})),
    "europepmc": (200, json.dumps({"errCode": 404, "errMsg": "Resource not found"})),
    "semanticscholar": (200, json.dumps({"error": "Unrecognized or unsupported fields"})),
    "openalex": (400, json.dumps({"error": "Invalid query", "message": "Unknown field"})),
    "crossref": (200, json.dumps({"status": "failed", "message": [{"type": "x"}]})),
    "arxiv": (200, ARXIV_ERROR),
}
"""What each service answers to a request that it cannot serve."""


@dataclass
class Answering:
    """What the server answers: the regular answers, after those that are `first`."""

    first: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    always: str | None = None
    asked: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    address: str = ""

    def regular(self, path: str) -> str:
        if self.always is not None:
            return self.always
        known = {
            "/pubmed/esearch.fcgi": json.dumps(PUBMED_SEARCH),
            "/pubmed/efetch.fcgi": PUBMED_RECORDS,
            "/europepmc/search": json.dumps(EUROPE_PMC),
            "/semanticscholar/paper/search": json.dumps(SEMANTIC_SCHOLAR),
            "/openalex/works": json.dumps(OPENALEX),
            "/crossref/works": json.dumps(CROSSREF),
            "/arxiv/query": ARXIV,
        }
        return known[path]


@contextmanager
def literature_server() -> Iterator[Answering]:
    """Serve on loopback as long as the context lasts."""
    answering = Answering()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            sent = {name.casefold(): value for name, value in self.headers.items()}
            answering.asked.append((parts.path, asked, sent))
            answering.before()
            status, headers, text = (
                answering.first.pop(0)
                if answering.first
                else (200, {}, answering.regular(parts.path))
            )
            body = text.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    answering.address = f"http://127.0.0.1:{server.server_address[1]}/"
    try:
        yield answering
    finally:
        server.shutdown()
        server.server_close()
