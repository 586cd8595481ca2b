"""Counting by traversals from sources: a sample of the vertices, or all of them.

Estimation by HyperBall: one run with all registers, or several with fewer if memory has no room for these.
R independent runs (with different hashes) of 2^p registers a vertex are averaged in place of one with R 2^p: the same
total of registers, so the same error, for R times the passes. Pairs are scaled so that their total is the number of
connected pairs, which is known exactly. Standard errors are from the jackknife over groups of registers, at most 16,
each with the same registers of all runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from ..engine.cpu import LocalEngine
from ..engine.interface import Counting, Engine
from ..hashing import draw
from ..progress import TimeOver
from ..traverse.distance_table import DistanceTable, PairCounts
from ..traverse.hyperball import BallSums, ball_table, relative_error
from ..traverse.tally import DistanceSums
from ..units import format_seconds
from .centrality import Sums, mean_error
from .result import EXACT, HYPERBALL, SAMPLE, DistanceOptions, Distances, Figures, answer, jackknife
from .sources import MOST_GROUPS, Connected, Part, parts_in_order, parts_of_all, sampled_sources


class BallCount:
    """Runs of HyperBall, as far as they are done. log2_registers : of a vertex, in a run. When the time is over, the
    current run is dropped; if sums of vertices are wanted, it is finished instead."""

    def __init__(self, engine: LocalEngine, options: DistanceOptions, connected: Connected,
                 log2_registers: int) -> None:
        self._engine, self._options, self._connected, self._bits = engine, options, connected, log2_registers
        self._wanted = 1 << (options.log2_registers - log2_registers)
        self.sums = BallSums(engine.facts.n_vertices) if options.centralities else None
        self._table, self._done = ball_table(log2_registers), 0

    @property
    def complete(self) -> bool:
        """Whether all runs are done."""
        return self._done == self._wanted

    @property
    def started(self) -> bool:
        """Whether there is a result."""
        return self._done > 0

    def run(self) -> None:
        """Count to the end, or until the time is over. Raises KeyboardInterrupt."""
        for number in range(self._wanted):
            self._engine.reporter.tick("count", run=number + 1)
            key = int(draw(np.uint64(self._options.seed), np.uint64(number)))
            try:
                self._table.take(self._engine.grow_balls(self._bits, key, self.sums))
            except TimeOver:
                return
            self._done += 1

    def result(self) -> Distances:
        """The result of the runs done so far."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        pairs = grown(self._table.row(0))
        error = jackknife((grown(self._table.row(number)) for number in range(1, self._table.rows)), options.quantile)
        share = connected.pairs / max(1.0, float(pairs.counts.sum()))
        return answer(
            Distances, options, pairs, share, error, n_vertices=facts.n_vertices, n_edges=facts.n_arcs // 2,
            connected=connected.n_components <= 1, n_components=connected.n_components,
            unreachable_pairs=connected.unreachable(facts.n_vertices), method=HYPERBALL, samples=0,
            complete=self.complete, registers=1 << self._bits, runs=self._done,
            details={"relative_error": relative_error(self._bits) / self._done**0.5})

    def vertex_sums(self) -> Sums:
        """Sums over the balls of vertices, for centralities."""
        sums = self.sums
        assert sums is not None, "sums are counted where a file is to be written"

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = np.maximum(0, sums.values[:, vertices] / sums.runs)
            return values[0], values[1], values[2]

        return of


def grown(pairs: PairCounts) -> PairCounts:
    """The pairs, with 0 at distances where balls have shrunk by their estimates."""
    return replace(pairs, counts=np.maximum(0, pairs.counts))


# A longer forecast is reported at once.
_LONG_SECONDS = 60.0


class SourceCount:
    """The distances from sources, as far as they are counted.

    samples : number of sources counted. deadline : when the time is over, by time.monotonic(); None: never. The
    current part of the sources is then dropped; if sums of vertices are wanted it is finished instead, since they need
    the whole part.
    """

    def __init__(self, engine: Engine, options: DistanceOptions, connected: Connected, deadline: float | None) -> None:
        self._engine, self._options, self._connected, self._deadline = engine, options, connected, deadline
        self._population = engine.facts.n_vertices - engine.facts.n_isolated
        n = engine.facts.n_vertices
        self.sums = DistanceSums(n) if options.centralities else None
        self._drawn = np.zeros(n, bool) if options.centralities else None
        self._table = DistanceTable(MOST_GROUPS)
        self.samples, self.complete = 0, False

    @property
    def started(self) -> bool:
        """Whether there is a result."""
        return self.complete or self.samples > 0

    def run(self) -> None:
        """Count to the end, or until the time is over. Raises KeyboardInterrupt."""
        begin, options = time.monotonic(), self._options
        total = min(options.sample, self._population) if options.method == SAMPLE else self._population
        self._engine.reporter.tick("count", sources=total)
        for part in self._parts() if total else ():
            if self._deadline is not None and time.monotonic() >= self._deadline:
                return
            try:
                self._count(part)
            except TimeOver:
                return
            if self.samples == len(part.sources):
                self._tell(total, (time.monotonic() - begin) * (total / self.samples - 1))
        self.complete = True

    def _parts(self) -> Iterator[Part]:
        engine, options = self._engine, self._options
        most = cast(Counting, engine).counted_at_once()
        if options.method == SAMPLE and options.sample < self._population:
            return parts_in_order(sampled_sources(engine, options.seed, options.sample), most)
        return parts_of_all(engine, options.seed, most)

    def _count(self, part: Part) -> None:
        table = DistanceTable(MOST_GROUPS)
        cast(Counting, self._engine).count_distances(part.sources, table, groups=part.groups, sums=self.sums)
        self._table.take(table)
        self.samples += len(part.sources)
        if self._drawn is not None:
            self._drawn[part.sources] = True
        self._engine.reporter.tick("count", counted=self.samples)

    def _tell(self, total: int, left: float) -> None:
        """Report the expected time for the rest, if it is long."""
        if left > _LONG_SECONDS:
            logging.getLogger("emdiam").warning(
                "counting from %s vertices will take about %s more; fewer, HyperBall and a time limit take less",
                f"{total:,}", format_seconds(left))

    def result(self) -> Distances:
        """The result of the sources counted so far."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        samples = self.samples
        exact = samples == self._population
        pairs = self._table.total()
        share = 0.5 if exact else connected.pairs / max(1, int(pairs.counts.sum()))
        error = Figures(0.0, 0.0) if exact else jackknife(
            self._table.without_each(), options.quantile, 1 - samples / self._population)
        details = {} if not options.centralities else {
            "centrality": {"mean_distance_error": 0.0 if exact else mean_error(pairs.largest, samples)}}
        return answer(
            Distances, options, pairs, share, error, self._table.groups, n_vertices=facts.n_vertices,
            n_edges=facts.n_arcs // 2,
            connected=connected.n_components <= 1, n_components=connected.n_components,
            unreachable_pairs=connected.unreachable(facts.n_vertices), method=EXACT if exact else SAMPLE,
            samples=samples, complete=self.complete, details=details)

    def vertex_sums(self) -> Sums:
        """Sums over sources at vertices, for centralities; estimates if not all sources are counted."""
        sums, inside = self.sums, self._drawn
        assert sums is not None and inside is not None, "sums are counted where a file is to be written"

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = sums.values[:, vertices].astype(np.float64)
            scale = (self._population - 1) / np.maximum(1, self.samples - inside[vertices])
            return values[0] * scale, values[1] * scale, values[2] * scale / 2.0**sums.shift

        return of
