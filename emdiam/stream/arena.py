"""The arena: a fixed pool of decoded blocks, allocated once, with eviction by recency.

If every block fits, the arena is the graph in memory, block c in slot c after `Pager.preload`,
and the kernels run at in-memory speed on the same code.
"""

from __future__ import annotations

import numpy as np


class Arena:
    """A cache of blocks.

    Parameters
    ----------
    n_blocks : blocks of the graph. n_slots : blocks that fit. block_ids : ids a block.
    dtype : id dtype.

    Attributes
    ----------
    ids : dtype[n_slots * block_ids], the pool. slot_of : int32[n_blocks], slot or -1.
    """

    def __init__(self, n_blocks: int, n_slots: int, block_ids: int, dtype: np.dtype) -> None:
        if n_slots < 1 and n_blocks:
            raise ValueError("an arena needs at least one slot")
        self.n_slots, self.block_ids = n_slots, block_ids
        self.ids = np.empty(n_slots * block_ids, dtype)
        self.slot_of = np.full(n_blocks, -1, np.int32)
        self._block_in = np.full(n_slots, -1, np.int64)
        self._used = np.zeros(n_slots, np.int64)
        self._tick = 0

    @property
    def n_free(self) -> int:
        """Slots that hold nothing."""
        return int(np.count_nonzero(self._block_in < 0))

    def row(self, slot: int) -> np.ndarray:
        """The ids of a slot, dtype[block_ids] (a view)."""
        return self.ids[slot * self.block_ids : (slot + 1) * self.block_ids]

    def touch(self, blocks: np.ndarray) -> None:
        """Note that these resident blocks are in use now."""
        self._tick += 1
        self._used[self.slot_of[blocks]] = self._tick

    def resident(self, blocks: np.ndarray) -> np.ndarray:
        """bool[k]: which of `blocks` are in the arena."""
        return self.slot_of[blocks] >= 0

    def take_slots(self, count: int, keep: np.ndarray) -> np.ndarray:
        """Free `count` slots, least recently used first, never those of blocks `keep`.

        Returns int64[count] slots, ascending; fewer if there are not enough.
        """
        priority = np.where(self._block_in < 0, -1, self._used)
        if len(keep):
            kept = self.slot_of[keep]
            priority[kept[kept >= 0]] = np.iinfo(np.int64).max
        candidates = int(np.count_nonzero(priority < np.iinfo(np.int64).max))
        count = min(count, candidates)
        if count == 0:
            return np.empty(0, np.int64)
        if count < self.n_slots:
            slots = np.argpartition(priority, count - 1)[:count]
        else:
            slots = np.arange(self.n_slots)
        slots = np.sort(slots).astype(np.int64)
        old = self._block_in[slots]
        self.slot_of[old[old >= 0]] = -1
        self._block_in[slots] = -1
        return slots

    def admit(self, block: int, slot: int) -> None:
        """Block `block` has been decoded into `slot`."""
        self._block_in[slot] = block
        self._used[slot] = self._tick
        self.slot_of[block] = slot
