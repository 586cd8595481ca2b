"""What a BFS reads and writes is within twice the formula of docs/algorithms/external.md."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import pytest

from emdiam.external.disk import Sizes
from tests.external.cost_formula import Io, bfs_io
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

CHUNK = 256
# Several ranges, of two pages of columns, and a small part of the blocks in the arena.
SIZES = Sizes(1 << 9, 1 << 11, 64, 64)


def levels_of(graph: naive.Graph, source: int) -> list[tuple[int, int]]:
    """(vertices, arcs) of every level."""
    distances = naive.distances(graph, source)
    found = [[0, 0] for _ in range(max(distances) + 1)]
    for v, d in enumerate(distances):
        if d >= 0:
            found[d][0] += 1
            found[d][1] += len(graph[v])
    return [(vertices, arcs) for vertices, arcs in found]


def measured(path: Path, graph: naive.Graph, *, local: bool) -> tuple[Io, Io]:
    """What a BFS from vertex 0 took, the checks of what is read first left out, and the formula."""
    store = write_store(path / "g.zarr", graph, CHUNK)
    with engine_on(store, "external", sizes=SIZES, arena_bytes=4 * CHUNK * 4) as one:
        rows, scratch = one.disk.rows, one.disk.scratch
        one.bfs(0)  # after it all blocks are checked
        before = (rows.counters.snapshot().blocks_read, rows.offset_counters.snapshot().blocks_read,
                  scratch.bytes_written, scratch.bytes_read)
        one.bfs(0)
        after = (rows.counters.snapshot().blocks_read, rows.offset_counters.snapshot().blocks_read,
                 scratch.bytes_written, scratch.bytes_read)
        return Io(*(now - was for now, was in zip(after, before, strict=True))), bfs_io(
            one.disk, levels_of(graph, 0), local=local)


def shuffled(graph: nx.Graph, seed: int) -> naive.Graph:
    """In a random order, so that blocks are met at random."""
    n, order = len(graph), list(range(len(graph)))
    random.Random(seed).shuffle(order)
    return naive.graph_of(n, [(order[v], order[w]) for v, w in graph.edges])


@pytest.mark.parametrize("name", ["random", "grid", "path", "star"])
def test_in_any_order(tmp_path: Path, name: str) -> None:
    made = {"random": lambda: nx.gnm_random_graph(3000, 9000, seed=4), "path": lambda: nx.path_graph(2000),
            "grid": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 60)),
            "star": lambda: nx.star_graph(3000)}[name]()
    took, formula = measured(tmp_path, shuffled(made, 7), local=False)
    assert took.blocks <= 2 * formula.blocks and took.chunks <= 2 * formula.chunks
    assert took.written <= 2 * formula.written and took.read <= 2 * max(formula.read, formula.written)
    # And the formula says something: it is no more than a few times of what it took.
    assert formula.blocks <= 4 * took.blocks and formula.written <= 2 * took.written


@pytest.mark.parametrize("name", ["grid", "path"])
def test_where_neighbours_lie_together(tmp_path: Path, name: str) -> None:
    made = nx.path_graph(2000) if name == "path" else nx.convert_node_labels_to_integers(nx.grid_2d_graph(400, 6))
    took, formula = measured(tmp_path, naive.graph_of(len(made), made.edges), local=True)
    assert took.blocks <= 2 * formula.blocks and took.chunks <= 2 * formula.chunks
    assert formula.blocks <= 2 * took.blocks
