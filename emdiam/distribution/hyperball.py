"""Estimating by HyperBall: one run with all registers, or several with fewer where memory has no room for these.

R independent runs (hashes of their own) with 2^p registers a vertex are averaged in place of one with R 2^p: as many
registers in all, so the same error, for R times the passes. Pairs are scaled so that all distances together have as
many as there are connected ones, which is known exactly. Standard errors are those of the jackknife over groups of
registers, at most 16, each of all runs at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..engine.cpu import LocalEngine
from ..hashing import draw
from ..progress import TimeOver
from ..traverse.distance_table import PairCounts
from ..traverse.hyperball import BallSums, ball_table, relative_error
from .centrality import Sums
from .result import HYPERBALL, DistanceOptions, Distances, answer, jackknife
from .sources import Connected


class BallCount:
    """Runs of HyperBall, as far as they are done. log2_registers : of a vertex, in a run. A run that is under way when
    the time is over is dropped; but where sums of vertices are wanted it is finished."""

    def __init__(self, engine: LocalEngine, options: DistanceOptions, connected: Connected,
                 log2_registers: int) -> None:
        self._engine, self._options, self._connected, self._bits = engine, options, connected, log2_registers
        self._wanted = 1 << (options.log2_registers - log2_registers)
        self.sums = None if options.out is None else BallSums(engine.facts.n_vertices)
        self._table, self._done = ball_table(log2_registers), 0

    @property
    def complete(self) -> bool:
        """Whether all runs are done."""
        return self._done == self._wanted

    @property
    def begun(self) -> bool:
        """Whether there is an answer."""
        return self._done > 0

    def run(self) -> None:
        """Count until the end, or until the time is over. Raises KeyboardInterrupt."""
        for number in range(self._wanted):
            self._engine.reporter.tick("count", run=number + 1)
            key = int(draw(np.uint64(self._options.seed), np.uint64(number)))
            try:
                self._table.take(self._engine.grow_balls(self._bits, key, self.sums))
            except TimeOver:
                return
            self._done += 1

    def result(self) -> Distances:
        """What is known by now."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        pairs = _grown(self._table.row(0))
        error = jackknife((_grown(self._table.row(number)) for number in range(1, self._table.rows)), options.quantile)
        share = connected.pairs / max(1.0, float(pairs.counts.sum()))
        return answer(
            Distances, options, pairs, share, error, n_vertices=facts.n_vertices, n_edges=facts.n_arcs // 2,
            connected=connected.n_components <= 1, n_components=connected.n_components,
            unreachable_pairs=connected.unreachable(facts.n_vertices), method=HYPERBALL, samples=0,
            complete=self.complete, registers=1 << self._bits, runs=self._done,
            details={"relative_error": relative_error(self._bits) / self._done**0.5})

    def vertex_sums(self) -> Sums:
        """What is summed over the balls of a vertex, for centralities."""
        sums = self.sums
        assert sums is not None, "sums are counted where a file is to be written"

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = np.maximum(0, sums.values[:, vertices] / sums.runs)
            return values[0], values[1], values[2]

        return of


def _grown(pairs: PairCounts) -> PairCounts:
    """Without distances at which balls have shrunk, by their estimates."""
    return replace(pairs, counts=np.maximum(0, pairs.counts))
