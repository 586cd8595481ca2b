"""Every BFS variant of the catalogue, with every mapping, gives the naive distances under every order of threads."""

from __future__ import annotations

import importlib
import inspect
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdiam.gpu
from emdiam.errors import InputError
from emdiam.gpu.device import Device
from emdiam.gpu.mappings import DEFERRED_ROWS, MAPPINGS
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.variants.layouts import list_matrix
from emdiam.gpu.variants.registry import VARIANTS, find_variant, named_bfs
from tests.gpu.test_mapping import HUB, SMALL
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import SEEDS, device_graph, open_device, plain_distances

FEW_DEVICES = ("shim-0", "shim-1", "shim-2", "gpu")
# The last ones draw other orders of threads than the tests of single kernels do.
MORE_DEVICES = ("shim-0", "shim-1", "shim-2", "shim-3", "shim-6", "shim-9", "gpu")
# Small frontiers, or levels from below, have ways of their own in these; so every level takes the mapping.
LARGE_LEVELS: Mapping[str, Mapping[str, Any]] = {
    "luo": {"in_block": 0, "in_grid": 0}, "merrill-hybrid": {"limit": 0},
    "direction-optimizing": {"alpha": 0, "beta": 1}}
MAPPED = [name for name, variant in VARIANTS.items() if variant.mapped]
PRODUCT: list[tuple[str, str | None]] = [
    (name, mapping) for name, variant in VARIANTS.items() for mapping in (MAPPINGS if variant.mapped else [None])]
# What random graphs meet: of the mappings the one that the searches of a run take most.
QUICK = [(name, mapping) for name, mapping in PRODUCT if mapping in (None, "two-phase")]
BLOCKS = (32, 64, 96, 256)
LOOPS_AND_REPEATED = [[0, 1, 1, 2], [0, 0, 2, 1], [0, 1, 2, 2], []]


def two_parts_with_hubs(seed: int) -> naive.Graph:
    """Two components of a random tree, a hub and random edges each, and empty rows; at most 128 vertices."""
    draw = random.Random(seed)
    sizes, edges, first = (draw.randint(2, 60), draw.randint(2, 40)), [], 0
    for size in sizes:
        reach, hub = draw.choice((1, 3, size)), first + draw.randrange(size)
        edges += [(first + i, first + draw.randint(max(0, i - reach), i - 1)) for i in range(1, size)]
        edges += [(hub, first + i) for i in range(size) if first + i != hub and draw.random() < 0.6 * (seed % 3)]
        edges += [(first + draw.randrange(size), first + draw.randrange(size)) for _ in range(draw.randint(0, size))]
        first += size
    n = first + draw.randint(1, 28)
    place = draw.sample(range(n), n)
    return naive.graph_of(n, [(place[a], place[b]) for a, b in edges if a != b])


ODD = {name: graph for name, graph in odd_graphs().items() if len(graph) <= 128}
FEW = {**{name: ODD[name] for name in ("one", "no-edges", "edge", "cycle", "clique", "torus", "hypercube", "pairs",
                                       "path-and-star", "isolated-first")},
       "star": naive.graph_of(HUB, [(7, v) for v in range(HUB) if v != 7]),
       **{f"random-{seed}": two_parts_with_hubs(seed) for seed in range(4)}}
MANY = {**ODD, **FEW, **{f"random-{seed}": two_parts_with_hubs(seed) for seed in range(36)}}


def check(device: Device, name: str, graph: naive.Graph, source: int, ids: type = np.uint32, block: int | None = 64,
          **options: Any) -> None:
    """A variant, with what it prepares, against the naive distances."""
    variant, on_device = VARIANTS[name], device_graph(device, graph, ids)
    shared = variant.prepared(device, on_device, {})
    distances, eccentricity = variant.run(device, on_device, source, block=block, **shared, **options)
    want = naive.distances(graph, source)
    values = device.to_host(distances)
    assert values.dtype == np.uint32 and plain_distances(values) == want
    assert eccentricity == max(want)


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", FEW_DEVICES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant(variant: str, name: str) -> None:
    device = open_device(name)
    for graph in FEW.values():
        check(device, variant, graph, len(graph) // 2)


@pytest.mark.thin(9)
@pytest.mark.parametrize("name", ["shim-1", "shim-3", "gpu"])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("variant", ["frontier", pytest.param("merrill-expand-contract", marks=pytest.mark.slow)])
def test_every_mapping(variant: str, mapping: str, name: str) -> None:
    """Small tunings: in the full product, and of all arcs of a frontier in test_mapping.py."""
    device = open_device(name)
    for graph in FEW.values():
        check(device, variant, graph, len(graph) - 1, mapping=mapping)


# `by-level` has no mapping in small levels; which levels take one, its own tests show.
@pytest.mark.thin(12)
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("variant", [name for name in MAPPED if name != "by-level"])
def test_the_mapping_reaches_the_kernel(variant: str, mapping: str) -> None:
    """Every mapped variant launches an entry built with the mapping, and refuses what is none."""
    device = open_device("shim-2")
    real, built = device.kernel, []

    def kernel(file: Any, entry: str, defines: Any = None) -> Any:
        built.append((defines or {}).get("MAPPING"))
        return real(file, entry, defines)

    device.kernel = kernel  # type: ignore[method-assign]
    check(device, variant, FEW["random-2"], 1, mapping=mapping, **LARGE_LEVELS.get(variant, {}))
    assert set(built) - {None, DEFERRED_ROWS} == {MAPPINGS[mapping].macro}
    with pytest.raises(InputError, match="no such load balancing: nothing|choose from: threads"):
        check(open_device("shim-2"), variant, FEW["edge"], 0, mapping="nothing")


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["shim-2", "gpu"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_wide_ids(variant: str, name: str) -> None:
    check(open_device(name), variant, FEW["random-1"], 3, np.uint64)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_usual_block(variant: str) -> None:
    check(open_device("shim-0"), variant, FEW["path-and-star"], 0, block=None)


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_with_loops_and_repeated_neighbours(variant: str) -> None:
    """Device graphs need not be simple."""
    for seed in SEEDS:
        check(open_device(f"shim-{seed}"), variant, LOOPS_AND_REPEATED, 0)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(QUICK), graphs(most=100), st.sampled_from(SEEDS), st.sampled_from(BLOCKS), st.data())
def test_random_graphs(pair: tuple[str, str | None], graph: naive.Graph, seed: int, block: int,
                       data: st.DataObject) -> None:
    variant, mapping = pair
    options = {"mapping": mapping, **LARGE_LEVELS.get(variant, {})} if mapping else {}
    source = data.draw(st.integers(0, len(graph) - 1))
    check(open_device(f"shim-{seed}"), variant, graph, source, block=block, **options)


@pytest.mark.thin(3)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_prepared_serves_all_sources(variant: str) -> None:
    known, device, graph = VARIANTS[variant], open_device("shim-3"), FEW["random-3"]
    on_device = device_graph(device, graph)
    shared = known.prepared(device, on_device, {})
    for source in range(0, len(graph), 9):
        distances, _ = known.run(device, on_device, source, **shared)
        assert plain_distances(device.to_host(distances)) == naive.distances(graph, source)


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_DEVICES)
@pytest.mark.parametrize(("variant", "mapping"), PRODUCT)
def test_the_full_product(variant: str, mapping: str | None, name: str) -> None:
    """Every variant with every mapping on all graphs; sizes of blocks, types of ids and tunings take turns."""
    assert len(MANY) >= 50
    device = open_device(name)
    for number, graph in enumerate(MANY.values()):
        options: dict[str, Any] = dict(LARGE_LEVELS.get(variant, {})) if number % 5 else {}
        if mapping:
            options |= {"mapping": SMALL[mapping] if number % 3 == 1 else mapping}
        ids, source = (np.uint64, np.uint32)[number % 2], number * 31 % len(graph)
        check(device, variant, graph, source, ids, BLOCKS[number // 2 % len(BLOCKS)], **options)


def test_the_catalogue_says_what_each_is() -> None:
    for name, variant in VARIANTS.items():
        assert variant.title and variant.section and variant.work.startswith("O("), name
        parameters = inspect.signature(variant.run).parameters
        assert list(parameters)[:3] == ["device", "graph", "source"] and parameters["block"].default is None
        assert variant.mapped == ("mapping" in parameters)
    assert len({variant.title for variant in VARIANTS.values()}) == len(VARIANTS)
    assert len({variant.run for variant in VARIANTS.values()}) == len(VARIANTS)


def test_every_search_is_in_the_catalogue() -> None:
    """Each function bfs_* of a module bfs_*.py."""
    found = set()
    room = Path(emdiam.gpu.__file__).parent
    for path in room.rglob("bfs_*.py"):
        module = importlib.import_module(".".join(("emdiam.gpu", *path.relative_to(room).with_suffix("").parts)))
        found |= {function for name, function in inspect.getmembers(module, inspect.isfunction)
                  if name.startswith("bfs_") and function.__module__ == module.__name__}
    assert found == {variant.run for variant in VARIANTS.values()}


def test_a_variant_by_name() -> None:
    assert find_variant("luo") == (VARIANTS["luo"], {})
    with pytest.raises(InputError, match="no such variant of BFS.*choose from: standard, dal-standard"):
        find_variant("nothing")


def test_knobs_of_a_variant() -> None:
    """Every knob is an option of what runs the variant, or of what prepares it; a text names them."""
    for name, variant in VARIANTS.items():
        options = {*inspect.signature(variant.run).parameters, "layout"}
        assert name == "bfs-4k" or {*variant.knobs} <= options
    assert find_variant("luo:in-block=2,in-grid=0,block=64")[1] == {"in_block": 2, "in_grid": 0, "block": 64}
    assert find_variant("dal-hybrid:warp-share=0.5,layout=matrix")[1] == {"warp_share": 0.5, "layout": list_matrix}
    assert find_variant("bfs-4k:least-warp=8,hub-arcs=7")[1] == {"least_warp": 8, "hub_arcs": 7}
    for text, message in (("spmv:lanes=8", "no such knob: 'lanes=8'; it has block=..."),
                          ("dal-warp:layout=rows", "no such knob: 'layout=rows'; it has block=..., layout=..."),
                          ("luo:in-block=many", "the variant of BFS luo has no such knob")):
        with pytest.raises(InputError, match=message):
            find_variant(text)


@pytest.mark.parametrize("text", ["dal-warp:layout=matrix", "dal-pointers:layout=matrix,block=64", "auto:block=128",
                                  "bfs-4k:least-warp=1,in-block=0", "by-level:block=32", "persistent:block=512,solo=1"])
def test_the_engine_takes_knobs(text: str) -> None:
    device, graph = open_device("shim-1"), FEW["random-2"]
    search = named_bfs(device_graph(device, graph), OnDevice(device, text))
    for source in (0, 5):
        distances, levels, complete = search.run(source)
        assert complete and plain_distances(device.to_host(distances)) == naive.distances(graph, source)


@pytest.mark.parametrize("text", ["spmv:block=512", "spmv:block=33", "auto:block=1024", "bfs-4k:block=0"])
def test_a_block_that_cannot_be(text: str) -> None:
    device = open_device("shim-0")
    with pytest.raises(InputError, match="a block has no .* threads; use a multiple of 32 up to"):
        named_bfs(device_graph(device, FEW["edge"]), OnDevice(device, text))


def test_a_virtual_warp_that_cannot_be() -> None:
    for lanes in (0, 3, 64):
        with pytest.raises(InputError, match=f"no {lanes} lanes; use a power of two up to 32"):
            check(open_device("shim-0"), "virtual-warps", FEW["edge"], 0, lanes=lanes)


@pytest.mark.thin(3, sampled=("lanes",))
@pytest.mark.parametrize("lanes", [1, 2, 4, 16, 32])
def test_every_virtual_warp(lanes: int) -> None:
    for seed in SEEDS:
        for graph in (FEW["star"], FEW["random-2"]):
            check(open_device(f"shim-{seed}"), "virtual-warps", graph, 0, block=32, lanes=lanes)
