"""F-Diam: exact diameter by winnowing, chains and elimination.

Definition: the diameter of a component is its largest eccentricity. A vertex is *active* while its
eccentricity may have to be computed. `bound` is the largest eccentricity seen.
- 2-sweep: BFS from u (highest degree), BFS from a farthest vertex w; bound = ecc(w).
- Winnow: every vertex within floor(bound/2) of u, one centre per component, is dropped: two such
  vertices are at most `bound` apart, so a longer pair has an end outside. Again when it grows.
- Chain Processing: from an active degree-1 vertex x along degree-2 vertices to w at distance s, everything
  within s of w is dropped: no eccentricity there exceeds ecc(x); x stays active (a *tip*).
- Eliminate: after BFS(v), ecc(y) <= ecc(v) + d(v, y): all y with that <= bound are dropped and keep it as recorded
  bound; when bound grows, vertices recorded at the old bound seed one multi-source partial BFS over the new levels.
Source: Bradley, Mongandampulath Akathoott, Burtscher, ICPP 2025, Algorithms 1-5. Differences:
- Algorithm 3 loops to `bound`, Algorithm 5 tests ecc: the text's floor(bound/2) and a visit
  counter are what is right. A tip is never winnowed later, since other vertices lean on it; a
  degree-1 vertex that is already winnowed starts no chain (Algorithm 4 would re-activate it).
- All chains go into one spread (seed w, value S - s), which equals taking them one after another
  in order of increasing length: work O(arcs) instead of one ball per chain, and two tips cannot
  eliminate each other. Chain marks live in a column of their own and never seed an extension.
- Every component has its own centre, and its own bound if its diameter is reported; otherwise the
  bound over all components prunes.

Passes: one BFS per evaluated vertex, one partial BFS per Winnow. Bytes a vertex: shared state 3, recorded bound 1 to 4,
chain bounds 1 to 4 (freed), labels and sizes 8 when there are several components with an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.interface import Engine, first_with_edge, max_degree_vertex
from ...engine.needs import DeviceState, traversal_phases
from ...errors import InputError
from ...traverse.components import Component
from ..definition import Method, MethodOptions
from .cost_model import FDIAM
from .fdiam_state import TIPS_PER_PIECE, TIPS_SHARE, FdiamStages, State, solve_bytes
from .method import Eccentricity, ExactMethod, run_method
from .result import Result


@dataclass(frozen=True)
class FdiamOptions(MethodOptions):
    """winnow, eliminate, chains : stages on or off (the paper's ablation, Table 5). start :
    "max-degree" or "first" (smallest vertex with an edge)."""

    winnow: bool = True
    eliminate: bool = True
    chains: bool = True
    start: str = "max-degree"


class Fdiam(ExactMethod):
    """One run of F-Diam on an engine."""

    name = "fdiam"
    stages: FdiamStages

    def __init__(self, engine: Engine, options: FdiamOptions) -> None:
        if options.start not in ("max-degree", "first"):
            raise InputError("unknown start", text=options.start, remedy="use max-degree or first")
        super().__init__(engine, options)
        self.options = options
        self.state: State | None = None
        self.chains_done = False

    def _new_stages(self) -> FdiamStages:
        return FdiamStages()

    def _start(self) -> int:
        if self.options.start == "max-degree":
            return max_degree_vertex(self.engine)
        return first_with_edge(self.engine)

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
        self._evaluated(first)
        self._evaluated(self.eccentricity(first.farthest))
        self._winnow()
        self._chains()
        vertex = component.first
        while True:
            vertex = self.state.next_active(component, self.components, vertex)
            if vertex < 0:
                return self.bound
            self._evaluate(vertex)

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

    def _evaluated(self, run: Eccentricity) -> None:
        assert self.state is not None
        self.state.evaluated(run.source, run.eccentricity)
        self.bound = max(self.bound, run.eccentricity)

    def _winnow(self) -> None:
        """Drop the ball of radius floor(bound/2) around the centre, if it is new or has grown."""
        if not self.options.winnow or self.bound // 2 <= self.radius:
            return
        assert self.state is not None
        self.radius = self.bound // 2
        with self.stages.timed("winnow"):
            self.tick("winnow")
            ball = self.engine.bfs(self.centre, radius=self.radius, distances=False)
            self.stages.winnowed += self.state.winnow(ball.reached)
            self.stages.winnows += 1

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


def fdiam(engine: Engine, options: FdiamOptions | None = None) -> Result:
    """The exact diameter by F-Diam. Raises as run_method, and InputError for an unknown start."""
    options = options or FdiamOptions()
    return run_method(Fdiam(engine, options), options.path_file)


METHOD = Method(
    FdiamOptions, fdiam, lambda store, options: traversal_phases(store, solve_bytes(store), keeps_distances=False),
    lambda store, options: FDIAM, DeviceState(2, spreads=True))
