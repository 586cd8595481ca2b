"""The arcs of a condensed graph in blocks of a nameless scratch file, heads and then weights, with a checksum each.

Plain, not compressed: a block is read straight into its place in the arena, at the speed of the
disk, by any thread. Bytes: 8 an arc on disk (12 where weights have more than 32 bits); in RAM 1.2 a vertex and 28 a
block, and 8 a vertex more while it is written.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import closing
from typing import ClassVar

import numpy as np

from ...compression import crc32c
from ...sorting.scratch import ScratchFile
from ...stream.offsets import build_offsets, following_starts
from ..arcs import ArcsOnDisk
from ..blocks import ArcBlocks
from ..paths import SearchOptions
from ..rows import Piece, WeightedRows
from .packed import Keys, Packing, unpack

BLOCK_ARCS = 1 << 16


class ScratchBlocks(ArcBlocks):
    """Arcs in a scratch file; BlockWriter makes it, `close` removes it. checksums : uint32[n_blocks]."""

    name: ClassVar[str] = "the condensed graph"
    share, frugal, ahead = 16, 3, 1

    def __init__(self, file: ScratchFile, packing: Packing, offsets: np.ndarray, block_arcs: int, checksums: np.ndarray,
                 total_weight: int) -> None:
        n_arcs, begins = int(offsets[-1]), np.arange(len(checksums)) * block_arcs
        first_vertex = np.append(np.searchsorted(offsets, begins, side="right") - 1, packing.n_vertices)
        super().__init__(packing.n_vertices, n_arcs, block_arcs, build_offsets(packing.n_vertices, iter([offsets])),
                         first_vertex)
        self._weigh(np.dtype(np.uint32), packing.weight_dtype, (1, packing.largest_weight),
                    total_weight / max(1, n_arcs))
        self._file, self._checksums = file, checksums

    @property
    def nbytes(self) -> int:
        """Of heads and weights."""
        return self.arc_bytes * self.n_arcs

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """See ArcBlocks."""
        begin, used = self.arc_bytes * block * self.block_arcs, self.arcs_in(block)
        heads, costs = arena[0][slot, :used], arena[1][slot, :used]
        self._file.read_array(begin, heads)
        self._file.read_array(begin + heads.nbytes, costs)
        if crc32c(costs.data, crc32c(heads.data)) != self._checksums[block]:
            raise OSError(f"block {block} of the weighted arcs came back with a wrong checksum: the disk is faulty")
        return heads.nbytes + costs.nbytes

    def pieces(self) -> Iterator[Piece]:
        """All arcs, block by block; the next one is read in a thread meanwhile. Raises OSError for a damaged block."""
        with closing(ArcsOnDisk(self, 2 * self.arc_bytes * self.block_arcs, SearchOptions())) as arcs:
            yield from arcs.pieces()

    def load(self) -> WeightedRows:
        """The same arcs in RAM. The file stays."""
        offsets = np.empty(self.n_vertices + 1, np.int64)
        following_starts(*self._offsets, 0, offsets)
        heads, weights = (np.empty(self.n_arcs, dtype) for dtype in self._dtypes)
        for block, piece in enumerate(self.pieces()):
            part = slice(block * self.block_arcs, block * self.block_arcs + self.arcs_in(block))
            heads[part], weights[part] = piece.heads[: self.arcs_in(block)], piece.costs[: self.arcs_in(block)]
        return WeightedRows(offsets, heads, weights)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


class BlockWriter:
    """Takes sorted words in pieces and makes ScratchBlocks. file : an empty scratch file that nothing else writes
    to."""

    def __init__(self, file: ScratchFile, packing: Packing, block_arcs: int = BLOCK_ARCS) -> None:
        self._file, self._packing = file, packing
        self._heads, self._weights = np.empty(block_arcs, np.uint32), np.empty(block_arcs, packing.weight_dtype)
        self._offsets, self._checksums = np.zeros(packing.n_vertices + 1, np.int64), array("I")
        self._used = self._total_weight = 0

    def add(self, keys: Keys) -> None:
        """Append sorted arcs, all above those before. Raises BudgetError where the disk is full."""
        while len(keys):
            part = keys[: len(self._heads) - self._used]
            unpack(part, self._packing.id_bits, self._packing.weight_bits, self._offsets[1:],
                   self._heads[self._used :], self._weights[self._used :])
            self._used += len(part)
            keys = keys[len(part) :]
            if self._used == len(self._heads):
                self._flush()

    def close(self) -> ScratchBlocks:
        """Write what is in memory still; the arcs."""
        if self._used:
            self._flush()
        return ScratchBlocks(self._file, self._packing, np.cumsum(self._offsets, out=self._offsets), len(self._heads),
                             np.array(self._checksums, np.uint32), self._total_weight)

    def _flush(self) -> None:
        heads, weights = self._heads[: self._used], self._weights[: self._used]
        self._checksums.append(crc32c(weights.data, crc32c(heads.data)))
        self._total_weight += int(weights.sum(dtype=np.uint64))
        self._file.append(heads)
        self._file.append(weights)
        self._used = 0
