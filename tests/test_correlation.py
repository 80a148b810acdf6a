"""Correlations: a question that was divided into investigations is judged as one."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

import kgreason
from kgreason.audit import audit
from kgreason.base.errors import LedgerError, OptionError, RecordError
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger
from kgreason.review.correlation import Correlation
from tests.audit_support import relinked, tampered
from tests.cli_support import run
from tests.lifetime_support import asked, of
from tests.resume_support import several

LAB: Final = "https://example.org/lab/"
SPLIT: Final = ("Mass", "Weight", "Price", "Note")
NOISY: Final = ("age", "size", "height")
_HEAD: Final = f"@prefix e: <{LAB}> .\n@prefix sh: <http://www.w3.org/ns/shacl#> .\n"


def inquire(ledger: Path, options: dict[str, Any], **more: Any) -> None:
    """Ask by the families alone: of the regions of conditions these worlds hold too many."""
    given = {"calibration": "none", "correlation": "lab", "policy": "frame"} | options | more
    kgreason.investigate(**given, ledger=ledger).close()


def correlation(ledger: Path, name: str = "lab") -> Correlation:
    return kgreason.open(ledger).correlation(name)


def weak(folder: Path) -> dict[str, Any]:
    """Write a feed that lacks masses, just clearly enough, and three properties missing by chance.

    Of each of these one box lacks a bit more than others, so that there is something to propose.
    """
    (folder / "data").mkdir(parents=True)
    for feed in range(6):
        rows = [_HEAD]
        for n in range(40):
            number = feed * 40 + n
            box, place = number % 8, number // 8
            said = [f'e:s{number} a e:Sample ; e:box "{box}" ; e:bin "{number * 7 % 9}"']
            said += [f"e:{p} 3" for p in NOISY if place % 10 >= (5 if box == 1 else 2)]
            if n % 20 >= (8 if feed == 1 else 2):
                said.append("e:mass 4")
            rows.append(" ; ".join(said) + " .")
        text = "\n".join(rows) + "\n"
        (folder / "data" / f"feed-{feed}.ttl").write_text(text, encoding="utf-8")
    shapes = folder / "shapes.ttl"
    rules = [
        f"e:{p} a sh:NodeShape ; sh:targetClass e:Sample ; sh:property [ sh:path e:{p} ; "
        "sh:minCount 1 ] .\n"
        for p in ("mass", *NOISY)
    ]
    shapes.write_text(_HEAD + "".join(rules), encoding="utf-8")
    return {"data": folder / "data", "shapes": shapes}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One question, asked as a whole in one ledger and in four parts in another."""
    folder = tmp_path_factory.mktemp("correlation")
    options = several(folder, interventions=0, max_hypotheses=6)
    inquire(folder / "whole", options)
    for shape in SPLIT:
        inquire(folder / "split", options, only=f"{LAB}{shape}")
    return folder


def told(found: Correlation) -> list[tuple[str, int | None, int | None]]:
    (joint,) = found.explanations
    return [(cause.statement, cause.failing, cause.adds) for cause in joint.causes]


@pytest.mark.slow
def test_the_parts_of_a_question_are_held_to_the_family_of_the_whole(place: Path) -> None:
    whole, parts = correlation(place / "whole"), correlation(place / "split")
    with kgreason.open(place / "whole") as opened, opened.result() as result:
        record = result.record
        last = max(
            (s for s in of(record, "Step").values() if "ebhFamily" in s),
            key=lambda s: int(s["index"][0]),
        )
    families = [one.family for one in parts.investigations]
    assert len(families) == 4
    assert max(families) < whole.family == int(last["ebhFamily"][0])
    assert sum(families) == parts.family == whole.family
    assert parts.threshold == whole.threshold == float(last["ebhThreshold"][0])
    assert {one.threshold for one in parts.investigations} != {whole.threshold}
    assert parts.outside == ()
    assert parts.supported == whole.supported == 4


@pytest.mark.slow
def test_the_joint_explanation_of_the_parts_is_that_of_the_whole(place: Path) -> None:
    whole, parts = correlation(place / "whole"), correlation(place / "split")
    with kgreason.open(place / "whole") as opened, opened.result() as result:
        recorded = result.as_dict()["explanation"]
    (joint,) = parts.explanations
    assert told(parts) == told(whole)
    assert joint.uncounted is None
    assert joint.investigations == (1, 2, 3, 4)
    assert recorded == {
        "failures": joint.failing,
        "explained": joint.explained,
        "causes": joint.count,
    }


def test_a_cause_that_is_asked_about_twice_is_counted_once(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "split", tmp_path / "twice")
    options = several(place, interventions=0, max_hypotheses=6)
    inquire(tmp_path / "twice", options, only=f"{LAB}Price", seed=1)
    once, twice = correlation(place / "split"), correlation(tmp_path / "twice")
    (before,), (after,) = once.explanations, twice.explanations
    assert twice.supported == once.supported + 1
    assert (after.failing, after.explained, after.count) == (
        before.failing,
        before.explained,
        before.count,
    )
    (price,) = [one for one in after.causes if "price" in one.statement]
    assert price.investigations == (3, 5)
    assert len(price.hypotheses) == 2


@pytest.mark.slow
def test_a_cause_that_passes_alone_but_not_in_the_wider_family_is_told(tmp_path: Path) -> None:
    options = weak(tmp_path)
    ledger = tmp_path / "ledger"
    inquire(ledger, options, only=f"{LAB}mass")
    alone = correlation(ledger)
    assert (alone.supported, alone.outside) == (1, ())
    for name in NOISY:
        inquire(ledger, options, only=f"{LAB}{name}")
    found = correlation(ledger)
    (outside,) = found.outside
    assert found.family == sum(one.family for one in found.investigations) > alone.family
    assert found.threshold is None  # nobody else is in the set, and this one is not
    assert outside.threshold == alone.threshold == outside.e
    assert outside.e * 0.05 < found.family
    assert (
        outside.statement == "Nodes described in the source feed-1.ttl fail more often than others."
    )
    (joint,) = found.explanations
    assert (joint.causes, joint.explained) == ((), 0)
    inquire(tmp_path / "whole", options)
    with kgreason.open(tmp_path / "whole") as opened, opened.result() as result:
        assert not result.causes  # the whole would not have supported it either
    text = run("correlation", "lab", "--ledger", ledger).out
    assert f"| I1 H{outside.number} | " in text
    assert "1 supported hypothesis of 1 would not be supported over" in text
    assert f"one alone would need an e-value of {found.family / 0.05:,.0f}" in text


def test_different_graphs_are_kept_apart(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "split", tmp_path / "ledger")
    options = weak(tmp_path)
    inquire(tmp_path / "ledger", options, only=f"{LAB}mass")
    found = correlation(tmp_path / "ledger")
    first, second = found.explanations
    assert (first.investigations, second.investigations) == ((1, 2, 3, 4), (5,))
    assert first.graph != second.graph
    assert told(correlation(place / "split")) == [
        (cause.statement, cause.failing, cause.adds) for cause in first.causes
    ]
    # Both graphs have a feed-1.ttl that fails: it is a cause of its own in each.
    # In the second less than half of it fails, so that it explains nothing there.
    (faint,) = second.causes
    assert (
        faint.statement == "Nodes described in the source feed-1.ttl fail more often than others."
    )
    assert (faint.adds, second.explained, second.count) == (None, 0, 0)
    assert f"| {faint.statement} | I5 | {faint.failing} | narrows down |" in found.markdown()
    assert "are of 2 different graphs" in found.markdown()
    assert "different graphs" not in correlation(place / "split").markdown()


def test_what_cannot_be_counted_is_said(tmp_path: Path) -> None:
    options = several(tmp_path, interventions=0, max_hypotheses=6)
    inquire(tmp_path / "ledger", options, only=f"{LAB}Price")
    counted = correlation(tmp_path / "ledger").explanations[0]
    feed = tmp_path / "data" / "feed-0.ttl"
    feed.write_text(feed.read_text(encoding="utf-8") + "<urn:a> <urn:b> <urn:c> .\n", "utf-8")
    (changed,) = correlation(tmp_path / "ledger").explanations
    assert changed.uncounted == "The data of investigation I1 have changed since."
    shutil.rmtree(tmp_path / "data")
    (gone,) = correlation(tmp_path / "ledger").explanations
    assert gone.uncounted is not None
    assert "there is no such file or folder" in gone.uncounted
    assert (gone.explained, gone.count, gone.failing) == (None, None, counted.failing)
    assert [one.statement for one in gone.causes] == [one.statement for one in counted.causes]
    text = correlation(tmp_path / "ledger").markdown()
    assert "there is no such file or folder" in text


def test_what_is_not_finished_is_not_counted(tmp_path: Path) -> None:
    options = several(tmp_path, interventions=0, max_hypotheses=6)
    ledger = tmp_path / "ledger"
    inquire(ledger, options, only=f"{LAB}Price")
    before = correlation(ledger)

    def interrupted(record: Any, _: Any) -> None:
        if any(TRAILS.Design == q.object for q in record.store.quads(record.iri)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inquire(ledger, options, only=f"{LAB}Mass", told=interrupted)
    after = correlation(ledger)
    assert [one.state for one in after.investigations] == ["finished", "running"]
    assert (after.family, after.explanations) == (before.family, before.explanations)
    assert "Not counted, for they are not finished: I2 (running)." in after.markdown()


def test_a_correlation_is_recorded_and_audited(tmp_path: Path) -> None:
    options = several(tmp_path, interventions=0)
    record = asked(options, only=f"{LAB}Price", correlation=" <https://example.org/why> ")
    values = record.store.values(record.iri, TRAILS.correlation, record.iri)
    assert [value.value for value in values] == ["https://example.org/why"]
    done = run(
        *("investigate", options["data"], "--shapes", options["shapes"], "--only", f"{LAB}Price"),
        *("--correlation", "why", "--ledger", tmp_path / "ledger", "--format", "json"),
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["correlation"] == "why"
    opened = kgreason.open(tmp_path / "ledger")
    assert opened.audit().ok
    assert "- **Correlation:** why\n" in opened.result().markdown()
    assert opened.replay().same


def test_a_correlation_is_given_at_the_start_alone(tmp_path: Path) -> None:
    options = several(tmp_path, interventions=0)
    inquire(tmp_path / "ledger", options, only=f"{LAB}Price")
    with Ledger.write(tmp_path / "ledger") as store:
        record = store.record(store.entry(None))
        step = record.step("Act")
        step.describe(record.iri, correlation="another")
        with pytest.raises(RecordError, match=r"trails#correlation of .* an earlier step wrote"):
            record.commit(step)
    assert correlation(tmp_path / "ledger").name == "lab"


@pytest.mark.parametrize(
    "change",
    [
        'DELETE { ?i ?p "lab" } INSERT { ?i ?p "other" }',
        'DELETE { ?i ?p "lab" }',
    ],
)
def test_a_forged_correlation_is_found(tmp_path: Path, change: str) -> None:
    record = asked(several(tmp_path, interventions=0), only=f"{LAB}Price", correlation="lab")
    where = 'WHERE { ?i trails:correlation "lab" ; ?p "lab" }'
    forged = relinked(tampered(record, f"{change} {where}"))
    (finding,) = [one for one in audit(forged).findings if one.rule == "asked"]
    assert "Its correlation is" in finding.message


def test_what_the_command_line_tells(place: Path) -> None:
    ledger = place / "split"
    given = run("correlation", "lab", "--ledger", ledger, "--format", "json")
    assert given.code == 0, given.err
    assert json.loads(given.out) == json.loads(json.dumps(correlation(ledger).as_dict()))
    text = run("correlation", "lab", "--ledger", ledger).out
    assert "8 hypotheses (5 + 3 + 0 + 0) told by statistics were registered." in text
    assert "I1, I2, I3, I4: 4 causes explain 225 of 284 failures." in text


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201])
def test_what_is_no_name_is_refused(place: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="A correlation needs a name"):
        correlation(place / "split", name)
    options = several(tmp_path)
    with pytest.raises(OptionError, match="A correlation needs a name"):
        inquire(tmp_path / "ledger", options, correlation=name)
    assert not (tmp_path / "ledger").exists()


def test_an_unknown_name_is_told_with_those_there_are(place: Path) -> None:
    with pytest.raises(LedgerError, match=r"no investigation has the correlation 'x'; .* lab"):
        correlation(place / "split", "x")
    done = run("correlation", "x", "--ledger", place / "split")
    assert (done.code, done.out, len(done.sentences)) == (2, "", 1)


def test_an_investigation_without_a_correlation_stands_alone(tmp_path: Path) -> None:
    asked(several(tmp_path, interventions=0), only=f"{LAB}Price", ledger=tmp_path / "ledger")
    with Ledger.read(tmp_path / "ledger") as store:
        record = store.record(store.entry(None))
        assert record.store.values(record.iri, TRAILS.correlation, record.iri) == []
    with pytest.raises(LedgerError, match="there are no correlations"):
        correlation(tmp_path / "ledger")
