"""Which of a rank's blocks a sweep has to read."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..traverse.dense import _range_mask


@kernel
def mark_range_blocks(blocks, first_vertex, shift, group, row, hub, bitmap, invert, first, stop,
                      needed):  # type: ignore[no-untyped-def]
    """needed[i] = 1 if blocks[i] has an arc of a set bit's row (of a clear one's if invert) in first..stop-1.

    needed : uint8[k]. As traverse.dense.mark_blocks, which looks at the blocks of a whole graph."""
    flip = np.uint64(0xFFFFFFFFFFFFFFFF) if invert else np.uint64(0)
    for i in range(len(blocks)):
        c = blocks[i]
        low = max(first, first_vertex[c])
        high = min(first_vertex[c + 1], stop - 1)
        if high > low and row_start(group, row, hub, high) == (c + 1) << shift:
            high -= 1  # its row begins with the next block
        needed[i] = 0
        for word in range(low >> 6, (high >> 6) + 1):
            if (bitmap[word] ^ flip) & _range_mask(word, low, high):
                needed[i] = 1
                break
