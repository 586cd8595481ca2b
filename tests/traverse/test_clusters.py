"""Cluster growing, condensing and the restart from clusters, against plain twins, over every engine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.traverse import labels as label_growth
from tests.helpers import naive
from tests.helpers.cluster_twins import condensed_twin, grow_twin, masters_everywhere, walk_bounds
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(8)

GRAPHS = odd_graphs()


def grown(engine: Any, masters: list[int]) -> Any:
    labels = engine.grow_clusters(np.array(masters, np.int64))
    assert labels is not None
    return labels


def packed_arcs(engine: Any, labels: Any) -> set[tuple[int, int, int]]:
    """All condensed arcs that the engine hands out, unpacked."""
    pieces: list[np.ndarray] = []
    engine.condense(labels, (20, 24), pieces.append)
    keys = np.concatenate(pieces) if pieces else np.empty(0, np.uint64)
    mask = np.uint64((1 << 20) - 1)
    weights = np.uint64((1 << 24) - 1)
    return {(int(k >> np.uint64(44)), int((k >> np.uint64(24)) & mask), int(k & weights)) for k in keys}


def check(engine: Any, graph: naive.Graph, wanted: list[int]) -> None:
    masters = masters_everywhere(graph, wanted)
    expected = grow_twin(graph, masters)
    labels = grown(engine, wanted)
    everyone = np.arange(len(graph))
    assert labels.masters.tolist() == masters
    assert labels.groups(everyone).tolist() == [owner for owner, _ in expected]
    assert labels.distances(everyone).tolist() == [distance for _, distance in expected]
    radii, sizes = labels.tally()
    assert sizes.tolist() == [sum(1 for o, _ in expected if o == g) for g in range(len(masters))]
    assert radii.tolist() == [max(d for o, d in expected if o == g) for g in range(len(masters))]
    far = labels.farthest_members(radii).tolist()
    assert far == [min(v for v, (o, d) in enumerate(expected) if o == g and d == radii[g]) for g in range(len(masters))]
    assert packed_arcs(engine, labels) == condensed_twin(graph, expected)


@pytest.mark.parametrize("engine_name", ENGINES)
@pytest.mark.parametrize("name", GRAPHS)
def test_clusters_of_odd_graphs(tmp_path: Path, name: str, engine_name: str):
    graph = GRAPHS[name]
    path = write_store(tmp_path / "g.zarr", graph)
    with_edge = [v for v in range(len(graph)) if graph[v]]
    with engine_on(path, engine_name) as engine:
        check(engine, graph, [])
        check(engine, graph, with_edge[::7])
        check(engine, graph, with_edge)


@settings(max_examples=30, deadline=None)
@given(graph=graphs(most=60), data=st.data(), engine_name=st.sampled_from(sorted(ENGINES)), chunk=st.just(64))
def test_clusters_of_random_graphs(tmp_path_factory: Any, graph: naive.Graph, data: st.DataObject, engine_name: str,
                                   chunk: int):
    path = write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph, chunk)
    with_edge = [v for v in range(len(graph)) if graph[v]]
    masters = sorted(data.draw(st.sets(st.sampled_from(with_edge)))) if with_edge else []
    with engine_on(path, engine_name) as engine:
        check(engine, graph, masters)


def leave_for_distances(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Narrow labels have so many bits for distances, as if there were very many groups."""
    monkeypatch.setattr(label_growth, "bits_of", lambda n_groups: max(n_groups.bit_length(), 32 - bits))


@pytest.mark.parametrize("engine_name", ["in-ram", "streamed", "streamed-windows"])
@pytest.mark.parametrize("name", ["path", "grid", "isolated-first"])
def test_labels_widen_when_a_distance_outgrows_them(
    tmp_path: Path, name: str, engine_name: str, monkeypatch: pytest.MonkeyPatch
):
    graph = GRAPHS[name]
    path = write_store(tmp_path / "g.zarr", graph)
    far = max(naive.distances(graph, next(v for v in range(len(graph)) if graph[v])))
    with engine_on(path, engine_name) as engine:
        assert not grown(engine, []).packed.is_wide
        for bits in (2, 3, 4, far.bit_length()):
            leave_for_distances(monkeypatch, bits)
            check(engine, graph, [])
            assert grown(engine, []).packed.is_wide == (far >= (1 << bits) - 2)
            check_restart(engine, graph, [])


def test_wide_labels_take_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    graph = GRAPHS["path"]
    leave_for_distances(monkeypatch, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        held: dict[str, int] = {}
        engine.core.reserve = SimpleNamespace(hold=held.__setitem__)
        labels = grown(engine, [])
        assert labels.packed.values.nbytes == 8 * len(graph) and held["labels of clusters"] == 4 * len(graph)
        labels.release()
        assert held["labels of clusters"] == 0
        leave_for_distances(monkeypatch, 20)
        assert grown(engine, []).packed.values.nbytes == 4 * len(graph) and held["labels of clusters"] == 0


def test_labels_make_room_for_more_groups():
    """A component without a master adds groups, for which bits are taken from the distances, or 8 bytes."""
    core: Any = SimpleNamespace(table=SimpleNamespace(n_vertices=5), hold=lambda what, n_bytes: None)
    packed = label_growth.LabelVector.unreached(core, 3)
    assert packed.bits == 2 and packed.values.dtype == np.uint32
    none = int(packed.values[0])
    packed.values[:4] = [0, 7 << 2 | 1, 9 << 2 | 2, none - 4]
    packed.make_room(200, 9)
    assert packed.bits == 8 and packed.values[:3].tolist() == [0, 7 << 8 | 1, 9 << 8 | 2] and packed.values[4] == none
    packed.values[3] = packed.longest << 8 | 199
    packed.make_room(1 << 9, packed.longest)
    assert packed.is_wide and packed.bits == 32
    assert packed.values.tolist() == [0, 7 << 32 | 1, 9 << 32 | 2, ((1 << 24) - 2) << 32 | 199, (1 << 64) - 1]


@pytest.mark.parametrize("engine_name", ["in-ram", "streamed", "streamed-windows"])
@pytest.mark.parametrize("name", [n for n in GRAPHS if n not in ("one", "no-edges")])
def test_a_restart_gives_the_distances(tmp_path: Path, name: str, engine_name: str):
    """From upper bounds of any quality the labels end as distances, in all components at once."""
    graph = GRAPHS[name]
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path, engine_name) as engine:
        check_restart(engine, graph, [v for v in range(len(graph)) if graph[v]][::5])


def check_restart(engine: Any, graph: naive.Graph, wanted: list[int]) -> None:
    masters = masters_everywhere(graph, wanted)
    sources, parts, base = walk_bounds(graph, masters)
    labels = grown(engine, wanted)
    engine.restart(labels, np.array(base), np.array(parts), np.array(sources))
    radii, _ = labels.tally()
    truth = [naive.distances(graph, s) for s in sources]
    assert radii.tolist() == [max(d for d in distances if d >= 0) for distances in truth]
    column = labels.take_column()
    found = column.gather(np.arange(len(graph)))
    for v in range(len(graph)):
        assert found[v] == max(distances[v] if graph[v] else -1 for distances in truth)
    assert engine.scan("steep-arcs", column) == 0


def test_growing_stops_after_so_many_rounds(tmp_path: Path):
    graph = GRAPHS["path"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        assert engine.grow_clusters(np.array([0]), most_rounds=20) is None
        assert engine.grow_clusters(np.array([0]), most_rounds=400) is not None


@pytest.mark.parametrize("name", ["path", "no-edges", "grid", "isolated-first"])
def test_samples_have_the_size_asked_for(tmp_path: Path, name: str):
    graph = GRAPHS[name]
    with_edge = [v for v in range(len(graph)) if graph[v]]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        assert engine.sample_vertices(3, len(graph)).tolist() == with_edge
        assert engine.sample_vertices(3, 0).tolist() == []
        sizes = [len(engine.sample_vertices(key, max(1, len(with_edge) // 4))) for key in range(40)]
        if with_edge:
            assert 0.5 < np.mean(sizes) / max(1, len(with_edge) // 4) < 1.5
        first, second = engine.sample_vertices(1, 50), engine.sample_vertices(1, 50)
        assert first.tolist() == second.tolist() == sorted(first.tolist())
