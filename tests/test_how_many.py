"""How many ends a node reaches is a condition, however many, and also of what is linked with it."""

import random
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

import kgreason
from kgreason.base.store import Term
from kgreason.hypothesize.conditions.atlas import Table
from kgreason.hypothesize.conditions.how_many import counts
from kgreason.hypothesize.conditions.paths import Path as Way

E = "https://example.org/h#"
HEAD = f"@prefix e: <{E}> .\n"


def table(numbers: list[int]) -> Table:
    """Return a table in which each node reaches so many ends."""
    ends: dict[Term, int] = {
        NamedNode(f"{E}end{place}"): sum(1 << node for node, n in enumerate(numbers) if place < n)
        for place in range(max(numbers))
    }
    return Table(Way(), ends)


@pytest.mark.parametrize("numbers", [[1, 2, 3], [0, 1, 1, 7, 12, 12, 300], [5] * 3 + [0] * 2])
def test_nodes_are_told_apart_by_the_number_of_their_ends(numbers: list[int]) -> None:
    found = table(numbers).by_number
    wanted: dict[int, int] = {}
    for node, number in enumerate(numbers):
        if number:
            wanted[number] = wanted.get(number, 0) | 1 << node
    assert found == wanted


def test_bounds_on_the_number_go_beyond_a_handful() -> None:
    made = table([1, 2, 9, 9, 40])
    told = {terms[0][1].value: mask for terms, mask in counts(made, least=True)}  # type: ignore[union-attr]
    assert told["9"] == 0b11100
    assert told["2"] == 0b11110
    few = {terms[0][1].value: mask for terms, mask in counts(made, least=False)}  # type: ignore[union-attr]
    assert few["1"] == 0b00001
    assert few["9"] == 0b01111


def test_a_ward_with_few_nurses_is_told_by_their_number(tmp_path: Path) -> None:
    dice = random.Random(3)
    rows, nurses = [HEAD], {}
    for ward in range(24):
        nurses[ward] = 2 + ward % 8
        rows += [f"e:n{ward}-{n} a e:Nurse ; e:worksOn e:w{ward} ." for n in range(nurses[ward])]
        rows.append(f"e:w{ward} a e:Ward ; e:beds {dice.choice([12, 18, 24, 28])} .")
    for stay in range(700):
        ward = dice.randrange(24)
        late = dice.random() < (0.9 if nurses[ward] <= 4 else 0.03)
        rows.append(f"e:s{stay} a e:Stay ; e:onWard e:w{ward} ; e:long {str(late).lower()} .")
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    query = f"SELECT ?focus ?outcome {{ ?focus a <{E}Stay> ; <{E}long> ?outcome }}"
    with kgreason.investigate(tmp_path / "data.ttl", outcome=query) as found:
        (first, *_) = found.causes
    assert "whose onWard no more than 4 point at by worksOn" in first.statement
