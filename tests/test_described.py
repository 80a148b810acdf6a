"""The line at which a file describes a node: told where it is certain, and else not."""

from pathlib import Path

import pytest

from kgreason.report.export.described import lines

E = "https://example.org/"
TURTLE = """# ex:a is only spoken of here
@prefix ex: <https://example.org/> .
@base <https://example.org/base/> .
PREFIX q: <https://example.org/q/>

ex:z ex:about ex:a , <https://example.org/b> ; ex:text "ex:a a ex:T ." .
[] ex:about ex:b .
[ ex:about ex:b ] ex:text \"\"\"
ex:b a ex:T .
\"\"\" .
ex:a a ex:T ; ex:size 1.5 .
ex:a ex:size 5.
( ex:b 2 ) ex:of ex:c .
<https://example.org/b>
  a ex:T .
<rel> a ex:T . q:x\\,y a ex:T .
_:n a ex:T .
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", [".ttl", ".trig"])
def test_turtle_is_read_by_its_tokens(tmp_path: Path, ending: str, end: str) -> None:
    file = tmp_path / f"data{ending}"
    file.write_bytes(TURTLE.replace("\n", end).encode())
    wanted = [f"{E}a", f"{E}b", f"{E}c", f"{E}z", f"{E}base/rel", f"{E}q/x,y", "_:n", f"{E}T"]
    assert lines(file, wanted) == {
        f"{E}z": 6,
        f"{E}a": 11,
        f"{E}b": 14,
        f"{E}base/rel": 16,
        f"{E}q/x,y": 16,
    }


def test_the_name_of_a_graph_describes_no_node(tmp_path: Path) -> None:
    file = tmp_path / "data.trig"
    file.write_text(
        "@prefix ex: <https://example.org/> .\nex:g {\n ex:a ex:p ex:g . ex:b ex:p 1 }\n"
        "GRAPH ex:h { ex:c ex:p 2 }\n{ ex:d ex:p 3 }\nex:g ex:p 4 .\n",
        encoding="utf-8",
    )
    wanted = [f"{E}{name}" for name in "abcdgh"]
    assert lines(file, wanted) == {
        f"{E}{name}": line for name, line in zip("abcdg", (3, 3, 4, 5, 6), strict=True)
    }


def test_what_follows_something_odd_is_not_told(tmp_path: Path) -> None:
    file = tmp_path / "data.ttl"
    head = "@prefix ex: <https://example.org/> .\n"
    file.write_text(f"{head}ex:a a ex:T .\n<< ex:a a ex:T >> ex:p 1 .\nex:b a ex:T .\n", "utf-8")
    assert lines(file, [f"{E}a", f"{E}b"]) == {f"{E}a": 2}
    file.write_text(f'{head}ex:a ex:p "open .\nex:b a ex:T .\n', "utf-8")
    assert lines(file, [f"{E}a", f"{E}b"]) == {f"{E}a": 2}
    file.write_text("<rel> a <https://example.org/T> .\n", "utf-8")
    assert lines(file, ["rel", f"{tmp_path.as_uri()}/rel"]) == {}


def test_other_formats(tmp_path: Path) -> None:
    files = {
        "a.nt": f"<{E}x> <{E}p> <{E}a> .\n# <{E}a> <{E}p> 1\n<{E}a> <{E}p> <{E}\\u0062> .\n",
        "a.nq": f"<{E}x> <{E}p> <{E}a> .\n\n  <{E}a>\t<{E}p> <{E}b> <{E}g> .\n",
        "a.rdf": f'<rdf:RDF>\n<!-- rdf:about="{E}a" -->\n<rdf:Description\n rdf:about="{E}a">',
        "a.jsonld": f'{{"@id": "{E}a"}}',
        "a.ttl.gz": "",
    }
    told = {"a.nt": 3, "a.nq": 3, "a.rdf": 4}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = lines(tmp_path / name, [f"{E}a"])
        assert found == ({f"{E}a": told[name]} if name in told else {}), name
    (tmp_path / "bytes.ttl").write_bytes(b"<https://example.org/a> a <\xff> .")
    assert lines(tmp_path / "bytes.ttl", [f"{E}a"]) == {}
    assert lines(tmp_path / "gone.ttl", [f"{E}a"]) == {}
