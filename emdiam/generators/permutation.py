"""Pseudorandom permutations of 0..n-1 without a table, and the Hilbert curve.

Permutations: Feistel networks with cycle walking. A balanced network of keyed rounds (Luby, Rackoff 1988) permutes
[0, 2^bits), with 2^bits < 2n; a value outside [0, n) is permuted again until it is inside (Black, Rogaway 2002), twice
on average in the worst case. Both directions have the same cost, and need no memory. The keyed family does not contain
all n! permutations. With few rounds, some pairs of images are visibly too frequent on tiny domains. This excess shrinks
by a factor of 2^(bits / 2) with every two rounds, so small domains get more rounds.

The Hilbert curve: from position along the curve to cell and back (Hilbert 1891). The curve of order k visits the
2^k x 2^k cells of the unit square, and consecutive cells share a side. Each level reads one bit of x and y and turns
the square, so that the next level works in the same way.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..hashing import draw
from ..jit import inlined, kernel
from .source import Ids, Request

LEAST_ROUNDS = 6
EXCESS_BITS = 20  # the rounds reduce that excess to about 2^-EXCESS_BITS
_ONE = np.uint64(1)


def permutation_bits(n: int) -> int:
    """Bits of the smallest power of two that is at least n (n >= 1)."""
    return (n - 1).bit_length()


def round_keys(request: Request, stream: str, bits: int) -> npt.NDArray[np.uint64]:
    """uint64[rounds]: the keys of one permutation of [0, 2^bits); their number is even."""
    rounds = max(LEAST_ROUNDS, 2 * -(-EXCESS_BITS // max(1, bits // 2)))
    return np.array([request.key(f"{stream}/{r}") for r in range(rounds)], dtype=np.uint64)


@inlined
def _halves(bits, value):
    """The number of bits of the lower half; the masks of the lower and the upper half; and the upper and the lower half
    of the value."""
    low_bits = np.uint64(bits // 2)
    low_mask = (_ONE << low_bits) - _ONE
    return low_bits, low_mask, (_ONE << np.uint64(bits - bits // 2)) - _ONE, value >> low_bits, value & low_mask


@kernel
def permute(keys, bits, n, value):
    """Image of `value` (uint64 < n) under the permutation `keys` uint64[rounds] of [0, n)."""
    low_bits, low_mask, high_mask, high, low = _halves(bits, value)
    while True:
        for r in range(0, len(keys), 2):
            high ^= draw(keys[r], low) & high_mask
            low ^= draw(keys[r + 1], high) & low_mask
        image = (high << low_bits) | low
        if image < n:
            return image


@kernel
def unpermute(keys, bits, n, image):
    """The value (uint64 < n) whose image under `permute` with the same arguments is `image`."""
    low_bits, low_mask, high_mask, high, low = _halves(bits, image)
    while True:
        for r in range(len(keys) - 2, -1, -2):
            low ^= draw(keys[r + 1], high) & low_mask
            high ^= draw(keys[r], low) & high_mask
        value = (high << low_bits) | low
        if value < n:
            return value


class Numbering:
    """Maps the natural ids 0..n-1 of a class to the ids of the graph, natural or permuted.

    With a random layout, the order of rows on disk does not reveal the structure (Ajwani, Beckmann, Meyer, Veith 2012,
    section 4, "Graph classes", on their synthetic graphs).

    n : number of vertices, at least 1. permuted : whether the ids are permuted, by the seed.
    """

    def __init__(self, request: Request, n: int, permuted: bool) -> None:
        self._n, self._bits = n, permutation_bits(n)
        self._keys = round_keys(request, "ids", self._bits) if permuted else None

    def apply(self, *arrays: Ids) -> None:
        """Replace natural ids in each int64[k] with the ids of the graph, in place."""
        for ids in arrays:
            if self._keys is not None:
                _permute_ids(self._keys, self._bits, np.uint64(self._n), ids)


@kernel
def _permute_ids(keys, bits, n, ids):
    for i in range(len(ids)):
        ids[i] = np.int64(permute(keys, bits, n, np.uint64(ids[i])))


@inlined
def _turned(half, right, upper, x, y):
    """Turn the square of cells below `half`, so that the next level of the curve works in the same way."""
    if upper == 0:
        if right == 1:
            x, y = half - 1 - x, half - 1 - y
        x, y = y, x
    return x, y


@kernel
def hilbert_position(order, x, y):
    """Position (int64 in [0, 4^order)) of the cell (x, y), 0 <= x, y < 2^order, order <= 31."""
    position = np.int64(0)
    for level in range(order - 1, -1, -1):
        half = np.int64(1) << level
        right, upper = (x >> level) & 1, (y >> level) & 1
        position = (position << 2) | ((3 * right) ^ upper)
        x, y = _turned(half, right, upper, x & (half - 1), y & (half - 1))
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
        x, y = _turned(half, right, upper, x, y)
        x, y = x + half * right, y + half * upper
    return x, y
