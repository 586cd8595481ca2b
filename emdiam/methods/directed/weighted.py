"""Distances as sums of weights along the arcs of a graph with directions, or against them, in RAM or elsewhere.

The rows of the reverse are searched for distances to a vertex. Shortest paths between two vertices of a strong
component stay within it, so a search is not restricted to it: distances outside are dropped afterwards. Strong
components are numbered before the arcs are loaded, by the engine of graphs with directions. Sums are exact as without
directions (weighted/units.py). If they are not, weights are rounded down to a multiple of a power of two, chosen by the
longest distances of two searches; if a distance turns out to be too long for it, a run begins again with a larger one.
Bytes a vertex: those of two searches; 4 for the numbers of components; 16 for columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp

import numpy as np

from ...jit import kernel
from ...paths.arcs import Arcs
from ...paths.rows import unreached
from ...progress import Listener, silent, timed
from ...store.store import Store
from ...stream.counters import Counters
from ...traverse.bfs import BfsResult
from ...traverse.ram_column import RamColumn
from ..result import WeightedArcApproximation, WeightedArcResult
from ..weighted.bounds import NEVER
from ..weighted.metric import WeightMetric
from ..weighted.units import FRACTION_BITS, SumsTooLongError, Units, round_down, scaled
from .metric import ArcVerbs

_NONE = np.iinfo(np.int64).max
# Spare bits above the longest distance of two searches if weights are rounded, and additional bits at each repetition.
_SPARE_BITS, _MORE_BITS = 3, 6


@dataclass(frozen=True)
class StrongParts:
    """numbers : of each vertex's strong component, in reverse topological order, integers[n_vertices]. n_strong,
    n_weak : number of components with directions, and without."""

    numbers: np.ndarray
    n_strong: int
    n_weak: int


class WeightedArcMetric(WeightMetric, ArcVerbs):
    """out, into : arcs from and to every vertex. strong : components of the graph. units, listener, store : see
    WeightMetric."""

    bound_dtype = np.dtype(np.int64)
    batch, phase = 64, "search"
    store: Store
    result_type = WeightedArcResult
    approximation_type = WeightedArcApproximation

    def __init__(self, out: Arcs, into: Arcs, strong: StrongParts, units: Units, store: Store,
                 listener: Listener = silent) -> None:
        super().__init__(out, units, listener, store)
        self.into, self.strong, self.n_edges = into, strong, out.n_arcs

    def _arcs(self, back: bool) -> Arcs:
        return self.into if back else self.arcs

    def search(self, source: int, *, back: bool = False, within: np.ndarray | None = None,
               distances: bool = True) -> BfsResult:
        """See ArcVerbs. Raises SumsTooLongError if sums are not exact."""
        column = signed(self.in_units(*self._arcs(back).nearest(np.array([source]))))
        reached = column != np.iinfo(column.dtype).max
        largest = int(column.max(initial=0, where=reached))
        result = BfsResult(source, None, largest, int(np.count_nonzero(reached)),
                           int((reached & (column == largest)).argmax()))
        if distances:
            if within is not None:
                inside = np.unpackbits(within.view(np.uint8), count=len(column), bitorder="little").view(np.bool_)
                column[~inside] = np.iinfo(column.dtype).max
            result.distances = RamColumn(column)
        return result

    def near(self, source: int, room: np.ndarray, *, back: bool = False) -> np.ndarray | None:
        """Vertices joined to `source` by paths from it (back: to it) on which each vertex v is within room[v],
        int64[n], in units, below 0: excluded. None if arcs are not in RAM."""
        arcs, exponent = self._arcs(back), self.units.exponent
        found = arcs.near(source, room if self.units.whole else np.ldexp(room.astype(np.float64), exponent))
        if found is None:
            return None
        self._relaxed += found[1]
        return found[0]

    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """See ArcVerbs; int64[k], by one search from each."""
        return np.array([self.search(source, back=back, distances=False).levels for source in sources.tolist()],
                        np.int64)

    def components(self, start: int = 0) -> tuple[np.ndarray, int, int]:  # type: ignore[override]
        """See ArcVerbs."""
        return self.strong.numbers, self.strong.n_strong, self.strong.n_weak

    def heads(self, vertices: np.ndarray, *, back: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See ArcVerbs; lengths int64, in units."""
        ends, heads, costs = self._arcs(back).rows(vertices)
        if self.units.whole:
            return ends, heads, costs.astype(np.int64)
        # A cut length is too long for any path.
        return ends, heads, np.minimum(scaled(costs, self.units), float(NEVER)).astype(np.int64)

    def check_bound(self, bound: int) -> None:
        """See ArcVerbs."""
        if bound >= NEVER and not self.units.whole:
            raise SumsTooLongError("bounds by these weights need more bits than sums have",
                                   remedy="round the weights to a few decimals, and convert again")

    def degrees(self, vertices: np.ndarray, *, back: bool = False) -> np.ndarray:
        """See ArcVerbs."""
        return self._arcs(back).degrees(np.asarray(vertices, np.int64))

    def inner_degrees(self, numbers: np.ndarray) -> np.ndarray:
        """See ArcVerbs; one pass over the arcs of both directions."""
        product = np.ones(self.n_vertices, np.int64)
        for arcs in (self.arcs, self.into):
            counts = np.zeros(self.n_vertices, np.int64)
            for first, offsets, heads, _ in arcs.pieces():
                count_within(first, offsets, heads, numbers, counts)
            product *= counts
        return product

    def round_down(self) -> None:
        """See WeightMetric; called again if sums are too long for the last unit."""
        with timed(self.seconds, "round"):
            longest = [found[found != unreached(found.dtype)].max().item()
                       for arcs in (self.arcs, self.into) for found in (arcs.nearest(np.array([0]))[0],)]
            far = max(*longest, float(self.arcs.largest_weight))
            exponent = frexp(far)[1] + _SPARE_BITS - FRACTION_BITS
            if self.units.rounded:
                exponent = max(exponent, self.units.exponent + _MORE_BITS)
            self.units = round_down(self.arcs, exponent)
            round_down(self.into, exponent)
        self._relaxed = 0

    def proved(self, lower: int, upper: int) -> tuple[int, int]:
        """See Metric. A path has fewer edges than the graph has vertices, and each has lost less than a unit."""
        return lower, upper + (self.n_vertices - 1 if self.units.rounded else 0)

    def used(self) -> Counters:
        """See Metric; includes the bytes read to load the arcs."""
        return Counters(edges_scanned=self._relaxed, bytes_read=self.arcs.bytes_read + self.into.bytes_read)


def signed(units: np.ndarray) -> np.ndarray:
    """Distances in units in the form that kernels compare: uint32, or int64 in place of uint64, the largest value
    without a path."""
    if units.dtype != np.uint64:
        return units
    wide = units.view(np.int64)
    wide[wide < 0] = _NONE
    return wide


@kernel
def count_within(first, offsets, heads, numbers, counts):
    """counts[v] += number of arcs in v's row of a piece whose both ends have the same number."""
    for i in range(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            counts[first + i] += numbers[np.int64(heads[p])] == numbers[first + i]
