"""A queue in a Postgres database: two tables, and a row that is locked is a message that is taken.

A worker holds the row of its message in an open transaction, passing over rows that others hold
(FOR UPDATE SKIP LOCKED). When it ends, however it ends, the server closes the transaction and the
row is free at once: no heartbeat, no time limit, and no clock but the server's. That is why no
library for queues stands between: those for Postgres mark a message as taken, and find out by
heartbeats that whoever took it is gone.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import psycopg

from kgreason.base.errors import OptionError, RunError
from kgreason.queue.queue_port import Message

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS kgreason_message (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session text NOT NULL, step text NOT NULL, UNIQUE (session, step));
CREATE TABLE IF NOT EXISTS kgreason_kept (
  session text NOT NULL, name text NOT NULL, content bytea NOT NULL, PRIMARY KEY (session, name));
"""
_ONE_BY_ONE: Final = "SELECT pg_advisory_xact_lock(7261973)"
_TAKE: Final = """
SELECT id, session, step FROM kgreason_message ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_KEEP: Final = """
INSERT INTO kgreason_kept (session, name, content) VALUES (%s, %s, %s)
ON CONFLICT (session, name) DO UPDATE SET content = excluded.content
"""
_PAUSE: Final = 0.1
_ALIVE: Final[dict[str, Any]] = {
    "keepalives": 1,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "connect_timeout": 10,
}


class PostgresQueue:
    """A queue in a database; raises OptionError where that cannot be used."""

    def __init__(self, url: str) -> None:
        try:
            self._plain = psycopg.connect(url, autocommit=True, **_ALIVE)
            self._taking = psycopg.connect(url, **_ALIVE)
            with self._plain.transaction():
                # Two that begin at once would both try to make the tables.
                self._plain.execute(_ONE_BY_ONE)
                self._plain.execute(_TABLES)
        except psycopg.Error as error:
            why = " ".join(str(error).split())
            raise OptionError(f"--queue: the database cannot be used ({why}).") from error

    def put(self, session: str, step: str, /) -> None:
        """Send a message."""
        text = "INSERT INTO kgreason_message (session, step) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        with _asked():
            self._plain.execute(text, (session, step))

    def take(self, seconds: float, /) -> Message | None:
        """Return a message, which this connection holds until it is acknowledged."""
        until = time.monotonic() + seconds
        while True:
            with _asked():
                row = self._taking.execute(_TAKE).fetchone()
                if row is not None:
                    return Message(row[1], row[2], partial(self._ack, row[0]), self._back)
                self._taking.rollback()
            if time.monotonic() >= until:
                return None
            time.sleep(_PAUSE)

    def _ack(self, place: int) -> None:
        with _asked():
            self._taking.execute("DELETE FROM kgreason_message WHERE id = %s", (place,))
            self._taking.commit()

    def _back(self) -> None:
        with _asked():
            self._taking.rollback()

    def keep(self, session: str, name: str, content: bytes, /) -> None:
        """Keep something of a session."""
        with _asked():
            self._plain.execute(_KEEP, (session, name, content))

    def kept(self, session: str, name: str, /) -> bytes | None:
        """Return what is kept of a session."""
        text = "SELECT content FROM kgreason_kept WHERE session = %s AND name = %s"
        with _asked():
            row = self._plain.execute(text, (session, name)).fetchone()
        return None if row is None else bytes(row[0])

    def drop(self, session: str, /) -> None:
        """Forget a session; a message that a worker holds still goes when it is acknowledged."""
        held = "SELECT id FROM kgreason_message WHERE session = %s FOR UPDATE SKIP LOCKED"
        with _asked(), self._plain.transaction():
            self._plain.execute("DELETE FROM kgreason_kept WHERE session = %s", (session,))
            self._plain.execute(f"DELETE FROM kgreason_message WHERE id IN ({held})", (session,))

    def close(self) -> None:
        """Close the connections; what was taken is free again."""
        for connection in (self._taking, self._plain):
            connection.close()


@contextmanager
def _asked() -> Iterator[None]:
    """Tell in one sentence of a database that cannot be asked any more; raises RunError."""
    try:
        yield
    except psycopg.Error as error:
        why = " ".join(str(error).split())
        raise RunError(f"The database of the queue cannot be asked ({why}).") from error
