"""Percolated grid: every edge (bond) or vertex (site) of a grid is kept with probability p.

The default is bond percolation with p = 0.65. On the square lattice a giant component appears
above p = 1/2 (bond) and p = 0.5927 (site). A vertex that lost its edges stays, isolated.
Whether an edge stays is a hash of its two ends, whether a vertex stays a hash of its id.
No memory beyond the batch (the grid's own edges are thinned in place).
Broadbent, Hammersley 1957. Diameter: unknown, except sum of (side - 1) when p = 1.
"""

from __future__ import annotations

import numpy as np

from ..hashing import draw
from ..jit import kernel
from .lattice import Lattice, request_sides, sides_text
from .source import Ids, Request

_S11 = np.uint64(11)


class Percolated(Lattice):
    """A grid thinned by bond or site percolation."""

    def __init__(self, request: Request, sides: tuple[int, ...], p: float, kind: str) -> None:
        super().__init__(request, sides, wrap=False, values={"sides": sides_text(sides), "p": p, "kind": kind},
                         known_diameter=sum(s - 1 for s in sides) if p == 1.0 else None)
        self._by_site, self._threshold = kind == "site", np.uint64(round(p * 2**53))
        self._key = request.key("kept")

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        next_slot, count = super()._make(first, stop, src, dst)
        return next_slot, _thin(self._key, self._threshold, self._by_site, src[:count], dst[:count])


@kernel
def _thin(key, threshold, by_site, src, dst):
    """Move the edges that stay to the front; their number."""
    count = 0
    for i in range(len(src)):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        if by_site:
            stays = draw(key, u) >> _S11 < threshold and draw(key, v) >> _S11 < threshold
        else:
            stays = draw(draw(key, u), v) >> _S11 < threshold
        if stays:
            src[count], dst[count] = src[i], dst[i]
            count += 1
    return count


def percolated(request: Request) -> Percolated:
    """The percolated grid with the given sides, probability p and kind ("bond" or "site")."""
    return Percolated(request, request_sides(request), request.values["p"], request.values["kind"])
