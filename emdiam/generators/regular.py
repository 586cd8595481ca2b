"""Random regular graph: the union of random Hamilton cycles and a matching, repaired; a slot is an edge.

Method: floor(degree / 2) Hamilton cycles pi_j(0), pi_j(1), ..., pi_j(n - 1), pi_j(0) and, for odd
degree, the perfect matching {pi(2i), pi(2i + 1)}, each from its own pseudorandom permutation.
Permutations have inverses, so the partners of a vertex are computed and nothing is stored. The
union has a few repeated edges, about degree^2 / 4 whatever n is; a preparation pass finds
them and random edge switches replace them (`regular_repair`). The result is simple and exactly
regular.

Distribution: not uniform over all regular graphs, but for degree >= 3 contiguous to it: what holds
asymptotically almost surely for one holds for the other (Robinson, Wormald 1994; Molloy,
Robalewska, Szabo, Wormald 1997; Kim, Wormald 2001). Degree 2 is one cycle, never several; degree 1
is a perfect matching.

Memory: about 200 degree^2 bytes for the replaced edges and 1.5 MiB of buffers, nothing per
vertex.
Time of the preparation: about degree^2 / 8 permutations per vertex.
Diameter: floor(n / 2) for degree 2, 1 for degree 1 and n = 2, else no formula.
"""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from .permutation import permutation_bits, round_keys
from .regular_factors import Factors, factor_edges, repeated_slots
from .regular_repair import Replacements, replace_repeated
from .source import Facts, GeneratedSource, Ids, Request, required_vertices

RESTARTS = 64
SCAN_SLOTS = 1 << 16


class Regular(GeneratedSource):
    """A simple random graph with the same degree everywhere."""

    def __init__(self, request: Request, facts: Facts) -> None:
        super().__init__(request, facts)
        self._request = request
        self._degree = request.values["degree"]
        self._factors: Factors | None = None
        self._replaced = Replacements.from_dict({})

    def _build(self) -> None:
        # A restart with other permutations is only ever needed on graphs of a dozen vertices.
        for attempt in range(RESTARTS):
            factors = self._permutations(attempt)
            bad = self._repeated(factors)
            edges = replace_repeated(factors, bad, self._request.key(f"switches/{attempt}"))
            if edges is not None:
                self._factors, self._replaced = factors, Replacements.from_dict(edges)
                return
        raise InputError(f"no simple {self._degree}-regular graph on {self.n_vertices} vertices was found",
                         remedy="choose another seed, fewer edges or more vertices")

    def _permutations(self, attempt: int) -> Factors:
        count, bits = (self._degree + 1) // 2, permutation_bits(self.n_vertices)
        keys = np.array([round_keys(self._request, f"factor/{attempt}/{j}", bits) for j in range(count)])
        return Factors(keys, bits, self.n_vertices, self._degree // 2)

    def _repeated(self, factors: Factors) -> list[int]:
        total = self.n_vertices * self._degree // 2
        found: list[int] = []
        for first in range(self.n_vertices, total, SCAN_SLOTS):  # the first factor repeats nothing
            found += repeated_slots(*factors, first, min(total, first + SCAN_SLOTS)).tolist()
        return found

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        assert self._factors is not None
        stop = min(stop, first + room)
        src, dst = np.empty(stop - first, np.int64), np.empty(stop - first, np.int64)
        factor_edges(*self._factors, first, (src, dst))
        self._replaced.apply(first, src, dst)
        return src, dst, stop


def regular(request: Request) -> Regular:
    """The random regular graph; 2 * degree <= vertices and vertices * degree even."""
    degree = request.values["degree"]
    n = required_vertices(request, 2 * degree)
    if n * degree % 2:
        raise InputError("no graph has an odd number of vertices of odd degree",
                         text=f"{n} vertices of degree {degree}", remedy="make one of the two even")
    m = n * degree // 2
    known = n // 2 if degree == 2 else 1 if n == 2 else None
    facts = Facts(n, m, n_entries=m, known_diameter=known, values={"degree": degree},
                  memory_bytes=200 * degree**2 + 24 * SCAN_SLOTS)
    return Regular(request, facts)
