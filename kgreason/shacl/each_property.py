"""What a rule about one of several properties asks of each of them.

`sh:path [ sh:alternativePath ( ex:a ex:b ) ] ; sh:datatype xsd:string` judges the values of both.
What went wrong with them is told of one property, so the rule is read once for each.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kgreason.base.templates import Fragment
from kgreason.shacl.paths import Path
from kgreason.shacl.readings import Reading


def of_each_property(asked: Iterable[Reading]) -> tuple[Reading, ...]:
    """Return readings, and each of them also for each of several properties that it is about."""
    return tuple(one for reading in asked for one in (reading, *_parted(reading)))


def _parted(reading: Reading) -> Iterator[Reading]:
    """Return what a reading asks of each property alone; nothing where it is about one."""
    given = reading.offending
    for part in properties(reading.path) if given is not None else ():
        if given is not None:
            text = f"{given.text.rstrip()}\n?focus {part.text} ?value .\n"
            yield replace(reading, path=part, offending=Fragment(text, given.prefixes))


def properties(path: Path | None) -> tuple[Path, ...]:
    """Return the properties between which a path has the choice; none of any other path."""
    parts = path.parts if path is not None and path.kind == "|" else ()
    return tuple(part for part in parts if part.predicate is not None)
