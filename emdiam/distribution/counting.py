"""Counting by traversals from sources: a sample of the vertices, or all of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import cast

import numpy as np

from ..engine.interface import Counting, Engine
from ..progress import TimeOver
from ..traverse.tally import DistanceSums, added_from
from ..units import format_seconds
from .centrality import Sums, mean_error
from .options import DistanceOptions
from .parts import Connected
from .result import EXACT, SAMPLE, Distances
from .sources import Part, group_count, parts_of_all, parts_of_sample, sampled_sources
from .statistics import Figures, figures_of, jackknife, without_each

# A forecast that is longer is told at once.
_LONG_SECONDS = 60.0
# Of counts by distance in a plan: MOST_ENTRIES of them.
COUNT_BYTES = 4 << 20


class SourceCount:
    """The distances from sources, as far as they are counted.

    deadline : when the time is over, by time.monotonic(); None: never. A part of the sources that is under way then is
    dropped; but where sums of vertices are wanted it is finished, since they cannot do without the rest of it.
    """

    def __init__(self, engine: Engine, options: DistanceOptions, connected: Connected, deadline: float | None) -> None:
        self._engine, self._options, self._connected, self._deadline = engine, options, connected, deadline
        self._population = engine.facts.n_vertices - engine.facts.n_isolated
        self.sums = None if options.out is None else DistanceSums(engine.facts.n_vertices)
        self._counts = np.zeros((1, 1), np.int64)
        self._done: list[np.ndarray] = []
        self.complete = False

    @property
    def samples(self) -> int:
        """Sources that are counted."""
        return sum(map(len, self._done))

    @property
    def begun(self) -> bool:
        """Whether there is an answer."""
        return self.complete or bool(self._done)

    def run(self) -> None:
        """Count until the end, or until the time is over. Raises KeyboardInterrupt."""
        parts = list(self._parts()) if self._population else []
        total, begin = sum(len(part.sources) for part in parts), time.monotonic()
        self._counts = np.zeros((max((1 + int(np.max(part.groups)) for part in parts), default=1), 1), np.int64)
        self._engine.reporter.tick("count", sources=total)
        for part in parts:
            if self._deadline is not None and time.monotonic() >= self._deadline:
                return
            try:
                self._count(part)
            except TimeOver:
                return
            if len(self._done) == 1:
                self._tell((time.monotonic() - begin) * (total / self.samples - 1))
        self.complete = True

    def _parts(self) -> Iterator[Part]:
        engine, options = self._engine, self._options
        groups, most = group_count(self._connected.depth), engine.facts.batch_bits
        if options.method == SAMPLE and options.sample < self._population:
            return parts_of_sample(sampled_sources(engine, options.seed, options.sample), groups, most)
        return parts_of_all(engine, options.seed, groups, most)

    def _count(self, part: Part) -> None:
        first = int(np.min(part.groups))
        groups = None if isinstance(part.groups, int) else part.groups - first
        counts = cast(Counting, self._engine).count_distances(part.sources, groups=groups, sums=self.sums)
        self._counts = added_from(self._counts, first, counts)
        self._done.append(part.sources)
        self._engine.reporter.tick("count", counted=self.samples)

    def _tell(self, left: float) -> None:
        """Say how long the rest will take, if that is long."""
        if left > _LONG_SECONDS:
            logging.getLogger("emdiam").warning(
                "counting from %s vertices will take about %s more; --sample, --hyperball and --time-limit take less",
                f"{self._population:,}", format_seconds(left))

    def result(self) -> Distances:
        """What is known by now."""
        facts, connected, options = self._engine.facts, self._connected, self._options
        samples = self.samples
        exact = samples == self._population
        counts = self._counts.sum(axis=0)
        counts[0] = 0
        figures = figures_of(counts, options.quantile)
        share = 0.5 if exact else connected.pairs / max(1, int(counts.sum()))
        error = Figures(0.0, 0.0) if exact else jackknife(
            without_each(self._counts), options.quantile, 1 - samples / self._population)
        details = {} if options.out is None else {
            "centrality": {"mean_distance_error": 0.0 if exact else mean_error(len(counts) - 1, samples)}}
        return Distances(
            facts.n_vertices, facts.n_arcs // 2, connected.n_components <= 1, connected.n_components,
            {d: round(share * int(count)) for d, count in enumerate(counts.tolist()) if count},
            connected.unreachable(facts.n_vertices), None if figures is None else figures.mean,
            None if figures is None else figures.effective_diameter, options.quantile, EXACT if exact else SAMPLE,
            samples, None if figures is None else error, options.seed, self.complete, details=details)

    def vertex_sums(self) -> Sums:
        """What is summed over sources at vertices, for centralities; estimates where not all are counted."""
        sums = self.sums
        assert sums is not None, "sums are counted where a file is to be written"
        inside = np.sort(np.concatenate([np.empty(0, np.int64), *self._done]))

        def of(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            values = sums.values[:, vertices].astype(np.float64)
            place = np.searchsorted(inside, vertices)
            drawn = np.zeros(len(vertices), bool)
            drawn[place < len(inside)] = inside[place[place < len(inside)]] == vertices[place < len(inside)]
            scale = (self._population - 1) / np.maximum(1, len(inside) - drawn)
            return values[0] * scale, values[1] * scale, values[2] * scale / 2.0**sums.shift

        return of
