"""The files that pages load: our own, and the scripts of others where they were put beside them."""

from pathlib import Path
from typing import Final

OWN: Final = Path(__file__).parent / "static"
THIRD_PARTY: Final = OWN / "third-party"
"""Where `make scripts` and the build of a wheel put the files of npm packages."""
EDITOR: Final = ("yasgui.min.js", "yasgui.min.css")
GRAPH: Final = ("cytoscape.min.js",)


def has(names: tuple[str, ...]) -> bool:
    """Check whether these files of others are there."""
    return all((THIRD_PARTY / name).is_file() for name in names)
