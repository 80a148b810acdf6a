"""`kgreason queries --check` and the table of header keys: what a stranger is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgreason.base.errors import OptionError, TemplateError
from kgreason.base.headers import keys_of, table
from kgreason.base.templates import parse, roles
from kgreason.review.catalogue_faults import faults
from tests.cli_support import run
from tests.test_contributing import BLOCK, ROOT

FAMILY = "queries/hypothesize/unlabelled.rq"
TEST = "queries/test/majority.rq"
GIVEN = dict(BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
BROKEN = {
    "an unknown key": (
        FAMILY,
        ("#+ split: node", "#+ splitt: node"),
        r"unlabelled\.rq, line 4: queries/hypothesize has no header key 'splitt'; did you mean",
    ),
    "a value that is none": (
        FAMILY,
        ("#+ split: node", "#+ split: half"),
        r"line 4: the header key 'split' takes one of node, cluster, within, whole, not 'half'",
    ),
    "a key that is missing": (
        FAMILY,
        ("#+ order: 25\n", ""),
        r"the header has no order; add a line",
    ),
    "a key that stands twice": (
        FAMILY,
        ("#+ order: 25", "#+ order: 25\n#+ order: 26"),
        r"line 7: the key 'order' stands twice",
    ),
    "no number": (FAMILY, ("order: 25", "order: high"), r"line 6: .* a whole number, not 'high'"),
    "a test that is not there": (
        FAMILY,
        ("counterexamples majority", "counterexample"),
        r"its tests names 'counterexample', which there is not; there are association",
    ),
    "a kind that is not there": (
        FAMILY,
        ("kind: cohort", "kind: group"),
        r"its kind names 'group'",
    ),
    "words without a term": (
        FAMILY,
        ("Nodes without a label {fail}", "Nodes without a {label} {fail}"),
        r"its statement has \{label\}, which is no parameter",
    ),
    "a parameter that is not declared": (
        FAMILY,
        ("{{ symptom }}", "{{ sympton }}"),
        r"the body uses 'sympton'; declare it",
    ),
    "a parameter that is not used": (
        TEST,
        ("#+ param half", "#+ param other: iri, none\n#+ param half"),
        r"the parameter 'other' is declared, but the body does not use it",
    ),
    "a prefix that is not declared": (
        FAMILY,
        ("PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n", ""),
        r"the prefix rdfs: is used, but not declared",
    ),
    "a section that is missing": (
        FAMILY,
        ("#= region", "#= regions"),
        r"section '#= region' is miss",
    ),
    "no SPARQL": (TEST, ("BIND (IF(", "BIND (IFF("), r"Oxigraph cannot read it"),
    "SPARQL of one engine alone": (
        TEST,
        ("BIND (CONCAT(", "LATERAL { SELECT * WHERE { ?a ?b ?c } } BIND (CONCAT("),
        r"cannot read it",
    ),
    "a list that may be empty": (
        FAMILY,
        (
            "#= region",
            "FILTER (?x IN ({% for one in several %}{{ one }}{% endfor %}))\n#= region",
        ),
        r"without several the list after IN is empty",
    ),
    "broken jinja": (
        TEST,
        ("{{ half }}", "{{ half }"),
        r"jinja cannot be read|cannot be filled in",
    ),
    "no likelihood": (
        "ontology/policies/majority.ttl",
        ("majority", "minority"),
        r"no policy:likelihood for the outcome 'most'",
    ),
    "no case": (
        "tests/cases/test/majority/two-of-three/case.toml",
        None,
        r"majority\.rq: it has no case; add a folder .*tests/cases/test/majority",
    ),
}


def write(root: Path, leave_out: str = "") -> Path:
    for name, text in GIVEN.items():
        path = root / name
        if leave_out and str(path).startswith(str((root / leave_out).parent)):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_what_contributing_gives_has_no_fault(tmp_path: Path) -> None:
    done = run("queries", "--check", write(tmp_path))
    assert done.out == "Nothing is wrong.\n"
    assert done.code == 0


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.slow
def test_a_fault_is_told_in_a_line(tmp_path: Path, case: str) -> None:
    name, change, message = BROKEN[case]
    root = write(tmp_path, "" if change else name)
    if change:
        text = (root / name).read_text(encoding="utf-8")
        assert change[0] in text
        (root / name).write_text(text.replace(*change), encoding="utf-8")
    done = run("queries", "--check", root)
    assert done.code == 1
    assert [line for line in done.out.splitlines() if re.search(message, line)], done.out
    assert all(str(root) in line for line in done.out.splitlines())


def test_every_fault_of_a_folder_is_told(tmp_path: Path) -> None:
    root = write(tmp_path)
    for name, text in (
        ("queries/hypothesise/mine.rq", "SELECT"),
        ("queries/hypothesize/drift.rq", GIVEN[FAMILY]),
        ("queries/report/mine.rq", "SELECT"),
        ("ontology/policies/broken.ttl", "policy:x"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    told = "\n".join(faults(root))
    for message in (
        "nothing reads queries/hypothesise/mine.rq",
        "the name hypothesize/drift is taken already",
        "mine.rq: the header has no summary",
        "broken.ttl: this is not Turtle",
    ):
        assert message in told


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="there is no such folder"):
        faults(tmp_path / "nowhere")
    with pytest.raises(OptionError, match="it extends nothing"):
        faults(tmp_path)
    assert run("queries", "--check", tmp_path / "nowhere").code == 2


def test_the_table_says_all_of_each_key() -> None:
    values = {"text", "word", "words", "integer", "number", "yes", "terms", "one of", "some of"}
    for key in table():
        assert key.meaning.endswith("."), key
        assert key.value in values, key
        assert set(key.roles) <= set(roles()), key
        assert key.needed != bool(key.default), f"{key.key}: needed, or a default"
        assert bool(key.choice) == (key.value in {"one of", "some of"}), key
    for role in roles():
        mine = [key.key for key in table() if role in key.roles]
        assert len(mine) == len(set(mine)), f"{role} has a key twice"
        assert set(keys_of(role)) == set(mine)


def test_a_template_is_held_to_the_table_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.rq"
    path.write_text("#+ summary: Mine.\n#+ colour: red\nSELECT * WHERE { }\n", encoding="utf-8")
    with pytest.raises(TemplateError, match=r"mine\.rq, line 2: .* no header key 'colour'"):
        parse(path, "context")
