"""The minimum spanning forest under random weights, out of core: filtered Kruskal in scans.

Definition: edges have random weights (see below), a hash of (key, natural ranks of the ends). So the
forest is unique: the same for any number of threads, any budget and any order of the store.
A scan reads the blocks once and keeps the lightest edges between different trees, up to the size of the
buffer. They are sorted and joined in RAM; heavier edges wait for the next scan. The last scan is the first
one that leaves no edge out. As soon as a tree has more than a quarter of a sample, only rows outside it are
processed, and only their blocks are read.
For the forest only the degree and the XOR of the neighbours of every vertex are stored. Leaves
peel off in RAM without further I/O (rooted.py), which gives parents, rooted at the vertex of smallest
rank of every tree.
I/O: one pass a scan (docs/algorithms/spanning.md). Bytes a vertex with uint32 ids: union-find and XOR 8,
degrees 1, and the buffer, 2 to 8; 4 of them remain.
Sources: Ajwani, Beckmann, Meyer, Veith (2012), section 2, spanning tree heuristics (weights independent
and uniform in (0, 1]); Kruskal (1956); Osipov, Sanders, Singler, The filter-Kruskal minimum spanning tree algorithm
(ALENEX 2009).

The weight of an edge is a hash of the natural ranks of its ends: weight (hash + 1) / 2^64 in (0, 1],
ties by the ranks. Below 2^32 vertices the hash is a bijection of the pair, so that there are no ties.

A scan collects edges between different trees whose hash is in [floor, limit]; all lighter edges
are inside trees by then. When the buffer is full, the limit falls by steps of an eighth of its distance
from the floor until there is room again. Whatever the order of the edges, it ends at the largest
step below which they all fit: a step is taken only if the edges seen so far do not fit.
Kruskal on the buffer: edges go to buckets by weight (in place). A bucket is sorted when its turn
comes, and only edges that then still join two trees are sorted.
Bytes: two ids an edge of the buffer; 16 for 1,024 edges beside it. The hash is that of hashing.py.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EmdiamError
from ..hashing import draw
from ..jit import kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_span, row_start
from ..traverse.atomics import atomic_add
from ..traverse.components import _find
from ..traverse.core import Core
from .rooted import ForestDegrees, count_neighbour, hang_from, peel_forest

LEAST_EDGES = 16
_TOP = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
_STEP, _FINEST_STEP = 3, 9  # a step takes 2^-3 of the span, after a scan without result 2^-6, then 2^-9
_BUCKET_BITS = 10
_SLICE_BUCKETS = 1 << 11
_FILL = 0.9  # share of the buffer that the first limit is expected to fill
# Entries of `limits`, uint64[4], in the form that kernels take.
_FLOOR, _LIMIT, _STREAM, _GIANT = 0, 1, 2, 3
NO_GIANT = _TOP


class LightEdges:
    """A buffer for at most `capacity` edges (at least LEAST_EDGES).

    stream : random stream, uint64 (see stream_of). ranks : natural rank of every vertex, id[n], or
    length 0 if every vertex is its own rank. `begin` a scan, `push` from any thread, then `join`.

    limits : uint64[4] for collect(): smallest and largest hash wanted, stream, root of the giant tree.
    """

    def __init__(self, capacity: int, stream: np.uint64, ranks: np.ndarray, dtype: np.dtype[Any]) -> None:
        self._pairs, self._count = np.empty((max(LEAST_EDGES, capacity), 2), dtype), 0
        self.ranks, self._lock, self._step = ranks, threading.Lock(), _STEP
        self.limits = np.array([0, _TOP, stream, NO_GIANT], np.uint64)

    def begin(self, expected: int = 0, giant: np.uint64 = NO_GIANT) -> None:
        """Begin a scan that is expected to meet `expected` edges between trees (0: unknown). giant :
        root of the tree whose rows are skipped."""
        limits = self.limits
        limits[_GIANT] = giant
        room, floor = len(self._pairs), int(limits[_FLOOR])
        span = int(_TOP) - floor
        limits[_LIMIT] = floor + (span * int(_FILL * room) // expected if expected > room else span)

    def push(self, found: np.ndarray) -> None:
        """Add the edges of `found` (id[k, 2], overwritten) that are light enough. Raises EmdiamError if too many
        weights are equal."""
        with self._lock:
            count = int(keep_lighter(found, len(found), self.ranks, self.limits))
            while self._count + count > len(self._pairs):
                self._lower()
                count = int(keep_lighter(found, count, self.ranks, self.limits))
                self._count = int(keep_lighter(self._pairs, self._count, self.ranks, self.limits))
            self._pairs[self._count : self._count + count] = found[:count]
            self._count += count

    def _lower(self) -> None:
        floor, limit = int(self.limits[_FLOOR]), int(self.limits[_LIMIT])
        if limit == floor:
            raise EmdiamError("too many edges have one random weight: this is a fault of emdiam: please "
                              "report it with the store")
        self.limits[_LIMIT] = limit - max(1, (limit - floor) >> self._step)

    def join(
        self, roots: np.ndarray, degrees: ForestDegrees, near: np.ndarray, tick: Tick = no_tick
    ) -> tuple[int, bool]:
        """Kruskal on the buffer, which is empty afterwards. Returns (edges joined, whether the scan left no edge out).

        roots : id[n], union-find whose roots are of smallest rank. degrees, and near, id[n] : number and XOR of the
        neighbours in the forest. Raises EmdiamError as push."""
        complete = self.limits[_LIMIT] == _TOP
        starts = np.zeros(max(1, self._count >> _BUCKET_BITS) + 1, np.int64)
        distribute(self._pairs, self._count, self.ranks, self.limits, starts)
        joined = 0
        for first in range(0, len(starts) - 1, _SLICE_BUCKETS):
            part = starts[first : first + _SLICE_BUCKETS + 1]
            joined += int(join_buckets(self._pairs, part, self.ranks, self.limits, roots, *degrees.counts, near))
            tick()
        if self._count == 0 and not complete:
            self._finer()
        elif not complete:
            self.limits[_FLOOR] = int(self.limits[_LIMIT]) + 1
        self._count = 0
        return joined, bool(complete)

    def _finer(self) -> None:
        """Take finer steps after a scan without result: one step of the limit led from too many edges to none."""
        if self._step >= _FINEST_STEP:
            raise EmdiamError("no limit separates the random weights: this is a fault of emdiam: please "
                              "report it with the store")
        self._step += _STEP


def stream_of(key: int) -> np.uint64:
    """The random stream of edges for a key below 2^64, different from that of vertices."""
    return np.uint64(draw(np.uint64(key), _TOP))


@kernel
def edge_hash(stream, first, second):
    """uint64 of an edge between the ranks first < second (uint64)."""
    high = ((first >> HALF) << HALF) | (second >> HALF)
    return draw(draw(stream, high), (first << HALF) | (second & LOW))


@kernel
def _pair_hash(stream, ranks, u, v):
    a = np.uint64(ranks[u]) if len(ranks) else np.uint64(u)
    b = np.uint64(ranks[v]) if len(ranks) else np.uint64(v)
    return edge_hash(stream, min(a, b), max(a, b))


@kernel
def _before(ranks, u, v, x, y):
    """Whether {u, v} comes before {x, y} if their hashes are equal."""
    a, b = np.uint64(u), np.uint64(v)
    c, d = np.uint64(x), np.uint64(y)
    if len(ranks):
        a, b = np.uint64(ranks[u]), np.uint64(ranks[v])
        c, d = np.uint64(ranks[x]), np.uint64(ranks[y])
    if min(a, b) != min(c, d):
        return min(a, b) < min(c, d)
    return max(a, b) < max(c, d)


@kernel
def collect(chunks, position, turn, ids, shift, first_vertex, group, row, hub, roots, ranks, limits, found,
            state):
    """Edges between different trees with a hash within the limits, each once, to found (id[k, 2]).

    A block kernel that can be resumed: it is called until it returns False, and `found` is emptied in between.
    roots : the root of every vertex itself. Rows of the giant tree are skipped: an edge with one
    end in it is met at the other end, any other edge at its smaller end. state : int64[5] = current block
    (-1: none), vertex, next arc, edges found, arcs scanned (added to).
    """
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    giant = limits[_GIANT]
    stream = limits[_STREAM]
    floor = limits[_FLOOR]
    count = 0
    while True:
        if state[0] < 0:
            k = atomic_add(turn, 0, 1)
            if k >= len(chunks):
                state[3] = count
                return False
            state[0] = k
            state[1] = first_vertex[chunks[k]]
            state[2] = chunks[k] << shift
        k = state[0]
        low = chunks[k] << shift
        high = min(low + (1 << shift), n_arcs)
        base = position[k] - low
        limit = limits[_LIMIT]
        at = state[2]
        for v in range(state[1], min(first_vertex[chunks[k] + 1], n_vertices - 1) + 1):
            mine = np.uint64(roots[v])
            if mine == giant:
                continue
            start, end = row_span(group, row, hub, v)
            start, end = max(start, at), min(end, high)
            state[4] += max(end - start, 0)
            for p in range(start, end):
                w = np.int64(ids[base + p])
                if w < v and giant == _TOP:
                    continue
                weight = _pair_hash(stream, ranks, v, w)
                if weight < floor or weight > limit:
                    continue
                other = np.uint64(roots[w])
                if other == mine or (w < v and other != giant):
                    continue
                if count == len(found):
                    state[1] = v
                    state[2] = p
                    state[3] = count
                    state[4] -= end - p
                    return True
                found[count, 0] = v
                found[count, 1] = w
                count += 1
        state[0] = -1


@kernel
def keep_lighter(pairs, count, ranks, limits):
    """Move those of pairs[:count] with a hash of at most the limit to the front; returns their number."""
    kept = 0
    for i in range(count):
        if _pair_hash(limits[_STREAM], ranks, np.int64(pairs[i, 0]), np.int64(pairs[i, 1])) <= limits[_LIMIT]:
            pairs[kept, 0] = pairs[i, 0]
            pairs[kept, 1] = pairs[i, 1]
            kept += 1
    return kept


@kernel
def _bucket(pairs, i, ranks, limits, n_buckets):
    """Bucket of pairs[i]: a monotone function of its hash, even over [floor, limit]."""
    weight = _pair_hash(limits[_STREAM], ranks, np.int64(pairs[i, 0]), np.int64(pairs[i, 1]))
    share = np.float64(weight - limits[_FLOOR]) / (np.float64(limits[_LIMIT] - limits[_FLOOR]) + 1.0)
    return min(np.int64(share * n_buckets), n_buckets - 1)


@kernel
def distribute(pairs, count, ranks, limits, starts):
    """Order pairs[:count] by bucket, in place; bucket b is pairs[starts[b]:starts[b + 1]].

    starts : int64[buckets + 1], zero."""
    n_buckets = len(starts) - 1
    for i in range(count):
        starts[_bucket(pairs, i, ranks, limits, n_buckets) + 1] += 1
    for b in range(n_buckets):
        starts[b + 1] += starts[b]
    head = starts[:n_buckets].copy()
    for b in range(n_buckets):
        while head[b] < starts[b + 1]:
            i = head[b]
            to = _bucket(pairs, i, ranks, limits, n_buckets)
            j = head[to]
            head[to] += 1
            u = pairs[i, 0]
            v = pairs[i, 1]
            pairs[i, 0] = pairs[j, 0]
            pairs[i, 1] = pairs[j, 1]
            pairs[j, 0] = u
            pairs[j, 1] = v


@kernel
def join_buckets(pairs, starts, ranks, limits, roots, low, rounds, n_rounds, near):
    """Join the ends of the edges in these buckets, the lightest first; returns the number that joined two trees.

    low, rounds, n_rounds : see rooted.ForestDegrees."""
    largest = np.int64(0)
    for b in range(len(starts) - 1):
        largest = max(largest, starts[b + 1] - starts[b])
    weight = np.empty(largest, np.uint64)
    place = np.empty(largest, np.int64)
    joined = 0
    for b in range(len(starts) - 1):
        count = 0
        for i in range(starts[b], starts[b + 1]):
            u = np.int64(pairs[i, 0])
            v = np.int64(pairs[i, 1])
            if _find(roots, u) != _find(roots, v):
                weight[count] = _pair_hash(limits[_STREAM], ranks, u, v)
                place[count] = i
                count += 1
        order = np.argsort(weight[:count])
        _settle_ties(order, weight, place, pairs, ranks)
        for j in order:
            u = np.int64(pairs[place[j], 0])
            v = np.int64(pairs[place[j], 1])
            a = _find(roots, u)
            b_root = _find(roots, v)
            if a != b_root:
                first = ranks[a] < ranks[b_root] if len(ranks) else a < b_root
                roots[b_root if first else a] = a if first else b_root
                count_neighbour(low, rounds, n_rounds, u)
                count_neighbour(low, rounds, n_rounds, v)
                near[u] ^= pairs[place[j], 1]
                near[v] ^= pairs[place[j], 0]
                joined += 1
    return joined


@kernel
def _settle_ties(order, weight, place, pairs, ranks):
    """Put runs of equal hashes in the order of their ranks (insertion sort: such runs are short)."""
    for j in range(1, len(order)):
        one = order[j]
        i = j - 1
        while i >= 0 and weight[order[i]] == weight[one]:
            x = place[order[i]]
            y = place[one]
            if not _before(ranks, np.int64(pairs[y, 0]), np.int64(pairs[y, 1]), np.int64(pairs[x, 0]),
                           np.int64(pairs[x, 1])):
                break
            order[i + 1] = order[i]
            i -= 1
        order[i + 1] = one


# The least number of edges of the buffer, as a share of the vertices; then the edges that a thread finds between two
# calls of push.
_LEAST_SHARE = 4
_FOUND = 1 << 13
_SAMPLE = 1 << 10
_MIB = 1 << 20


@dataclass
class SpanningForest:
    """A rooted spanning forest.

    n_trees : trees with an edge. scans : passes over blocks. bytes_read : in them. raw : parents,
    id[n], for kernels of the engine; a root and an isolated vertex is its own parent.
    """

    raw: np.ndarray
    n_trees: int
    scans: int
    bytes_read: int

    def hang_from(self, vertices: np.ndarray) -> None:
        """Make each of `vertices` (integers [k]) the root of its tree: the path from it to the root is reversed."""
        hang_from(self.raw, vertices)

    def release(self) -> None:
        """Free the parents, but not the counts."""
        self.raw = np.empty(0, self.raw.dtype)


def spanning_bytes(n_vertices: int, id_bytes: int) -> int:
    """Bytes of vertex state of spanning_forest with its smallest buffer, beside the memory of a core."""
    degrees = n_vertices + n_vertices * id_bytes // 128
    return n_vertices * 2 * id_bytes + degrees + buffer_sizes(n_vertices, id_bytes)[0] + 2 * _MIB


def buffer_sizes(n_vertices: int, id_bytes: int) -> tuple[int, int]:
    """(least bytes of the buffer, bytes beyond which more memory saves no scans: room for an edge a vertex)."""
    return n_vertices // _LEAST_SHARE * 2 * id_bytes, n_vertices * 2 * id_bytes


def spanning_forest(
    core: Core, key: int, ranks: np.ndarray, buffer_bytes: int | None = None, tick: Tick = no_tick
) -> SpanningForest:
    """The minimum spanning forest under the random weights of `key` (below 2^64).

    ranks : natural rank of every vertex, id[n], or length 0 if every vertex is its own rank. buffer_bytes : for
    buffered edges (default: the least of buffer_sizes; at least 16 edges); it changes only the number of scans.
    """
    n, dtype = core.table.n_vertices, core.work.queues.dtype
    read = core.counters.snapshot().bytes_read
    room = buffer_sizes(n, dtype.itemsize)[0] if buffer_bytes is None else buffer_bytes
    edges = LightEdges(room // (2 * dtype.itemsize), stream_of(key), ranks, dtype)
    roots, degrees, near = np.arange(n, dtype=dtype), ForestDegrees(n, dtype), np.zeros(n, dtype)
    n_trees, scans, complete = n - core.n_isolated, 0, core.table.n_arcs == 0
    while not complete and n_trees > 1:
        giant = _giant(roots) if scans else NO_GIANT
        edges.begin(0 if scans else core.table.n_arcs // 2, giant)
        _scan(core, edges, roots, giant, tick)
        begin = time.thread_time()
        joined, complete = edges.join(roots, degrees, near, tick)
        flatten_roots(roots)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        n_trees -= joined
        scans += 1
    del edges
    parents = peel_forest(roots, degrees, near, tick)
    return SpanningForest(parents, n_trees, scans, core.counters.snapshot().bytes_read - read)


def _scan(core: Core, edges: LightEdges, roots: np.ndarray, giant: np.uint64, tick: Tick) -> None:
    """Do one pass over the blocks with a row outside the giant tree."""
    table = core.table
    begin = time.thread_time()
    outside_tree(roots, giant, table.isolated, core.work.frontier)
    blocks = core.blocks_with(core.work.frontier)
    core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        found = np.empty((_FOUND, 2), roots.dtype)
        state = np.array([-1, 0, 0, 0, 0], np.int64)
        more = True
        while more:
            more = collect(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, roots,
                           edges.ranks, edges.limits, found, state)
            edges.push(found[: state[3]])
        return int(state[4])

    arcs = core.pager.sweep(blocks, run, tick)
    core.counters.add(passes=1, edges_scanned=arcs)
    tick()


def _giant(roots: np.ndarray) -> np.uint64:
    """Root of the tree with the most vertices of an even sample, if that is at least a quarter of it."""
    sample = roots[:: -(-len(roots) // _SAMPLE)]
    found, count = np.unique(sample, return_counts=True)
    most = int(count.argmax())
    return np.uint64(found[most]) if 4 * count[most] >= len(sample) else NO_GIANT


@kernel
def flatten_roots(roots):
    """roots[v] = the root of v itself."""
    for v in range(len(roots)):
        roots[v] = _find(roots, v)


@kernel
def outside_tree(roots, giant, isolated, bitmap):
    """bitmap = the vertices with an edge whose root is not `giant`."""
    for word in range(len(bitmap)):
        bits = np.uint64(0)
        for v in range(word << 6, min((word + 1) << 6, len(roots))):
            if np.uint64(roots[v]) != giant:
                bits |= np.uint64(1) << np.uint64(v & 63)
        bitmap[word] = bits & ~isolated[word]
