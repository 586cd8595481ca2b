"""The table of all eccentricities in a file, Parquet or CSV, which is written in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...durable import whole_file
from ...engine.interface import Components, Engine, max_degree_vertex
from ...errors import InputError
from .bounds import Bounds

if TYPE_CHECKING:
    import pyarrow as pa


def write_table(path: Path, engine: Engine, bounds: Bounds, components: Components | None, intervals: bool) -> None:
    """A row for every vertex in the order of the store: id, eccentricity, component (the id of a vertex of it). With
    `intervals`: id, lower, upper, component. components : those that the first BFS did not reach. Raises InputError
    where it cannot be written."""
    write_pieces(path, _tables(engine, bounds, components, intervals))


def write_pieces(path: Path, tables: Iterator[pa.Table]) -> None:
    """Write the tables, one after the other, as Parquet or CSV by the name of the file, which is FILE.partial until it
    is whole. Raises InputError where it cannot be written."""
    try:
        with whole_file(path) as file:
            writer: Any = None
            for table in tables:
                writer = writer or table_writer(path, file, table.schema)
                writer.write(table)
            if writer is not None:
                writer.close()
    except OSError as error:
        raise InputError(f"the eccentricities cannot be written ({error.strerror})", path=path) from None


def table_writer(path: Path, file: Any, schema: pa.Schema) -> Any:
    """What writes tables, by the name of the file."""
    if path.suffix.lower() == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(file, schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema)


def _tables(engine: Engine, bounds: Bounds, components: Components | None, intervals: bool) -> Iterator[pa.Table]:
    """The rows in pieces."""
    import pyarrow as pa

    n, hub = engine.facts.n_vertices, max_degree_vertex(engine)
    for start, lower, upper in bounds.pieces():
        ids = np.arange(start, start + len(lower))
        columns: dict[str, Any] = {"id": engine.store.user_ids(ids)}
        if intervals:
            columns["lower"] = np.maximum(lower, 0)
            columns["upper"] = np.where(lower < 0, n - 1, upper)
        else:
            columns["eccentricity"] = lower
        columns["component"] = engine.store.user_ids(_members(engine, components, hub, ids))
        yield pa.table({name: pa.array(values) for name, values in columns.items()})


def _members(engine: Engine, components: Components | None, hub: int, ids: np.ndarray) -> np.ndarray:
    """A vertex of the component of each of these consecutive vertices, int64[k]. hub : of that with all edges."""
    if components is None:
        labels = np.full(len(ids), hub)
    else:
        labels = np.asarray(components.labels[int(ids[0]) : int(ids[-1]) + 1], np.int64)
    isolated = engine.degrees(ids) == 0
    labels[isolated] = ids[isolated]
    return labels
