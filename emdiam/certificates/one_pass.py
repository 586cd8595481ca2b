"""Digest, components and labels in one pass, if all label columns form one group and memory has room for everything.

The columns are proposed first, in components as the certificate describes them. Their labels say which vertices a
component has, and the pass checks that: right labels lead from every labelled vertex to the vertex of the column, so
all of these are connected; and no arc may lead from them to another vertex. Only the remaining vertices are united.

Where anything differs from the certificate, the passes are made one by one instead (parts.py, groups.py), which name
the reason. Bytes per vertex: the labels, the number of the component, and those of parts.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.cpu import open_cpu_engine
from ..errors import BudgetError
from ..progress import Meter
from ..store.arc_runs import ArcRun
from ..store.edge_digest import EdgeDigest
from ..store.store import Store
from .components import Labelling
from .documents import Certificate, Refused, VerifyReport
from .groups import Proposals
from .labels import LabelColumn, LabelGroup, WrongLabel, largest_label
from .parts import CertifiedPart, check_counts, check_digest, checked_parts, claimed_part, vertices_of
from .plan import GroupPlan, ProofBudget, engine_needs, graph_bytes, least_bytes, plan_groups

_PIECE = 1 << 16


@dataclass(frozen=True)
class Checked:
    """parts, member : see find_parts. group : the checked columns of all parts."""

    parts: list[CertifiedPart]
    member: np.ndarray
    group: LabelGroup


def find_with_labels(store: Store, certificate: Certificate, dtype: np.dtype[Any], budget: ProofBudget,
                     report: VerifyReport) -> Checked | None:
    """Prove components and labels in one pass; None if memory is too small, or if anything differs from the
    certificate. dtype : of the labels. report : receives traversals and scans. Raises StoreError."""
    try:
        check_counts(store, certificate.graph)
        plan = _plan(store, certificate, dtype.itemsize, budget)
        return None if plan is None else _Pass(store, certificate, budget, report).run(plan, dtype)
    except (Refused, WrongLabel, BudgetError):  # the single passes name the reason, or the memory
        return None


def _plan(store: Store, certificate: Certificate, item_bytes: int, budget: ProofBudget) -> GroupPlan | None:
    """The proposal of all columns as one group; None if there are no columns, or without room for the rest."""
    # A component has at most this number of columns, see CertifiedPart.columns.
    most = sum(len({*part.pivots, *part.sources, *(part.witness or ())}) for part in certificate.components)
    members = 2 * store.n_vertices * np.min_scalar_type(len(certificate.components)).itemsize
    beside = graph_bytes(store) + members + budget.later_bytes
    if not most or budget.memory_bytes - beside < least_bytes(store, item_bytes, budget):
        return None
    alone = plan_groups(store, most, item_bytes, budget, budget.later_bytes)
    plan = plan_groups(store, most, item_bytes, budget, beside)
    # Edges that no longer stay in memory would cost more than the pass that is saved.
    return plan if plan.columns >= most and (plan.beside, plan.batched) == (alone.beside, alone.batched) else None


class _Pass:
    """One such pass."""

    def __init__(self, store: Store, certificate: Certificate, budget: ProofBudget, report: VerifyReport) -> None:
        self._store, self._certificate, self._budget, self._report = store, certificate, budget, report
        self._digest = EdgeDigest(store)
        self._vertices = vertices_of(store, certificate, self._digest.hashes)
        self._parts = [claimed_part(number, part, self._vertices)
                       for number, part in enumerate(certificate.components, start=1)]

    def run(self, plan: GroupPlan, dtype: np.dtype[Any]) -> Checked | None:
        """See find_with_labels. Raises Refused, WrongLabel, BudgetError, StoreError."""
        columns = sorted((column for part in self._parts for column in part.columns()),
                         key=lambda column: (column.component, column.vertex))
        if not columns:
            return None
        labels = self._proposed(columns, plan, dtype)
        labelled = self._labelled(columns, labels)
        if labelled is None:
            return None
        group = LabelGroup(columns, labels, labelled)
        labelling = self._scan(group, plan.beside > 0)
        parts, member = checked_parts(self._certificate, self._vertices, labelling)
        if labelling.leaving or not self._are_labelled(member, group):
            return None
        group.member = member
        return Checked(parts, member, group)

    def _proposed(self, columns: list[LabelColumn], plan: GroupPlan, dtype: np.dtype[Any]) -> np.ndarray:
        """The labels of the columns, after the engine has freed its memory."""
        store, budget = self._store, self._budget
        needs = engine_needs(store, dtype.itemsize, budget.threads)
        with open_cpu_engine(store, needs, memory_bytes=budget.memory_bytes, arena_bytes=plan.arena_bytes,
                             threads=budget.threads, progress=budget.progress, program=budget.program) as engine:
            proposals = Proposals(engine, largest_label(self._report.upper, store.n_vertices), dtype, plan.beside)
            self._report.traversals += len(columns)
            return proposals.labels(columns, plan.batched)

    def _labelled(self, columns: list[LabelColumn], labels: np.ndarray) -> np.ndarray | None:
        """For every vertex the component in which it has a label, unsigned[n], 0 for none; None if a vertex has labels
        in two components, or not in every column of one."""
        none, member = np.iinfo(labels.dtype).max, np.zeros(len(labels), np.min_scalar_type(len(self._parts)))
        for begin in range(0, len(labels), _PIECE):
            of, some = member[begin : begin + _PIECE], labels[begin : begin + _PIECE]
            for j, column in enumerate(columns):
                of[some[:, j] != none] = column.component
            if any(not np.array_equal(some[:, j] != none, of == column.component) for j, column in enumerate(columns)):
                return None
        return member

    def _scan(self, group: LabelGroup, roomy: bool) -> Labelling:
        """Check digest and labels, and unite the other vertices."""
        store, digest, meter = self._store, self._digest, Meter(self._budget.progress)
        labelling = Labelling(store.n_vertices, store.id_dtype, symmetric=True)
        labelling.connect(group.member, group.leveled(len(self._parts)))

        def work(run: ArcRun, ids: np.ndarray) -> None:
            digest.add(run, ids)
            labelling.add(run, ids)

        meter.begin("graph", store.indices.n_chunks, "chunks")
        group.check(store, self._budget.threads, meter.update, roomy=roomy, beside=work)
        meter.end()
        self._report.scans += 1
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
