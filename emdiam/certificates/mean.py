"""Verification of an interval of the mean distance: the graph, cells of similar distances, labels, sums over cells.

Let A and B be cells of one component, whose vertices have the mean distances a_s and b_s from a source s. The distances
between A and B sum up to at least |A| |B| max_s |a_s - b_s|, since the mean of absolute values is at least the absolute
value of the mean; and to at most |A| |B| min_s (a_s + b_s). This holds for any partition into cells. Pairs that are not
edges are at least 2 apart. In a component of k vertices without a source all distances sum up to at most those of a
path, (k^3 - k) / 6. Means are multiples of 2^-q, rounded down, and the bounds allow for that.

Passes over the edges: one for digest and components, one per group of at most 64 sources. Each source is traversed for
the cells, which need no proof, and again for its labels, which are proved to be distances. Bytes per vertex: twice the
id dtype, then one, a column, and the bytes in plan.py. Work: the square of the number of cells for each source. Source
of the bounds of one pair: Potamias, Bonchi, Castillo, Gionis, CIKM 2009 (Fast shortest path distance estimation in
large networks), section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..distinct import distinct
from ..jit import kernel
from ..progress import Meter, timed
from ..store.store import Store
from .cells import Cells
from .components import number_by_root
from .documents import MeanCertificate, Refused, VerifyReport
from .groups import Proposals, open_proposals
from .labels import MOST_COLUMNS, DistanceGroup, LabelColumn, label_dtype, largest_label
from .parts import read_named
from .plan import ProofBudget, check_graph_room, plan_groups

# For means: limit of the bits of the fraction, and bits of the largest number.
_FRACTION_BITS, _BITS = 16, 30


@dataclass(repr=False)
class MeanReport(VerifyReport):
    """The outcome for an interval of the mean distance: mean_lower, mean_upper, over n_pairs unordered pairs of
    connected vertices; None without pairs. lower, upper : of the largest distance, which is not proved here."""

    shown: ClassVar[tuple[str, ...]] = (
        "verified", "reason", "mean_lower", "mean_upper", "n_pairs", "n_vertices", "n_edges", "n_components",
        "traversals", "seconds")

    mean_lower: float | None = None
    mean_upper: float | None = None
    n_pairs: int = 0


def mean_interval(lower: int, upper: int, n_pairs: int) -> tuple[float | None, float | None]:
    """Bounds of a mean, rounded outwards to float64, from those of a sum; None without pairs."""
    if not n_pairs:
        return None, None
    low, high = lower / n_pairs, upper / n_pairs
    return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)


def fraction_bits(longest: int) -> int:
    """Number of fraction bits in a mean of distances up to `longest`."""
    return max(0, min(_FRACTION_BITS, _BITS - 1 - longest.bit_length()))


def prove_mean(certificate: MeanCertificate, store: Store, report: MeanReport, budget: ProofBudget) -> None:
    """Prove the interval; counts and seconds go into the report. Raises Refused, BudgetError, StoreError, and
    EmdiamError if a traversal proposes wrong distances."""
    with timed(report.seconds, "graph"):
        proof = _MeanProof(certificate, store, report, budget)
    with timed(report.seconds, "labels"):
        tables = proof.tables()
    with timed(report.seconds, "pairs"):
        proof.check_claims(tables)


class _MeanProof:
    """columns : of all sources, by component. sizes : of components without a source."""

    def __init__(
        self, certificate: MeanCertificate, store: Store, report: MeanReport, budget: ProofBudget
    ) -> None:
        self._store, self._report, self._budget, self._claims = store, report, budget, certificate.claims
        self._largest = largest_label(self._claims.longest, store.n_vertices)
        self._dtype = label_dtype(self._largest)
        check_graph_room(store, self._dtype.itemsize, budget)
        vertices, labelling = read_named(store, certificate.graph, certificate.sources, budget)
        if len(distinct(vertices)) < len(vertices):
            raise Refused("a source is named twice")
        report.scans += 1
        parent, sizes, self._n_components = labelling.flat()
        del labelling
        self._number(parent, sizes, vertices)

    def _number(self, parent: np.ndarray, sizes: np.ndarray, vertices: np.ndarray) -> None:
        roots = distinct(parent[vertices].astype(np.int64))
        self._sizes = [0, *sizes[roots].tolist()]
        whole = sizes[sizes > 1].astype(object)
        self._n_pairs = int((whole * (whole - 1) // 2).sum())
        sizes[roots] = 0
        rest = sizes[sizes > 1].astype(object)
        self._n_rest, self._most_rest = int((rest * (rest - 1) // 2).sum()), sum(map(_of_path, rest))
        self._member = np.empty(len(parent), np.min_scalar_type(len(roots)))
        number_by_root(parent, roots, np.arange(1, len(roots) + 1), self._member)
        self._columns = [LabelColumn(int(v), int(self._member[v]), self._largest) for v in vertices]
        self._budget.program += self._member.nbytes

    def tables(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(sizes int64[cells], sums of distances int64[cells, sources]) of each component with sources."""
        store, budget = self._store, self._budget
        if not self._columns:
            return []
        budget.program += store.n_vertices * (store.id_dtype.itemsize + 1)
        plan = plan_groups(store, len(self._columns), self._dtype.itemsize, budget)
        with open_proposals(plan, store, self._largest, self._dtype, budget) as proposals:
            cells = Cells(store.n_vertices, store.id_dtype)
            for column in self._columns:
                cells.divide(np.ascontiguousarray(proposals.labels([column], False)[:, 0]))
                self._report.traversals += 1
            ordered = sorted(range(len(self._columns)), key=lambda i: self._columns[i].component)
            found = np.empty((len(cells.sizes), len(ordered)), np.int64)
            for start in range(0, len(ordered), min(MOST_COLUMNS, plan.columns)):
                some = ordered[start : start + min(MOST_COLUMNS, plan.columns)]
                group = self._checked(proposals, [self._columns[i] for i in some], plan.batched)
                for j, i in enumerate(some):
                    found[:, i] = cells.sums(group.labels[:, j])
                del group
        return [_of_component(cells.sizes, found, [
            i for i in ordered if self._columns[i].component == number]) for number in range(1, len(self._sizes))]

    def _checked(self, proposals: Proposals, columns: list[LabelColumn], batched: bool) -> DistanceGroup:
        """A group whose labels are proved to be distances."""
        labels = proposals.labels(columns, batched)
        for j, column in enumerate(columns):  # in other components a column has no meaning
            labels[self._member != column.component, j] = np.iinfo(labels.dtype).max
        group, meter = DistanceGroup(columns, labels, self._member), Meter(self._budget.progress)
        meter.begin("check labels", self._store.indices.n_chunks, "chunks")
        group.check(self._store, self._budget.threads, meter.update)
        meter.end()
        self._report.scans += 1
        self._report.traversals += len(columns)
        return group

    def check_claims(self, tables: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Check every claimed number."""
        claims, bits = self._claims, fraction_bits(self._largest)
        least, most = 2 * self._n_rest - self._store.n_edges, self._most_rest
        for sizes, sums in tables:
            n = int(sizes.sum())
            # The fraction separately, since sums with it may exceed 64 bits.
            whole, part = np.divmod(sums, sizes[:, None])
            low, high = _bounds((whole << bits) + (part << bits) // sizes[:, None], sizes, 2 << bits)
            least += -(-low >> bits)
            most += min(high >> bits, _of_path(n))
        for name, value in (("n_components", self._n_components), ("n_pairs", self._n_pairs)):
            if getattr(claims, name) != value:
                raise Refused(f"{name} is {value}, not {getattr(claims, name)}")
        if claims.sum_lower > max(least, self._n_pairs):
            raise Refused(f"distances are proved to sum up to {max(least, self._n_pairs)} at least, not to"
                          f" {claims.sum_lower}")
        if claims.sum_upper < most:
            raise Refused(f"distances are proved to sum up to {most} at most, not to {claims.sum_upper}")


def _of_path(size: int) -> int:
    """The sum of all distances in a path of this number of vertices, the maximum of connected graphs."""
    return (int(size)**3 - int(size)) // 6


def _of_component(sizes: np.ndarray, sums: np.ndarray, sources: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The cells reached by these sources, and their sums."""
    inside = sums[:, sources[0]] >= 0
    return sizes[inside], np.ascontiguousarray(sums[inside][:, sources])


def _bounds(means: np.ndarray, sizes: np.ndarray, two: int) -> tuple[int, int]:
    """Bounds of the sum of the distances of all pairs, in the unit of the means. two : the distance 2 in that unit."""
    low = high = 0
    found = np.empty(2, np.int64)
    for cell, size in enumerate(sizes.tolist()):
        bound_rows(means, sizes, cell, two, found)
        inside = size * (size - 1) // 2
        low += size * int(found[0]) + inside * two
        high += size * int(found[1]) + inside * (2 * int(means[cell].min()) + 2)
    return low, high


@kernel
def bound_rows(means, sizes, cell, two, found):
    """found = bounds of the sum of mean distances from a vertex of `cell` to all vertices of earlier cells."""
    mine = means[cell]
    low = high = np.int64(0)
    for other in range(cell):
        theirs = means[other]
        apart, through = np.int64(0), mine[0] + theirs[0]
        for s in range(len(mine)):
            apart = max(apart, abs(mine[s] - theirs[s]))
            through = min(through, mine[s] + theirs[s])
        low += sizes[other] * max(two, apart - 1)
        high += sizes[other] * (through + 2)
    found[0] = low
    found[1] = high
