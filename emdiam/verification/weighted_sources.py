"""What verifications along weights share: components, sources, and distances from them that are checked.

Distances are proposed by a search, and checked: no arc leads to a vertex in less than its distance, so that none is too
large; and every vertex is reached from a source along arcs whose weights add up to the distances, so that none is too
small; one pass over the arcs does both. A search has one source in each of some components.
Bytes: the rows, or blocks of them; a vertex: 24, and what a search holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ..decimals import in_units
from ..errors import EmdiamError, InputError
from ..jit import kernel
from ..methods.sealed import Id
from ..methods.weighted.certificate import WeightedCertificate
from ..methods.weighted.eccentricity_certificate import WeightedEccentricityCertificate
from ..methods.weighted.units import SumsTooLongError, Units, round_down, units_of
from ..paths.arcs import Arcs, ArcsInRam, ArcsOnDisk
from ..paths.condensed.components import point_to_roots
from ..paths.loading import load_rows
from ..paths.paths import SearchOptions
from ..paths.plan import ArcsPlan, plan_arcs
from ..paths.rows import unreached
from ..progress import Event, Meter, silent, timed
from ..store.store import Store
from ..traverse.components import _find, join
from .labels import REPORT
from .parts import find_vertices, read_graph
from .plan import Budget
from .report import Refused, VerifyReport

_STATE_BYTES = 24
# Of what a verification keeps beside.
_LEAST_ROOM = 4 << 20


class WeightedProof:
    """One verification. names : ids of vertices that must be there; `named` is their numbers. Raises Refused,
    BudgetError.

    root : int64[n_vertices], the smallest vertex of the component of each. sizes : vertices of components, at their
    roots. largest : the root of the one with the most (ties: the first). arcs, units : of the graph, while it is
    open."""

    arcs: Arcs
    units: Units

    def __init__(self, certificate: WeightedCertificate | WeightedEccentricityCertificate, names: Sequence[Id],
                 store: Store, report: VerifyReport, budget: Budget) -> None:
        self.store, self.report, self.budget, self._unit = store, report, budget, certificate.unit
        sources, n_components = certificate.sources, certificate.claims.n_components
        self._plan = _planned(store, budget)
        digest, labelling = read_graph(store, certificate.graph, budget.threads, Meter(budget.progress))
        names = [*names, *sources]
        vertices = find_vertices(store, names, digest.hashes)
        if (vertices < 0).any():
            raise Refused(f"the graph has no vertex {names[int((vertices < 0).argmax())]}")
        del digest
        report.scans += 1
        parent, self.sizes, found = labelling.flat()
        if n_components != found:
            raise Refused(f"the graph has {found:,} components, not {n_components:,}")
        self.root, self.largest = parent.astype(np.int64), int(self.sizes.argmax())
        count = len(names) - len(sources)
        self.named, self.sources = vertices[:count], np.unique(vertices[count:])

    @contextmanager
    def opened(self) -> Iterator[None]:
        """With the arcs."""
        options = SearchOptions(self.budget.threads, tick=self._tick)
        with timed(self.report.seconds, "load"):
            if self._plan.arena_bytes is None:
                self.arcs = ArcsInRam(load_rows(self.store, self.budget.threads)[0], options)
            else:
                self.arcs = ArcsOnDisk(self.store, self._plan.arena_bytes, options)
        try:
            self.units = self._units()
            yield
        finally:
            self.arcs.close()

    def _units(self) -> Units:
        """Those of the store, or that the certificate says. Raises Refused where it says others."""
        record = self.store.record.weights
        decimals = 0 if record is None else record.decimals
        if self._unit is not None and self._unit[0] == 2 and self.arcs.distance_dtype.kind == "f":
            return round_down(self.arcs, self._unit[1])
        units = units_of(self.arcs, decimals)
        if self._unit not in (None, units.said):
            base, exponent = self._unit or (1, 0)
            raise Refused(f"its lengths are whole numbers of {base}^{exponent}, and the weights of the store are not")
        return units

    def _tick(self) -> None:
        """An event with the sources that were searched from."""
        (self.budget.progress or silent)(Event("labels", self.report.traversals, None, "sources"))

    def in_units(self, length: int | float) -> int:
        """A claimed length. Raises Refused if it is no sum of weights."""
        if self._unit is not None:
            if type(length) is not int or length >= self.units.most:
                raise Refused(f"{length} is no number of units")
            return length
        units: int | None
        if self.units.whole:
            units = in_units(length, self.units.decimals)
        else:
            try:
                units = int(self.units.counted(np.array([length], np.float64))[0])
            except (InputError, OverflowError):
                units = None
        if units is None or units >= self.units.most or self.units.length(units) != length:
            raise Refused(f"{length} is no sum of weights of the graph")
        return units

    def rounds(self, sources: np.ndarray) -> Iterator[np.ndarray]:
        """The sources, int64[k], in turns of at most one for each component."""
        roots = self.root[sources]
        order = np.argsort(roots, kind="stable")
        sources, roots = sources[order], roots[order]
        starts = np.flatnonzero(np.diff(roots, prepend=-1))
        turn = np.arange(len(roots)) - np.repeat(starts, np.diff(starts, append=len(roots)))
        for number in range(int(turn.max(initial=-1)) + 1):
            yield sources[turn == number]

    def distances(self, sources: np.ndarray) -> np.ndarray:
        """Distances from the sources, int64[k], no two in one component, in units; checked."""
        found, _ = self.arcs.nearest(sources)
        if not are_distances(self.arcs, found, sources, int(self.sizes[self.root[sources]].sum())):
            raise EmdiamError(f"a search proposes what are no distances: {REPORT}")
        self.report.traversals += len(sources)
        try:
            return self.units.counted(found)
        except SumsTooLongError:
            raise Refused("sums of weights are not exact in its units") from None

    def reach(self, distances: np.ndarray) -> np.ndarray:
        """The largest of these distances in each component, int64[n_vertices], at its root."""
        reach = np.zeros(len(distances), np.int64)
        fill_reach(distances, unreached(distances.dtype), self.root, reach)
        return reach


def _planned(store: Store, budget: Budget) -> ArcsPlan:
    """Where the arcs are. Raises BudgetError."""
    room = budget.room(0)
    plan = plan_arcs(store, budget.threads, room, _STATE_BYTES * store.n_vertices, _LEAST_ROOM)
    if plan.need + _LEAST_ROOM > room:
        raise budget.too_small(budget.memory_bytes + plan.need + _LEAST_ROOM - room)
    return plan


@kernel
def fill_reach(distances, none, root, reach):
    """reach[r] = the largest distance in the component of root r; int64[n], zeros."""
    for v in range(len(distances)):
        if distances[v] != none:
            reach[root[v]] = max(reach[root[v]], np.int64(distances[v]))


def are_distances(arcs: Arcs, distances: np.ndarray, sources: np.ndarray, count: int) -> bool:
    """Whether these are the distances to the nearest of `sources` (int64[k]), which `count` vertices have; one pass."""
    none, n = unreached(distances.dtype), arcs.n_vertices
    if (distances[sources] != 0).any() or np.count_nonzero(distances != none) != count:
        return False
    fits, parent = np.zeros(n, np.bool_), np.arange(n, dtype=np.int64)
    fits[sources] = True
    if not all(fit_piece(*piece, distances, none, fits, parent) for piece in arcs.pieces()):
        return False
    point_to_roots(parent)
    fits[parent[fits]] = True
    return int(np.count_nonzero(fits[parent] & (distances != none))) == count


@kernel
def fit_piece(first, offsets, heads, costs, distances, none, fits, parent):
    """False if an arc leads to a vertex in less than its distance. fits[u] = True where an arc from a vertex at a
    smaller distance fits; vertices that an arc of no length joins become one set of `parent`, in which one that fits is
    enough."""
    for i in range(len(offsets) - 1):
        v = first + i
        if distances[v] == none:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            length = distances[v] + costs[p]
            if length < distances[u]:
                return False
            if length == distances[u]:
                if distances[v] < distances[u]:
                    fits[u] = True
                else:
                    join(parent, _find(parent, v), u)
    return True
