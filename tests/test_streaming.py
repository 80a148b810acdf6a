"""What a session says as it works: chunks, whole messages in the record, readers who go away."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.errors import OptionError
from kgreason.planner.reasoner import Move, Scripted
from kgreason.planner.strategy_protocol import PlanResult
from kgreason.record import Record
from kgreason.review.messages import Chunk, chunks
from tests.cli_support import run
from tests.planner_support import workshop

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "docs" / "chunks.schema.json").read_text(encoding="utf-8"))
ASKED = "How many parts have no unit mass?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workshop")
    workshop(folder)
    return folder


def joined(several: Iterable[Chunk]) -> dict[str, str]:
    """Put the chunks of each message together."""
    out: dict[str, str] = {}
    for one in several:
        out[one.message_id] = out.get(one.message_id, "") + one.content
    return out


def stored(record: Record, chunk: Chunk) -> str:
    """Read a message in the record."""
    node, field = ox.NamedNode(chunk.node), ox.NamedNode(chunk.property)
    return "\n".join(sorted(t.value for t in record.store.values(node, field, record.iri)))


def followed(stream: Any) -> tuple[list[Chunk], PlanResult]:
    async def listen() -> tuple[list[Chunk], PlanResult]:
        return [one async for one in stream], await stream.result()

    return asyncio.run(listen())


def test_each_message_is_whole_in_the_record_and_the_same_when_read_later(place: Path) -> None:
    said, made = followed(kgreason.stream(ASKED, place / "parts.ttl", strategy="react"))
    record = made.result.record
    for one in said:
        jsonschema.validate(one.as_dict(), SCHEMA)
    assert said == list(chunks(record))
    kinds = [one.kind for one in said]
    assert kinds[:2] == ["question", "routing"]
    assert kinds[2:5] == ["thought", "action", "observation"]
    assert kinds[-2:] == ["answer", "end"]
    assert [one.end_of_dialog for one in said] == [False] * (len(said) - 1) + [True]
    whole = joined(said)
    told = [one for one in said if one.end_of_message and not one.end_of_dialog]
    assert len(told) == len(whole) - 1
    assert all(whole[one.message_id] == stored(record, one) for one in told)
    assert next(whole[one.message_id] for one in told if one.kind == "answer") == made.answer


def test_what_hypotheses_come_to_is_an_answer_and_so_is_that_nothing_fails(
    place: Path, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"shapes": place / "shapes.ttl", "strategy": "hypothesis"}
    said, made = followed(kgreason.stream("Why no mass?", place / "parts.ttl", **asked))
    answers = [one for one in said if one.kind == "answer"]
    assert "".join(one.content for one in answers) in made.answer
    assert answers[0].about in {one.node for one in said if one.kind == "hypothesis"}
    whole = (place / "parts.ttl").read_text(encoding="utf-8")
    (tmp_path / "met.ttl").write_text(
        whole.replace('"retired"', '"retired" ; ex:unitMass 7'), encoding="utf-8"
    )
    said, made = followed(kgreason.stream("Why no mass?", tmp_path / "met.ttl", **asked))
    assert [one.content for one in said if one.kind == "answer"] == [made.answer]


def test_a_long_message_comes_in_chunks_of_whole_words(place: Path) -> None:
    long = " ".join(f"word{n}" for n in range(400))
    moves = Scripted([Move("Say.", answer=long, answered=False)])
    asked: dict[str, Any] = {"strategy": "react", "reasoner": moves}
    said, made = followed(kgreason.stream("Any?", place / "parts.ttl", **asked))
    answer = [one for one in said if one.kind == "answer"]
    assert len(answer) > 5
    assert [one.end_of_message for one in answer] == [False] * (len(answer) - 1) + [True]
    assert "".join(one.content for one in answer) == long == made.answer
    assert all(one.content.endswith(" ") for one in answer[:-1])


def test_sessions_side_by_side_are_told_apart(place: Path, tmp_path: Path) -> None:
    async def both() -> list[tuple[int, Chunk]]:
        heard: list[tuple[int, Chunk]] = []

        async def listen(number: int, question: str) -> None:
            folder = tmp_path / f"ledger-{number}"
            stream = kgreason.stream(
                question, place / "parts.ttl", strategy="reflexion", ledger=folder
            )
            async for one in stream:
                heard.append((number, one))
                await asyncio.sleep(0)

        await asyncio.gather(listen(1, ASKED), listen(2, "How many parts are there?"))
        return heard

    heard = asyncio.run(both())
    by_session: dict[str, list[Chunk]] = {}
    for _, one in heard:
        by_session.setdefault(one.session_id, []).append(one)
    assert len(by_session) == 4  # of each question the work, and what its critics said of it
    numbers = {s: {n for n, one in heard if one.session_id == s} for s in by_session}
    assert all(len(several) == 1 for several in numbers.values())
    for session, said in by_session.items():
        assert [one.end_of_dialog for one in said] == [False] * (len(said) - 1) + [True]
        (number,) = numbers[session]
        with kgreason.result(tmp_path / f"ledger-{number}", session) as result:
            assert said == list(chunks(result.record))


def test_the_parts_of_a_divided_question_are_heard_each_as_its_own_session(
    place: Path, tmp_path: Path
) -> None:
    shapes = (place / "shapes.ttl").read_text(encoding="utf-8")
    shapes += "ex:Other a sh:NodeShape ; sh:targetClass ex:Part ; sh:property "
    shapes += '[ sh:path ex:lifeState ; sh:hasValue "current" ] .\n'
    (tmp_path / "two.ttl").write_text(shapes, encoding="utf-8")
    asked: dict[str, Any] = {"shapes": tmp_path / "two.ttl", "ledger": tmp_path / "ledger"}
    said, made = followed(
        kgreason.stream("What is wrong?", place / "parts.ttl", strategy="supervisor", **asked)
    )
    sessions = list(dict.fromkeys(one.session_id for one in said))
    assert len(sessions) == 3
    assert sessions[0] == made.investigation
    assert said[-1].session_id == made.investigation
    for session in sessions:
        own = [one for one in said if one.session_id == session]
        assert own[0].kind == "question"
        assert [one.end_of_dialog for one in own] == [False] * (len(own) - 1) + [True]
        with kgreason.result(tmp_path / "ledger", session) as result:
            assert own == list(chunks(result.record))


def test_who_breaks_off_or_is_cancelled_loses_nothing_of_the_record(
    place: Path, tmp_path: Path
) -> None:
    going_on = threading.Event()

    def told(record: Record, step: ox.NamedNode) -> None:
        del record
        if step.value.endswith(":2"):
            assert going_on.wait(60)  # the reader has gone by then

    def stream(name: str) -> Any:
        return kgreason.stream(
            ASKED, place / "parts.ttl", strategy="react", ledger=tmp_path / name, told=told
        )

    async def leaving() -> None:
        async for one in (left := stream("left")):
            assert one.kind == "question"
            break
        await left.aclose()
        assert [one async for one in left] == []
        cancelled = stream("cancelled")
        first = asyncio.Event()

        async def listen() -> None:
            async for _ in cancelled:
                first.set()

        task = asyncio.create_task(listen())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        going_on.set()
        for one in (left, cancelled):
            assert (await one.result()).answered

    asyncio.run(leaving())
    for name in ("left", "cancelled"):
        with kgreason.result(tmp_path / name) as result:
            assert result.finished
            assert [one.kind for one in chunks(result.record)][-2:] == ["answer", "end"]


def test_the_work_ends_where_its_loop_is_gone(place: Path, tmp_path: Path) -> None:
    async def glance() -> None:
        async for _ in kgreason.stream(
            ASKED, place / "parts.ttl", strategy="react", ledger=tmp_path / "ledger"
        ):
            return

    asyncio.run(glance())
    for thread in threading.enumerate():
        if thread.name == "kgreason":
            thread.join(60)
    with kgreason.result(tmp_path / "ledger") as result:
        assert result.finished


def test_an_error_of_the_work_is_raised_where_the_chunks_end(place: Path) -> None:
    with pytest.raises(OptionError, match="There is no strategy 'guess'"):
        followed(kgreason.stream(ASKED, place / "parts.ttl", strategy="guess"))


class Breaking:
    """A reasoner that fails at once."""

    def next(self, _: object, /) -> Move:
        raise RuntimeError("It broke.")


def test_an_error_that_was_recorded_is_said_and_ends_the_dialog(place: Path) -> None:
    heard: list[Chunk] = []

    async def listen() -> None:
        stream = kgreason.stream(ASKED, place / "parts.ttl", strategy="react", reasoner=Breaking())
        async for one in stream:
            heard.append(one)  # noqa: PERF401 - an error ends it

    with pytest.raises(RuntimeError, match="It broke"):
        asyncio.run(listen())
    assert [one.kind for one in heard[-2:]] == ["error", "end"]
    assert heard[-2].content == "It broke."
    assert heard[-1].end_of_dialog


def test_the_loop_says_hypotheses_evidence_and_claims_and_ends_before_repairs(
    place: Path, tmp_path: Path
) -> None:
    args = ["ask", "Why do parts lack a unit mass?", str(place / "parts.ttl")]
    args += ["--shapes", str(place / "shapes.ttl"), "--strategy", "hypothesis", "--yes"]
    ledger = str(tmp_path / "ledger")
    done = run(*args, "--ledger", ledger, "--stream", "jsonl", "--out", str(tmp_path / "r.json"))
    assert done.code == 0, done.err
    said = [json.loads(line) for line in done.out.splitlines()]
    for one in said:
        jsonschema.validate(one, SCHEMA)
    kinds = {one["kind"] for one in said}
    assert {"symptom", "hypothesis", "test", "evidence", "status", "verdict", "answer"} <= kinds
    assert [one["kind"] for one in said].count("end") == 1
    assert said[-1]["end_of_dialog"] is True
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {one["session_id"] for one in said} == {result["investigation"]}
    with kgreason.result(ledger) as found:
        assert said == [one.as_dict() for one in chunks(found.record)]


def test_the_stream_needs_stdout_for_itself_and_one_strategy(place: Path, tmp_path: Path) -> None:
    args = ["ask", ASKED, str(place / "parts.ttl"), "--ledger", str(tmp_path / "ledger")]
    for more in (["--format", "json"], ["--out", "-"]):
        done = run(*args, "--stream", "jsonl", *more)
        assert done.code == 2
        assert "give --out FILE for the report" in done.err
    done = run(*args, "--stream", "jsonl", "--strategies", "react,hypothesis")
    assert done.code == 2
    assert "--stream follows one strategy" in done.err
    assert not (tmp_path / "ledger").exists()


@pytest.mark.slow
def test_a_closed_pipe_does_not_end_the_work(place: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "kgreason", "ask", ASKED, str(place / "parts.ttl")]
    command += ["--strategy", "react", "--stream", "jsonl", "--ledger", str(ledger)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # nobody reads a single line
    err = process.stderr.read().decode()
    assert process.wait(120) == 0, err
    assert "Traceback" not in err
    with kgreason.result(ledger) as result:
        assert result.finished
        assert [one.kind for one in chunks(result.record)][-2:] == ["answer", "end"]


@pytest.mark.slow
def test_a_stream_that_cannot_be_written_is_told_and_the_work_goes_on(
    place: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "kgreason", "ask", ASKED, str(place / "parts.ttl")]
    command += ["--strategy", "react", "--stream", "jsonl", "--ledger", str(ledger)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "The stream cannot be written (No space left on device). The work goes on" in done.stderr
    with kgreason.result(ledger) as result:
        assert result.finished
