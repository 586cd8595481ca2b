"""The climb of covering: it goes up by degrees, and never looks at many arcs at once."""

from __future__ import annotations

import random
from typing import cast

import networkx as nx
import numpy as np
import pytest

from emdiam.engine.interface import Engine
from emdiam.methods.exact import covering
from emdiam.methods.exact.covering import Covering
from tests.helpers import naive


class Rows:
    """What covering asks of an engine. most : arcs that one call of rows has handed out."""

    def __init__(self, graph: naive.Graph) -> None:
        self._graph, self.most = graph, 0

    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.degrees."""
        return np.array([len(self._graph[v]) for v in ids], np.int64)

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """See Engine.rows."""
        self.most = max(self.most, int(self.degrees(ids).sum()))
        return [np.array(self._graph[v], np.int64) for v in ids]


def climbed(graph: naive.Graph, vertex: int, hops: int, most_arcs: int) -> int:
    """Where the climb from a vertex ends, step by step."""
    for _ in range(hops):
        best = max(graph[vertex], key=lambda v: (len(graph[v]), -v))
        if len(graph[vertex]) > most_arcs or len(graph[best]) <= len(graph[vertex]):
            break
        vertex = best
    return vertex


@pytest.mark.parametrize("n_sources", [1, 2, 7, 40, 200])
def test_as_many_are_proposed_as_share_the_sources(n_sources: int) -> None:
    """Those before the source that makes them enough, in the order of chance, and with it."""
    shape = nx.barabasi_albert_graph(300, 3, seed=9)
    graph = naive.graph_of(300, shape.edges)
    cover = np.arange(20, 300)
    order = np.random.default_rng(3).permutation(cover).tolist()
    tops = [order[0], *(climbed(graph, vertex, 2, covering.CLIMB_ARCS) for vertex in order[1:])]
    taken = next((end for end in range(1, len(tops)) if len({*tops[:end]}) == n_sources), len(tops))
    chooser = Covering(cast(Engine, Rows(graph)), seed=3)
    assert chooser.sources(cover, n_sources).tolist() == sorted({*tops[:taken]})
    assert chooser.proposed.tolist() == order[1:taken]


@pytest.mark.parametrize("most_arcs", [5, 60, 1 << 16])
@pytest.mark.parametrize("hops", [0, 1, 3])
def test_sources_are_tops_and_few_arcs_are_looked_at_together(
    monkeypatch: pytest.MonkeyPatch, most_arcs: int, hops: int
) -> None:
    shape = nx.barabasi_albert_graph(200, 3, seed=4)
    graph = naive.graph_of(200, shape.edges)
    monkeypatch.setattr(covering, "CLIMB_ARCS", most_arcs)
    engine = Rows(graph)
    chooser = Covering(cast(Engine, engine), seed=1)
    chooser.hops = hops
    cover = np.array(sorted(random.Random(2).sample(range(200), 120)))
    sources = chooser.sources(cover, 40)
    assert engine.most <= most_arcs
    proposed = chooser.proposed.tolist()
    first = (set(cover.tolist()) - set(proposed)) & set(sources.tolist())
    tops = {climbed(graph, vertex, hops, most_arcs) for vertex in proposed}
    assert tops <= set(sources.tolist()) <= tops | first and len(sources) <= 40


def test_a_clique_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of the sources of a batch together held as many arcs as the clique has."""
    monkeypatch.setattr(covering, "CLIMB_ARCS", 100)
    engine = Rows(naive.graph_of(40, nx.complete_graph(40).edges))
    assert len(Covering(cast(Engine, engine), seed=0).sources(np.arange(40), 40)) == 40
    assert 0 < engine.most <= 100
