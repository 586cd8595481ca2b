"""The (distance, group) of every vertex in one word: of 4 bytes while they fit, of 8 bytes from then on.

A label is distance << bits | group; all bits set mean unreached. `bits` is what the groups need in a word of 4 bytes,
so that distances have the rest, and 32 in a word of 8. A vector of narrow labels lies at the front of the memory of a
wide one, of which the system has given nothing else yet, and is widened in place from its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from .core import Core

WIDE_BITS = 32
NARROW, WIDE = np.dtype(np.uint32), np.dtype(np.uint64)
_LABELS = "labels of clusters"


def longest_of(dtype: np.dtype[Any], bits: int) -> int:
    """The largest distance beside `bits` bits of a group; one more is no distance, but part of "unreached"."""
    return int((1 << 8 * dtype.itemsize - bits) - 2)


def bits_of(n_groups: int) -> int:
    """Bits of the numbers of so many groups; all of them set are no group, but part of "unreached"."""
    return max(1, n_groups.bit_length())


class LabelVector:
    """Labels of n vertices. What wide labels take more than narrow ones is of the reserve of `core`.

    memory : uint64[n], of wide labels. values : uint32[n] or uint64[n], of the labels as they are now. bits : of a
    group.
    """

    def __init__(self, core: Core, memory: np.ndarray) -> None:
        self._core, self._memory, self.values, self.bits = core, memory, memory, WIDE_BITS

    @classmethod
    def narrow(cls, core: Core, bits: int) -> LabelVector:
        """Narrow labels with groups of so many bits; what they are is undefined."""
        vector = cls(core, np.empty(core.table.n_vertices, WIDE))
        vector.values, vector.bits = vector._memory.view(NARROW)[: len(vector._memory)], bits
        core.hold(_LABELS, 0)
        return vector

    @classmethod
    def unreached(cls, core: Core, n_groups: int | None) -> LabelVector:
        """Labels that hold so many groups, None: wide ones, all unreached."""
        vector = cls.narrow(core, 0)
        vector.adopt(*((WIDE, WIDE_BITS) if n_groups is None else vector._least(n_groups, 0)))
        vector.values.fill(np.iinfo(vector.values.dtype).max)
        return vector

    @property
    def longest(self) -> int:
        """The largest distance that fits."""
        return longest_of(self.values.dtype, self.bits)

    @property
    def is_wide(self) -> bool:
        """Whether a label has 8 bytes."""
        return self.values.dtype == WIDE

    def _least(self, n_groups: int, distance: int) -> tuple[np.dtype[Any], int]:
        """(dtype, bits) that hold so many groups and such a distance, and one more."""
        bits = bits_of(n_groups)
        narrow = not self.is_wide and bits < WIDE_BITS and distance < longest_of(NARROW, bits)
        return (NARROW, bits) if narrow else (WIDE, WIDE_BITS)

    def adopt(self, dtype: np.dtype[Any], bits: int) -> None:
        """Hold labels of this form from now on, what they are being undefined. Raises MoreMemoryError."""
        if dtype == WIDE and not self.is_wide:
            self._core.hold(_LABELS, len(self._memory) * (WIDE.itemsize - NARROW.itemsize))
            self.values = self._memory
        self.bits = bits

    def widen(self) -> None:
        """Labels of 8 bytes from now on. Raises MoreMemoryError."""
        narrow, bits = self.values, self.bits
        self.adopt(WIDE, WIDE_BITS)
        widen_labels(narrow, bits, self.values)

    def make_room(self, n_groups: int, distance: int) -> None:
        """Hold so many groups and this distance, if not yet. Raises MoreMemoryError."""
        dtype, bits = self._least(n_groups, distance)
        if dtype == WIDE and not self.is_wide:
            self.widen()
        elif bits > self.bits:
            repack_labels(self.values, self.bits, bits)
            self.bits = bits

    def begin_again(self, n_groups: int, distance: int) -> int:
        """Hold so many groups and this distance in labels that are made of those at hand; bits of a group in these.
        Raises MoreMemoryError."""
        dtype, bits = self._least(n_groups, distance)
        if dtype == WIDE and not self.is_wide:
            self.widen()
        before, self.bits = self.bits, bits
        return before

    def release(self) -> None:
        """Free the labels."""
        self._memory = self.values = np.empty(0, WIDE)
        self._core.hold(_LABELS, 0)


@kernel
def widen_labels(narrow, bits, wide):
    """wide[v] = the label narrow[v] with a group of `bits` bits; narrow is the front of the same memory."""
    shift = np.uint64(bits)
    unreached = np.iinfo(narrow.dtype).max
    for i in range(len(narrow)):
        v = len(narrow) - 1 - i
        label = np.uint64(narrow[v])
        if narrow[v] == unreached:
            wide[v] = np.iinfo(wide.dtype).max
        else:
            wide[v] = (label >> shift << np.uint64(WIDE_BITS)) | (label & ((np.uint64(1) << shift) - np.uint64(1)))


@kernel
def repack_labels(labels, bits, new_bits):
    """Give groups of `bits` bits new_bits in place."""
    shift, new_shift = np.uint64(bits), np.uint64(new_bits)
    unreached = np.iinfo(labels.dtype).max
    for v in range(len(labels)):
        if labels[v] != unreached:
            label = np.uint64(labels[v])
            labels[v] = (label >> shift << new_shift) | (label & ((np.uint64(1) << shift) - np.uint64(1)))
