"""Which properties say what thing a node is, so that two of their values are two things."""

import json
import random
from pathlib import Path

import pytest

import kgreason

E = "https://example.org/i#"
QUERY = f"""SELECT ?focus (COUNT(?place) > 1 AS ?outcome) {{
  ?focus <{E}employer> ?place
}} GROUP BY ?focus"""


@pytest.mark.parametrize(("text", "told"), [("0000-{}", True), ("Ann {}", False)])
def test_two_codes_of_one_node_are_told_where_values_are_counted_and_two_names_are_not(
    tmp_path: Path, text: str, *, told: bool
) -> None:
    """Whoever was merged of two has two of everything; of identifiers that says why."""
    dice = random.Random(4)
    rows = [f"@prefix e: <{E}> ."]
    for n in range(300):
        merged = n % 10 == 3
        called = [text.format(number) for number in ((n, 1000 + n) if merged else (n,))]
        places = dice.sample(range(9), 2 if merged and dice.random() < 0.95 else 1)
        rows.append(
            f"e:p{n} a e:Person ; e:called {', '.join(map(json.dumps, called))} ; "
            f"e:employer {', '.join(f'e:o{place}' for place in places)} ."
        )
    (tmp_path / "data.ttl").write_text("\n".join(rows), encoding="utf-8")
    with kgreason.investigate(tmp_path / "data.ttl", outcome=QUERY) as found:
        said = [cause.statement for cause in found.causes]
    assert any("2 or more values of called" in one for one in said) is told
