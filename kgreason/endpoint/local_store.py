"""An Oxigraph store on disk that is asked as an endpoint is: no server, and nothing is loaded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox

from kgreason.base.fetching import SourceError
from kgreason.base.figures import integer
from kgreason.endpoint.asking_endpoint import AskingEndpoint, Solutions
from kgreason.endpoint.kept_answers import KeptAnswers
from kgreason.endpoint.named_endpoint import NamedEndpoint

_SCHEME: Final = "file"
_SERVER: Final = "Oxigraph, a store on disk"
_WRONG: Final = 400
PAGE: Final = integer("storePage")
"""As many rows are asked for at once."""
_OFTEN: Final = 100_000  # rows


def is_local(address: str) -> bool:
    """Check whether an address is that of a store on this machine."""
    return urlsplit(address).scheme == _SCHEME


def asking_of(
    named: NamedEndpoint,
    told: Callable[[str, int, int], None] | None = None,
    answers: KeptAnswers | None = None,
) -> AskingEndpoint:
    """Return what asks an endpoint, whose answers may be kept, or a store on this machine."""
    if is_local(named.address):
        return AskingStore(named, told)
    return AskingEndpoint(named, told, answers=answers)


class AskingStore(AskingEndpoint):
    """A store folder, opened read-only.

    A query is run by this process and cannot be ended, so that it has no limit of time; its answer
    is whole or an error.
    """

    def __init__(
        self, named: NamedEndpoint, told: Callable[[str, int, int], None] | None = None
    ) -> None:
        super().__init__(named, told)
        self.server = _SERVER
        self._opened: ox.Store | None = None

    @property
    def page(self) -> int:
        """As many rows may be asked for at once."""
        return PAGE

    def solutions(self, query: str) -> Any:
        """Ask a SELECT; raises SourceError where it cannot be run."""
        with self._faults():
            found = self._asked(query)
            rows = list(found)
        self._told("asking the store", self.asked.queries, 0)
        return Solutions(found.variables, rows)

    def each(self, query: str) -> Iterator[Any]:
        """Ask a SELECT of one variable for its values, one after the other; raises SourceError.

        Rows without a value are passed over.
        """
        with self._faults():
            for number, row in enumerate(self._asked(query)):
                if number % _OFTEN == 0:
                    self._told("asking the store", self.asked.queries, 0)
                if row[0] is not None:
                    yield row[0]

    def _asked(self, query: str) -> ox.QuerySolutions:
        dataset: dict[str, Any] = {"use_default_graph_as_union": self.union is not None}
        if self.graphs:
            names = [ox.NamedNode(one) for one in self.graphs]
            dataset = {"default_graph": names, "named_graphs": names}
        self.asked.queries += 1
        found = self._store().query(query, **dataset)
        if not isinstance(found, ox.QuerySolutions):
            raise SourceError(f"{self.named.host} answered a SELECT with something else.")
        return found

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except SyntaxError as error:
            raise SourceError(
                f"{self.named.host}: a query does not parse ({error}).", _WRONG
            ) from error
        except (RuntimeError, OSError, ValueError) as error:
            raise SourceError(f"{self.named.host}: a query failed ({error}).", _WRONG) from error

    def _store(self) -> ox.Store:
        """Open the store when it is first asked; raises SourceError where it is gone."""
        if self._opened is None:
            folder = Path(unquote(urlsplit(self.named.address).path))
            try:
                self._opened = ox.Store.read_only(str(folder))
            except (OSError, RuntimeError) as error:
                raise SourceError(
                    f"{folder}: the store with the data is not there any more, or cannot be "
                    f"opened ({error}).",
                    _WRONG,
                ) from error
        return self._opened
