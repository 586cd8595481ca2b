"""Candidates when there are too many to hold: boxes of vertices first, vertices of open boxes then.

The distance columns of the pivots lie on disk or in RAM; one pass over them puts every unsettled vertex into the box of
its distances divided by 2^q, and only the maxima and the count of each box are kept. Boxes whose pairs are all
certified (a box with itself too, if it holds two vertices) hold no end of a longer pair. A second pass lists the
vertices of the others. On graphs of low diameter most vertices share few vectors, and q = 0 is exact.
Passes: none over edges; two over the columns for each q tried. Bytes: what is given, at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numba import njit

from ...jit import kernel
from ...traverse.columns import Column
from .boxes import build_boxes, open_points
from .candidates import near_all

_MOST_SLOTS, _LEAST_SLOTS = 1 << 20, 1 << 10
COARSEST = 12


class Distances(Protocol):
    """A column in RAM or on disk."""

    @property
    def dtype(self) -> np.dtype: ...
    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1."""
        ...


def coarse_candidates(
    upper: Column, columns: Sequence[Distances], limit: int, budget_bytes: int, most: int
) -> np.ndarray | None:
    """Unsettled vertices that may be an end of a pair longer than `limit`, int64[k], ascending;
    None if no q within the budget leaves at most `most` of them."""
    k, item = len(columns), columns[0].dtype.itemsize
    slots = _MOST_SLOTS
    while slots > _LEAST_SLOTS and slots * (4 * k * item + 24) > budget_bytes:
        slots //= 2
    for q in range(COARSEST):
        table = _Table(slots, k, columns[0].dtype, q)
        if not table.fill(_parts(upper, columns), limit):
            continue
        table.open(limit)
        found = table.members(_parts(upper, columns), limit, most)
        return found
    return None


def _parts(upper: Column, columns: Sequence[Distances]) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(first vertex, upper bounds, distances [k, m]) of pieces of the vertices."""
    for start in range(0, len(upper), upper.piece):
        stop = min(start + upper.piece, len(upper))
        yield start, upper.part(start, stop), np.stack([c.part(start, stop) for c in columns])


class _Table:
    """A hash table of boxes: keys unsigned[slots, k], most unsigned[slots, k], counts int64[slots],
    is_open uint8[slots]."""

    def __init__(self, slots: int, k: int, dtype: np.dtype, q: int) -> None:
        self._q = q
        self._keys, self._most = np.zeros((slots, k), dtype), np.zeros((slots, k), dtype)
        self._counts = np.zeros(slots, np.int64)
        self._open = np.zeros(slots, np.uint8)

    def fill(self, parts: Iterator[tuple[int, np.ndarray, np.ndarray]], limit: int) -> bool:
        """Put all unsettled vertices in; False if there are too many boxes."""
        taken = 0
        for _, upper, distances in parts:
            taken += int(fill_boxes(upper, distances, limit, self._q, self._keys, self._most, self._counts, taken))
            if 2 * taken > len(self._counts):
                return False
        return True

    def open(self, limit: int) -> None:
        """Find the boxes with an uncertified pair."""
        slots = np.flatnonzero(self._counts)
        safe = np.zeros(len(slots), np.uint8)
        near_all(self._most[slots], self._most.shape[1], limit, safe)
        slots = slots[safe == 0]
        if len(slots) == 0:
            return
        points = self._most[slots]
        flags = open_points(build_boxes(points), limit)
        own = 2 * points.min(axis=1).astype(np.int64) > limit
        self._open[slots] = flags | (own & (self._counts[slots] > 1))

    def members(self, parts: Iterator[tuple[int, np.ndarray, np.ndarray]], limit: int, most: int) -> np.ndarray | None:
        """Vertices in open boxes, ascending; None if there are more than `most`."""
        if int(self._counts[self._open == 1].sum()) > most:
            return None
        found = [np.empty(0, np.int64)]
        for start, upper, distances in parts:
            flags = np.zeros(len(upper), np.uint8)
            flag_members(upper, distances, limit, self._q, self._keys, self._counts, self._open, flags)
            found.append(np.flatnonzero(flags) + start)
        return np.concatenate(found)


@njit(inline="always")
def _slot(distances, v, q, keys, counts):  # type: ignore[no-untyped-def]
    """Slot of the box of column v, taken or free; keys are distances >> q."""
    k = len(distances)
    mask = len(counts) - 1
    code = np.uint64(0)
    for i in range(k):
        code = (code ^ np.uint64(distances[i, v] >> q)) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    slot = np.int64(code & np.uint64(mask))
    while counts[slot]:
        same = True
        for i in range(k):
            if keys[slot, i] != distances[i, v] >> q:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_boxes(upper, distances, limit, q, keys, most, counts, taken):  # type: ignore[no-untyped-def]
    """Add the columns v with limit < upper[v] < unreached; returns how many new boxes. taken : boxes
    so far; it stops when more than half of the table is."""
    none = np.int64(np.iinfo(upper.dtype).max)
    k = len(distances)
    new = 0
    for v in range(len(upper)):
        if not limit < np.int64(upper[v]) < none:
            continue
        slot = _slot(distances, v, q, keys, counts)
        if counts[slot] == 0:
            new += 1
            if 2 * (taken + new) > len(counts):
                return new
            for i in range(k):
                keys[slot, i] = distances[i, v] >> q
        for i in range(k):
            most[slot, i] = max(most[slot, i], distances[i, v])
        counts[slot] += 1
    return new


@kernel
def flag_members(upper, distances, limit, q, keys, counts, is_open, flags):  # type: ignore[no-untyped-def]
    """flags[v] = 1 for unsettled columns v whose box is open."""
    none = np.int64(np.iinfo(upper.dtype).max)
    for v in range(len(upper)):
        if limit < np.int64(upper[v]) < none:
            flags[v] = is_open[_slot(distances, v, q, keys, counts)]
