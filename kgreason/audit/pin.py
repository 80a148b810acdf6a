"""The head of an investigation, pinned in a file outside the ledger.

All that is in a ledger can be written anew, hashes too; and when the last steps are struck out,
what is left is a whole and valid history. A pin says which step was there and with which hash, and
a hash stands for everything before it in the chain. Keep the file where those who write the ledger
cannot reach.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from kgreason.audit.findings import PIN, AuditReport, Finding
from kgreason.audit.merged import History
from kgreason.base.errors import OptionError
from kgreason.base.terms import TRAILS
from kgreason.record import Record

RULE: Final = "pin"
_KEYS: Final = {"step", "hash"}


def pinned(found: AuditReport, record: Record, path: Path) -> AuditReport:
    """Hold an audited record to its pin, and pin its head anew where nothing was found.

    The file holds a JSON object: by investigation the last step and its hash. An investigation that
    is not in it is only pinned. Raises OptionError where the file is something else or cannot be
    written.
    """
    pins = _read(path)
    history = History(record)
    known = pins.get(record.iri.value)
    if known is not None:
        fault = _fault(history, known)
        found = found.more([fault] if fault is not None else [], of=PIN)
        if fault is not None:
            return found
    if found.ok:
        head = next(iter(history.properties(history.iri)[TRAILS.head]))
        (seal,) = history.values(head, TRAILS.hash)
        _write(path, {**pins, record.iri.value: {"step": head.value, "hash": seal}})
    return found


def _fault(history: History, known: dict[str, str]) -> Finding | None:
    hashes = {
        link.subject.value: history.values(link.subject, TRAILS.hash)
        for link in history.statements(None, TRAILS.phase)
    }
    step, seal = known["step"], known["hash"]
    if step not in hashes:
        said = f"The step {step} was pinned, and is not in the record any more."
    elif hashes[step] != [seal]:
        said = (
            f"It was pinned with the hash {seal}; now it has {', '.join(hashes[step]) or 'none'}."
        )
    else:
        return None
    return Finding(RULE, step, said)


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise OptionError(f"--pin {path}: the file cannot be read ({why}).") from error
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not (isinstance(found, dict) and all(_is_pin(value) for value in found.values())):
        raise OptionError(f"--pin {path}: this is no file of pins; name another, or a new one.")
    return found


def _is_pin(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == _KEYS
        and all(isinstance(text, str) for text in value.values())
    )


def _write(path: Path, pins: dict[str, dict[str, str]]) -> None:
    """Write the file as a whole or not at all."""
    text = json.dumps(pins, indent=2, sort_keys=True) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        why = error.strerror or error
        raise OptionError(f"--pin {path}: the file cannot be written ({why}).") from error
