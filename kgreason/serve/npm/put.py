"""Put the files of npm packages that the pages load into a folder: `make scripts`, and the build.

`python put.py FOLDER` installs what package-lock.json names into a temporary folder, takes the
built files that pages load from there, and writes the licences of all packages beside them.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILES = (
    "@zazuko/yasgui/build/yasgui.min.js",
    "@zazuko/yasgui/build/yasgui.min.css",
    "cytoscape/dist/cytoscape.min.js",
)
"""What is taken of the packages."""
_SECONDS = 300


def put(folder: Path) -> str | None:
    """Fill a folder; return a sentence that says why it stays as it is where it cannot be done."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed."
    with tempfile.TemporaryDirectory() as place:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, place)
        command = [npm, "ci", "--fetch-retries=1", "--fetch-timeout=30000"]
        try:
            done = subprocess.run(  # noqa: S603 - what npm is called is ours
                command, cwd=place, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"npm did not end within {_SECONDS} s."
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
            return f"npm failed: {said[-1]}."
        modules = Path(place) / "node_modules"
        missing = [name for name in FILES if not (modules / name).is_file()]
        if missing:
            return f"npm installed no {missing[0]}."
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            shutil.copy(modules / name, folder)
        (folder / "LICENCES.txt").write_text("\n".join(_licences(modules)), encoding="utf-8")
    return None


def _licences(modules: Path) -> Iterator[str]:
    for about in sorted([*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]):
        told = json.loads(about.read_text(encoding="utf-8"))
        yield f"{told.get('name')} {told.get('version')}: {told.get('license', 'see below')}"
        for text in sorted(about.parent.glob("[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*")):
            if text.is_file():
                yield text.read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(put(Path(sys.argv[1])))
