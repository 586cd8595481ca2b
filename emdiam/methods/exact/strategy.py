"""What is cheaper next, a round of certificates or a batch that covers: measured, not assumed.

Certificates: what is open (vertices in open pairs, and their cover) shrinks by a factor a round, which the last rounds
tell; so ln(left) / ln(factor) rounds are to come. Covering: as many sources as the cover needs at the gain of the last
batch, each as long as there; before there was one, a batch of k sources is taken to cost k^0.65 traversals in memory,
and as many as ALONE at least, up to which sources are traversed one by one (measured: 4 to 10 for 4, 7 to 18 for 64 and
25 to 80 for 512 sources on graphs of low diameter). Out of core a batch shares what it
reads, not what it computes; single traversals tell how many seconds each takes. The first batch also waits until the
rounds have cost a share of what covering would, because progress often begins late; that bounds the regret. It waits
MOST_WAITING rounds at most, and for a larger share where levels are many.
"""

from __future__ import annotations

import math

from ...stream.counters import Counters
from ...traverse.level_windows import windows_for
from .candidates import Verdict

BATCH_EXPONENT = 0.65
FIRST_BATCH, LARGEST_BATCH, GROWTH = 64, 512, 4
# Below this gain a batch that visits the whole cover costs less than one that climbs and another
# one for what that has left.
LEAST_GAIN = 3.0
WAITING_SHARE, MOST_WAITING = 1 / 32, 6
# In memory it waits for this share where traversals have more levels than so many. There balls come to a vertex in many
# levels, so that a batch costs more than it is taken to (35 and 48 traversals for 64 sources, on meshes of 4,000 and
# 10,000 vertices), and the last rounds bring most: these meshes take 16 and 23 CPU ms in place of 39 and 73.
LONG_LEVELS, LONG_SHARE = 32, 1 / 2
# A batch of k pairs is taken to bring as much as k / PAIRS_WORTH rounds one after another (Delaunay triangulation of
# 2^20 points: three batches of 32 pairs and what followed did what eight rounds do).
MOST_PAIRS, LEAST_PAIRS, PAIRS_WORTH = 32, 8, 12
# Stores that a batch of thin traversals reads in a window of levels (measured: 3 to 4 of 32), and in a level.
STORES_A_WINDOW, STORES_A_LEVEL = 4.0, 0.5
# What a batch of thick traversals reads, in times what one does.
THICK_BATCH = 2.0
# What thick traversals that share their sweeps read, in times what one does (measured: 1.2 to 1.9).
TOGETHER = 1.5
# Stores that a traversal reads, at least, where it is worth sharing: else there is little to share.
LEAST_READ = 0.25
# Sweeps to come, at least: what a traversal from the middle does not settle is seldom settled by the next two (R-MAT of
# 2^21 vertices: of 6 vertices one at a time).
LEAST_SWEEPS = 3.0
# More sources than so many are expected before the first wide batch is tried. Until it is measured, its levels are
# taken to be half of the limit, and to read the row of every arc at so many bytes a second and thread.
WIDE_FROM, WIDE_BYTES_A_SECOND = 1024, 8e9
# So few sources are traversed one by one: a batch costs several traversals; and so few in memory.
FEW, ALONE = 2, 6
# And so many on a graph of at most so many arcs and with many levels: those that others settle are left out (a mesh of
# 4,000 vertices: 87 BFS and 22 ms in place of 14, three batches and 30 ms).
ALONE_SMALL, SMALL = 64, 1 << 17
_MEMORY = 3


class Costs:
    """Seconds of what was done, and what the rounds left open. threads : for kernels. n_arcs : of the graph.
    wide_rate : bytes of rows a second of wide batches before one is measured (0: what the threads do)."""

    def __init__(self, threads: int, n_arcs: int = 0, wide_rate: float = 0.0) -> None:
        self._threads, self._n_arcs = threads, n_arcs
        self._wide_rate = wide_rate or WIDE_BYTES_A_SECOND * threads
        self._most_wide, self._limit = 0, 0
        self._wide: float | None = None
        self._single = self._certify = self._waited = 0.0
        self._singles = 0
        self._left: list[tuple[int, int]] = []
        self._swept: list[int] = []
        self._stores = self._dense = self._windows = self._kernel = self._levels = self._fetch = 0.0
        self._round = 0.0
        self._rounds = 0
        self._batch: tuple[float, int] | None = None

    def single(self, seconds: float, used: Counters, n_blocks: int, levels: int) -> None:
        """A traversal with its fold. used : what it took. n_blocks : of the store."""
        self._single += seconds
        self._singles += 1
        self._stores += used.blocks_read / n_blocks
        self._dense += used.dense_levels
        self._kernel += used.kernel_cpu_seconds
        self._fetch += used.fetch_cpu_seconds
        self._levels += levels
        self._windows += windows_for(levels)

    def swept(self, unsettled: int) -> None:
        """A sweep has left so many vertices unsettled."""
        self._swept.append(unsettled)

    def certified(self, seconds: float, verdict: Verdict) -> None:
        """A certification."""
        self._certify = seconds
        self._left.append((verdict.n_open, verdict.cover))

    def round_done(self, seconds: float) -> None:
        """A round of refinement is over (its certification comes next)."""
        self._waited += seconds + self._certify
        self._round = seconds
        self._rounds += 1
        self._swept.clear()

    def covered(self, seconds: float, sources: int, wide: int = 0) -> None:
        """A batch, with its spread. wide : its bits, if it was wide."""
        if wide:
            self._wide = seconds
        else:
            self._batch = (seconds, sources)
        self._left.clear()

    def allow_wide(self, bits: int, limit: int) -> None:
        """Wide batches may have so many sources (0: there are none); no eccentricity so far is above the limit."""
        self._most_wide, self._limit = bits, limit

    def wide_bits(self, cover: int, gain: float) -> int:
        """Bits of the next batch, if it is to be a wide one; else 0.

        The first comes where very many sources are left and it is expected to be worth several batches that are not
        wide, later ones while they are cheaper as measured."""
        sources = max(1.0, cover / gain)
        if self._batch is None or self.visits(cover, gain) or (self._wide is None and sources <= WIDE_FROM):
            return 0
        return self._most_wide if self._wide_seconds(sources) < self._narrow_seconds(sources) else 0

    def _wide_seconds(self, sources: float) -> float:
        """Seconds of wide batches of so many sources together; infinite where there are none."""
        if self._most_wide == 0:
            return math.inf
        level = self._n_arcs * self._most_wide / 8 / self._wide_rate
        return math.ceil(sources / self._most_wide) * (self._limit / 2 * level if self._wide is None else self._wide)

    def _narrow_seconds(self, sources: float) -> float:
        """The same of others, as long as the last one."""
        assert self._batch is not None
        seconds, had = self._batch
        return seconds * float((sources / had) ** BATCH_EXPONENT if sources < had else sources / had)

    def expected_seconds(self, cover: int, gain: float) -> float | None:
        """What covering the rest is expected to take; None before the first batch.

        The gain is taken to fall as what is left does, to 1: then c vertices at a gain of g need c / g (1 + ln g)
        sources (a random 3-regular graph takes two thirds of these, an Erdos-Renyi graph of degree 16 a sixth more)."""
        return None if self._batch is None else self._covering_seconds(cover, gain / (1 + math.log(max(1.0, gain))))

    def visits(self, cover: int, gain: float) -> bool:
        """Whether to visit the vertices of the cover themselves."""
        return cover <= FIRST_BATCH or (self._batch is not None and cover <= LARGEST_BATCH and gain < LEAST_GAIN)

    def batch_size(self, cover: int, gain: float) -> int:
        """Sources of the next batch: as many as the cover needs, at first few, then at most GROWTH
        times as many as before."""
        if self.visits(cover, gain):
            return cover
        most = FIRST_BATCH if self._batch is None else max(FIRST_BATCH, GROWTH * self._batch[1])
        return max(1, min(LARGEST_BATCH, most, math.ceil(cover / gain)))

    def pairs_at_once(self, n_open: int, room: int) -> int:
        """Worst pairs whose traversals go into one batch, at most `room`; 1: one traversal after another.

        In memory a batch shares too little. Out of core, one whose levels read every block anyway
        reads hardly more for many sources, and thin ones share a store in each window.
        """
        pairs = min(MOST_PAIRS, n_open // 4, room)
        if pairs < LEAST_PAIRS or self._stores < 1.0:
            return 1
        return pairs if self._sharing_seconds(pairs) < pairs / PAIRS_WORTH * self._one() else 1

    def together(self, k: int) -> bool:
        """Whether k traversals that settle all that is open and share their sweeps are expected to take less than those
        to come if they do not, as many as the last sweep lets expect."""
        if not self._thick or LEAST_READ * self._singles > self._stores:
            return False
        busy = (TOGETHER * self._fetch + k * self._kernel) / self._singles / self._threads
        return max(TOGETHER * self._one(), busy) < self._sweeps_left(k) * self._one()

    def _sweeps_left(self, k: int) -> float:
        """Sweeps until k vertices are settled, at the fall of the last one; LEAST_SWEEPS to k, and 2 at least."""
        least = max(2.0, min(k, LEAST_SWEEPS))
        if len(self._swept) < 2:
            return least
        fall = math.log((self._swept[-2] + 1) / (self._swept[-1] + 1))
        return max(least, float(k) if fall <= 0 else min(k, math.log(k + 1) / fall))

    @property
    def _thick(self) -> bool:
        """Whether dense levels have read most of what was read."""
        return 2 * self._dense > self._stores

    def _parts(self) -> tuple[float, float]:
        """Seconds of a single traversal: reading, and in kernels on one core."""
        kernel = self._kernel / max(1, self._singles)
        return max(0.0, self._one() - kernel / (self._threads if self._thick else 1)), kernel

    def _sharing_seconds(self, k: float) -> float:
        """Seconds of a batch of k sources, out of core, that keeps all distances."""
        reading, kernel = self._parts()
        if self._thick:
            return THICK_BATCH * reading + kernel * float(k**BATCH_EXPONENT)
        return reading * min(k, max(1.0, STORES_A_WINDOW * self._windows / self._stores)) + kernel * k / self._threads

    def _level_seconds(self, k: float) -> float:
        """Seconds of a batch of k thin traversals, out of core, level by level."""
        reading, kernel = self._parts()
        return reading * STORES_A_LEVEL * self._levels / self._stores + kernel * float(k**BATCH_EXPONENT)

    def _batch_of(self, k: float) -> float:
        """Seconds that a batch of k sources takes, before there was one."""
        if self._stores < 1.0:
            return self._one() * (k if k <= ALONE else max(ALONE, float(k**BATCH_EXPONENT)))
        return self._sharing_seconds(k) if self._thick else min(k * self._one(), self._level_seconds(k))

    def one_by_one(self, k: int) -> bool:
        """Whether so many sources are better traversed one after another than in a batch."""
        thin = self._stores >= 1.0 and not self._thick
        small = self._levels > LONG_LEVELS * self._singles and self._n_arcs <= SMALL
        alone = FEW if self._stores >= 1.0 else ALONE_SMALL if small else ALONE
        return k <= alone or (thin and k * self._one() < self._level_seconds(k))

    def pairs_are_cheap(self) -> bool:
        """Whether certifying costs little beside a batch."""
        return self._batch is None or self._certify < self._batch[0] / 4

    def covering_pays(self, verdict: Verdict, gain: float) -> bool:
        """Whether a batch comes next."""
        covering = self._covering_seconds(verdict.cover, gain)
        long = self._stores < 1.0 and self._levels > LONG_LEVELS * self._singles
        share = LONG_SHARE if long else WAITING_SHARE
        waiting = self._rounds == 0 or (self._rounds < MOST_WAITING and self._waited < share * covering)
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
        """Expected seconds until nothing is open; infinite where the last rounds brought nothing."""
        recent = self._left[-(_MEMORY + 1) :]
        if len(recent) < 2:
            return math.inf
        rounds = math.inf
        for kind in (0, 1):
            fall = math.log(recent[0][kind] + 1) - math.log(recent[-1][kind] + 1)
            if fall > 0:
                rounds = min(rounds, (len(recent) - 1) * math.log(recent[-1][kind] + 1) / fall)
        return (max(self._round, self._one()) + self._certify) * max(1.0, rounds)
