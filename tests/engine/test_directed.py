"""The engine of stores with directions beside plain BFS and scipy: along arcs and against them, in RAM and streamed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components, shortest_path

from emdiam.engine.directed import DirectedEngine, open_directed_engine, plan_directed, shared_bytes
from emdiam.errors import StoreError
from emdiam.store.store import Store, open_store
from emdiam.stream.plan import Phase
from emdiam.traverse.distance_table import DistanceTable
from tests.helpers.directed_twins import (
    Arcs,
    all_distances,
    odd_digraphs,
    random_arcs,
    strong_components,
    turned,
    write_arcs,
)

DENSE = {"dense_arcs": 0}


@contextmanager
def opened(path: Path, blocks: int | None = None, **core: Any) -> Iterator[DirectedEngine]:
    """An engine on the store, with an arena of so many blocks of 64 ids."""
    with open_store(path, directed=True) as store:
        plan = plan_directed(store, (Phase("bfs", 1, shared_bytes(store)),), memory_bytes=4 << 30,
                             arena_bytes=blocks and blocks * 64 * 4)
        with open_directed_engine(store, plan, **core) as engine:
            yield engine


def check(engine: DirectedEngine, arcs: Arcs, matrix: np.ndarray, sources: Any) -> None:
    """Compare all verbs with the matrix of distances, int64[n, n], -1 where there is no path."""
    n = len(matrix)
    for back, distances in ((False, matrix), (True, matrix.T)):
        for source in sources:
            run, want = engine.bfs(source, back=back), distances[source]
            assert run.distances is not None
            assert run.distances.gather(np.arange(n)).tolist() == want.tolist()
            assert (run.eccentricity, run.n_reached) == (want.max(), np.count_nonzero(want >= 0))
            assert run.farthest == want.argmax()
            if not back:
                assert engine.steep_steps(run.distances) == 0
                path = np.concatenate(list(engine.path_pieces(run.distances, run.farthest, back=True)))[::-1]
                assert (path[0], path[-1], len(path)) == (source, run.farthest, want.max() + 1)
                assert engine.all_arcs_exist(path[:-1], path[1:])
        assert engine.eccentricities(np.arange(n), back=back).tolist() == distances.max(axis=1).tolist()
        table = DistanceTable(1)
        engine.count_distances(np.arange(n), table, back=back)
        assert table.counts[:, 0].tolist() == [0, *(np.count_nonzero(matrix == d) for d in range(1, matrix.max() + 1))]
    check_components(engine, arcs, matrix)


def check_components(engine: DirectedEngine, arcs: Arcs, matrix: np.ndarray) -> None:
    n = len(matrix)
    numbers, n_strong = engine.strong
    both = (matrix >= 0) & (matrix.T >= 0)
    assert ((numbers[:, None] == numbers[None, :]) == both).all()
    assert sorted(set(numbers.tolist())) == list(range(n_strong))
    assert all(numbers[head] <= numbers[tail] for tail, head in arcs), "in reverse topological order"
    ends = (np.ones(len(arcs)), ([a for a, _ in arcs], [b for _, b in arcs]))
    n_weak, labels = connected_components(scipy.sparse.csr_matrix(ends, (n, n)), connection="weak")
    roots, count = engine.weak()
    assert count == n_weak and len(set(zip(roots.tolist(), labels.tolist(), strict=True))) == n_weak
    assert all(roots[v] <= v == roots[v] or roots[v] < v for v in range(n))


@pytest.mark.parametrize("core", [{}, DENSE], ids=["sparse", "dense"])
def test_odd_digraphs(tmp_path: Path, core: dict[str, Any]) -> None:
    for _, n, arcs in odd_digraphs():
        write_arcs(arcs, tmp_path / "g.zarr", n)
        with opened(tmp_path / "g.zarr", **core) as engine:
            matrix = np.array(all_distances(n, arcs))
            check(engine, arcs, matrix, range(0, n, 1 + n // 4))


@pytest.mark.parametrize("core", [{}, DENSE, {**DENSE, "direction": "beamer"}], ids=["sparse", "dense", "beamer"])
def test_random_digraphs(tmp_path: Path, core: dict[str, Any]) -> None:
    rng = random.Random(21)
    for _ in range(8):
        n, arcs = random_arcs(rng)
        write_arcs(arcs, tmp_path / "g.zarr", n)
        with opened(tmp_path / "g.zarr", **core) as engine:
            matrix = all_distances(n, arcs)
            check(engine, arcs, np.array(matrix), range(n))
            numbers, twin = engine.strong[0], strong_components(matrix)
            assert len(set(zip(numbers.tolist(), twin, strict=True))) == len(set(twin))


def test_components_by_sweeps_tell_of_every_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are short, and very many for a long path in bad order: what ends a run at its time limit hears of each."""
    order = random.Random(7).sample(range(700), 700)
    write_arcs(list(pairwise(order)), tmp_path / "g.zarr", 700)
    with opened(tmp_path / "g.zarr", 8) as engine:
        told: list[None] = []
        monkeypatch.setattr(engine.reporter, "heartbeat", lambda: told.append(None))
        numbers, n_strong = engine.strong
        assert n_strong == 700 and (numbers[order] == np.arange(699, -1, -1)).all()
        assert len(told) >= engine.reporter.stats().passes > 100


@pytest.mark.parametrize("step", [1, -1], ids=["rise", "fall"])
def test_components_of_a_path_in_order_take_few_sweeps(tmp_path: Path, step: int) -> None:
    ids = list(range(3000))[::step]
    write_arcs(list(pairwise(ids)), tmp_path / "g.zarr", 3000)
    with opened(tmp_path / "g.zarr", 8) as engine:
        numbers, n_strong = engine.strong
        assert n_strong == 3000 and (numbers[ids] == np.arange(2999, -1, -1)).all()
        assert engine.reporter.stats().passes <= 60  # blocks of 64 vertices, at most one after another


def larger(kind: str, n: int) -> list[tuple[int, int]]:
    """Digraphs of some dozen blocks of 64 ids."""
    rng = random.Random(kind)
    if kind == "random":
        return [(rng.randrange(n), rng.randrange(n)) for _ in range(3 * n)]
    if kind == "local":
        return [(v, (v + rng.randint(1, 30)) % n) for v in range(n) for _ in range(3)] + [(0, n // 2)]
    order = rng.sample(range(n), n)
    return [(order[v], order[v + 1]) for v in range(n - 1)] + [(order[n // 2], order[n // 3])]


@pytest.mark.thin(2)
@pytest.mark.parametrize("core", [{}, DENSE], ids=["sparse", "dense"])
@pytest.mark.parametrize("kind", ["random", "local", "path"])
def test_streamed(tmp_path: Path, kind: str, core: dict[str, Any]) -> None:
    n = 200 if core or kind == "path" else 500
    arcs = larger(kind, n)
    write_arcs(arcs, tmp_path / "g.zarr", n)
    matrix = shortest_path(scipy.sparse.csr_matrix(
        (np.ones(len(arcs)), ([a for a, _ in arcs], [b for _, b in arcs])), (n, n)), unweighted=True)
    matrix = np.where(np.isinf(matrix), -1, matrix).astype(np.int64)
    with opened(tmp_path / "g.zarr", 8, **core) as engine:
        assert not engine.plan.in_ram or n == 200
        check(engine, arcs, matrix, range(0, n, n // 3))


def test_labels_that_are_no_distances_are_steep(tmp_path: Path) -> None:
    write_arcs([(0, 1), (1, 2), (3, 2)], tmp_path / "g.zarr", 4)
    with opened(tmp_path / "g.zarr") as engine:
        column = engine.bfs(0).distances
        assert column is not None and engine.steep_steps(column) == 0
        column.put([2], 3)
        assert engine.steep_steps(column) == 1
        column.put([2], column.unreached)
        assert engine.steep_steps(column) == 1


def test_the_reverse_of_another_graph_is_seen(tmp_path: Path) -> None:
    """Once all rows were read, in either direction."""
    write_arcs([(0, 1), (1, 2), (2, 3)], tmp_path / "g.zarr", 4)
    write_arcs([(0, 1), (1, 2), (3, 2)], tmp_path / "h.zarr", 4)
    with open_store(tmp_path / "g.zarr", directed=True) as store, open_store(tmp_path / "h.zarr", directed=True) as one:
        mixed = Store(store.path, store.record, {name: (one if name.startswith("reverse") else store).array(name)
                                                 for name in store.array_names()})
        mixed.record.reverse = one.record.reverse
        plan = plan_directed(mixed, (Phase("bfs", 1, shared_bytes(mixed)),), memory_bytes=4 << 30)
        with pytest.raises(StoreError, match="one direction only"), open_directed_engine(mixed, plan):
            pass


def test_a_search_that_stays_within_a_component_does_so_in_any_arena(tmp_path: Path) -> None:
    """A ring in both directions, and a line out of it that the search must not take, whatever its levels read."""
    half, n = 600, 1200
    ring = [(v, (v + 1) % half) for v in range(half)]
    arcs = sorted({*ring, *turned(ring), *((v, v + 1) for v in range(half - 1, n - 1))})
    write_arcs(arcs, tmp_path / "g.zarr", n)
    inside = np.packbits(np.arange((n + 63) // 64 * 64) < half, bitorder="little").view(np.uint64)
    for blocks, core in ((None, {}), (8, {}), (8, {"most_loaded": 0, "thin_share": 1.0})):
        with opened(tmp_path / "g.zarr", blocks, **core) as engine:
            for source in (0, 250, 3):
                run, away = engine.bfs(source, within=inside), np.abs(np.arange(half) - source)
                assert run.distances is not None
                assert (run.eccentricity, run.n_reached) == (half // 2, half)
                assert run.distances.gather(np.arange(half)).tolist() == np.minimum(away, half - away).tolist()
                assert (run.distances.gather(np.arange(half, n)) == -1).all()
