"""Stores as dask arrays, and parts of stores: the arrays of the naive twin, read late, from anywhere."""

from __future__ import annotations

import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import emdiam
from emdiam.errors import InputError, StoreError
from emdiam.store.array_reader import read_slice
from tests.helpers import naive
from tests.helpers.damage import make_store, some_graph
from tests.helpers.http_faulty import faulty_serving
from tests.helpers.stores import graphs, odd_graphs, write_store

da = pytest.importorskip("dask.array")
GRAPH = some_graph()
INDPTR, INDICES = naive.csr(GRAPH)
NAMES = [f"vertex {v:03}" for v in range(300)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_store(tmp_path / "g.zarr", GRAPH, ids=np.arange(300) * 3)


@pytest.mark.parametrize("chunks", [None, 1, 3])
def test_the_arrays_are_those_of_the_graph(store: Path, chunks: int | None):
    with emdiam.open(store) as opened:
        graph = opened.to_dask(chunks)
        assert (graph.indptr.dtype, graph.indices.dtype, graph.ids.dtype) == (np.int64, np.uint32, np.int64)
        if chunks is not None:
            assert graph.indices.chunks[0][0] == 64 * chunks
    assert_array_equal(graph.indptr.compute(), INDPTR)
    assert_array_equal(graph.indices.compute(), INDICES)
    assert_array_equal(graph.ids.compute(), np.arange(300) * 3)
    assert_array_equal(graph.indices[100:3:-7].compute(), INDICES[100:3:-7])
    assert_array_equal(graph.indices[[5, 900, 6]].compute(), INDICES[[5, 900, 6]])
    assert_array_equal(da.diff(graph.indptr).compute(), np.diff(INDPTR))


@pytest.mark.parametrize("name", odd_graphs())
def test_odd_graphs(tmp_path: Path, name: str):
    graph = odd_graphs()[name]
    indptr, indices = naive.csr(graph)
    with emdiam.open(write_store(tmp_path / "g.zarr", graph)) as opened:
        found = opened.to_dask(1)
        rows = [opened.neighbours(v).tolist() for v in range(len(graph))]
    assert_array_equal(found.indptr.compute(), indptr)
    assert_array_equal(found.indices.compute(), indices)
    assert_array_equal(found.ids.compute(), np.arange(len(graph)))
    assert rows == [sorted(row) for row in graph]


@given(graphs(120), st.data())
@settings(max_examples=15, deadline=None)
def test_any_slice(tmp_path_factory: pytest.TempPathFactory, graph: naive.Graph, data: st.DataObject):
    path = write_store(tmp_path_factory.mktemp("any") / "g.zarr", graph)
    _, indices = naive.csr(graph)
    with emdiam.open(path) as opened:
        lazy = opened.to_dask(data.draw(st.integers(1, 3))).indices
        begin = data.draw(st.integers(0, len(indices)))
        stop = data.draw(st.integers(begin, len(indices)))
        assert_array_equal(read_slice(opened.indices, begin, stop), indices[begin:stop])
        part = data.draw(st.slices(len(indices)))
        assert_array_equal(lazy[part].compute(), indices[part])
        for outside in ((-1, 0), (0, len(indices) + 1), (1, 0)):
            with pytest.raises(ValueError, match="items"):
                read_slice(opened.indices, *outside)
        for vertex in (-1, len(graph)):
            with pytest.raises(ValueError, match="is no vertex"):
                opened.neighbours(vertex)


def test_string_ids_and_other_orders(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", GRAPH, ids=NAMES)
    emdiam.reorder(path, tmp_path / "d.zarr", "degree", memory="4GiB")
    for name in ("g.zarr", "d.zarr"):
        with emdiam.open(tmp_path / name) as opened:
            graph = opened.to_dask(2)
            expected = opened.user_ids(np.arange(300))
        assert graph.ids.compute().tolist() == expected
    assert sorted(expected) == NAMES != expected


def test_nothing_is_read_at_the_call(store: Path):
    with faulty_serving(store.parent) as server:
        url = f"http://{server.host}/g.zarr"
        with emdiam.open(url) as opened:
            server.conduct.seen.clear()
            graph = opened.to_dask(1)
            n_arcs = da.diff(graph.indptr).sum()
            assert server.conduct.seen == []
        assert n_arcs.compute() == len(INDICES)
        assert not [path for path in server.conduct.seen if "/indices/c" in path]
        server.conduct.seen.clear()
        assert_array_equal(graph.indices[130:140].compute(), INDICES[130:140])
        assert [path for path in server.conduct.seen if "/indices/c" in path] == ["/g.zarr/indices/c/0"] * 2


def test_the_arrays_travel(store: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(store.parent)
    with emdiam.open("g.zarr") as opened:
        data = pickle.dumps(opened.to_dask())
    assert len(data) < 20_000
    monkeypatch.chdir("/")
    assert_array_equal(pickle.loads(data).indices.compute(), INDICES)


@pytest.mark.slow
def test_other_processes_compute_them(store: Path):
    with emdiam.open(store) as opened:
        graph = opened.to_dask(4)
    assert graph.indices.sum().compute(scheduler="processes", num_workers=2) == INDICES.sum()


def test_secrets_are_not_shown(store: Path):
    with faulty_serving(store.parent) as server:
        with emdiam.open(f"http://ann:sesame@{server.host}/g.zarr?sig=mustard") as opened:
            graph = opened.to_dask()
        shown = repr(graph) + repr(dict(graph.indices.dask)) + str(graph.indices.dask)
        assert "sesame" not in shown and "mustard" not in shown and server.host in shown
        assert graph.indices.sum().compute() == INDICES.sum()


def test_another_store_under_the_address_is_refused(store: Path):
    with emdiam.open(store) as opened:
        graph = opened.to_dask()
    make_store(store, some_graph(seed=9), force=True)
    with pytest.raises(StoreError, match="this is another store than"):
        graph.indices.compute()


def test_what_is_missing_is_no_fill_value(store: Path):
    with emdiam.open(store) as opened:
        graph = opened.to_dask()
    shutil.rmtree(store / "indices" / "c")
    with pytest.raises(StoreError, match="a shard file is missing"):
        graph.indices.compute()


def test_bad_calls(store: Path, monkeypatch: pytest.MonkeyPatch):
    with emdiam.open(store) as opened:
        with pytest.raises(InputError, match="at least one chunk"):
            opened.to_dask(0)
        monkeypatch.setitem(sys.modules, "dask.array", None)
        with pytest.raises(InputError, match=r"need dask.*pip install 'emdiam\[dask\]'"):
            opened.to_dask()
