"""Small investigations in which hypotheses live to see more than one round."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pyoxigraph as ox
import pytest

import kgreason
from kgreason.base.errors import QueryError
from kgreason.base.store import Store
from kgreason.base.terms import PROV, TRAILS
from kgreason.record import Record
from kgreason.record.nonce import names_of
from kgreason.record.permits import authorise, commit_to, release
from kgreason.test.run import execute
from tests.audit_support import doubtful, own_policy, statements, tiny

_HEAD: Final = """@prefix e: <https://example.org/lab/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_SHAPES: Final = """@prefix e: <https://example.org/lab/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
e:Shape a sh:NodeShape ; sh:targetClass e:Sample ; sh:property [ sh:path e:mass ; sh:minCount 1 ] .
"""
_TIMES: Final = {"startedAtTime", "endedAtTime", "hash", "elapsed", "options"}
Node = dict[str, list[str]]


def written(folder: Path, rows: list[str], head: list[str] | None = None) -> dict[str, Any]:
    """Write rows in turn to three feeds, and shapes that ask for a mass; give what to ask with."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for feed in range(3):
        said = [_HEAD, *((head or []) if feed == 0 else []), *rows[feed::3]]
        (folder / "data" / f"feed-{feed}.ttl").write_text("\n".join(said) + "\n", encoding="utf-8")
    shapes = folder / "shapes.ttl"
    shapes.write_text(_SHAPES, encoding="utf-8")
    return {"data": folder / "data", "shapes": shapes, "max_hypotheses": 3}


def sample(number: int, said: str, *, fails: bool) -> str:
    """Write one sample, which fails where it has no mass."""
    return f"e:s{number} a e:Sample ; {said}{'' if fails else ' ; e:mass 3'} ."


def goods(
    folder: Path, each: int = 24, noise: int = 11, *, concepts: bool = False
) -> dict[str, Any]:
    """Write samples of ten sorts, of which four are goods that fail by half, one of them by more.

    None of the four stands out from the spread among the ten, so that none can be supported; what
    they have in common can. The sorts are classes, or concepts.
    """
    kind = "e:about" if concepts else "a"
    above = [(f"e:Sort{n}", "e:Goods" if n < 4 else "e:Papers") for n in range(10)]
    head = [f"{sort} rdfs:subClassOf {more} ." for sort, more in above]
    if concepts:
        head = [f"{more} skos:narrower {sort} ." for sort, more in above]
    rows: list[str] = []
    for sort in range(10):
        for n in range(each):
            bound = 9 if sort == 0 else 6
            fails = (n * 7 + sort * 3) % 11 < bound if sort < 4 else (n + 5 * sort) % noise == 0
            rows.append(sample(len(rows), f"{kind} e:Sort{sort}", fails=fails))
    return written(folder, rows, head)


def lookalikes(folder: Path) -> dict[str, Any]:
    """Write the same with more of each, so that one round rejects what another would propose."""
    return goods(folder, 40)


def two_causes(folder: Path) -> dict[str, Any]:
    """Write the same again, and a feed of other samples that lacks most masses.

    Once that feed is found what is left is looked at again, and what was rejected stands out there
    as it did before.
    """
    options = goods(folder, 50)
    rows = [sample(5000 + n, f"a e:Sort{4 + n % 6}", fails=n % 10 != 0) for n in range(60)]
    feed = folder / "data" / "feed-9.ttl"
    feed.write_text("\n".join([_HEAD, *rows]) + "\n", encoding="utf-8")
    return options


def forgetful(folder: Path) -> Path:
    """Write a policy that rules as the shipped one does, but has no memory."""
    path = own_policy(folder)
    text = path.read_text(encoding="utf-8")
    without = text.replace("    policy:sameRegion 0.95 ;\n", "")
    assert without != text
    path.write_text(without, encoding="utf-8")
    return path


def stalling(folder: Path) -> dict[str, Any]:
    """Write boxes of which one lacks more than others, but not by enough; nothing else is there."""
    doubtful(folder)
    return {"data": folder / "data", "shapes": folder / "shapes.ttl", "max_hypotheses": 3}


def asked(options: dict[str, Any], **more: Any) -> Record:
    """Investigate under `frame`, where no more is said; give the record in memory alone.

    What comes of a hypothesis is easier to see where only families propose.
    """
    usual = {"calibration": "none", "policy": "frame"}
    with kgreason.investigate(**(usual | options | more)) as result:
        return copied(result.record)


def copied(record: Record) -> Record:
    """Give a copy of a record in memory, without the rest of its ledger."""
    kept = ox.Store()
    kept.extend(statements(record))
    return Record(Store(kept, "a ledger in memory"), record.iri)


def again(folder: Path, **more: Any) -> Record:
    """Give the record of the second of two investigations of the same in one ledger folder."""
    options = lookalikes(folder)
    asked(options, ledger=folder / "ledger")
    return asked(options, ledger=folder / "ledger", **more)


@contextmanager
def falling_over(fails: Callable[[str, int], bool]) -> Iterator[list[str]]:
    """Let tests fail, as told of the kind and of how many were run before.

    Gives the kinds that were run.
    """
    names = execute.__globals__
    found, kinds = names["_found"], []

    def running(context: Any, view: Any, row: Any, *more: Any) -> Any:
        kinds.append(row["kind"].value)
        if fails(kinds[-1], len(kinds) - 1):
            raise QueryError("The query fell over.\nIt was long.")
        return found(context, view, row, *more)

    with patch.dict(names, {"_found": running}):
        yield kinds


def timeless(record: Record) -> set[str]:
    """Give the statements of a record without its name, times, and what a clock had a part in."""
    own = names_of(record.iri)
    return {
        own.sub("urn:kgreason:it", str(q.triple))
        for q in statements(record)
        if q.predicate.value.rpartition("#")[2] not in _TIMES
    }


class Interrupted(BaseException):
    """What ends a run in these tests."""


def interrupted(options: dict[str, Any], ledger: Path, steps: int) -> None:
    """Run an investigation that ends once so many steps were written."""
    commit, left = Record.commit, [steps]

    def commit_and_end(self: Record, *args: Any, **more: Any) -> None:
        commit(self, *args, **more)
        left[0] -= 1
        if left[0] == 0:
            raise Interrupted

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Record, "commit", commit_and_end)
        with pytest.raises(Interrupted):
            asked(options, ledger=ledger)


def failing(folder: Path, **more: Any) -> Record:
    """Give a record in which one test of the only hypothesis fails to run, time and again."""
    with falling_over(lambda kind, _: kind == "counterexamples"):
        return tiny(folder, **more)


def acted(folder: Path, **more: Any) -> Record:
    """Give a record with what was allowed, refused, done and given out after its finish."""
    record = tiny(folder, **more)
    cause, none = supported(record), catch_all(record)
    region = one(record, cause)["region"][0]
    step = record.step("Act")
    authorise(record, step, TRAILS.ApplyRepair, none)
    grant, _ = authorise(record, step, TRAILS.ApplyRepair, cause)
    first = commit_to(record, step, cause, grant, region, "the only cause that is supported")
    record.commit(step)
    step = record.step("Act")
    release(step, first, "the repair was given up")
    record.commit(step)
    step = record.step("Act")
    grant, _ = authorise(record, step, TRAILS.TryRepair, cause)
    commit_to(record, step, cause, grant, region, "another repair of the same cause")
    granted, _ = authorise(record, step, TRAILS.PublishReport, cause)
    step.make(
        "Publication",
        PROV.Entity,
        report=ox.NamedNode(f"{record.iri.value}:report:1"),
        authorisation=granted,
        digest="0" * 64,
    )
    record.commit(step)
    return record


def widened(folder: Path, **more: Any) -> Record:
    """Give a record in which a class gives way to the one above it."""
    return asked(goods(folder), **more)


def history(folder: Path, name: str) -> Record:
    """Make a history by its name in lifetime.toml.

    With "own" before it, it is under a policy that is the shipped one under a name of one's own.
    """
    kind = name.removeprefix("own").strip(", ")
    more: dict[str, Any] = {"policy": "frame"}
    if kind == "forgetful":
        return asked(two_causes(folder), policy=str(forgetful(folder)))
    if kind == "reseeded":
        return again(folder, seed=1)
    if name != kind:
        more["policy"] = str(own_policy(folder))
    made = {
        "goods": widened, "again": again, "failing": failing, "acted": acted, "doubtful": doubtful,
    }  # fmt: skip
    return made[kind](folder, **more)


def nodes(record: Record) -> dict[str, Node]:
    """Give what is said of each node, by the local names of properties."""
    found: dict[str, Node] = {}
    for quad in statements(record):
        name = quad.predicate.value.rpartition("#")[2]
        found.setdefault(quad.subject.value, {}).setdefault(name, []).append(quad.object.value)
    return found


def one(record: Record, node: ox.NamedNode) -> Node:
    """Give what is said of a node."""
    return nodes(record)[node.value]


def of(record: Record, kind: str) -> dict[str, Node]:
    """Give the nodes of a class."""
    return {n: said for n, said in nodes(record).items() if TRAILS[kind].value in said["type"]}


def status(said: Node) -> str:
    """Give the status of a hypothesis by its local name."""
    return said["status"][0].rpartition("#")[2]


def fates(record: Record, round_: int | None = None) -> dict[str, str]:
    """Give the status of each hypothesis but the catch-alls by its statement, of one round or all.

    A later one of the same words takes the place of an earlier one.
    """
    every = nodes(record)
    return {
        said["statement"][0]: status(said)
        for said in sorted(of(record, "Hypothesis").values(), key=lambda s: int(s["index"][0]))
        if "region" in said and round_ in {None, int(every[said["frame"][0]]["round"][0])}
    }


def supported(record: Record) -> ox.NamedNode:
    """Give the first hypothesis that is supported and no catch-all."""
    found = of(record, "Hypothesis").items()
    return ox.NamedNode(min(n for n, s in found if status(s) == "Supported" and "region" in s))


def catch_all(record: Record) -> ox.NamedNode:
    """Give the first catch-all."""
    return ox.NamedNode(min(n for n, s in of(record, "Hypothesis").items() if "region" not in s))
