"""Frames: rows for pandas, polars and Arrow, where these libraries are there."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from kgreason.base.errors import OptionError

_Row = dict[str, Any]


class Framed(ABC):
    """Something with rows, which can be had as a frame of the usual libraries."""

    @abstractmethod
    def rows(self) -> list[_Row]:
        """Return a plain dict for each row."""

    def to_pandas(self) -> Any:
        """Return the rows as a pandas.DataFrame; raises OptionError without pandas."""
        return to_pandas(self.rows())

    def to_polars(self) -> Any:
        """Return the rows as a polars.DataFrame; raises OptionError without polars."""
        return to_polars(self.rows())

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow.Table; raises OptionError without pyarrow."""
        return to_arrow(self.rows())


def to_pandas(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas.DataFrame; raises OptionError where pandas is not installed."""
    return _library("pandas").DataFrame(list(given))


def to_polars(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a polars.DataFrame; raises OptionError where polars is not installed."""
    return _library("polars").DataFrame(list(given), infer_schema_length=None)


def to_arrow(given: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pyarrow.Table; raises OptionError where pyarrow is not installed."""
    return _library("pyarrow").Table.from_pylist(list(given))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise OptionError(
            f"{name} is not installed; install it (pip install {name}), or take .rows()."
        ) from error
