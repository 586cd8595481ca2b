"""Packed arcs in a nameless scratch file, plain words, with a checksum a block in RAM.

Plain, not compressed: a block is read straight into its place in the arena, at the speed of the
disk, by any thread. Bytes: 8 an arc on disk; 20 a block in RAM.
"""

from __future__ import annotations

from array import array
from threading import Lock

import numpy as np
from crc32c import crc32c

from ...sorting.scratch import ScratchFile
from .packed import BLOCK_ARCS, Keys, Packing, RamArcs, WeightedArcs


class DiskArcs(WeightedArcs):
    """Arcs in a scratch file; DiskArcsWriter makes it, `close` removes it.

    checksums : uint32[n_blocks]. bytes_read, blocks_read : since the start.
    """

    in_ram = False

    def __init__(
        self, file: ScratchFile, packing: Packing, n_arcs: int, block_arcs: int, checksums: np.ndarray
    ) -> None:
        super().__init__(packing, n_arcs, block_arcs)
        self._file, self._checksums = file, checksums
        self._lock = Lock()
        self.bytes_read = self.blocks_read = 0

    def block(self, block: int) -> Keys:
        """The arcs of a block, in an array of their own."""
        arcs = np.empty(self.arcs_in(block), np.uint64)
        self.read(block, arcs)
        return arcs

    def read(self, block: int, out: Keys) -> int:
        """Read a block into the front of `out` (contiguous); see WeightedArcs.read."""
        arcs = out[: self.arcs_in(block)]
        self._file.read_array(8 * block * self.block_arcs, arcs)
        if crc32c(arcs.data) != self._checksums[block]:
            raise OSError(f"block {block} of the weighted arcs came back with a wrong checksum: the disk is faulty")
        with self._lock:
            self.bytes_read += arcs.nbytes
            self.blocks_read += 1
        return arcs.nbytes

    def load(self) -> RamArcs:
        """The same arcs in RAM: 8 bytes an arc. The file stays."""
        keys = np.empty(self.n_arcs, np.uint64)
        for i in range(self.n_blocks):
            self.read(i, keys[i * self.block_arcs :])
        return RamArcs(keys, self.packing, self.block_arcs)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


class DiskArcsWriter:
    """Takes sorted arcs in pieces and makes DiskArcs. Bytes: 8 x block_arcs.

    file : an empty scratch file that nothing else writes to.
    """

    def __init__(self, file: ScratchFile, packing: Packing, block_arcs: int = BLOCK_ARCS) -> None:
        self._file, self._packing = file, packing
        self._shift = packing.id_bits + packing.weight_bits
        self._block = np.empty(block_arcs, np.uint64)
        self._used = self.n_arcs = 0
        self._checksums, self._firsts, self._lasts = array("I"), array("q"), array("q")

    def add(self, keys: Keys) -> None:
        """Append sorted arcs, all above those before. Raises BudgetError where the disk is full."""
        while len(keys):
            take = min(len(keys), len(self._block) - self._used)
            self._block[self._used : self._used + take] = keys[:take]
            self._used += take
            keys = keys[take:]
            if self._used == len(self._block):
                self._flush()

    def close(self) -> DiskArcs:
        """Write what is left; the arcs."""
        if self._used:
            self._flush()
        arcs = DiskArcs(self._file, self._packing, self.n_arcs, len(self._block),
                        np.array(self._checksums, np.uint32))
        arcs.first_vertex[:-1] = self._firsts
        arcs.last_vertex[:] = self._lasts
        return arcs

    def _flush(self) -> None:
        block = self._block[: self._used]
        self._checksums.append(crc32c(block.data))
        self._firsts.append(int(block[0]) >> self._shift)
        self._lasts.append(int(block[-1]) >> self._shift)
        self._file.append(block)
        self.n_arcs += self._used
        self._used = 0
