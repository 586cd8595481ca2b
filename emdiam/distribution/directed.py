"""How distances along arcs are distributed: ordered pairs of a vertex and another one that it reaches.

Sources are a random sample of all vertices, or all of them; what is counted from them is scaled to all. Pairs without a
path are counted exactly where all vertices are sources, and estimated as the others else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InputError, StoppedEarly
from ..methods.directed.method import phases
from ..progress import TimeOver, timed
from ..traverse.distance_table import DistanceTable
from ..traverse.multi import MOST_BITS
from .result import (
    EXACT,
    HYPERBALL,
    SAMPLE,
    DistanceOptions,
    Distances,
    Figures,
    answer,
    counted_bytes,
    jackknife,
    options_of,
)
from .sources import MOST_GROUPS, parts_in_order

if TYPE_CHECKING:
    from ..engine.directed import DirectedEngine
    from ..methods.run import Limits
    from ..runs.task import Session, Task


@dataclass(repr=False)
class DirectedDistances(Distances):
    """As Distances; all pairs are ordered, of a vertex and another one that it reaches along arcs. n_edges : arcs.
    connected, n_components : of the graph without directions. unreachable_pairs : ordered pairs without a path, an
    estimate where not all vertices were sources."""

    shown: ClassVar[tuple[str, ...]] = (*Distances.shown, "strongly_connected", "n_strong_components")

    directed: bool = True
    strongly_connected: bool = False
    n_strong_components: int = 0


def options(task: Task, own: dict[str, Any], limits: Limits) -> DistanceOptions:
    """Those that distances along arcs have. Raises InputError."""
    asked = options_of(own)
    if asked.method == HYPERBALL:
        raise InputError("distances along arcs are counted from sources", remedy="use --sample or --exact")
    return asked


def solve(session: Session) -> Any:
    """The result. Raises InputError (BudgetError), and StoppedEarly on Ctrl-C and at the end of the time, with `result`
    where sources have been counted by then."""
    if session.task.options.of_table:
        from .table import solve as solve_table

        return solve_table(session, weighted=False)
    if session.task.options.centralities:
        from .weighted import solve as solve_by_searches

        return solve_by_searches(session, weighted=False)
    state = phases(session.store, 2, 4, counted_bytes(session.store.n_vertices, MOST_GROUPS))
    with session.engine_along_arcs(state, batches=True) as engine:
        count, why = _Count(engine, session.task.options, session.deadline), "the time limit is over"
        try:
            count.run()
        except KeyboardInterrupt:
            why = "stopped by the user"
        except TimeOver:
            pass
        if not count.samples:
            raise StoppedEarly(f"{why} before anything was counted")
        result = count.result()
        session.complete(result, engine)
        result.seconds = {"load": engine.load_seconds, **count.seconds, "total": session.elapsed}
    if not result.complete:
        raise StoppedEarly(f"{why}; the answer is that of {result.samples:,} sources", result)
    return result


class _Count:
    """One run. samples : sources that were counted. seconds : wall seconds of its stages."""

    def __init__(self, engine: DirectedEngine, asked: DistanceOptions, deadline: float | None) -> None:
        self._engine, self._asked, self._deadline = engine, asked, deadline
        self.samples, self.seconds = 0, dict[str, float]()
        self._table = DistanceTable(MOST_GROUPS)
        self._complete, self._weak = False, 0

    def run(self) -> None:
        """Find the components, then count from part after part."""
        engine, asked, n = self._engine, self._asked, self._engine.n_vertices
        with timed(self.seconds, "components"):
            self._weak = engine.weak()[1]
            _ = engine.strong
        sources = np.arange(n)
        if asked.method == SAMPLE:
            np.random.default_rng(asked.seed).shuffle(sources)
            sources = np.sort(sources[: asked.sample])
        # In random order, so that parts that are done are a sample, too.
        np.random.default_rng(asked.seed + 1).shuffle(sources)
        with timed(self.seconds, "count"):
            for part in parts_in_order(sources, MOST_BITS):
                if self._deadline is not None and time.monotonic() >= self._deadline:
                    return
                table = DistanceTable(MOST_GROUPS)
                engine.count_distances(part.sources, table, groups=part.groups)
                self._table.take(table)
                self.samples += len(part.sources)
                engine.reporter.tick("count", counted=self.samples, sources=len(sources))
        self._complete = True

    def result(self) -> DirectedDistances:
        """What is known by now."""
        engine, asked, n = self._engine, self._asked, self._engine.n_vertices
        used = engine.reporter.stats()
        exact, pairs = self.samples == n, self._table.total()
        unreached = self.samples * (n - 1) - int(pairs.counts.sum())
        share, n_strong = n / self.samples, engine.strong[1]
        error = Figures(0.0, 0.0) if exact else jackknife(
            self._table.without_each(), asked.quantile, 1 - self.samples / n)
        return answer(
            DirectedDistances, asked, pairs, share, error, self._table.groups, n_vertices=n,
            n_edges=engine.store.n_arcs,
            connected=self._weak == 1, n_components=self._weak, unreachable_pairs=round(share * unreached),
            method=EXACT if exact else SAMPLE, samples=self.samples, complete=self._complete, levels=used.levels,
            edges_scanned=used.edges_scanned, strongly_connected=n_strong == 1, n_strong_components=n_strong)
