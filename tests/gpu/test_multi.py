"""Multi-source BFS on a device against the naive distances, under every order of threads."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.multi_source import UNREACHED, MultiSource, WholeBatch, WideBatch, words_for
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(6)

SHIMS = tuple(f"shim-{seed}" for seed in SEEDS)
# Pushed levels only, pulled levels only, and by the rule.
COSTS = (0.0, float("inf"), 2.0)
MULTIGRAPH = [[0, 1, 1], [0, 0, 2, 1], [1, 2, 2], []]


def hub_and_tail() -> naive.Graph:
    """A row that a warp pulls in several rounds, one of its length less, empty rows, and a path."""
    edges = [(0, v) for v in range(1, 420)] + [(1, v) for v in range(2, 65)]
    return naive.graph_of(440, edges + [(v, v + 1) for v in range(425, 432)] + [(419, 425)])


ODD = odd_graphs()
LONG = hub_and_tail()
KNOWN_LONG = [naive.distances(LONG, v) for v in range(len(LONG))]
SMALL = [ODD[name] for name in ("one", "no-edges", "edge", "cycle", "clique", "hypercube", "two-paths", "tree")]


def bitmap_of(n: int, vertices: set[int]) -> np.ndarray:
    bits = np.zeros((n + 63) // 64, np.uint64)
    for v in vertices:
        bits[v >> 6] |= np.uint64(1 << (v & 63))
    return bits


def unreached(device: Device, n: int) -> DeviceArray:
    column = device.empty(n, np.uint32)
    device.fill(column, UNREACHED)
    return column


def check_columns(multi: MultiSource | WholeBatch, sources: list[int], want: list[list[int]], *,
                  together: bool) -> None:
    """Eccentricities and distances, into one vector or one for each source."""
    device, n, k = multi.device, len(want[0]), len(sources)
    if together:
        columns = unreached(device, n * k)
        found = multi.run(np.array(sources), columns=columns)
        values = [plain_distances(part) for part in np.split(device.to_host(columns), k)]
    else:
        several = [unreached(device, n) for _ in sources]
        found = multi.run(np.array(sources), columns=several)
        values = [plain_distances(device.to_host(column)) for column in several]
    assert found.dtype == np.int32 and found.tolist() == [max(d) for d in want]
    assert values == want


def check(multi: MultiSource | WholeBatch, graph: naive.Graph, sources: list[int], targets: set[int]) -> None:
    """One batch with columns, one without, and one that stops at targets, as the engine's protocol has them."""
    known = {v: naive.distances(graph, v) for v in set(sources)}
    want = [known[v] for v in sources]
    check_columns(multi, sources, want, together=len(sources) % 2 == 0)
    assert multi.run(np.array(sources)).tolist() == [max(d) for d in want]
    stopped = multi.run(np.array(sources), bitmap_of(len(graph), targets)).tolist()
    last = max((d[t] for t in targets for d in want), default=0)
    unreachable = any(d[t] < 0 for t in targets for d in want)
    assert stopped == [max(d) if unreachable else min(max(d), last) for d in want]


def some(rng: random.Random, graph: naive.Graph, k: int) -> list[int]:
    return [rng.randrange(len(graph)) for _ in range(k)]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("cost", COSTS)
def test_odd_graphs(name: str, cost: float) -> None:
    """One word and several, with one set of buffers for batches of all sizes."""
    device, rng = open_device(name), random.Random(5)
    for graph in SMALL:
        multi = MultiSource(device, device_graph(device, graph), block=32, push_cost=cost)
        for k in (rng.randint(65, 80), rng.randint(1, 64)):
            check(multi, graph, some(rng, graph, k), set(some(rng, graph, rng.randint(1, 4))))


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("wide_row", [2, 1024])
def test_odd_graphs_in_one_launch(name: str, cost: float, wide_row: int) -> None:
    device, rng = open_device(name), random.Random(5)
    for number, graph in enumerate((*SMALL, LONG)):
        batch = WholeBatch(device, device_graph(device, graph), cost, 64, wide_row)
        for k in (rng.randint(65, 128), rng.randint(1, 64))[number % 2 :]:
            check(batch, graph, some(rng, graph, k), set(some(rng, graph, rng.randint(1, 4))))


@settings(max_examples=15, deadline=None)
@given(graphs(most=60), st.sampled_from(SHIMS), st.sampled_from(COSTS), st.sampled_from([2, 1024]),
       st.integers(1, 128), st.integers(0, 1 << 32))
def test_random_graphs_in_one_launch(graph: naive.Graph, name: str, cost: float, wide_row: int, k: int,
                                     seed: int) -> None:
    device, rng = open_device(name), random.Random(seed)
    batch = WholeBatch(device, device_graph(device, graph), cost, 32, wide_row)
    check(batch, graph, some(rng, graph, k), set(some(rng, graph, rng.randint(1, 4))))


@pytest.mark.slow
def test_wide_ids_and_many_words_in_one_launch() -> None:
    device, rng = open_device("shim-3"), random.Random(9)
    for dtype, k in ((np.uint64, 40), (np.uint64, 70), (np.uint32, 200), (np.uint32, 512)):
        check(WholeBatch(device, device_graph(device, LONG, dtype)), LONG, some(rng, LONG, k), {0, 431})


def test_marks_are_made_anew_before_they_run_out() -> None:
    device = open_device("shim-2")
    batch = WholeBatch(device, device_graph(device, LONG))
    batch._epoch = UNREACHED - len(LONG) - 1
    for source in (0, 431, 5):
        assert batch.run(np.array([source])).tolist() == [max(KNOWN_LONG[source])]
    assert batch._epoch < 100


@settings(max_examples=12, deadline=None)
@given(graphs(most=60), st.sampled_from(SHIMS), st.sampled_from(COSTS), st.sampled_from(["threads", "two-phase"]),
       st.integers(1, 150), st.integers(0, 1 << 32))
def test_random_graphs(graph: naive.Graph, name: str, cost: float, mapping: str, k: int, seed: int) -> None:
    device, rng = open_device(name), random.Random(seed)
    multi = MultiSource(device, device_graph(device, graph), mapping, 32, push_cost=cost)
    check(multi, graph, some(rng, graph, k), set(some(rng, graph, rng.randint(1, 4))))


@pytest.mark.parametrize("name", DEVICES)
def test_long_rows(name: str) -> None:
    """Rows pulled by a warp, for 1, 2, 4 and 8 words: all bits early, late, and never there."""
    device, graph, rng = open_device(name), LONG, random.Random(3)
    for k in (3, 100, 200, 400):
        multi = MultiSource(device, device_graph(device, graph), block=64, push_cost=float("inf"))
        sources = some(rng, graph, k)
        want = [KNOWN_LONG[v] for v in sources]
        assert multi.run(np.array(sources)).tolist() == [max(d) for d in want]
    check_columns(multi, sources, want, together=True)


@pytest.mark.thin(9, sampled=("mapping",))
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_every_mapping(mapping: str) -> None:
    """Wide ids, 1 and 2 words, and rows that are deferred."""
    device, graph, rng = open_device("shim-2"), LONG, random.Random(1)
    text = "dynamic-warps:big-row=16" if mapping == "dynamic-warps" else mapping
    multi = MultiSource(device, device_graph(device, graph, np.uint64), text, 64, push_cost=0)
    for k in (5, 70):
        check(multi, graph, some(rng, graph, k), {0, 431})
    assert multi.pushed and not multi.pulled


@pytest.mark.parametrize("name", SHIMS)
def test_loops_and_repeated_neighbours(name: str) -> None:
    device = open_device(name)
    for cost in COSTS:
        multi = MultiSource(device, device_graph(device, MULTIGRAPH), push_cost=cost)
        check(multi, MULTIGRAPH, [0, 3, 2, 2, 0], {1, 2})


def test_the_rule_takes_both_directions() -> None:
    """A clique on a path: pushed on the path, pulled where most vertices are left and the frontier is large."""
    device, graph = open_device("shim-0"), naive.graph_of(80, nx.lollipop_graph(50, 30).edges)
    multi = MultiSource(device, device_graph(device, graph))
    check(multi, graph, list(range(40)), {79})
    assert multi.pushed and multi.pulled


def directions(graph: naive.Graph, sources: list[int], cost: float) -> tuple[int, int]:
    """Levels that are pushed and pulled, from all distances."""
    from_each = [naive.distances(graph, v) for v in sources]
    taken = [0, 0]
    for level in range(max(map(max, from_each)) + 1):
        front = [v for v in range(len(graph)) if any(d[v] == level for d in from_each)]
        left = [v for v in range(len(graph)) if not all(0 <= d[v] <= level for d in from_each)]
        arcs = sum(len(graph[v]) for v in front)
        taken[sum(len(graph[v]) for v in left) + len(graph) < cost * arcs] += 1
    return taken[0], taken[1]


@pytest.mark.parametrize("sources", [[0], [0, 30], [0] * 64 + [59], [59] * 130 + [20]])
def test_the_rule_counts_arcs(sources: list[int]) -> None:
    """Arcs of vertices that lack a bit of any word, against those of the frontier."""
    device, graph = open_device("shim-0"), naive.graph_of(60, nx.path_graph(60).edges)
    multi = MultiSource(device, device_graph(device, graph), "threads", 32, push_cost=40)
    assert max(multi.run(np.array(sources))) == 59
    assert (multi.pushed, multi.pulled) == directions(graph, sources, 40)
    assert multi.pushed and multi.pulled


def test_targets_stop_early() -> None:
    """As many levels as the farthest target is away from its farthest source; none for no target."""
    device, graph = open_device("shim-1"), naive.graph_of(60, nx.path_graph(60).edges)
    multi = MultiSource(device, device_graph(device, graph), push_cost=0)
    assert multi.run(np.array([0, 4]), bitmap_of(60, {7, 2})).tolist() == [7, 7]
    assert multi.pushed == 7
    assert multi.run(np.array([0, 4]), bitmap_of(60, set())).tolist() == [0, 0]
    assert multi.run(np.array([4, 4]), bitmap_of(60, {4})).tolist() == [0, 0]
    assert multi.pushed == 7
    # What a stopped batch leaves in the buffers is no part of the next.
    assert multi.run(np.array([30])).tolist() == [30]


def test_marks_survive_their_last_epoch() -> None:
    device, graph = open_device("shim-0"), naive.graph_of(9, nx.path_graph(9).edges)
    multi = MultiSource(device, device_graph(device, graph), push_cost=0)
    multi.run(np.array([0]))
    multi._epoch = UNREACHED - 3
    check(multi, graph, [0, 8], {3})
    assert multi._epoch < 60


def test_the_most_sources() -> None:
    device, graph = open_device("shim-3"), naive.graph_of(20, nx.cycle_graph(20).edges)
    multi = MultiSource(device, device_graph(device, graph))
    check(multi, graph, [v % 20 for v in range(512)], {0})
    assert [words_for(k) for k in (1, 64, 65, 128, 129, 256, 257, 512)] == [1, 1, 2, 2, 4, 4, 8, 8]


def test_what_cannot_be_is_refused() -> None:
    device = open_device("shim-0")
    graph = device_graph(device, naive.graph_of(3, [(0, 1)]))
    multi = MultiSource(device, graph)
    for sources in ([], [0] * 513):
        with pytest.raises(ValueError, match="sources in a batch"):
            multi.run(np.array(sources, np.int64))
    for sources in ([3], [-1, 0]):
        with pytest.raises(ValueError, match="a source is no vertex"):
            multi.run(np.array(sources))
    for targets in (np.zeros(2, np.uint64), np.zeros(1, np.int64)):
        with pytest.raises(ValueError, match="targets of 3 vertices"):
            multi.run(np.array([0]), targets)
    for columns in ([], [device.empty(4, np.uint32)], [device.empty(3, np.uint64)], device.empty(6, np.uint32)):
        with pytest.raises(ValueError, match="columns of 1 sources"):
            multi.run(np.array([0]), columns=columns)
    with pytest.raises(InputError, match="no such load balancing"):
        MultiSource(device, graph, "nothing")


# -- wide batches -------------------------------------------------------------------------------------------
def check_wide(device: Device, graph: naive.Graph, sources: list[int], dtype: type = np.uint32, *,
               block: int | None = 64, wide_row: int = 1024) -> None:
    batch = WideBatch(device, device_graph(device, graph, dtype), block, wide_row)
    known = {v: max(naive.distances(graph, v)) for v in set(sources)}
    for some_of_them in (sources, sources[:1], sources):  # the second leaves nothing behind for the third
        found = batch.run(np.array(some_of_them))
        assert found.dtype == np.int32 and found.tolist() == [known[v] for v in some_of_them]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("wide_row", [2, 1024])
def test_wide_batches_of_odd_graphs(name: str, wide_row: int) -> None:
    rng = random.Random(7)
    for graph in (*SMALL, LONG, MULTIGRAPH):
        check_wide(open_device(name), graph, some(rng, graph, rng.randint(2, 90)), wide_row=wide_row)


@settings(max_examples=10, deadline=None)
@given(graphs(most=60), st.sampled_from(SHIMS), st.sampled_from([1, 3, 1024]), st.integers(1, 2048),
       st.sampled_from([32, 96, 256]), st.sampled_from([np.uint32, np.uint64]), st.integers(0, 1 << 32))
def test_wide_batches_of_random_graphs(graph: naive.Graph, name: str, wide_row: int, k: int, block: int, dtype: type,
                                       seed: int) -> None:
    check_wide(open_device(name), graph, some(random.Random(seed), graph, k), dtype, block=block, wide_row=wide_row)


@pytest.mark.parametrize("k", [512, 513, 1024, 1025, 2048])
def test_wide_batches_of_a_random_regular_graph(k: int) -> None:
    """Every width, full and not, over several blocks; also a component that the others do not meet."""
    shape = nx.random_regular_graph(4, 96, 3)
    graph = naive.graph_of(110, [*shape.edges, *((100 + v, 101 + v) for v in range(7))])
    check_wide(open_device("shim-3"), graph, [(7 * v) % 110 for v in range(k)])


@pytest.mark.parametrize("name", SHIMS)
def test_a_grid_of_fewer_threads_than_there_are_counts(name: str) -> None:
    device = open_device(name)
    graph = device_graph(device, [[]])
    for batch, k in ((WholeBatch(device, graph, block=32), 512), (WideBatch(device, graph, 32), 2048)):
        assert not batch.run(np.zeros(k, np.int64)).any()


def test_a_wide_batch_is_one_launch() -> None:
    device = open_device("shim-0")
    batch = WideBatch(device, device_graph(device, LONG))
    before = device.launches  # type: ignore[attr-defined]
    batch.run(np.arange(len(LONG)))
    assert device.launches == before + 1  # type: ignore[attr-defined]
    for sources in ([], [0] * 2049):
        with pytest.raises(ValueError, match=r"sources in a batch \(1 to 2048\)"):
            batch.run(np.array(sources, np.int64))
    with pytest.raises(ValueError, match="a source is no vertex"):
        batch.run(np.array([len(LONG)]))
