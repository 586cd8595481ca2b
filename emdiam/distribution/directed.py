"""The distribution of distances along arcs, over ordered pairs of a vertex and another one that it reaches.

Sources are a random sample of all vertices, or all of them; counts are scaled to all sources. Pairs without a path are
counted exactly if all vertices are sources, else estimated like the others. Exact centralities are sums over all
sources at every vertex, along arcs and against them (traverse/tally.py); those of a sample are in weighted.py.

With HyperBall (traverse/hyperball.py) the ball of a vertex has the vertices that it reaches; on the rows of the
reverse, for centralities by distances to a vertex, the vertices that reach it. The number of pairs is that in the
balls, not scaled, since the true number is not known. Harmonic centrality is a sum of sizes of balls, each times a
positive number, so its relative error is at most that of a counter.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import StoppedEarly
from ..hashing import draw
from ..methods.directed.method import phases
from ..progress import TimeOver, timed
from ..store.store import Store
from ..traverse.distance_table import DistanceTable
from ..traverse.hyperball import BallSums, ball_table, groups_of, hyperball_bytes, relative_error
from ..traverse.multi import MOST_BITS
from ..traverse.tally import DistanceSums
from ..units import format_count
from ..vertex_tables import PIECE, Piece, write_vertices
from .centrality import closeness
from .counting import grown
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
    most_registers,
    options_of,
)
from .sources import MOST_GROUPS, parts_in_order

if TYPE_CHECKING:
    from ..engine.directed import DirectedEngine
    from ..methods.run import Limits
    from ..runs.task import Session, Task
    from ..stream.plan import Phase


@dataclass(repr=False)
class DirectedDistances(Distances):
    """As Distances; all pairs are ordered, of a vertex and another one that it reaches along arcs. n_edges : arcs.
    connected, n_components : of the graph without directions. unreachable_pairs : ordered pairs without a path,
    an estimate if not all vertices were sources."""

    shown: ClassVar[tuple[str, ...]] = (*Distances.shown, "strongly_connected", "n_strong_components")

    directed: bool = True
    strongly_connected: bool = False
    n_strong_components: int = 0


def options(task: Task, own: dict[str, Any], limits: Limits) -> DistanceOptions:
    """The options of distances along arcs. Raises InputError."""
    return options_of(task, own)


def solve(session: Session) -> Any:
    """The result. Raises InputError (BudgetError), and StoppedEarly on Ctrl-C and when the time is over, with `result`
    if sources have been counted by then."""
    if session.task.options.of_table:
        from .table import solve as solve_table

        return solve_table(session, weighted=False)
    asked = session.task.options
    if asked.centralities and asked.method == SAMPLE:
        from .weighted import solve as solve_by_searches

        return solve_by_searches(session, weighted=False)
    bits = _registers(session) if asked.method == HYPERBALL else 0
    with session.engine_along_arcs(_phases(session.store, asked, bits), batches=True) as engine:
        count: _Count | _Balls = (_Balls(engine, asked, bits) if asked.method == HYPERBALL else
                                  _Count(engine, asked, session.deadline))
        why = "the time limit is over"
        try:
            count.run()
        except KeyboardInterrupt:
            why = "stopped by the user"
        except TimeOver:
            pass
        if not count.has_answer:
            raise StoppedEarly(f"{why} before anything was counted")
        result = count.result()
        if count.settled:
            count.tell(result, session)
        session.complete(result, engine)
        result.seconds = {"load": engine.load_seconds, **count.seconds, **result.seconds, "total": session.elapsed}
    if not result.complete:
        done = format_count(result.samples, "source") if result.runs is None else format_count(result.runs, "run")
        raise StoppedEarly(f"{why}; the answer is that of {done}", result)
    return result


def _phases(store: Store, asked: DistanceOptions, log2_registers: int) -> tuple[Phase, ...]:
    """Vertex state of counting: for sources, or for counters with 2^log2_registers registers and both kinds of sums."""
    n = store.n_vertices
    if not log2_registers:
        sums = 2 * DistanceSums.bytes_for(n) + n if asked.centralities else 0
        return phases(store, 2, 4, counted_bytes(n, MOST_GROUPS) + sums + (16 * n if asked.keep else 0))
    rows = 1 + groups_of(log2_registers)
    sums = (64 if asked.centralities else 0) + (16 if asked.keep else 0)
    return phases(store, 0, 4, hyperball_bytes(n, log2_registers) + counted_bytes(n, rows, rows) + sums * n)


def _registers(session: Session) -> int:
    """See most_registers."""
    asked = session.task.options
    return most_registers(asked.log2_registers,
                          lambda bits: session.plan_along_arcs(_phases(session.store, asked, bits)))


class _Run:
    """The common part of both ways to count: centralities from sums at every vertex over distances to it and from
    it."""

    seconds: dict[str, float]

    def __init__(self, engine: DirectedEngine, asked: DistanceOptions) -> None:
        self._engine, self._asked, self._weak, self.seconds = engine, asked, 0, {}
        self.settled = False  # whether the sums are complete for the sources or runs counted so far

    def _sums_at(self, side: int, vertices: np.ndarray) -> Any:
        """Number of other vertices, sum of their distances, and sum of the inverses, float64[k] each. side : 0 for
        vertices that reach these, 1 for vertices that these reach."""
        raise AssertionError("a way to count has sums")

    def _components(self) -> None:
        with timed(self.seconds, "components"):
            self._weak = self._engine.weak()[1]
            _ = self._engine.strong

    def _facts(self) -> dict[str, Any]:
        """Fields of every answer."""
        used, n_strong = self._engine.reporter.stats(), self._engine.strong[1]
        return {"n_vertices": self._engine.n_vertices, "n_edges": self._engine.store.n_arcs,
                "connected": self._weak == 1, "n_components": self._weak, "levels": used.levels,
                "edges_scanned": used.edges_scanned, "strongly_connected": n_strong == 1,
                "n_strong_components": n_strong}

    def tell(self, result: DirectedDistances, session: Session) -> None:
        """Write the centralities, or put them into the result, if wanted."""
        out, store, n = self._asked.out, session.store, self._engine.n_vertices
        placed = store.natural_ids()
        order = np.arange(n) if placed is None else np.argsort(placed, kind="stable")
        if out is not None:
            session.write(result, "out", out, lambda: write_vertices(
                out, (self._rows(store, order[start : start + PIECE]) for start in range(0, n, PIECE)), "the table"))
        if self._asked.keep:
            result.closeness, result.harmonic = self._of(0, order)

    def _rows(self, store: Store, vertices: np.ndarray) -> Piece:
        (close_in, harmonic_in), (close_out, harmonic_out) = (self._of(side, vertices) for side in (0, 1))
        return {"id": store.user_ids(vertices), "closeness_in": close_in, "harmonic_in": harmonic_in,
                "closeness_out": close_out, "harmonic_out": harmonic_out}

    def _of(self, side: int, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Closeness and harmonic centrality of vertices. side : see _sums_at."""
        reached, total, inverse = self._sums_at(side, vertices)
        return closeness(reached, total, self._engine.n_vertices), inverse


class _Count(_Run):
    """One run. samples : number of sources counted. seconds : wall seconds of its stages."""

    def __init__(self, engine: DirectedEngine, asked: DistanceOptions, deadline: float | None) -> None:
        super().__init__(engine, asked)
        self._deadline, self.samples, self._complete = deadline, 0, False
        self._table = DistanceTable(MOST_GROUPS)
        n = engine.n_vertices
        self._sums = [DistanceSums(n) for _ in range(2)] if asked.centralities else []
        self._drawn = np.zeros(n if asked.centralities else 0, np.bool_)

    @property
    def has_answer(self) -> bool:
        """Whether there is a result."""
        return self.samples > 0

    def run(self) -> None:
        """Find the components, then count from part after part."""
        engine, asked, n = self._engine, self._asked, self._engine.n_vertices
        self._components()
        sources = np.arange(n)
        if asked.method == SAMPLE:
            np.random.default_rng(asked.seed).shuffle(sources)
            sources = np.sort(sources[: asked.sample])
        # In random order, so that the parts done so far are a sample too.
        np.random.default_rng(asked.seed + 1).shuffle(sources)
        with timed(self.seconds, "count"):
            for part in parts_in_order(sources, MOST_BITS):
                if self._deadline is not None and time.monotonic() >= self._deadline:
                    return
                table, self.settled = DistanceTable(MOST_GROUPS), False
                into, out = self._sums or (None, None)
                engine.count_distances(part.sources, table, groups=part.groups, sums=into)
                if out is not None:
                    engine.count_distances(part.sources, DistanceTable(1), sums=out, back=True)
                    self._drawn[part.sources] = True
                self._table.take(table)
                self.samples, self.settled = self.samples + len(part.sources), True
                engine.reporter.tick("count", counted=self.samples, sources=len(sources))
        self._complete = True

    def result(self) -> DirectedDistances:
        """The result of the sources counted so far."""
        asked, n = self._asked, self._engine.n_vertices
        exact, pairs = self.samples == n, self._table.total()
        unreached = self.samples * (n - 1) - int(pairs.counts.sum())
        share = n / self.samples
        error = Figures(0.0, 0.0) if exact else jackknife(
            self._table.without_each(), asked.quantile, 1 - self.samples / n)
        return answer(
            DirectedDistances, asked, pairs, share, error, self._table.groups, **self._facts(),
            unreachable_pairs=round(share * unreached), method=EXACT if exact else SAMPLE, samples=self.samples,
            complete=self._complete)

    def _sums_at(self, side: int, vertices: np.ndarray) -> Any:
        sums, n = self._sums[side], self._engine.n_vertices
        found = sums.values[:, vertices] * ((n - 1) / np.maximum(1, self.samples - self._drawn[vertices]))
        found[2] /= 2.0**sums.shift
        return found


class _Balls(_Run):
    """Runs of HyperBall. log2_registers : of a vertex, in each. seconds : wall seconds of stages."""

    def __init__(self, engine: DirectedEngine, asked: DistanceOptions, log2_registers: int) -> None:
        super().__init__(engine, asked)
        self._bits, self._wanted, self._done = log2_registers, 1 << (asked.log2_registers - log2_registers), 0
        # Sums over vertices that reach a vertex, and over those that it reaches.
        self._sums = [BallSums(engine.n_vertices) for _ in range(2)] if asked.centralities else []
        self._table = ball_table(log2_registers)

    @property
    def has_answer(self) -> bool:
        """Whether there is a result."""
        return self._done > 0

    def run(self) -> None:
        """Find the components, then grow all balls for each run."""
        engine, (into, out) = self._engine, self._sums or (None, None)
        self._components()
        with timed(self.seconds, "count"):
            for number in range(self._wanted):
                engine.reporter.tick("count", run=number + 1)
                key = int(draw(np.uint64(self._asked.seed), np.uint64(number)))
                table = engine.grow_balls(self._bits, key, out)
                if into is not None:
                    engine.grow_balls(self._bits, key, into, back=True)
                self._table.take(table)
                self._done += 1
        self.settled = True

    def result(self) -> DirectedDistances:
        """The result of the runs done so far."""
        n, pairs = self._engine.n_vertices, grown(self._table.row(0))
        error = jackknife((grown(self._table.row(number)) for number in range(1, self._table.rows)),
                          self._asked.quantile)
        return answer(
            DirectedDistances, self._asked, pairs, 1 / self._done, error, **self._facts(),
            unreachable_pairs=max(0, n * (n - 1) - round(float(pairs.counts.sum()) / self._done)), method=HYPERBALL,
            samples=0, complete=self._done == self._wanted, registers=1 << self._bits, runs=self._done,
            details={"relative_error": relative_error(self._bits) / self._done**0.5})

    def _sums_at(self, side: int, vertices: np.ndarray) -> Any:
        return np.maximum(0, self._sums[side].values[:, vertices] / self._done)
