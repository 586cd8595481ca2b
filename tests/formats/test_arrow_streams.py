"""Streams of record batches from libraries that make them: pyarrow, polars, DuckDB, and whatever has the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.formats import arrow_streams
from emdiam.formats.objects import as_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.formats_naive import collect

N = 5_000


def table(strings: bool = False) -> pa.Table:
    ids = np.random.default_rng(3).integers(0, N // 2, (2, N))
    src, dst = ([f"v{one}" for one in end] if strings else end for end in ids)
    return pa.table({"km": np.arange(N) % 7, "src": src, "dst": dst})


class Capsule:
    """Nothing but the protocol, as of a library that nobody has heard of."""

    def __init__(self, edges: pa.Table) -> None:
        self._edges = edges

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._edges.to_reader(max_chunksize=300).__arrow_c_stream__(requested_schema)


def _of_files(edges: pa.Table, folder: Path) -> ds.Dataset:
    for part in range(3):
        pq.write_table(edges.slice(part * N // 3, (part + 1) * N // 3 - part * N // 3), folder / f"{part}.parquet")
    return ds.dataset(folder, format="parquet")


def _duckdb(edges: pa.Table, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    pq.write_table(edges, folder / "edges.parquet")
    return duckdb.sql(f"SELECT src, dst, km FROM '{folder / 'edges.parquet'}'")


STREAMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "reader": lambda edges, _: edges.to_reader(max_chunksize=700), "dataset": _of_files,
    "scanner": lambda edges, folder: _of_files(edges, folder).scanner(columns=["dst", "src", "km"]),
    "lazy polars": lambda edges, _: pl.from_arrow(edges).lazy().filter(pl.col("km") >= 0),
    "protocol": lambda edges, _: Capsule(edges), "DuckDB": _duckdb}


def right(edges: pa.Table) -> list[tuple[Any, Any]]:
    return list(zip(edges["src"].to_pylist(), edges["dst"].to_pylist(), strict=True))


@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_the_edges_of_their_rows(name: str, strings: bool, tmp_path: Path) -> None:
    edges = table(strings)
    source = as_source(STREAMS[name](edges, tmp_path))
    assert source.info().id_kind == ("string" if strings else "int")
    assert sorted(collect(source, 4096)) == sorted(right(edges))
    assert source.info().dropped == {"column km": N}
    if source.rewindable:
        assert sorted(collect(source)) == sorted(right(edges))
    else:
        with pytest.raises(InputError, match="only be read once"):
            collect(source)


@pytest.mark.parametrize("name", STREAMS)
def test_stores_of_streams(name: str, tmp_path: Path) -> None:
    edges, folder = table(), tmp_path / "in"
    folder.mkdir()
    report = emdiam.convert(STREAMS[name](edges, folder), tmp_path / "g.zarr", weights="km", memory="2GiB")
    other = emdiam.convert(edges, tmp_path / "h.zarr", weights="km", memory="2GiB")
    assert report.record.shard_digests == other.record.shard_digests and report.pairs_read == N
    assert report.record.weights == other.record.weights
    assert emdiam.exact(STREAMS[name](edges, folder)).diameter == emdiam.exact(tmp_path / "h.zarr").diameter


def test_columns_that_are_named(tmp_path: Path) -> None:
    edges = table().rename_columns(["src", "x", "dst"])
    for columns in (("x", "dst"), ("2", "3")):
        source = as_source(edges.to_reader(), columns=columns)
        assert collect(source) == list(zip(edges["x"].to_pylist(), edges["dst"].to_pylist(), strict=True))
    assert as_source(edges.to_reader(), columns=("x", "dst"), bipartite=True).info().id_kind == "string"
    with pytest.raises(InputError, match="no column y"):
        as_source(edges.to_reader(), columns=("x", "y"))
    with pytest.raises(InputError, match="no two id columns"):
        as_source(pa.table({"a": [1], "b": [True], "c": [None]}).to_reader())


def test_only_the_columns_that_are_read_leave_the_files(tmp_path: Path) -> None:
    dataset = _of_files(table(), tmp_path)
    source = arrow_streams.of_dataset(dataset, WeightChoice("km"))
    source.choose()
    assert source._first.schema.names == ["src", "dst", "km"]
    source = arrow_streams.of_dataset(dataset, None)
    source.choose()
    assert source._first.schema.names == ["src", "dst"]


def test_streams_without_rows() -> None:
    for stream in (table().slice(0, 0).to_reader(), pl.from_arrow(table()).lazy().filter(pl.col("km") > 99)):
        assert collect(as_source(stream)) == []


def test_a_record_batch_that_is_much_larger_than_the_first_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_streams, "_LEAST_BYTES", 1 << 12)
    edges = table()
    reader = pa.RecordBatchReader.from_batches(edges.schema, [edges.slice(0, 9).to_batches()[0], *edges.to_batches()])
    with pytest.raises(BudgetError, match="record batch"):
        collect(as_source(reader))


def test_a_library_that_fails() -> None:
    schema = pa.schema({"src": pa.int64(), "dst": pa.int64()})

    def batches(rows: int) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"src": [0] * rows, "dst": [1] * rows}, schema)
        raise ValueError("the query\nhas failed")

    with pytest.raises(InputError, match="fails .*the query") as caught:
        collect(as_source(pa.RecordBatchReader.from_batches(schema, batches(3))))
    assert "has failed" not in str(caught.value)
    with pytest.raises(InputError, match="fails"):
        as_source(pa.RecordBatchReader.from_batches(schema, batches(0)))

    class Broken:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise ValueError("no stream")

    with pytest.raises(InputError, match="gives no record batches"):
        as_source(Broken())


@pytest.mark.parametrize(("columns", "what"), [
    ({"src": [3, None], "dst": [1, 2]}, "no id in row 2"), ({"src": [3, -1], "dst": [1, 2]}, "negative in row 2"),
    ({"src": ["p", ""], "dst": ["q", "r"]}, "empty id in row 2")])
def test_ids_that_are_none_are_named_by_their_row(columns: dict[str, list[Any]], what: str) -> None:
    edges = pa.table(columns)
    reader = pa.RecordBatchReader.from_batches(edges.schema, edges.to_batches(1))
    with pytest.raises(InputError, match=what) as caught:
        collect(as_source(reader))
    assert caught.value.remedy
