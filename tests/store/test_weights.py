"""Weights in a store: written, read, recorded and refused."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import zarr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from emdiam.errors import StoreError
from emdiam.store.check import check_store
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.store.weights import DTYPES, WeightForm, WeightRecord, WeightSums, whole_dtype
from emdiam.store.writer import StoreWriter
from tests.helpers.damage import edit_json, edit_record, read_array
from tests.helpers.http_range import serving
from tests.helpers.weighted_stores import make_weighted_store, some_weighted_graph


@pytest.mark.parametrize("codec", ["lz4", "pcodec", "none"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_are_read_as_they_were_written(tmp_path: Path, dtype: str, codec: str):
    edges = some_weighted_graph(dtype)
    path = make_weighted_store(tmp_path / "g.zarr", edges, n_vertices=40, dtype=dtype, codec=codec)
    with open_store(path) as store:
        assert store.weights is not None and store.weights.dtype == dtype
        assert (store.weights.length, store.weights.n_chunks, store.weights.shard_chunks) == (
            store.indices.length, store.indices.n_chunks, store.indices.shard_chunks)
        offsets, heads, weights = (read_array(store.array(name)) for name in ("indptr", "indices", "data"))
        found = {(v, int(heads[i])): weights[i].item() for v in range(40) for i in range(offsets[v], offsets[v + 1])}
        assert found == {**edges, **{(b, a): weight for (a, b), weight in edges.items()}}
        record = store.record.weights
        assert record is not None and record.dtype == dtype
        assert store.record.format_version == (4 if dtype == "int64" else 3)
        assert (record.least, record.largest) == (min(edges.values()), max(edges.values()))
        assert record.mean == float(sum(map(Fraction, edges.values())) / len(edges))
        check_store(store)
    group = zarr.open_group(str(path), mode="r")
    parts = group["data"][:], group["indices"][:], group["indptr"][:]  # type: ignore[index]
    matrix = scipy.sparse.csr_matrix(parts, shape=(40, 40))
    assert {(i, j): value for i, j, value in zip(*scipy.sparse.find(matrix), strict=True)} == {
        pair: weight for pair, weight in found.items() if weight}


@pytest.mark.parametrize("change", [
    {"dtype": "uint64"}, {"dtype": 3}, {"least": math.nan}, {"least": "1"}, {"largest": 0}, {"largest": 300},
    {"mean": 1}, {"mean": 1e9}, {"edges_with_several": -1}, {"edges_with_several": 8}, {"least": True},
])
def test_a_record_that_no_store_has(change: dict[str, Any]):
    good = {"dtype": "uint8", "least": 1, "largest": 9, "mean": 2.5, "edges_with_several": 0}
    assert WeightRecord.from_dict(good).fault(7) is None
    assert WeightRecord.from_dict({**good, **change}).fault(7) is not None


@pytest.mark.parametrize("data", [None, [], {"dtype": "uint8"}, "uint8"])
def test_a_record_of_other_fields(data: Any):
    with pytest.raises(TypeError):
        WeightRecord.from_dict(data)


def test_the_narrowest_dtype():
    found = [whole_dtype(*ends) for ends in ((0, 255), (0, 256), (3, 2**32 - 1), (-1, 5), (0, 2**32), (-2**31 - 1, 0))]
    assert found == ["uint8", "uint16", "uint32", "int32", None, None]


@given(hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats(allow_nan=False, allow_infinity=False)),
       st.integers(0, 50))
def test_the_mean_of_floats_is_exact_however_they_are_cut(values: np.ndarray, cut: int):
    sums = WeightSums(WeightForm(values.dtype))
    sums.add(values[:cut])
    sums = WeightSums.resumed(sums.state())
    sums.add(values[cut:])
    exact = float(sum(map(Fraction, values.tolist()), Fraction(0)) / len(values))
    record = sums.record(0)
    assert (record.least, record.largest, record.mean) == (values.min(), values.max(), exact)
    assert record.fault(1) is None


@pytest.mark.parametrize("edges", [{(0, 1): 5, (1, 0): 6}, {(0, 1): 6, (1, 0): 5}])
def test_two_weights_of_one_edge_are_noticed(tmp_path: Path, edges: dict[tuple[int, int], int]):
    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=2, chunk_ids=64)
    writer.keep_weights(WeightForm(np.dtype(np.uint8)))
    writer.append_degrees(np.array([1, 1]))
    writer.append_neighbours(np.array([1, 0], np.uint32), np.array([edges[0, 1], edges[1, 0]], np.uint8))
    writer.finish(StoreRecord())
    with open_store(tmp_path / "g.zarr") as store, pytest.raises(StoreError, match="or with two weights"):
        check_store(store)


@pytest.mark.parametrize("change", [{"least": 0}, {"largest": 99}, {"mean": 7.25}])
def test_weights_that_are_not_those_of_the_record(tmp_path: Path, change: dict[str, Any]):
    path = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 5, (1, 2): 9}, n_vertices=3)
    good = {"dtype": "uint8", "least": 5, "largest": 9, "mean": 7.0, "edges_with_several": 0}
    edit_record(path, redo_digest=True, weights={**good, **change})
    with open_store(path) as store, pytest.raises(StoreError, match="weights are from 5 to 9, in the mean 7.0, where"):
        check_store(store)
    edit_record(path, redo_digest=True, weights={**good, "largest": 8})
    with open_store(path) as store, pytest.raises(StoreError, match="data hold 9, where weights are from 5 to 8"):
        store.weights_of(1)


def test_weights_over_the_network_and_as_dask_arrays(tmp_path: Path):
    pytest.importorskip("obstore")
    edges = some_weighted_graph("float32")
    make_weighted_store(tmp_path / "g.zarr", edges, n_vertices=40, dtype="float32")
    with (serving(tmp_path) as server, open_store(f"{server.url}/g.zarr") as far,
          open_store(tmp_path / "g.zarr") as near):
        assert far.weights is not None and not far.is_local
        assert read_array(far.weights).tolist() == read_array(near.weights).tolist()
        check_store(far)
    with open_store(tmp_path / "g.zarr") as near:
        graph = near.to_dask(chunks=1)
        assert graph.weights is not None and graph.weights.compute().tolist() == read_array(near.weights).tolist()


def test_the_record_of_a_store_without_weights_is_not_taken_for_that_of_one_with(tmp_path: Path):
    make_weighted_store(tmp_path / "g.zarr", {(0, 1): 5}, n_vertices=2)

    def without_weights(data: dict[str, Any]) -> None:
        record = {**data["attributes"]["emdiam"], "format_version": 2}
        del record["weights"]
        record["record_digest"] = StoreRecord(**record).digest()
        data["attributes"]["emdiam"] = record

    edit_json(tmp_path / "g.zarr" / "zarr.json", without_weights)
    with pytest.raises(StoreError, match="its record names no array data"):
        open_store(tmp_path / "g.zarr")
