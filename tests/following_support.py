"""What the tests of commands that follow up an answer share: a small shop that goes wrong twice."""

from pathlib import Path

import kgreason
from tests.cli_support import PREFIXES

SHAPES = (
    PREFIXES
    + """
ex:ThingShape a sh:NodeShape ; sh:targetClass ex:Thing ; sh:property ex:NameShape , ex:SizeShape .
ex:NameShape a sh:PropertyShape ; sh:path ex:name ; sh:minCount 1 ; sh:name "A thing has a name" .
ex:SizeShape a sh:PropertyShape ; sh:path ex:size ; sh:maxInclusive 900 ; sh:severity sh:Warning ;
  sh:name "A size is 900 or less" .
"""
)
FEEDS = ("north", "south", "west")


def shop(folder: Path, *, nameless: int = 25, oversized: int = 0) -> Path:
    """Write a shop: `south` lacks names, `west` gives sizes that are too large; give its folder."""
    data = folder / "data"
    data.mkdir(parents=True)
    for number, feed in enumerate(FEEDS):
        lines = [PREFIXES]
        for i in range(40):
            lacks = i < (nameless if feed == "south" else 1 if feed == "north" else 0)
            name = "" if lacks else f' ; ex:name "thing {i}"'
            size = 901 + i if feed == "west" and i < oversized else 100 + (i * 37 + number) % 80
            lines.append(f"ex:{feed}{i} a ex:Thing ; ex:size {size}{name} .\n")
        (data / f"{feed}.ttl").write_text("".join(lines), encoding="utf-8")
    (folder / "shapes.ttl").write_text(SHAPES, encoding="utf-8")
    return folder


def investigated(folder: Path, ledger: Path) -> None:
    """Investigate a shop."""
    kgreason.investigate(folder / "data", shapes=folder / "shapes.ttl", ledger=ledger).close()
