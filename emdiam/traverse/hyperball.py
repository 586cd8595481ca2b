"""HyperBall: the sizes of all balls, estimated by counters that neighbours pass on.

Definition: the ball B(v, t) has the vertices within distance t of v. Every vertex has a HyperLogLog counter of 2^p
registers of a byte, which at first counts only the vertex. At each level it becomes, register by register, the maximum
of its own and its neighbours' counters, and so counts the union of their balls. When no register changes any more,
every counter counts its component. The estimate is alpha m^2 / sum 2^-M; if that is at most 5/2 m, it is that of linear
counting, m ln(m / registers at 0). Hashes are of (key, natural rank), and estimates are summed as whole numbers:
neither the order of a store nor threads change them.
I/O: a level reads the blocks of rows next to a changed vertex, once. While few vertices have changed, it first reads
the blocks of these, to find those rows. Work: 2^p bytes for each arc from a changed vertex, in vector instructions.
Bytes a vertex: 2 * 2^p, 3 bits, and 24 for sums.
Sources: Boldi, Vigna 2013 (In-core computation of geometric centralities with HyperBall); Boldi, Rosa, Vigna 2011
(HyperANF); Flajolet, Fusy, Gandouet, Meunier 2007 (HyperLogLog), figure 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..hashing import draw
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from .atomics import atomic_or, atomic_put, atomic_replace, count_trailing_zeros, yield_core
from .core import Core
from .dense import top_down
from .distance_table import DistanceTable
from .multi import spanning_rows
from .rows import ALL, bit_walk, has_bit, in_first, row_walk

# The largest value of a register: one hash in 2^40 would exceed it.
_LARGEST = 40
# The most groups of registers that are left out one at a time.
MOST_GROUPS = 16
_FEW = 4  # rows next to changed vertices are searched while these have less than 1 / _FEW of all arcs


def hyperball_bytes(n_vertices: int, log2_registers: int) -> int:
    """Bytes of the counters."""
    return (2 * n_vertices << log2_registers) + 3 * ((n_vertices + 63) // 64) * 8 + (32 << log2_registers)


def groups_of(log2_registers: int) -> int:
    """Number of groups of a counter's registers, each of which is left out in turn."""
    return min(MOST_GROUPS, 1 << log2_registers)


def ball_table(log2_registers: int) -> DistanceTable:
    """A table for counters, whose rows are never joined."""
    rows = 1 + groups_of(log2_registers)
    return DistanceTable(rows, rows, np.float64)


@dataclass
class BallSums:
    """Sums at every vertex over the levels of its balls, float64[3, n]: number of other vertices reached, their
    distances, the inverses of these. runs : number of runs added up."""

    n_vertices: int
    runs: int = 0
    values: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.values = np.zeros((3, self.n_vertices))


@dataclass(frozen=True)
class Estimator:
    """Turns registers into a number. m registers, in `groups` groups. zeros : float64[2, m + 1], estimates of linear
    counting by the number of registers at 0, for all registers and without a group. raw : float64[2], alpha m^2 of
    both, with 2^-40 as the unit of sums."""

    registers: int
    groups: int
    zeros: np.ndarray
    raw: np.ndarray

    @staticmethod
    def of(log2_registers: int) -> Estimator:
        """The estimator for 2^log2_registers registers."""
        m, groups = 1 << log2_registers, groups_of(log2_registers)
        sizes = (m, m - m // groups)
        zeros = np.zeros((2, m + 1))
        for row, size in enumerate(sizes):
            zeros[row, 1 : size + 1] = m * np.log(size / np.arange(1, size + 1))
        # Scaled up from the share of the vertices that these registers count.
        raw = np.array([_alpha(size) * size * m * 2.0**_LARGEST for size in sizes])
        return Estimator(m, groups, zeros, raw)


def _alpha(registers: int) -> float:
    """The constant of HyperLogLog."""
    few = {16: 0.673, 32: 0.697, 64: 0.709}
    return few.get(registers, 0.7213 / (1 + 1.079 / registers))


class HyperBallRun:
    """One growth of all balls: `step` until it returns True.

    key : seeds the hashes. ranks : natural rank of every vertex, id[n], or length 0 if every vertex is its own rank.
    sums : collects sums at vertices, or None. Along arcs the ball of a vertex has the vertices that it reaches by the
    rows of the core; on the core of the reverse, the vertices that reach it. table : float64, the growth of all balls
    together at each level, estimated from all registers (row 0) and without each group.
    """

    def __init__(self, core: Core, log2_registers: int, key: int, ranks: np.ndarray,
                 sums: BallSums | None = None) -> None:
        n = core.table.n_vertices
        self._turned = core.reverse  # its rows give the vertices to which a vertex passes its counter
        self._core, self._sums, self._estimator = core, sums, Estimator.of(log2_registers)
        self._registers = np.zeros((2, n, 1 << log2_registers), np.uint8)
        self._changed, self._touched, self._fresh = (np.zeros((n + 63) // 64, np.uint64) for _ in range(3))
        self._spanning = spanning_rows(core)
        self._locks = np.zeros(len(self._spanning), np.uint64)
        self._now, self.level, self._scale = 0, 0, 2.0 ** min(20, 61 - 2 * n.bit_length())
        core.over_words(lambda turn, grain, end: begin_counters(
            turn, grain, end, self._registers, log2_registers, np.uint64(key), ranks))
        # Vertices that are in no row pass nothing on.
        np.bitwise_not(self._turned.table.isolated, out=self._changed)
        self._arcs = core.table.n_arcs
        self.table = ball_table(log2_registers)

    def step(self, tick: Tick = no_tick) -> bool:
        """Do one level; True when no counter has changed."""
        core, there = self._core, 1 - self._now
        core.over_words(lambda turn, grain, end: copy_counters(
            turn, grain, end, self._changed, self._registers, self._now))
        self._touch(tick)
        self._fresh[:] = 0
        blocks = core.blocks_with(self._touched)
        arcs = core.sweep(blocks, self._grow, tick=tick)
        core.count_sweep(len(blocks), arcs)
        settle_counters(self._spanning, self._registers, there, self._fresh)
        grown, self._arcs = self._count()
        self._now = there
        self._changed, self._fresh = self._fresh, self._changed
        if not grown.any() and not self._changed.any():
            core.counters.add(traversals=1)
            return True
        self.level += 1
        self.table.add(self.level, grown)
        return False

    def _touch(self, tick: Tick) -> None:
        """Mark the rows next to a changed vertex, or all rows if many vertices have changed."""
        core = self._core
        if self._arcs * _FEW > core.table.n_arcs:
            np.bitwise_not(core.table.isolated, out=self._touched)
            return
        self._touched[:] = 0
        blocks = self._turned.blocks_with(self._changed)
        arcs = self._turned.sweep(blocks, top_down, self._changed, self._touched, tick=tick)
        core.counters.add(passes=1, edges_scanned=arcs)

    def _grow(self, *arguments: object) -> int:
        here = np.zeros(self._registers.shape[2], np.uint8)
        return int(grow_counters(*arguments, self._registers, self._now, self._changed, self._touched, self._fresh,
                                 self._spanning, self._locks, here))

    def _count(self) -> tuple[np.ndarray, int]:
        """The growth of balls, float64[1 + groups], and the arcs of vertices whose ball has grown."""
        estimator, sums = self._estimator, self._sums
        values = np.empty((3, 0)) if sums is None else sums.values

        def part(turn: np.ndarray, grain: int, end: int) -> tuple[np.ndarray, int]:
            out = np.zeros(1 + estimator.groups, np.int64)
            parts = np.zeros((2, 2, 1 + estimator.groups), np.int64)
            arcs = count_growth(turn, grain, end, self._fresh, self._registers, self._now, estimator.zeros,
                                estimator.raw, parts, self._scale, out, values, self.level + 1, self._turned.offsets)
            return out, int(arcs)

        results = self._core.over_words(part)
        return np.sum([out for out, _ in results], axis=0) / self._scale, sum(arcs for _, arcs in results)


@inlined
def _every_vertex(state, word):
    n = state[0].shape[1]
    left = n - (word << 6)
    return ALL if left >= 64 else ALL >> np.uint64(64 - left)


@inlined
def _begin(state, v, word, bit):
    registers, log2_registers, key, ranks = state
    rank = np.uint64(ranks[v]) if len(ranks) else np.uint64(v)
    number = draw(key, rank)
    place = number & ((np.uint64(1) << np.uint64(log2_registers)) - np.uint64(1))
    rest = (number >> np.uint64(log2_registers)) | (np.uint64(1) << np.uint64(_LARGEST - 1))
    for plane in range(2):
        registers[plane, v, place] = count_trailing_zeros(rest) + 1
    return 0


_walk_begin = bit_walk(_every_vertex, _begin)


@kernel
def begin_counters(turn, grain, end, registers, log2_registers, key, ranks):
    """Set every counter to its own vertex; threads share the work. registers : uint8[2, n, m], zeros."""
    _walk_begin(turn, grain, end, (registers, log2_registers, key, ranks))


@inlined
def _copy(state, v, word, bit):
    _, registers, now = state
    for j in range(registers.shape[2]):
        registers[1 - now, v, j] = registers[now, v, j]
    return 0


_walk_copy = bit_walk(in_first, _copy)


@kernel
def copy_counters(turn, grain, end, changed, registers, now):
    """Copy the counters of changed vertices to the other plane; threads share the work."""
    _walk_copy(turn, grain, end, (changed, registers, now))


@inlined
def _raise_to(counter, other):
    """counter = max(counter, other), register by register."""
    for j in range(len(counter)):
        one, two = counter[j], other[j]
        counter[j] = two if two > one else one


@inlined
def _differ(one, two):
    """Whether two counters differ."""
    mixed = np.uint8(0)
    for j in range(len(one)):
        mixed |= one[j] ^ two[j]
    return mixed != 0


@inlined
def _select_touched(state, word):
    return state[3][word]


@inlined
def _grow_row(state, ids, v, begin, end, whole):
    registers, now, changed, _, _, spanning, locks, here = state
    for j in range(0 if whole else len(here)):
        here[j] = 0
    target = registers[1 - now, v] if whole else here
    some = False
    for p in range(begin, end):
        u = np.int64(ids[p])
        if has_bit(changed, u):
            some = True
            _raise_to(target, registers[now, u])
    if not some:
        return end - begin, False
    if whole:
        return end - begin, _differ(target, registers[now, v])
    # Several threads may work on pieces of this row.
    place = np.searchsorted(spanning, v)
    while atomic_replace(locks, place, np.uint64(0), np.uint64(1)) != 0:
        yield_core()
    _raise_to(registers[1 - now, v], here)
    atomic_put(locks, place, np.uint64(0))
    return end - begin, False


@inlined
def _mark_fresh(state, word, hits):
    atomic_or(state[4], word, hits)


_walk_grow = row_walk(_select_touched, _grow_row, _mark_fresh)


@kernel
def grow_counters(piece, layout, registers, now, changed, touched, fresh, spanning, locks, here):
    """Touched vertices take the maximum with the counters of changed neighbours, and are marked fresh if they change,
    except those whose rows span blocks (spanning, int64[k], each with a lock). here : uint8[m] of this thread. Returns
    arcs scanned."""
    return _walk_grow(piece, layout, (registers, now, changed, touched, fresh, spanning, locks, here))


@kernel
def settle_counters(spanning, registers, there, fresh):
    """Mark the vertices whose rows span blocks as fresh, if their counters have changed."""
    for i in range(len(spanning)):
        v = spanning[i]
        if _differ(registers[0, v], registers[1, v]):
            fresh[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@inlined
def _add_up(counter, parts):
    """parts : int64[2, 1 + groups], sums of 2^(40 - M), and numbers of registers at 0; of all, then of each group."""
    groups = parts.shape[1] - 1
    size = len(counter) // groups
    parts[0, 0] = parts[1, 0] = 0
    for g in range(groups):
        total = np.int64(0)
        zeros = np.int64(0)
        for j in range(g * size, (g + 1) * size):
            total += np.int64(1) << (np.int64(_LARGEST) - np.int64(counter[j]))
            zeros += np.int64(counter[j] == 0)
        parts[0, g + 1] = total
        parts[1, g + 1] = zeros
        parts[0, 0] += total
        parts[1, 0] += zeros


@inlined
def _estimate(raw, zeros, total, empty, row, registers):
    """The number estimated from registers. row : 0 for all registers, 1 without a group."""
    number = raw[row] / np.float64(total)
    # The threshold is for the registers in use; numbers are of all vertices in a ball.
    if empty > 0 and number <= 2.5 * registers:
        number = zeros[row, empty]
    return number


@inlined
def _growth(parts, g, raw, zeros, registers):
    """The growth of a ball, estimated without group g, or with g = 0 from all registers."""
    row = 0 if g == 0 else 1
    after_total = parts[1, 0, 0] - (parts[1, 0, g] if g else 0)
    after_empty = parts[1, 1, 0] - (parts[1, 1, g] if g else 0)
    before_total = parts[0, 0, 0] - (parts[0, 0, g] if g else 0)
    before_empty = parts[0, 1, 0] - (parts[0, 1, g] if g else 0)
    return (_estimate(raw, zeros, after_total, after_empty, row, registers)
            - _estimate(raw, zeros, before_total, before_empty, row, registers))


@inlined
def _count_growth(state, v, word, bit):
    _, registers, now, zeros, raw, parts, scale, out, sums, level, offsets = state
    _add_up(registers[now, v], parts[0])
    _add_up(registers[1 - now, v], parts[1])
    m = registers.shape[2]
    for g in range(parts.shape[2]):
        grown = _growth(parts, g, raw, zeros, m)
        out[g] += np.int64(round(grown * scale))
        if g == 0 and sums.shape[1]:
            sums[0, v] += grown
            sums[1, v] += grown * level
            sums[2, v] += grown / level
    return row_length(offsets, v)


_walk_growth = bit_walk(in_first, _count_growth)


@kernel
def count_growth(turn, grain, end, fresh, registers, now, zeros, raw, parts, scale, out, sums, level, offsets):
    """Add the growth of the balls of fresh vertices, times `scale`, to out (int64[1 + groups], of this thread), and to
    sums (float64[3, n], or length 0). Threads share the work. parts : int64[2, 2, 1 + groups], of this thread. Returns
    arcs of their rows."""
    return _walk_growth(turn, grain, end, (fresh, registers, now, zeros, raw, parts, scale, out, sums, level,
                                           offsets))[1]


def relative_error(log2_registers: int) -> float:
    """The standard deviation of one estimate divided by the true number, for large numbers."""
    return 1.04 / math.sqrt(1 << log2_registers)
