"""Estimating by HyperBall: one run with all registers, or several with fewer where memory has no room for these.

R independent runs (hashes of their own) with 2^p registers a vertex are averaged in place of one with R 2^p: as many
registers in all, so the same error, for R times the passes. Pairs are scaled so that all distances together have as
many as there are connected ones, which is known exactly. Standard errors are those of the jackknife over groups of
registers of all runs, at most 16 a run.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..engine.cpu import LocalEngine
from ..hashing import draw
from ..progress import TimeOver
from ..traverse.hyperball import BallSums, relative_error
from .centrality import Sums
from .options import DistanceOptions
from .parts import Connected
from .result import HYPERBALL, Distances
from .statistics import figures_of, jackknife


class BallCount:
    """Runs of HyperBall, as far as they are done. log2_registers : of a vertex, in a run. A run that is under way when
    the time is over is dropped; but where sums of vertices are wanted it is finished."""

    def __init__(self, engine: LocalEngine, options: DistanceOptions, connected: Connected,
                 log2_registers: int) -> None:
        self._engine, self._options, self._connected, self._bits = engine, options, connected, log2_registers
        self._wanted = 1 << (options.log2_registers - log2_registers)
        self.sums = None if options.out is None else BallSums(engine.facts.n_vertices)
        self._runs: list[np.ndarray] = []

    @property
    def complete(self) -> bool:
        """Whether all runs are done."""
        return len(self._runs) == self._wanted

    @property
    def begun(self) -> bool:
        """Whether there is an answer."""
        return bool(self._runs)

    def run(self) -> None:
        """Count until the end, or until the time is over. Raises KeyboardInterrupt."""
        for number in range(self._wanted):
            self._engine.reporter.tick("count", run=number + 1)
            key = int(draw(np.uint64(self._options.seed), np.uint64(number)))
            try:
                self._runs.append(self._engine.grow_balls(self._bits, key, self.sums))
            except TimeOver:
                return

    def result(self) -> Distances:
        """What is known by now."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        levels = max(map(len, self._runs))
        runs = np.stack([np.pad(run, ((0, levels - len(run)), (0, 0))) for run in self._runs])
        counts = np.maximum(0, runs[:, :, 0].mean(axis=0))
        figures = figures_of(counts, options.quantile)
        error = jackknife(_left_out(runs), options.quantile)
        share = connected.pairs / max(1.0, float(counts.sum()))
        return Distances(
            facts.n_vertices, facts.n_arcs // 2, connected.n_components <= 1, connected.n_components,
            {d: round(share * count) for d, count in enumerate(counts.tolist()) if d and count},
            connected.unreachable(facts.n_vertices), None if figures is None else figures.mean,
            None if figures is None else figures.effective_diameter, options.quantile, HYPERBALL, 0,
            None if figures is None else error, options.seed, self.complete, 1 << self._bits, len(self._runs),
            details={"relative_error": relative_error(self._bits) / len(self._runs) ** 0.5})

    def vertex_sums(self) -> Sums:
        """What is summed over the balls of a vertex, for centralities."""
        sums = self.sums
        assert sums is not None, "sums are counted where a file is to be written"

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = np.maximum(0, sums.values[:, vertices] / sums.runs)
            return values[0], values[1], values[2]

        return of


def _left_out(runs: np.ndarray) -> Iterator[np.ndarray]:
    """The distribution without each group of registers of each run, float64[levels + 1]. runs : float64[runs, levels +
    1, 1 + groups]."""
    groups = runs.shape[2] - 1
    total = runs[:, :, 0].sum(axis=0)
    rest = 1 - 1 / groups  # of the registers of a run
    for run in runs:
        for g in range(1, groups + 1):
            yield np.maximum(0, total - run[:, 0] + rest * run[:, g]) / (len(runs) - 1 + rest)
