"""Which sources are counted, and in which groups: a random sample, or all vertices with an edge.

A sample of k is the k vertices with an edge whose hashes of (seed, natural rank) are smallest, in order of these: it is
the same in every order of a store, on every engine, and the begin of every larger one. Its sources are put into at most
MOST_GROUPS groups, in that order, for standard errors; where distances are large, the table of counts joins groups. All
vertices are taken in order of the store, since sources that lie together share what their traversals visit, a batch at
a time, and the batches in random order: so those that are done when a run is stopped are a sample of batches.

How many pairs of vertices are connected at all follows from the sizes of the components, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..engine.interface import Engine, max_degree_vertex
from ..hashing import draw
from ..jit import kernel

# Groups that are left out one at a time, at most; fewer sources or parts are spread over them, each by itself.
MOST_GROUPS = 256


@dataclass(frozen=True)
class Part:
    """Sources that are traversed together, int64[k], and the number of the group of each, int64[k] (a single number:
    of all)."""

    sources: np.ndarray
    groups: np.ndarray | int


def _hashes(key: int, ranks: np.ndarray, out: np.ndarray) -> None:
    """The same with numpy."""
    out[:] = draw.py_func(np.uint64(key), ranks.astype(np.uint64))


@kernel(uncompiled=_hashes)
def hashes(key, ranks, out):
    """out[i] = the hash of (key, ranks[i])."""
    for i in range(len(ranks)):
        out[i] = draw(np.uint64(key), np.uint64(ranks[i]))


def sampled_sources(engine: Engine, key: int, count: int) -> np.ndarray:
    """A sample of vertices with an edge, int64[k]; all, by rank, if there are no more than `count`."""
    expected = count + 8 * math.isqrt(count) + 64
    taken = engine.sample_vertices(key, expected)
    if len(taken) <= count or expected >= engine.facts.n_vertices - engine.facts.n_isolated:
        if len(taken) < count:  # too few by chance, or all there are
            taken = engine.sample_vertices(key, engine.facts.n_vertices)
        if len(taken) <= count:
            return taken
    order = np.empty(len(taken), np.uint64)
    hashes(key, engine.ranks(taken), order)
    return taken[np.argsort(order, kind="stable")[:count]]


def parts_in_order(sources: np.ndarray, most: int) -> Iterator[Part]:
    """The parts of a sample, of at most `most` sources."""
    for begin in range(0, len(sources), most):
        part = sources[begin : begin + most]
        yield Part(part, np.arange(begin, begin + len(part)) * MOST_GROUPS // len(sources))


def parts_of_all(engine: Engine, key: int, most: int) -> Iterator[Part]:
    """The parts of all vertices with an edge, of at most `most` sources, in random order."""
    everyone = engine.sample_vertices(key, engine.facts.n_vertices)
    everyone.sort()
    begins = np.arange(0, len(everyone), most)
    order = np.empty(len(begins), np.uint64)
    hashes(key, np.arange(len(begins)), order)
    begins = begins[np.argsort(order, kind="stable")]
    for place, begin in enumerate(begins):
        yield Part(everyone[begin : begin + most], place * MOST_GROUPS // len(begins))


@dataclass(frozen=True)
class Connected:
    """n_components : isolated vertices included. pairs : unordered pairs of vertices within components."""

    n_components: int
    pairs: int

    def unreachable(self, n_vertices: int) -> int:
        """Pairs of vertices of different components."""
        return n_vertices * (n_vertices - 1) // 2 - self.pairs


def connected_pairs(engine: Engine) -> Connected:
    """One BFS, and the components that it does not reach."""
    facts = engine.facts
    if not facts.n_arcs:
        return Connected(facts.n_vertices, 0)
    engine.reporter.tick("components")
    hub = max_degree_vertex(engine)
    run = engine.bfs(hub, distances=False)
    others = engine.components(hub)
    pairs, count = run.n_reached * (run.n_reached - 1) // 2, 1
    if others is not None:
        pairs, count = pairs + others.n_pairs(), count + others.n_others
        others.release()
    return Connected(facts.n_isolated + count, pairs)
