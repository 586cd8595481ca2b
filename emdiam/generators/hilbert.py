"""The Hilbert curve: position along the curve to cell and back (Hilbert 1891).

The curve of order k visits the 2^k x 2^k cells of the unit square; consecutive cells share a
side. Each level looks at one bit of x and y and turns the square so that the rest looks alike.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel


@kernel
def hilbert_position(order, x, y):
    """Position (int64 in [0, 4^order)) of the cell (x, y), 0 <= x, y < 2^order, order <= 31."""
    position = np.int64(0)
    for level in range(order - 1, -1, -1):
        half = np.int64(1) << level
        right, upper = (x >> level) & 1, (y >> level) & 1
        position = (position << 2) | ((3 * right) ^ upper)
        x, y = x & (half - 1), y & (half - 1)
        if upper == 0:
            if right == 1:
                x, y = half - 1 - x, half - 1 - y
            x, y = y, x
    return position


@kernel
def hilbert_cell(order, position):
    """Cell (x, y) at `position` along the curve of the given order: inverse of hilbert_position."""
    x, y = np.int64(0), np.int64(0)
    for level in range(order):
        half = np.int64(1) << level
        quarter = (position >> (2 * level)) & 3
        right = quarter >> 1
        upper = (quarter & 1) ^ right
        if upper == 0:
            if right == 1:
                x, y = half - 1 - x, half - 1 - y
            x, y = y, x
        x, y = x + half * right, y + half * upper
    return x, y
