"""A whole proof with one pass over the edges, if all label columns form one group and memory has room for everything.

The columns are proposed first, in components as the certificate describes them, and the proof is made from them. Then
one pass checks digest, components and labels. The labels say which vertices a component has, and the pass checks that:
right labels lead from every labelled vertex to the vertex of the column, so all of these are connected; and no arc may
lead from them to another vertex. Only the remaining vertices are united.

Where anything differs from the certificate, or does not prove it, the passes are made one by one instead (parts.py,
groups.py), which name the reason. Bytes per vertex: the labels, the number of the component, and those of parts.py.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from ..errors import BudgetError
from ..progress import Meter, timed
from ..store.arc_runs import ArcRun
from ..store.edge_digest import EdgeDigest
from ..store.store import Store
from .components import Labelling
from .documents import Certificate, Refused, VerifyReport
from .groups import LabelStage, open_proposals, prove_gathered
from .labels import LabelColumn, LabelGroup, WrongLabel, largest_label
from .parts import check_counts, check_digest, checked_parts, claimed_part, find_walks, vertices_of
from .plan import GroupPlan, ProofBudget, graph_bytes, least_bytes, plan_groups

_PIECE = 1 << 16
# The single passes name the reason, or the memory.
_FAILURES = (Refused, WrongLabel, BudgetError)
# The share of the vertices for whose pairs memory is kept.
_FEW_REMAIN = 16


def prove_at_once(store: Store, certificate: Certificate, dtype: np.dtype[Any], budget: ProofBudget,
                  report: VerifyReport) -> bool:
    """Prove all claims in one pass; False if memory is too small, or if they are not proved. dtype : of the labels.
    report : receives traversals, scans, unsettled vertices and pairs. Raises StoreError."""
    try:
        check_counts(store, certificate.graph)
        plan = _plan(store, certificate, dtype.itemsize, budget)
        return plan is not None and _Pass(store, certificate, budget, report).run(plan, dtype)
    except _FAILURES:
        return False


def _plan(store: Store, certificate: Certificate, item_bytes: int, budget: ProofBudget) -> GroupPlan | None:
    """The proposal of all columns as one group; None if there are no columns, or without room for the rest."""
    # A component has at most this number of columns, see CertifiedPart.columns.
    most = sum(len({*part.pivots, *part.sources, *(part.witness or ())}) for part in certificate.components)
    members = 2 * store.n_vertices * np.min_scalar_type(len(certificate.components)).itemsize
    # Over short distances few vertices remain for the pairs, and more of them are refused once they are counted.
    later = budget.later_bytes // (_FEW_REMAIN if item_bytes == 1 else 1)
    beside = graph_bytes(store) + members + later
    if not most or budget.memory_bytes - beside < least_bytes(store, item_bytes, budget):
        return None
    alone = plan_groups(store, most, item_bytes, budget, later)
    plan = plan_groups(store, most, item_bytes, budget, beside)
    # Edges that no longer stay in memory would cost more than the pass that is saved.
    return plan if plan.columns >= most and (plan.beside, plan.batched) == (alone.beside, alone.batched) else None


class _Pass:
    """One such pass."""

    def __init__(self, store: Store, certificate: Certificate, budget: ProofBudget, report: VerifyReport) -> None:
        self._store, self._certificate, self._budget, self._report = store, certificate, budget, report
        self._digest = EdgeDigest(store)
        self._vertices = vertices_of(store, certificate, self._digest.hashes)
        self._walks = find_walks(store, certificate.walks, self._digest.hashes)
        self._parts = [claimed_part(number, part, self._vertices)
                       for number, part in enumerate(certificate.components, start=1)]

    def run(self, plan: GroupPlan, dtype: np.dtype[Any]) -> bool:
        """See prove_at_once. Raises Refused, WrongLabel, BudgetError, StoreError."""
        columns = sorted((column for part in self._parts for column in part.columns()),
                         key=lambda column: (column.component, column.vertex))
        if not columns:
            return False
        with ExitStack() as stack:
            with timed(self._report.seconds, "labels"):
                largest = largest_label(self._report.upper, self._store.n_vertices)
                proposals = stack.enter_context(open_proposals(plan, self._store, largest, dtype, self._budget))
                self._report.traversals += len(columns)
                labels, ids = proposals.labels(columns, plan.batched), proposals.all_ids
                potentials = proposals.potentials(columns, labels)
                if ids is None:
                    stack.close()
            try:
                group = LabelGroup(columns, labels, self._labelled(columns, labels), potentials)
                return self._proved(group, plan, ids)
            except _FAILURES:  # which are no reason for the engine to look for damage of the store
                return False

    def _proved(self, group: LabelGroup, plan: GroupPlan, ids: np.ndarray | None) -> bool:
        """Prove the claims by the proposed labels, and check them. ids : all neighbours, if they are in memory."""
        seconds = self._report.seconds
        with timed(seconds, "labels"):
            gathered = LabelStage(self._store, self._parts, group.member, self._budget, self._report).use(group)
        with timed(seconds, "pairs"):
            prove_gathered(gathered, self._walks, self._store, self._budget, self._report)
            del gathered
        with timed(seconds, "graph"):
            labelling = self._scan(group, plan.beside > 0, ids)
            _, found = checked_parts(self._certificate, self._vertices, labelling)
            return not labelling.leaving and self._are_labelled(found, group)

    def _labelled(self, columns: list[LabelColumn], labels: np.ndarray) -> np.ndarray:
        """For every vertex the component whose first column labels it, unsigned[n], 0 for none. Raises Refused if two
        components share a vertex."""
        none, member = np.iinfo(labels.dtype).max, np.zeros(len(labels), np.min_scalar_type(len(self._parts)))
        firsts = {column.component: j for j, column in reversed(list(enumerate(columns)))}
        for begin in range(0, len(labels), _PIECE):
            of = member[begin : begin + _PIECE]
            for component, j in firsts.items():
                has_label = labels[begin : begin + _PIECE, j] != none
                if of[has_label].any():
                    raise Refused("two of its components share a vertex")
                of[has_label] = component
        return member

    def _scan(self, group: LabelGroup, roomy: bool, ids: np.ndarray | None) -> Labelling:
        """Check digest and labels, and unite the other vertices. ids : see _proved."""
        store, digest, walks, meter = self._store, self._digest, self._walks, Meter(self._budget.progress)
        labelling = Labelling(store.n_vertices, store.id_dtype, symmetric=True)
        largest = max(self._parts, key=lambda part: part.size)
        labelling.connect(group.member, len(self._parts), largest.number)

        def work(run: ArcRun, ids: np.ndarray) -> None:
            digest.add(run, ids)
            labelling.add(run, ids)
            walks.add(run, ids)

        meter.begin("graph", store.indices.n_chunks, "chunks")
        group.check(store, self._budget.threads, meter.update, roomy=roomy, beside=work, ids=ids)
        meter.end()
        self._report.scans += 1
        walks.check(store)
        check_digest(digest, self._certificate.graph)
        del self._digest  # its hashes take memory
        return labelling

    def _are_labelled(self, member: np.ndarray, group: LabelGroup) -> bool:
        """Whether every component with columns has exactly its labelled vertices."""
        numbers = np.zeros(len(self._parts) + 1, member.dtype)
        for column in group.columns:
            numbers[column.component] = column.component
        return all(np.array_equal(numbers[member[begin : begin + _PIECE]], group.member[begin : begin + _PIECE])
                   for begin in range(0, len(member), _PIECE))
