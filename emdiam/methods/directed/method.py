"""The common part of exact methods on graphs with directions: counted traversals, longest pair, limits, result.

The largest finite distance is the largest d(s, t) of a vertex s and a vertex t that it reaches. ecc_out(v) is the
largest distance from v to a vertex that it reaches, ecc_in(v) that to v from a vertex that reaches it. Strong
components are numbered in reverse topological order; shortest paths between two vertices of one component stay within
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.directed import shared_bytes
from ...errors import DisconnectedError, InputError
from ...store.store import Store
from ...stream.counters import Counters
from ...stream.plan import Phase
from ...traverse.bfs import BfsResult
from ...traverse.columns import FOLD_BYTES
from ...traverse.strong import strong_bytes
from ...traverse.workspace import column_bytes
from ...vertex_tables import PIECE
from ..run import Best, MethodOptions, MethodRun
from .metric import ArcVerbs


@dataclass(frozen=True)
class DirectedOptions(MethodOptions):
    """sweeps : double sweeps at the beginning. seed : of their random start vertices."""

    sweeps: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sweeps < 0:
            raise InputError("the number of double sweeps cannot be negative", text=str(self.sweeps))


class DirectedMethod(MethodRun):
    """One run along arcs. A subclass has `name` and `_solve`.

    bound : proved upper bound on the largest finite distance. numbers, n_strong : see strong_components. sizes : number
    of vertices of each strong component, int64[n_strong]. searched : vertices whose searches along arcs, and against
    them, prove bounds, in order."""

    options: DirectedOptions
    metric: ArcVerbs
    numbers: np.ndarray
    sizes: np.ndarray

    def __init__(self, metric: ArcVerbs, options: DirectedOptions) -> None:
        super().__init__(metric, options)
        self.n, self.result_type = metric.n_vertices, metric.result_type
        self.random = np.random.default_rng(options.seed)
        self.bound = metric.most(max(0, self.n - 1))
        self.searched: tuple[dict[int, None], dict[int, None]] = {}, {}
        self.n_strong: int | None = None
        self.n_weak: int | None = None

    # -- to be defined by subclasses ------------------------------------------------------------
    def _solve(self) -> None:
        """Raise best and lower the bound until they meet, or until `satisfied`."""
        raise AssertionError("a method solves")

    # -- for methods ----------------------------------------------------------------------------
    def traverse(self, vertex: int, *, back: bool = False, within: np.ndarray | None = None, counts: bool = True,
                 distances: bool = True) -> BfsResult:
        """A counted search from `vertex`. counts : whether it may raise the longest pair. Raises what check_time
        does."""
        self.check_time()
        with self.stages.timed("bfs"):
            self.tick(self.metric.phase)
            run = self.metric.search(vertex, back=back, within=within, distances=distances)
            self.stages.bfs += 1
        self.earlier.searched([vertex])
        if counts and run.levels > self.best.length:
            ends = (run.farthest, vertex) if back else (vertex, run.farthest)
            self.best = Best(run.levels, *ends)
        return run

    def satisfied(self) -> bool:
        """Whether the interval is as narrow as demanded."""
        left = self.bound - self.best.length
        if self.limits.gap is not None and 0 < left <= self.gap:
            self.enough = "gap"
        return left <= self.gap

    def sweep(self) -> None:
        """The double sweeps: from a random vertex along arcs, and back from a vertex farthest from it."""
        for _ in range(self.options.sweeps):
            start = int(self.random.integers(self.n))
            end = self.traverse(start, counts=False, distances=False).farthest
            self.traverse(end, back=True, distances=False)

    @property
    def above(self) -> int:
        """A number larger than any bound on an eccentricity."""
        return self.metric.most(self.n)

    def no_bounds(self, shape: int | tuple[int, int]) -> np.ndarray:
        """Bounds of `above`, which say nothing."""
        return np.full(shape, self.above, self.metric.bound_dtype)

    def members(self, vertex: int) -> np.ndarray:
        """The strong component of a vertex, as a bitmap uint64[ceil(n / 64)]."""
        bits = np.zeros((self.n + 63) // 64 * 8, np.uint8)
        packed = np.packbits(self.numbers == self.numbers[vertex], bitorder="little")
        bits[: len(packed)] = packed
        return bits.view(np.uint64)

    def first_of(self) -> Callable[[np.ndarray], np.ndarray]:
        """See write_table."""
        first = np.empty(self.sizes.size, np.int64)
        for start in range(-(-self.n // PIECE) * PIECE - PIECE, -1, -PIECE):
            numbers = self.numbers[start : start + PIECE]
            first[numbers[::-1]] = np.arange(start + len(numbers) - 1, start - 1, -1)
        return lambda ids: first[self.numbers[ids]]

    # -- the run --------------------------------------------------------------------------------
    def solve(self) -> None:
        """Find the components, and the largest finite distance."""
        self.tick("components")
        with self.stages.timed("components"):
            self.numbers, self.n_strong, self.n_weak = self.metric.components()
        if self.limits.connected and self.n_strong > 1:
            raise DisconnectedError(
                f"the graph is not strongly connected: it has {self.n_strong:,} strong components",
                remedy="leave --require-connected out for the largest finite distance")
        self.sizes = np.bincount(self.numbers, minlength=self.n_strong)
        if self.metric.n_edges == 0:
            self.bound = 0
            return
        self._solve()

    def upper(self) -> int:
        """See MethodRun."""
        return self.bound

    def n_components(self) -> int | None:
        """See MethodRun; components of the graph without directions."""
        return self.n_weak

    def details(self, used: Counters) -> dict[str, Any]:
        """See MethodRun."""
        return {**super().details(used), **({} if self.enough is None else {"enough": self.enough}),
                **self.metric.facts()}

    def _fields(self) -> dict[str, Any]:
        return {**self.metric.fields(), "strongly_connected": None if self.n_strong is None else self.n_strong == 1,
                "n_strong_components": self.n_strong}


def phases(store: Store, columns: int = 2, arrays: int = 0, beside: int = 0) -> tuple[Phase, ...]:
    """Vertex state by phase. While it solves, it has `columns` distance columns of the widest possible entries, the
    numbers of components, `arrays` vectors of 4 bytes and `beside` bytes."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    shared, width = shared_bytes(store), column_bytes(n)
    solving = n * (ids + 4 * arrays + columns * width + 2) + beside + FOLD_BYTES
    sizes = {"components": strong_bytes(n, ids) + n * ids, "solve": solving, "verify": n * width * 2}
    return tuple(Phase(name, (shared + size) / max(1, n), shared + size, shared + size, shared + size, shared + size)
                 for name, size in sizes.items())


def chunks(vertices: np.ndarray, degrees: Callable[[np.ndarray], np.ndarray], most_arcs: int) -> Iterable[np.ndarray]:
    """`vertices` in order, in pieces with at most about most_arcs arcs, but at least one vertex."""
    done = 0
    while done < len(vertices):
        ends = np.cumsum(degrees(vertices[done : done + 4096]))
        count = max(1, int(np.searchsorted(ends, most_arcs, side="right")))
        yield vertices[done : done + count]
        done += count
