"""F-Diam: exact diameter by winnowing, chains and elimination.

Definition: the diameter of a component is its largest eccentricity. A vertex is *active* while its
eccentricity may have to be computed. `bound` is the largest eccentricity seen.
- 2-sweep: BFS from u (highest degree), BFS from a farthest vertex w; bound = ecc(w).
- Winnow: every vertex within floor(bound/2) of u, one centre per component, is dropped: two of these
  are at most `bound` apart, so a longer pair has an end outside. Repeated when `bound` grows. A tip is dropped too:
  vertices that rely on it are no farther from u than the tip, or the two sweeps have met its eccentricity.
- Chain Processing: from an active degree-1 vertex x along degree-2 vertices to w at distance s, all vertices
  within s of w are dropped: no eccentricity there exceeds ecc(x); x stays active (a *tip*).
- Eliminate: after BFS(v), ecc(y) <= ecc(v) + d(v, y): all y with that <= bound are dropped, with it as recorded
  bound; when bound grows, vertices recorded at the old bound seed one multi-source partial BFS over the new levels.
Source: Bradley, Mongandampulath Akathoott, Burtscher, ICPP 2025, Algorithms 1-5. Differences:
- Algorithm 3 loops to `bound`, Algorithm 5 tests ecc: correct are the text's floor(bound/2) and a visit
  counter. A degree-1 vertex that is already winnowed starts no chain (Algorithm 4 would
  re-activate it).
- The next vertex to be evaluated is the smallest active one, or with order "random" any active one (the text says
  random, Algorithm 1 ascending); where draws find none, the first one from a random place on.
- With start "center" the centre of Winnow is that of four sweeps, as in iFUB; with "auto" it is the one of the two
  whose ball leaves fewer vertices. A centre inside a chain is correct once the vertex farthest from it has been
  evaluated.
- All chains are in one spread (seed w, value S - s), which equals processing them one after another
  in order of increasing length: work O(arcs) instead of one ball per chain, and two tips cannot
  eliminate each other. Chain marks are in a separate column and never seed an extension.
- Every component has its own centre, and its own bound if its diameter is reported; otherwise the
  bound over all components prunes.

Passes: one BFS per evaluated vertex, one partial BFS per Winnow; another centre is three or four BFS more. Bytes a
vertex: shared state 3, recorded bound 1 to 4, chain bounds 1 to 4 (freed), distances of the sweeps 1 to 4 (freed);
labels 4 for each vertex of further components with an edge.

For each vertex a recorded bound is stored, in one column. Values above every bound are states, ordered so that the
minimum with a bound is always correct:
ACTIVE > TIP (active, and others rely on it) > WINNOWED > CHAINED > recorded bounds >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.interface import Engine, Traversal, first_with_edge, max_degree_vertex
from ...engine.needs import DeviceState, distance_bytes, traversal_phases
from ...errors import InputError
from ...store.store import Store
from ...traverse.components import Component, Components
from ..definition import Method
from ..metric import HopMetric
from ..result import Traversals
from ..run import MethodOptions, StageCounts
from .cost_model import FDIAM
from .method import Eccentricity, ExactMethod

# Chains are processed in pieces of max(TIPS_PER_PIECE, n / TIPS_SHARE) tips: at most sixty-four spreads.
TIPS_PER_PIECE = 4096
TIPS_SHARE = 64
_TIP_BYTES = 96
ORDERS = ("ascending", "random")
MAX_DEGREE, FIRST, CENTER, AUTO = STARTS = ("max-degree", "first", "center", "auto")
# With at most this number of vertices outside of the hub's ball, another centre would save no more BFS than it costs.
_FEW = 8
# Limits for a random active vertex: draws for each vertex, draws in all, and active vertices drawn to find one of the
# component.
_DRAWS, _MOST_DRAWS, _TRIES = 8, 1 << 16, 64


class State:
    """Recorded bounds of all vertices.

    Parameters
    ----------
    engine : the graph. largest : no bound exceeds it.
    """

    def __init__(self, engine: Engine, largest: int) -> None:
        self._engine = engine
        self._bounds = engine.new_column(largest + 3, isolated=0)
        self.active = self._bounds.unreached
        self.tip, self.winnowed, self.chained = self.active - 1, self.active - 2, self.active - 3
        self._recount()

    def _recount(self) -> int:
        """Count active vertices again; returns the decrease."""
        before = getattr(self, "n_active", 0)
        self.n_active = self._bounds.count(self.active) + self._bounds.count(self.tip)
        return int(before - self.n_active)

    def next_active(
        self, component: Component, components: Components | None, start: int, stop: int | None = None
    ) -> int:
        """Smallest active vertex of the component in [start, stop), to its end by default, or -1."""
        labels, end = None if components is None else components.labels, component.last + 1
        return self._bounds.first((self.active, self.tip), start, min(end, end if stop is None else stop), labels,
                                  component.root)

    def drawn(self, component: Component, components: Components | None, random: np.random.Generator) -> int:
        """A random active vertex of the component, or -1 where the draws hit none."""
        stop = component.last + 1
        places = random.integers(component.first, stop, min(_MOST_DRAWS, _DRAWS * (stop - component.first)))
        values = self._bounds.gather(places)  # of an active vertex -1
        hits = places[(values < 0) | (values == self.tip)][:_TRIES].tolist()
        return next((v for v in hits if self.next_active(component, components, v, v + 1) == v), -1)

    def evaluated(self, vertex: int, eccentricity: int) -> None:
        """Note the eccentricity of `vertex`."""
        self._bounds.put([vertex], eccentricity)

    def winnow(self, reached: Any) -> int:
        """Drop the active vertices, tips included, in `reached` (Traversal.reached); returns their number."""
        self._recount()
        self._bounds.recode((self.active, self.tip), self.winnowed, within=reached)
        return self._recount()

    def eliminate(self, vertex: int, eccentricity: int, bound: int) -> int:
        """Algorithm 5 from one vertex; returns the number of active vertices dropped."""
        self._recount()
        self._engine.spread(np.array([vertex]), np.array([eccentricity]), bound, self._bounds)
        return self._recount()

    def extend(self, old: int, new: int) -> int:
        """Extend all eliminated balls from bound `old` to `new`; returns the number of active vertices dropped."""
        self._recount()
        self._engine.spread(None, old, new, self._bounds)
        return self._recount()

    def chains(self, tips: np.ndarray) -> int:
        """Chain Processing for these vertices of degree 1 (section 4.3); returns the number of vertices dropped.

        Only active tips count: a dropped tip need not become active to drop others.

        Seeds are chain ends w with value S - s (S: the longest chain of this call, and only the longest chain of each
        end), so that the spread gives S - s + d(w, v) <= S exactly on the union of the balls. If another chain's ball
        reaches the end of a tip's chain with more than that chain's length remaining, the other tip dominates this tip;
        the remaining tips stay active.
        """
        tips = tips[self._bounds.gather(tips) < 0]
        if len(tips) == 0:
            return 0
        ends, lengths = self._engine.follow_chains(tips)
        order = np.lexsort((tips, -lengths, ends))
        tips, ends, lengths = tips[order], ends[order], lengths[order]
        longest = np.flatnonzero(np.diff(ends, prepend=-1))
        tips, ends, lengths = tips[longest], ends[longest], lengths[longest]
        top = int(lengths.max())
        covered = self._engine.new_column(top)
        self._engine.spread(ends, top - lengths, top, covered)
        survivors = tips[covered.gather(ends) == top - lengths]
        self._recount()
        self._bounds.recode_where_reached(covered, (self.active, self.tip), self.chained)
        self._bounds.put(survivors, self.tip)
        return self._recount()


@dataclass
class FdiamCounts(StageCounts):
    """Counts and wall seconds of the stages (the paper's Table 4 and Figure 8)."""

    winnows: int = 0
    winnowed: int = 0
    eliminated: int = 0
    chained: int = 0

    def traversals(self) -> Traversals:
        """As the paper counts: eccentricity BFS and Winnow."""
        return Traversals(bfs=self.bfs + self.winnows, partial=self.partial)

    def details(self, n_vertices: int, n_isolated: int) -> dict[str, Any]:
        """Shares of all vertices; eccentricity and Winnow traversals."""
        n = max(1, n_vertices)
        return {
            "removed": {
                "winnow": self.winnowed / n, "eliminate": self.eliminated / n, "chain": self.chained / n,
                "degree_0": n_isolated / n,
            },
            "eccentricity_bfs": self.bfs,
            "winnow_bfs": self.winnows,
        }


def solve_bytes(store: Store, options: FdiamOptions, column: int) -> int:
    """Bytes of recorded bounds, and of chain bounds with their tips or, before them, of the distances of sweeps.
    column : bytes of an entry."""
    n = store.n_vertices
    chains = max(n * column, n // 8) + max(TIPS_PER_PIECE, n // TIPS_SHARE) * _TIP_BYTES
    return n * column + max(chains, distance_bytes(store, column) if options.sweeps else 0)


@dataclass(frozen=True)
class FdiamOptions(MethodOptions):
    """winnow, eliminate, chains : stages on or off (the paper's ablation, Table 5). start : "max-degree", "first"
    (smallest vertex with an edge), "center" (that of four sweeps from max-degree) or "auto" (the better of
    max-degree and center). order : in which active vertices are evaluated, "ascending" or "random". seed : of the
    random order."""

    winnow: bool = True
    eliminate: bool = True
    chains: bool = True
    start: str = "max-degree"
    order: str = ORDERS[0]
    seed: int = 0

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise InputError("unknown start", text=self.start, remedy=f"use {', '.join(STARTS[:-1])} or {STARTS[-1]}")
        if self.order not in ORDERS:
            raise InputError("unknown order", text=self.order, remedy="use ascending or random")

    @property
    def sweeps(self) -> bool:
        """Whether four sweeps search for a centre."""
        return self.winnow and self.start in (CENTER, AUTO)


class Fdiam(ExactMethod):
    """One run of F-Diam on an engine."""

    name = "fdiam"
    stages: FdiamCounts
    stage_counts = FdiamCounts
    options: FdiamOptions

    def __init__(self, metric: HopMetric, options: FdiamOptions) -> None:
        super().__init__(metric, options)
        self.state: State | None = None
        self.chains_done = False
        self.random = np.random.default_rng(options.seed)

        self.counts_levels = options.sweeps

    def _start(self) -> int:
        return first_with_edge(self.engine) if self.options.start == FIRST else max_degree_vertex(self.engine)

    def _prepare(self, largest: int) -> None:
        self.state = State(self.engine, largest)

    def _release(self) -> None:
        self.state = None

    def _facts(self) -> dict[str, Any]:
        return {"active": self.engine.facts.n_vertices if self.state is None else self.state.n_active}

    def _details(self) -> dict[str, Any]:
        return self.stages.details(self.engine.facts.n_vertices, self.engine.facts.n_isolated)

    # -- one component --------------------------------------------------------------------------
    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        """Algorithm 1 on one component, given the BFS from its centre."""
        assert self.state is not None
        self.centre = component.hub
        self.bound = floor
        self.radius = -1
        self.counts_levels = False
        self._evaluated(first)
        second = self._evaluated(self.eccentricity(first.farthest, distances=self.options.sweeps))
        if self.options.sweeps:
            self._choose_centre(first, second)
        self._winnow()
        self._chains()
        vertex = component.first
        while True:
            vertex = self._next(component, vertex)
            if vertex < 0:
                self.counts_levels = self.options.sweeps
                return self.bound
            self._evaluate(vertex)

    def _next(self, component: Component, vertex: int) -> int:
        """The active vertex to be evaluated after `vertex`, or -1."""
        assert self.state is not None
        if self.options.order == "ascending":
            return self.state.next_active(component, self.components, vertex)
        if (found := self.state.drawn(component, self.components, self.random)) >= 0:
            return found
        place = int(self.random.integers(component.first, component.last + 1))
        found = self.state.next_active(component, self.components, place)
        return found if found >= 0 else self.state.next_active(component, self.components, component.first, place)

    def _evaluate(self, vertex: int) -> None:
        assert self.state is not None
        run = self.eccentricity(vertex)
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
                self.engine.reporter.tick("eliminate")
                self.stages.eliminated += self.state.eliminate(vertex, run.eccentricity, self.bound)
                self.stages.partial += 1

    def _evaluated(self, run: Eccentricity) -> Eccentricity:
        assert self.state is not None
        self.state.evaluated(run.source, run.eccentricity)
        self.bound = max(self.bound, run.eccentricity)
        return run

    def _choose_centre(self, first: Eccentricity, second: Eccentricity) -> None:
        """Take the centre of four sweeps; with "auto" only if its ball leaves fewer vertices.

        first : the BFS from the hub, with counts of its levels. second : from the vertex farthest from the hub, with
        distances.
        """
        asked = self.options.start == CENTER
        if not asked and self._outside(first) <= _FEW:
            return
        halfway = self._evaluated(self.eccentricity(self.middle_of(second)))
        middle = self.middle_of(self._evaluated(self.eccentricity(halfway.farthest, distances=True)))
        self.counts_levels = True
        other = self._evaluated(self.eccentricity(middle))
        self.counts_levels = False
        if self.engine.degrees(np.array([middle]))[0] <= 2:  # it may be inside a chain; this bounds the chain's tip
            self._evaluated(self.eccentricity(other.farthest))
        if asked or self._outside(other) < self._outside(first):
            self.centre = middle

    def _outside(self, run: Eccentricity) -> int:
        """Number of vertices farther than floor(bound/2) from the source of `run`."""
        return run.n_reached - sum(run.level_counts[: self.bound // 2 + 1])

    def _ball(self, centre: int) -> Traversal:
        """The vertices within floor(bound/2) of `centre`, by a partial BFS."""
        with self.stages.timed("winnow"):
            self.tick("winnow")
            self.stages.winnows += 1
            return self.engine.bfs(centre, radius=self.bound // 2, distances=False)

    def _winnow(self) -> None:
        """Drop the ball of radius floor(bound/2) around the centre, if it is new or has grown."""
        if not self.options.winnow or self.bound // 2 <= self.radius:
            return
        assert self.state is not None
        self.radius = self.bound // 2
        self.stages.winnowed += self.state.winnow(self._ball(self.centre).reached)

    def _chains(self) -> None:
        """Chain Processing, once for all components."""
        if not self.options.chains or self.chains_done:
            return
        assert self.state is not None
        self.chains_done = True
        most = max(TIPS_PER_PIECE, self.engine.facts.n_vertices // TIPS_SHARE)
        with self.stages.timed("chain"):
            self.tick("chain")
            for tips in self.engine.vertices_of_degree(1, most):
                self.stages.chained += self.state.chains(tips)
                self.stages.partial += 1


METHOD = Method(
    FdiamOptions, Fdiam,
    lambda store, options: traversal_phases(
        store, lambda column: solve_bytes(store, options, column), keeps_distances=options.sweeps, keeps_labels=True),
    lambda store, options: FDIAM, DeviceState(2, spreads=True))
fdiam = METHOD.solve
