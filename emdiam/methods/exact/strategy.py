"""The cheaper next step, a round of certificates or a batch that covers, chosen by measurement.

Certificates: the open part (vertices in open pairs, and their cover) shrinks by a factor a round, measured in the last
rounds; so ln(open) / ln(factor) rounds remain. Covering: the cover divided by the gain of the last batch is the number
of sources, each as long as in that batch. Before the first batch, a batch of k sources in memory is assumed to cost
k^0.65 traversals, and at least ALONE, the number up to which sources are traversed one by one (measured: 4 to 10 for 4,
7 to 18 for 64 and 25 to 80 for 512 sources on graphs of low diameter). Out of core a batch shares its reads, not its
computation; single traversals show the seconds of each. The first batch also waits until the rounds have cost a share
of the expected cost of covering, because progress often begins late; that bounds the regret. It waits at most
MOST_WAITING rounds, and for a larger share if there are many levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...stream.counters import Counters
from ...traverse.level_windows import windows_for
from .candidates import Verdict

BATCH_EXPONENT = 0.65
FIRST_BATCH, LARGEST_BATCH, GROWTH = 64, 512, 4
# Sources side by side cost the same each in small batches, which use what earlier ones have shown. Then the first batch
# waits for more rounds, too (Delaunay triangulation of 2^20 points: 30 BFS and 0.9 s in place of 124 and 3.1 s).
APART_BATCH, APART_WAITING = 16, 16
# Below this gain a batch that visits the whole cover costs less than a batch that climbs, followed by
# another one for the rest.
LEAST_GAIN = 3.0
WAITING_SHARE, MOST_WAITING = 1 / 32, 6
# The share that it waits for in memory if traversals have more levels than LONG_LEVELS. There balls reach a vertex in
# many levels, so that a batch costs more than assumed (35 and 48 traversals for 64 sources, on meshes of 4,000 and
# 10,000 vertices), and the last rounds achieve most: these meshes take 16 and 23 CPU ms in place of 39 and 73.
LONG_LEVELS, LONG_SHARE = 32, 1 / 2
# A batch of k pairs is assumed to achieve the progress of k / PAIRS_WORTH rounds one after another (Delaunay
# triangulation of 2^20 points: three batches of 32 pairs and the steps after them achieved that of eight rounds).
MOST_PAIRS, LEAST_PAIRS, PAIRS_WORTH = 32, 8, 12
# Reads of a batch of thin traversals, in stores, in a window of levels (measured: 3 to 4 for 32), and in a level.
STORES_A_WINDOW, STORES_A_LEVEL = 4.0, 0.5
# Reads of a batch of thick traversals, divided by those of one.
THICK_BATCH = 2.0
# Reads of thick traversals that share their sweeps, divided by those of one (measured: 1.2 to 1.9).
TOGETHER = 1.5
# The least reads of a traversal, in stores, that make sharing worthwhile.
LEAST_READ = 0.25
# The least number of sweeps expected to remain: vertices that a traversal from the middle does not settle are seldom
# settled by the next two (R-MAT of 2^21 vertices: of 6 vertices one at a time).
LEAST_SWEEPS = 3.0
# The first wide batch is tried if more sources than this are expected. Until one is measured, the number of its levels
# is taken as half of the limit, and each reads the row of every arc at this rate, in bytes a second and thread.
WIDE_FROM, WIDE_BYTES_A_SECOND = 1024, 8e9
# Up to this number, sources are traversed one by one, since a batch costs several traversals; then the same in memory.
FEW, ALONE = 2, 6
# The same on a graph of at most SMALL arcs with many levels: sources that others settle are skipped (a mesh of
# 4,000 vertices: 87 BFS and 22 ms in place of 14, three batches and 30 ms).
ALONE_SMALL, SMALL = 64, 1 << 17
_MEMORY = 3


class Costs:
    """Seconds of past steps, and the open pairs that rounds left. threads : for kernels. n_arcs : of the graph.
    wide_rate : assumed rate of wide batches before one is measured, in bytes of rows a second (0: from the threads).
    apart : Facts.apart_pays."""

    def __init__(self, threads: int, n_arcs: int = 0, wide_rate: float = 0.0,
                 apart: Callable[[int], bool] = lambda levels: False) -> None:
        self._threads, self._n_arcs, self._apart = threads, n_arcs, apart
        self._wide_rate = wide_rate or WIDE_BYTES_A_SECOND * threads
        self._most_wide, self._limit = 0, 0
        self._wide: float | None = None
        self._single = self._certify = self._waited = self._uncertified = 0.0
        self._singles = 0
        self._left: list[tuple[int, int]] = []
        self._swept: list[int] = []
        self._stores = self._dense = self._windows = self._kernel = self._levels = self._fetch = 0.0
        self._round = 0.0
        self._rounds = 0
        self._batch: tuple[float, int] | None = None

    def single(self, seconds: float, used: Counters, n_blocks: int, levels: int) -> None:
        """Note a traversal with its fold. used : its counters. n_blocks : of the store."""
        self._single += seconds
        self._singles += 1
        self._stores += used.blocks_read / n_blocks
        self._dense += used.dense_levels
        self._kernel += used.kernel_cpu_seconds
        self._fetch += used.fetch_cpu_seconds
        self._levels += levels
        self._windows += windows_for(levels)

    def swept(self, unsettled: int) -> None:
        """Note the number of unsettled vertices after a sweep."""
        self._swept.append(unsettled)

    def certified(self, seconds: float, verdict: Verdict) -> None:
        """Note a certification."""
        self._certify, self._uncertified = seconds, 0.0
        self._left.append((verdict.n_open, verdict.cover))

    def round_done(self, seconds: float) -> None:
        """Note the end of a round of refinement (its certification comes next)."""
        self._waited += seconds + self._certify
        self._round = seconds
        self._rounds += 1
        self._swept.clear()

    def covered(self, seconds: float, sources: int, wide: int = 0) -> None:
        """Note a batch, with its spread. wide : its bits, if it was wide."""
        if wide:
            self._wide = seconds
        else:
            self._batch = (seconds, sources)
        self._uncertified = seconds + (self._uncertified if self.apart else 0.0)
        if not self.apart:
            self._left.clear()

    def allow_wide(self, bits: int, limit: int) -> None:
        """Allow wide batches of at most `bits` sources (0: none); limit : no eccentricity so far is larger."""
        self._most_wide, self._limit = bits, limit

    def wide_bits(self, cover: int, gain: float) -> int:
        """Bits of the next batch, if it should be a wide one; else 0.

        The first wide batch is done if very many sources remain and it is expected to cost less than narrow batches for
        them; later ones as long as they are cheaper by measurement."""
        sources = max(1.0, cover / gain)
        if self._batch is None or self.visits(cover, gain) or (self._wide is None and sources <= WIDE_FROM):
            return 0
        return self._most_wide if self._wide_seconds(sources) < self._narrow_seconds(sources) else 0

    def _wide_seconds(self, sources: float) -> float:
        """Seconds of wide batches for `sources` sources together; infinite without wide batches."""
        if self._most_wide == 0:
            return math.inf
        level = self._n_arcs * self._most_wide / 8 / self._wide_rate
        return math.ceil(sources / self._most_wide) * (self._limit / 2 * level if self._wide is None else self._wide)

    def _narrow_seconds(self, sources: float) -> float:
        """Seconds of narrow batches for them, at the cost of the last one."""
        assert self._batch is not None
        seconds, had = self._batch
        return seconds * float((sources / had) ** BATCH_EXPONENT if sources < had else sources / had)

    def expected_seconds(self, cover: int, gain: float) -> float | None:
        """Expected seconds to cover the rest; None before the first batch.

        The gain is assumed to fall in proportion to the remaining vertices, down to 1: then c vertices at a gain of g
        need c / g (1 + ln g) sources (a random 3-regular graph takes two thirds of these, an Erdos-Renyi graph of
        degree 16 a sixth more)."""
        return None if self._batch is None else self._covering_seconds(cover, gain / (1 + math.log(max(1.0, gain))))

    def visits(self, cover: int, gain: float) -> bool:
        """Whether to visit the vertices of the cover themselves."""
        few = APART_BATCH if self.apart else FIRST_BATCH
        return cover <= few or (self._batch is not None and cover <= LARGEST_BATCH and gain < LEAST_GAIN)

    def batch_size(self, cover: int, gain: float) -> int:
        """Number of sources of the next batch: the number that the cover needs, at first limited to few, then to GROWTH
        times the last number."""
        if self.apart:
            return max(1, min(APART_BATCH, math.ceil(cover / gain)))
        if self.visits(cover, gain):
            return cover
        most = FIRST_BATCH if self._batch is None else max(FIRST_BATCH, GROWTH * self._batch[1])
        return max(1, min(LARGEST_BATCH, most, math.ceil(cover / gain)))

    def pairs_at_once(self, n_open: int, room: int) -> int:
        """Number of worst pairs whose traversals go into one batch, at most `room`; 1: one traversal after another.

        In memory a batch shares too little. Out of core, if levels read every block anyway, many sources
        need hardly more reads, and thin ones share a store in each window.
        """
        pairs = min(MOST_PAIRS, n_open // 4, room)
        if pairs < LEAST_PAIRS or self._stores < 1.0:
            return 1
        return pairs if self._sharing_seconds(pairs) < pairs / PAIRS_WORTH * self._one() else 1

    def together(self, k: int) -> bool:
        """Whether k traversals that share their sweeps, and settle all that is open, are expected to take less time
        than the sweeps that remain otherwise, by the progress of the last sweep."""
        if not self._thick or LEAST_READ * self._singles > self._stores:
            return False
        busy = (TOGETHER * self._fetch + k * self._kernel) / self._singles / self._threads
        return max(TOGETHER * self._one(), busy) < self._sweeps_left(k) * self._one()

    def _sweeps_left(self, k: int) -> float:
        """Expected sweeps until k vertices are settled, by the last one; at least min(k, LEAST_SWEEPS), and 2."""
        least = max(2.0, min(k, LEAST_SWEEPS))
        if len(self._swept) < 2:
            return least
        fall = math.log((self._swept[-2] + 1) / (self._swept[-1] + 1))
        return max(least, float(k) if fall <= 0 else min(k, math.log(k + 1) / fall))

    @property
    def _thick(self) -> bool:
        """Whether most reads were done by dense levels."""
        return 2 * self._dense > self._stores

    def _parts(self) -> tuple[float, float]:
        """Seconds of a single traversal: for reading, and in kernels on one core."""
        kernel = self._kernel / max(1, self._singles)
        return max(0.0, self._one() - kernel / (self._threads if self._thick else 1)), kernel

    def _sharing_seconds(self, k: float) -> float:
        """Seconds of a batch of k sources, out of core, that stores all distances."""
        reading, kernel = self._parts()
        if self._thick:
            return THICK_BATCH * reading + kernel * float(k**BATCH_EXPONENT)
        return reading * min(k, max(1.0, STORES_A_WINDOW * self._windows / self._stores)) + kernel * k / self._threads

    def _level_seconds(self, k: float) -> float:
        """Seconds of a batch of k thin traversals, out of core, level by level."""
        reading, kernel = self._parts()
        return reading * STORES_A_LEVEL * self._levels / self._stores + kernel * float(k**BATCH_EXPONENT)

    def _batch_of(self, k: float) -> float:
        """Assumed seconds of a batch of k sources before the first one."""
        if self._stores < 1.0:
            return self._one() * (k if k <= ALONE else max(ALONE, float(k**BATCH_EXPONENT)))
        return self._sharing_seconds(k) if self._thick else min(k * self._one(), self._level_seconds(k))

    @property
    def levels(self) -> int:
        """Levels of a single traversal, on average."""
        return int(self._levels / max(1, self._singles))

    @property
    def apart(self) -> bool:
        """Whether sources are traversed side by side, by a BFS each."""
        return self._stores < 1.0 and self._apart(self.levels)

    def one_by_one(self, k: int) -> bool:
        """Whether k sources are better traversed one after another, or side by side, than in a batch."""
        thin = self._stores >= 1.0 and not self._thick
        small = self._levels > LONG_LEVELS * self._singles and self._n_arcs <= SMALL
        alone = FEW if self._stores >= 1.0 else ALONE_SMALL if small or self.apart else ALONE
        return k <= alone or (thin and k * self._one() < self._level_seconds(k))

    def pairs_are_cheap(self) -> bool:
        """Whether certifying costs little in comparison to the last batch; over long distances, where it often ends the
        run, no more than the batches since the last certification."""
        return self._batch is None or self._certify < self._uncertified / (1 if self.apart else 4)

    def covering_pays(self, verdict: Verdict, gain: float) -> bool:
        """Whether a batch of covering should come next. If FEW vertices are the cover, it takes no more traversals than
        a round, and ends the run."""
        if verdict.cover <= FEW:
            return True
        covering = self._covering_seconds(verdict.cover, gain)
        long = self._stores < 1.0 and self._levels > LONG_LEVELS * self._singles
        share = LONG_SHARE if long else WAITING_SHARE
        most = APART_WAITING if self.apart else MOST_WAITING
        waiting = self._rounds == 0 or (self._rounds < most and self._waited < share * covering)
        if self._batch is None and waiting:
            return False
        return covering < self._certificate_seconds()

    def _one(self) -> float:
        return self._single / max(1, self._singles)

    def _covering_seconds(self, cover: int, gain: float) -> float:
        sources = max(1.0, cover / gain)
        if self._batch is not None:
            narrow = self._narrow_seconds(sources)
            wide = self._wide is not None or sources > WIDE_FROM
            return min(narrow, self._wide_seconds(sources)) if wide else narrow
        whole, rest = divmod(sources, LARGEST_BATCH)
        return whole * self._batch_of(LARGEST_BATCH) + self._batch_of(rest)

    def _certificate_seconds(self) -> float:
        """Expected seconds until no pair is open; infinite if the last rounds made no progress."""
        recent = self._left[-(_MEMORY + 1) :]
        if len(recent) < 2:
            return math.inf
        rounds = math.inf
        for kind in (0, 1):
            fall = math.log(recent[0][kind] + 1) - math.log(recent[-1][kind] + 1)
            if fall > 0:
                rounds = min(rounds, (len(recent) - 1) * math.log(recent[-1][kind] + 1) / fall)
        return (max(self._round, self._one()) + self._certify) * max(1.0, rounds)
