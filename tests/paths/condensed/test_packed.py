"""Packed arcs, in RAM and on disk, and the collector that sorts them, against plain Python."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, InputError
from emdiam.paths.condensed import collect
from emdiam.paths.condensed.collect import ArcCollector, ScratchBlocks, plan_collector
from emdiam.paths.condensed.packed import Packing, unpack
from emdiam.sorting.scratch import Scratch
from tests.helpers import weighted_naive as naive

many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TINY = {"run_keys": 8, "least_run_keys": 8, "n_buffers": 2, "block_keys": 2, "merge_keys": 12, "merge_keys_alone": 12}


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def check_blocks(arcs: ScratchBlocks, block_arcs: int) -> None:
    """Rows in RAM say of blocks what is in them."""
    assert arcs.n_blocks == -(-arcs.n_arcs // block_arcs) == len(arcs.rows.heads)
    room = arcs.arena(1)
    for block in range(arcs.n_blocks):
        first, offsets = arcs.rows_in(block)
        assert offsets[0] == 0 and offsets[-1] == arcs.arcs_in(block)
        assert arcs.arcs_in(block) == min(block_arcs, arcs.n_arcs - block * block_arcs)
        assert arcs.read(block, 0, room) == arcs.arc_bytes * arcs.arcs_in(block)
        assert (arcs.rows.heads[block] == first) == (arcs.rows.heads[block] >= 0)


@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9))
def test_arcs_come_back_from_ram_and_disk(scratch: Scratch, graph: naive.Graph, block_arcs: int) -> None:
    want = naive.triples(graph[1])
    ram = naive.in_ram(graph)
    with closing(naive.on_disk(graph, scratch, block_arcs)) as disk:
        rows = disk.load()
        for arcs in (ram, disk, rows):
            assert naive.triples_in(arcs.pieces()) == want
            assert (arcs.n_arcs, arcs.n_vertices) == (len(want), graph[0])
        assert disk.nbytes == (4 + rows.costs.itemsize) * len(want)
        assert disk.mean_weight == pytest.approx(rows.mean_weight)
        check_blocks(disk, block_arcs)
        assert rows.offsets.tolist() == ram.offsets.tolist()
    assert (ram.in_ram, disk.in_ram, rows.in_ram) == (True, False, True)


@pytest.mark.parametrize(("n", "largest", "bits"), [(0, 0, 3), (1, 1, 3), (2, 1, 3), (3, 4, 7), (1 << 20, 60, 46),
                                                   (1 << 29, 63, 64), (1 << 31, 3, 64)])
def test_bits(n: int, largest: int, bits: int) -> None:
    packing = Packing(n, largest)
    assert 2 * packing.id_bits + packing.weight_bits == bits
    if n > 1:
        keys, degrees = np.sort(packing.pack(*np.array([[n - 1], [0], [largest]]))), np.zeros(n, np.int64)
        heads, weights = np.empty(2, np.uint32), np.empty(2, packing.weight_dtype)
        unpack(keys, packing.id_bits, packing.weight_bits, degrees, heads, weights)
        # Only the smaller ones are looked through: 2^31 degrees are 16 GiB of zeros.
        found = np.flatnonzero(degrees) if n <= 1 << 20 else np.array([0, n - 1])[degrees[[0, n - 1]] > 0]
        assert (found.tolist(), heads.tolist(), weights.tolist()) == ([0, n - 1], [n - 1, 0], [largest] * 2)


def test_too_many_bits() -> None:
    with pytest.raises(InputError, match=r"536,870,913 masters .* 2 x 30 \+ 6 = 66 bits.*; choose fewer masters"):
        Packing((1 << 29) + 1, 63)
    with pytest.raises(InputError, match="65 bits"):
        Packing(1 << 29, 64)


@pytest.mark.parametrize("edge", [(0, 3, 1), (3, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 1, 0), (0, 1, 5)])
def test_an_edge_that_does_not_fit_is_an_error(edge: naive.Edge) -> None:
    with pytest.raises(ValueError, match=r"edge 1 has a vertex outside 0..2 or a weight outside 1..4"):
        Packing(3, 4).pack(*np.array([(0, 2, 4), edge]).T)
    with pytest.raises(ValueError, match="not negative"):
        Packing(-1, 4)


def test_damage_is_noticed(scratch: Scratch) -> None:
    disk = naive.on_disk(naive.large(50, 200, 1), scratch, 16)
    disk._file.overwrite(np.array([255], np.uint8), 3 * 128 + 5)
    room = disk.arena(1)
    assert disk.read(2, 0, room) == 128
    with pytest.raises(OSError, match="block 3 .* wrong checksum"):
        disk.read(3, 0, room)
    with pytest.raises(OSError, match="wrong checksum"):
        list(disk.pieces())


@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9), most_ram=st.sampled_from([0, 200, 1 << 20]),
       n_buffers=st.sampled_from([1, 2, 30]), seed=st.integers(0, 99))
def test_collect(scratch: Scratch, graph: naive.Graph, block_arcs: int, most_ram: int, n_buffers: int,
                 seed: int) -> None:
    n, edges = graph
    packing = Packing(n, max([1, *(w for _, _, w in edges)]))
    keys = packing.pack(*np.array(edges, np.int64).reshape(-1, 3).T)
    np.random.default_rng(seed).shuffle(keys)
    plan = replace(plan_collector(64 << 20, 2), **{**TINY, "n_buffers": n_buffers})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "plan_collector", lambda memory, threads: plan)
        collector = ArcCollector(packing, 1 << 20, scratch, block_arcs=block_arcs)
    threads = [Thread(target=collector.push, args=(part,)) for part in np.array_split(keys, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(collector.finish(most_ram)) as arcs:
        want = naive.triples(edges)
        assert naive.triples_in(arcs.pieces()) == want
        assert arcs.in_ram == ((4 + packing.weight_dtype.itemsize) * len(want) <= most_ram)
        if isinstance(arcs, ScratchBlocks):
            check_blocks(arcs, block_arcs)
    assert collector.n_pushed == len(keys)


def test_a_collection_stays_within_its_memory(scratch: Scratch) -> None:
    rng = np.random.default_rng(1)
    packing = Packing(1 << 12, 60)
    budget = 40 << 20
    every = []
    tracemalloc.start()
    try:
        collector = ArcCollector(packing, budget, scratch, block_arcs=1 << 12)
        for _ in range(13):
            ends = rng.integers(0, 1 << 12, (2, 50_000))
            keys = packing.pack(*ends, rng.integers(1, 61, 50_000))
            collector.push(keys)
            every.append(np.unique(keys))
        held = sum(keys.nbytes for keys in every)
        arcs = collector.finish(0)
        assert tracemalloc.get_traced_memory()[1] - held < budget
    finally:
        tracemalloc.stop()
    assert collector.stats.disk_runs > 2 and not arcs.in_ram
    keys = np.unique(np.concatenate(every))
    pairs = keys >> np.uint64(packing.weight_bits)
    fresh = np.append(True, pairs[1:] != pairs[:-1])
    assert isinstance(arcs, ScratchBlocks)
    rows = arcs.load()
    tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets)).astype(np.uint64)
    words = (tails << np.uint64(packing.id_bits) | rows.heads) << np.uint64(packing.weight_bits) | rows.costs
    assert np.array_equal(words, keys[fresh])


def test_a_collector_needs_some_memory(scratch: Scratch) -> None:
    with pytest.raises(BudgetError, match=r"20.0 MiB of memory cannot sort .*; leave at least 32.0 MiB") as refused:
        plan_collector(20 << 20, 2)
    assert plan_collector(32 << 20, 2).run_keys > 1000
    with pytest.raises(BudgetError):
        ArcCollector(Packing(3, 3), (32 << 20), scratch, 2)
    assert refused.value.exit_code == 2


def test_a_collection_that_fails_leaves_nothing(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    packing = Packing(9, 9)
    for method in ("_gather", "_write"):
        collector = ArcCollector(packing, 64 << 20, scratch)
        collector.push(packing.pack(*np.array([[0], [1], [2]])))

        def fail(self: object, runs: object) -> None:
            raise BudgetError("no room left")

        monkeypatch.setattr(ArcCollector, method, fail)
        with pytest.raises(BudgetError, match="no room left"):
            collector.finish(0 if method == "_write" else 1 << 20)
    collector = ArcCollector(packing, 64 << 20, scratch)
    collector.push(packing.pack(*np.array([[0], [1], [2]])))
    collector.abort()
    assert not scratch._files
