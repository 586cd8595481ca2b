"""Counting by traversals from sources: a sample of the vertices, or all of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import cast

import numpy as np

from ..engine.interface import Counting, Engine
from ..progress import TimeOver
from ..traverse.distance_table import DistanceTable
from ..traverse.tally import DistanceSums
from ..units import format_seconds
from .centrality import Sums, mean_error
from .result import EXACT, SAMPLE, DistanceOptions, Distances, Figures, answer, jackknife
from .sources import MOST_GROUPS, Connected, Part, parts_in_order, parts_of_all, sampled_sources

# A forecast that is longer is told at once.
_LONG_SECONDS = 60.0


class SourceCount:
    """The distances from sources, as far as they are counted.

    samples : sources that are counted. deadline : when the time is over, by time.monotonic(); None: never. A part of
    the sources that is under way then is dropped; but where sums of vertices are wanted it is finished, since they
    cannot do without the rest of it.
    """

    def __init__(self, engine: Engine, options: DistanceOptions, connected: Connected, deadline: float | None) -> None:
        self._engine, self._options, self._connected, self._deadline = engine, options, connected, deadline
        self._population = engine.facts.n_vertices - engine.facts.n_isolated
        n = engine.facts.n_vertices
        self.sums = None if options.out is None else DistanceSums(n)
        self._drawn = None if options.out is None else np.zeros(n, bool)
        self._table = DistanceTable(MOST_GROUPS)
        self.samples, self.complete = 0, False

    @property
    def begun(self) -> bool:
        """Whether there is an answer."""
        return self.complete or self.samples > 0

    def run(self) -> None:
        """Count until the end, or until the time is over. Raises KeyboardInterrupt."""
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
                self._tell((time.monotonic() - begin) * (total / self.samples - 1))
        self.complete = True

    def _parts(self) -> Iterator[Part]:
        engine, options = self._engine, self._options
        most = engine.facts.batch_bits
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

    def _tell(self, left: float) -> None:
        """Say how long the rest will take, if that is long."""
        if left > _LONG_SECONDS:
            logging.getLogger("emdiam").warning(
                "counting from %s vertices will take about %s more; a sample, HyperBall and a time limit take less",
                f"{self._population:,}", format_seconds(left))

    def result(self) -> Distances:
        """What is known by now."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        samples = self.samples
        exact = samples == self._population
        pairs = self._table.total()
        share = 0.5 if exact else connected.pairs / max(1, int(pairs.counts.sum()))
        error = Figures(0.0, 0.0) if exact else jackknife(
            self._table.without_each(), options.quantile, 1 - samples / self._population)
        details = {} if options.out is None else {
            "centrality": {"mean_distance_error": 0.0 if exact else mean_error(pairs.largest, samples)}}
        return answer(
            Distances, options, pairs, share, error, n_vertices=facts.n_vertices, n_edges=facts.n_arcs // 2,
            connected=connected.n_components <= 1, n_components=connected.n_components,
            unreachable_pairs=connected.unreachable(facts.n_vertices), method=EXACT if exact else SAMPLE,
            samples=samples, complete=self.complete, details=details)

    def vertex_sums(self) -> Sums:
        """What is summed over sources at vertices, for centralities; estimates where not all are counted."""
        sums, inside = self.sums, self._drawn
        assert sums is not None and inside is not None, "sums are counted where a file is to be written"

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = sums.values[:, vertices].astype(np.float64)
            scale = (self._population - 1) / np.maximum(1, self.samples - inside[vertices])
            return values[0] * scale, values[1] * scale, values[2] * scale / 2.0**sums.shift

        return of
