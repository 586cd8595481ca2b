"""Exact diameter by pivot certificates: few traversals, and a proof that can be checked again.

For one component, let L be the largest eccentricity seen, and p_i the pivots, fully traversed, with
distances d_i. A vertex is *settled* if min_i d_i(v) + ecc(p_i) <= L. The diameter is L when every
pair x != y of unsettled vertices has min_i d_i(x) + d_i(y) <= L.
1. Sweeps: the highest degree, its farthest vertex, the farthest from that; then in turn the centre
   (smallest lower bound) and the periphery (largest upper bound).
2. Certify: boxes over the candidates (boxes.py, candidates.py); either a proof, or the worst pair.
3. Refine: traverse one end of the worst pair, and the vertex in the middle of a shortest path
   between the two. Then 2 again.
4. Cover: if the certificates are expected to cost more than settling a vertex cover of the
   open pairs, traverse sources whose balls contain it, in multi-source batches (covering.py).
Passes: one BFS a pivot, one multi-source BFS and one spread a batch. Bytes a vertex: 4 x itemsize
(bounds and the column of the current traversal), plus one column for each of the sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ...distinct import distinct
from ...engine.interface import SharedScans, WideBatches, max_degree_vertex
from ...engine.needs import DeviceState
from ...traverse.columns import Column, ListedVertices
from ...traverse.components import Component
from ...traverse.pivot_bounds import Folded
from ..definition import Method
from ..earlier import EarlierSweeps
from ..metric import HopMetric
from ..result import ComponentProof, Proof, Result
from ..run import MethodOptions
from .candidates import Candidates, Verdict, boxed_candidates
from .cost_model import PIVOTS
from .covering import Covering
from .fewer_pivots import FewerPivots
from .method import Eccentricity, ExactMethod, path_middle
from .pair_walks import PairWalks
from .pivot_columns import PIECES_BYTES, PivotColumns, budget_bytes, phases, pool
from .strategy import FEW, Costs

LEAST_SWEEPS, MOST_SWEEPS = 3, 5
# Sweep on, unless sweeps are over, while more than 1 / MANY of the vertices are candidates: certifying costs more than
# a traversal. With at most 1 / VERY_MANY it costs next to nothing, and is tried a sweep earlier.
MANY, VERY_MANY = 8, 1024
LARGEST_TIE = 1 << 12
PROVED = Verdict(0, 0, 0, (-1, -1))


@dataclass(frozen=True)
class PivotOptions(MethodOptions):
    """seed : of random choices: the start among vertices of the highest degree (0: the smallest of them), and the order
    of covering. batches : whether to use multi-source batches."""

    seed: int = 0
    batches: bool = True


class Pivots(ExactMethod):
    """One run on an engine; method.solver makes the Result."""

    name: ClassVar[str] = "pivots"
    keeps_distances: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False
    options: PivotOptions

    def __init__(self, metric: HopMetric, options: PivotOptions) -> None:
        super().__init__(metric, options)
        self.n_open: int | None = None
        self.expected_seconds: float | None = None
        self.rounds = self.columns_on_disk = 0
        self.proof = Proof()

    def _start(self) -> int:
        central = self.earlier.start()
        if central is not None and self.engine.degrees(np.array([central])).all():
            return central
        if self.options.seed == 0:
            return max_degree_vertex(self.engine)
        highest = self.engine.highest_degrees(LARGEST_TIE)
        degrees = self.engine.degrees(highest)
        return int(np.random.default_rng(self.options.seed).choice(highest[degrees == degrees[0]]))

    def _prepare(self, largest: int) -> None:
        self.largest = largest
        labels = 0 if self.components is None else self.components.label_bytes
        self.budget = budget_bytes(self.engine, labels)
        self.bounds = self.engine.new_bounds(largest)

    def _release(self) -> None:
        if hasattr(self, "bounds"):
            del self.bounds

    def _facts(self) -> dict[str, Any]:
        facts = {"open": self.n_open, "expected_seconds": self.expected_seconds}
        return {name: value for name, value in facts.items() if value is not None}

    def conclude(self, result: Result) -> None:
        super().conclude(result)
        if result.exact and self.enough is None:
            result.seed, result.proof = self.options.seed, self.proof

    def _details(self) -> dict[str, Any]:
        return {"rounds": self.rounds, "columns_on_disk": self.columns_on_disk, **self._facts()}

    def _run_component(self, component: Component, first: Eccentricity | None, reported: bool) -> None:
        known = len(self.proof.components)
        super()._run_component(component, first, reported)
        if len(self.proof.components) == known:  # its first BFS was enough: 2 ecc <= best
            self.proof.components.append(ComponentProof(
                component.hub, component.size, 0, self.best.length, pivots=[component.hub]))

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        self.bounds.reset()
        self.n_open = self.expected_seconds = None
        run = _ComponentRun(self, component, floor, self._column_of(first))
        limit = run.solve(first)
        self.proof.components.append(run.proof())
        return limit

    def _column_of(self, first: Eccentricity) -> Column:
        """The distances of the first BFS in a column that every later BFS may use: the same column, if it is as wide,
        so that there are not two."""
        distances = first.take_distances()
        upper = self.bounds.upper
        if type(distances) is type(upper) and distances.dtype == upper.dtype:
            return distances
        column = self.engine.new_column(self.largest)
        column.copy_from(distances)
        return column


class _ComponentRun:
    """The pivots, candidates and bounds of one component. limit : L."""

    def __init__(self, method: Pivots, component: Component, floor: int, column: Column) -> None:
        self.method, self.engine, self.bounds = method, method.engine, method.bounds
        self.component, self.limit = component, floor
        self.columns = PivotColumns(self.engine, method.largest, column, method.budget, method.options.scratch)
        self.candidates: Candidates | None = None
        self.pivots, self.eccentricities = list[int](), list[int]()
        self.sources: list[int] = []
        # Each upper bound, lower than those before, with the numbers of pivots and of sources that prove it.
        self.proved: list[tuple[int, int, int]] = []
        self.walks = PairWalks(method.engine, method.options.certified)
        self.fewer = FewerPivots(method.options.certified, lambda: method.tick("certify"))
        self.longest = (0, component.hub, component.hub)
        self.costs = Costs(self.engine.facts.threads, self.engine.facts.n_arcs, self.engine.facts.wide_rate,
                           self.engine.facts.apart_pays)
        self.covering = Covering(self.engine, method.options.seed)
        self.earlier = EarlierSweeps(method.earlier)

    def proof(self) -> ComponentProof:
        """The proof of the limit, once solve has returned; notes its walks. If a longer path has raised the limit since
        it was proved as an upper bound, later pivots and sources are not in it."""
        length, source, target = self.longest
        n_pivots, n_sources = next((counts for upper, *counts in self.proved if upper <= self.limit),
                                   (len(self.pivots), len(self.sources)))
        walks = self.walks.all(self.limit, n_pivots)
        if walks:
            n_pivots, n_sources = self.walks.counts
        # The most central pivot comes first, for a later run that begins with this proof.
        kept = range(n_pivots) if n_sources or walks else self.fewer.choose(self.eccentricities[:n_pivots], self.limit)
        order = sorted(kept, key=self.eccentricities.__getitem__)
        if 2 * self.eccentricities[order[0]] <= self.limit:
            order, n_sources, walks = order[:1], 0, []
        self.method.proof.walks += walks
        return ComponentProof(self.component.hub, self.component.size, length, self.limit,
                              (source, target) if length else None, [self.pivots[i] for i in order],
                              self.sources[:n_sources])

    def _bounded(self, upper: int) -> None:
        """Note that the pivots and sources up to now prove this bound, or the limit if that is larger."""
        upper = max(self.limit, upper)
        if not self.proved or upper < self.proved[-1][0]:
            self.proved.append((upper, len(self.pivots), len(self.sources)))
        self.method.upper_here = min(self.method.upper_here, upper)

    def solve(self, first: Eccentricity) -> int:
        """The diameter of the component, or the floor if that is larger. The present column must have the distances of
        `first`."""
        verdict = self._sweep(first, self._fold(first, self.columns.column))
        while verdict.n_open:
            if self._may_share(verdict.cover):
                assert self.candidates is not None
                self._traverse_together(self.candidates.cover(self.limit))
                verdict = self._certified()
            elif self.method.options.batches and self.costs.covering_pays(verdict, self.covering.gain):
                verdict = self._cover()
            else:
                verdict = self._refine(verdict)
        return self.limit

    # -- sweeps ---------------------------------------------------------------------------------
    def _sweep(self, run: Eccentricity, folded: Folded) -> Verdict:
        """Traversals from ends and centres until there is a proof, or until there are enough of them."""
        while True:
            taken = len(self.pivots)
            if folded.unsettled <= 1:
                return PROVED
            self.costs.swept(folded.unsettled)
            if self._may_share(folded.unsettled):
                self._traverse_together(self.bounds.unsettled(self.limit))
                return PROVED
            verdict = self._certify_early(taken, folded.unsettled)
            if verdict is not None:
                return verdict
            vertex = self._next_sweep(run, folded)
            run, folded = self._traverse(vertex)

    def _next_sweep(self, run: Eccentricity, folded: Folded) -> int:
        """The source of the next sweep. run, folded : of the last one."""
        taken = len(self.pivots)
        # If another component is longer, the ends of this one need not be found.
        known = taken == LEAST_SWEEPS - 1 and run.eccentricity < self.limit
        earlier = self.earlier.next(lambda vertex: int(self.bounds.upper.gather([vertex])[0]) > self.limit)
        if earlier is not None:
            return earlier
        near_proof = self.earlier.on and folded.unsettled <= self.component.size // MANY
        if not known and not near_proof and taken < LEAST_SWEEPS and run.farthest not in self.pivots:
            return run.farthest
        return folded.centre if known or taken % 2 else folded.periphery

    def _certify_early(self, taken: int, unsettled: int) -> Verdict | None:
        """The open pairs after `taken` sweeps, or None if sweeps continue. Sweeps end if there were enough, or if
        at most FEW vertices cover all open pairs: traversals from these suffice."""
        very_few = self.component.size // VERY_MANY
        least = LEAST_SWEEPS if unsettled > very_few and not self.earlier.on else LEAST_SWEEPS - 1
        few = unsettled <= self.component.size // MANY or self.candidates is not None
        if taken < MOST_SWEEPS and not (taken >= least and few):
            return None
        verdict = self._certify_pairs(unsettled)
        if verdict is None or verdict.n_open == 0 or taken >= MOST_SWEEPS:
            return verdict
        return verdict if verdict.cover <= FEW else None

    def _may_share(self, n_sources: int) -> bool:
        """Whether n_sources sources, which complete the proof, are best traversed now, in shared sweeps."""
        return (self.method.options.batches and 0 < n_sources <= self.columns.together(self._columns_bytes)
                and self.costs.together(n_sources))

    @property
    def _columns_bytes(self) -> int:
        """Bytes of the pool that candidates take."""
        return 0 if self.candidates is None else self.candidates.working_bytes

    def _traverse_together(self, sources: np.ndarray) -> None:
        """Traverse the remaining vertices in shared sweeps. These also check the present witness, if there is room for
        its distances."""
        method, engine = self.method, cast(SharedScans, self.engine)
        kept, source = method.kept, method.best.source
        column_bytes = self.engine.facts.n_vertices * self.columns.column.dtype.itemsize
        if kept.source == source and len(sources) <= self.columns.together(self._columns_bytes + column_bytes):
            labels = kept.labels(source)
            kept.hold(source, labels)
            engine.watch(labels)
        self._traverse_many(sources)
        if method.best.source != source:
            engine.watch(None)

    def _traverse(self, vertex: int) -> tuple[Eccentricity, Folded]:
        begin, before = self.engine.reporter.clock(), self.engine.reporter.stats()
        column = self.columns.column
        self.method.checkpoint()
        with self.method.stages.timed("eccentricity"):
            self.method.tick("bfs")
            traversal = self.engine.bfs(vertex, into=column)
            self.method.stages.bfs += 1
        assert traversal.eccentricity is not None and traversal.n_reached == self.component.size
        run = Eccentricity(vertex, traversal.eccentricity, traversal.farthest, traversal.n_reached, column)
        self.method.record(run.eccentricity, vertex, run.farthest)
        folded = self._fold(run, column)
        used = self.engine.reporter.stats() - before
        self.costs.single(self.engine.reporter.clock() - begin, used, self.engine.facts.n_blocks, run.eccentricity)
        return run, folded

    def _fold(self, run: Eccentricity, column: Column) -> Folded:
        self.limit = max(self.limit, run.eccentricity)
        if run.farthest >= 0 and run.eccentricity > self.longest[0]:
            self.longest = (run.eccentricity, run.source, run.farthest)
        if run.source == self.method.best.source != self.method.kept.source:
            self.method.kept.put_away(run.source, column)
        if not self.pivots:
            self.earlier.begin(run.source, run.farthest, run.eccentricity, column.gather)
        self.pivots.append(run.source)
        self.eccentricities.append(run.eccentricity)
        folded = self.bounds.fold(run.source, column, run.eccentricity, self.limit)
        if self.candidates is not None:
            self.candidates.add(column, self.limit)
            self.fewer.add(column)
        elif folded.unsettled > 1 and column is self.columns.column:
            self.columns.keep()
            self.method.columns_on_disk = max(self.method.columns_on_disk, self.columns.on_disk)
        self.walks.add(run.source, column)
        self.earlier.searched(run.source, run.eccentricity)
        self.method.earlier.searched([run.source])
        self._bounded(folded.highest)
        return folded

    # -- certificates ---------------------------------------------------------------------------
    def _choose_candidates(self, unsettled: int) -> bool:
        """Choose candidates, with the stored distances; False while they are too many for the memory."""
        room, chosen = self.columns.candidates_limit(), None
        if unsettled > min(room, self.bounds.upper.many):
            chosen = boxed_candidates(self.bounds.upper, self.columns.stored, self.limit, self.columns.room // 4,
                                      min(room, unsettled - unsettled // MANY), lambda: self.method.tick("certify"))
        if chosen is None:
            if unsettled > room:
                return False
            chosen = self.bounds.upper.uncertified(self.columns.stored, self.limit)
        if chosen is None:
            chosen = ListedVertices(self.bounds.unsettled(self.limit))
        self.candidates = Candidates(chosen, self.columns.stored, self.limit, self.columns.candidates_bytes,
                                     lambda: self.method.tick("certify"))
        self.fewer.begin(self.candidates.vertices, self.candidates.points, len(self.pivots),
                         self.columns.candidates_bytes)
        self.columns.clear()
        return True

    def _certify_pairs(self, unsettled: int = 0) -> Verdict | None:
        """The open pairs; None while there are more candidates than memory has room for.

        unsettled : number of vertices that may become candidates, as long as there are none.
        """
        begin = self.engine.reporter.clock()
        with self.method.stages.timed("certify"):
            self.method.tick("certify")
            if self.candidates is None and not self._choose_candidates(unsettled):
                return None
            assert self.candidates is not None
            verdict = self.candidates.certify(self.bounds.upper, self.limit)
            self.walks.begin(self.candidates.vertices, self.limit, (len(self.pivots), len(self.sources)))
        self.costs.certified(self.engine.reporter.clock() - begin, verdict)
        self.method.n_open = verdict.n_open
        self._bounded(verdict.bound)
        return verdict

    def _certified(self) -> Verdict:
        verdict = self._certify_pairs()
        assert verdict is not None, "there are candidates"
        return verdict

    def _refine(self, verdict: Verdict) -> Verdict:
        """Do one round: for the worst pair, or for many open pairs at once."""
        assert self.candidates is not None
        if verdict.worst[0] < 0:
            return self._certified()
        self.method.rounds += 1
        begin = self.engine.reporter.clock()
        room = self.columns.batch_columns(self.candidates.working_bytes) if self.method.options.batches else 0
        at_once = self.costs.pairs_at_once(verdict.n_open, room)
        if at_once > 1:
            folded = self._refine_many(verdict, at_once)
        else:
            folded = self._refine_one(*verdict.worst)
        self.costs.round_done(self.engine.reporter.clock() - begin)
        return PROVED if folded.unsettled <= 1 else self._certified()

    def _refine_one(self, first: int, second: int) -> Folded:
        if int(self.bounds.upper.gather([first, second]).argmax()):
            first, second = second, first
        run, folded = self._traverse(first)
        if folded.unsettled <= 1:
            return folded
        assert run.distances is not None
        apart = int(run.distances.gather([second])[0])
        return self._traverse(path_middle(self.engine, run.distances, second, apart))[1]

    def _refine_many(self, verdict: Verdict, n_pairs: int) -> Folded:
        assert self.candidates is not None
        pairs = self.candidates.open_pairs(self.limit, verdict.bound, n_pairs, self.method.rounds)
        columns, _ = self._traverse_many(pairs[:, 0])
        apart = [int(c.gather([v])[0]) for c, v in zip(columns, pairs[:, 1].tolist(), strict=True)]
        middles = [path_middle(self.engine, c, v, d)
                   for c, v, d in zip(columns, pairs[:, 1].tolist(), apart, strict=True)]
        del columns
        return self._traverse_many(distinct(np.array(middles)))[1]

    def _traverse_many(self, sources: np.ndarray, apart: bool = False) -> tuple[list[Column], Folded]:
        """Traverse all sources in one batch, or `apart`, side by side; each becomes a pivot."""
        columns = [self.engine.new_column(self.method.largest) for _ in sources]
        if apart:
            eccentricities = self.method.eccentricities(sources, columns=columns, apart=True).tolist()
        else:
            eccentricities = self._batch(sources, columns).tolist()
        best = int(np.argmax(eccentricities))
        farthest = columns[best].argbest()
        self.method.record(eccentricities[best], int(sources[best]), farthest)
        self.limit = max(self.limit, *eccentricities)
        for i, column in enumerate(columns):
            run = Eccentricity(int(sources[i]), eccentricities[i], farthest if i == best else -1, -1)
            folded = self._fold(run, column)
        return columns, folded

    # -- covering -------------------------------------------------------------------------------
    def _cover(self) -> Verdict:
        """Do one batch of covering; returns the pairs open after it."""
        assert self.candidates is not None
        method, begin = self.method, self.engine.reporter.clock()
        cover = self.candidates.cover(self.limit)
        columns_bytes = self.candidates.held_bytes
        self.costs.allow_wide(self.columns.wide_bits(columns_bytes), self.limit)
        wide = self.costs.wide_bits(len(cover), self.covering.gain)
        if wide:
            sources = self.covering.dominating(cover, wide, self.bounds.upper, self.limit)
            self._settle(sources, self._batch(sources, wide=wide))
        else:
            sources = self._visit(cover, self.columns.batch_bits(columns_bytes))
        settled = self.bounds.upper.take(self.covering.proposed) <= self.limit
        left = int(np.count_nonzero(self.bounds.upper.take(cover) > self.limit))
        self.covering.learn(settled, len(cover) - left)
        self.costs.covered(self.engine.reporter.clock() - begin, len(sources), wide)
        if self.costs.pairs_are_cheap():
            verdict = self._certified()
        else:
            verdict = self.candidates.shrink(self.bounds.upper, self.limit)
            method.n_open = verdict.n_open
        method.expected_seconds = self.costs.expected_seconds(verdict.cover, self.covering.gain)
        return verdict

    def _visit(self, cover: np.ndarray, bits: int) -> np.ndarray:
        """Do one narrow batch of at most `bits` sources for the cover; returns the sources. If it traverses them one by
        one, or a few side by side, it skips vertices of the cover that earlier ones have settled."""
        size = min(max(1, bits), self.costs.batch_size(len(cover), self.covering.gain))
        visits = (size == len(cover) or self.costs.apart) and self.costs.visits(len(cover), self.covering.gain)
        sources = self.covering.visit(cover[:size]) if visits else self.covering.sources(cover, size)
        if self.costs.one_by_one(len(sources)):
            facts, columns_bytes = self.engine.facts, self._columns_bytes
            apart = min(facts.apart, self.columns.batch_columns(columns_bytes)) if self.costs.apart else 1
            for begin in range(0, len(sources), max(1, apart)):
                part = sources[begin : begin + max(1, apart)]
                if visits:
                    part = part[self.bounds.upper.gather(part) > self.limit]
                if len(part) == 1:
                    self._traverse(int(part[0]))
                elif len(part):
                    self._traverse_many(part, apart=True)
        else:
            self._settle(sources, self._batch(sources))
        return sources

    def _batch(self, sources: np.ndarray, columns: list[Column] | None = None, wide: int = 0) -> np.ndarray:
        """Eccentricities of the sources (and distances), in one multi-source BFS, of `wide` bits (0: a narrow one)."""
        method = self.method
        method.checkpoint()
        with method.stages.timed("multi-source"):
            method.tick("multi-source")
            eccentricities = (cast(WideBatches, self.engine).wide_eccentricities(sources, wide) if wide
                              else self.engine.eccentricities(sources, columns=columns))
            method.stages.multi_source += 1
            method.stages.multi_source_sources += len(sources)
        return eccentricities

    def _settle(self, sources: np.ndarray, eccentricities: np.ndarray) -> None:
        """Spread the balls of radius L - ecc around the sources. If one raises L, all earlier balls grow first."""
        self.sources.extend(sources.tolist())
        before = self.limit
        if int(eccentricities.max()) > before:
            self._traverse(int(sources[eccentricities.argmax()]))
        with self.method.stages.timed("spread"):
            if self.limit > before:
                self.engine.spread(None, before, self.limit, self.bounds.upper)
                self.method.stages.partial += 1
            self.engine.spread(sources, eccentricities.astype(np.int64), self.limit, self.bounds.upper)
            self.method.stages.partial += 1


METHOD = Method(
    PivotOptions, Pivots, phases, lambda store, options: PIVOTS, DeviceState(5, batches=True), pool,
    lambda store, options: (PIECES_BYTES, pool(store).wanted))
pivots = METHOD.solve
