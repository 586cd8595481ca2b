"""Verification of all eccentricities: the graph, components without a source, bounds from sources, leaves, pairs.

Passes over the edges: one for digest and components, those of components.py, one per group of at most 64 sources
besides the traversals that propose their distances, one for leaves. If bounds leave vertices open, one pass finds the
parts into which the sources cut the graph; then all sources of these components are proposed and checked a second time,
for pairs (pairs.py). Bytes per vertex: twice the id dtype, then the number of the component and two bounds besides the
bytes in plan.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..distinct import distinct
from ..histogram import histogram, with_texts
from ..methods.eccentricity.result import MOST_ANEW
from ..progress import Event, Meter, silent, timed
from ..store.arc_runs import ArcRun, scan_arcs, scan_bytes
from ..store.store import Store
from ..stream.plan import too_small
from .chains import SourceChain, SourceChains, prove_chain
from .components import Labelling, number_by_root, settle_anew
from .documents import EccentricityCertificate, Refused, VerifyReport
from .groups import check_within, open_proposals
from .labels import MOST_COLUMNS, DistanceGroup, LabelColumn, label_dtype, largest_label
from .pairs import Labelled, unproved_pair
from .parts import read_named
from .plan import ProofBudget, check_graph_room, plan_groups

_PIECE = 1 << 16
# Ends of chains whose labels are in memory at a time.
_ENDS = 16


@dataclass(repr=False)
class EccentricityReport(VerifyReport):
    """The outcome for all eccentricities; lower and upper bound the largest one. radius, center_size, periphery_size :
    of the largest component. histogram : number of vertices by eccentricity. anew : vertices in components without a
    source."""

    shown: ClassVar[tuple[str, ...]] = (
        "verified", "reason", "radius", "center_size", "periphery_size", *VerifyReport.shown[2:])

    radius: int | None = None
    center_size: int = 0
    periphery_size: int = 0
    histogram: dict[str, int] = field(default_factory=dict)
    anew: int = 0


def prove_eccentricities(certificate: EccentricityCertificate, store: Store, report: EccentricityReport,
                         budget: ProofBudget) -> None:
    """Prove every claim; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a traversal proposes wrong distances."""
    with timed(report.seconds, "graph"):
        proof = _Proof(certificate, store, report, budget)
    with timed(report.seconds, "labels"):
        if proof.columns:
            proof.bound()
            proof.settle_chains()
        leaves = proof.settle_leaves()
    with timed(report.seconds, "pairs"):
        (budget.progress or silent)(Event("pairs"))
        proof.settle_by_pairs(leaves)
        proof.settle_leaves()
    proof.check_claims()


class _Proof:
    """member : for every vertex the number of its component, from 1, if that has sources, else 0. lower, upper :
    bounds. _more_for_chains : bytes that were missing for chains; 0 if they fit."""

    def __init__(
        self, certificate: EccentricityCertificate, store: Store, report: EccentricityReport, budget: ProofBudget
    ) -> None:
        self._store, self._report, self._budget, self._claims = store, report, budget, certificate.claims
        self._largest = largest_label(report.upper, store.n_vertices)
        self._dtype = label_dtype(self._largest)
        self._more_for_chains = 0
        budget.later_bytes = self._later_bytes(len(certificate.sources))
        check_graph_room(store, self._dtype.itemsize, budget)
        names = [certificate.claims.largest, *certificate.sources]
        vertices, labelling = read_named(store, certificate.graph, names, budget)
        report.scans += 1
        parent, sizes, self.n_components = labelling.flat()
        del labelling
        self._sources = distinct(vertices[1:])
        self._look_at_sizes(parent, sizes, int(vertices[0]))
        budget.program += 2 * store.n_vertices * (self._dtype.itemsize + 1)
        self.lower = np.zeros(store.n_vertices, self._dtype)
        self.upper = np.full(store.n_vertices, np.iinfo(self._dtype).max, self._dtype)
        self._settle_anew(parent, sizes)
        self._number(parent, sizes)

    def _later_bytes(self, n_sources: int) -> int:
        """Bytes of two bounds and temporaries to compare them, of the component numbers, and of settle_by_pairs for all
        vertices."""
        n, item, number = self._store.n_vertices, self._dtype.itemsize, self._store.id_dtype.itemsize
        return (n * (2 * (item + 1) + np.min_scalar_type(n_sources + 1).itemsize + self._pair_bytes(n_sources))
                + n * (3 * number + 1) + scan_bytes(self._store, self._budget.threads))

    def _pair_bytes(self, n_columns: int) -> int:
        """Bytes per vertex: all distances in two orders, two bounds and the part."""
        return 2 * n_columns * self._dtype.itemsize + 9 + self._store.id_dtype.itemsize

    def _look_at_sizes(self, parent: np.ndarray, sizes: np.ndarray, largest: int) -> None:
        self._root = int(parent[largest])
        self.size, most = int(sizes[self._root]), int(sizes.max())
        if self.size != most:
            raise Refused(f"the component of vertex {self._claims.largest} has {self.size:,} vertices, another one"
                          f" {most:,}")

    def _settle_anew(self, parent: np.ndarray, sizes: np.ndarray) -> None:
        """Settle components without a source."""
        has_source = np.zeros(len(parent), bool)
        has_source[parent[self._sources]] = True
        left_out = int(np.max(sizes, where=~has_source, initial=0))
        if left_out > MOST_ANEW:
            raise Refused(f"a component of {left_out:,} vertices has no source")
        for start in range(0, len(parent), _PIECE):  # in place, which is safe as a root is its own root
            here = slice(start, start + _PIECE)
            has_source[here] = has_source[parent[here]]
        is_small = np.logical_not(has_source, out=has_source)
        self._report.anew = int(np.count_nonzero(is_small))
        self._report.scans += settle_anew(self._store, parent, is_small, self._largest, self._budget,
                                          (self.lower, self.upper))

    def _number(self, parent: np.ndarray, sizes: np.ndarray) -> None:
        """Number the components with sources, and the claimed largest one."""
        roots = distinct(np.append(parent[self._sources].astype(np.int64), self._root))
        self._sizes = np.append(0, sizes[roots].astype(np.int64))
        self.member = np.empty(len(parent), np.min_scalar_type(len(roots)))
        number_by_root(parent, roots, np.arange(1, len(roots) + 1), self.member)
        self._number_of_largest = int(np.searchsorted(roots, self._root)) + 1
        of_sources = self.member[self._sources]
        order = np.argsort(of_sources, kind="stable")
        self.columns = [LabelColumn(int(self._sources[i]), int(of_sources[i]), self._largest) for i in order]
        self._budget.program += self.member.nbytes

    # -- bounds ---------------------------------------------------------------------------------
    def bound(self) -> None:
        """Compute the bounds from all sources."""
        for group in self._groups(self.columns):
            group.narrow(self.lower, self.upper)

    def _group_of(self, columns: Sequence[LabelColumn]) -> DistanceGroup | None:
        """The group of a few columns, or None if they do not fit in one."""
        group = next(self._groups(columns))
        return group if len(group.columns) == len(columns) else None

    def _groups(self, columns: Sequence[LabelColumn]) -> Iterator[DistanceGroup]:
        """Groups of these columns with checked distances, one group at a time."""
        store, budget, report = self._store, self._budget, self._report
        plan = plan_groups(store, len(columns), self._dtype.itemsize, budget)
        meter = Meter(budget.progress)
        with open_proposals(plan, store, self._largest, self._dtype, budget) as proposals:
            for start in range(0, len(columns), min(MOST_COLUMNS, plan.columns)):
                some = list(columns[start : start + min(MOST_COLUMNS, plan.columns)])
                group = DistanceGroup(some, proposals.labels(some, plan.batched), self.member)
                meter.begin("check labels", store.indices.n_chunks, "chunks")
                group.check(store, budget.threads, meter.update)
                meter.end()
                report.scans += 1
                report.traversals += len(some)
                for column, reach in zip(some, group.reach.tolist(), strict=True):
                    check_within(store, column, reach)
                yield group
                del group

    def settle_chains(self) -> None:
        """Settle open vertices inside chains between sources, if there is enough memory to find the chains."""
        store, threads = self._store, self._budget.threads
        is_open = self.lower < self.upper
        need = SourceChains.bytes_for(store) + store.n_vertices + scan_bytes(store, threads)
        if not is_open.any():
            return
        if need > self._budget.room(0):
            self._more_for_chains = need - self._budget.room(0)
            return
        self._budget.program += need
        chains = SourceChains(store, threads)
        self._report.scans += 1
        together: list[SourceChain] = []
        for chain in chains.between(self._sources, is_open):
            if len({end for one in (*together, chain) for end in (one.p, one.q)}) > _ENDS:
                self._settle_together(chains, together)
                together = []
            together.append(chain)
        if together:
            self._settle_together(chains, together)
        self._budget.program -= need

    def _settle_together(self, chains: SourceChains, together: list[SourceChain]) -> None:
        """Settle chains with few ends, whose labels fit in memory together."""
        ends = {end for one in together for end in (one.p, one.q)}
        columns = [column for column in self.columns if column.vertex in ends]
        group = self._group_of(columns)
        if group is None:
            self._more_for_chains = len(columns) * self._store.n_vertices * self._dtype.itemsize
            return
        at = {column.vertex: j for j, column in enumerate(columns)}
        for one in together:
            to_p, to_q = (group.labels[:, at[end]] for end in (one.p, one.q))
            found = np.empty(len(one.inside), np.int64)
            component = int(self.member[one.p])
            prove_chain(chains.of, one.number, self.member, component, to_p, to_q, int(to_p[one.q]), found)
            if int(found.max(initial=0)) > self._largest:
                (name,) = self._store.user_ids(one.inside[[found.argmax()]])
                raise Refused(f"vertex {name} has the eccentricity {int(found.max())}, more than the largest that is"
                              f" claimed, {self._largest}")
            self.lower[one.inside] = self.upper[one.inside] = found

    def settle_leaves(self) -> np.ndarray:
        """Settle leaves: a vertex of degree 1 is one step farther from everything than its neighbour, unless the
        neighbour is a leaf too. Returns the leaves whose neighbours are not settled."""
        waiting: list[np.ndarray] = []
        if (self.lower == self.upper).all():
            return np.empty(0, np.int64)

        def add(run: ArcRun, ids: np.ndarray) -> None:
            whole = np.diff(run.starts) == 1
            whole[0] &= not run.head
            whole[-1] &= not run.tail
            leaves, at = run.rows[whole], ids[run.starts[:-1][whole]]
            known = self.lower[at] == self.upper[at]
            is_open = (self.lower[leaves] < self.upper[leaves]) & (self._sizes[self.member[leaves]] > 2)
            waiting.append(leaves[is_open & ~known])
            known &= is_open
            self.lower[leaves[known]] = self.upper[leaves[known]] = self.lower[at[known]] + 1

        scan_arcs(self._store, self._budget.threads, add)
        self._report.scans += 1
        return np.concatenate(waiting)

    # -- pairs ----------------------------------------------------------------------------------
    def settle_by_pairs(self, leaves: np.ndarray) -> None:
        """Settle the vertices that bounds leave open, except these leaves."""
        is_open = self.lower < self.upper
        is_open[leaves] = False
        self._report.unsettled = int(np.count_nonzero(is_open))
        if not is_open.any():
            return
        self._budget.later_bytes = 0  # from here on it is really used
        parts = self._parts()
        for number in distinct(self.member[is_open]).tolist():
            vertices = np.flatnonzero(self.member == number)
            columns = [column for column in self.columns if column.component == number]
            booked = self._hold(len(vertices) * self._pair_bytes(len(columns)))
            points = np.empty((len(vertices), len(columns)), self._dtype)
            first = 0
            for group in self._groups(columns):
                points[:, first : first + len(group.columns)] = group.labels[vertices]
                first += len(group.columns)
            is_source = np.isin(vertices, [column.vertex for column in columns])
            component = Labelled(points, self.lower[vertices], parts[vertices], is_open[vertices], is_source)
            pair, looked_at = unproved_pair(component, self._largest, self._budget.threads, lambda: None)
            self.lower[vertices] = component.lower
            self._report.pairs += looked_at
            if pair is not None:
                if self._more_for_chains:
                    raise too_small(self._budget.memory_bytes, self._budget.memory_bytes + self._more_for_chains)
                one, two = self._store.user_ids(vertices[list(pair)])
                raise Refused(f"vertex {one} is not proved to have the eccentricity"
                              f" {int(self.lower[vertices[pair[0]]])}: vertex {two} may be farther")
            settled = vertices[is_open[vertices]]
            self.upper[settled] = self.lower[settled]
            self._budget.program -= booked
        self._budget.program -= parts.nbytes

    def _parts(self) -> np.ndarray:
        """The components of the graph without the sources: for each vertex the smallest vertex of its component, id[n].
        One pass."""
        store, threads = self._store, self._budget.threads
        booked = self._hold(store.n_vertices * (2 * store.id_dtype.itemsize + 1) + scan_bytes(store, threads))
        is_source = np.zeros(store.n_vertices, bool)
        is_source[self._sources] = True
        labelling = Labelling(store.n_vertices, store.id_dtype, symmetric=True)
        scan_arcs(store, threads, lambda run, ids: labelling.add_others(run, ids, is_source))
        self._report.scans += 1
        parts = labelling.flat()[0]
        self._budget.program -= booked - parts.nbytes
        return parts

    def _hold(self, need: int) -> int:
        """Reserve this number of bytes. Raises BudgetError if there is no room."""
        budget = self._budget
        if need > budget.room(0):
            raise too_small(budget.memory_bytes, budget.memory_bytes + need - budget.room(0))
        budget.program += need
        return need

    # -- claims ---------------------------------------------------------------------------------
    def check_claims(self) -> None:
        """Check every claimed number."""
        assert (self.lower == self.upper).all(), "leaves are settled with their neighbours"
        claims, counts = self._claims, np.bincount(self.lower)
        here = np.bincount(self.lower[self.member == self._number_of_largest])
        values = np.flatnonzero(here)
        radius, diameter = int(values[0]), int(values[-1])
        proved = {
            "n_components": self.n_components, "radius": radius, "diameter_largest_component": diameter,
            "diameter_max_component": len(counts) - 1, "center_size": int(here[radius]),
            "periphery_size": int(here[diameter]),
            "histogram": with_texts(histogram(counts)[0])}
        for name, value in proved.items():
            said = getattr(claims, name)
            if said != value or (name == "histogram" and list(said) != list(value)):  # type: ignore[call-overload]
                raise Refused(f"{name} is {value}, not {said}" if name != "histogram" else
                              "its histogram is not that of the graph")
