"""Packed arcs on disk as the blocks of a search (paths/semi_external.py)."""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ..waiting import Rows
from .packed import WeightedArcs, weight_of


class PackedBlocks:
    """The blocks of `arcs`; see paths/blocks.py."""

    arc_bytes, share, frugal, ahead, near, at_once = 8, 16, 3, 1, 0, False

    def __init__(self, arcs: WeightedArcs) -> None:
        self._arcs = arcs
        self.n_vertices, self.n_blocks = arcs.n_vertices, arcs.n_blocks
        self.n_arcs, self.block_arcs = arcs.n_arcs, arcs.block_arcs
        covers = np.zeros(arcs.n_blocks + 1, np.int64)
        covers[1:] = arcs.last_vertex + 1
        heads = np.where(arcs.first_vertex[:-1] < covers[:-1], arcs.first_vertex[:-1], -1)
        covers[-1] = arcs.n_vertices
        packing = arcs.packing
        shape = np.array([arcs.block_arcs, arcs.n_arcs, packing.id_bits, packing.weight_bits], np.int64)
        self.rows = Rows(covers, heads, shape)

    def arena(self, n_slots: int) -> tuple[np.ndarray, ...]:
        """(words,)."""
        return (np.empty((n_slots, self.block_arcs), np.uint64),)

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """See WeightedArcs.read."""
        return self._arcs.read(block, arena[0][slot])

    def least_width(self, slot: int, block: int, arena: tuple[np.ndarray, ...]) -> int:
        """Twice the mean weight of the block."""
        return 2 * int(mean_weight(arena[0][slot, : self._arcs.arcs_in(block)], self._arcs.packing.weight_bits))


@kernel
def mean_weight(arcs, weight_bits):
    """Mean weight of packed arcs (some), rounded up."""
    total = np.int64(0)
    for arc in arcs:
        total += weight_of(arc, weight_bits)
    return (total + len(arcs) - 1) // len(arcs)
