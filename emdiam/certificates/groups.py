"""Label columns in groups: proposed by the engine, checked, and used; unsettled vertices remain for the pairs.

Columns whose labels only settle come first, columns that prove pairs last. If the latter form one group, its labels are
kept and collected at the unsettled vertices; else they are proposed and checked a second time, group by group.

The engine proposes labels through a BFS each, or through one multi-source BFS for a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..distinct import distinct
from ..engine.cpu import CpuEngine, open_cpu_engine
from ..progress import Event, Meter, silent
from ..store.store import Store
from ..stream.plan import too_small
from ..traverse.columns import Column
from .documents import Refused, VerifyReport
from .labels import (
    FEW_COLUMNS,
    LEAST_HALVED,
    MOST_HALVED,
    LabelColumn,
    LabelGroup,
    Potentials,
    halve,
    label_dtype,
    largest_label,
)
from .pairs import ROW_BYTES, WAITING_BYTES, check_room, prove_pairs
from .parts import CertifiedPart
from .plan import GroupPlan, ProofBudget, engine_needs, plan_groups
from .walks import Walks

_PIECE, _ROWS = 1 << 16, 1 << 11


@dataclass(frozen=True)
class Gathered:
    """The unsettled vertices of one part, int64[m], and their labels from its pivots, unsigned[m, k]."""

    part: CertifiedPart
    vertices: np.ndarray
    points: np.ndarray

    def fill(self, group: LabelGroup) -> None:
        """Copy the group's labels from pivots of this part."""
        here = [(j, self.part.pivots.index(column.vertex)) for j, column in enumerate(group.columns)
                if column.pairs and column.component == self.part.number]
        for begin in range(0, len(self.vertices) if here else 0, _PIECE):
            rows, points = group.labels[self.vertices[begin : begin + _PIECE]], self.points[begin : begin + _PIECE]
            for j, place in here:
                points[:, place] = rows[:, j]


def pair_bytes(n_vertices: int, n_pivots: int, item_bytes: int) -> int:
    """Bytes for unsettled vertices: their numbers, labels and one more label, and rows of the proof of pairs."""
    return n_vertices * (8 + (n_pivots + 1) * item_bytes + ROW_BYTES) + WAITING_BYTES


def make_groups(columns: list[LabelColumn], most: int) -> list[list[LabelColumn]]:
    """The columns in groups of at most `most`, each sorted by component. Columns that prove pairs are in the last
    groups, as few as possible, the first of which may contain other columns too."""
    others = [column for column in columns if not column.pairs]
    paired = [column for column in columns if column.pairs]
    groups = [others[i : i + most] for i in range(0, len(others), most)]
    if groups and len(groups[-1]) + len(paired) <= most:
        paired = groups.pop() + paired
    groups += [paired[i : i + most] for i in range(0, len(paired), most)]
    return [sorted(group, key=lambda column: (column.component, column.vertex)) for group in groups]


class LabelStage:
    """All label columns of a certificate.

    member : part of every vertex. report : receives traversals, scans and unsettled vertices.
    """

    def __init__(
        self, store: Store, parts: list[CertifiedPart], member: np.ndarray, budget: ProofBudget, report: VerifyReport
    ) -> None:
        self._store, self._parts, self._member = store, parts, member
        self._budget, self._report = budget, report
        self._meter = Meter(budget.progress)
        self._largest = largest_label(report.upper, store.n_vertices)
        self._dtype = label_dtype(self._largest)
        self._settled = np.zeros(store.n_vertices, np.uint8)
        # A larger bound than the number of vertices proves no more than that number.
        self._limits = np.array([0, *(min(part.upper, part.size - 1) for part in parts)], np.int64)

    def run(self) -> list[Gathered]:
        """Propose, check and use every column; returns the unsettled vertices of the parts that need pairs.

        Raises Refused, EmdiamError for wrong labels, BudgetError, StoreError.
        """
        columns = [column for part in self._parts for column in part.columns()]
        if not columns:
            return self._unsettled()
        plan = plan_groups(self._store, len(columns), self._dtype.itemsize, self._budget, self._budget.later_bytes)
        groups = make_groups(columns, plan.columns)
        paired = [group for group in groups if any(column.pairs for column in group)]
        last = self._with_engine(plan, groups, paired)
        return last if isinstance(last, list) else self._filled(last)

    def use(self, group: LabelGroup) -> list[Gathered]:
        """Use all columns, in one group; the caller checks it against the edges. Returns as `run` does."""
        group.find_reach(self._store)
        self._use(group)
        return self._filled(group)

    def _filled(self, group: LabelGroup) -> list[Gathered]:
        """The unsettled vertices with their labels, from the only group with columns that prove pairs."""
        gathered = self._unsettled()
        for left in gathered:
            left.fill(group)
        return gathered

    def _with_engine(
        self, plan: GroupPlan, groups: list[list[LabelColumn]], paired: list[list[LabelColumn]]
    ) -> LabelGroup | list[Gathered]:
        """The last group with its labels, after the engine has freed its memory; or, with several groups of pivots, the
        labels collected from them."""
        with open_proposals(plan, self._store, self._largest, self._dtype, self._budget) as proposals:
            group: LabelGroup | None = None
            for columns in groups:
                group = None  # frees its labels before the next ones are made
                group = self._checked(proposals, plan, columns)
                self._use(group)
            assert group is not None, "there is a column"
            if len(paired) < 2:
                return group
            group = None
            gathered = self._unsettled()
            for columns in paired if any(len(left.vertices) > 1 for left in gathered) else ():
                again = self._checked(proposals, plan, columns)
                for left in gathered:
                    left.fill(again)
                del again
            return gathered

    def _checked(self, proposals: Proposals, plan: GroupPlan, columns: list[LabelColumn]) -> LabelGroup:
        labels = proposals.labels(columns, plan.batched)
        self._report.traversals += len(columns)
        self._meter.begin("check labels", self._store.indices.n_chunks, "chunks")
        group = LabelGroup(columns, labels, self._member, proposals.potentials(columns, labels))
        group.check(self._store, self._budget.threads, self._meter.update, roomy=plan.beside > 0)
        self._meter.end()
        self._report.scans += 1
        return group

    def _use(self, group: LabelGroup) -> None:
        """Settle vertices, and check the witnesses. Raises Refused."""
        for column, reach in zip(group.columns, group.reach.tolist(), strict=True):
            check_within(self._store, column, reach)
        group.settle(self._limits, self._settled)
        for j, column in enumerate(group.columns):
            part = self._parts[column.component - 1]
            if column.level and part.witness is not None:
                apart = int(group.labels[column.other, j])
                if apart != part.lower:
                    one, two = self._store.user_ids(np.array(part.witness))
                    raise Refused(f"vertices {one} and {two} are {apart} apart, not {part.lower}")

    def _unsettled(self) -> list[Gathered]:
        """The unsettled vertices of every part that needs pairs, with arrays for their labels."""
        sizes = self._count_unsettled()
        self._report.unsettled = int(sizes.sum())
        wanted = [part for part in self._parts if part.needs_pairs]
        self._check_room(sizes, wanted)
        none = np.iinfo(self._dtype).max  # entries that are never filled prove nothing
        gathered = {part.number: Gathered(part, np.empty(sizes[part.number], np.int64),
                                       np.full((sizes[part.number], len(part.pivots)), none, self._dtype))
                 for part in wanted}
        place = np.zeros(len(sizes), np.int64)
        for begin, numbers in self._open_numbers():
            for number in distinct(numbers[numbers > 0]).tolist():
                here = np.flatnonzero(numbers == number)
                at = place[number]
                gathered[number].vertices[at : at + len(here)] = here + begin
                place[number] += len(here)
        return list(gathered.values())

    def _open_numbers(self) -> Iterator[tuple[int, np.ndarray]]:
        """(first vertex, numbers), in pieces: the part of each unsettled vertex if that needs pairs, else 0."""
        number = np.array([0, *(part.number * part.needs_pairs for part in self._parts)], np.int64)
        for begin in range(0, len(self._member), _PIECE):
            numbers = number[self._member[begin : begin + _PIECE]]
            numbers[self._settled[begin : begin + _PIECE] != 0] = 0
            yield begin, numbers

    def _count_unsettled(self) -> np.ndarray:
        sizes = np.zeros(len(self._parts) + 1, np.int64)
        for _, numbers in self._open_numbers():
            sizes += np.bincount(numbers, minlength=len(sizes))
        sizes[0] = 0
        return sizes

    def _check_room(self, sizes: np.ndarray, wanted: list[CertifiedPart]) -> None:
        need = sum(pair_bytes(int(sizes[part.number]), len(part.pivots), self._dtype.itemsize) for part in wanted)
        room = self._budget.room(0)
        if need > room:
            raise too_small(self._budget.memory_bytes, self._budget.memory_bytes + need - room)


def prove_gathered(gathered: list[Gathered], walks: Walks, store: Store, budget: ProofBudget, report: VerifyReport
                   ) -> None:
    """Prove all pairs of unsettled vertices, by their labels and by walks. Raises Refused with an unproved pair."""
    (budget.progress or silent)(Event("pairs"))
    report.pairs = 0
    gathered_bytes = sum(left.vertices.nbytes + left.points.nbytes for left in gathered)
    for left in gathered:
        points, others = left.points, walks.columns(left.vertices, left.points.dtype)
        if others.size:
            check_room(2 * others.nbytes + points.nbytes, budget.room(gathered_bytes))
            points = np.concatenate((points, others), axis=1)
        proof = prove_pairs(points, left.part.upper, budget.room(gathered_bytes))
        report.pairs += proof.looked_at
        if proof.unproved is not None:
            one, two = store.user_ids(left.vertices[list(proof.unproved)])
            raise Refused(f"vertices {one} and {two} are not proved to be within {left.part.upper}")


@contextmanager
def open_proposals(plan: GroupPlan, store: Store, largest: int, dtype: np.dtype[Any], budget: ProofBudget
                   ) -> Iterator[Proposals]:
    """Proposals by an engine as planned, which frees its memory at the end. largest, dtype : see Proposals."""
    needs = engine_needs(store, dtype.itemsize, budget.threads)
    with open_cpu_engine(store, needs, memory_bytes=budget.memory_bytes, arena_bytes=plan.arena_bytes,
                         threads=budget.threads, progress=budget.progress, program=budget.program) as engine:
        yield Proposals(engine, largest, dtype, plan.beside)


class Proposals:
    """Proposals of one engine. largest : upper bound of all labels. dtype : of labels; its largest value means no
    label. beside : see GroupPlan. all_ids : of the engine, see there."""

    def __init__(self, engine: CpuEngine, largest: int, dtype: np.dtype[Any], beside: int = 0) -> None:
        self._engine, self._largest, self._dtype, self._beside = engine, largest, dtype, beside
        self.all_ids = engine.all_ids()

    def labels(self, columns: list[LabelColumn], batched: bool) -> np.ndarray:
        """Labels unsigned[n, g] of g columns. batched : whether to propose them together if there are more than a few.
        Raises Refused for a vertex that is too far away."""
        self._engine.reporter.tick("labels")
        try:
            return self._together(columns) if batched and len(columns) > FEW_COLUMNS else self._each(columns)
        except OverflowError:
            raise Refused(
                f"a vertex is more than {self._largest} away from one of its pivots or sources") from None

    def potentials(self, columns: list[LabelColumn], labels: np.ndarray) -> Potentials | None:
        """For the only level column of short distances, if there is room: its labels up to the middle of the witness,
        and beyond it the distances from its other end."""
        levels = [j for j, column in enumerate(columns) if column.level]
        if len(levels) != 1 or not self._beside:
            return None
        column, length = columns[levels[0]], int(labels[columns[levels[0]].other, levels[0]])
        if not LEAST_HALVED <= length <= MOST_HALVED:
            return None
        near = self._engine.new_column(self._largest)
        self._engine.bfs(column.other, into=near, radius=length - length // 2 - 1)
        halve(labels, levels[0], length, near.raw())
        return Potentials(near.raw(), length // 2)

    def _each(self, columns: list[LabelColumn]) -> np.ndarray:
        """Propose with a BFS from each; over long distances, a few side by side."""
        proposed = [self._engine.new_column(self._largest)]
        if len(columns) == 1:  # then the column serves as the labels
            self._bfs(columns[0], proposed[0])
            return proposed[0].raw().reshape(-1, 1)
        labels, first = self._empty(columns), 0
        while first < len(columns):
            some = columns[first : first + len(proposed)]
            self._engine.reporter.tick("labels")
            if len(some) == 1:
                reach = self._bfs(some[0], proposed[0])
            else:
                self._search(some, proposed)
            _fill(labels, first, proposed[: len(some)])
            first += len(some)
            if len(proposed) == 1 and self._engine.facts.apart_pays(reach):
                proposed += [self._engine.new_column(self._largest) for _ in range(self._beside)]
        return labels

    def _bfs(self, column: LabelColumn, proposed: Column) -> int:
        reach = int(self._engine.bfs(column.vertex, into=proposed).levels)
        check_within(self._engine.store, column, reach)
        return reach

    def _search(self, columns: list[LabelColumn], proposed: list[Column]) -> None:
        for column in proposed:
            column.clear()
        vertices = np.array([column.vertex for column in columns])
        self._engine.eccentricities(vertices, columns=proposed[: len(columns)])

    def _together(self, columns: list[LabelColumn]) -> np.ndarray:
        labels = self._empty(columns)
        proposed = [self._engine.new_column(self._largest) for _ in columns]
        self._bfs(columns[0], proposed[0])  # shows whether distances are long
        self._search(columns[1:], proposed[1:])
        _fill(labels, 0, proposed)
        return labels

    def _empty(self, columns: list[LabelColumn]) -> np.ndarray:
        return np.empty((self._engine.facts.n_vertices, len(columns)), self._dtype)


def check_within(store: Store, column: LabelColumn, reach: int) -> None:
    """Raise Refused if a column reaches beyond the bound: it cannot be part of a proof of that bound."""
    if reach > column.limit:
        (name,) = store.user_ids(np.array([column.vertex]))
        raise Refused(f"a vertex is {reach} away from vertex {name}, more than the bound {column.limit} of its"
                      " component")


def _fill(labels: np.ndarray, first: int, columns: list[Column]) -> None:
    """labels[:, first + j] = columns[j], which have the same dtype; all columns for a few rows at a time, as `labels`
    is stored by rows."""
    for begin in range(0, len(labels), _ROWS):
        end = min(begin + _ROWS, len(labels))
        for j, column in enumerate(columns, start=first):
            labels[begin:end, j] = column.part(begin, end)
