"""What exact methods on graphs with directions share: counted traversals, the longest pair, limits, the result.

The largest finite distance is the largest d(s, t) of a vertex s and a vertex t that it reaches. ecc_out(v) is the
largest distance from v to a vertex that it reaches, ecc_in(v) that to v from one that reaches it. Strong components are
numbered in reverse topological order; shortest paths between two vertices of one stay within it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._version import __version__
from ...engine.directed import DirectedEngine, shared_bytes
from ...errors import DisconnectedError, InputError
from ...progress import TimeOver
from ...store.store import Store
from ...stream.counters import Counters
from ...stream.plan import Phase
from ...traverse.bfs import Traversal
from ...traverse.columns import FOLD_BYTES, Column
from ...traverse.strong import strong_bytes
from ...traverse.workspace import column_bytes
from ..definition import MethodOptions
from ..exact.method import Best, Stages, stopping
from ..exact.witness import check_witness
from .result import DirectedResult


@dataclass(frozen=True)
class DirectedOptions(MethodOptions):
    """sweeps : double sweeps at the beginning. seed : of their random start vertices."""

    sweeps: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sweeps < 0:
            raise InputError("the number of double sweeps cannot be negative", text=str(self.sweeps))


class DirectedMethod:
    """One run; run_directed gives its result. A subclass has `name` and `_solve`.

    best : the longest pair. upper : proved of the largest finite distance. numbers, n_strong : see strong_components.
    sizes : vertices of every strong component, int64[n_strong]."""

    name: ClassVar[str] = ""
    options: DirectedOptions
    numbers: np.ndarray
    sizes: np.ndarray

    def __init__(self, engine: DirectedEngine, options: DirectedOptions) -> None:
        limits = options.limits
        if (limits.gap or 0) < 0 or (limits.seconds or 0) < 0:
            raise InputError("a limit cannot be negative", text=str(limits))
        self.engine, self.options, self.n = engine, options, engine.n_vertices
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.random = np.random.default_rng(options.seed)
        self.best, self.stages, self.upper = Best(), Stages(), max(0, self.n - 1)
        self.n_strong: int | None = None
        self.n_weak: int | None = None
        self.enough: str | None = None
        self.not_written: list[str] = []

    # -- what a method is -----------------------------------------------------------------------
    def _solve(self) -> None:
        """Raise best and lower upper until they meet, or `satisfied`."""
        raise AssertionError("a method solves")

    def _details(self) -> dict[str, Any]:
        """For Result.details."""
        return {}

    # -- what a method uses ---------------------------------------------------------------------
    def traverse(self, vertex: int, *, back: bool = False, within: np.ndarray | None = None, counts: bool = True,
                 distances: bool = True) -> Traversal:
        """A counted BFS from `vertex`. counts : what it finds raises the longest pair. Raises what check_time does."""
        self.check_time()
        with self.stages.timed("bfs"):
            self.tick("bfs")
            run = self.engine.bfs(vertex, back=back, within=within, distances=distances)
            self.stages.bfs += 1
        if counts and run.levels > self.best.length:
            ends = (run.farthest, vertex) if back else (vertex, run.farthest)
            self.best = Best(run.levels, *ends)
        return run

    def check_time(self) -> None:
        """Ends the run with StoppedEarly when the time is over."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise TimeOver

    def satisfied(self) -> bool:
        """Whether the interval is as narrow as asked for."""
        gap = self.options.limits.gap
        if self.upper > self.best.length and gap is not None and self.upper - self.best.length <= gap:
            self.enough = "gap"
        return self.upper - self.best.length <= (gap or 0)

    def tick(self, phase: str) -> None:
        """Report progress, with the bounds so far."""
        self.engine.reporter.tick(phase, lower=self.best.length, upper=max(self.upper, self.best.length))

    def sweep(self) -> None:
        """The double sweeps: from a random vertex along arcs, and back from one that is farthest from it."""
        for _ in range(self.options.sweeps):
            start = int(self.random.integers(self.n))
            end = self.traverse(start, counts=False, distances=False).farthest
            self.traverse(end, back=True, distances=False)

    def members(self, vertex: int) -> np.ndarray:
        """The strong component of a vertex, a bitmap uint64[ceil(n / 64)]."""
        bits = np.zeros((self.n + 63) // 64 * 8, np.uint8)
        packed = np.packbits(self.numbers == self.numbers[vertex], bitorder="little")
        bits[: len(packed)] = packed
        return bits.view(np.uint64)

    # -- the run --------------------------------------------------------------------------------
    def solve(self) -> None:
        """Find the components, and the largest finite distance."""
        self.tick("components")
        with self.stages.timed("components"):
            self.n_weak = self.engine.weak()[1]
            self.numbers, self.n_strong = self.engine.strong
        if self.options.limits.connected and self.n_strong > 1:
            raise DisconnectedError(
                f"the graph is not strongly connected: it has {self.n_strong:,} strong components",
                remedy="leave --require-connected out for the largest finite distance")
        self.sizes = np.bincount(self.numbers, minlength=self.n_strong)
        if self.engine.store.n_arcs == 0:
            self.upper = 0
            return
        self._solve()

    def result(self, before: Counters, begin: float) -> DirectedResult:
        """What is proved so far, without a witness."""
        used, elapsed = self.engine.reporter.stats() - before, time.perf_counter() - begin
        enough = {} if self.enough is None else {"enough": self.enough}
        return DirectedResult(
            method=self.name, n_vertices=self.n, n_edges=self.engine.store.n_arcs,
            connected=None if self.n_weak is None else self.n_weak == 1, n_components=self.n_weak, diameter=None,
            diameter_largest_component=None, diameter_max_component=None, lower=self.best.length,
            upper=max(self.best.length, self.upper), exact=False, witness=None, traversals=self.stages.traversals(),
            levels=used.levels, edges_scanned=used.edges_scanned, bytes_read=used.bytes_read,
            seconds={"total": elapsed, "solve": elapsed, "verify": 0.0}, version=__version__,
            strongly_connected=None if self.n_strong is None else self.n_strong == 1,
            n_strong_components=self.n_strong,
            details={**self._details(), **enough, "stage_seconds": dict(self.stages.seconds),
                     "counters": used.to_dict()})


class TowardsTarget:
    """A graph with directions as check_witness takes a graph: distances are those to the target of a path."""

    def __init__(self, engine: DirectedEngine) -> None:
        self._engine, self.store, self.reporter = engine, engine.store, engine.reporter

    def bfs(self, target: int) -> Traversal:
        """Distances to `target`."""
        return self._engine.bfs(target, back=True)

    def scan(self, name: str, labels: Column) -> int:
        """Arcs from which a label falls by more than 1, or that lead from no label to one."""
        assert name == "steep-arcs"
        return self._engine.steep_steps(labels, back=True)

    def path_pieces(self, labels: Column, source: int) -> Iterator[np.ndarray]:
        """A path along arcs, source first."""
        return self._engine.path_pieces(labels, source)

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """Whether all are arcs."""
        return self._engine.all_arcs_exist(tails, heads)


def run_directed(method: DirectedMethod) -> DirectedResult:
    """The result of the method, which is run, with the witness of its lower bound, which is checked along arcs.

    Raises InputError for a graph without vertices, StoppedEarly with `result` (the interval so far) on Ctrl-C and at
    the end of the time, EmdiamError if the witness does not check out."""
    engine = method.engine
    if engine.n_vertices == 0:
        raise InputError("the graph has no vertices, so its diameter is undefined")
    begin, before = time.perf_counter(), engine.reporter.stats()
    with stopping(lambda: method.result(before, begin)):
        method.solve()
        solved = time.perf_counter()
        method.tick("verify")
        towards: Any = TowardsTarget(engine)
        best = method.best
        witness = check_witness(towards, best.source, best.target, best.length, method.options.path_file,
                                method.not_written)
    result = method.result(before, begin)
    result.witness, result.not_written = witness, method.not_written
    result.seconds["solve"], result.seconds["verify"] = solved - begin, time.perf_counter() - solved
    result.exact = result.lower == result.upper
    if result.exact:
        result.largest_distance = result.lower
        result.diameter = result.lower if result.strongly_connected else None
    return result


def phases(store: Store, columns: int = 2, arrays: int = 0, beside: int = 0) -> tuple[Phase, ...]:
    """Vertex state by phase: so many distance columns while it solves, of the widest entries that there may be, beside
    the numbers of components, `arrays` vectors of 4 bytes and `beside` bytes."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    shared, width = shared_bytes(store), column_bytes(n)
    solving = n * (ids + 4 * arrays + columns * width + 2) + beside + FOLD_BYTES
    sizes = {"components": strong_bytes(n, ids) + n * ids, "solve": solving, "verify": n * width * 2}
    return tuple(Phase(name, (shared + size) / max(1, n), shared + size, shared + size, shared + size, shared + size)
                 for name, size in sizes.items())


def chunks(vertices: np.ndarray, degrees: Callable[[np.ndarray], np.ndarray], most_arcs: int) -> Iterable[np.ndarray]:
    """`vertices` in order, in pieces with about so many arcs at most, one vertex at least."""
    done = 0
    while done < len(vertices):
        ends = np.cumsum(degrees(vertices[done : done + 4096]))
        count = max(1, int(np.searchsorted(ends, most_arcs, side="right")))
        yield vertices[done : done + count]
        done += count
