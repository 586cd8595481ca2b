"""Graphs with x levels and random edges only between consecutive levels; a slot is an edge.

Level 0 has one vertex, the root. The other n - 1 are divided among the levels 1 .. x - 1, whose sizes differ by at most
one, larger levels first (`LevelShape`). Every vertex except the root is linked to a uniform vertex of the previous
level, so that the levels are exactly those of a BFS from the root. The further edges are a random subset of the other
pairs (vertex, vertex of the previous level): edge k is pair number pi(k), where pi is a keyed pseudorandom permutation.
So all edges are distinct, and their number is exact. Drawing with repetition, possible in wide levels, would lose a
third of the edges if levels have four vertices. In natural ids the levels follow each other, and the root is 0. No
memory beyond the batch.

The number of levels x is a count, "sqrt" for sqrt(n), or "linear" for n / 4: the Theta(n) of the paper, whose graph of
n = 2^28 vertices has the diameter 67,108,864 = n / 4, so that a level has about four vertices. Diameter: from x - 1 to
2 (x - 1); no formula.

Ajwani, Beckmann, Meyer, Veith 2012 (I/O-efficient approximation of graph diameters by parallel cluster growing),
section 4, "Graph classes"; Ajwani, Dementiev, Meyer 2006 (B-level graphs).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..hashing import below, draw
from ..jit import inlined, kernel
from .permutation import Numbering, permutation_bits, permute, round_keys
from .source import MAX_SLOTS, EdgeSlots, Ids, Request, required_vertices

# Edges of the paper's two graphs, with 2^28 vertices each (section 4).
PAPER_VERTICES, PAPER_SQRT_EDGES, PAPER_LINEAR_EDGES = 1 << 28, 1_127_310_556, 903_876_452


class LevelShape(NamedTuple):
    """The levels of natural ids, and the numbers of pairs for further edges.

    width : size of a narrow level (0 if only level 0 exists); a wide one has width + 1 vertices.
    n_wide : number of wide levels, which are the levels 1 .. n_wide.
    below_root, below_wide : first id of level 2; first id whose level follows a narrow one (both at most n). An id in
        [below_root, below_wide) has `width` choices of a further edge, an id in [below_wide, n) has width - 1; level 1
        has none.
    n_wide_pairs, n_pairs : choices of the ids before below_wide, and of all ids.
    """

    width: int
    n_wide: int
    below_root: int
    below_wide: int
    n_wide_pairs: int
    n_pairs: int


def level_shape(n: int, levels: int) -> LevelShape:
    """The division of n >= 1 vertices among `levels` levels, 2 <= levels <= n (or both 1)."""
    if n == 1:
        return LevelShape(0, 0, 1, 1, 0, 0)
    width, n_wide = divmod(n - 1, levels - 1)
    below_root = 1 + width + min(1, n_wide)
    below_wide = 1 + (n_wide + 1) * width + n_wide if n_wide else below_root
    n_wide_pairs = (below_wide - below_root) * width
    return LevelShape(width, n_wide, below_root, below_wide, n_wide_pairs,
                      n_wide_pairs + (n - below_wide) * (width - 1))


@inlined
def _level_before(shape, v):
    """First id and size of the level before the level of the vertex v >= 1. shape : the numbers of a LevelShape."""
    width, n_wide = shape[:2]
    wide_ids = n_wide * (width + 1)
    if v <= wide_ids:
        level = 1 + (v - 1) // (width + 1)
    else:
        level = 1 + n_wide + (v - 1 - wide_ids) // width
    if level == 1:
        return 0, 1
    before = level - 2  # levels between level 0 and the result
    if before < n_wide:
        return 1 + before * (width + 1), width + 1
    return 1 + before * width + n_wide, width


@inlined
def _link(link_key, v, size):
    """The number, 0 .. size - 1, of the vertex of the previous level that is linked to v."""
    return np.int64(below(draw(link_key, np.uint64(v)), np.uint64(size)))


@kernel
def _links(shape, link_key, first, src, dst):
    """Write the links of the vertices first, first + 1, ... >= 1 to their previous levels."""
    for i in range(len(src)):
        v = first + i
        start, size = _level_before(shape, v)
        src[i], dst[i] = start + _link(link_key, v, size), v


@kernel
def _further_edges(shape, link_key, permutation, first, src, dst):
    """Write the pairs number permute(first), permute(first + 1), ... among all pairs except links.

    Pairs are numbered by vertex, and then by the vertices of the previous level without the link. permutation = (keys,
    bits) of a permutation of [0, n_pairs).
    """
    width, _, below_root, below_wide, n_wide_pairs, n_pairs = shape
    keys, bits = permutation
    for i in range(len(src)):
        pair = np.int64(permute(keys, bits, np.uint64(n_pairs), np.uint64(first + i)))
        if pair < n_wide_pairs:
            v, choices = below_root, width
        else:
            pair -= n_wide_pairs
            v, choices = below_wide, width - 1
        v += pair // choices
        choice = pair % choices
        start, size = _level_before(shape, v)
        if choice >= _link(link_key, v, size):
            choice += 1
        src[i], dst[i] = start + choice, v


def level_count(n: int, levels: str | int) -> int:
    """x for n >= 1 vertices: "sqrt" = sqrt(n) rounded, "linear" = floor(n / 4), or a count.

    The words give at least 2 levels for two or more vertices. Raises InputError for a count outside 2 .. n (or other
    than 1 for a single vertex).
    """
    least = min(n, 2)
    if levels == "sqrt":
        root = math.isqrt(n)
        return max(least, root + (n - root * root > root))
    if levels == "linear":
        return max(least, n // 4)
    count = int(levels)
    if not least <= count <= n:
        raise InputError(f"{n:,} vertices can be in {least:,} to {n:,} levels" if n > 1
                         else "a single vertex is one level",
                         text=str(levels), remedy="level 0 has one vertex, every level has at least one")
    return count


def default_edges(n: int, levels: str | int) -> int:
    """The default number of edges, before it is limited to the number of pairs of consecutive levels.

    The ratio of edges to vertices is that of the paper's graphs: 1,127,310,556 / 2^28 = 4.1996 for "sqrt" and
    903,876,452 / 2^28 = 3.3673 for "linear". It is interpolated linearly between the two numbers of levels; outside,
    the ratio of the nearer one is used.
    """
    few, many = level_count(n, "sqrt"), level_count(n, "linear")
    share = Fraction(int(levels == "linear"))
    if levels not in ("sqrt", "linear") and many > few:
        share = Fraction(min(max(int(levels) - few, 0), many - few), many - few)
    edges = PAPER_SQRT_EDGES + (PAPER_LINEAR_EDGES - PAPER_SQRT_EDGES) * share
    return round(n * edges / PAPER_VERTICES)


def _edge_count(request: Request, n: int, limit: int) -> int:
    """The requested or default number of edges, from n - 1 to `limit`."""
    edges: int | None = request.values["edges"]
    if edges is None:
        return min(default_edges(n, request.values["levels"]), limit)
    if not n - 1 <= edges <= limit:
        raise InputError(f"these levels can have {n - 1:,} to {limit:,} edges", text=str(edges),
                         remedy="every vertex has one link to the level before it; for more edges ask for "
                                "fewer levels")
    return edges


def levels(request: Request) -> EdgeSlots:
    """The level graph of n vertices, with `levels` levels and `edges` edges."""
    n = required_vertices(request)
    n_levels = level_count(n, request.values["levels"])
    shape = level_shape(n, n_levels)
    limit = n - 1 + shape.n_pairs
    if limit > MAX_SLOTS:
        raise InputError("there would be more than 2^62 pairs of vertices in consecutive levels",
                         text=f"{n:,} vertices, {n_levels:,} levels", remedy="ask for more levels or fewer vertices")
    m, layout = _edge_count(request, n, limit), request.values["layout"]
    numbering = Numbering(request, n, layout == "random")
    link_key, bits = request.key("links"), permutation_bits(max(1, shape.n_pairs))
    permutation = round_keys(request, "pairs", bits), bits

    def fill(first: int, src: Ids, dst: Ids) -> None:
        n_links = min(max(n - 1 - first, 0), len(src))
        _links(shape, link_key, first + 1, src[:n_links], dst[:n_links])
        _further_edges(shape, link_key, permutation, first + n_links - (n - 1), src[n_links:], dst[n_links:])
        numbering.apply(src, dst)

    return EdgeSlots(request, n, m, fill, values={"levels": n_levels, "edges": m, "layout": layout})
