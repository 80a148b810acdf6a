"""Run many queries of users in one child process that can be killed.

A process for each query (`store.guarded_select`) costs some ten milliseconds; shapes in the field
have hundreds of them.
"""

import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Iterator, Sequence

from kgreason.base.errors import KgreasonError, RunError, TimeoutExceeded
from kgreason.base.store import Results, Store, die_with, forking


def select_each(
    store: Store, queries: Sequence[tuple[str, str]], seconds: float
) -> Iterator[Results | KgreasonError]:
    """Run each (query, what messages call it), in order; gives rows, or the error of that query.

    Each query may take `seconds`; after one that takes longer a new process goes on.
    """
    done = 0
    while done < len(queries):
        for outcome in _one_process(store, queries[done:], seconds):
            done += 1
            yield outcome


def _one_process(
    store: Store, queries: Sequence[tuple[str, str]], seconds: float
) -> Iterator[Results | KgreasonError]:
    context = multiprocessing.get_context("fork")
    texts = [query for query, _ in queries]
    with forking():
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(store, texts, sender, os.getpid()), daemon=True)
        child.start()
        sender.close()
    try:
        for _, where in queries:
            if not receiver.poll(seconds):
                yield TimeoutExceeded(
                    f"{where}: the query was stopped after {seconds:g} s; "
                    "make it narrower or allow more time with --query-seconds."
                )
                return
            try:
                outcome = receiver.recv()
            except EOFError:
                yield RunError(f"{where}: the query ended its process (out of memory?).")
                return
            yield outcome if isinstance(outcome, KgreasonError) else Results(*outcome)
    finally:
        child.kill()
        child.join()
        receiver.close()


def _work(
    store: Store,
    texts: Sequence[str],
    sender: multiprocessing.connection.Connection,
    parent: int,
) -> None:
    die_with(parent)
    for text in texts:
        try:
            found = store.select(text)
            sender.send((found.variables, list(found)))
        except KgreasonError as error:
            sender.send(error)
    sender.close()
