"""Components range by range: labels, sizes, hubs and vertices of smallest rank are those of the naive twin."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.external.buckets import Ranges, Sink
from emdiam.external.components import ExternalComponents, Hidden, external_components
from emdiam.external.queues import Space
from emdiam.sorting.scratch import Scratch
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs

ODD = odd_graphs()


def components_of(
    scratch: Scratch, graph: naive.Graph, reached: int, ranks: list[int], shift: int, room: int,
) -> ExternalComponents | None:
    """The components that do not hold the vertex `reached`."""
    ranges = Ranges(len(graph), 1 << shift)
    near = naive.distances(graph, reached)
    hidden = np.array([d < 0 and len(row) > 0 for d, row in zip(near, graph, strict=True)])
    arcs = np.array([(v, w) for v in np.flatnonzero(hidden) for w in graph[v]], np.int64).reshape(-1, 2)
    facts = np.array([[len(row) for row in graph], ranks])

    up = arcs[arcs[:, 1] > arcs[:, 0]]

    def send(sink: Sink) -> None:
        for piece in np.array_split(up, 3):
            sink.add(piece[:, 1].astype(np.uint32), piece[:, 0])

    given = Hidden(send, lambda first, stop: hidden[first:stop],
                   lambda first, stop: (facts[0, first:stop], facts[1, first:stop]))
    return external_components(Space(scratch, ranges, room, np.dtype(np.uint32)), given, reached)


def check(tmp_path: Path, graph: naive.Graph, shift: int, room: int, seed: int) -> None:
    rng, scratch = random.Random(seed), Scratch(tmp_path, tmp_path)
    reached, ranks = rng.randrange(len(graph)), rng.sample(range(len(graph)), len(graph))
    others = [part for part in naive.components(graph) if len(part) > 1 and reached not in part]
    found = components_of(scratch, graph, reached, ranks, shift, room)
    assert (found is None) == (not others)
    if found is not None:
        assert found.n_others == len(others)
        assert found.n_pairs() == sum(len(part) * (len(part) - 1) // 2 for part in others)
        assert sorted(found.first_by_rank().tolist()) == sorted(
            min([ranks[v], v] for v in part) for part in others)
        assert found.largest_size() == max(map(len, others))
        want = np.full(len(graph), reached)
        for part in others:
            want[part] = part[0]
        start = rng.randrange(len(graph))
        assert found.labels[start:].tolist() == want[start:].tolist()
        assert found.labels[:start].tolist() == want[:start].tolist()
        listed = [*found.larger_than(1, 2), *found.larger_than(1)]
        assert found.larger_than(1) == [] and found.largest_size() == 0
        assert [(c.size, c.root, c.first, c.last, c.hub) for c in listed] == sorted(
            ((len(part), part[0], part[0], part[-1], min(part, key=lambda v: (-len(graph[v]), v))) for part in others),
            key=lambda c: (-c[0], c[1]))
        found.release()
        assert len(found.labels) == 0
    scratch.close()


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str) -> None:
    check(tmp_path, ODD[name], 4, 10, 3)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=150), shift=st.integers(0, 8), room=st.integers(1, 60), seed=st.integers(0, 999))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, shift: int, room: int, seed: int) -> None:
    check(tmp_path, graph, shift, room, seed)


def test_very_many_components_and_little_room(tmp_path: Path) -> None:
    """30,000 pairs whose ends lie ranges apart; as many as are asked for come, the largest first."""
    order = np.random.default_rng(5).permutation(60_010).tolist()
    edges = [(order[2 * i], order[2 * i + 1]) for i in range(30_000)]
    graph = naive.graph_of(60_010, [*edges, *((order[59_998 + i], order[59_999 + i]) for i in range(8))])
    graph[order[60_009]] = []
    scratch = Scratch(tmp_path, tmp_path)
    found = components_of(scratch, graph, order[60_009], list(range(60_010)), 12, 1 << 10)
    assert found is not None and found.n_others == 30_000 and found.largest_size() == 9
    assert [c.size for c in found.larger_than(1, 3)] == [9, 2, 2]
    assert found.largest_size() == 2 and len(found.larger_than(1, 1 << 20)) == 29_997
    assert scratch.bytes_written > 0
    scratch.close()


def test_an_edge_is_handed_on_seldom(tmp_path: Path) -> None:
    """What is read and written is as the head of the module says."""
    rng, n, ranges = np.random.default_rng(9), 1 << 13, 16
    pairs = rng.integers(1, n, (4 * n, 2)).tolist()
    graph = naive.graph_of(n, pairs)
    scratch = Scratch(tmp_path, tmp_path)
    found = components_of(scratch, graph, 0, list(range(n)), 9, 256)
    edges = sum(map(len, graph)) // 2
    handed_on = np.log(ranges)
    vertices = sum(len(row) > 0 for row in graph)
    formula = 8 * edges * (1 + handed_on) + 8 * vertices
    assert found is not None
    assert formula / 2 <= scratch.bytes_written <= 2 * formula
    assert scratch.bytes_read <= 2 * 2 * formula
    scratch.close()
