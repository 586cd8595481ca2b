"""Sparse levels of a streamed BFS read ahead where most of what they bring is looked at, and only there."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.stream.pager import Pager
from emdiam.traverse.core import Core
from tests.helpers import naive
from tests.helpers.stores import write_store

CHUNK, SLOTS = 64, 64
LADDER = nx.convert_node_labels_to_integers(nx.grid_2d_graph(2000, 2))


def graph_of(names: np.ndarray) -> naive.Graph:
    """The ladder, with these vertices in place of its own."""
    return naive.graph_of(len(names), [(int(names[a]), int(names[b])) for a, b in LADDER.edges])


@pytest.mark.parametrize("local", [True, False], ids=["local", "shuffled"])
def test_distances_and_blocks(local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = np.arange(len(LADDER)) if local else np.random.default_rng(1).permutation(len(LADDER))
    graph = graph_of(names)
    calls = {"missed": 0, "ahead": 0}
    missed, ahead = Core.load_blocks, Pager.read_ahead

    def load_blocks(core: Core, blocks: np.ndarray) -> bool:
        calls["missed"] += 1
        return missed(core, blocks)

    def read_ahead(pager: Pager, blocks: np.ndarray) -> int:
        count = ahead(pager, blocks)
        calls["ahead"] += count
        return count

    monkeypatch.setattr(Core, "load_blocks", load_blocks)
    monkeypatch.setattr(Pager, "read_ahead", read_ahead)
    path = write_store(tmp_path / "ladder.zarr", graph, CHUNK)
    with open_store(path) as store, open_engine(store, arena_bytes=SLOTS * CHUNK * 4, threads=2) as engine:
        source = int(names[700])
        run = engine.bfs(source, distances=True)
        n_blocks, read = engine.facts.n_blocks, engine.reporter.stats().blocks_read
        assert run.distances.raw().tolist() == naive.distances(graph, source)
    if local:
        assert n_blocks > 180 and read <= 1.1 * n_blocks and calls["missed"] < n_blocks // 3 < calls["ahead"]
    else:
        assert calls["ahead"] <= SLOTS < n_blocks


def test_a_bfs_that_is_over_keeps_no_memory(tmp_path: Path) -> None:
    """Its modes have it, and it has them no more: distances are free as soon as their column is dropped."""
    path = write_store(tmp_path / "ladder.zarr", graph_of(np.arange(len(LADDER))), CHUNK)
    with open_store(path) as store, open_engine(store, threads=2) as engine:
        gc.disable()
        try:
            distances = weakref.ref(engine.bfs(3).distances.raw())
        finally:
            gc.enable()
        assert distances() is None
