"""The choice of sources and their groups: a random sample, or all vertices with an edge.

A sample of k has the k vertices with an edge whose hashes of (seed, natural rank) are smallest, in order of these. It
is the same in every order of a store and on every engine, and a prefix of every larger sample. In that order its
sources are put into at most MOST_GROUPS groups, for standard errors; if distances are large, the table of counts joins
groups. All vertices are taken in the order of the store, a batch at a time, since traversals from sources with near
numbers share what they visit. The batches are in random order: so the batches done when a run is stopped are a sample.

The number of connected pairs of vertices follows exactly from the sizes of the components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..engine.interface import Engine, max_degree_vertex
from ..hashing import draw
from ..jit import kernel

# The most groups that are left out one at a time; fewer sources or parts have a group each.
MOST_GROUPS = 256


@dataclass(frozen=True)
class Part:
    """Sources that are traversed together, int64[k], and the group number of each, int64[k], or one number for
    all."""

    sources: np.ndarray
    groups: np.ndarray | int


def _hashes(key: int, ranks: np.ndarray, out: np.ndarray) -> None:
    """As `hashes`, with numpy."""
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
        if len(taken) < count:  # too few by chance, or all of them
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
    """n_components : including isolated vertices. pairs : unordered pairs of vertices within components."""

    n_components: int
    pairs: int

    def unreachable(self, n_vertices: int) -> int:
        """Pairs of vertices of different components."""
        return n_vertices * (n_vertices - 1) // 2 - self.pairs


def connected_pairs(engine: Engine) -> Connected:
    """The connected pairs, from one BFS and the components that it does not reach."""
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
