"""Numpy versions of kernels over offsets, rows and bitmaps, for few items when no compiled object exists yet.

They return the same as the kernels with the same names, which document the arguments. Words are little-endian.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import Uncovered

_FULL = 255  # see offsets.FULL
_ODD = np.uint64(0x9E3779B97F4A7C15)  # see rows.py

Offsets = tuple[np.ndarray, np.ndarray, np.ndarray]


def starts_of(group: np.ndarray, row: np.ndarray, hub: np.ndarray) -> np.ndarray:
    """The offset of each row, int64[len(row) + 1], computed from its group's offset, since groups outside a worker's
    range have none. Rows after the last vertex are empty."""
    lengths = row.astype(np.int64)
    for number in np.flatnonzero(group < 0).tolist():
        first, long = -1 - int(group[number]), np.flatnonzero(row[64 * number : 64 * (number + 1)] == _FULL)
        lengths[64 * number + long] += np.diff(hub[first : first + len(long) + 1])
    offsets = np.array([hub[-1 - first] if first < 0 else first for first in group.tolist()], np.int64)
    ends = offsets[:, None] + np.cumsum(lengths.reshape(-1, 64), axis=1)
    return np.append(ends.ravel() - lengths, ends[-1, -1])


def following_starts(group: np.ndarray, row: np.ndarray, hub: np.ndarray, first: int, out: np.ndarray) -> None:
    """See offsets.following_starts."""
    out[:] = starts_of(group, row, hub)[first : first + len(out)]


def row_starts(group: np.ndarray, row: np.ndarray, hub: np.ndarray, vertices: np.ndarray, out: np.ndarray) -> None:
    """See offsets.row_starts."""
    out[:] = starts_of(group, row, hub)[vertices]


def odd_hash(ids: np.ndarray) -> np.ndarray:
    """An odd 64-bit number for each id."""
    product = ids.astype(np.uint64) * _ODD
    return (product ^ (product >> np.uint64(32))) | np.uint64(1)


def check_rows(ids: np.ndarray, first: int, starts: np.ndarray) -> tuple[int, int]:
    """See rows.check_rows."""
    bounds = np.clip(starts, 0, len(ids))
    vertices = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(bounds))
    heads = ids[bounds[0] : bounds[-1]].astype(np.int64)
    wrong = heads == vertices
    wrong[1:] |= (vertices[1:] == vertices[:-1]) & (heads[1:] <= heads[:-1])
    terms, up = odd_hash(vertices) * odd_hash(heads), heads > vertices
    if not wrong.any():
        return -1, int((terms[up].sum() - terms[~up].sum()).item())
    worst = int(vertices[np.argmax(wrong)])
    before = vertices < worst
    return worst, int((terms[up & before].sum() - terms[~up & before].sum()).item())


def bits_of(words: np.ndarray) -> np.ndarray:
    """Whether each bit is set, bool[..., 64 k], for words uint64[..., k]."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little").view(np.bool_)


def put_bits(bits: np.ndarray, bitmap: np.ndarray) -> None:
    """Write bool[at most 64 k] to the words of a bitmap; the remaining bits are cleared."""
    packed = np.packbits(bits, bitorder="little")
    words = bitmap.view(np.uint8)
    words[: len(packed)] = packed
    words[len(packed) :] = 0


def set_bits(bitmap: np.ndarray, vertices: np.ndarray, count: int) -> None:
    """See traverse.workspace.set_bits."""
    those = vertices[:count].astype(np.int64)
    np.bitwise_or.at(bitmap, those >> 6, np.uint64(1) << (those & 63).astype(np.uint64))


def list_bits(bitmap: np.ndarray, vertices: np.ndarray) -> int:
    """See traverse.workspace.list_bits."""
    found = np.flatnonzero(bits_of(bitmap))
    vertices[: len(found)] = found
    return len(found)


def equal_bits(bound: np.ndarray, value: int, bitmap: np.ndarray) -> int:
    """See traverse.spread.equal_bits."""
    equal = bound == value
    put_bits(equal, bitmap)
    return int(equal.sum())


class ResidentRows:
    """The rows of a graph whose blocks are all resident. rows : compact offsets, or plain ones with the end of the last
    row. Raises Uncovered if a block is not resident."""

    def __init__(self, paging: tuple[np.ndarray, np.ndarray, int], rows: Offsets | np.ndarray) -> None:
        ids, slot_of, shift = paging
        if len(slot_of) and slot_of.min() < 0:
            raise Uncovered
        self.starts = starts_of(*rows) if isinstance(rows, tuple) else rows.astype(np.int64)
        self._ids, self._slots, self._shift = ids, slot_of, shift

    def lengths(self, vertices: np.ndarray) -> np.ndarray:
        """The number of arcs of each vertex."""
        return self.starts[vertices + 1] - self.starts[vertices]

    def arcs(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(index of the tail in `vertices`, head) of each arc of these rows, int64[k] each."""
        lengths = self.lengths(vertices)
        tails = np.repeat(np.arange(len(vertices)), lengths)
        begin = self.starts[vertices] - np.cumsum(lengths) + lengths
        return tails, self.heads(begin[tails] + np.arange(len(tails)))

    def heads(self, arcs: np.ndarray) -> np.ndarray:
        """The heads of arcs with these numbers."""
        block = arcs >> self._shift
        return self._ids[(self._slots[block].astype(np.int64) << self._shift) + arcs - (block << self._shift)].astype(
            np.int64)


def row_bounds(group: np.ndarray, row: np.ndarray, hub: np.ndarray, vertices: np.ndarray, low: np.ndarray,
               high: np.ndarray) -> None:
    """See traverse.paths.row_bounds."""
    starts, rows = starts_of(group, row, hub), vertices.astype(np.int64)
    low[:], high[:] = starts[rows], starts[rows + 1]


def max_degree_vertex(group: np.ndarray, row: np.ndarray, hub: np.ndarray, n_vertices: int) -> tuple[int, int]:
    """See traverse.core.max_degree_vertex."""
    lengths = np.diff(starts_of(group, row, hub)[: n_vertices + 1])
    best: Any = np.argmax(lengths) if n_vertices else -1
    return (int(best), int(lengths[best])) if n_vertices else (-1, -1)
