"""Which vertices are masters: so many at random, every k-th of an Euler tour too, or as many as pay.

`auto` starts with the square root of the memory in entries, so that the condensed graph fits however dense it is, takes
GROWTH times as many while clusters need more rounds than MOST_ROUNDS, and then half as many while the condensed graph
does not fit. It depends on the budget, and so does the result; the number that was chosen is told and can be given.
Source: Ajwani, Beckmann, Meyer, Veith (2012), section 4, "Selecting the correct number of master vertices".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...engine.interface import Labels
from .hashing import stream_key
from .masters import resolve_masters

if TYPE_CHECKING:
    from .cluster_run import ClusterRun

MOST_ROUNDS = 32
GROWTH, SHRINKAGE = 8, 2
_ENTRY_BYTES = 8


def most_by_itself(n_vertices: int) -> int:
    """The most masters that "auto" takes, on average: what is planned for a cluster adds little to the
    state of the vertices then, and clusters of 16 vertices have few rounds."""
    return min(max(1, n_vertices), max(1 << 12, n_vertices // 16))


class MasterChoice:
    """How many masters, and the clusters around them. expected : on average, as it stands."""

    def __init__(self, run: ClusterRun) -> None:
        self._run, self._auto = run, run.options.masters == "auto"
        if not self._auto:
            self.expected = resolve_masters(run.options.masters, run.engine.facts.n_vertices)
            return
        most = most_by_itself(run.engine.facts.n_vertices - run.engine.facts.n_isolated)
        self.expected = self._least = max(1, min(most, math.isqrt(run.room.arcs_bytes // _ENTRY_BYTES)))
        self._most, self._shrunk = most, False
        self._steps = [f"{self.expected:,} masters: the square root of the room for arcs, so that they fit"]
        run.details["auto"] = self._steps

    def grow(self) -> Labels:
        """The clusters; with "auto", around more masters while there are too many rounds."""
        while True:
            grows = self._auto and not self._shrunk and self.expected < self._most
            labels = _grow(self._run, self.expected, MOST_ROUNDS if grows else None)
            if labels is not None:
                return labels
            self.expected = min(self._most, GROWTH * self.expected)
            self._steps.append(f"{self.expected:,} masters: {MOST_ROUNDS} rounds did not reach all vertices")

    def fewer(self, n_arcs: int) -> bool:
        """The condensed graph, of so many arcs, did not fit: whether to try with fewer masters."""
        if not self._auto or self.expected <= self._least:
            return False
        self.expected, self._shrunk = max(self._least, self.expected // SHRINKAGE), True
        self._steps.append(f"{self.expected:,} masters: {n_arcs:,} arcs did not fit in memory")
        return True


def _grow(run: ClusterRun, expected: int, most_rounds: int | None) -> Labels | None:
    engine, options = run.engine, run.options
    with run.stages.timed("masters"):
        engine.reporter.tick("masters")
        masters = engine.sample_vertices(stream_key(options.seed, "masters"), expected)
        if options.euler:
            masters = _with_tour(run, masters, max(1, -(-engine.facts.n_vertices // expected)))
    with run.stages.timed("grow"):
        engine.reporter.tick("grow clusters", masters=len(masters))
        return engine.grow_clusters(masters, most_rounds)


def _with_tour(run: ClusterRun, masters: np.ndarray, k: int) -> np.ndarray:
    """The masters and every k-th vertex of an Euler tour of a random spanning tree."""
    engine = run.engine
    tour = engine.spanning_forest(stream_key(run.options.seed, "spanning tree")).euler_masters(k)
    both = np.union1d(masters, tour)
    return both[np.argsort(engine.ranks(both), kind="stable")]
