"""Traversals level by level with numpy, for small inputs as long as compiled kernels are missing.

Each function has the results of the kernel of the same name, if all blocks are resident, and leaves the same state; see
the kernel for its arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..distinct import distinct
from ..hashing import draw
from ..jit import Uncovered
from ..stream.uncompiled import Offsets, ResidentRows, bits_of, put_bits, set_bits, starts_of
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    FARTHEST,
    HEAD,
    LEVEL,
    LIMIT,
    MET,
    MISSED,
    NEXT,
    NEXT_ARCS,
    PROFILE,
    REACHED,
    SLICE,
    SMALL_VERTICES,
    TARGETS,
    count_level,
)

Paging = tuple[np.ndarray, np.ndarray, int]
Missed = tuple[np.ndarray, np.ndarray]
Piece = tuple[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray]
Layout = tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_LEVELS = 1 << 10  # of one call


class _Queue:
    """The queues of a traversal, at the beginning of a level. Raises Uncovered in the middle of a level, and for graphs
    in which not every frontier fits."""

    def __init__(self, queues: np.ndarray, state: np.ndarray, n_items: int) -> None:
        if state[HEAD] or state[NEXT] or state[MISSED] or n_items > SMALL_VERTICES:
            raise Uncovered
        self._queues, self._state = queues, state

    def vertices(self) -> np.ndarray:
        """The current queue, int64[k]."""
        return self._queues[self._state[CURRENT], : self._state[COUNT]].astype(np.int64)

    def follow(self, there: np.ndarray) -> None:
        """Make these the next queue."""
        state = self._state
        state[CURRENT], state[COUNT] = 1 - state[CURRENT], len(there)
        self._queues[state[CURRENT], : len(there)] = there


def sparse_bfs(paging: Paging, offsets: Offsets, visited: np.ndarray, dist: np.ndarray, targets: np.ndarray,
               queues: np.ndarray, missed: Missed, state: np.ndarray, limits: np.ndarray) -> int:
    """See sparse.sparse_bfs."""
    queue, rows = _Queue(queues, state, 64 * len(visited) - 63), ResidentRows(paging, offsets)
    reason, arcs = _bfs_levels(rows, (visited, dist), bits_of(targets), queue, state, limits)
    if reason == DENSE:
        state[NEXT_ARCS] = arcs
    return reason


def bfs_whole(graph: tuple[Any, Any], found: tuple[np.ndarray, np.ndarray], fronts: np.ndarray, queues: np.ndarray,
              buffers: np.ndarray, shared: np.ndarray, state: np.ndarray, front: np.ndarray, bias: np.ndarray,
              limits: np.ndarray, call: np.ndarray) -> int:
    """See bfs_whole.bfs_whole; all levels are top-down, on a queue."""
    from .bfs_whole import FRONT_ARCS, IS_BITMAP, VERTICES, VISITED_ARCS

    queue, scanned = _Queue(queues, state, 64 * len(found[0]) - 63), int(state[ARCS])
    if front[IS_BITMAP]:
        raise Uncovered
    (ids, starts, _), block = graph[0], 62  # one block for all ids
    rows = ResidentRows((ids, np.zeros(1, np.int32), block), starts)
    first = int(front[VISITED_ARCS] - front[FRONT_ARCS])
    reason, arcs = _bfs_levels(rows, found, bits_of(found[0][:0]), queue, state,
                               np.array([*limits[:2], 1 << 62]))
    front[VERTICES], front[FRONT_ARCS] = state[COUNT], arcs
    front[VISITED_ARCS] = first + int(state[ARCS]) - scanned + arcs
    if reason == LIMIT:
        state[FARTHEST] = queue.vertices().min()
    return reason


def queued_bfs(ids: np.ndarray, starts: np.ndarray, source: int, distances: np.ndarray, _queue: np.ndarray,
               out: np.ndarray) -> None:
    """See side_by_side.queued_bfs; no level is too wide, since the queue is not used."""
    from .side_by_side import TOO_LONG

    rows, none = ResidentRows((ids, np.zeros(1, np.int32), 62), starts), np.iinfo(distances.dtype).max
    front, level = np.array([source], np.int64), 0
    distances[source] = 0
    while len(front):
        level += 1
        heads = rows.arcs(front)[1]
        out[1] += len(heads)
        front = distinct(heads[distances[heads] == none])
        if len(front) and level == none:
            out[0] = TOO_LONG
            return
        distances[front] = level
    out[0] = level - 1


def _bfs_levels(rows: ResidentRows, found: tuple[np.ndarray, np.ndarray], wanted: np.ndarray, queue: _Queue,
                state: np.ndarray, limits: np.ndarray) -> tuple[int, int]:
    """Do levels on a queue; returns the reason to stop, and the arcs of the next level. wanted : whether each vertex is
    a target, or length 0. limits : levels, arcs of this slice, arcs of a queue that count as dense."""
    (visited, dist), stop, next_arcs = found, state[ARCS] + limits[1], 0
    seen, reason = bits_of(visited), SLICE
    for _ in range(_LEVELS):
        level, queued = int(state[LEVEL]), queue.vertices()
        next_arcs = int(rows.lengths(queued).sum())
        if level >= limits[0] or state[ARCS] >= stop:
            reason = LIMIT if level >= limits[0] else SLICE
            break
        heads = rows.arcs(queued)[1]
        new = distinct(heads[~seen[heads]])
        seen[new] = True
        if len(dist):
            dist[new] = level + 1
        if len(wanted):
            state[TARGETS] -= np.count_nonzero(wanted[new])
        state[ARCS] += len(heads)
        state[REACHED] += len(new)
        if not len(new):
            state[FARTHEST], reason = queued.min(), DONE
            break
        state[LEVEL] = level + 1
        count_level.py_func(state, PROFILE, level + 1, len(new))
        queue.follow(new)
        next_arcs = int(rows.lengths(new).sum())
        if len(wanted) and state[TARGETS] <= 0:
            reason = MET
            break
        if next_arcs > limits[2]:
            reason = DENSE
            break
    put_bits(seen, visited)
    return reason, next_arcs


def sparse_spread(paging: Paging, offsets: Offsets, bound: np.ndarray, queues: np.ndarray, missed: Missed,
                  state: np.ndarray, limits: np.ndarray) -> int:
    """See spread.sparse_spread."""
    queue, rows, stop = _Queue(queues, state, len(bound)), ResidentRows(paging, offsets), state[ARCS] + limits[1]
    for _ in range(_LEVELS):
        value = int(state[LEVEL])
        if value >= limits[0]:
            return LIMIT
        if state[ARCS] >= stop:
            return SLICE
        heads = rows.arcs(queue.vertices())[1]
        there = distinct(heads[bound[heads].astype(np.int64) > value + 1])
        bound[there] = value + 1
        state[ARCS] += len(heads)
        state[REACHED] += len(there)
        state[LEVEL] = value + 1
        queue.follow(there)
        if not len(there):
            return DONE
    return SLICE


def sparse_multi(paging: Paging, offsets: Offsets, words: np.ndarray, marks: np.ndarray, queues: np.ndarray,
                 missed: Missed, state: np.ndarray, sinks: np.ndarray, targets: np.ndarray) -> int:
    """See multi_dense.sparse_multi."""
    from .multi_dense import DENSE_ARCS, FLIP, FULL, ITEM_BYTES, REMAINING, STOP_ARCS

    n, queue, rows = words.shape[1] - 1, _Queue(queues, state, words.shape[1] - 1), ResidentRows(paging, offsets)
    columns = _columns(sinks[1], int(state[ITEM_BYTES]), n)
    while True:
        here, now, level = queue.vertices(), int(state[FLIP]), int(state[LEVEL]) + 1
        tails, heads = rows.arcs(here)
        state[ARCS] += len(heads)
        then = words[3 - now]
        new = words[now, here[tails]] & ~words[0, heads]
        reached = new.any(axis=1)
        known = then[heads].any(axis=1)
        there = distinct(heads[reached & ~known])
        np.bitwise_or.at(then, heads[reached], new[reached])
        words[now, here] = 0
        new = then[there]
        words[0, there] |= new
        full = there[(words[0, there] == words[0, n]).all(axis=1)]
        set_bits(marks[FULL], full, len(full))
        if len(targets):
            state[REMAINING] -= int(np.bitwise_count(new[bits_of(targets)[there]]).sum())
        for source in np.flatnonzero(bits_of(np.bitwise_or.reduce(new, axis=0))):
            sinks[0, source] = level
            if columns is not None:
                columns[source][there[bits_of(new)[:, source]]] = level
        then[n] = 0
        state[FLIP], state[NEXT_ARCS] = 3 - now, 0
        queue.follow(there)
        if not len(there):
            return DONE
        state[LEVEL] = level
        for met, reason in ((len(targets) and state[REMAINING] <= 0, MET),
                            (rows.lengths(there).sum() > state[DENSE_ARCS], DENSE),
                            (state[ARCS] >= state[STOP_ARCS], SLICE)):
            if met:
                return reason


def _columns(addresses: np.ndarray, item_bytes: int, n: int) -> list[np.ndarray] | None:
    """Columns of n items at these addresses; None if item_bytes is 0."""
    if not item_bytes:
        return None
    kind = ctypes.c_uint8 * (n * item_bytes)
    return [np.frombuffer(memoryview(kind.from_address(address)), f"u{item_bytes}") if address
            else np.empty(0, np.uint8) for address in addresses.tolist()]


def fold_pivot(turn: np.ndarray, grain: int, distances: np.ndarray, about: np.ndarray, lower: np.ndarray,
               upper: np.ndarray, far: np.ndarray, group: np.ndarray, row: np.ndarray, hub: np.ndarray,
               out: np.ndarray) -> None:
    """See pivot_bounds.fold_pivot; the first thread does all the work."""
    number, begin, top = int(turn[1]), int(turn[0]), int(np.iinfo(lower.dtype).max)
    turn[:] = len(lower), number + 1
    source, eccentricity, limit, largest = about.tolist()
    out[number, [0, 4, 7]] = 0, -1, -1
    reached = begin + np.flatnonzero(distances[begin:] != top)
    d, most = distances[reached].astype(np.int64), upper[reached].astype(np.int64)
    low, high, new = np.maximum(d, eccentricity - d), np.minimum(d + eccentricity, largest), most == top
    least, away = lower[reached].astype(np.int64), far[reached].astype(np.int64)
    least, most = np.where(new, low, np.maximum(least, low)), np.where(new, high, np.minimum(most, high))
    away = np.where(new, d, np.where(away != top, np.maximum(away, d), away))
    away[reached == source] = top
    lower[reached], upper[reached], far[reached] = least, most, away
    out[number, 0] = int(most.max(initial=0)) << 40 | int(np.count_nonzero(most > limit))
    open_ = np.flatnonzero(away != top)
    if not len(open_):
        return
    vertices, least, most, away = reached[open_], least[open_], most[open_], away[open_]
    degrees = np.diff(starts_of(group, row, hub))[vertices]
    centre, periphery = np.lexsort((vertices, -degrees, away, least))[0], np.lexsort((vertices, -away, -most))[0]
    out[number, 1:8] = (least[centre], away[centre], -degrees[centre], vertices[centre], most[periphery],
                        away[periphery], vertices[periphery])


def _arcs(piece: Piece, layout: Layout) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(tails, heads) of the arcs of each block of a piece; the first thread takes them all."""
    chunks, position, turn, _, ids = piece
    begin, turn[0] = int(turn[0]), len(chunks)
    starts = starts_of(*layout[2:])
    for chunk, place in zip(chunks[begin:].tolist(), position[begin:].tolist(), strict=True):
        arcs = np.arange(chunk << layout[0], min(chunk + 1 << layout[0], int(starts[-1])))
        yield np.searchsorted(starts, arcs, "right") - 1, ids[place : place + len(arcs)].astype(np.int64)


def steep_edges(piece: Piece, layout: Layout, values: np.ndarray) -> int:
    """See paths.steep_edges."""
    steep = 0
    for tails, heads in _arcs(piece, layout):
        steps = np.abs(values[heads].astype(np.int64) - values[tails].astype(np.int64))
        steep += int(np.count_nonzero((steps > 1) & (heads < tails)))
    return steep


def mark_blocks(blocks: np.ndarray, span: tuple[int, int], layout: Layout, bitmap: np.ndarray, invert: bool,
                needed: np.ndarray) -> None:
    """See rows.mark_blocks."""
    shift, first_vertex, *offsets = layout
    starts, bits = starts_of(*offsets), bits_of(bitmap) ^ bool(invert)
    for i, block in enumerate(blocks.tolist()):
        first, last = max(span[0], int(first_vertex[block])), min(int(first_vertex[block + 1]), span[1] - 1)
        if last > first and starts[last] == block + 1 << shift:
            last -= 1
        needed[i] = bits[first : last + 1].any()


def count_before(words: np.ndarray, before: np.ndarray) -> int:
    """See hidden.count_before."""
    ones = np.bitwise_count(words).astype(np.int64)
    before[:] = (np.cumsum(ones) - ones)[:: -(-len(words) // max(1, len(before)))]
    return int(ones.sum())


def numbers_of(words: np.ndarray, before: np.ndarray, vertices: np.ndarray, numbers: np.ndarray) -> None:
    """See hidden.numbers_of."""
    bits = bits_of(words)
    numbers[:] = (np.cumsum(bits) - bits)[vertices]


def vertices_at(words: np.ndarray, before: np.ndarray, numbers: np.ndarray, vertices: np.ndarray) -> None:
    """See hidden.vertices_at."""
    vertices[:] = np.flatnonzero(bits_of(words))[numbers]


def unite_hidden(piece: Piece, layout: Layout, words: np.ndarray, before: np.ndarray, entries: np.ndarray) -> int:
    """See hidden.unite_hidden; afterwards every entry is its root."""
    bits, scanned = bits_of(words), 0
    numbers, roots = np.cumsum(bits) - 1, entries.astype(np.int64)
    for tails, heads in _arcs(piece, layout):
        scanned += int(np.count_nonzero(bits[tails]))
        both = bits[tails] & bits[heads]
        one, other = numbers[tails[both]], numbers[heads[both]]
        while True:
            before_it = roots.copy()
            least = np.minimum(roots[one], roots[other])
            for ends in (before_it[one], before_it[other]):
                np.minimum.at(roots, ends, least)
            roots = roots[roots]
            if np.array_equal(roots, before_it):
                break
    entries[:] = roots
    return scanned


def decode_labels(words: np.ndarray, _: np.ndarray, entries: np.ndarray, mark: int, reached: int, start: int,
                  labels: np.ndarray) -> None:
    """See hidden.decode_labels."""
    vertices, roots = _hidden(words, entries, mark)
    among = (vertices >= start) & (vertices < start + len(labels))
    labels[:] = reached
    labels[vertices[among] - start] = vertices[roots[among]]


def describe_hidden(words: np.ndarray, entries: np.ndarray, mark: int, roots: np.ndarray, offsets: Offsets,
                    last: np.ndarray, hub: np.ndarray, degree: np.ndarray) -> None:
    """See hidden.describe_hidden."""
    vertices, k = _members(words, entries, mark, roots)
    last[k] = vertices
    degrees = np.diff(starts_of(*offsets))[vertices]
    order = np.lexsort((-vertices, degrees))
    order = order[degrees[order] > degree[k[order]]]
    hub[k[order]], degree[k[order]] = vertices[order], degrees[order]


def smallest_hidden(words: np.ndarray, entries: np.ndarray, mark: int, roots: np.ndarray, ranks: np.ndarray,
                    best: np.ndarray) -> None:
    """See hidden.smallest_hidden; best : -1 everywhere."""
    vertices, k = _members(words, entries, mark, roots)
    by = ranks[vertices].astype(np.int64) if len(ranks) else vertices
    order = np.argsort(-by)
    best[k[order], 0], best[k[order], 1] = by[order], vertices[order]


def _hidden(words: np.ndarray, entries: np.ndarray, mark: int) -> tuple[np.ndarray, np.ndarray]:
    """Hidden vertices, ascending, and the number of each one's root."""
    numbers = entries.astype(np.int64)
    return np.flatnonzero(bits_of(words)), np.where(numbers >= mark, np.arange(len(numbers)), numbers)


def _members(words: np.ndarray, entries: np.ndarray, mark: int, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hidden vertices whose root is among these, ascending, and the place of each root."""
    vertices, mine = _hidden(words, entries, mark)
    place = np.searchsorted(roots, mine)
    known = np.append(roots, -1)[place] == mine
    return vertices[known], place[known]


def walk_down(dist: np.ndarray, paging: Paging, offsets: Offsets, ranks: np.ndarray, span: np.ndarray,
              path: np.ndarray, state: np.ndarray) -> int:
    """See paths.walk_down."""
    if state[1] >= 0 or state[3] >= 0 or span[0] != 0 or span[1] < len(dist):
        raise Uncovered
    rows, state[2] = ResidentRows(paging, offsets), 0
    while dist[state[0]] > 0 and state[2] < len(path):
        heads = rows.arcs(state[:1])[1]
        nearer = heads[dist[heads].astype(np.int64) + 1 == int(dist[state[0]])]
        if not len(nearer):
            return -2
        state[0] = path[state[2]] = nearer[np.argmin(ranks[nearer])] if len(ranks) else nearer[0]
        state[2] += 1
    return -1


def count_queued(queue: np.ndarray, words: np.ndarray, plane: int, level: int, unit: Any, sums: np.ndarray,
                 single: np.ndarray) -> int:
    """See tally.count_queued."""
    bits = words[plane, queue]
    pairs = np.bitwise_count(bits).sum(axis=1, dtype=np.uint64)
    if len(single):
        single += bits_of(bits).sum(axis=0)[: len(single)]  # the words have bits for further sources
    if sums.shape[1]:
        for row, factor in zip(sums, (1, level, unit), strict=True):
            row[queue] += pairs * np.uint64(factor)
    return int(pairs.sum())


def sampled(span: np.ndarray, key: int, threshold: int, everyone: bool, isolated: np.ndarray, ranks: np.ndarray,
            out: np.ndarray) -> int:
    """See clusters.sampled."""
    vertices = np.arange(span[0], span[1])
    keep = ~bits_of(isolated)[vertices]
    if not everyone:
        by = ranks[vertices - span[0]] if len(ranks) else vertices
        keep &= draw.py_func(np.uint64(key), by.astype(np.uint64)) < np.uint64(threshold)
    found = vertices[keep]
    out[: len(found)] = found[: len(out)]
    return len(found)
