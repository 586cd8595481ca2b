"""Random regular graph: the union of random Hamilton cycles and a matching, repaired; a slot is an edge.

Method: floor(degree / 2) Hamilton cycles pi_j(0), pi_j(1), ..., pi_j(n - 1), pi_j(0) and, for odd degree, the
perfect matching {pi(2i), pi(2i + 1)}, each from its own pseudorandom permutation. Permutations have inverses, so the
partners of a vertex are computed, not stored. Slots: factor j < n_cycles is a Hamilton cycle with the slots j n + i,
edge (pi_j(i), pi_j(i + 1 mod n)); for odd degree the last factor is a matching with the slots n_cycles n + i. The union
has a few repeated edges, about degree^2 / 4 for any n. A preparation pass finds them and replaces each with a switch
(McKay, Wormald 1990), which turns it, {u, v}, and a random edge {x, y} into {u, x} and {v, y}, if both are new; degrees
do not change. The result is simple and exactly regular.

Distribution: not uniform over all regular graphs, but for degree >= 3 contiguous to the uniform one: a property that
holds asymptotically almost surely for one holds for the other (Robinson, Wormald 1994; Molloy, Robalewska, Szabo,
Wormald 1997; Kim, Wormald 2001). Degree 2 is always a single cycle; degree 1 is a perfect matching.

Memory: about 200 degree^2 bytes for the replaced edges and 1.5 MiB of buffers, nothing per vertex. Time of the
preparation: about degree^2 / 8 permutations per vertex.
Diameter: floor(n / 2) for degree 2, 1 for degree 1 and n = 2, else no formula.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import below, draw
from ..jit import kernel
from .permutation import permutation_bits, permute, round_keys, unpermute
from .source import EdgeSlots, Ids, Request, required_vertices

RESTARTS = 64
SCAN_SLOTS = 1 << 16
TRIES_PER_EDGE = 200

Edge = tuple[int, int]


class Factors(NamedTuple):
    """keys : uint64[factors, rounds]; bits, n : the permutations' domain; n_cycles : cycle factors."""

    keys: npt.NDArray[np.uint64]
    bits: int
    n: int
    n_cycles: int


@kernel
def factor_edges(keys, bits, n, n_cycles, first, pair):
    """Fill pair = (src, dst), int64, with the edges of the slots first, first + 1, ..."""
    src, dst = pair
    bound = np.uint64(n)
    last = np.uint64(0)
    for k in range(len(src)):
        j = min((first + k) // n, n_cycles)
        i = first + k - j * n
        if j < n_cycles:
            head = last if k > 0 and i > 0 else permute(keys[j], bits, bound, np.uint64(i))
            i = i + 1 if i + 1 < n else 0
        else:
            head = permute(keys[j], bits, bound, np.uint64(2 * i))
            i = 2 * i + 1
        last = permute(keys[j], bits, bound, np.uint64(i))
        src[k], dst[k] = np.int64(head), np.int64(last)


@kernel
def slot_of(keys, bits, n, n_cycles, j, u, v):
    """Slot of the edge {u, v} in factor j, or -1 if the factor does not have it."""
    a = np.int64(unpermute(keys[j], bits, np.uint64(n), np.uint64(u)))
    b = np.int64(unpermute(keys[j], bits, np.uint64(n), np.uint64(v)))
    a, b = min(a, b), max(a, b)
    if j == n_cycles:
        return j * n + a // 2 if a // 2 == b // 2 else -1
    if b - a == 1:
        return j * n + a
    return j * n + b if b - a == n - 1 else -1


@kernel
def repeated_slots(keys, bits, n, n_cycles, first, slots):
    """Write the slots from `first` on, up to the length of `slots`, whose edge is in an earlier factor; return their
    number."""
    src, dst = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    factor_edges(keys, bits, n, n_cycles, first, (src, dst))
    count = 0
    for k in range(len(slots)):
        for j in range(min((first + k) // n, n_cycles)):
            if slot_of(keys, bits, n, n_cycles, j, src[k], dst[k]) >= 0:
                slots[count] = first + k
                count += 1
                break
    return count


class _Switched:
    """The graph of the factors with some slots replaced."""

    def __init__(self, factors: Factors) -> None:
        self.factors = factors
        self.edges: dict[int, Edge] = {}
        self._present: set[frozenset[int]] = set()

    def edge(self, slot: int) -> Edge:
        """The current edge at `slot`."""
        if slot in self.edges:
            return self.edges[slot]
        src, dst = np.empty(1, np.int64), np.empty(1, np.int64)
        factor_edges(*self.factors, slot, (src, dst))
        return int(src[0]), int(dst[0])

    def put(self, slot: int, edge: Edge) -> None:
        """Replace the edge at `slot`."""
        if slot in self.edges:
            self._present.discard(frozenset(self.edges[slot]))
        self.edges[slot] = edge
        self._present.add(frozenset(edge))

    def has(self, u: int, v: int) -> bool:
        """Whether {u, v} is an edge now (or a loop)."""
        if u == v or frozenset((u, v)) in self._present:
            return True
        slots = (slot_of(*self.factors, j, u, v) for j in range(len(self.factors.keys)))
        return any(slot >= 0 and slot not in self.edges for slot in slots)


def replace_repeated(factors: Factors, repeated: list[int], key: np.uint64) -> dict[int, Edge] | None:
    """The replacements {slot: edge} that make the union simple, or None if no switch was found in time.

    repeated : slots whose edge occurs in an earlier factor. key : hash key of the random choices.
    """
    graph = _Switched(factors)
    waiting = set(repeated)
    n_slots = factors.n * factors.n_cycles
    n_slots += factors.n // 2 if len(factors.keys) > factors.n_cycles else 0
    counter = 0
    for slot in repeated:
        u, v = graph.edge(slot)
        for _ in range(TRIES_PER_EDGE):
            number = draw(key, np.uint64(counter))
            counter += 1
            other = int(below(np.uint64(number), np.uint64(n_slots)))
            if other in waiting:
                continue
            x, y = graph.edge(other)
            if int(number) & 1:
                x, y = y, x
            if {u, x} != {v, y} and not graph.has(u, x) and not graph.has(v, y):
                break
        else:
            return None
        waiting.remove(slot)
        graph.put(slot, (u, x))
        graph.put(other, (v, y))
    return graph.edges


class Regular(EdgeSlots):
    """A simple random graph with the same degree everywhere."""

    def __init__(self, request: Request, n: int, degree: int) -> None:
        super().__init__(request, n, n * degree // 2, self._edges, values={"degree": degree},
                         known_diameter=n // 2 if degree == 2 else 1 if n == 2 else None,
                         memory_bytes=200 * degree**2 + 24 * SCAN_SLOTS)
        self._request, self._degree = request, degree
        self._factors: Factors | None = None
        # int64[k, 3]: the replaced slots, increasing, and the two ends of their new edges.
        self._replaced = np.empty((0, 3), np.int64)

    def _build(self) -> None:
        # Only graphs of about a dozen vertices ever need a restart with other permutations.
        for attempt in range(RESTARTS):
            factors = self._permutations(attempt)
            edges = replace_repeated(factors, self._repeated(factors), self._request.key(f"switches/{attempt}"))
            if edges is not None:
                rows = sorted((slot, *edge) for slot, edge in edges.items())
                self._factors, self._replaced = factors, np.array(rows, np.int64).reshape(-1, 3)
                return
        raise InputError(f"no simple {self._degree}-regular graph on {self.n_vertices:,} vertices was found",
                         remedy="choose another seed, fewer edges or more vertices")

    def _permutations(self, attempt: int) -> Factors:
        count, bits = (self._degree + 1) // 2, permutation_bits(self.n_vertices)
        keys = np.array([round_keys(self._request, f"factor/{attempt}/{j}", bits) for j in range(count)])
        return Factors(keys, bits, self.n_vertices, self._degree // 2)

    def _repeated(self, factors: Factors) -> list[int]:
        total, slots = self.n_vertices * self._degree // 2, list[int]()
        for first in range(self.n_vertices, total, SCAN_SLOTS):  # the first factor repeats nothing
            found = np.empty(min(total - first, SCAN_SLOTS), np.int64)
            slots += found[: repeated_slots(*factors, first, found)].tolist()
        return slots

    def _edges(self, first: int, src: Ids, dst: Ids) -> None:
        assert self._factors is not None
        factor_edges(*self._factors, first, (src, dst))
        low, high = np.searchsorted(self._replaced[:, 0], (first, first + len(src)))
        slots, sources, targets = self._replaced[low:high].T
        src[slots - first], dst[slots - first] = sources, targets


def regular(request: Request) -> Regular:
    """The random regular graph; 2 * degree <= vertices and vertices * degree even."""
    degree = request.values["degree"]
    n = required_vertices(request, 2 * degree)
    if n * degree % 2:
        raise InputError("no graph has an odd number of vertices of odd degree",
                         text=f"{n:,} vertices of degree {degree}", remedy="make one of the two even")
    return Regular(request, n, degree)
