"""Wide batches: the eccentricities of up to 2,048 sources, where balls soon fill the graph.

Definition: the ball of a source grows by 1 a level; its eccentricity is its radius when it has grown for the last time.
Balls begin small, one by one (wide_balls.py); then a level is one pull over all rows that some source has not seen,
without queues, frontiers or marks of what is new (wide_rows.py). Work: all arcs of such rows a level, for all sources
together. I/O: a level reads every block once. Bytes a vertex: b / 4 for b bits, and 0.13 for marks; and a thread 0.13
and a queue.
It pays where most levels are dense, as in random graphs: there a source takes a tenth of the CPU seconds that it does
in batches of 512. Where frontiers are thin, multi.py is for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..stream.pager import Tick
from .core import Core
from .multi import spanning_rows
from .wide_balls import WORD_BITS, fill_balls
from .wide_rows import LANES, VECTORS, aligned_words, pull_wide, settle_wide

WIDTHS = tuple(WORD_BITS * LANES * vectors for vectors in VECTORS)
MOST_WIDE_BITS = WIDTHS[-1]
# A ball looks at this share of the arcs by itself: a source of a level for all costs about as much (25 ns an arc of a
# ball, 0.014 an arc of a level and source, measured).
_BALL_SHARE, _LEAST_QUEUE, _MOST_QUEUE = 2048, 64, 1 << 16
# A plane of more bytes is written past the cache.
_CACHE_BYTES = 32 << 20


def wide_bytes(n_vertices: int, bits: int, threads: int) -> int:
    """Bytes of the state of a wide batch of this many bits."""
    bitmap = (n_vertices + 63) // 64 * 8
    return 2 * n_vertices * bits // 8 + bitmap + threads * (bitmap + 8 * _MOST_QUEUE) + 4096


def wide_bits(k: int) -> int:
    """Bits of a batch of k sources."""
    return next(bits for bits in WIDTHS if k <= bits)


class WideRun:
    """A wide batch in slices: call `step` until it returns True, then `result`. core : the engine's. sources : at most
    MOST_WIDE_BITS vertices (repeats allowed)."""

    def __init__(self, core: Core, sources: np.ndarray) -> None:
        n, k = core.table.n_vertices, len(sources)
        if not 0 < k <= MOST_WIDE_BITS:
            raise ValueError(f"{k} sources in a wide batch (1 to {MOST_WIDE_BITS})")
        if int(sources.min()) < 0 or int(sources.max()) >= n:
            raise ValueError(f"a source is no vertex (0 to {n - 1})")
        self._core, self._sources = core, np.asarray(sources, np.int64)
        self._words = aligned_words(2, n, wide_bits(k) // WORD_BITS)
        self._mask, self._total = (aligned_words(self._words.shape[2]) for _ in range(2))
        self._mask[:] = np.packbits(np.arange(len(self._mask) * WORD_BITS) < k, bitorder="little").view(np.uint64)
        self._full = core.table.isolated.copy()
        self._radii, self._over = np.zeros(k, np.int64), np.zeros(k, np.uint8)
        self._spanning = spanning_rows(core)
        self._here, self._grown = 0, -1

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return int(self._radii.max())

    def step(self, tick: Tick | None = None) -> bool:
        """The balls by themselves, then one level; True when finished."""
        if self._grown < 0:
            self._begin()
            self._grown = 0
            return bool(self._over.all())
        self._grown += 1
        self._pull(tick)
        reached = np.unpackbits(self._total.view(np.uint8), count=len(self._radii), bitorder="little")
        self._radii += reached
        self._here = 1 - self._here
        return not reached.any() or bool((self._full == np.uint64(0xFFFFFFFFFFFFFFFF)).all())

    def _begin(self) -> None:
        core, words = self._core, self._words[0]
        if not core.pager.everything_resident:
            place = np.arange(len(self._sources))
            np.bitwise_or.at(words, (self._sources, place >> 6), np.uint64(1) << (place & 63).astype(np.uint64))
            return
        entries = min(_MOST_QUEUE, max(_LEAST_QUEUE, core.table.n_arcs // _BALL_SHARE))
        turn = np.zeros(1, np.int64)

        def fill() -> int:
            seen, queue = np.zeros_like(self._full), np.empty(entries, core.work.queues.dtype)
            return int(fill_balls(turn, core.paging, core.offsets, self._sources, words, seen, queue, self._radii,
                                  self._over))

        core.counters.add(edges_scanned=sum(core.everywhere(fill)))

    def _pull(self, tick: Tick | None) -> None:
        core, full, words = self._core, self._full, self._words
        self._total[:] = 0
        past = words[0].nbytes > _CACHE_BYTES
        blocks = core.blocks_with(full, True)

        def pull(*arguments: Any) -> int:
            return int(pull_wide(*arguments, aligned_words(words.shape[2])))

        arcs = core.sweep(blocks, pull, words, full, self._mask, self._total, self._here, past, tick=tick)
        settle_wide(self._spanning, words, full, self._mask, self._total, self._here)
        core.count_sweep(len(blocks), arcs)

    def result(self) -> np.ndarray:
        """int32[k], the eccentricity of each source, after `step` has returned True."""
        self._core.counters.add(traversals=1)
        return self._radii.astype(np.int32)
