"""Of several forms that a failure may be seen to have: which one is told."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kgreason

HEAD = """
@prefix ex: <https://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
PARTS = 240

Told = Callable[[str, Sequence[str]], list[dict[str, Any]]]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """Give the supported hypotheses for parts with these statements and this property shape."""

    def run(wanted: str, lines: Sequence[str]) -> list[dict[str, Any]]:
        shape = f"ex:S a sh:NodeShape ; sh:targetClass ex:Part ; sh:property [ {wanted} ] ."
        data, shapes = tmp_path / "data.ttl", tmp_path / "shapes.ttl"
        parts = "\n".join(f"ex:p{n} a ex:Part . {line}" for n, line in enumerate(lines))
        data.write_text(HEAD + parts, encoding="utf-8")
        shapes.write_text(HEAD + shape, encoding="utf-8")
        with kgreason.investigate(data, shapes=shapes) as result:
            found = result.as_dict()["symptoms"][0]["hypotheses"]
        return [h for h in found if h["status"] == "supported"]

    return run


def test_a_value_that_is_right_in_another_form_is_no_stand_in(told: Told) -> None:
    weights = [f'"{n % 12 // 11}"' if n % 3 == 0 else f"{n % 12 // 11}" for n in range(PARTS)]
    lines = [f"ex:p{n} ex:weight {weight} ." for n, weight in enumerate(weights)]
    found = told("sh:path ex:weight ; sh:datatype xsd:integer", lines)
    assert [h["kind"] for h in found] == ["datatype"]


def test_a_stand_in_is_told_where_nothing_that_passes_has_it(told: Told) -> None:
    weights = ['"unknown"' if n % 3 == 0 else f"{n}" for n in range(PARTS)]
    lines = [f"ex:p{n} ex:weight {weight} ." for n, weight in enumerate(weights)]
    found = told("sh:path ex:weight ; sh:datatype xsd:integer", lines)
    assert [h["kind"] for h in found] == ["value"]


@pytest.mark.parametrize(("beside", "kinds"), [(0, ["mapping"]), (40, [])])
def test_who_has_both_predicates_speaks_against_a_slip(
    told: Told, beside: int, kinds: list[str]
) -> None:
    lines = []
    for n in range(PARTS):
        own = "ex:code" if n < 60 else "ex:label"
        both = f' ; ex:code "{n}"' if 60 <= n < 60 + beside else ""
        lines.append(f'ex:p{n} {own} "{n}"{both} .')
    found = told("sh:path ex:label ; sh:minCount 1", lines)
    assert [h["kind"] for h in found if h["kind"] == "mapping"] == kinds


@pytest.mark.parametrize(("rare", "told_kinds"), [(10, ["mapping"]), (50, [])])
def test_a_placebo_has_to_do_for_a_quarter_of_the_claimed(
    told: Told, rare: int, told_kinds: list[str]
) -> None:
    lines = []
    for n in range(PARTS):
        other = f' ; ex:remark "{n}"' if n < rare else ""
        lines.append(f'ex:p{n} {"ex:code" if n < 100 else "ex:label"} "{n}"{other} .')
    found = told("sh:path ex:label ; sh:minCount 1", lines)
    assert [h["kind"] for h in found if h["kind"] == "mapping"] == told_kinds


@pytest.mark.parametrize(
    ("spaces", "words"), [(("east", "west"), "in several namespaces"), (("east",), "east")]
)
def test_the_namespace_is_told_where_only_one_is_missing(
    told: Told, spaces: Sequence[str], words: str
) -> None:
    lines = []
    for n in range(PARTS):
        if n % 3 == 0:
            lines.append(f"ex:p{n} ex:from <https://{spaces[n % len(spaces)]}.example.net/{n}> .")
        else:
            lines.append(f"ex:p{n} ex:from ex:s{n} . ex:s{n} a ex:Supplier .")
    found = told("sh:path ex:from ; sh:class ex:Supplier", lines)
    assert [h["kind"] for h in found] == ["reference"]
    assert words in found[0]["statement"]


def test_names_that_were_cut_off_are_told_as_a_whole(told: Told) -> None:
    draw = random.Random(7)
    lines = []
    for n in range(PARTS):
        # Some beginnings are common, many are found once; now and then one is in capitals.
        start = chr(65 + int(26 * draw.random() ** 2)) + chr(97 + int(26 * draw.random() ** 2))
        start = start.upper() if n % 10 == 0 else start
        name = f"{start}{'mnop' * draw.randrange(2, 8)} {'rst' * draw.randrange(4)}{n}"
        lines.append(f'ex:p{n} ex:name "{name[:2] if n % 3 == 0 else name}" .')
    found = told("sh:path ex:name ; sh:minLength 3", lines)
    assert [h["statement"] for h in found] == [
        "The wrong texts of name were cut off after “2” characters."
    ]


LANGUAGES = "name has values in several languages, and the rule counts them together."


def named(number: int, texts: Sequence[str]) -> str:
    """Give the statement of what a part is called; each text is one with its language, if any."""
    return f"ex:p{number} ex:name {', '.join(texts)} ."


@pytest.mark.parametrize("other", ["@nl", ""])
def test_a_name_in_each_of_two_languages_is_one_too_many(told: Told, other: str) -> None:
    lines = []
    for n in range(PARTS):
        texts = [f'"pièce {n}"@fr', f'"deel {n}"{other}'] if n % 3 == 0 else [f'"pièce {n}"@fr']
        lines.append(named(n, texts))
    found = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert [h["statement"] for h in found] == [LANGUAGES]
    evidence = {e["test"]: e["polarity"] for e in found[0]["evidence"]}
    # Several names in one language break the rule as well: it is one wrong form among others.
    assert evidence == {
        "direct-check": "supports",
        "placebo": "supports",
        "restatement": "neutral",
    }


@pytest.mark.parametrize("tags", [("@fr", "@fr"), ("", "")])
def test_two_names_in_one_language_are_not_told_as_several(
    told: Told, tags: tuple[str, str]
) -> None:
    lines = []
    for n in range(PARTS):
        texts = [f'"a {n}"{tags[0]}', f'"b {n}"{tags[1]}'] if n % 3 == 0 else [f'"a {n}"@fr']
        lines.append(named(n, texts))
    found = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert LANGUAGES not in [h["statement"] for h in found]


def test_two_in_each_of_two_languages_are_too_many_for_another_reason(told: Told) -> None:
    lines = []
    for n in range(PARTS):
        texts = [f'"{place} {n}"{tag}' for tag in ("@fr", "@nl") for place in "ab"]
        lines.append(named(n, texts if n % 3 == 0 else texts[:1]))
    found = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert LANGUAGES not in [h["statement"] for h in found]


def test_where_parts_that_pass_have_several_languages_these_are_no_cause(told: Told) -> None:
    """The rule allows two: who has three names fails, and a quarter of the others has two."""
    lines = []
    for n in range(PARTS):
        texts = [f'"a {n}"@fr', f'"b {n}"@nl', f'"c {n}"@de']
        lines.append(named(n, texts[: 3 if n % 3 == 0 else 2 if n % 4 == 1 else 1]))
    found = told("sh:path ex:name ; sh:maxCount 2", lines)
    assert LANGUAGES not in [h["statement"] for h in found]


def test_texts_under_a_property_that_links_elsewhere_are_the_texts_that_are_lacking(
    told: Told,
) -> None:
    """All have a name and a remark; a source is no text elsewhere."""
    lines = []
    for n in range(PARTS):
        said = f'"A part of the kind {n}"'
        own = f"ex:source {said}" if n % 4 == 0 else f"ex:meaning {said} ; ex:source ex:book{n % 5}"
        own = f"ex:meaning {said}" if n % 4 and n % 3 == 0 else own
        lines.append(f'ex:p{n} {own} ; ex:name "part {n}" ; ex:remark "seen in a shop {n}" .')
    found = told("sh:path ex:meaning ; sh:minCount 1", lines)
    wanted = "The value of meaning was written under source instead: elsewhere that one holds no"
    assert [h["statement"] for h in found] == [f"{wanted} text."]


@pytest.mark.parametrize(("beside", "kinds"), [("", ["mapping"]), ("ex:editor", [])])
def test_addresses_of_a_host_of_its_own_tell_what_is_lacking(
    told: Told, beside: str, kinds: list[str]
) -> None:
    """Remarks as long go with the failures too; where editors have such addresses, none tells."""
    lines = []
    for n in range(PARTS):
        who = f'"https://people.example.net/{n % 9}"'
        remark = f'"it was seen in a shop later {n}"'
        own = f"ex:agent {who} ; ex:remark {remark}" if n % 4 == 0 else f"ex:maker {who}"
        editor = f" ; {beside} {who}" if beside else ""
        lines.append(f"ex:p{n} {own}{editor} .")
    found = told("sh:path ex:maker ; sh:minCount 1", lines)
    assert [h["kind"] for h in found if h["kind"] == "mapping"] == kinds


def test_a_text_that_must_have_a_letter_is_empty_and_that_is_no_cause(told: Told) -> None:
    lines = [f'ex:p{n} ex:name "{n if n % 3 else ""}" ; ex:of ex:m{n % 3} .' for n in range(PARTS)]
    assert [h["kind"] for h in told("sh:path ex:name ; sh:minLength 1", lines)] == ["cohort"]


def test_a_slip_that_is_not_borne_out_hides_no_wrong_form(told: Told) -> None:
    lines = []
    for n in range(60):
        right = f'ex:p{n} ex:name "name {n}"@en .'
        wrong = f'ex:p{n} ex:name "name {n}" ; ex:by "cjm" ; ex:of ex:m{n} .'
        lines.append(wrong if n % 3 == 0 else right)
    found = told("sh:path ex:name ; sh:datatype rdf:langString", lines)
    assert found[0]["statement"].endswith("were written as texts without a language.")


def test_a_wrong_form_of_few_nodes_is_told_as_such_whatever_half_they_are_in(told: Told) -> None:
    # Of so few that fail one half may hold hardly any.
    for first in range(0, 60, 10):
        lines = [
            f'ex:p{n} ex:name "n"{"" if first <= n < first + 6 else "@en"} .' for n in range(60)
        ]
        found = told("sh:path ex:name ; sh:datatype rdf:langString", lines)
        assert [h["kind"] for h in found] == ["datatype"]


def test_names_with_a_prefix_that_were_taken_for_iris_are_one_form(told: Told) -> None:
    units = [
        f"<{'unit' if n % 2 else 'qudt'}:M{n}>" if n % 6 < 2 else f"ex:M{n}" for n in range(PARTS)
    ]
    lines = [f"ex:p{n} ex:unit {unit} ." for n, unit in enumerate(units)]
    found = told('sh:path ex:unit ; sh:pattern "^https?://"', lines)
    assert [h["kind"] for h in found][:1] == ["value"]
    assert "are short names that nothing expanded" in found[0]["statement"]
    assert found[0]["inside"]["failing"] == PARTS // 3


@pytest.mark.parametrize("written", ["Œ≤-Carotin", "Î²-Carotin", "ZÃ¼rich", "\u201aÄ¶", "Å™eka"])
def test_a_wrong_encoding_is_known_by_its_letters(told: Told, written: str) -> None:
    lines = [
        f'ex:p{n} ex:name "{written if n % 6 == 0 else "Cœur de Å² (Ä), Œuvre √2"} {n}" .'
        for n in range(60)
    ]
    found = told('sh:path ex:name ; sh:pattern "^C"', lines)
    assert "a text read in the wrong encoding" in found[0]["statement"]
    assert found[0]["inside"] == {**found[0]["inside"], "failing": 10, "population": 10}


def test_where_no_value_is_allowed_all_nodes_could_fail(told: Told) -> None:
    """Who has a value fails, so that among those with one nothing could stand out."""
    lines = []
    for n in range(PARTS):
        top = f' ; ex:top "t{n % 4}"' if n % 3 == 0 else ""
        lines.append(f'ex:p{n} ex:rack "{"low" if n % 3 == 0 else f"high {n % 5}"}"{top} .')
    found = told("sh:path ex:top ; sh:maxCount 0", lines)
    assert [(h["kind"], "low" in h["statement"]) for h in found] == [("cohort", True)]


def test_wrong_values_that_only_another_validator_finds_are_known(told: Told) -> None:
    """The store's expressions cannot look ahead; what pySHACL found has values all the same."""
    lines = [
        f'ex:p{n} ex:seat "at: {"row" if n % 6 else f"hall {n % 5}"} {n % 7}" .' for n in range(60)
    ]
    found = told('sh:path ex:seat ; sh:not [ sh:pattern "at: (?!row)" ]', lines)
    assert [h["kind"] for h in found] == ["value"]
    assert found[0]["inside"]["failing"] == 10


def test_the_language_of_wrong_values_is_told(told: Told) -> None:
    lines = []
    for n in range(60):
        french = f"{n}{'/' if n % 4 == 0 else '-'}{n * 7 % 60}"
        lines.append(f'ex:p{n} ex:name "one-{n}"@en , "eins-{n}"@de , "{french}"@fr .')
    found = told('sh:path ex:name ; sh:pattern "^[^/]*$"', lines)
    assert [h["statement"] for h in found] == [
        "The wrong values of name are in one language: “fr”."
    ]
    lines = [f'ex:p{n} ex:name "one{"/" if n % 4 == 0 else "-"}{n}"@en .' for n in range(58)]
    lines += [f'ex:p{n} ex:name "eins"@de .' for n in range(58, 60)]
    found = told('sh:path ex:name ; sh:pattern "^[^/]*$"', lines)
    assert not any("language" in h["statement"] for h in found)


def test_what_wrong_values_of_one_of_two_properties_share_is_told_as_that(told: Told) -> None:
    lines = []
    for n in range(PARTS):
        page = f"<https://old.example/view:{n}>" if n % 5 == 0 else f"ex:same{n}"
        lines.append(f"ex:p{n} ex:{'near' if n % 3 == 0 else 'exact'} {page} .")
        lines[-1] = lines[-1].replace("near", "exact") if n % 5 == 0 else lines[-1]
    path = "[ sh:alternativePath ( ex:exact ex:near ) ]"
    found = told(f'sh:path {path} ; sh:pattern "^https?://[^:]*$"', lines)
    assert [h["kind"] for h in found] == ["value"]
    assert found[0]["inside"]["failing"] == PARTS // 5


def test_what_the_values_that_are_too_many_have_in_common_is_told(told: Told) -> None:
    lines = []
    for n in range(PARTS):
        texts = [f'"{n}"', f'"ABC-{n}-x"']
        lines.append(named(n, texts if n % 3 == 0 else texts[:1]))
    (found,) = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert found["statement"] == "Nodes whose name contains “BC-” fail."
    assert found["inside"] == {"failing": 80, "population": 80}


def test_of_values_too_many_that_are_like_the_others_nothing_is_told(told: Told) -> None:
    lines = []
    for n in range(PARTS):
        texts = [f'"{n}"', f'"{n + 500}"']
        lines.append(named(n, texts if n % 3 == 0 else texts[:1]))
    found = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert [h["kind"] for h in found] in ([], ["none"])


def test_a_slash_too_much_is_told_beside_things_of_another_class(told: Told) -> None:
    """A tenth of those that point at such an address point at a wrong class, too."""
    described = [f"ex:maker{n} a ex:{'Agent' if n % 10 == 0 else 'Maker'} ." for n in range(40)]
    lines = []
    for n in range(PARTS):
        slash = f", <https://example.org/maker{n % 37}/>" if n % 4 == 0 else ""
        lines.append(f"ex:p{n} ex:maker ex:maker{n % 40}{slash} . {' '.join(described) * (n == 0)}")
    found = told("sh:path ex:maker ; sh:class ex:Maker", lines)
    statements = sorted(h["statement"] for h in found)
    assert len(statements) == 2
    assert statements[0] == "What maker points at is typed as Agent, not as the shape asks."
    assert "without the “/” at the end of their names they are described" in statements[1]


def test_how_many_parts_a_sum_has_is_no_part_of_what_it_asks(told: Told) -> None:
    """Who has four pieces or more counts one of them twice; nobody is asked how many they are."""
    lines = []
    for n in range(PARTS):
        pieces = n % 6 + 1
        weights = [n % 7 + 3 * k for k in range(pieces)]
        total = sum(weights) - (weights[1] if pieces > 3 else 0)
        made = " ".join(
            f"ex:p{n}x{k} ex:of ex:p{n} ; ex:weight {weight} ." for k, weight in enumerate(weights)
        )
        lines.append(f"ex:p{n} ex:total {total} . {made}")
    rule = (
        'sh:path ex:total ; sh:sparql [ sh:select """SELECT $this WHERE { { SELECT $this '
        "(SUM(?w) AS ?sum) WHERE { ?piece <https://example.org/of> $this ; "
        "<https://example.org/weight> ?w } GROUP BY $this } "
        '$this <https://example.org/total> ?all FILTER (?sum != ?all) }""" ]'
    )
    found, *others = told(rule, lines)
    assert [o["statement"] for o in others] == []
    assert found["statement"] == "Nodes that 4 or more things point at by of fail."
    assert found["inside"] == {"failing": 120, "population": 120}


def test_that_there_are_two_values_is_not_told_by_naming_both(told: Told) -> None:
    lines = [named(n, ['"mean"', '"spot"'] if n % 5 == 0 else ['"mean"']) for n in range(PARTS)]
    lines = [
        line.replace('"mean" .', '"spot" .') if n % 2 else line for n, line in enumerate(lines)
    ]
    found = told("sh:path ex:name ; sh:maxCount 1", lines)
    assert [h["kind"] for h in found] in ([], ["none"])


def test_what_lies_behind_two_values_is_not_counted(told: Told) -> None:
    lines = []
    for n in range(PARTS):
        second = f", ex:s{(n * 7 + 3) % 31}" if n % 6 == 0 else ""
        depth = f"ex:s{n} ex:depth {n * 5} ." if n < 31 else ""
        lines.append(f"ex:p{n} ex:sensor ex:s{n % 31}{second} . {depth}")
    found = told("sh:path ex:sensor ; sh:maxCount 1", lines)
    assert not [h["statement"] for h in found if "depth" in h["statement"]]


def test_a_form_that_some_of_the_wrong_values_have_is_no_rival_of_what_all_have(told: Told) -> None:
    """Noughts became letters; where only the last one did, the number looks as if it had a unit."""
    draw, lines = random.Random(5), []
    for n in range(PARTS):
        last = n % 20 == 0
        digits = "".join(draw.choice("123456789" if last else "0123456789") for _ in range(9))
        digits += "0" if last else draw.choice("123456789")
        lines.append(named(n, [f'"978{digits.replace("0", "O") if n % 4 == 0 else digits}"']))
    found, *_ = told('sh:path ex:name ; sh:pattern "^[0-9]{13}$"', lines)
    assert found["statement"].startswith("Nodes whose name has capitals only fail")
    assert found["inside"]["failing"] == found["inside"]["population"]


def test_terms_that_are_described_with_other_capitals_are_told_as_one_slip(told: Told) -> None:
    described = " ".join(f"ex:maker{n} a ex:Maker ." for n in range(7))
    lines = [
        f"ex:p{n} ex:maker ex:{'Maker' if n % 4 == 0 else 'maker'}{n % 7} . {described * (n == 0)}"
        for n in range(PARTS)
    ]
    (found,) = told("sh:path ex:maker ; sh:class ex:Maker", lines)
    assert found["statement"] == (
        "maker points at 7 terms of which the graph says nothing; with other capitals they are "
        "described: Maker0 is maker0."
    )
    assert found["inside"] == {"failing": 60, "population": 60}
