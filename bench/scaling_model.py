"""A cost model of BFS over W workers: what each level reads, sends and takes, for graphs larger than any here.

A graph is given by its shape: vertices and arcs of each level of a measured BFS, how many arcs cross the borders of W
ranges, how even the ranges are. Shapes are enlarged by their shares; the levels of road maps grow in number
instead, as a power of the size (`stretch`). The direction of a level is chosen by the engine's own rule. What a
second buys is in Costs, measured (scaling_fit.py). Memory follows emdiam.dask.plan, with its own formula of the state.

Sources: Buluc and Madduri, Parallel breadth-first search on distributed memory systems (2011), for what a level costs
under 1D partitioning; emdiam/dask/search.py and frontier_codec.py, for rounds, messages and bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from emdiam.dask.plan import queue_entries, range_state_bytes
from emdiam.store.layout import CHUNK_IDS, id_dtype
from emdiam.traverse.workspace import queue_capacity

TOP_DOWN_COST = 2
DENSE_ARCS = 1 << 15
# Passes over a bitmap of all vertices: of a dense level (taking in what others sent, remembering it, clearing), of a
# sparse one whose queue overflows, and of the start.
DENSE_PASSES, OVERFLOW_PASSES, START_PASSES = 9, 10, 2
ROUNDS = 2
# Bytes a vertex of the widest phase of pivots at worst (docs/memory.md), of which a worker plans its share.
COLUMN_BYTES = 20.2
BLOCK_ENTRY = 24
PARTS = ("arcs", "vertices", "bitmaps", "network", "latency", "scheduler", "disk")


@dataclass(frozen=True)
class Shape:
    """levels : (vertices, arcs of their rows) of each level. crossing, borders, balance : by number of ranges:
    share of the arcs whose ends lie in different ranges; pairs of a range and a neighbour outside of it, a vertex
    of the graph; arcs of the fullest range on each level, summed, over their mean. hub_share : arcs of the largest
    row, of all. bytes_per_arc : on disk. stretch : levels grow as size ** stretch, and borders shrink so. bias :
    arcs scanned on dense levels, over what the rule expects. rounds, again : by number of workers, rounds a level,
    and arcs scanned on sparse levels over arcs of their rows, both as measured; thin searches make few rounds and
    scan arcs again. dense : whether any level went bottom-up."""

    name: str
    n_vertices: int
    n_arcs: int
    levels: tuple[tuple[float, float], ...]
    crossing: Mapping[int, float]
    borders: Mapping[int, float]
    balance: Mapping[int, float]
    hub_share: float
    bytes_per_arc: float
    stretch: float = 0.0
    bias: float = 1.0
    rounds: Mapping[int, float] = field(default_factory=lambda: {1: ROUNDS})
    again: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    dense: bool = True


@dataclass(frozen=True)
class Costs:
    """Seconds. step : of the client for one verb on every worker; task : more for each worker; round : of Python for a
    level or part of one; swap, message : of handing over in it, and more for each message of one worker; byte : a
    payload byte that a worker sends (and another receives); sparse_arc, dense_arc : a thread and an arc; vertex : to
    settle one; bitmap_byte : to pass over a byte; decode_arc : to read and decode an arc that is in the page cache.
    base_bytes : of a worker's process, kernels loaded. fact_bytes : numbers in a message."""

    step: float
    task: float
    round: float
    swap: float
    message: float
    byte: float
    sparse_arc: float
    dense_arc: float
    vertex: float
    bitmap_byte: float
    decode_arc: float
    base_bytes: int
    fact_bytes: float = 0.0


@dataclass(frozen=True)
class Machines:
    """workers : how many, one a machine. threads, memory_bytes : of each. network, disk : bytes a second of each.
    latency : seconds of a message on the way."""

    workers: int
    threads: int
    memory_bytes: int
    network: float
    disk: float
    latency: float = 5e-5


@dataclass(frozen=True)
class Level:
    """vertices, arcs : of the frontier. found : vertices of the next. unvisited_arcs : of rows not visited yet.
    dense : goes bottom-up. times : how many such levels there are. expected : arcs that the rule expects."""

    vertices: float
    arcs: float
    found: float
    unvisited_arcs: float
    expected: float
    dense: bool
    times: float


@dataclass
class Forecast:
    """Of one BFS. seconds : by PARTS. payload_bytes : from worker to worker, in all; fact_bytes : numbers beside it.
    read_bytes : of one worker, from disk. levels, dense_levels, rounds, steps (verbs asked of all) : counts.
    found_sparse : vertices discovered on sparse levels."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    payload_bytes: float = 0.0
    fact_bytes: float = 0.0
    read_bytes: float = 0.0
    levels: float = 0.0
    dense_levels: float = 0.0
    rounds: float = 0.0
    steps: float = 0.0
    scanned: float = 0.0
    found_sparse: float = 0.0

    @property
    def total_seconds(self) -> float:
        """All parts together."""
        return sum(self.seconds.values())

    @property
    def bottleneck(self) -> str:
        """The part that takes longest."""
        return max(PARTS, key=lambda part: self.seconds[part])


def enlarged(shape: Shape, n_arcs: float) -> tuple[float, list[tuple[float, float]], float]:
    """(vertices, levels, times each of them is repeated) of the shape with so many arcs."""
    factor = n_arcs / shape.n_arcs
    times = max(1.0, factor**shape.stretch)
    return shape.n_vertices * factor, [(v * factor / times, a * factor / times) for v, a in shape.levels], times


def with_levels(shape: Shape, rows: Iterable[Sequence[float]]) -> Shape:
    """The shape with other levels: (vertices, arcs) of each."""
    return replace(shape, levels=tuple((float(vertices), float(arcs)) for vertices, arcs in rows))


def directed(shape: Shape, n_arcs: float, dense_arcs: float | None = None) -> list[Level]:
    """The levels with their directions, by the rule of traverse/direction.py and dask/search.py."""
    n, fronts, times = enlarged(shape, n_arcs)
    reachable = times * sum(vertices for vertices, _ in fronts)
    least = DENSE_ARCS + n / 64 if dense_arcs is None else dense_arcs
    levels: list[Level] = []
    reached = visited = 0.0
    dense = False
    for i, (vertices, arcs) in enumerate(fronts):
        reached, visited = reached + times * vertices, visited + times * arcs
        hidden = max(0.0, n_arcs - visited)
        expected = shape.bias * max(1.0, (reachable - reached) * n_arcs / max(1.0, arcs))
        up = min(hidden, expected) < TOP_DOWN_COST * arcs
        enough = shape.dense and i > 0 and arcs > (least / 2 if dense else least)
        dense = enough and (up or vertices > queue_capacity(int(n)))
        found = fronts[i + 1][0] if i + 1 < len(fronts) else 0.0
        levels.append(Level(vertices, arcs, found, hidden, min(hidden, expected), dense, times))
    return levels


def id_bytes(gap: float) -> float:
    """Mean bytes of a delta between ids of a random set, one in `gap` of the range (frontier_codec.py)."""
    return 1.0 + sum(math.exp(-(2.0 ** (7 * more)) / max(1.0, gap)) for more in range(1, 5))


def set_bytes(ids: float, spread: float) -> float:
    """Bytes of a message with so many random ids of a range of `spread` vertices: bitmap or deltas."""
    return 0.0 if ids <= 0 or spread <= 0 else min(spread / 8, ids * id_bytes(spread / (ids + 1)))


def between(table: Mapping[int, float], workers: int) -> float:
    """The value for so many workers, between those measured by the logarithm of workers (beyond: the last)."""
    if workers in table:
        return table[workers]
    known = sorted(table)
    if workers <= known[0] or workers >= known[-1]:
        return table[known[0]] if workers <= known[0] else table[known[-1]]
    low, high = max(w for w in known if w < workers), min(w for w in known if w > workers)
    part = math.log(workers / low) / math.log(high / low)
    return (1 - part) * table[low] + part * table[high]


def rounds_of(shape: Shape, workers: int) -> float:
    """Rounds a level over so many workers: as measured, and beyond that by the power law of the last two, but no more
    than level by level."""
    known = sorted(shape.rounds)
    most = max(ROUNDS, *shape.rounds.values())
    if workers <= known[-1] or len(known) < 2:
        return between(shape.rounds, workers)
    low, high = shape.rounds[known[-2]], shape.rounds[known[-1]]
    slope = max(0.0, math.log(high / low) / math.log(known[-1] / known[-2]))
    return float(min(most, high * (workers / known[-1]) ** slope))


def traffic(shape: Shape, levels: Sequence[Level], n: float, workers: int) -> Iterator[float]:
    """Payload bytes of each level (of one of its repetitions), from all workers together.

    Dense: the frontier of every range to all others. Sparse: neighbours outside of the range, each told at most once
    by a range and left out where a dense level has told it: of `left` pairs, x crossing arcs meet
    left * (1 - exp(-x / left)) new ones."""
    if workers == 1:
        yield from (0.0 for _ in levels)
        return
    shrink = levels[0].times
    pairs, spread = workers * (workers - 1), n / workers
    left = between(shape.borders, workers) * n / shrink
    crossing = between(shape.crossing, workers) / shrink
    for level in levels:
        if level.dense:
            yield pairs * set_bytes(level.vertices / workers, spread)
            left *= max(0.0, 1 - level.vertices * level.times / n)
        else:
            hits = crossing * level.arcs * level.times
            new = left * -math.expm1(-hits / left) if left > 0 else 0.0
            left -= new
            yield pairs * set_bytes(new / pairs / level.times, spread)


def forecast_bfs(shape: Shape, n_arcs: float, machines: Machines, costs: Costs) -> Forecast:
    """One BFS of the shape with so many arcs."""
    n = enlarged(shape, n_arcs)[0]
    levels = directed(shape, n_arcs)
    memory = worker_memory(shape, n_arcs, machines, costs.base_bytes)
    found = Forecast(steps=1)
    for level, payload in zip(levels, traffic(shape, levels, n, machines.workers), strict=True):
        parts = _level_seconds(shape, level, (payload, n), machines, costs)
        read = _read_bytes(shape, level, n_arcs, machines, memory)
        decoded = read / max(shape.bytes_per_arc, 1e-9) * costs.decode_arc / machines.threads
        parts["disk"] = max(read / machines.disk, decoded)
        for part, seconds in parts.items():
            found.seconds[part] += level.times * seconds
        _count(found, level, (payload, read), rounds_of(shape, machines.workers))
    found.seconds["bitmaps"] += START_PASSES * n / 8 * costs.bitmap_byte
    found.fact_bytes = found.rounds * machines.workers * (machines.workers - 1) * costs.fact_bytes
    found.seconds["scheduler"] = found.steps * (costs.step + costs.task * machines.workers)
    return found


def _level_seconds(
    shape: Shape, level: Level, size: tuple[float, float], machines: Machines, costs: Costs
) -> dict[str, float]:
    """Seconds of one level by part, without disk and scheduler. size : (payload bytes, vertices of the graph)."""
    workers, (payload, n) = machines.workers, size
    balance = between(shape.balance, workers)
    if level.dense:
        arcs, passes = level.expected * costs.dense_arc / machines.threads, DENSE_PASSES
    else:
        arcs = level.arcs * between(shape.again, workers) * costs.sparse_arc * cache_misses(n / workers)
        passes = OVERFLOW_PASSES if level.found > workers * queue_entries(int(n), int(n / workers)) else 0
    each = payload / workers
    swap = costs.swap + machines.latency + (workers - 1) * costs.message if workers > 1 else 0.0
    return {"arcs": balance * arcs / workers, "vertices": balance * level.found * costs.vertex / workers,
            "bitmaps": passes * n / 8 * costs.bitmap_byte,
            "network": max(each * costs.byte, each / machines.network),
            "latency": rounds_of(shape, workers) * (costs.round + swap)}


def cache_misses(vertices: float) -> float:
    """How many times longer an arc of a sparse level takes than in the graphs of the fit, where the state of a worker
    is of so many vertices: measured 13 ns up to 2^20 and 39 ns at 2^26, where nearly each look-up misses the caches."""
    return 1 + 2 * min(1.0, max(0.0, math.log2(max(1.0, vertices)) - 20) / 6)


def _count(found: Forecast, level: Level, moved: tuple[float, float], rounds: float) -> None:
    """Add one level to the counts. moved : (payload, bytes read). rounds : of the level."""
    payload, read = moved
    found.levels += level.times
    found.dense_levels += level.times * level.dense
    found.rounds += level.times * rounds
    found.payload_bytes += level.times * payload
    found.read_bytes += level.times * read
    found.scanned += level.times * (level.expected if level.dense else level.arcs)
    found.found_sparse += 0 if level.dense else level.times * level.found


def _read_bytes(shape: Shape, level: Level, n_arcs: float, machines: Machines, memory: Mapping[str, float]) -> float:
    """Bytes that a worker reads for a level: blocks with a row to look at that its arena does not hold. Rows are taken
    to be of mean length and spread at random, which is the most they can ask for."""
    missing = max(0.0, 1 - memory["arena"] / memory["blocks"])
    blocks = max(1.0, n_arcs / machines.workers / CHUNK_IDS)
    looked_at = level.unvisited_arcs if level.dense else level.arcs
    rows = looked_at / machines.workers * shape.n_vertices / shape.n_arcs
    return missing * blocks * -math.expm1(-rows / blocks) * CHUNK_IDS * shape.bytes_per_arc


def worker_memory(shape: Shape, n_arcs: float, machines: Machines, base_bytes: int) -> dict[str, float]:
    """Bytes of a worker by what takes them: base; whole (bitmaps of all vertices of the graph); range
    (its offsets, bitmaps and queues); columns (of pivots, at worst); tables; blocks (all of its range); arena (what is
    left for them); need (all but the arena)."""
    n = enlarged(shape, n_arcs)[0]
    workers, width = machines.workers, id_dtype(int(n)).itemsize
    own = n / workers
    state = range_state_bytes(int(n), int(own), int(own), int(n_arcs / workers), width)
    found = {"base": float(base_bytes), "whole": n / 2, "range": state - n / 4,
             "columns": COLUMN_BYTES * own, "tables": BLOCK_ENTRY * n_arcs / CHUNK_IDS}
    need = sum(found.values())
    blocks = n_arcs * width / workers
    return {**found, "need": need, "blocks": blocks,
            "arena": max(0.0, min(blocks, machines.memory_bytes - need))}
