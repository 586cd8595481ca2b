"""Exact diameter by pivot certificates: few traversals, and a proof that can be checked again.

For one component, with L the largest eccentricity seen and pivots p_i, fully traversed, at
distances d_i: a vertex is *settled* if min_i d_i(v) + ecc(p_i) <= L. The diameter is L when every
pair x != y of unsettled vertices has min_i d_i(x) + d_i(y) <= L.
1. Sweeps: the highest degree, its farthest vertex, the farthest from that; then in turn the centre
   (smallest lower bound) and the periphery (largest upper bound).
2. Certify: boxes over the candidates (boxes.py, candidates.py); either a proof, or the worst pair.
3. Refine: traverse one end of the worst pair, and the most central vertex in the middle of a
   shortest path between the two. Then 2 again.
4. Cover: where the certificates are expected to cost more than settling a vertex cover of the
   open pairs, sources whose balls hold it, in multi-source batches (covering.py).
Passes: one BFS a pivot, one multi-source BFS and one spread a batch. Bytes a vertex: 4 x itemsize
(bounds and the column of the traversal at hand), one column more for each of the sweeps.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..engine import Engine
from ..traverse.columns import Column
from ..traverse.components import Component
from ..traverse.pivot_bounds import Folded
from ..traverse.strips import windows_for
from .candidates import Candidates, Verdict
from .costs import Costs
from .covering import Covering
from .proof import ComponentProof, Proof
from .result import Result
from .run import ExactMethod, run_method
from .run_parts import Eccentricity, MethodOptions, path_middle

LEAST_SWEEPS, MOST_SWEEPS = 3, 5
# Certifying so many of the vertices costs more than a traversal; sweep on, unless sweeps are over.
MANY = 8
LARGEST_TIE = 1 << 12
# So few sources are traversed one by one: a batch costs several traversals.
FEW = 2
PROVED = Verdict(0, 0, 0, (-1, -1), 0)


@dataclass(frozen=True)
class PivotOptions(MethodOptions):
    """seed : of random choices: the start among vertices of the highest degree (0: the smallest of
    them), the order of covering. batch : use multi-source batches."""

    seed: int = 0
    batch: bool = True


class Pivots(ExactMethod):
    """One run on an engine; run_method gives the Result."""

    name: ClassVar[str] = "pivots"
    keeps_distances: ClassVar[bool] = True

    def __init__(self, engine: Engine, options: PivotOptions) -> None:
        super().__init__(engine, options)
        self.options = options
        self.n_open: int | None = None
        self.rounds = 0
        self.proof = Proof()

    def _start(self) -> int:
        if self.options.seed == 0:
            return self.engine.max_degree_vertex()[0]
        highest = self.engine.highest_degrees(LARGEST_TIE)
        degrees = self.engine.degrees(highest)
        return int(np.random.default_rng(self.options.seed).choice(highest[degrees == degrees[0]]))

    def _prepare(self, largest: int) -> None:
        self.largest = largest
        self.bounds = self.engine.new_bounds(largest)

    def _release(self) -> None:
        if hasattr(self, "bounds"):
            del self.bounds

    def _facts(self) -> dict[str, Any]:
        return {} if self.n_open is None else {"open": self.n_open}

    def _details(self) -> dict[str, Any]:
        return {"rounds": self.rounds}

    def _run_component(self, component: Component, first: Eccentricity | None, own: bool) -> None:
        known = len(self.proof.components)
        super()._run_component(component, first, own)
        if len(self.proof.components) == known:  # its first BFS was enough: 2 ecc <= best
            self.proof.components.append(ComponentProof(
                component.hub, component.size, 0, self.best.length, pivots=[component.hub]))

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        self.bounds.reset()
        self.n_open = None
        run = _ComponentRun(self, component, floor)
        limit = run.solve(first)
        self.proof.components.append(run.proof())
        return limit


class _ComponentRun:
    """The pivots, candidates and bounds of one component. limit : L."""

    def __init__(self, method: Pivots, component: Component, floor: int) -> None:
        self.method, self.engine, self.bounds = method, method.engine, method.bounds
        self.component, self.limit = component, floor
        self.columns: list[Column] = []
        self.candidates: Candidates | None = None
        self.pivots: list[int] = []
        self.sources: list[int] = []
        self.longest = (0, component.hub, component.hub)
        self.costs = Costs()
        self.covering = Covering(self.engine, method.options.seed)

    def proof(self) -> ComponentProof:
        """What proves the limit, once solve has returned."""
        length, source, target = self.longest
        return ComponentProof(self.component.hub, self.component.size, length, self.limit,
                              (source, target) if length else None, self.pivots, self.sources)

    def solve(self, first: Eccentricity) -> int:
        """The diameter of the component, or the floor if that is more."""
        assert first.distances is not None
        column = self.engine.new_column(self.method.largest)
        column.copy_from(first.distances)
        verdict = self._sweep(first, self._fold(first, column))
        while verdict.n_open:
            if self.method.options.batch and self.costs.covering_pays(verdict, self.covering.gain):
                verdict = self._cover(verdict)
            else:
                verdict = self._refine(verdict)
        return self.limit

    # -- sweeps ---------------------------------------------------------------------------------
    def _sweep(self, run: Eccentricity, folded: Folded) -> Verdict:
        """Traversals from ends and centres until there is a proof, or enough of them."""
        while True:
            taken = len(self.pivots)
            if folded.unsettled <= 1:
                return PROVED
            few = folded.unsettled <= self.component.size // MANY
            if taken >= MOST_SWEEPS or (taken >= LEAST_SWEEPS and (few or self.candidates is not None)):
                verdict = self._certify_pairs()
                if taken >= MOST_SWEEPS or verdict.n_open == 0:
                    return verdict
            if taken < LEAST_SWEEPS and run.farthest not in self.pivots:
                vertex = run.farthest
            else:
                vertex = folded.centre if taken % 2 else folded.periphery
            run, folded = self._traverse(vertex)

    def _traverse(self, vertex: int) -> tuple[Eccentricity, Folded]:
        begin, before = time.perf_counter(), self.engine.stats()
        if self.candidates is None:
            column = self.engine.new_column(self.method.largest)
        else:
            column = self.columns[0]
        self.method.checkpoint()
        with self.method.stages.timed("eccentricity"):
            self.method.tick("bfs")
            found = self.engine.bfs(vertex, into=column)
            self.method.stages.bfs += 1
        assert found.eccentricity is not None
        run = Eccentricity(vertex, found.eccentricity, found.farthest, found.n_reached, column)
        self.method.found(run.eccentricity, vertex, run.farthest)
        folded = self._fold(run, column)
        used = self.engine.stats() - before
        self.costs.single(time.perf_counter() - begin, used.blocks_read / self.engine.n_blocks,
                          used.dense_levels, windows_for(run.eccentricity))
        return run, folded

    def _fold(self, run: Eccentricity, column: Column) -> Folded:
        self.limit = max(self.limit, run.eccentricity)
        if run.farthest >= 0 and run.eccentricity > self.longest[0]:
            self.longest = (run.eccentricity, run.source, run.farthest)
        self.pivots.append(run.source)
        if self.candidates is None:
            self.columns.append(column)
        else:
            self.candidates.add(column)
        folded = self.bounds.fold(run.source, column, run.eccentricity, self.limit)
        self.method.upper_here = min(self.method.upper_here, max(self.limit, folded.highest))
        return folded

    # -- certificates ---------------------------------------------------------------------------
    def _certify_pairs(self) -> Verdict:
        begin = time.perf_counter()
        with self.method.stages.timed("certify"):
            self.method.tick("certify")
            if self.candidates is None:
                self.candidates = Candidates(self.bounds.unsettled(self.limit), self.columns)
                self.columns = self.columns[-1:]
            verdict = self.candidates.certify(self.bounds.upper, self.limit)
        self.costs.certified(time.perf_counter() - begin, verdict)
        self.method.n_open = verdict.n_open
        self.method.upper_here = min(self.method.upper_here, max(self.limit, verdict.bound))
        return verdict

    def _refine(self, verdict: Verdict) -> Verdict:
        """One round: the worst pair, or many open pairs at once."""
        if verdict.worst[0] < 0:
            return self._certify_pairs()
        self.method.rounds += 1
        begin = time.perf_counter()
        at_once = self.costs.pairs_at_once(verdict.n_open) if self.method.options.batch else 1
        if at_once > 1:
            folded = self._refine_many(verdict, at_once)
        else:
            folded = self._refine_one(*verdict.worst)
        self.costs.round_done(time.perf_counter() - begin)
        return PROVED if folded.unsettled <= 1 else self._certify_pairs()

    def _refine_one(self, first: int, second: int) -> Folded:
        if int(self.bounds.upper.gather([first, second]).argmax()):
            first, second = second, first
        run, folded = self._traverse(first)
        assert run.distances is not None
        apart = int(run.distances.gather([second])[0])
        return self._traverse(path_middle(self.engine, run.distances, second, apart))[1]

    def _refine_many(self, verdict: Verdict, most: int) -> Folded:
        assert self.candidates is not None
        pairs = self.candidates.open_pairs(self.limit, verdict.bound, most, self.method.rounds)
        columns, _ = self._traverse_many(pairs[:, 0])
        apart = [int(c.gather([v])[0]) for c, v in zip(columns, pairs[:, 1].tolist(), strict=True)]
        middles = [path_middle(self.engine, c, v, d)
                   for c, v, d in zip(columns, pairs[:, 1].tolist(), apart, strict=True)]
        del columns
        return self._traverse_many(np.unique(middles))[1]

    def _traverse_many(self, sources: np.ndarray) -> tuple[list[Column], Folded]:
        """Traverse all of them in one batch; each becomes a pivot."""
        columns = [self.engine.new_column(self.method.largest) for _ in sources]
        found = self._batch(sources, columns).tolist()
        best = int(np.argmax(found))
        farthest = columns[best].argbest()
        self.method.found(found[best], int(sources[best]), farthest)
        self.limit = max(self.limit, *found)
        for i, column in enumerate(columns):
            run = Eccentricity(int(sources[i]), found[i], farthest if i == best else -1, -1)
            folded = self._fold(run, column)
        return columns, folded

    # -- covering -------------------------------------------------------------------------------
    def _cover(self, verdict: Verdict) -> Verdict:
        """One batch of covering; what is open after it."""
        assert self.candidates is not None
        method, begin = self.method, time.perf_counter()
        cover = self.candidates.cover(self.limit)
        size = min(self.engine.batch_bits, self.costs.batch_size(len(cover), self.covering.gain))
        whole = size == len(cover) and self.costs.visits(size, self.covering.gain)
        sources = self.covering.visit(cover) if whole else self.covering.sources(cover, size)
        if len(sources) <= FEW:
            for source in sources.tolist():
                self._traverse(source)
        else:
            self._settle(sources, self._batch(sources))
        settled = self.bounds.upper.take(self.covering.proposed) <= self.limit
        left = int(np.count_nonzero(self.bounds.upper.take(cover) > self.limit))
        self.covering.learn(settled, len(cover) - left)
        self.costs.covered(time.perf_counter() - begin, len(sources))
        if self.costs.pairs_are_cheap():
            return self._certify_pairs()
        verdict = self.candidates.shrink(self.bounds.upper, self.limit)
        method.n_open = verdict.n_open
        return verdict

    def _batch(self, sources: np.ndarray, columns: list[Column] | None = None) -> np.ndarray:
        """Eccentricities of the sources (and distances), by one multi-source BFS."""
        method = self.method
        method.checkpoint()
        with method.stages.timed("multi-source"):
            method.tick("multi-source")
            found = self.engine.eccentricities(sources, columns=columns)
            method.stages.multi_source += 1
            method.stages.multi_source_sources += len(sources)
        return found

    def _settle(self, sources: np.ndarray, eccentricities: np.ndarray) -> None:
        """Spread the balls of radius L - ecc around the sources, of which one may raise L."""
        self.sources.extend(sources.tolist())
        if int(eccentricities.max()) > self.limit:
            self._traverse(int(sources[eccentricities.argmax()]))
        with self.method.stages.timed("spread"):
            self.engine.spread(sources, eccentricities.astype(np.int64), self.limit, self.bounds.upper)
            self.method.stages.partial += 1


def pivots(engine: Engine, options: PivotOptions | None = None) -> Result:
    """The exact diameter by pivot certificates. Errors as run_method."""
    options = options or PivotOptions()
    return run_method(Pivots(engine, options), options.path_file)
