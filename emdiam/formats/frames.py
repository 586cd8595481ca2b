"""Tables of pandas as tables of edges: the meaning of their index, and matrices among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .tables import named_pair
from .weights import WeightChoice


def is_matrix(frame: Any) -> bool:
    """Whether rows and columns have the same names in the same order."""
    names = list(frame.columns)
    return len(names) > 1 and len(names) == len(frame) and names == list(frame.index)


def numbers_of(frame: Any) -> np.ndarray:
    """The values of a matrix. Raises InputError for texts and for missing values, which would all be edges."""
    kinds = [getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)) for dtype in frame.dtypes]
    wrong = next((dtype for dtype in kinds if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf"), None)
    if wrong is not None:
        raise InputError(f"rows and columns have the same names, as of a matrix, and its values are {wrong}",
                         remedy="make numbers of them, as table.astype(float)")
    if frame.isna().to_numpy().any():
        raise InputError("a value of the matrix is missing", remedy="write 0 for a pair without an edge, as by"
                         " table.fillna(0)")
    values: np.ndarray = frame.to_numpy(np.result_type(*kinds))
    return values


def with_wanted(frame: Any, columns: tuple[str, str]) -> Any:
    """The table with its index as columns, if one of these columns is there."""
    wanted = {name.lower() for name in columns} - {str(name).strip().lower() for name in frame.columns}
    return frame.reset_index() if wanted & {str(name).strip().lower() for name in frame.index.names} else frame


def with_index(frame: Any, weights: WeightChoice | None) -> Any:
    """The table with its index as columns, if the index has one end, or both. Raises InputError if it may have one."""
    columns = [str(name) for name in frame.columns]
    if named_pair(columns) is not None:
        return frame
    if frame.index.nlevels > 1:
        return _with_levels(frame, weights)
    index, name = frame.index, frame.index.name
    if name is not None and 0 in (named_pair([str(name), *columns]) or ()):
        return frame.reset_index()
    if name is not None or frame.columns.name is not None or index.dtype.kind not in "iu":
        called = f"the index {name}" if name is not None else "the index, with names of rows,"
        raise InputError(f"{called} may be an end of the edges, and the columns may be no ends"
                         f" ({', '.join(columns[:8])})",
                         remedy="say which columns are by columns=, after table.reset_index() if the index is one")
    return frame


def _with_levels(frame: Any, weights: WeightChoice | None) -> Any:
    """The levels of the index as columns, as in osmnx, and with weights the columns of numbers."""
    names = [name if name is not None else f"end {level + 1}" for level, name in enumerate(frame.index.names)]
    numbers = frame.select_dtypes("number") if weights is not None else frame[[]]
    twice = [name for name in numbers.columns if name in names]
    if twice:
        raise InputError("a level of the index and a column have the same name", text=str(twice[0]),
                         remedy=f"rename one, as by table.rename(columns={{{twice[0]!r}: 'w'}})")
    return numbers.reset_index(names=names)


def of_series(series: Any) -> Any:
    """A Series as a table, if its index has both ends; as a list, if its entries are pairs without names. Raises
    InputError for other ones."""
    if series.index.nlevels > 1:
        return series.to_frame("weight" if series.name is None else series.name)
    if series.index.name is None and list(series.index[:2]) == list(range(min(2, len(series)))):
        return list(series)
    raise InputError("a Series has an index that may have the vertices of its entries",
                     remedy="give series.to_dict() for lists of neighbours, or series.reset_index() for a table")
