"""Values of vertices by the user's names: a mapping, and tables of pandas, polars and pyarrow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from .errors import InputError
from .shown import Shown

Names = Callable[[], Sequence[Any]]
"""Makes the names of all vertices, which may be read from a store."""

VERTEX = "vertex"
"""The name of the column, or index, of names."""
_MOST_SHOWN = 8


def library(name: str) -> Any:
    """Import the package that makes tables. Raises InputError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"{name} is not installed", remedy=f"pip install {name}") from None


class ByVertex(Mapping[Any, Any], Shown):
    """Values of vertices by name.

    As a mapping it contains the first column, for the vertices with a value in it.

    Parameters
    ----------
    names : of all vertices, in the order of the columns.
    columns : by name, arrays or lists with a value for every vertex.
    known : bool[n], the vertices with a value in the first column; None: all.
    """

    shown: ClassVar[tuple[str, ...]] = ("size", "columns", "first")

    def __init__(self, names: Sequence[Any], columns: Mapping[str, np.ndarray | Sequence[Any]],
                 known: np.ndarray | None = None) -> None:
        self.names, self.columns = names, dict(columns)
        self._main = next(iter(self.columns))
        self._known = None if known is None or known.all() else known

    @cached_property
    def _rows(self) -> dict[Any, int]:
        """The row of each vertex with a value."""
        rows = range(len(self.names)) if self._known is None else np.flatnonzero(self._known).tolist()
        return {self.names[row]: row for row in rows}

    def __getitem__(self, name: Any) -> Any:
        return self._value(self._main, self._rows[name])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self.names) if self._known is None else int(np.count_nonzero(self._known))

    def _value(self, column: str, row: int) -> Any:
        value = self.columns[column][row]
        return value.item() if isinstance(value, np.generic) else value

    @property
    def size(self) -> int:
        """The number of vertices with a value."""
        return len(self)

    @property
    def first(self) -> dict[Any, Any]:
        """Some of the values, by name."""
        return dict(islice(self.items(), _MOST_SHOWN))

    def _fact(self, name: str) -> Any:
        """See Shown; for columns, their names."""
        return list(self.columns) if name == "columns" else super()._fact(name)

    def column(self, name: str) -> ByVertex:
        """The values of another column by vertex. Raises KeyError."""
        return ByVertex(self.names, {name: self.columns[name]}, self._known)

    def to_dict(self) -> dict[Any, Any]:
        """The first column as a dict of plain numbers by name."""
        return dict(self.items())

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the column `vertex` and the columns of values; null for a vertex without a value.

        Names that are neither integers nor strings are written as strings. Raises InputError without pyarrow.
        """
        pa = library("pyarrow")
        plain = all(isinstance(name, int) for name in self.names) or all(isinstance(name, str) for name in self.names)
        names = list(self.names) if plain else [str(name) for name in self.names]
        missing = None if self._known is None else ~self._known
        values = {name: pa.array(column, mask=missing if name == self._main else None)
                  for name, column in self.columns.items()}
        return pa.table({VERTEX: pa.array(names), **values})

    def to_polars(self) -> Any:
        """A polars.DataFrame with the columns of to_arrow. Raises InputError without polars."""
        return library("polars").from_arrow(self.to_arrow())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame whose index, `vertex`, has the names: join other data of vertices to it.

        Raises InputError without pandas."""
        pd = library("pandas")
        table = pd.DataFrame(self.columns, index=pd.Index(list(self.names), name=VERTEX, tupleize_cols=False))
        if self._known is not None:
            column = table[self._main]
            table[self._main] = column.astype(column.dtype.name.capitalize().replace("Ui", "UI") if
                                               column.dtype.kind in "iu" else column.dtype).where(self._known)
        return table


class ValuesByVertex(ABC):
    """Base of results with values of vertices: makes their tables."""

    @abstractmethod
    def by_vertex(self) -> ByVertex:
        """The values by name. Raises ValueError if none were kept."""

    def to_pandas(self) -> Any:
        """See ByVertex.to_pandas."""
        return self.by_vertex().to_pandas()

    def to_polars(self) -> Any:
        """See ByVertex.to_polars."""
        return self.by_vertex().to_polars()

    def to_arrow(self) -> Any:
        """See ByVertex.to_arrow."""
        return self.by_vertex().to_arrow()


class PathsTo(Mapping[Any, list[Any]]):
    """Shortest paths from one vertex, by the name of the last vertex: lists of names, made on access.

    Parameters
    ----------
    names : of all vertices.
    predecessors : int64[n], the previous vertex of each; -1 at the source and for unreached vertices.
    reached : bool[n], vertices with a path.
    """

    def __init__(self, names: Sequence[Any], predecessors: np.ndarray, reached: np.ndarray) -> None:
        self._names, self._before = names, predecessors
        self._rows = {names[row]: row for row in np.flatnonzero(reached).tolist()}

    def __getitem__(self, name: Any) -> list[Any]:
        row, path = self._rows[name], []
        while row >= 0:
            path.append(self._names[row])
            row = int(self._before[row])
        return path[::-1]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
