"""Run many queries of users in one child process that can be killed.

A process for each query (`store.guarded_select`) costs some ten milliseconds; shapes in the field
have hundreds of them.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from kgreason.base.errors import KgreasonError
from kgreason.base.store import Results, Store, guarded_each


def select_each(
    store: Store, queries: Sequence[tuple[str, str]], seconds: float
) -> Iterator[Results | KgreasonError]:
    """Run each (query, what messages call it), in order; gives rows, or the error of that query.

    Each query may take `seconds`; after one that takes longer a new process goes on.
    """
    works = [(partial(store.select, query), where) for query, where in queries]
    for outcome in guarded_each(works, seconds):
        if isinstance(outcome, KgreasonError):
            yield outcome
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            yield outcome[0]
