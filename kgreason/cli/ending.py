"""How the process itself begins and ends: closed streams, full disks, native code that gives up.

The libraries below are native code. Where an allocation fails there, they end the process with a
message of their own. That happens under a limit of memory (`ulimit -v`), which can be seen at the
start; so under one the work is done in a child, and this process tells how the child ended.
"""

import contextlib
import ctypes
import errno
import io
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Collection
from typing import IO, Any, Final, NoReturn

from kgreason.cli.errors import memory_limit, no_memory, tell

_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of prctl(2)
_PASSED_ON: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
_STDOUT: Final = 1
_STDERR: Final = 2


def in_order(program: Callable[[], None]) -> NoReturn:
    """Run a program to its end, and end the process with its exit code, whatever happens."""
    _stand_in()
    if memory_limit() is not None and hasattr(signal, "sigwaitinfo"):
        _watched()
    sys.exit(_code_of(program))


def _code_of(program: Callable[[], None]) -> int:
    try:
        program()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except MemoryError:
        tell(no_memory())
        code = 1
    except OSError as error:  # what shows help and versions writes by itself
        return _not_written(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        return _not_written(error)
    return code


def _not_written(error: OSError) -> int:
    let_go(_STDOUT)
    tell(unwritten(error))
    return 1


def unwritten(error: OSError) -> str:
    """Explain why a result cannot be written to stdout."""
    why = "stdout is closed" if error.errno == errno.EBADF else error.strerror or error
    return f"The result cannot be written ({why})."


def let_go(number: int) -> None:
    """Send what is still buffered for a stream nowhere, else Python complains at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


class _Stream(io.FileIO):
    """A standard stream; a reader that has gone is no error, and of stderr nothing is."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            if error.errno != errno.EPIPE and self.fileno() == _STDOUT:
                raise
            let_go(self.fileno())
            return len(data)


def _stand_in() -> None:
    """Put something in the place of closed streams, else the next file opened would take it.

    Then what is written to stderr could land in a ledger. A closed stdout is stood in for by what
    cannot be written to, so that a result is not lost without a word.
    """
    for number, how in ((0, os.O_RDONLY), (_STDOUT, os.O_RDONLY), (_STDERR, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # takes the lowest number that is free
    sys.stdout = _text(_STDOUT, sys.stdout)
    sys.stderr = _text(_STDERR, sys.stderr, errors="backslashreplace")


def _text(number: int, stream: Any, errors: str = "strict") -> io.TextIOWrapper:
    """Return a standard stream again, with another way to write."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if stream is not None:
        with contextlib.suppress(OSError):
            stream.flush()
    raw = _Stream(number, "wb", closefd=False)
    lines = number == _STDERR or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines)


# Under a limit of memory


def _watched() -> None:
    """Go on in a child; the parent waits for it, and ends as it ends. Returns in the child alone.

    Signals to the parent are passed on; what a terminal sends, the child gets by itself.
    """
    heard = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _become_the_child(said, parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    status = _wait(child, heard)
    _end_as(status, said)


def _become_the_child(said: IO[bytes], parent: int) -> None:
    """Die with the parent; keep what native code says on stderr apart from what we say."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ours = os.dup(_STDERR)
    os.dup2(said.fileno(), _STDERR)
    sys.stderr = _text(ours, None, errors="backslashreplace")


def _wait(child: int, heard: Collection[int]) -> int:
    while True:
        got = signal.sigwaitinfo(heard)
        if got.si_signo != signal.SIGCHLD:
            if got.si_code <= 0:  # from a process; a terminal tells all its processes
                os.kill(child, got.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _end_as(status: int, said: IO[bytes]) -> NoReturn:
    """End as the child did; raises SystemExit, or dies by its signal."""
    said.seek(0)
    told = said.read()
    if not os.WIFSIGNALED(status):
        os.write(_STDERR, told)
        sys.exit(os.waitstatus_to_exitcode(status))
    by = os.WTERMSIG(status)
    if by in _PASSED_ON or by == signal.SIGPIPE:
        signal.signal(by, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {by})
        os.kill(os.getpid(), by)
    if "--debug" in sys.argv:
        os.write(_STDERR, told)
    tell(no_memory())
    sys.exit(1)
