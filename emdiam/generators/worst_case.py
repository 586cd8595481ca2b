"""Worst case of diameter approximation by clusters: lists with fans on a long list; a slot is an edge.

The spine is a list of k3 vertices. Each of them is the first vertex of a list of k1 vertices, whose last vertex has a
fan of k2 leaves: n = k3 (k1 + k2). Most vertices are in fans, and so are most of the clusters' masters. Many clusters
meet at the spine along heavy edges, which makes the weighted diameter of the condensed graph far too large. Ajwani,
Beckmann, Meyer, Veith 2012 (I/O-efficient approximation of graph diameters by parallel cluster growing), section 4,
"Graph classes".

The graph is a tree. In natural ids, the vertices of a list and its fan are consecutive: the list from the spine
outwards, then the leaves. Edge i joins vertex i + 1 to its parent. No memory beyond the batch. Diameter: k3 - 1 + 2 k1
for k3 >= 2, from a leaf of the first fan to a leaf of the last; for k3 = 1, k1, or 2 if that is larger and the fan has
two leaves.
"""

from __future__ import annotations

from ..errors import InputError
from ..jit import kernel
from .permutation import Numbering
from .source import EdgeSlots, Ids, Request

DEFAULT_FANS = (10, 100)  # k1, k2 of the paper's experiments


@kernel
def _parents(list_length, leaves, first, src, dst):
    """Write the edges number first..: (parent of v, v) for v = first + 1, ..., in natural ids."""
    unit = list_length + leaves
    place = (first + 1) % unit
    for i in range(len(src)):
        v = first + 1 + i
        if place == 0:  # a vertex of the spine
            src[i] = v - unit
        elif place < list_length:
            src[i] = v - 1
        else:  # a leaf, joined to the last vertex of its list
            src[i] = v - place + list_length - 1
        dst[i] = v
        place += 1
        if place == unit:
            place = 0


def worst_case_diameter(k1: int, k2: int, k3: int) -> int:
    """The diameter in edges, for k1, k2, k3 >= 1."""
    if k3 > 1:
        return k3 - 1 + 2 * k1
    return max(k1, min(k2, 2))


def _request_fans(request: Request) -> tuple[int, int, int]:
    """k1, k2, k3 of the request, by default with the largest number of lists that `vertices` allows. Raises
    InputError."""
    fans, vertices = request.values["fans"], request.vertices
    k1, k2, *rest = DEFAULT_FANS if fans is None else fans
    if rest:
        n = rest[0] * (k1 + k2)
        if vertices is not None and vertices != n:
            raise InputError(f"fans and vertices disagree: the fans make {n:,} vertices", text=str(vertices),
                             remedy="leave out one of the two, or give k1,k2 only")
        return k1, k2, rest[0]
    if vertices is None:
        raise InputError("a worst-case graph needs its size",
                         remedy="give all three of fans, such as 10,100,5000, or the number of vertices")
    if vertices < k1 + k2:
        raise InputError(f"one list of {k1:,} vertices with {k2:,} leaves has {k1 + k2:,} vertices",
                         text=str(vertices), remedy=f"ask for {k1 + k2:,} or more, or for smaller fans")
    return k1, k2, vertices // (k1 + k2)


def worst_case(request: Request) -> EdgeSlots:
    """The worst case with fans (k1, k2, k3), or with (k1, k2) and at most `vertices` vertices."""
    k1, k2, k3 = _request_fans(request)
    n, layout = k3 * (k1 + k2), request.values["layout"]
    numbering = Numbering(request, n, layout == "random")

    def fill(first: int, src: Ids, dst: Ids) -> None:
        _parents(k1, k2, first, src, dst)
        numbering.apply(src, dst)

    return EdgeSlots(request, n, n - 1, fill, known_diameter=worst_case_diameter(k1, k2, k3),
                     values={"fans": f"{k1},{k2},{k3}", "layout": layout})
