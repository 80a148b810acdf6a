"""What a ledger on a server costs beside a folder: the same history written to each.

The history is made up, the record is real (long_history.py). Oxigraph's server runs on this machine
with a folder of its own, so the network costs next to nothing; what is seen is the work of the
requests. CPU seconds are of this process and, where there is one, of the server.

    python benchmarks/server_ledger_bench.py [--updates 88 440 ...]
"""

import argparse
import json
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from long_history import write  # type: ignore[import-not-found] # beside this script

from kgreason.audit import audit
from kgreason.base.fetching import Fetch
from kgreason.base.terms import TRAILS
from kgreason.record import Ledger

PLACES: Final = ("memory", "folder", "server")


@contextmanager
def place(name: str) -> Iterator[Path | None]:
    """Make a new place for a ledger: None is memory."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if name != "server":
            yield None if name == "memory" else folder / "ledger"
            return
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            host = f"127.0.0.1:{free.getsockname()[1]}"
        program = str(Path(sys.executable).with_name("oxigraph"))
        own = [program, "serve", "--bind", host, "--location", str(folder / "store")]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(own, stdout=quiet, stderr=quiet) as server:
            try:
                _await(host)
                yield Path(f"http://{host}")
            finally:
                server.terminate()


def _await(host: str) -> None:
    name, _, port = host.partition(":")
    for _ in range(200):
        with socket.socket() as probe:
            if not probe.connect_ex((name, int(port))):
                return
        time.sleep(0.05)
    raise SystemExit("the server of Oxigraph does not answer")


def measure(where: str, updates: int) -> dict[str, Any]:
    """Write a history somewhere; gives seconds, CPU seconds and requests for each step."""
    requests = [0]
    send = Fetch.send

    def counted(*given: Any) -> Any:
        requests[0] += 1
        return send(*given)

    setattr(Fetch, "send", counted)  # noqa: B010 - for the time of the measurement
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    with place(where) as found:
        begun, cpu = time.perf_counter(), time.process_time()
        with Ledger.memory() if found is None else Ledger.write(found) as ledger:
            record = write(ledger, updates)
            steps = sum(
                1 for _ in record.store.inner.quads_for_pattern(None, TRAILS.hash, None, record.iri)
            )
            took = time.perf_counter() - begun, time.process_time() - cpu
            quads = sum(1 for _ in record.store.quads(record.iri))
        begun = time.perf_counter()
        ok = None
        if found is not None:
            with Ledger.read(found) as ledger:
                opened = time.perf_counter() - begun
                ok = audit(ledger.record(ledger.entry())).ok
    setattr(Fetch, "send", send)  # noqa: B010 - as above
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    told = {"where": where, "updates": updates, "steps": steps, "quads": quads}
    told |= {"ms a step": round(took[0] / steps * 1000, 1)}
    told |= {"CPU ms a step": round(took[1] / steps * 1000, 1)}
    told |= {"CPU ms of the server": round(spent / steps * 1000, 1)}
    told |= {"requests a step": round(requests[0] / steps, 1)}
    if found is not None:
        told |= {"opened in s": round(opened, 2), "audit": ok}
    return told


def main() -> None:
    """Print a line of JSON for each place and length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, nargs="+", default=[88, 880])
    for updates in parser.parse_args().updates:
        for where in PLACES:
            print(json.dumps(measure(where, updates)), flush=True)


if __name__ == "__main__":
    main()
