"""Running the kernels of values over workers once, so that they are compiled and loaded; see warm.py."""

from __future__ import annotations

import numpy as np

from ..traverse.core import Core
from .frontier_codec import list_words
from .mask_kernels import ACTIVE
from .masks import Masks


def exercise_values(core: Core) -> None:
    """Run every kernel of batches on a small graph, with masks of 8 and of 64 bits; those of spreads and bounds are
    those of traverse/ and frontier.py."""
    n = core.table.n_vertices
    targets = np.zeros((n + 63) // 64, np.uint64)
    column = np.full(n, 255, np.uint8)
    for k in (2, 70):
        sources = np.arange(k) % n
        sinks = np.full(k, column.ctypes.data, np.int64), 1
        masks = Masks(core, sources, targets=targets, sinks=sinks)
        masks.begin_push()
        masks.push()
        masks.receive(*masks.outgoing())
        masks.end_level(1)
        index = np.zeros((len(targets), 2), np.uint64)
        index[:, 0] = masks.marks[ACTIVE]
        ones = np.bitwise_count(index[:, 0]).astype(np.int64)
        index[:, 1] = np.cumsum(ones) - ones
        list_words(masks.marks[ACTIVE], 0, len(masks.masks))
        masks.pull(index, masks.masks)
        masks.end_level(2)
