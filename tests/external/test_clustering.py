"""Components, clusters and condensed graphs of the external engine are those of the engine in RAM."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.engine.cpu import CpuEngine
from emdiam.engine.reporter import Reporter
from emdiam.external.buckets import Ranges
from emdiam.external.clustering import ClusteringVerbs
from emdiam.external.queues import Space
from emdiam.external.rows import Rows
from emdiam.sorting.scratch import Scratch
from emdiam.store.store import open_store
from emdiam.stream.counters import SharedCounters
from emdiam.stream.threads import Threads
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()


class Verbs(ClusteringVerbs):
    """The verbs alone."""

    def __init__(self, store: Any, threads: Threads, space: Space) -> None:
        self.store, self.space, counters = store, space, SharedCounters()
        self._rows = Rows(store, threads, counters, arc_slots=2, offset_slots=2)
        self.reporter = Reporter(None, counters.snapshot, counters.add, lambda: {})


@contextmanager
def verbs_on(path: Path, width: int, room: int) -> Iterator[Verbs]:
    threads = Threads(2, 2)
    scratch = Scratch(path.parent, path)
    try:
        with open_store(path) as store:
            yield Verbs(store, threads, Space(scratch, Ranges(store.n_vertices, width), room, store.id_dtype))
    finally:
        threads.close()
        scratch.close()


def arcs_of(engine: Any, by: Any) -> list[int]:
    words: list[np.ndarray] = []
    engine.condense(by, (20, 20), lambda piece: words.append(piece.copy()))
    return np.sort(np.concatenate([np.empty(0, np.uint64), *words])).tolist()


def same_labels(one: Any, other: Any, n: int) -> None:
    every = np.arange(n)
    assert one.masters.tolist() == other.masters.tolist() and one.n_groups == other.n_groups
    assert one.groups(every).tolist() == other.groups(every).tolist()
    radii, sizes = one.tally()
    assert [radii.tolist(), sizes.tolist()] == [x.tolist() for x in other.tally()]
    assert one.farthest_members(radii).tolist() == other.farthest_members(radii).tolist()
    assert one.first_members().tolist() == other.first_members().tolist()


def check(engine: CpuEngine, verbs: Verbs, graph: naive.Graph, seed: int) -> None:
    n, rng = len(graph), random.Random(seed)
    key, expected = rng.randrange(1 << 64), rng.randint(1, max(1, n // 4))
    masters = engine.sample_vertices(key, expected)
    assert verbs.sample_vertices(key, expected).tolist() == masters.tolist()
    assert verbs.sample_vertices(key, n).tolist() == engine.sample_vertices(key, n).tolist()
    some = np.array([rng.randrange(n) for _ in range(5)])
    assert verbs.ranks(some).tolist() == engine.ranks(some).tolist()
    want, labels = engine.grow_clusters(masters), verbs.grow_clusters(masters)
    assert want is not None and labels is not None
    same_labels(labels, want, n)
    assert arcs_of(verbs, labels) == arcs_of(engine, want)
    places = np.array(rng.sample(range(n), n), np.uint32)
    assert arcs_of(verbs, places) == arcs_of(engine, places)
    rounds = int(labels.tally()[0].max(initial=0))
    assert verbs.grow_clusters(masters, rounds + 1) is not None
    if rounds:
        assert verbs.grow_clusters(masters, rounds) is None
    parts = [part for part in naive.components(graph) if len(part) > 1]
    if parts:
        sources = np.array([rng.choice(part) for part in parts])
        number = {v: i for i, part in enumerate(parts) for v in part}
        of = np.array([number[int(m)] for m in labels.masters])
        base = np.array([naive.distances(graph, int(sources[part]))[int(master)]
                         for master, part in zip(labels.masters, of, strict=True)])
        assert verbs.restart(labels, base, of, sources, 8) and engine.restart(want, base, of, sources)
        same_labels(labels, want, n)
    column, other = labels.take_column(), want.take_column()
    assert column.gather(np.arange(n)).tolist() == other.gather(np.arange(n)).tolist()


@pytest.mark.thin(2)
@pytest.mark.parametrize("room", [5, 1000])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str, room: int) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    with engine_on(store) as engine, verbs_on(store, 64, room) as verbs:
        check(engine, verbs, ODD[name], 3)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=200), room=st.integers(1, 300), seed=st.integers(0, 999))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, room: int, seed: int) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store) as engine, verbs_on(store, 64, room) as verbs:
        check(engine, verbs, graph, seed)
