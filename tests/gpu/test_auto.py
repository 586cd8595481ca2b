"""The persistent kernel, levels over bitmaps and the search that chooses among them give the naive distances,
whichever way they are made to go; and the direction table says what its measurements say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.gpu.measured_bfs import LevelRecord, MeasuredBfs
from bench.gpu.tables import read_table, table_from_measurements, text_of
from emdiam.errors import InputError
from emdiam.gpu.bfs_auto import PersistentLevels, bfs_auto, bfs_persistent
from emdiam.gpu.bfs_whole import WholeBfs, bfs_whole
from emdiam.gpu.device import Device
from emdiam.gpu.direction_table import PERSISTENT, TABLE, DirectionTable, LevelSize, Rule, usual_table
from emdiam.gpu.kernel_file import start_distances
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.variants.bfs_directions import bfs_direction_optimizing
from emdiam.gpu.variants.registry import find_variant
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(24)

FOREVER = 1e30
UP = DirectionTable(FOREVER, FOREVER, (Rule("threads"),))
# Every switch: one way only, to and fro at once, and in between.
WAYS: Mapping[str, DirectionTable] = {
    "persistent": DirectionTable(0, 1, (Rule(PERSISTENT),)),
    "up": UP,
    "up-and-down": DirectionTable(FOREVER, 0, (Rule("two-phase"),)),
    "tiny-limits": DirectionTable(
        2, 4, (Rule(PERSISTENT, most_rows=0.5), Rule(PERSISTENT, most_rows=2), Rule("threads"))),
    "persistent-and-up": DirectionTable(FOREVER, 2, (Rule(PERSISTENT, most_rows=1), Rule("multi-phase"))),
    "by-rows": DirectionTable(
        0, 1, (Rule("threads", most_rows=3), Rule("cta-warp-scan", most_mean=4), Rule("warp-search"))),
    **{name: DirectionTable(0, 1, (Rule(name),)) for name in MAPPINGS},
}


def hub_and_tail(leaves: int) -> naive.Graph:
    """A path whose end is the last neighbour of a hub, with vertices without arcs among the others."""
    edges = [(0, v) for v in range(1, leaves + 1)] + [(v, v + 1) for v in range(leaves + 20, leaves + 40)]
    return naive.graph_of(leaves + 45, [*edges, (leaves, leaves + 20)])


def shapes() -> dict[str, naive.Graph]:
    """Odd graphs, rows and frontiers on both sides of every limit of the kernels, and ends of bitmaps."""
    kronecker = np.random.default_rng(5).zipf(1.6, (600, 2)) % 300
    return {
        **odd_graphs(), "hub-and-tail": hub_and_tail(90), "huge-hub": hub_and_tail(700),
        "word": naive.graph_of(32, nx.path_graph(32).edges),
        "word-and-one": naive.graph_of(33, nx.cycle_graph(33).edges),
        "skewed": naive.graph_of(300, kronecker.tolist()),
        "square": naive.graph_of(400, nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20)).edges),
        "wide": naive.graph_of(1300, [(0, v) for v in range(1, 640)] + [(v, v + 640) for v in range(1, 640)]),
        # Device graphs need not be simple: loops and repeated neighbours.
        "loops": [[0, 1, 1, 2], [0, 0, 2, 1], [0, 1, 2, 2], [], [4]],
    }


SHAPES = shapes()
FEW = ("one", "no-edges", "clique-and-path", "clique", "hub-and-tail", "word-and-one", "skewed", "loops")


def open_small(name: str, way: str) -> Device:
    """A device that is no larger than the way needs: dynamic warps fill all of it."""
    return open_device(name, n_sms=1 if way == "dynamic-warps" else 2)


def check_auto(device: Device, graph: naive.Graph, sources: Sequence[int], table: DirectionTable, ids: type = np.uint32,
               **options: Any) -> MeasuredBfs:
    """One AutoBfs on several sources against the naive distances."""
    search = MeasuredBfs(device, device_graph(device, graph, ids), table=table, block=64, **options)
    for source in sources:
        distances, levels, complete = search.run(source)
        want = naive.distances(graph, source)
        assert plain_distances(device.to_host(distances)) == want
        assert (levels, complete) == (max(want), True)
    return search


def check_persistent(device: Device, graph: naive.Graph, source: int, ids: type = np.uint32, **options: Any) -> None:
    """bfs_persistent against the naive distances."""
    distances, levels = bfs_persistent(device, device_graph(device, graph, ids), source, **options)
    want = naive.distances(graph, source)
    assert plain_distances(device.to_host(distances)) == want
    assert levels == max(want)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("solo", [0, 3, None])
def test_persistent_on_odd_graphs(solo: int | None, name: str) -> None:
    """All levels by the grid, all by one block, and both in turn."""
    device = open_device(name, n_sms=3)
    for graph in SHAPES.values():
        check_persistent(device, graph, len(graph) - 1, block=64, solo=solo)


def test_persistent_with_wide_ids_and_large_blocks() -> None:
    """A frontier that is longer than the slots of one block; blocks up to the largest."""
    for seed, block in zip(SEEDS, (32, 96, 256, None), strict=True):
        for shape in ("wide", "huge-hub", "skewed"):
            check_persistent(open_device(f"shim-{seed}"), SHAPES[shape], 0, np.uint64, block=block, solo=2000)


@settings(max_examples=30, deadline=None)
@given(graphs(most=128), st.sampled_from(SEEDS), st.sampled_from([0, 1, 2, 10, 100]), st.data())
def test_persistent_on_random_graphs(graph: naive.Graph, seed: int, solo: int, data: st.DataObject) -> None:
    source, radius = data.draw(st.integers(0, len(graph) - 1)), data.draw(st.integers(0, 9))
    device = open_device(f"shim-{seed}")
    check_persistent(device, graph, source, block=32, solo=solo)
    near, levels = bfs_persistent(device, device_graph(device, graph), source, 32, radius, solo)
    want = [d if d <= radius else -1 for d in naive.distances(graph, source)]
    assert (plain_distances(device.to_host(near)), levels) == (want, max(want))


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("most, solo", [(1, 0), (1, 9), (4, 2), (12, 5), (12, 0)])
def test_persistent_hands_back_a_large_frontier(most: int, solo: int, name: str) -> None:
    """It stops right behind the first level of more than `most` vertices, with that level in its queue, and goes
    on from there."""
    device = open_device(name, n_sms=3)
    for shape in ("square", "hub-and-tail", "tree", "path"):
        graph, source = SHAPES[shape], 7
        on_device, want = device_graph(device, graph), naive.distances(graph, source)
        sizes = [want.count(d) for d in range(max(want) + 2)]
        stop = next((d for d, size in enumerate(sizes) if size > most), len(sizes) - 1)
        levels = PersistentLevels(device, on_device, 32, solo)
        distances = start_distances(device, len(graph), source)
        queues = (device.empty(len(graph), np.uint32), device.empty(len(graph), np.uint32))
        device.fill(queues[0][:1], source)
        end = levels.run(queues, distances, (1, 0), most)
        arcs = sum(len(graph[v]) for v, d in enumerate(want) if 0 <= d < stop)
        assert (end.size, end.level, end.arcs) == (sizes[stop], stop, arcs)
        frontier = device.to_host(queues[stop % 2][: end.size])
        assert sorted(frontier.tolist()) == [v for v, d in enumerate(want) if d == stop]
        levels.run(queues, distances, (end.size, end.level))
        assert plain_distances(device.to_host(distances)) == want


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_on_odd_graphs(way: str, name: str) -> None:
    """Several sources on one search, so that nothing is left over from the one before."""
    for shape in FEW:
        n = len(SHAPES[shape])
        check_auto(open_small(name, way), SHAPES[shape], (n - 1, n // 2), WAYS[way])


@pytest.mark.parametrize("way", ["persistent", "up", "up-and-down", "tiny-limits", "persistent-and-up"])
def test_ways_on_all_shapes(way: str) -> None:
    for number, (shape, graph) in enumerate(SHAPES.items()):
        if shape == "path" and "up" in way:
            continue  # 300 passes over all vertices show no more than those of two-paths
        check_auto(open_device(f"shim-{number % 4}"), graph, (len(graph) - 1, 0), WAYS[way])


@settings(max_examples=25, deadline=None)
@given(graphs(most=128), st.sampled_from(sorted(WAYS)), st.sampled_from(SEEDS), st.booleans(), st.data())
def test_every_way_on_random_graphs(graph: naive.Graph, way: str, seed: int, wide: bool, data: st.DataObject) -> None:
    """Wide ids not with every mapping, each of which is one more build; other tests have those."""
    ids = np.uint64 if wide and way not in MAPPINGS else np.uint32
    sources = data.draw(st.lists(st.integers(0, len(graph) - 1), min_size=1, max_size=3))
    check_auto(open_small(f"shim-{seed}", way), graph, sources, WAYS[way], ids)


@pytest.mark.parametrize("way", WAYS)
def test_radius(way: str) -> None:
    """Distances up to it alone; complete exactly where the frontier ran empty before it."""
    device = open_small("shim-2", way)
    for shape in ("two-paths", "clique", "one", "hub-and-tail"):
        graph = SHAPES[shape]
        source = 3 % len(graph)
        search, want = MeasuredBfs(device, device_graph(device, graph), table=WAYS[way]), naive.distances(graph, source)
        for radius in (0, 1, 2, max(want), max(want) + 1):
            distances, levels, complete = search.run(source, radius)
            assert plain_distances(device.to_host(distances)) == [d if d <= radius else -1 for d in want]
            assert (levels, complete) == (min(radius, max(want)), radius > max(want))


def looked_upwards(graph: naive.Graph, dist: Sequence[int], level: int) -> int:
    """Arcs that bottom-up looks at: four at once, up to four times, then 128 at once."""
    looked = 0
    for v, row in enumerate(graph):
        if 0 <= dist[v] <= level:
            continue
        at = 0
        while at < len(row):
            batch = row[at : at + (4 if at < 16 else 128)]
            at += len(batch)
            looked += len(batch)
            if any(dist[w] == level for w in batch):
                break
    return looked


def expected_record(graph: naive.Graph, dist: Sequence[int], seen: LevelRecord) -> LevelRecord:
    """The same record, with the figures that follow from the graph."""
    levels = range(seen.level, seen.level + seen.levels)
    arcs = sum(len(graph[v]) for v, d in enumerate(dist) if d in levels)
    looked = looked_upwards(graph, dist, seen.level) if seen.direction == "bottom-up" else arcs
    return replace(seen, rows=list(dist).count(seen.level), arcs=arcs, looked=looked)


@pytest.mark.parametrize("way", WAYS)
def test_records(way: str) -> None:
    """Steps follow one another, with sizes and arcs as the graph has them."""
    for shape in ("clique", "tree", "hub-and-tail", "skewed", "one"):
        graph = SHAPES[shape]
        source = len(graph) - 6 if shape.endswith("hub") else 1 % len(graph)
        search = check_auto(open_small("shim-3", way), graph, (0, source), WAYS[way])
        dist = naive.distances(graph, source)
        assert search.records == [expected_record(graph, dist, record) for record in search.records]
        assert [record.level for record in search.records] == np.cumsum(
            [0, *(record.levels for record in search.records)])[:-1].tolist()
        assert sum(record.levels for record in search.records) == max(dist) + 1
        assert all(record.seconds >= 0 for record in search.records)
        assert {record.mapping for record in search.records} <= {"", *(rule.way for rule in WAYS[way].rules)}
        assert all(bool(record.mapping) == (record.direction == "top-down") for record in search.records)


def test_records_tell_the_way_that_was_forced() -> None:
    """Each way shows as it was asked for; without measuring there are no records."""
    want = {"persistent": {("persistent", "")}, "up": {("bottom-up", "")}, "two-phase": {("top-down", "two-phase")},
            "up-and-down": {("bottom-up", ""), ("top-down", "two-phase")},
            "persistent-and-up": {("bottom-up", ""), ("persistent", ""), ("top-down", "multi-phase")}}
    device, graph = open_device("shim-1"), SHAPES["square"]
    for way, pairs in want.items():
        search = check_auto(device, graph, (0,), WAYS[way])
        assert {(record.direction, record.mapping) for record in search.records} <= pairs
        assert {record.direction for record in search.records} >= {sorted(pairs)[0][0]}


@pytest.mark.parametrize("way", ["threads", "persistent"])
def test_a_vertex_that_many_find_at_once_is_queued_once(way: str) -> None:
    """64 vertices with the same 64 neighbours: with a look alone, several threads would claim each."""
    graph = naive.graph_of(193, [(0, v) for v in range(1, 65)] + [(v, w) for v in range(1, 65) for w in range(65, 129)]
                           + [(v, v + 64) for v in range(65, 129)])
    for seed in range(2, 14):
        search = check_auto(open_device(f"shim-{seed}"), graph, (0,), WAYS[way])
        assert sum(record.arcs for record in search.records) == sum(map(len, graph))
        assert way == "persistent" or [record.rows for record in search.records] == [1, 64, 64, 64]


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_fixed_mapping_takes_the_place_of_those_of_the_table(mapping: str) -> None:
    mapping = "virtual-warps:lanes=2" if mapping == "virtual-warps" else mapping
    table = DirectionTable(0, 1, (Rule(PERSISTENT, most_rows=1), Rule("warp-search")))
    search = check_auto(open_small("shim-2", mapping), SHAPES["tree"], (0, 7), table, mapping=mapping)
    assert {record.mapping for record in search.records} == {"", mapping}


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("turning", [(0, 1), (2, 4), (FOREVER, 1)])
def test_direction_optimizing_with_mappings(mapping: str, turning: tuple[float, float]) -> None:
    for seed, shape in zip((0, 1, 2, 3, 2), ("no-edges", "two-paths", "hub-and-tail", "skewed", "loops"), strict=True):
        device, graph = open_device(f"shim-{seed}"), SHAPES[shape]
        on_device = device_graph(device, graph)
        distances, levels = bfs_direction_optimizing(device, on_device, 1, 64, mapping, *turning)
        want = naive.distances(graph, 1)
        assert (plain_distances(device.to_host(distances)), levels) == (want, max(want))


def test_the_catalogue_has_them() -> None:
    device, graph = open_device("shim-0"), SHAPES["hub-and-tail"]
    on_device, want = device_graph(device, graph), naive.distances(graph, 2)
    for name, options in (("persistent", {}), ("auto", {}), ("by-level", {}), ("by-level", {"mapping": "threads"}),
                          ("auto", {"search": WholeBfs(device, on_device)}), ("by-level", {"mapping": "virtual-warps"}),
                          ("direction-optimizing", {"mapping": "two-phase"})):
        distances, levels = find_variant(name)[0].run(device, on_device, 2, block=None, **options)
        assert (plain_distances(device.to_host(distances)), levels) == (want, max(want))
    assert bfs_auto(device, on_device, 2, 32)[1] == max(want)


def test_what_cannot_be_is_refused() -> None:
    device = open_device("shim-0")
    graph = device_graph(device, [[1], [0]])
    for block in (0, 33, 544):
        with pytest.raises(InputError, match="a block has no"):
            bfs_persistent(device, graph, 0, block)
        with pytest.raises(InputError, match="a block has no"):
            bfs_whole(device, graph, 0, block)
    for run in (bfs_auto, bfs_direction_optimizing):
        with pytest.raises(InputError, match="choose from: threads"):
            run(device, graph, 0, mapping="nothing")


def test_every_rule_of_the_table_can_be_reached() -> None:
    """And the table of the package is one that is read."""
    table = usual_table()
    assert table == read_table()
    sizes = [2**k for k in range(28)]
    found = {table.choose(rows, rows * mean // 2, largest)
             for rows in sizes for mean in (1, 2, 8, 16, 64, 256, 4096) for largest in (4, 100, 10**4, 10**7)}
    assert found == set(table.rules)
    assert table.rules[0].way == PERSISTENT and all(rule.why for rule in table.rules)
    assert "papers/004" in table.measured


def test_the_text_of_a_table_is_read_as_it_was(tmp_path: Path) -> None:
    for table in (read_table(), *WAYS.values()):
        if table.rules[-1].way == PERSISTENT:
            continue
        file = tmp_path / "table.json"
        file.write_text(text_of(table))
        assert read_table(file) == table


@pytest.mark.parametrize("change, message", [
    ({"rules": []}, "a list of rules"), ({"rules": [{"way": "nothing"}]}, "no way that there is"),
    ({"rules": [{"way": PERSISTENT}]}, "mapping without limits"), ({"alpha": None}, "alpha of a direction table"),
    ({"rules": [{"way": "threads", "most_rows": 3}]}, "mapping without limits"),
    ({"beta": -1}, "beta of a direction table"), ({"beta": True}, "beta of a direction table"),
    ({"rules": [{"way": "threads", "most_mean": "x"}]}, "most_mean of a direction table"),
    ({"rules": [{"way": "threads", "least_rows": 3}]}, "a limit that there is not"),
    ({"alpha": float("nan")}, "alpha of a direction table")])
def test_a_table_that_cannot_be_is_refused(change: Mapping[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_text(json.dumps({**json.loads(TABLE.read_text()), **change}))
    with pytest.raises(InputError, match=message):
        read_table(file)


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    for text in (None, "{", "[]"):
        if text is not None:
            file.write_text(text)
        with pytest.raises(InputError, match="direction table"):
            read_table(file)


def test_the_table_of_made_up_measurements() -> None:
    """10 and 1,000 rows, of 2 and 32 arcs: bounds at the geometric means 100 and 8."""
    fastest = {(10, 2): PERSISTENT, (10, 32): PERSISTENT, (1000, 2): "threads", (1000, 32): "two-phase"}
    seconds = {(way, *cell): 1e-6 if fastest[cell] == way else 2e-6
               for cell in fastest for way in (PERSISTENT, "threads", "two-phase")}
    made = table_from_measurements(seconds, "made up", 3, 5)
    assert [(rule.way, rule.most_rows, rule.most_mean) for rule in made.rules] == [
        (PERSISTENT, 100, None), ("threads", None, 8), ("two-phase", None, None)]
    assert (made.alpha, made.beta, made.measured) == (3, 5, "made up")
    for (rows, mean), way in fastest.items():
        assert made.choose(rows, rows * mean, 10**9).way == way


@given(st.dictionaries(st.tuples(st.sampled_from(sorted(MAPPINGS)), st.sampled_from([1, 9, 80, 700]),
                                 st.sampled_from([1, 6, 50])), st.integers(1, 1000), min_size=1))
def test_each_measured_level_goes_its_fastest_way(seconds: dict[tuple[str, int, int], int]) -> None:
    made = table_from_measurements({key: float(time) for key, time in seconds.items()}, "random")
    for _, rows, mean in seconds:
        times = {way: time for (way, *cell), time in seconds.items() if cell == [rows, mean]}
        assert times[made.choose(rows, rows * mean, 5).way] == min(times.values())


def test_measurements_that_give_no_table_are_refused() -> None:
    for seconds, message in (({}, "needs measurements"), ({("nothing", 1, 1): 1.0}, "of known ways"),
                             ({(PERSISTENT, 1, 1): 1.0}, "fastest in the persistent")):
        with pytest.raises(InputError, match=message):
            table_from_measurements(seconds, "none")


def test_the_rule_of_turning() -> None:
    """alpha 2, beta 4: up with more than half of the arcs left, down below a quarter of the vertices."""
    table = DirectionTable(2, 4, (Rule("threads"),))
    cases = [((False, 10, 51, 5, 100), True), ((False, 10, 50, 5, 100), False), ((False, 5, 51, 10, 100), False),
             ((True, 24, 1, 30, 100), False), ((True, 25, 1, 30, 100), True), ((True, 24, 1, 20, 100), True)]
    for (upwards, rows, arcs, before, left), want in cases:
        assert table.upwards(upwards, LevelSize(rows, arcs, before, left, 100)) == want
