"""The digest of a graph: the same for every way to store it, another for another graph."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.errors import StoreError
from emdiam.store import arc_runs
from emdiam.store import edge_digest as digest_on_disk
from emdiam.store.arc_runs import scan_arcs, scan_bytes
from emdiam.store.edge_digest import edge_digest, hash_ids, vertex_hashes
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers import naive
from tests.helpers.damage import make_store, replace_chunk, some_graph
from tests.helpers.stores import graphs, odd_graphs

SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def digest(path: Path, graph: naive.Graph, **more: Any) -> str:
    with open_store(make_store(path, graph, force=True, **more)) as store:
        return edge_digest(store)


def reordered(graph: naive.Graph, order: list[int]) -> naive.Graph:
    """The graph whose vertex i is the old vertex order[i]."""
    place = {old: new for new, old in enumerate(order)}
    return naive.graph_of(len(graph), [(place[v], place[w]) for v, row in enumerate(graph) for w in row])


def test_order_codec_chunks_runs_and_threads_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, rng = some_graph(), np.random.default_rng(4)
    want = digest(tmp_path / "g.zarr", graph)
    assert len(want) == 32 and int(want, 16)
    for codec, chunk, run_arcs, threads in (("none", 64, 64, 1), ("lz4", 256, 512, 2), ("pcodec", 1024, 64, 3)):
        monkeypatch.setattr(arc_runs, "RUN_ARCS", run_arcs)
        order = rng.permutation(len(graph))
        for dtype in (np.int64, np.uint64):
            store = make_store(tmp_path / "h.zarr", reordered(graph, order.tolist()), codec=codec, chunk=chunk,
                               ids=order.astype(dtype), force=True)
            with open_store(store) as opened:
                assert edge_digest(opened, threads=threads) == want


def test_strings_of_all_lengths(tmp_path: Path) -> None:
    """Strings run over the ends of chunks of offsets and of bytes."""
    graph, rng = some_graph(), np.random.default_rng(5)
    names = ["x" * (v * 7 % 150) + "é" * (v % 5) + str(v) for v in range(len(graph))]
    names[3:7] = ["", "\0", "\0\0", "a\0"]
    want = digest(tmp_path / "g.zarr", graph, ids=names)
    order = rng.permutation(len(graph)).tolist()
    mapped = [names[v] for v in order]
    assert digest(tmp_path / "g.zarr", reordered(graph, order), ids=mapped, chunk=1024, codec="none") == want
    with open_store(make_store(tmp_path / "g.zarr", graph, ids=names, force=True)) as store:
        assert vertex_hashes(store).tolist() == hash_ids(names).tolist()
        assert len(set(hash_ids(names).tolist())) == len(names)
    names[10], names[11] = names[11], names[10]
    assert digest(tmp_path / "g.zarr", graph, ids=names) != want


@pytest.mark.parametrize("kind", ["numbered", "mapped", "strings", "reordered", "reordered-mapped"])
def test_the_same_with_hashes_on_disk(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One range of vertices in memory, or several, for ids of every kind, in their order and in another one."""
    monkeypatch.setattr(digest_on_disk, "_LEAST_ROOM", 8)
    graph, more = some_graph(), {}
    n = len(graph)
    if "mapped" in kind:
        more = {"ids": np.arange(n) * 3 + 5}
    if kind == "strings":
        more = {"ids": ["x" * (v % 90) + str(v) for v in range(n)]}
    path = make_store(tmp_path / "g.zarr", graph, **more)
    if "reordered" in kind:
        path = tmp_path / "h.zarr"
        reorder(tmp_path / "g.zarr", path, "bfs", options=ConvertOptions(chunk_ids=64))
    with open_store(path) as store:
        want = edge_digest(store)
        for hashes in (n + 1, 70, 7):
            assert digest_on_disk.digest_on_disk(store, 8 * hashes, tmp_path, threads=2) == want
    assert list(tmp_path.glob("emdiam-scratch*")) == []


@SETTINGS
@given(graph=graphs(), data=st.data())
def test_any_other_graph_has_another_digest(tmp_path: Path, graph: naive.Graph, data: st.DataObject) -> None:
    n = len(graph)
    want = digest(tmp_path / "g.zarr", graph)
    order = data.draw(st.permutations(range(n)))
    assert digest(tmp_path / "g.zarr", reordered(graph, order), ids=np.array(order, np.int64)) == want
    edges = {(v, w) for v, row in enumerate(graph) for w in row if v < w}
    other = {(order[v], order[w]) if order[v] < order[w] else (order[w], order[v]) for v, w in edges}
    assert (digest(tmp_path / "g.zarr", reordered(graph, np.argsort(order).tolist())) == want) == (other == edges)
    pair = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
    changed = edges ^ {(min(pair), max(pair))} if pair[0] != pair[1] else edges
    assert (digest(tmp_path / "g.zarr", naive.graph_of(n, changed)) == want) == (changed == edges)
    assert digest(tmp_path / "g.zarr", naive.graph_of(n + 1, edges)) != want
    assert digest(tmp_path / "g.zarr", graph, ids=np.arange(n) + 1) != want
    assert digest(tmp_path / "g.zarr", graph, ids=[str(v) for v in range(n)]) != want


def test_numbered_and_mapped_ids_are_the_same_ids(tmp_path: Path) -> None:
    graph = some_graph()
    indptr, indices = naive.csr(graph)
    writer = StoreWriter(tmp_path / "offset.zarr", n_vertices=len(graph), chunk_ids=64)
    writer.append_degrees(np.diff(indptr))
    writer.append_neighbours(indices.astype(writer.id_dtype))
    writer.finish(StoreRecord(id_kind="offset", first_id=1000))
    with open_store(tmp_path / "offset.zarr") as store:
        want = edge_digest(store)
    assert digest(tmp_path / "g.zarr", graph, ids=np.arange(1000, 1000 + len(graph))) == want
    assert digest(tmp_path / "g.zarr", graph) != want


def test_odd_graphs_all_differ(tmp_path: Path) -> None:
    found = [digest(tmp_path / "g.zarr", graph) for graph in odd_graphs().values()]
    assert len(set(found)) == len(found)


# -- damage ---------------------------------------------------------------------------------------
def raw_store(path: Path, indptr: list[int], indices: list[int], n: int | None = None) -> Path:
    """A store of any arrays, however wrong, in chunks of 64."""
    writer = StoreWriter(path, n_vertices=len(indptr) - 1 if n is None else n, chunk_ids=64, force=True)
    writer.append_degrees(np.diff(indptr))
    writer.append_neighbours(np.array(indices, writer.id_dtype))
    writer.finish(StoreRecord())
    return path


@pytest.mark.parametrize("indptr, indices, match", [
    ([0, 1, 2, 2], [1, 2], "one direction"), ([0, 1, 2], [0, 1], "its own neighbour"),
    ([0, 1, 2], [1, 5], "no vertex"), ([0, 2, 3, 4], [1, 2, 0, 1], "one direction"),
])
def test_what_is_no_graph(tmp_path: Path, indptr: list[int], indices: list[int], match: str) -> None:
    with open_store(raw_store(tmp_path / "g.zarr", indptr, indices)) as store, pytest.raises(StoreError, match=match):
        edge_digest(store)


@pytest.mark.parametrize("run_arcs", [64, 1 << 17])
@pytest.mark.parametrize("change", ["short", "long", "falls"])
def test_offsets_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_arcs: int, change: str) -> None:
    monkeypatch.setattr(arc_runs, "RUN_ARCS", run_arcs)
    path = make_store(tmp_path / "g.zarr", odd_graphs()["clique"], chunk=64)
    values = np.full(64, -1, np.int64)
    values[:31] = np.arange(31) * 29
    if change == "falls":
        values[12] = 3
    else:
        values[30] += -1 if change == "short" else 1
    replace_chunk(path, "indptr", 0, values)
    with open_store(path) as store, pytest.raises(StoreError, match="indptr|offsets do not rise"):
        edge_digest(store)


@pytest.mark.parametrize("run_arcs", [64, 200, 1 << 17])
def test_every_arc_passes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_arcs: int) -> None:
    monkeypatch.setattr(arc_runs, "RUN_ARCS", run_arcs)
    graph, seen, cut = some_graph(), [], []

    def work(run: arc_runs.ArcRun, ids: np.ndarray) -> None:
        rows = np.repeat(run.rows, np.diff(run.starts))
        seen.append((run.first, list(zip(rows.tolist(), ids.tolist(), strict=True))))
        cut.append((run.first, run.head, run.tail, int(run.rows[0]), int(run.rows[-1])))

    ticks: list[int] = []
    with open_store(make_store(tmp_path / "g.zarr", graph)) as store:
        scan_arcs(store, 2, work, ticks.append)
        assert scan_bytes(store, 2) > 0 and ticks[-1] == store.indices.n_chunks
    arcs = [pair for _, pairs in sorted(seen) for pair in pairs]
    assert arcs == [(v, w) for v, row in enumerate(graph) for w in row]
    cut.sort()
    assert not cut[0][1] and not cut[-1][2]
    for before, after in itertools.pairwise(cut):
        assert before[2] == after[1] == (before[4] == after[3])


def test_an_error_in_the_work_ends_the_scan(tmp_path: Path) -> None:
    def work(run: arc_runs.ArcRun, ids: np.ndarray) -> None:
        raise RuntimeError("no more")

    with open_store(make_store(tmp_path / "g.zarr", some_graph())) as store, pytest.raises(RuntimeError):
        scan_arcs(store, 2, work)
