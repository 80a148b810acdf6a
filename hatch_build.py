"""The hook of the build: scripts of others go into the wheel where npm can be had.

KGREASON_SCRIPTS=no leaves them out. Without them everything works, with plainer pages.
"""

import os
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = "kgreason/serve/static/third-party"


class Scripts(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the scripts beside our own before the wheel is made of them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Have the scripts at hand, and name them as files of the wheel."""
        if version == "editable" or os.environ.get("KGREASON_SCRIPTS") == "no":
            return
        folder = Path(self.root, _FOLDER)
        if not (folder / "LICENCES.txt").is_file():
            put = runpy.run_path(str(Path(self.root, "kgreason/serve/npm/put.py")))["put"]
            why = put(folder)
            if why is not None:
                self.app.display_warning(f"The wheel has no scripts of others: {why}")
                return
        build_data["artifacts"].append(f"/{_FOLDER}/*")
