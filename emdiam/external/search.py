"""Breadth-first search without state for every vertex: next = N(frontier) - frontier - previous, with sorted lists and
ranges.

Many thin levels are processed in one call (thin.py). A thick level sends its heads to buckets; each range of vertices
turns them into a bitmap (for several sources, masks of up to 64), subtracts the frontier and the one before, and lists
the rest. If one range covers the graph, it is a bitmap in memory, and nothing is sorted or written. I/O of a thick
level: its blocks and chunks of offsets once; if there are several ranges and more arcs than the buffer holds, every
head is written once and read once.
Source: Munagala and Ranade, SODA 1999.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..distinct import distinct
from ..progress import Tick, no_tick
from ..traverse.workspace import bits_at, list_bits
from .buckets import Ranges, bitmap, united
from .disk import Disk
from .frontier import DiskFrontier, take_away_bits, take_away_masks
from .rows import PIECE
from .thin import (
    ARCS,
    ASKED,
    AT_RADIUS,
    BOUNDS,
    CURRENT,
    DONE,
    LEFT,
    LEVEL,
    MET,
    NO_BLOCK,
    NO_OFFSETS,
    RADIUS,
    REMAINING,
    STAGE,
    STATE,
    STOP_ARCS,
    THICK,
    WRITTEN,
    thin_levels,
)

# Limits of a slice of thin levels: arcs, and seconds if its blocks are read repeatedly.
_SLICE_ARCS, _SLICE_SECONDS = 1 << 24, 0.25
# A frontier becomes thin again if it has at most size / _THINNER vertices.
_THINNER = 4
BITS = 64
# found(vertices int64[k], masks uint64[k], levels int64[k]), ascending in each level
Found = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True)
class Wanted:
    """The end of a search. radius : levels; -1: no limit. listed, words : targets, sorted int64[k] or a bitmap.
    remaining : pairs (source, target) not yet met, -1 without targets."""

    radius: int = -1
    listed: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    words: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    remaining: int = -1


class _Lists:
    """The arrays of thin_levels."""

    def __init__(self, size: int) -> None:
        self.lists = np.zeros((3, size), np.int64)
        self.masks = np.zeros((3, size), np.uint64)
        self.counts = np.zeros(3, np.int64)
        self.work = (np.empty((2, size), np.int64), np.empty(size, np.int64), np.empty(4 * size, np.int64),
                     np.empty((2, size), np.int64), np.empty((2, size), np.uint64), np.empty(257, np.int64))
        self.out = np.empty(4 * size, np.int64), np.empty(4 * size, np.uint64), np.empty(4 * size, np.int64)


class DiskSearch:
    """A search in slices: call `step` until it returns True.

    start : pieces of vertices (int64[k], ascending) with masks of the sources (uint64[k]) that are there at level 0.
    bits : number of sources, at most BITS. found : called with everything reached, including level 0. counting :
    whether to count the vertices of each level.

    level : the last nonempty level. smallest : its smallest vertex. reached : vertices with known levels so far; with
    several sources, one for each source that reached a vertex. complete : None until the end; then whether everything
    reachable was reached. farthest : int64[bits], the last level of each source.
    """

    def __init__(self, disk: Disk, start: Iterable[tuple[np.ndarray, np.ndarray]], bits: int, wanted: Wanted,
                 found: Found, counting: bool = False) -> None:
        self._disk, self._bits, self._wanted, self._found = disk, bits, wanted, found
        self._lists: _Lists | None = _Lists(disk.sizes.thin)
        self._state = np.zeros(STATE, np.int64)
        self._state[[LEFT, RADIUS, REMAINING]] = -1, wanted.radius, wanted.remaining
        self.farthest = np.zeros(BITS, np.int64)
        self._counts = np.zeros(0, np.int64)
        self.reached, self._last, self._counting = 0, -1, counting
        self.smallest = -1
        self.complete: bool | None = False if wanted.remaining == 0 else None
        ranges = disk.ranges(8 if bits > 1 else 0.125)
        self._current, self._previous = self._frontier(ranges), self._frontier(ranges)
        for vertices, masks in start:
            self._tell(vertices, masks, np.zeros(len(vertices), np.int64))
            self._current.extend(vertices, masks)
        self._thin = False
        self._to_thin()

    def _frontier(self, ranges: Ranges) -> DiskFrontier:
        return self._disk.frontier(ranges, self._bits > 1)

    @property
    def level(self) -> int:
        """The last nonempty level."""
        return int(self._state[LEVEL])

    @property
    def counts(self) -> list[int]:
        """Vertices of each level, if they are counted."""
        return list(self._counts[: self._last + 1].tolist()) if self._counting else []

    def _tell(self, vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray) -> None:
        """Record that these vertices were reached, in order of levels."""
        if not len(vertices):
            return
        self._found(vertices, masks, levels)
        last = int(levels[-1])
        if last > self._last:
            self.smallest, self._last = int(vertices[np.searchsorted(levels, last)]), last
        self.reached += len(vertices)
        if self._counting:
            first, counts = int(levels[0]), np.bincount(levels - levels[0])
            end = first + len(counts)
            if end > len(self._counts):  # there may be one level per vertex, with a call for each
                self._counts = np.pad(self._counts, (0, max(end, 2 * len(self._counts)) - len(self._counts)))
            self._counts[first:end] += counts

    def step(self, tick: Tick = no_tick) -> bool:
        """Do one thick level, or a slice of thin ones; returns True at the end."""
        if self.complete is None:
            before = self.level
            if self._thin:
                self._thin_step()
            else:
                self._thick_step(tick)
            self._disk.rows.counters.add(levels=self.level - before)
        if self.complete is not None:
            self._release()
        return self.complete is not None

    def _release(self) -> None:
        self._lists = None
        self._current.close()
        self._previous.close()

    # -- thin -----------------------------------------------------------------------------------
    def _to_thin(self) -> None:
        """Copy the frontier and the previous one into the lists, if they fit."""
        size = self._disk.sizes.thin
        if self._current.count > size // _THINNER or self._previous.count > size:
            return
        assert self._lists is not None
        for place, frontier in ((0, self._current), (2, self._previous)):
            vertices, masks = frontier.everything()
            self._lists.counts[place] = len(vertices)
            self._lists.lists[place, : len(vertices)] = vertices
            self._lists.masks[place, : len(vertices)] = masks if self._bits > 1 else 1
        self._state[[CURRENT, STAGE, LEFT]] = 0, BOUNDS, -1
        self._thin = True

    def _thin_step(self) -> None:
        rows, state, lists = self._disk.rows, self._state, self._lists
        assert lists is not None
        begin, arcs = time.thread_time(), int(state[ARCS])
        end, state[STOP_ARCS] = time.monotonic() + _SLICE_SECONDS, arcs + _SLICE_ARCS
        while True:
            reason = thin_levels(*rows.paging, lists.work, lists.lists, lists.masks, lists.counts,
                                 (self._wanted.listed, self._wanted.words), lists.out, self.farthest, state)
            if reason not in (NO_OFFSETS, NO_BLOCK):
                break
            pager = rows.offsets if reason == NO_OFFSETS else rows.arcs
            pager.load(distinct(lists.work[2][: state[ASKED]]))
            if state[ARCS] > arcs + _SLICE_ARCS or time.monotonic() > end:
                break
        rows.counters.add(kernel_cpu_seconds=time.thread_time() - begin, edges_scanned=int(state[ARCS]) - arcs)
        self._flush()
        if reason in (DONE, MET, AT_RADIUS):
            self.complete = reason == DONE
        elif reason == THICK:
            self._to_thick()
            self._thick_step(no_tick)

    def _flush(self) -> None:
        """Pass on the output of the lists."""
        assert self._lists is not None
        count = int(self._state[WRITTEN])
        self._tell(*(values[:count] for values in self._lists.out))
        self._state[WRITTEN] = 0

    def _to_thick(self) -> None:
        lists, current = self._lists, int(self._state[CURRENT])
        assert lists is not None
        made = []
        for place in (current, (current + 2) % 3):
            count = int(lists.counts[place])
            made.append(self._frontier(self._current.ranges))
            made[-1].extend(lists.lists[place, :count], lists.masks[place, : count if self._bits > 1 else 0])
        self._current, self._previous = made
        self._thin = False

    # -- thick ----------------------------------------------------------------------------------
    def _thick_step(self, tick: Tick) -> None:
        state, disk = self._state, self._disk
        if self._current.count == 0:
            self.complete = True
            return
        if state[LEVEL] == state[RADIUS]:
            self.complete = False
            return
        masked, following = self._bits > 1, self._frontier(self._current.ranges)
        taker = united(self._masks_done(following)) if masked else bitmap(self._bits_done(following))
        buckets = disk.buckets(taker, 8 if masked else 0.125, np.uint64 if masked else None)
        state[ARCS] += disk.rows.bring(self._current.sources(), buckets, tick=tick)
        self._previous.close()
        self._previous, self._current = self._current, following
        if following.count == 0:
            self.complete = True
            return
        state[LEVEL] += 1
        if state[REMAINING] == 0:
            self.complete = False
            return
        self._to_thin()

    def _bits_done(self, following: DiskFrontier) -> Callable[[int, np.ndarray], None]:
        def done(first: int, words: np.ndarray) -> None:
            number = first >> following.ranges.shift
            for frontier in (self._current, self._previous):
                for vertices, _ in frontier.within(number):
                    take_away_bits(words, first, vertices)
            # A list takes up to 64 times as much memory as the bitmap.
            for start in range(0, len(words), max(1, PIECE >> 6)):
                some = words[start : start + max(1, PIECE >> 6)]
                vertices = np.empty(int(np.bitwise_count(some).sum()), np.int64)
                list_bits(some, vertices)
                self._next(following, number, vertices + first + 64 * start, np.ones(len(vertices), np.uint64))

        return done

    def _masks_done(self, following: DiskFrontier) -> Callable[[int, np.ndarray], None]:
        def done(first: int, masks: np.ndarray) -> None:
            number = first >> following.ranges.shift
            for frontier in (self._current, self._previous):
                for vertices, known in frontier.within(number):
                    take_away_masks(masks, first, vertices, known)
            vertices = np.flatnonzero(masks)
            self._next(following, number, vertices + first, masks[vertices])

        return done

    def _next(self, following: DiskFrontier, number: int, vertices: np.ndarray, masks: np.ndarray) -> None:
        """Add vertices of a range, reached by the next level."""
        if not len(vertices):
            return
        level = self.level + 1
        following.append(number, vertices.astype(self._disk.key), masks if self._bits > 1 else masks[:0])
        self._tell(vertices, masks, np.full(len(vertices), level))
        alive = int(np.bitwise_or.reduce(masks))
        self.farthest[[bit for bit in range(self._bits) if alive >> bit & 1]] = level
        if self._state[REMAINING] > 0:
            self._state[REMAINING] -= int(np.bitwise_count(masks[_wanted_at(self._wanted, vertices)]).sum())


def _wanted_at(wanted: Wanted, vertices: np.ndarray) -> np.ndarray:
    """bool[k], which of the vertices are targets."""
    return bits_at(wanted.words, vertices) if len(wanted.words) else np.isin(vertices, wanted.listed)


def listed_targets(source: int, targets: Iterable[int]) -> dict[str, Any]:
    """Fields of Wanted for a search from one source that ends when all these targets are reached."""
    listed = distinct(np.array(list(targets), np.int64))
    return {"listed": listed, "remaining": len(listed) - int(source in listed)}
