"""Jena's engine on loopback, where Debian's package of it is installed.

Fuseki is no package of Debian; its engine and its store in memory are, and `JenaServer.java` puts
the protocol before them. What Fuseki itself adds (its configuration, its own limits) is not there.
"""

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.endpoint_server import Served

_JARS: Final = Path("/usr/share/java")
_NEEDED: Final = (
    *("jena-arq", "jena-core", "jena-base", "jena-iri", "commons-lang3", "commons-io"),
    *("commons-codec", "commons-csv", "commons-compress", "thrift", "protobuf", "slf4j-api"),
    *("slf4j-nop", "gson", "guava", "dexx.collection"),
)
_SOURCE: Final = Path(__file__).with_name("JenaServer.java")
_LEFT: Final = "org/apache/jena/ext/"
"""Where Debian's package left the texts of a parser whose classes it moved; it fails without."""


def jena_java() -> str:
    """Return the Java that runs Jena; skips the test where one of them is not there."""
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None or not (_JARS / "jena-arq.jar").is_file():
        pytest.skip("Jena is not installed (apt-get install libapache-jena-java default-jdk)")
    return java


@contextmanager
def jena_server(nquads: Sequence[Path], *, union: bool = False) -> Iterator[Served]:
    """Run a server that holds files of N-Quads; skips the test where Jena or Java is not there.

    With `union` the union of the named graphs is its default graph.
    """
    java = jena_java()
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([folder, *(str(_JARS / f"{name}.jar") for name in _NEEDED)])
        _texts(Path(folder))
        process = subprocess.Popen(
            [
                java,
                "-Xmx2g",
                f"-Dunion={str(union).lower()}",
                "-cp",
                path,
                str(_SOURCE),
                *map(str, nquads),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        port = process.stdout.readline().decode().strip()
        served = Served(f"http://127.0.0.1:{port}", process, whole="/data")
        try:
            yield served
        finally:
            served.stop()


def _texts(folder: Path) -> None:
    """Put the texts of the moved parser where its classes look for them."""
    with zipfile.ZipFile(_JARS / "jena-core.jar") as jar:
        for name in jar.namelist():
            if name.startswith(_LEFT) and name.endswith(".properties"):
                own = folder / name.removeprefix(_LEFT)
                own.parent.mkdir(parents=True, exist_ok=True)
                own.write_bytes(jar.read(name))
