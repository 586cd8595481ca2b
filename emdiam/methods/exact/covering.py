"""Settling by covering: central sources whose balls contain the vertices that are still unsettled.

A far vertex as source settles hardly more than itself, because its eccentricity is close to L. A central vertex p near
it settles the whole ball of radius L - ecc(p). So each vertex of the cover (candidates outside the best Winnow ball)
climbs a few hops to neighbours of higher degree, and the tops are the sources of one multi-source BFS; then their balls
are spread. The number of hops follows the share of proposals whose vertex was settled: 0 hops is the choice of F-Diam,
which always succeeds. In every batch one vertex is itself a source, so that every batch makes progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import cast

import numpy as np

from ...distinct import distinct
from ...engine.interface import Engine, WideBatches
from ...traverse.columns import Column

MOST_HOPS = 6
# Arcs that are read at a time; a vertex with more is central enough and does not climb.
CLIMB_ARCS = 1 << 16
# Shares of settled proposals above and below which one hop more, or less, is tried.
RAISE_ABOVE, LOWER_BELOW = 0.8, 0.5
# Share of the first wide batch whose sources are vertices of low degree.
FAR = 0.25


class Covering:
    """Chooses sources. hops : of the next batch. gain : vertices of the cover that a source has
    settled, on average over the last batch (1.0 before any)."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._engine, self._seed = engine, seed
        self.hops, self.gain = 2, 1.0
        self._far = True
        self._proposed = np.empty(0, np.int64)
        self._n_sources = 1

    @cached_property
    def _random(self) -> np.random.Generator:
        """Made on demand, since numpy imports its generators at this point, and most runs end before."""
        return np.random.default_rng(self._seed)

    def visit(self, cover: np.ndarray) -> np.ndarray:
        """The vertices themselves, int64[k]."""
        self._proposed, self._n_sources = cover[:0], len(cover)
        return cover

    def sources(self, cover: np.ndarray, n_sources: int) -> np.ndarray:
        """At most `n_sources` sources for these vertices (int64[c], c >= 1): distinct, int64[k]."""
        order = self._random.permutation(cover)
        tops, firsts = order[:1], np.zeros(1, np.int64)
        while len(tops) < len(order) and len(firsts) < n_sources:
            # The number of vertices needed if the next ones share tops as the earlier ones did.
            part = order[len(tops) :][: (n_sources - len(firsts)) * len(tops) // len(firsts)]
            tops = np.concatenate((tops, self._climb(part)))
            firsts = np.unique(tops, return_index=True)[1]
        if len(firsts) >= n_sources:
            tops = tops[: np.partition(firsts, n_sources - 1)[n_sources - 1] + 1]
        chosen = distinct(tops)
        self._proposed, self._n_sources = order[1 : len(tops)], len(chosen)
        return chosen

    def dominating(self, cover: np.ndarray, n_sources: int, bound: Column, limit: int) -> np.ndarray:
        """At most `n_sources` sources for a wide batch, int64[k], whose closed neighbourhoods have many vertices w with
        bound[w] > limit, each vertex in few of them.

        In the first batch, FAR of the sources are the vertices of the lowest degrees instead. If degrees differ, far
        pairs are among these, and once L is above the typical eccentricity a source settles many more vertices."""
        order = self._random.permutation(cover)
        far = order[:0]
        if self._far:
            self._far = False
            lowest = np.argsort(self._engine.degrees(order), kind="stable")[: int(FAR * min(n_sources, len(order)))]
            far, order = order[lowest], np.delete(order, lowest)
        sources, self._proposed = cast(WideBatches, self._engine).dominating(
            order, self.hops, bound, limit, n_sources - len(far))
        sources = np.union1d(sources, far)
        self._n_sources = len(sources)
        return sources

    def _climb(self, vertices: np.ndarray) -> np.ndarray:
        """The ends of `hops` steps, each to the neighbour of the highest degree (ties: the smallest), int64[k];
        never to a lower degree, nor from a row of more than CLIMB_ARCS arcs."""
        here = vertices.copy()
        degrees = self._engine.degrees(here)
        moving = np.arange(len(here))
        for _ in range(self.hops):
            moving = moving[degrees[moving] <= CLIMB_ARCS]
            parts = [self._highest(here[part]) for part in _runs(moving, degrees[moving])]
            if not parts:
                break
            top, higher = np.concatenate(parts, axis=1)
            up = higher > degrees[moving]
            here[moving[up]], degrees[moving[up]] = top[up], higher[up]
            moving = moving[up]
        return here

    def _highest(self, vertices: np.ndarray) -> np.ndarray:
        """int64[2, k]: the neighbour of the highest degree (ties: the smallest) of each, its degree."""
        rows = self._engine.rows(vertices)
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        neighbours = np.concatenate(rows)
        # Highest degree first, then the smallest vertex: one number to reduce by.
        keys = (self._engine.degrees(neighbours) << 40) - neighbours
        best = np.maximum.reduceat(keys, starts)
        higher = (best + (1 << 40) - 1) >> 40
        return np.stack(((higher << 40) - best, higher))

    def learn(self, settled: np.ndarray, n_settled: int) -> None:
        """Update gain and hops after a batch. settled : bool[k], which of the proposed vertices are now settled.
        n_settled : number of vertices that left the cover."""
        self.gain = max(1.0, n_settled / self._n_sources)
        if len(settled) == 0:
            return
        share = float(settled.mean())
        if share > RAISE_ABOVE:
            self.hops = min(MOST_HOPS, self.hops + 1)
        elif share < LOWER_BELOW:
            self.hops = max(0, self.hops - 1)

    @property
    def proposed(self) -> np.ndarray:
        """Vertices that the last batch was meant to settle, int64[k]."""
        return self._proposed


def _runs(vertices: np.ndarray, degrees: np.ndarray) -> Iterator[np.ndarray]:
    """The vertices in runs with at most CLIMB_ARCS arcs together; no vertex has more."""
    ends = np.cumsum(degrees)
    begin = 0
    while begin < len(vertices):
        before = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, before + CLIMB_ARCS, side="right"))
        yield vertices[begin:end]
        begin = end
