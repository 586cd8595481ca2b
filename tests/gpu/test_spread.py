"""Spread on a device against the naive twin, under every order of threads."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.gpu.device import Device
from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.spread import UNREACHED, Spreader, WholeSpread
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(3)

SHIMS = tuple(f"shim-{seed}" for seed in SEEDS)
ODD = odd_graphs()
SMALL = [ODD[name] for name in ("one", "no-edges", "edge", "cycle", "clique", "torus", "two-paths", "tree")]
STAR = naive.graph_of(300, [(7, v) for v in range(290) if v != 7] + [(v, v + 1) for v in range(290, 299)])
Bounds = list[int | None]
# A launch a value, and one launch for all; the second also with rows of three arcs put aside.
KINDS: dict[str, Callable[[Device, DeviceGraph], Spreader | WholeSpread]] = {
    "values": partial(Spreader, block=32), "whole": WholeSpread,
    "whole-wide": partial(WholeSpread, block=64, wide_row=2)}
each_kind = pytest.mark.parametrize("kind", KINDS)


def least(*columns: Bounds) -> Bounds:
    """Entry by entry the smallest bound, where there is one."""
    return [min((b for b in entry if b is not None), default=None) for entry in zip(*columns, strict=True)]


def grown(graph: naive.Graph, bounds: Bounds, old: int, new: int) -> Bounds:
    """What extending from `old` to `new` gives."""
    seeds = [v for v, b in enumerate(bounds) if b == old]
    return least(bounds, naive.spread(graph, seeds, [old] * len(seeds), new))


class Column:
    """A column on the device beside what it should be. It counts what the twin says was lowered."""

    def __init__(self, spreader: Spreader | WholeSpread, graph: naive.Graph) -> None:
        self.spreader, self.graph = spreader, graph
        self.device: Device = spreader.device
        self.want: Bounds = [None] * len(graph)
        self.bound = self.device.empty(len(graph), np.uint32)
        self.device.fill(self.bound, UNREACHED)

    def _check(self, lowered: int, want: Bounds) -> None:
        assert plain_distances(self.device.to_host(self.bound)) == [-1 if b is None else b for b in want]
        assert lowered == sum(a != b for a, b in zip(self.want, want, strict=True))
        self.want = want

    def spread(self, seeds: list[int], values: list[int], limit: int) -> None:
        lowered = self.spreader.spread(self.bound, np.array(seeds, np.int64), np.array(values, np.int64), limit)
        self._check(lowered, least(self.want, naive.spread(self.graph, seeds, values, limit)))

    def extend(self, old: int, new: int) -> None:
        self._check(self.spreader.extend(self.bound, old, new), grown(self.graph, self.want, old, new))

    def put(self, vertex: int, value: int) -> None:
        self.device.fill(self.bound[vertex : vertex + 1], value)
        self.want[vertex] = value


def check(spreader: Spreader | WholeSpread, graph: naive.Graph, rng: random.Random) -> None:
    """Two spreads to one limit, an extension, and one more spread to the new limit."""
    column, limit = Column(spreader, graph), rng.randint(0, 9)
    for more in (0, 0, 4):
        seeds = [rng.randrange(len(graph)) for _ in range(rng.randint(0, 6))]
        if more:
            column.extend(limit, limit + more)
        column.spread(seeds, [rng.randint(0, 14) for _ in seeds], limit + more)


@each_kind
@pytest.mark.parametrize("name", DEVICES)
def test_odd_graphs(name: str, kind: str) -> None:
    device, rng = open_device(name), random.Random(11)
    for graph in SMALL:
        spreader = KINDS[kind](device, device_graph(device, graph))
        for _ in range(2):
            check(spreader, graph, rng)


@settings(max_examples=15, deadline=None)
@given(graphs(most=60), st.sampled_from(SHIMS), st.sampled_from(["threads", "two-phase"]), st.sampled_from([32, 64]),
       st.integers(0, 1 << 32))
def test_random_graphs(graph: naive.Graph, name: str, mapping: str, block: int, seed: int) -> None:
    device = open_device(name)
    check(Spreader(device, device_graph(device, graph), mapping, block), graph, random.Random(seed))


@settings(max_examples=15, deadline=None)
@given(graphs(most=60), st.sampled_from(SHIMS), st.sampled_from([2, 1024]), st.sampled_from([32, 64]),
       st.integers(0, 1 << 32))
def test_random_graphs_in_one_launch(graph: naive.Graph, name: str, wide_row: int, block: int, seed: int) -> None:
    device = open_device(name)
    check(WholeSpread(device, device_graph(device, graph), block, wide_row), graph, random.Random(seed))


@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_one_spread_is_one_launch(name: str, dtype: type) -> None:
    """Rows of a lane, of a warp and of the grid; seeds at once and later, and an extension."""
    device = open_device(name, n_sms=3)
    column = Column(WholeSpread(device, device_graph(device, STAR, dtype), 64, 100), STAR)
    for grow in (lambda: column.spread([0, 295, 3], [1, 0, 2], 2), lambda: column.extend(2, 5)):
        before = device.launches  # type: ignore[attr-defined]
        grow()
        assert device.launches == before + 1  # type: ignore[attr-defined]
    assert column.want[8] == 3 and column.want[290] == 5


@pytest.mark.thin(9, sampled=("mapping",))
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_every_mapping(mapping: str) -> None:
    """Wide ids, a row of many blocks, and rows that are deferred."""
    device, text = open_device("shim-3"), "dynamic-warps:big-row=16" if mapping == "dynamic-warps" else mapping
    column = Column(Spreader(device, device_graph(device, STAR, np.uint64), text, 64), STAR)
    column.spread([0, 295], [1, 0], 2)
    column.extend(2, 5)
    column.spread([9], [0], 5)
    assert column.want[8] == 2 and column.want[290] == 5


@each_kind
@pytest.mark.parametrize("name", SHIMS)
def test_many_seeds_at_once(name: str, kind: str) -> None:
    """More seeds than a block has threads, repeats, several values for one vertex, seeds above the limit."""
    device, graph = open_device(name), naive.graph_of(200, nx.path_graph(200).edges)
    column = Column(KINDS[kind](device, device_graph(device, graph)), graph)
    column.spread(list(range(0, 200, 2)), [v % 7 + 1 for v in range(100)], 6)
    column.spread([5, 5, 5, 6], [9, 0, 3, 0], 6)
    column.spread([100], [7], 6)


@pytest.mark.parametrize("name", DEVICES)
def test_many_arcs_into_few_vertices(name: str) -> None:
    """Who of many threads lowers a vertex is one of them, so that it is queued and counted once."""
    device, graph = open_device(name), naive.graph_of(404, nx.complete_bipartite_graph(4, 400).edges)
    for mapping in ("threads", "two-phase"):
        column = Column(Spreader(device, device_graph(device, graph), mapping), graph)
        column.spread(list(range(4, 404)), [0] * 400, 3)
    column = Column(WholeSpread(device, device_graph(device, graph)), graph)
    column.spread(list(range(4, 404)), [0] * 400, 3)


@each_kind
def test_a_seed_that_has_its_bound_grows(kind: str) -> None:
    """A bound put by hand is a seed like any other, and is in the queue once beside what arcs have lowered."""
    device, graph = open_device("shim-1"), naive.graph_of(30, nx.path_graph(30).edges)
    column = Column(KINDS[kind](device, device_graph(device, graph)), graph)
    column.put(20, 3)
    column.spread([18, 20, 19], [2, 3, 3], 6)
    column.spread([2, 4], [3, 5], 6)
    column.extend(6, 8)


@each_kind
def test_far_apart_values(kind: str) -> None:
    """Values between two seeds cost no level."""
    device, graph = open_device("shim-0"), naive.graph_of(12, nx.path_graph(6).edges)
    column = Column(KINDS[kind](device, device_graph(device, graph)), graph)
    column.spread([0, 11, 3], [0, 1_000_000, 4_000_000_000], 4_100_000_000)
    assert column.want[11] == 1_000_000
    column.extend(1_000_000, UNREACHED - 1)


@each_kind
def test_nothing_to_do(kind: str) -> None:
    device, graph = open_device("shim-0"), naive.graph_of(5, [(0, 1)])
    column = Column(KINDS[kind](device, device_graph(device, graph)), graph)
    column.spread([], [], 9)
    column.spread([1], [4], 3)
    column.extend(2, 8)
    column.spread([1], [3], 3)
    column.extend(3, 3)
    column.extend(3, 2)


@each_kind
@pytest.mark.parametrize("name", SHIMS)
def test_loops_and_repeated_neighbours(name: str, kind: str) -> None:
    device, graph = open_device(name), [[0, 1, 1], [0, 0, 2, 1], [1, 2, 2], []]
    column = Column(KINDS[kind](device, device_graph(device, graph)), graph)
    column.spread([2, 2], [1, 1], 8)


@each_kind
def test_what_cannot_be_is_refused(kind: str) -> None:
    device = open_device("shim-0")
    graph = device_graph(device, naive.graph_of(3, [(0, 1)]))
    spreader, bound, one = KINDS[kind](device, graph), device.empty(3, np.uint32), np.array([1])
    with pytest.raises(OverflowError, match="does not fit the bound column"):
        spreader.spread(bound, one, one, UNREACHED)
    with pytest.raises(OverflowError, match="does not fit the bound column"):
        spreader.extend(bound, 0, UNREACHED)
    for wrong in (device.empty(4, np.uint32), device.empty(3, np.uint16)):
        with pytest.raises(ValueError, match="a bound of 3 vertices"):
            spreader.spread(wrong, one, one, 5)
    for seeds, values in (([1], []), ([1], [-1])):
        with pytest.raises(ValueError, match="each seed needs a value"):
            spreader.spread(bound, np.array(seeds), np.array(values, np.int64), 5)
    for seed in (3, -1):
        with pytest.raises(ValueError, match="a seed is no vertex"):
            spreader.spread(bound, np.array([seed]), one, 5)
    with pytest.raises(InputError, match="no such load balancing"):
        Spreader(device, graph, "nothing")
