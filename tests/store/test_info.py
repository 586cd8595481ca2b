"""store_info and check_store: true figures, and every fault that checksums alone do not show."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import StoreError
from emdiam.progress import Event
from emdiam.store.arc_runs import DegreeCounts, store_info
from emdiam.store.check import check_store
from emdiam.store.layout import CODECS, StoreRecord
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers import naive
from tests.helpers.damage import CHUNK, edit_record, make_store, replace_chunk, some_graph
from tests.helpers.stores import graphs, odd_graphs

many = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def info_of(path: Path) -> dict[str, Any]:
    """What store_info says, through JSON."""
    with open_store(path) as store:
        return json.loads(json.dumps(store_info(store), allow_nan=False))


def fault(path: Path) -> str:
    """What check_store says of a store that is wrong."""
    with open_store(path) as store, pytest.raises(StoreError) as error:
        check_store(store)
    assert str(error.value.path).startswith(str(path)) and "; " in str(error.value)
    return str(error.value)


@many
@given(graph=graphs(60))
def test_degrees_are_those_of_the_graph(tmp_path: Path, graph: naive.Graph):
    info = info_of(make_store(tmp_path / "g.zarr", graph, force=True))
    degrees = [len(row) for row in graph]
    degree = info["degree"]
    assert (degree["min"], degree["max"]) == (min(degrees), max(degrees))
    assert degree["mean"] == sum(degrees) / len(degrees)
    assert degree["isolated"] == degrees.count(0)
    assert (info["n_vertices"], info["n_edges"], info["n_arcs"]) == (
        len(graph), sum(degrees) // 2, sum(degrees))
    for entry in degree["histogram"]:
        assert entry["vertices"] == sum(entry["from"] <= d <= entry["to"] for d in degrees)
    assert sum(entry["vertices"] for entry in degree["histogram"]) == len(graph)
    assert degree["histogram"][-1]["vertices"] > 0


@pytest.mark.parametrize(("least", "most", "entry"), [
    (0, 0, 0), (1, 1, 1), (2, 3, 2), (4, 7, 3), (2**20, 2**21 - 1, 21), (2**40, 2**41 - 1, 41)])
def test_ends_of_the_histogram(least: int, most: int, entry: int):
    counts = DegreeCounts()
    counts.add(np.array([least, most]))
    assert counts.histogram[entry] == 2
    assert counts.to_dict()["histogram"][-1] == {"from": least, "to": most, "vertices": 2}


def test_layout_and_size(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", some_graph())
    info = info_of(path)
    files = [file for file in path.rglob("*") if file.is_file()]
    assert info["n_files"] == len(files) == 7
    assert info["bytes"] == sum(file.stat().st_size for file in files)
    assert info["bytes_per_edge"] == info["bytes"] / info["n_edges"]
    assert (info["chunk_ids"], info["chunk_bytes"], info["shard_bytes"]) == (CHUNK, CHUNK * 4, CHUNK * 4 * 4096)
    assert (info["decoded_bytes_per_arc"], info["id_dtype"], info["codec"]) == (4, "uint32", "lz4")
    indices = info["arrays"]["indices"]
    assert indices["items"] == info["n_arcs"] and indices["chunks"] == -(-info["n_arcs"] // CHUNK)
    assert (indices["shards"], indices["shard_chunks"], indices["decoded_bytes"]) == (1, 4096, 4 * info["n_arcs"])
    shard = path / "indices" / "c" / "0"
    assert indices["stored_bytes"] == shard.stat().st_size - 16 * 4096 - 4


def test_origin_and_digests(tmp_path: Path):
    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    writer.append_degrees(np.array([1, 1]))
    writer.append_neighbours(np.array([1, 0], np.uint32))
    record = writer.finish(StoreRecord(directed_input=True, loops_dropped=3, duplicates_dropped=4, first_id=1,
                                       id_kind="offset", source=["a.txt"], source_format="edgelist"))
    info = info_of(tmp_path / "g.zarr")
    for name in ("directed_input", "symmetric", "loops_dropped", "duplicates_dropped", "id_kind", "first_id",
                 "ordering", "source", "source_format", "codec", "format_version", "record_digest"):
        assert info[name] == getattr(record, name)
    assert info["digest"] == record.chunk_digest
    assert info["id_range"] == [1, 2]


def test_id_ranges(tmp_path: Path):
    graph = some_graph()
    wide = np.arange(300, dtype=np.uint64) + np.uint64(2**64 - 300)
    assert info_of(make_store(tmp_path / "a", graph))["id_range"] == [0, 299]
    assert info_of(make_store(tmp_path / "b", graph, ids=wide))["id_range"] == [2**64 - 300, 2**64 - 1]
    names = [f"{v:03}é" for v in range(300)]
    assert info_of(make_store(tmp_path / "c", graph, ids=names))["id_range"] == ["000é", "299é"]


@pytest.mark.parametrize("graph", [[], [[]], [[]] * 200], ids=["empty", "one", "no-edges"])
def test_nothing_to_divide_by(tmp_path: Path, graph: naive.Graph):
    path = make_store(tmp_path / "g.zarr", graph)
    info = info_of(path)
    assert (info["bytes_per_edge"], info["degree"]["mean"], info["degree"]["max"]) == (None, 0.0, 0)
    assert info["degree"]["isolated"] == len(graph)
    assert info["id_range"] == ([0, len(graph) - 1] if graph else None)
    with open_store(path) as store:
        assert check_store(store) == {"chunks": store.indptr.n_chunks, "arcs": 0}


@pytest.mark.parametrize("changes", [{"max_degree": 3}, {"n_isolated": 0}])
def test_a_record_that_contradicts_the_offsets(tmp_path: Path, changes: dict[str, int]):
    path = make_store(tmp_path / "g.zarr", some_graph())
    edit_record(path, redo_digest=True, **changes)
    with open_store(path) as store, pytest.raises(StoreError, match="not those of the store record"):
        store_info(store)
    assert "not those of the store record" in fault(path)


@pytest.mark.parametrize("chunk", [0, 1, -1])
@pytest.mark.parametrize("fill", [0, -1, 10**6])
def test_offsets_that_do_not_rise(tmp_path: Path, chunk: int, fill: int):
    path = make_store(tmp_path / "g.zarr", some_graph())
    with open_store(path) as store:
        chunk %= store.indptr.n_chunks
    replace_chunk(path, "indptr", chunk, np.full(CHUNK, fill, np.int64))
    text = fault(path)
    assert "the offsets do not rise from 0" in text or "not those of the store record" in text


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("ids", [None, "int", "string"])
def test_good_stores_pass(tmp_path: Path, codec: str, ids: str | None):
    user: Any = {None: None, "int": np.arange(300) ** 2, "string": [f"{v:03}" for v in range(300)]}[ids]
    graph = some_graph()
    events: list[Event] = []
    with open_store(make_store(tmp_path / "g.zarr", graph, codec=codec, ids=user)) as store:
        checked = check_store(store, events.append)
        assert checked["arcs"] == sum(map(len, graph))
        assert checked["chunks"] == sum(store.array(name).n_chunks for name in store.array_names())
        done = [event for event in events if event.finished]
        assert [event.phase for event in done] == [f"check {name}" for name in store.array_names()]
        assert all(event.done == event.total == store.array(event.phase.split()[1]).n_chunks for event in done)


@pytest.mark.parametrize("graph", odd_graphs().values(), ids=odd_graphs().keys())
def test_odd_graphs_pass(tmp_path: Path, graph: naive.Graph):
    with open_store(make_store(tmp_path / "g.zarr", graph)) as store:
        assert check_store(store)["arcs"] == sum(map(len, graph))


def whole(graph: naive.Graph) -> str | None:
    """What is wrong with the rows, by the definition."""
    for v, row in enumerate(graph):
        if any(not 0 <= w < len(graph) for w in row):
            return "is no vertex"
        if v in row or any(a >= b for a, b in itertools.pairwise(row)):
            return "do not ascend, or hold itself"
    if any(v not in graph[w] for v, row in enumerate(graph) for w in row):
        return "one direction only"
    return None


@many
@given(graph=graphs(40), data=st.data())
def test_rows_that_are_those_of_no_graph(tmp_path: Path, graph: naive.Graph, data: st.DataObject):
    """One entry changed: found, unless what comes out is a graph."""
    places = [(v, i) for v, row in enumerate(graph) for i in range(len(row))]
    if not places:
        return
    v, i = data.draw(st.sampled_from(places))
    changed = [list(row) for row in graph]
    changed[v][i] = data.draw(st.integers(0, len(graph)))
    path = make_store(tmp_path / "g.zarr", changed, force=True)
    wrong = whole(changed)
    if wrong is None:
        with open_store(path) as store:
            check_store(store)
    else:
        assert any(text in fault(path) for text in ("no vertex", "do not ascend", "one direction"))


@pytest.mark.parametrize(("row", "text"), [
    ([414, 417], "an edge is stored in one direction only"),
    ([416, 414], "the neighbours of vertex 415 do not ascend"),
    ([414, 414], "the neighbours of vertex 415 do not ascend"),
    ([414, 415], "the neighbours of vertex 415 do not ascend, or hold itself"),
    ([414, 500], "a neighbour of vertex 415 is no vertex"),
    ([414, 2**32 - 1], "a neighbour of vertex 415 is no vertex"),
])
@pytest.mark.parametrize("cut", [False, True])
def test_the_fault_has_its_place(tmp_path: Path, row: list[int], text: str, cut: bool):
    """Whether the row lies in one chunk (arcs 830 and 831) or is cut by two (831 and 832)."""
    graph = [sorted(((v - 1) % 500, (v + 1) % 500)) for v in range(500)]
    if cut:
        graph[0], graph[450] = [1, 450, 499], [0, 449, 451]
    graph[415] = row
    assert int(naive.csr(graph)[0][415]) // CHUNK + cut == int(naive.csr(graph)[0][416] - 1) // CHUNK
    assert text in fault(make_store(tmp_path / "g.zarr", graph))


def test_a_row_cut_by_a_chunk(tmp_path: Path):
    """The hub's row is several chunks long, and falls exactly where one begins."""
    star = naive.graph_of(300, [(0, v) for v in range(1, 300)])
    with open_store(make_store(tmp_path / "good.zarr", star)) as store:
        check_store(store)
    star[0][CHUNK * 4] = star[0][CHUNK * 4 - 1]
    assert "the neighbours of vertex 0 do not ascend" in fault(make_store(tmp_path / "bad.zarr", star))


def test_a_chunk_with_a_good_checksum_that_was_not_written(tmp_path: Path):
    ids = np.arange(300) * 2
    path = make_store(tmp_path / "g.zarr", some_graph(), ids=ids)
    replace_chunk(path, "vertex_id", 2, ids[128:192] + 1)
    assert "the chunks are not those of the store record" in fault(path)


@pytest.mark.parametrize("ids", [[5, 5], [5, 4]])
def test_ids_that_do_not_increase(tmp_path: Path, ids: list[int]):
    path = make_store(tmp_path / "g.zarr", [[1], [0]], ids=np.array(ids))
    assert "vertex_id is not strictly increasing" in fault(path)
    long = np.arange(300)
    long[64] = long[63]
    assert "not strictly increasing" in fault(make_store(tmp_path / "long", some_graph(), ids=long))


def test_strings_that_are_none(tmp_path: Path):
    for name, strings, text in (("a", [b"a", b"\xff"], "not UTF-8"), ("b", [b"a", b"\xc3"], "not UTF-8")):
        writer = StoreWriter(tmp_path / name, n_vertices=2)
        writer.append_degrees(np.array([0, 0]))
        writer.append_vertex_strings(pa.array(strings, pa.binary()))
        writer.finish(StoreRecord(id_kind="string"))
        assert text in fault(tmp_path / name)


def test_string_offsets_that_end_elsewhere(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", [[1], [0]], ids=["ab", "cd"])
    offsets = np.full(CHUNK, -1, np.int64)
    offsets[:3] = 0, 2, 3
    replace_chunk(path, "vertex_id_offsets", 0, offsets)
    assert "vertex_id_offsets end at 3 of 4 bytes" in fault(path)


def test_memory_does_not_grow_with_the_graph(tmp_path: Path):
    n = 200_000
    writer = StoreWriter(tmp_path / "g.zarr", n_vertices=n, chunk_ids=1024)
    ring = np.stack(((np.arange(n) - 1) % n, (np.arange(n) + 1) % n), axis=1)
    writer.append_degrees(np.full(n, 2))
    writer.append_neighbours(np.sort(ring, axis=1).astype(np.uint32).ravel())
    writer.finish(StoreRecord())
    with open_store(tmp_path / "g.zarr") as store:
        tracemalloc.start()
        store_info(store)
        check_store(store)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1_000_000 < store.n_arcs * 4
