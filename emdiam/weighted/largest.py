"""The largest weight of an arc in every component: one pass over the arcs."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .packed import WeightedArcs, each_block, tail_of, weight_of


def largest_weights(arcs: WeightedArcs, parts: np.ndarray, n_parts: int) -> np.ndarray:
    """int64[n_parts], 0 where a component has no arc. parts : int64[n_vertices], component of each.

    Raises OSError for a damaged block."""
    largest = np.zeros(n_parts, np.int64)
    for block in each_block(arcs):
        raise_largest(block, arcs.packing.id_bits, arcs.packing.weight_bits, parts, largest)
    return largest


@kernel
def raise_largest(block, id_bits, weight_bits, parts, largest):  # type: ignore[no-untyped-def]
    """largest[part] = max(largest[part], weight) over the arcs of `block`."""
    for arc in block:
        part = parts[tail_of(arc, id_bits, weight_bits)]
        largest[part] = max(largest[part], weight_of(arc, weight_bits))
