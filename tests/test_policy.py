"""A policy is data: the shipped one, or a file of one's own, which is checked before it is used."""

from pathlib import Path

import pytest

import kgreason
from kgreason import loop
from kgreason.audit import audit
from kgreason.base.errors import GraphError, OptionError
from kgreason.base.resources import folder
from kgreason.base.terms import OWL, POLICY, TRAILS
from kgreason.record import policy
from tests.audit_support import statements, tiny

SHIPPED = (folder("ontology") / "policies" / "frame.ttl").read_text(encoding="utf-8")
MINE = "https://example.org/rules#strict"
VERSION = policy.load("frame").version
OWN = SHIPPED.replace("policy:frame ", f"<{MINE}> ").replace(
    f'owl:versionInfo "{VERSION}"', 'owl:versionInfo "mine-7"'
)


def written(folder_: Path, text: str) -> str:
    path = folder_ / "rules.ttl"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_shipped_policy_names_its_rules_and_gates() -> None:
    frame = policy.load("frame")
    assert {rule.name for rule in frame.rules} == {"frame", "e-process"}
    assert [gate.name for gate in frame.gates] == [
        "archive", "begin-testing", "refine", "support", "demote", "refute", "leave-open",
    ]  # fmt: skip
    phases_ = ("Hypothesize", "Execute", "Decide")
    assert [[gate.name for gate in frame.gates_of(phase)] for phase in phases_] == [
        ["refine"],
        ["begin-testing"],
        ["archive", "support", "demote", "refute", "leave-open"],
    ]
    assert f'owl:versionInfo "{frame.version}"' in SHIPPED


def test_an_own_policy_rules_and_is_copied_into_the_record(tmp_path: Path) -> None:
    tiny(tmp_path)
    rules = written(tmp_path, OWN.replace("policy:threshold 0.8", "policy:threshold 0.999999"))
    shapes = tmp_path / "shapes.ttl"
    with kgreason.investigate(tmp_path / "data", shapes=shapes, policy=rules) as result:
        symptom = result.as_dict()["symptoms"][0]
        said = {(q.subject.value, q.predicate, q.object.value) for q in statements(result.record)}
        found = audit(result.record)
    assert {h["status"] for h in symptom["hypotheses"] if h["kind"] == "source"} == {"inconclusive"}
    assert (MINE, OWL.versionInfo, "mine-7") in said
    assert (MINE, POLICY.threshold, "0.999999") in said
    assert (result.record.iri.value, TRAILS.policy, MINE) in said
    assert found.ok, str(found)
    assert {notice.rule for notice in found.notices} == {"policy-known"}


def test_a_policy_cannot_change_a_figure_of_the_engine(tmp_path: Path) -> None:
    rules = written(
        tmp_path, OWN.replace("policy:threshold 0.8", "policy:threshold 0.8 ; policy:minG 3.0")
    )
    with pytest.raises(OptionError, match="policy:minG is a figure of the engine"):
        policy.load(str(rules))


def test_a_policy_without_the_e_process_moves_none(tmp_path: Path) -> None:
    tiny(tmp_path)
    rules = written(tmp_path, OWN.replace('"frame" , "e-process"', '"frame"'))
    shapes = tmp_path / "shapes.ttl"
    with kgreason.investigate(tmp_path / "data", shapes=shapes, policy=rules) as result:
        values = {q.object.value for q in statements(result.record) if q.predicate == TRAILS.rule}
        found = audit(result.record)
    assert "frame" in values
    assert "e-process" not in values
    assert found.ok, str(found)


def test_parts_with_names_are_copied_too(tmp_path: Path) -> None:
    named = OWN.replace(
        f"<{MINE}> policy:transition [ a trails:Transition ; trails:from trails:Testing ; "
        "trails:to trails:Supported ] .",
        f"<{MINE}> policy:transition <{MINE}-begin> .\n<{MINE}-begin> a trails:Transition ; "
        "trails:from trails:Testing ; trails:to trails:Supported .",
    )
    assert named != OWN
    told = policy.load(written(tmp_path, named)).transitions
    assert (TRAILS.Testing, TRAILS.Supported) in told
    assert told == policy.load(written(tmp_path, OWN)).transitions


def test_transitions_of_a_shared_table_are_those_of_the_policy() -> None:
    for name in policy.names():
        made = policy.load(name)
        assert (TRAILS.Proposed, TRAILS.Testing) in made.transitions
        assert all(t.predicate != POLICY.transitionsOf for t in made.triples)


def test_a_policy_that_changed_is_not_resumed_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny(tmp_path)
    rules, shapes, ledger = written(tmp_path, OWN), tmp_path / "shapes.ttl", tmp_path / "ledger"

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(loop, "hypothesize", stop)
        with pytest.raises(KeyboardInterrupt):
            kgreason.investigate(tmp_path / "data", shapes=shapes, policy=rules, ledger=ledger)
    written(tmp_path, OWN.replace("policy:threshold 0.8", "policy:threshold 0.5"))
    with pytest.raises(GraphError, match="changed"):
        kgreason.resume(ledger)
    written(tmp_path, OWN)
    with kgreason.resume(ledger) as result:
        assert result.as_dict()["policy"] == MINE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("this is no Turtle", r"--policy .*rules\.ttl: this is not Turtle \("),
        ("", r"describe one trails:Policy with an IRI; it describes none\."),
        (OWN + OWN.replace("strict", "other"), r"it describes 2\."),
        (SHIPPED, r"policy#frame is the name of a policy that comes with kgreason"),
        (OWN.replace("threshold 0.8", "threshold 1.8"), r"threshold: .* \(it is 1\.8\)$"),
        (OWN.replace("    policy:alpha 0.05 ;\n", ""), r"alpha: "),
        (OWN.replace("underSelf 0.80", "underSelf 0.79"), r"probabilities that add up to one"),
        (
            OWN.replace('rule "frame"', 'rule "magic"'),
            r"no rule 'magic'; there are: competing-scores, ",
        ),
        (OWN.replace('gate "support"', 'gate "x"').replace('"demote"', '"x"'), r"no gate 'x'; "),
        (OWN.replace('"placebo"', '"other"'), r"for the outcome 'specific' of the test 'placebo'"),
    ],
)
def test_a_wrong_policy_is_refused_in_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(OptionError, match=sentence) as raised:
        policy.load(written(tmp_path, text))
    assert "\n" not in str(raised.value)


def test_a_policy_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"gone\.ttl: the file cannot be read \(No such file"):
        policy.load(str(tmp_path / "gone.ttl"))
    with pytest.raises(
        OptionError,
        match=r"no policy 'gone'; there are: code, comp.*, or a FILE\.ttl",
    ):
        policy.load("gone")
