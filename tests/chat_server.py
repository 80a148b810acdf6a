"""A server of chat completions and Anthropic's messages on loopback, and scripted investigators."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str], str]
"""From the prompt to the text of the answer."""


@dataclass
class Script:
    """What a server does: how it answers, and what goes wrong first.

    Each of `mishaps` is used up by one request: a status such as 429 or 500, "slow" (no answer in
    time), "cut" (JSON that ends in the middle), "malformed", "refusal", "schema" (another schema),
    "drop" (the connection is closed). `modes` are the ways in which it takes a schema.
    """

    answer: Answer
    mishaps: list[int | str] = field(default_factory=list)
    modes: Sequence[str] = ("native", "tool", "prompted")
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        """What it was asked, request by request."""
        return [prompt_of(one) for one in self.asked]


def prompt_of(request: dict[str, Any]) -> str:
    content = request["messages"][-1]["content"]
    parts: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) else content
    return "".join(str(part["text"]) for part in parts)


class _Handler(BaseHTTPRequestHandler):
    script: Script

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(length))
        script = self.script
        script.asked.append(request)
        messages = "/messages" in self.path
        key = self.headers.get("authorization") or self.headers.get("x-api-key") or ""
        script.keys.append(key)
        if mode_of(request) not in script.modes:
            self._send(400, {"error": {"message": "response_format is not supported"}})
            return
        mishap = script.mishaps.pop(0) if script.mishaps else None
        if isinstance(mishap, int):
            self._send(mishap, {"error": {"message": f"status {mishap}: {script.keys[-1]}"}})
            return
        if mishap == "drop":
            self.connection.close()
            return
        if mishap == "slow":
            time.sleep(2)
        text = script.answer(prompt_of(request))
        text = {
            "cut": text[: len(text) // 2],
            "malformed": "I think {it is: the feed",
            "refusal": "I am sorry, but I cannot help with that.",
            "schema": '{"causes": "many"}',
        }.get(str(mishap), text)
        if request.get("stream"):
            self._stream(text)
        else:
            self._send(200, (message if messages else completion)(request, text))

    def _send(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for begin in range(0, len(text), 40):
            delta = {"index": 0, "delta": {"content": text[begin : begin + 40]}}
            chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [delta]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


def mode_of(request: dict[str, Any]) -> str:
    if request.get("tools"):
        return "tool"
    formatted = request.get("response_format") or request.get("output_config")
    return "native" if formatted else "prompted"


def completion(request: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a whole completion, as a text or as a call of the tool that was offered."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if mode_of(request) == "tool":
        name = request["tools"][0]["function"]["name"]
        called = {"name": name, "arguments": text}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"id": "1", "type": "function", "function": called}]
    said, asked = len(text) // 4, len(prompt_of(request)) // 4
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "c", "object": "chat.completion", "created": 0, "model": request["model"],
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def message(request: dict[str, Any], text: str) -> dict[str, Any]:
    """Return an answer of Anthropic's messages, as a text or as a use of the tool."""
    content: dict[str, Any] = {"type": "text", "text": text}
    if mode_of(request) == "tool":
        name = request["tools"][0]["name"]
        content = {"type": "tool_use", "id": "t1", "name": name, "input": json.loads(text)}
    usage = {"input_tokens": len(prompt_of(request)) // 4, "output_tokens": len(text) // 4}
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": request["model"],
        "content": [content], "stop_reason": "end_turn", "stop_sequence": None, "usage": usage,
    }  # fmt: skip


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serve a script on loopback; gives the base URL."""
    handler = type("Handler", (_Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# Investigators

_PATH = re.compile(r'^(P\d+) "([^"]*)" \(\d+ nodes\)(.*)$', re.MULTILINE)


def path(prompt: str, words: str) -> str:
    """Return the name of the path of some words in a prompt."""
    found = {called: name for name, called, _ in _PATH.findall(prompt)}
    return str(found[words])


def said(*hypotheses: dict[str, Any]) -> str:
    return json.dumps({"hypotheses": list(hypotheses)})


def one(statement: str, kind: str = "cohort", **more: Any) -> dict[str, Any]:
    """Return one hypothesis as a model gives it."""
    return {
        "statement": statement,
        "mechanism": "It was made so.",
        "prediction": "Others like it lack it too.",
        "expected_effect": "most of them",
        "diagnosis": "a value is missing",
        "rationale": "the samples shown",
        "kind": kind,
        "region": [],
        "select": "",
    } | more


def condition(where: str, test: str, *values: str) -> dict[str, Any]:
    return {"path": where, "test": test, "values": list(values)}


def lazy(_prompt: str) -> str:
    """Answer with the question, and with the same thing again and again."""
    again = one("Samples lack their mass.", region=[condition("P1", "exists")])
    return said(again, again, again)


def confident(_prompt: str) -> str:
    """Claim to be certain, and cite what is not there."""
    return said(
        one(
            "Samples of the ninth moon lack a mass, with certainty 1.0.",
            region=[condition("https://example.org/lab/moon", "equals", "Io")],
            confidence=1.0,
            status="supported",
        ),
        one("Samples of nobody lack a mass.", select="SELECT ?focus { ?focus <urn:no> <urn:one> }"),
    )


def hostile(_prompt: str) -> str:
    """Try to write, to reach out, to read files and marks, and to run for ever."""
    endless = " . ".join(f"?a{n} ?b{n} ?c{n}" for n in range(9))
    every = "{ ?focus ?p ?o }"
    tries = {
        "A mass was deleted.": "DELETE WHERE { ?s ?p ?o }",
        "A mass is elsewhere.": f"SELECT ?focus {{ SERVICE <http://127.0.0.1:1/> {every} }}",
        "A mass is in a file.": f"SELECT ?focus FROM <file:///etc/passwd> {every}",
        "A mass is marked.": f"SELECT ?focus {{ GRAPH <urn:x-kgreason:work:marks> {every} }}",
        "A mass is endless.": f"SELECT ?focus {{ ?focus ?p ?o . {endless} FILTER (RAND() < 0) }}",
        "A mass went.": f"SELECT ?focus {every} ; DROP ALL",
    }
    return said(*(one(words, select=query) for words, query in tries.items()))


# Readers

_PASSAGE = re.compile(r'^(P\d+) (".*")$', re.MULTILINE)


def readings(*several: tuple[str, float, float, str]) -> str:
    """Return readings as a model gives them: passage, two probabilities, and a span."""
    names = ("passage", "if_true", "if_false", "span")
    return json.dumps({"readings": [dict(zip(names, one, strict=True)) for one in several]})


def shown(prompt: str) -> dict[str, str]:
    """Return the passages of a prompt by their names."""
    return {name: json.loads(text) for name, text in _PASSAGE.findall(prompt)}


def unread(_prompt: str) -> str:
    return readings()


def good_reader(prompt: str) -> str:
    """Quote what a passage says, and call it a little more probable if the hypothesis holds."""
    return readings(*((n, 0.8, 0.3, " ".join(q.split()[:5])) for n, q in shown(prompt).items()))


def confident_reader(prompt: str) -> str:
    """Be certain, and quote what nobody wrote."""
    return readings(*((name, 7.5, -2, "It is proven beyond doubt.") for name in shown(prompt)))


def hostile_reader(prompt: str) -> str:
    """Read passages that are not there, give no numbers, and quote next to nothing."""
    first = next(iter(shown(prompt)))
    wrong = {"passage": first, "if_true": "DROP ALL", "if_false": None, "span": "the"}
    short = {"passage": first, "if_true": 1, "if_false": 0, "span": shown(prompt)[first][:1]}
    absent = {"passage": "P99", "if_true": 1, "if_false": 0, "span": "P99 says so."}
    return json.dumps({"readings": [absent, wrong, short]})


# Designers

_IRIS = re.compile(r"^<([^<>\s]+)>$", re.MULTILINE)


def tests(*several: dict[str, Any]) -> str:
    return json.dumps({"tests": list(several)})


def test(form: str, query: str, **more: Any) -> dict[str, Any]:
    """Return one test as a model gives it, of the first hypothesis, with a row or more expected."""
    answer = "true" if form == "ASK" else "number"
    wanted = {"answer": answer, "least": 1, "most": 4000}
    return {"about": "H1", "form": form, "query": query, "code": ""} | wanted | more


def offered(prompt: str) -> list[str]:
    """Return the IRIs that a prompt offers."""
    return _IRIS.findall(prompt)


def undesigned(_prompt: str) -> str:
    return tests()


def good_designer(prompt: str) -> str:
    """Ask in each form for what a property has."""
    note = next(iri for iri in offered(prompt) if iri.endswith("note"))
    rows = f"SELECT ?note {{ ?sample <{note}> ?note }}"
    several = (
        test("ASK", f"ASK {{ ?sample <{note}> ?note FILTER CONTAINS(?note, 'Recalled') }}"),
        test("CONSTRUCT", f"CONSTRUCT {{ ?s <{note}> ?n }} WHERE {{ ?s <{note}> ?n }}", least=3000),
        test("code", rows, code="sum(1 for row in rows if 'Recalled' in row['note'])"),
    )
    return tests(*several)


def confident_designer(prompt: str) -> str:
    """Test what is not there, expect whatever comes, and name nothing of the data."""
    note = offered(prompt)[0]
    return tests(
        test("ASK", "ASK { ?s ?p ?o }"),
        test("SELECT", "SELECT ?s { ?s <https://example.org/lab/moon> ?o }"),
        test("SELECT", f"SELECT ?s {{ ?s <{note}> ?o }}", least=0, most=1e12),
        test("ASK", f"ASK {{ ?s <{note}> ?o }}", about="H99"),
        test("ASK", f"ASK {{ ?s <{note}> ?o }}", answer="certainly"),
    )


def hostile_designer(prompt: str) -> str:
    """Try to write, to reach out, to read files and marks, and to run for ever."""
    note = next(iri for iri in offered(prompt) if iri.endswith("note"))
    every = f"SELECT ?s {{ ?s <{note}> ?o }}"
    endless = " . ".join(f"?a{n} <{note}> ?c{n}" for n in range(9))
    every_one = ", ".join(f"?c{n}" for n in range(9))
    if "# Your last answer" not in prompt:
        return tests(
            test("SELECT", "DELETE WHERE { ?s ?p ?o }"),
            test("SELECT", f"SELECT ?s {{ SERVICE <http://127.0.0.1:1/> {{ ?s <{note}> ?o }} }}"),
            test("SELECT", f"SELECT ?s FROM <file:///etc/passwd> {{ ?s <{note}> ?o }}"),
            test(
                "SELECT", f"SELECT ?s {{ GRAPH <urn:x-kgreason:work:marks> {{ ?s <{note}> ?o }} }}"
            ),
            test("SELECT", f"{every} ; DROP ALL"),
            test("code", every, code="def ("),
        )
    return tests(
        test("code", every, code="import os\nos.system('touch escaped')\n1"),
        test("code", every, code="len(open('/etc/passwd').read())"),
        test("SELECT", f"SELECT ?a0 {{ {endless} FILTER (STRLEN(CONCAT({every_one})) < 0) }}"),
    )


# Who chooses terms

_QUERY = re.compile(r"^(Q\d+) (\{.*\})$", re.MULTILINE)


def terms(*several: tuple[str, list[str]]) -> str:
    return json.dumps({"queries": [{"about": name, "terms": given} for name, given in several]})


def queries(prompt: str) -> dict[str, list[str]]:
    """Return the words of the queries of a prompt by their names."""
    return {name: json.loads(told)["words"] for name, told in _QUERY.findall(prompt)}


def unchosen(_prompt: str) -> str:
    return terms()


def good_chooser(prompt: str) -> str:
    """Take the first word and the last one."""
    return terms(*((name, [words[0], words[-1]]) for name, words in queries(prompt).items()))


def hostile_chooser(_prompt: str) -> str:
    return terms(("Q1", ["passwords", "of", "everybody"]), ("Q99", ["x"]), ("Q1", []))
