"""The pages of `kgreason serve`: what they say and where they lead, and what is refused."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import kgreason
from kgreason.serve import scripts
from kgreason.serve.addresses import called, href
from kgreason.serve.live import feed_of, written
from kgreason.serve.protection import names
from tests.cli_support import run, write_graph
from tests.report_support import Page
from tests.serve_support import OWN, client, investigate

BASE = "/i/aa11bb22"
OWN_SECTION = """#+ summary: The hypothesis itself.
#+ page: hypothesis
#+ title: Of my own
#+ order: 5
#+ layout: table
#+ param hypothesis: iri, the hypothesis
SELECT ?hypothesis WHERE { BIND ({{ hypothesis }} AS ?hypothesis) }
"""
HOLD = """
import sys
from pathlib import Path
from kgreason.record import Ledger
with Ledger.write(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return investigate(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def site(ledger: Path) -> TestClient:
    return client(ledger)


def links(page: Page) -> Iterator[str]:
    """Give where a page leads; what the report links to of the data is left out."""
    for tag, attributes in page.tags:
        if tag == "a" and attributes.get("rel") != "noopener noreferrer":
            yield attributes["href"]


def words(text: str) -> str:
    return " ".join(" ".join(Page(text).words).split())


# What pages say


@pytest.mark.slow
def test_every_link_of_every_page_leads_somewhere(site: TestClient) -> None:
    todo, seen = ["/"], set[str]()
    while todo:
        path = todo.pop()
        if path in seen or path.startswith((f"{BASE}/provenance?", "/static/")):
            continue  # the provenance is walked below; there are hundreds of nodes
        seen.add(path)
        got = site.get(path)
        assert got.status_code == 200, f"{path}: {got.text}"
        if path.endswith("/report") or not got.headers["content-type"].startswith("text/html"):
            continue
        page = Page(got.text)
        assert [tag for tag, _ in page.tags].count("h1") == 1, path
        assert "default-src 'none'" in got.headers["content-security-policy"]
        assert "<b>no</b>" not in got.text, "what people write is escaped"
        identified = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        for tag, attributes in page.tags:
            for name in ("src", "href", "action"):
                to = attributes.get(name, "")
                if tag in {"script", "link", "img", "form"}:
                    assert to.startswith(("/", "data:")) or not to, f"{path} loads {to}"
        for to in links(page):
            if to.startswith("#"):
                assert to[1:] in identified, f"{path} has no {to}"
            else:
                assert to.startswith("/"), f"{path} leads away, to {to}"
                todo.append(to.partition("#")[0])
    for kind in ("causes/C1", "symptoms/1", "hypotheses/1", "evidence/1", "nodes/C1", "live"):
        assert f"{BASE}/{kind}" in seen
    assert any(path.startswith(f"{BASE}/node?") for path in seen)


def test_the_provenance_can_be_walked_from_node_to_node(site: TestClient) -> None:
    node = f"{BASE}/provenance?node=urn%3Akgreason%3Aaa11bb22%3Ahypothesis%3A1"
    for name in ("evidence", "step", "agent", "citation"):
        page = Page(site.get(node).text)
        assert any(tag == "svg" for tag, _ in page.tags)
        told = [to for to in links(page) if to.startswith(f"{BASE}/")]
        assert told
        found = site.get(f"{BASE}/walk?{node.partition('?')[2]}").json()
        ids = {one["id"] for one in found["nodes"]}
        assert all({one["source"], one["target"]} <= ids for one in found["links"])
        onward = [one for one in ids if f":{name}:" in one and one != node]
        if onward:
            node = f"{BASE}/provenance?node={onward[0]}"


def test_a_hypothesis_is_told_as_the_result_has_it(ledger: Path, site: TestClient) -> None:
    with kgreason.result(ledger) as result:
        cause = result.causes[0]
        (one,) = (h for s in result.symptoms for h in s.hypotheses if h.id == cause.hypotheses[0])
    number = one.id.rpartition(":")[2]
    text = site.get(f"{BASE}/hypotheses/{number}").text
    said = words(text)
    assert one.statement in said
    assert f"{one.confidence:.3f}" in said
    # Each line of the reckoning begins where the one before it ended, and the last is what is told.
    steps = re.findall(r"(\d[\d.]*) × (\d[\d.]*) ÷ (\d[\d.]*) = (\d[\d.]*)", said)
    assert steps
    for before, likelihood, normaliser, after in steps:
        assert float(before) * float(likelihood) / float(normaliser) == pytest.approx(float(after))
    assert [b for b, *_ in steps[1:]] == [a for *_, a in steps[:-1]]
    assert float(steps[-1][3]) == pytest.approx(one.posterior)
    # What only statistics tell is brought down in the end to what such proof was worth.
    assert one.confidence < one.posterior
    assert f"where the cause was known = {one.confidence}" in said
    # Evidence leads to the very nodes that it cites.
    for evidence in one.evidence:
        page = site.get(href("aa11bb22", evidence.id) or "").text
        told = {unescape(node) for node in re.findall(r'title="([^"]*)"', page)}
        assert {citation.node for citation in evidence.citations} <= told


def test_all_nodes_of_a_cause_are_looked_up_in_the_data(ledger: Path, site: TestClient) -> None:
    cited = site.get(f"{BASE}/nodes/C1").text
    assert "that the record cites" in cited
    every = site.get(f"{BASE}/nodes/C1?data=again").text
    rows = list(csv.DictReader(site.get(f"{BASE}/nodes/C1/csv").text.splitlines()))
    with kgreason.open(ledger) as opened:
        expected = opened.nodes("C1").rows()
    assert [row["node"] for row in rows] == [row["node"] for row in expected]
    assert every.count("<tr>") - 1 == len(expected) > cited.count("<tr>") - 1


def test_why_a_node_fails_is_told(site: TestClient) -> None:
    said = words(site.get(f"{BASE}/why", params={"node": "http://example.org/n100"}).text)
    assert "It breaks 1 of the 2 rules that look at it" in said
    assert "C1 is about it" in said
    got = site.get(f"{BASE}/why", params={"node": "nobody"})
    assert got.status_code == 400
    assert "no IRI of the data is just that" in words(got.text)


def test_two_investigations_are_compared(site: TestClient) -> None:
    both = "/compare?before=aa11bb22&after=aa11bb22"
    for way in (both, f"{both}&data=again"):
        assert "same C1 C1" in words(site.get(way).text)
    got = site.get("/compare?before=aa11bb22&after=nobody")
    assert got.status_code == 404
    assert "There is no investigation nobody" in words(got.text)


@pytest.mark.slow
def test_every_stored_question_can_be_asked(site: TestClient) -> None:
    page = Page(site.get("/query").text)
    asked = [
        a["value"] for tag, a in page.tags if tag == "option" and a["value"].startswith("PREF")
    ]
    assert len(asked) == len(kgreason.open.__globals__["questions"]())
    for text in asked:
        got = site.post(
            "/sparql", content=text.encode(), headers={"Content-Type": "application/sparql-query"}
        )
        assert got.status_code == 200, f"{got.text}{text}"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/nowhere", "There is no page /nowhere"),
        ("/i/nobody", "There is no investigation nobody"),
        (f"{BASE}/causes/C99", "There is no cause C99 in I1; it has C1"),
        (f"{BASE}/hypotheses/99", "There is no hypothesis 99 in I1"),
        (f"{BASE}/evidence/99", "There is no evidence 99 in I1"),
        ("/static/../website.py", "There is no page"),
    ],
)
def test_what_is_not_there_is_told(site: TestClient, path: str, says: str) -> None:
    got = site.get(path)
    assert got.status_code == 404
    assert says in words(got.text)


def test_without_scripts_of_others_the_plain_editor_stands_in(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(path: str) -> str:
        return str(re.findall(r'data-script="([^"]*)"', client(ledger).get(path).text))

    monkeypatch.setattr(scripts, "THIRD_PARTY", tmp_path)
    assert loaded("/query") == loaded(f"{BASE}/provenance") == "['']"
    for name in (*scripts.EDITOR, *scripts.GRAPH):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert "yasgui.min.js" in loaded("/query")
    assert "cytoscape.min.js" in loaded(f"{BASE}/provenance")


def test_nodes_have_names_and_pages() -> None:
    own = "urn:kgreason:aa11bb22"
    assert called(f"{own}:hypothesis:3") == "H3"
    assert called(f"{own}:step:11:transition") == "step 11 transition"
    assert called("urn:kgreason:agent:families") == "agent families"
    assert called("urn:kgreason:blank:b0") == "_:b0"
    assert href("aa11bb22", f"{own}:evidence:8") == f"{BASE}/evidence/8"
    other = "0123456789abcdef" * 2
    assert href("aa11bb22", f"urn:kgreason:{other}:hypothesis:3") == f"/i/{other}/hypotheses/3"
    assert href("aa11bb22", f"urn:kgreason:{other}") == f"/i/{other}"
    assert href("aa11bb22", "https://w3id.org/trails#Step") is None
    assert href("aa11bb22", "http://example.org/n1") is None
    assert href("aa11bb22", "http://example.org/n1", "Cited") is not None


# Who is refused


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:7878"}, 200),
        ({"Host": "LOCALHOST:7878"}, 200),
        ({"Host": "[::1]:7878"}, 200),
        ({"Host": "evil.example:7878"}, 403),  # a name that was made to lead here (DNS rebinding)
        ({"Host": "127.0.0.1"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": OWN}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:7878", "Host": "127.0.0.1:7878"}, 403),
    ],
)
def test_foreign_names_and_pages_are_refused(
    site: TestClient, headers: dict[str, str], status: int
) -> None:
    for path in ("/", "/sparql", f"{BASE}/events", "/static/explorer.css"):
        assert site.head(path, headers=headers).status_code in {status, 405}
        if path != f"{BASE}/events":
            assert site.get(path, headers=headers).status_code == status


def test_a_server_is_known_by_its_names() -> None:
    assert names("127.0.0.1", 80) == (
        *("127.0.0.1:80", "localhost:80", "[::1]:80"),
        *("127.0.0.1", "localhost", "[::1]"),
    )
    assert names("192.0.2.7", 8080, ["kg.example.org:443", "kg"]) == (
        "192.0.2.7:8080",
        "kg.example.org:443",
        "kg:8080",
    )
    assert names("::", 1) == ("[::]:1",)


# What is written


def form(site: TestClient, number: str = "1") -> dict[str, str]:
    page = Page(site.get(f"{BASE}/hypotheses/{number}").text)
    (token,) = (a["value"] for _, a in page.tags if a.get("name") == "token")
    return {"token": token, "said": "right", "by": "Ada <b>", "note": "I saw it."}


def judged(site: TestClient, fields: dict[str, str], origin: str | None = OWN) -> tuple[int, str]:
    headers = {} if origin is None else {"Origin": origin}
    got = site.post(f"{BASE}/hypotheses/1/verdicts", data=fields, headers=headers)
    return got.status_code, words(got.text)


@pytest.mark.slow
def test_a_verdict_is_taken_from_the_form_alone(tmp_path: Path) -> None:
    ledger = investigate(tmp_path)
    site = client(ledger)
    given = form(site)
    for wrong, origin, status in (
        (given | {"token": "x"}, OWN, 403),
        ({"said": "right", "by": "Ada"}, OWN, 403),
        (given, None, 403),
        (given, "https://evil.example", 403),
        (given | {"said": "perhaps"}, OWN, 400),
        (given | {"by": " "}, OWN, 400),
        (form(client(ledger)), OWN, 403),  # the token of another process
    ):
        assert judged(site, wrong, origin)[0] == status
    assert "Nobody has judged it" in words(site.get(f"{BASE}/hypotheses/1").text)

    holding = subprocess.Popen(
        [sys.executable, "-c", HOLD, ledger],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holding.stdout is not None
    assert holding.stdout.readline() == "held\n"
    status, said = judged(site, given)
    assert (status, "another process is writing to this ledger" in said) == (409, True)
    assert site.get(BASE).status_code == 200  # what was read before is shown on
    holding.communicate()

    assert judged(site, given)[0] == 303
    said = words(site.get(f"{BASE}/hypotheses/1").text)
    assert "Ada <b> right I saw it." in said
    assert kgreason.open(ledger).audit().ok
    got = site.get("/sparql", params={"query": "ASK { ?j a trails:Judgement }"})
    assert got.json()["boolean"] is True


def test_a_read_only_site_takes_no_verdict(ledger: Path) -> None:
    site = client(ledger, read_only=True)
    assert "<form" not in site.get(f"{BASE}/hypotheses/1").text
    assert judged(site, {"said": "right", "by": "Ada"})[0] == 403


def test_what_is_recorded_later_is_shown(tmp_path: Path) -> None:
    ledger = investigate(tmp_path)
    site = client(ledger)
    assert "I2" not in words(site.get("/").text)
    run("investigate", tmp_path / "data", "-s", tmp_path / "shapes.ttl", "--ledger", ledger)
    assert "I2" in words(site.get("/").text)


def test_a_section_of_ones_own_stands_on_its_page(ledger: Path, tmp_path: Path) -> None:
    made = tmp_path / "queries" / "explore" / "rank-of-seven.rq"
    made.parent.mkdir(parents=True)
    made.write_text(OWN_SECTION, encoding="utf-8")
    site = client(ledger, extend=[str(tmp_path)])
    assert "Of my own Hypothesis H1" in words(site.get(f"{BASE}/hypotheses/1").text)
    assert "Of my own" not in words(client(ledger).get(f"{BASE}/hypotheses/1").text)


def test_several_ledgers_are_one_site(ledger: Path, tmp_path: Path) -> None:
    write_graph(tmp_path)
    other = tmp_path / "other"
    run("investigate", tmp_path / "data", "--outcome", tmp_path / "late.rq", "--ledger", other)
    site = client(ledger, other)
    assert words(site.get("/").text).count("finished") == 2
    query = "SELECT DISTINCT ?i { ?i a trails:Investigation }"
    got = site.get("/sparql", params={"query": query}).json()
    assert len(got["results"]["bindings"]) == 2


# Events


def test_events_are_sent_as_they_come() -> None:
    told: list[dict[str, object]] = [{"step": 1}]
    looks: Iterator[dict[str, object] | None] = iter([None, {"step": 2}, None])

    def events() -> list[dict[str, object]]:
        new = next(looks, None)
        if new is not None:
            told.append(new)
        return told

    async def sent() -> list[str]:
        feed = feed_of(events, lambda: len(told) == 2, lambda: False, 0, pause=0)
        return [text async for text in feed]

    found = [text for text in asyncio.run(sent()) if not text.startswith(":")]
    assert found == [
        'id: 1\ndata: {"step": 1}\n\n',
        'id: 2\ndata: {"step": 2}\n\n',
        "event: end\ndata: {}\n\n",
    ]


def test_events_end_with_the_server() -> None:
    stopping = iter([False, True])

    async def sent() -> list[str]:
        feed = feed_of(lambda: [{}], lambda: False, lambda: next(stopping), 0, pause=0)
        return [text async for text in feed]

    assert asyncio.run(sent()) == ["id: 1\ndata: {}\n\n"]


def test_events_come_from_the_ledger_and_go_on_where_a_client_was(site: TestClient) -> None:
    whole = site.get(f"{BASE}/events").text
    number = whole.count('\ndata: {"investigation"')
    assert number > 5
    assert whole.endswith("event: end\ndata: {}\n\n")
    rest = site.get(f"{BASE}/events", headers={"Last-Event-ID": str(number - 2)}).text
    assert rest.count('\ndata: {"investigation"') == 2


def test_what_was_said_is_sent_in_chunks_with_an_end(site: TestClient) -> None:
    whole = site.get(f"{BASE}/chunks").text
    said = [
        json.loads(line.removeprefix("data: "))
        for line in whole.splitlines()
        if line.startswith('data: {"message_id"')
    ]
    assert said[0]["kind"] == "question"
    assert said[0]["content"] == "Why <b>no</b> names?"
    assert [one["end_of_dialog"] for one in said].count(True) == 1
    assert said[-1]["end_of_dialog"] is True
    assert whole.endswith("event: end\ndata: {}\n\n")
    rest = site.get(f"{BASE}/chunks", headers={"Last-Event-ID": str(len(said) - 2)}).text
    assert rest.count('data: {"message_id"') == 2


def test_events_are_read_from_files_line_by_line(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    mine, other = ({"investigation": iri, "event": "tested"} for iri in ("urn:a", "urn:b"))
    half = json.dumps(mine)[:20]
    one.write_text(f"{json.dumps(mine)}\n{json.dumps(other)}\nno JSON\n{half}", encoding="utf-8")
    assert written([one, two], "urn:a") == [mine]
    two.write_text(f"{json.dumps(mine)}\n", encoding="utf-8")
    assert written([one, two], "urn:a") == [mine, mine]


# The command


def test_bad_input_is_told_in_one_sentence(ledger: Path, tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        for arguments, says in (
            ([tmp_path / "nothing"], "there is no ledger here"),
            ([ledger, "--port", port], f"127.0.0.1:{port}: this address cannot be had"),
            ([ledger, "--host", "nowhere.invalid"], "this address cannot be had"),
            ([ledger, "--query-seconds", "0"], "--query-seconds must be more than 0"),
        ):
            done = run("serve", *map(str, arguments))
            assert done.code == 2
            assert says in done.err
            assert len(done.sentences) == 1


def test_without_the_extra_it_says_what_to_install(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("kgreason.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run("serve", ledger)
    assert done.code == 2
    assert "pip install 'kgreason[serve]'" in done.err
