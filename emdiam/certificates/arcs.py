"""Verification along arcs, with lengths of arcs or of weights: of a largest finite distance, and of all eccentricities.

Rows out are read and reversed here, so that the reverse rows of a store need not be trusted. Strong components are
numbered anew, in reverse topological order. Distances from or to a vertex are proposed by a search and checked: no arc
leads to a vertex in less than its distance, and every vertex is reached from the source along arcs whose lengths add up
to the distances; one traversal of these arcs checks both.

Largest distance: b(v) bounds ecc_out, and c(v) bounds ecc_in, initially n - 1 times the longest arc. A source v is open
while b(v) is above the claimed length L, a sink while c(v) is. A search from v determines b(v), a search to v c(v);
within the strong component of u, b(v) <= d(v, u) + b(u) and c(v) <= c(u) + d(u, v). By heads: for each component of
heads of v's arcs take the least sum of an arc's length and its head's b; the largest of these bounds b(v). The reverse
gives c(v). By pairs: a source v has b(v) <= L if for every open sink a vertex p of `pairs` shows that v is within L of
it (the path through p is short enough), or does not reach it (p is in v's strong component and does not reach it); all
other sinks are within L anyway. The same holds for sinks. L is proved when no source is open, or no sink, and a pair is
L apart.

Eccentricities: see methods/directed/eccentricities.py for the reasons of the bounds, which must meet at every vertex.
Bytes: the rows in RAM, twice; 12 per arc while they are reversed; 96 per vertex, and 16 more for each one in `pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import EmdiamError
from ..jit import inlined, kernel
from ..methods.weighted.units import SumsTooLongError, scaled, stated
from ..paths.arcs import Arcs, ArcsInRam
from ..paths.blocks import load_rows, loading_buffers, rows_bytes
from ..paths.paths import SearchOptions
from ..paths.plan import search_bytes
from ..paths.rows import WeightedRows, unreached
from ..progress import Event, silent, timed
from ..shown import infinite
from ..store.store import Store
from .documents import ArcCertificate, ArcEccentricityCertificate, Refused, VerifyReport, WeightedArcCertificate
from .labels import REPORT
from .parts import read_named
from .plan import ProofBudget
from .sealed import Id
from .weighted import ClaimedUnits

_STATE_BYTES, _PAIR_BYTES, _TURNING_BYTES = 96, 16, 12
_Certificate = ArcCertificate | WeightedArcCertificate | ArcEccentricityCertificate
_UNBOUNDED, _NONE = 1 << 62, np.iinfo(np.int64).max


@dataclass(repr=False)
class ArcReport(VerifyReport):
    """The outcome along arcs: a VerifyReport whose lower and upper bound the largest finite distance, whose diameter is
    only of a strongly connected graph, and whose connected and n_components ignore directions. n_strong_components :
    with directions. radius, center_size, periphery_size : of eccentricities, see ArcEccentricityClaims."""

    shown: ClassVar[tuple[str, ...]] = (
        "verified", "reason", "diameter", "lower", "upper", "n_strong_components", *VerifyReport.shown[5:])

    directed: bool = True
    weighted: bool = False
    n_strong_components: int = 0
    direction: str | None = None
    radius: int | float | None = None
    center_size: int | None = None
    periphery_size: int | None = None

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is not a missing one."""
        if name == "diameter" and self.verified and self.n_strong_components > 1:
            return infinite(self.n_strong_components, "strong component")
        return super()._fact(name)


class _ArcProof(ClaimedUnits):
    """One verification. out, into : arcs from and to every vertex. numbers : of each vertex's strong component."""

    def __init__(self, certificate: _Certificate, names: Sequence[Id], store: Store,
                 report: ArcReport, budget: ProofBudget) -> None:
        self.store, self.report, self.budget = store, report, budget
        self._unit = getattr(certificate, "unit", None)
        self._unweighted, claims = not certificate.weighted, certificate.claims
        if certificate.weighted and store.weights is None:
            raise Refused("its lengths are sums of weights, and the store has none")
        self._check_room(len(getattr(certificate, "pairs", ())))
        vertices, labelling = read_named(store, certificate.graph,
                                         [*names, *certificate.along, *certificate.against], budget)
        report.scans += 1
        _, _, found = labelling.flat()
        if claims.n_components != found:
            raise Refused(f"the graph has {found:,} components, not {claims.n_components:,}")
        first, second = len(names), len(names) + len(certificate.along)
        self.named = vertices[:first].tolist()
        self.along, self.against = ([*dict.fromkeys(some.tolist())] for some in (
            vertices[first:second], vertices[second:]))

    def _check_room(self, pairs: int) -> None:
        """Raise BudgetError if the arcs of both directions do not fit in memory."""
        store, budget = self.store, self.budget
        n, rows = store.n_vertices, rows_bytes(store)
        need = 2 * rows + max(loading_buffers(store, budget.threads), _TURNING_BYTES * store.n_arcs, n * (
            _STATE_BYTES + _PAIR_BYTES * pairs) + search_bytes(store, "delta-stepping", budget.threads, tree=False))
        if need > budget.room(0):
            raise budget.too_small(budget.memory_bytes + need - budget.room(0))

    def load(self) -> None:
        """Read the rows, and number the strong components. Raises Refused if their number differs from the claim."""
        with timed(self.report.seconds, "load"):
            rows = load_rows(self.store, self.budget.threads)[0]
            if self._unweighted:
                rows = WeightedRows(rows.offsets, rows.heads)
            options = SearchOptions(self.budget.threads, tick=self._tick)
            self._rows = rows, turned(rows)
            self.out, self.into = (ArcsInRam(some, options) for some in self._rows)
            self.arcs: Arcs = self.out
            self.units = self._units(self.into)
            # Rounding may have replaced the rows.
            self._rows = self.out.all_rows, self.into.all_rows
        n = len(rows.offsets) - 1
        self.numbers, stacks = np.full(n, n, np.int64), np.empty((4, n), np.int64)
        self.n_strong = int(number_components(rows.offsets, rows.heads, self.numbers, *stacks))
        said = self.report.n_strong_components
        if self.n_strong != said:
            raise Refused(f"the graph has {self.n_strong:,} strong components, not {said:,}")

    def _tick(self) -> None:
        """Send an event with the number of sources searched."""
        (self.budget.progress or silent)(Event("labels", self.report.traversals, None, "sources"))

    def distances(self, vertex: int, back: bool) -> np.ndarray:
        """Checked distances from a vertex, or to it, int64[n] in units; the largest value without a path."""
        arcs, rows = (self.into, self._rows[1]) if back else (self.out, self._rows[0])
        found, _ = arcs.nearest(np.array([vertex]))
        n, none = len(found), unreached(found.dtype)
        seen, queue = np.zeros(n, np.bool_), np.empty(n, np.int64)
        reached = int(follow(rows.offsets, rows.heads, rows.costs, found, none, vertex, seen, queue))
        if found[vertex] != 0 or reached != np.count_nonzero(found != none):
            raise EmdiamError(f"a search proposes wrong distances: {REPORT}")
        self.report.traversals += 1
        try:
            units = self.units.counted(found)
        except SumsTooLongError:
            raise Refused("sums of weights are not exact in its units") from None
        wide = units.astype(np.int64)
        wide[units == unreached(units.dtype)] = _NONE
        return wide

    def lengths(self, vertices: np.ndarray, back: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arcs of these vertices: ends of rows, heads, and lengths in units."""
        ends, heads, costs = (self.into if back else self.out).rows(vertices)
        if self.units.whole:
            return ends, heads, costs.astype(np.int64)
        return ends, heads, np.minimum(scaled(costs, self.units), _UNBOUNDED).astype(np.int64)

    def most(self, bounds: np.ndarray, vertices: np.ndarray, back: bool) -> np.ndarray:
        """Bounds on the eccentricities of vertices from the bounds of their heads, int64[k]."""
        found = np.empty(len(vertices), np.int64)
        least = np.full(self.n_strong, _UNBOUNDED)
        by_heads(*self.lengths(vertices, back), bounds, self.numbers, least, found)
        return found


def turned(rows: WeightedRows) -> WeightedRows:
    """The reverse rows."""
    n = rows.n_vertices
    offsets, order = np.zeros(n + 1, np.int64), np.argsort(rows.heads, kind="stable")
    np.cumsum(np.bincount(rows.heads, minlength=n), out=offsets[1:])
    tails = np.repeat(np.arange(n, dtype=rows.heads.dtype), np.diff(rows.offsets))
    return WeightedRows(offsets, tails[order], None if rows.weights is None else rows.weights[order])


def prove_along_arcs(certificate: ArcCertificate | WeightedArcCertificate, store: Store, report: ArcReport,
                     budget: ProofBudget) -> None:
    """Prove every claim of a largest distance; counts and seconds go into the report. Raises Refused, BudgetError,
    StoreError, and EmdiamError if a search proposes wrong distances."""
    with timed(report.seconds, "graph"):
        proof = _LargestProof(certificate, store, report, budget)
        proof.load()
    with timed(report.seconds, "labels"):
        proof.bound()
    with timed(report.seconds, "pairs"):
        (budget.progress or silent)(Event("pairs"))
        proof.close()


class _LargestProof(_ArcProof):
    """bounds : of ecc_out and ecc_in, int64[2, n]."""

    def __init__(self, certificate: ArcCertificate | WeightedArcCertificate, store: Store, report: ArcReport,
                 budget: ProofBudget) -> None:
        super().__init__(certificate, [*certificate.claims.witness, *certificate.pairs], store, report, budget)
        self._claims, self.bounds = certificate.claims, np.full((2, store.n_vertices), _UNBOUNDED)

    def bound(self) -> None:
        """Compute the bounds from all sources; check that the claimed length is attained and none is longer. Raises
        Refused."""
        self._limit = limit = self.in_units(self._claims.length)
        if self.units.rounded:
            self.report.upper = self.units.length(limit + self.store.n_vertices - 1)
            self.report.diameter = None
        # A path has at most one arc fewer than there are vertices.
        most = (self.store.n_vertices - 1) * int(self.units.of_weight(self.out.largest_weight))
        self.bounds[:] = min(most, _UNBOUNDED)
        source, target = self.named[:2]
        apart = int(self.distances(source, False)[target])
        longest = apart
        both = set(self.along) & set(self.against)
        for vertex in sorted(both):
            columns = [self.distances(vertex, back) for back in (False, True)]
            for side, column in enumerate(columns):
                self.bounds[side, vertex] = farthest(column)
                longest = max(longest, farthest(column))
            for side in (0, 1):
                self._fold(vertex, columns[1 - side], side)
        for side, vertices in enumerate((self.along, self.against)):
            for vertex in (one for one in vertices if one not in both):
                column = self.distances(vertex, bool(side))
                longest = max(longest, farthest(column))
                self.bounds[side, vertex] = min(self.bounds[side, vertex], farthest(column))
                self._fold(vertex, column, 1 - side)
        if apart != limit or longest > limit:
            raise Refused(f"its witness is not {self.units.length(limit)} apart, or another pair is farther apart")

    def _fold(self, vertex: int, column: np.ndarray, side: int) -> None:
        """Update the bounds of one side in the component of a vertex, from the vertex's bound and distances."""
        inside = self.numbers == self.numbers[vertex]
        self.bounds[side, inside] = np.minimum(self.bounds[side, inside], column[inside] + self.bounds[side, vertex])

    def close(self) -> None:
        """Close vertices by heads and by pairs until one side has none open. Raises Refused if nothing more can be
        closed."""
        near = [(vertex, self.distances(vertex, False), self.distances(vertex, True))
                for vertex in dict.fromkeys(self.named[2:])]
        count = -1
        while True:
            sides = [np.flatnonzero(some > self._limit) for some in self.bounds]
            self.report.unsettled = max(self.report.unsettled, len(sides[0]) + len(sides[1]))
            if not len(sides[0]) or not len(sides[1]):
                return
            if len(sides[0]) + len(sides[1]) == count:
                one, two = self.store.user_ids(np.array([sides[0][0], sides[1][0]]))
                raise Refused(f"{len(sides[0]):,} vertices, {one} among them, are not proved to be within"
                              f" {self.units.length(self._limit)} of {len(sides[1]):,} others, such as {two}")
            count = len(sides[0]) + len(sides[1])
            for side in (0, 1):
                self._close_by_heads(side)
                self._close_by_pairs(side, near)

    def _close_by_heads(self, side: int) -> None:
        before = -1
        while (vertices := np.flatnonzero(self.bounds[side] > self._limit)).size not in (0, before):
            before = len(vertices)
            # Heads have smaller numbers, so they come first; on the reverse the order is opposite.
            order = np.argsort(self.numbers[vertices], kind="stable")
            vertices = vertices[order[::-1] if side else order]
            for some in np.array_split(vertices, max(1, len(vertices) // 4096)):
                found = self.most(self.bounds[side], some, bool(side))
                self.bounds[side, some] = np.minimum(self.bounds[side, some], found)

    def _close_by_pairs(self, side: int, near: list[tuple[int, np.ndarray, np.ndarray]]) -> None:
        mine, others = (np.flatnonzero(self.bounds[one] > self._limit) for one in (side, 1 - side))
        for vertex in mine.tolist():
            rest = others[others != vertex]
            for pivot, out, into in near:
                towards, onwards = (out, into) if side else (into, out)
                beyond = onwards[rest] == _NONE
                close = beyond if self.numbers[pivot] == self.numbers[vertex] else np.zeros(len(rest), np.bool_)
                if towards[vertex] <= self._limit:
                    close |= ~beyond & (onwards[rest] <= self._limit - towards[vertex])
                self.report.pairs += len(rest)
                rest = rest[~close]
            if not len(rest):
                self.bounds[side, vertex] = self._limit


def prove_arc_eccentricities(certificate: ArcEccentricityCertificate, store: Store, report: ArcReport,
                             budget: ProofBudget) -> None:
    """Prove the claims of all eccentricities in the same way."""
    with timed(report.seconds, "graph"):
        proof = _EccentricityProof(certificate, [], store, report, budget)
        proof.load()
    with timed(report.seconds, "labels"):
        proof.bound(certificate.claims.direction == "in")
        proof.check_claims(certificate)


class _EccentricityProof(_ArcProof):
    """lower, upper : int64[n], bounds on all eccentricities."""

    def bound(self, back: bool) -> None:
        """Compute the bounds from all sources, then of vertices that are alone in their components. Raises Refused with
        a vertex at which they do not meet."""
        n, known = self.store.n_vertices, dict[int, int]()
        self.lower, self.upper = np.zeros(n, np.int64), np.full(n, _UNBOUNDED)
        for vertex in self.along:
            column = self.distances(vertex, back)
            known[vertex] = self.lower[vertex] = self.upper[vertex] = farthest(column)
            inside = self.numbers == self.numbers[vertex]
            self.lower[inside] = np.maximum(self.lower[inside], known[vertex] - column[inside])
        for vertex in self.against:
            column = self.distances(vertex, not back)
            self.lower = np.maximum(self.lower, np.where(column == _NONE, 0, column))
            if vertex in known:
                inside = self.numbers == self.numbers[vertex]
                self.upper[inside] = np.minimum(self.upper[inside], column[inside] + known[vertex])
        self._settle_alone(back)
        apart = self.lower != self.upper
        if apart.any():
            (name,) = self.store.user_ids(np.flatnonzero(apart)[:1])
            raise Refused(f"the sources leave the eccentricity of vertex {name} open, and of"
                          f" {np.count_nonzero(apart) - 1:,} others")

    def _settle_alone(self, back: bool) -> None:
        """Settle vertices alone in their components from their heads, after everything that they reach."""
        alone = np.flatnonzero(np.bincount(self.numbers, minlength=self.n_strong)[self.numbers] == 1)
        order = np.argsort(self.numbers[alone], kind="stable")
        least = np.full(self.n_strong, _UNBOUNDED)
        for some in np.array_split(alone[order[::-1] if back else order], max(1, len(alone) // 4096)):
            settle_alone(some, *self.lengths(some, back), self.lower, self.upper, self.numbers, least)

    def check_claims(self, certificate: ArcEccentricityCertificate) -> None:
        """Check every claimed number. Raises Refused."""
        claims, largest, least = certificate.claims, int(self.lower.max()), int(self.lower.min())
        strong = self.n_strong == 1
        for name, value in (("length", largest), ("radius", least if strong else None)):
            said = getattr(claims, name)
            if (None if said is None else self.in_units(said)) != value:
                raise Refused(f"{name} is {None if value is None else self.units.length(value)}, not"
                              f" {stated(said, self.units.said)}")
        for name, size in (("periphery_size", int(np.count_nonzero(self.lower == largest))),
                           ("center_size", int(np.count_nonzero(self.lower == least)) if strong else None)):
            if getattr(claims, name) != size:
                raise Refused(f"{name} is {size}, not {getattr(claims, name)}")


def farthest(column: np.ndarray) -> int:
    """The largest finite distance."""
    return int(column.max(initial=0, where=column != _NONE))


@kernel
def follow(offsets, heads, costs, distances, none, source, seen, queue):
    """The number of vertices reached from the source along arcs that fit the distances; -1 if an arc of one of them
    leads to a vertex in less than its distance. seen : bool[n], False. queue : int64[n]."""
    queue[0] = source
    seen[source] = True
    count = 1
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            length = distances[v] + costs[p]
            if length < distances[u]:
                return -1
            if length == distances[u] and not seen[u]:
                seen[u] = True
                queue[count] = u
                count += 1
    return count


@kernel
def number_components(offsets, heads, numbers, entry, low, stack, places):
    """Number the strong components in reverse topological order, with Tarjan's depth-first search; returns their
    number. numbers : int64[n], all n. entry, low, stack, places : int64[n]; places holds the current path of the
    search."""
    n = len(numbers)
    entry[:] = -1
    at = np.empty(n, np.int64)
    count, time, top = 0, 0, 0
    for root in range(n):
        if entry[root] >= 0:
            continue
        depth = 0
        places[0] = root
        while depth >= 0:
            v = places[depth]
            if entry[v] < 0:
                entry[v] = time
                low[v] = time
                time += 1
                stack[top] = v
                top += 1
                at[v] = offsets[v]
            went = False
            while at[v] < offsets[v + 1]:
                u = np.int64(heads[at[v]])
                if entry[u] < 0:
                    depth += 1
                    places[depth] = u
                    went = True
                    break
                if numbers[u] == n:
                    low[v] = min(low[v], low[u])
                at[v] += 1
            if went:
                continue
            if low[v] == entry[v]:
                while True:
                    top -= 1
                    numbers[stack[top]] = count
                    if stack[top] == v:
                        break
                count += 1
            depth -= 1
    return count


@inlined
def bound_by_heads(i, ends, heads, lengths, bounds, numbers, least):
    """For each component of the heads of row i, take the least sum of length and bound; returns the largest of these,
    or 0 without a head. least : entries of all components, _UNBOUNDED before and after."""
    most = np.int64(0)
    for p in range(ends[i], ends[i + 1]):
        c = numbers[heads[p]]
        least[c] = min(least[c], bounds[heads[p]] + lengths[p])
    for p in range(ends[i], ends[i + 1]):
        most = max(most, least[numbers[heads[p]]])
    for p in range(ends[i], ends[i + 1]):
        least[numbers[heads[p]]] = _UNBOUNDED
    return most


@kernel
def by_heads(ends, heads, lengths, bounds, numbers, least, found):
    """found[i] = bound_by_heads of row i."""
    for i in range(len(found)):
        found[i] = bound_by_heads(i, ends, heads, lengths, bounds, numbers, least)


@kernel
def settle_alone(vertices, ends, heads, lengths, lower, upper, numbers, least):
    """Bounds of vertices that are alone in their components, in this order, from the bounds of their heads: the upper
    one, and with a single arc also the lower one."""
    for i in range(len(vertices)):
        v = vertices[i]
        upper[v] = min(upper[v], bound_by_heads(i, ends, heads, lengths, upper, numbers, least))
        if ends[i + 1] - ends[i] == 1:
            lower[v] = max(lower[v], lengths[ends[i]] + lower[heads[ends[i]]])
