"""F-Diam: exact diameter by winnowing, chains and elimination.

Definition: the diameter of a component is its largest eccentricity. A vertex is *active* while its
eccentricity may have to be computed. `bound` is the largest eccentricity seen.
- 2-sweep: BFS from u (highest degree), BFS from a farthest vertex w; bound = ecc(w).
- Winnow: every vertex within floor(bound/2) of u, one centre per component, is dropped: two such
  vertices are at most `bound` apart, so a longer pair has an end outside. Again when it grows.
- Chain Processing: from an active degree-1 vertex x along degree-2 vertices to w at distance s, everything
  within s of w is dropped: no eccentricity there exceeds ecc(x); x stays active (a *tip*).
- Eliminate: after BFS(v), ecc(y) <= ecc(v) + d(v, y): all y with that <= bound are dropped and
  keep it as recorded bound; when bound grows, vertices recorded at the old bound seed one
  multi-source partial BFS over the new levels.
Source: Bradley, Mongandampulath Akathoott, Burtscher, ICPP 2025, Algorithms 1-5. Differences:
- Algorithm 3 loops to `bound`, Algorithm 5 tests ecc: the text's floor(bound/2) and a visit
  counter are what is right. A tip is never winnowed later, since other vertices lean on it; a
  degree-1 vertex that is already winnowed starts no chain (Algorithm 4 would re-activate it).
- All chains go into one spread (seed w, value S - s), which equals taking them one after another
  in order of increasing length: work O(arcs) instead of one ball per chain, and two tips cannot
  eliminate each other. Chain marks live in a column of their own and never seed an extension.
- Every component has its own centre, and its own bound if its diameter is reported; otherwise the
  bound over all components prunes.

Passes: one BFS per evaluated vertex, one partial BFS per Winnow. Bytes a vertex: shared state 3,
recorded bound 1 to 4, chain bounds 1 to 4 (freed), labels and sizes 8 when there are several
components with an edge.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .._version import __version__
from ..engine import Engine
from ..errors import InputError, StoppedEarly
from ..stream.counters import Counters
from ..traverse.components import Component, Components
from .fdiam_state import TIPS_PER_PIECE, TIPS_SHARE, Stages, State
from .result import Result, Traversals
from .witness import check_witness


@dataclass(frozen=True)
class FdiamOptions:
    """winnow, eliminate, chains : stages on or off (the paper's ablation, Table 5). start :
    "max-degree" or "first" (smallest vertex with an edge). path_file : see check_witness."""

    winnow: bool = True
    eliminate: bool = True
    chains: bool = True
    start: str = "max-degree"
    path_file: Path | None = None


@dataclass
class _Best:
    """The longest distance so far, over all components, and its pair."""

    length: int = 0
    source: int = 0
    target: int = 0


class Fdiam:
    """One run of F-Diam on an engine; `run` gives the Result."""

    def __init__(self, engine: Engine, options: FdiamOptions) -> None:
        if options.start not in ("max-degree", "first"):
            raise InputError("unknown start", text=options.start, remedy="use max-degree or first")
        self.engine, self.options = engine, options
        self.best = _Best()
        self.stages = Stages()
        self.components: Components | None = None
        self.components_known = False
        self.upper_here = max(0, engine.n_vertices - 1)
        self.upper_rest = 0
        self.diameter_largest: int | None = None
        self.chains_done = False

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Find and prove the diameter of every component that matters; fills self.best."""
        engine = self.engine
        if engine.n_arcs == 0:
            self.components_known, self.diameter_largest, self.upper_here = True, 0, 0
            return
        start = self._start()
        first = self._eccentricity(start)
        with self.stages.timed("components"):
            engine.tick("components")
            self.components = engine.components(start)
        self.components_known = True
        others = self.components.largest_size() if self.components else 0
        self.upper_here, self.upper_rest = 2 * first.eccentricity, max(0, others - 1)
        largest = min(engine.n_vertices - 1, max(2 * first.eccentricity, others - 1))
        self.state = State(engine, largest)
        mine = Component(start, 0, engine.n_vertices - 1, first.n_reached, start)
        if first.n_reached >= others:
            self._solve_component(mine, first, floor=0)
            self.diameter_largest = self.bound
        else:
            assert self.components is not None
            rival = self.components.larger_than(others - 1, most=1)[0]
            self.upper_rest = max(self.upper_here, self.components.largest_size() - 1)
            self._solve_component(rival, self._eccentricity(rival.hub), floor=0)
            self.diameter_largest = self.bound
            self._solve_component(mine, first, floor=self.best.length)
        self._solve_others()
        self.upper_here, self.upper_rest = self.best.length, 0

    def _start(self) -> int:
        if self.options.start == "max-degree":
            return self.engine.max_degree_vertex()[0]
        return self.engine.first_with_edge()

    def _solve_others(self) -> None:
        """Components that could hold a longer distance; the bound over all components prunes."""
        while self.components is not None:
            batch = self.components.larger_than(self.best.length + 1)
            if not batch:
                return
            for component in batch:
                if component.size - 1 <= self.best.length:
                    break
                self.upper_rest = component.size - 1
                run = self._eccentricity(component.hub)
                if 2 * run.eccentricity > self.best.length:
                    self._solve_component(component, run, floor=self.best.length)

    # -- one component --------------------------------------------------------------------------
    def _solve_component(self, component: Component, first: _Eccentricity, floor: int) -> None:
        """Algorithm 1 on one component, given the BFS from its centre. `floor`: a bound that its
        diameter must exceed to matter (0 when it is to be reported)."""
        self.centre, self.component = component.hub, component
        self.upper_here = 2 * first.eccentricity
        self.bound = floor
        self.radius = -1
        self._evaluated(first)
        second = self._eccentricity(first.farthest)
        self._evaluated(second)
        self._winnow()
        self._chains()
        vertex = component.first
        while True:
            vertex = self.state.next_active(component, self.components, vertex)
            if vertex < 0:
                return
            self._evaluate(vertex)

    def _evaluate(self, vertex: int) -> None:
        run = self._eccentricity(vertex)
        old = self.bound
        self._evaluated(run)
        if self.bound > old:
            self._winnow()
            if self.options.eliminate:
                with self.stages.timed("eliminate"):
                    self.stages.eliminated += self.state.extend(old, self.bound)
                    self.stages.partial += 1
        elif run.eccentricity < self.bound and self.options.eliminate:
            with self.stages.timed("eliminate"):
                self.engine.tick("eliminate")
                self.stages.eliminated += self.state.eliminate(vertex, run.eccentricity, self.bound)
                self.stages.partial += 1

    def _eccentricity(self, vertex: int) -> _Eccentricity:
        with self.stages.timed("eccentricity"):
            self._tick("bfs")
            run = self.engine.bfs(vertex, distances=False)
            self.stages.bfs += 1
        assert run.eccentricity is not None
        if run.eccentricity > self.best.length:
            self.best.length, self.best.source, self.best.target = run.eccentricity, vertex, run.farthest
        return _Eccentricity(vertex, run.eccentricity, run.farthest, run.n_reached)

    def _evaluated(self, run: _Eccentricity) -> None:
        self.upper_here = min(self.upper_here, 2 * run.eccentricity)
        self.state.evaluated(run.source, run.eccentricity)
        self.bound = max(self.bound, run.eccentricity)

    def _winnow(self) -> None:
        """Drop the ball of radius floor(bound/2) around the centre, if it is new or has grown."""
        if not self.options.winnow or self.bound // 2 <= self.radius:
            return
        self.radius = self.bound // 2
        with self.stages.timed("winnow"):
            self._tick("winnow")
            self.engine.bfs(self.centre, radius=self.radius, distances=False)
            self.stages.winnowed += self.state.winnow(self.engine.reached())
            self.stages.winnows += 1

    def _chains(self) -> None:
        """Chain Processing, once for all components."""
        if not self.options.chains or self.chains_done:
            return
        self.chains_done = True
        most = max(TIPS_PER_PIECE, self.engine.n_vertices // TIPS_SHARE)
        with self.stages.timed("chain"):
            self._tick("chain")
            for tips in self.engine.vertices_of_degree(1, most):
                self.stages.chained += self.state.chains(tips)
                self.stages.partial += 1

    def _tick(self, phase: str) -> None:
        active = self.state.n_active if hasattr(self, "state") else self.engine.n_vertices
        self.engine.tick(phase, lower=self.best.length, upper=self.upper(), active=active)

    def release(self) -> None:
        """Free the bounds and labels; the answer stays."""
        if self.components is not None:
            self.components.release()
        if hasattr(self, "state"):
            del self.state

    # -- the answer -----------------------------------------------------------------------------
    def upper(self) -> int:
        """Proved upper bound on the largest distance, over all components."""
        return max(self.best.length, self.upper_here, self.upper_rest)

    def n_components(self) -> int | None:
        """Number of components, isolated vertices included; None while unknown."""
        if not self.components_known:
            return None
        others = self.components.n_others if self.components else 0
        return self.engine.n_isolated + others + (1 if self.engine.n_arcs else 0)


@dataclass(frozen=True)
class _Eccentricity:
    source: int
    eccentricity: int
    farthest: int
    n_reached: int


@contextmanager
def _stopping(run: Fdiam, before: Counters, begin: float) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        result = _result(run, before, begin)
        raise StoppedEarly(
            f"stopped by the user; the diameter lies in [{result.lower}, {result.upper}]", result
        ) from None


def fdiam(engine: Engine, options: FdiamOptions | None = None) -> Result:
    """The exact diameter by F-Diam.

    Raises InputError for a graph without vertices (its diameter is undefined), StoppedEarly with
    `result` (the interval so far) on Ctrl-C, EmdiamError if the witness does not check out.
    """
    if engine.n_vertices == 0:
        raise InputError("the graph has no vertices, so its diameter is undefined")
    options = options or FdiamOptions()
    begin, before = time.perf_counter(), engine.stats()
    run = Fdiam(engine, options)
    with _stopping(run, before, begin):
        run.solve()
        solved = time.perf_counter()
        run.release()
        best = run.best
        witness = check_witness(engine, best.source, best.target, best.length, options.path_file)
    result = _result(run, before, begin)
    result.witness, result.exact = witness, True
    result.diameter_largest_component, result.diameter_max_component = run.diameter_largest, best.length
    result.diameter = best.length if result.connected else None
    result.seconds["solve"] = solved - begin
    result.seconds["verify"] = time.perf_counter() - solved
    return result


def _result(run: Fdiam, before: Counters, begin: float) -> Result:
    engine, stages = run.engine, run.stages
    used = engine.stats() - before
    components = run.n_components()
    elapsed = time.perf_counter() - begin
    return Result(
        method="fdiam", n_vertices=engine.n_vertices, n_edges=engine.n_arcs // 2,
        connected=None if components is None else components == 1, n_components=components, diameter=None,
        diameter_largest_component=run.diameter_largest, diameter_max_component=None,
        lower=run.best.length, upper=run.upper(), exact=False, witness=None,
        traversals=Traversals(bfs=stages.bfs + stages.winnows, partial=stages.partial),
        levels=used.levels, edges_scanned=used.edges_scanned, bytes_read=used.bytes_read,
        seconds={"total": elapsed, "solve": elapsed, "verify": 0.0}, version=__version__,
        details=stages.details(engine.n_vertices, engine.n_isolated, used),
    )
