"""Connected components of a weighted graph: union-find over all arcs, one pass. And the largest weight in each.

Bytes a vertex: 4. Work: m steps of nearly constant length. The root of a set is its smallest vertex, so that labels do
not depend on the order of arcs. Source: Tarjan and van Leeuwen (1984), path halving.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...traverse.components import _find, join
from ..labels import Tick
from .packed import WeightedArcs, each_block, head_of, tail_of, weight_of


def largest_weights(arcs: WeightedArcs, parts: np.ndarray, n_parts: int) -> np.ndarray:
    """int64[n_parts], 0 where a component has no arc. parts : int64[n_vertices], component of each.

    Raises OSError for a damaged block."""
    largest = np.zeros(n_parts, np.int64)
    for block in each_block(arcs):
        raise_largest(block, arcs.packing.id_bits, arcs.packing.weight_bits, parts, largest)
    return largest


@kernel
def raise_largest(block, id_bits, weight_bits, parts, largest):
    """largest[part] = max(largest[part], weight) over the arcs of `block`."""
    for arc in block:
        part = parts[tail_of(arc, id_bits, weight_bits)]
        largest[part] = max(largest[part], weight_of(arc, weight_bits))


def components(arcs: WeightedArcs, tick: Tick | None = None) -> np.ndarray:
    """uint32[n_vertices]: the smallest vertex of each vertex's component. Raises OSError for a damaged block."""
    parent = np.arange(arcs.n_vertices, dtype=np.uint32)
    for block in each_block(arcs):
        unite_ends(block, arcs.packing.id_bits, arcs.packing.weight_bits, parent)
        if tick is not None:
            tick()
    point_to_roots(parent)
    return parent


@kernel
def unite_ends(block, id_bits, weight_bits, parent):
    """Join the ends of every edge; the smaller root stays one. Of both directions one is looked at."""
    for arc in block:
        a = tail_of(arc, id_bits, weight_bits)
        b = head_of(arc, id_bits, weight_bits)
        if a < b:
            join(parent, _find(parent, a), b)


@kernel
def point_to_roots(parent):
    """parent[v] = root of v. A parent is smaller than its child, so one ascending pass does."""
    for v in range(len(parent)):
        parent[v] = parent[parent[v]]
