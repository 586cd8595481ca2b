"""Kernels of thin searches (async_bfs.py): many levels of one rank in a call, and the letters between ranks.

`state` (int64[STATE]) makes a call resumable where it stopped, as that of traverse/sparse.py. The vertices of a level
are in a queue; a level that is longer than its queue is found again by looking at the distances of the range.
A letter is a vertex of another rank with a distance. What was sent is remembered in `sent`, uint64[2^k]: entry
w mod 2^k holds the rest of w and the distance, of the vertex sent last; a forgotten one may be sent again.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start

# Slots of `state`.
VALUE = 0  # distance of the vertices in the current queue
CURRENT = 1  # which of the two queues is current
HEAD = 2  # what of it was expanded; the vertex to look at next where distances are looked at
COUNT = 3  # entries of the current queue
NEXT = 4  # entries of the next queue
NEXT_ARCS = 5  # arcs of their rows
MISSED = 6  # rows put aside
WITHIN = 7  # whether a level has begun and not ended
LOOKING = 8  # whether its vertices are found by looking
TAKEN = 9  # seeds that were taken
LOOK_FROM = 10  # levels LOOK_FROM..LOOK_TO are not in queues; LOOK_TO is -1 if there are none
LOOK_TO = 11
OUT = 12  # letters
ROOM = 13  # letters for which there has to be room
SCANNED = 14  # arcs scanned so far
AGAIN = 15  # arcs of rows whose distance fell after it was set
STATE = 16

# Why a call returned.
DONE, MISSING, LIMIT, THICK, FULL = 0, 1, 2, 3, 4
_NEVER = 0x7FFFFFFFFFFFFFFF


@kernel
def thin_levels(paging, offsets, dist, visited, queues, missed, seeds, sent, letters, state,
                limits):  # type: ignore[no-untyped-def]
    """Run levels in increasing order of distance; returns why it stopped.

    paging : as of Core.paging. offsets : those of Core. dist : unsigned[n]. visited : bitmap; a set bit of another
    rank's vertex: its owner knows its distance. queues : id[2, q]. missed : (id[k], int64[k]). seeds : (int64[s],
    int64[s]), vertices and distances, ascending by distance. letters : (int64[k], int64[k]), to be sent. limits :
    int64[5] = first, stop, distance to run to, arcs of a level that is no longer thin, unreached.
    """
    ids, slot_of, shift = paging
    group, row, hub = offsets
    missed_v, missed_p = missed
    first, stop, unreached = limits[0], limits[1], limits[4]
    mask = np.int64(len(sent) - 1)
    while True:
        if not state[WITHIN]:
            if not _begin_level(dist, queues, seeds, state):
                return DONE
            if state[VALUE] >= limits[2]:
                return LIMIT
            _admit(dist, queues, seeds, state)
            _open_level(state, first, stop)
        value = state[VALUE]
        here, there = queues[state[CURRENT]], queues[1 - state[CURRENT]]
        pending, head, tail, out = state[MISSED], state[HEAD], state[NEXT], state[OUT]
        put_aside, resumed, arcs, again = 0, 0, 0, 0
        full = False
        while resumed < pending or head < state[COUNT]:
            if resumed < pending:
                v, p = np.int64(missed_v[resumed]), missed_p[resumed]
            elif put_aside == len(missed_v):
                break
            else:
                v = head if state[LOOKING] else np.int64(here[head])
                if dist[v] != value:
                    head += 1
                    continue
                p = row_start(group, row, hub, v)
            end = row_start(group, row, hub, v + 1)
            if out + (end - p) > len(letters[0]):
                full = True
                break
            if resumed < pending:
                resumed += 1
            else:
                head += 1
            while p < end:
                slot = np.int64(slot_of[p >> shift])
                if slot < 0:
                    missed_v[put_aside], missed_p[put_aside] = v, p
                    put_aside += 1
                    break
                low = (p >> shift) << shift
                until = min(end, low + (1 << shift))
                base = (slot << shift) - low
                for q in range(base + p, base + until):
                    w = np.int64(ids[q])
                    if first <= w < stop:
                        if np.int64(dist[w]) > value + 1:
                            degree = row_start(group, row, hub, w + 1) - row_start(group, row, hub, w)
                            if dist[w] == unreached:
                                visited[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
                            else:
                                again += degree
                            dist[w] = value + 1
                            state[NEXT_ARCS] += degree
                            if tail < len(there):
                                there[tail] = w
                                tail += 1
                            else:
                                _look_at(state, value + 1)
                    elif not (visited[w >> 6] >> np.uint64(w & 63)) & np.uint64(1):
                        if _is_news(sent, mask, w, value + 1):
                            letters[0][out], letters[1][out] = w, value + 1
                            out += 1
                arcs += until - p
                p = until
        while resumed < pending:  # keep what was not resumed
            missed_v[put_aside], missed_p[put_aside] = missed_v[resumed], missed_p[resumed]
            put_aside, resumed = put_aside + 1, resumed + 1
        state[HEAD], state[NEXT], state[OUT], state[MISSED] = head, tail, out, put_aside
        state[SCANNED] += arcs
        state[AGAIN] += again
        if full:
            state[ROOM] = out + (end - p)
            return FULL
        if put_aside:
            return MISSING
        if _end_level(state) > limits[3]:
            return THICK


@kernel
def _begin_level(dist, queues, seeds, state):  # type: ignore[no-untyped-def]
    """Go to the next distance that has vertices; False if there is none."""
    if state[COUNT] == 0:
        value = _NEVER
        if state[TAKEN] < len(seeds[1]):
            value = seeds[1][state[TAKEN]]
        if state[LOOK_TO] >= 0:
            value = min(value, max(state[LOOK_FROM], state[VALUE]))
        if value == _NEVER:
            return False
        state[VALUE] = value
    return True


@kernel
def _admit(dist, queues, seeds, state):  # type: ignore[no-untyped-def]
    """Add the seeds that are due, and still have their distance, to the current queue."""
    value = state[VALUE]
    here = queues[state[CURRENT]]
    while state[TAKEN] < len(seeds[0]) and seeds[1][state[TAKEN]] <= value:
        v = seeds[0][state[TAKEN]]
        state[TAKEN] += 1
        if dist[v] == value:
            if state[COUNT] < len(here):
                here[state[COUNT]] = v
                state[COUNT] += 1
            else:
                _look_at(state, value)


@kernel
def _open_level(state, first, stop):  # type: ignore[no-untyped-def]
    """Begin a level: on its queue, or by looking."""
    value = state[VALUE]
    state[LOOKING] = state[LOOK_TO] >= 0 and state[LOOK_FROM] <= value <= state[LOOK_TO]
    state[HEAD] = 0
    if state[LOOKING]:
        state[HEAD], state[COUNT] = first, stop
    state[WITHIN] = 1


@kernel
def _end_level(state):  # type: ignore[no-untyped-def]
    """The next queue becomes the current one; arcs of its rows."""
    arcs = state[NEXT_ARCS]
    if state[LOOKING]:
        state[LOOK_FROM] = state[VALUE] + 1
    if state[LOOK_TO] <= state[VALUE]:
        state[LOOK_TO] = -1
    state[VALUE] += 1
    state[CURRENT] = 1 - state[CURRENT]
    state[COUNT] = state[NEXT]
    state[HEAD] = state[NEXT] = state[NEXT_ARCS] = state[WITHIN] = state[LOOKING] = 0
    return arcs


@kernel
def _look_at(state, value):  # type: ignore[no-untyped-def]
    """The vertices of this distance are not all in a queue."""
    if state[LOOK_TO] < 0:
        state[LOOK_FROM] = value
    state[LOOK_FROM] = min(state[LOOK_FROM], value)
    state[LOOK_TO] = max(state[LOOK_TO], value)


@kernel
def _is_news(sent, mask, w, value):  # type: ignore[no-untyped-def]
    """Whether w was not sent with as small a distance, as far as is remembered; now it was."""
    known = sent[w & mask]
    tag = np.uint64((w // (mask + 1) + 1) << 32)
    if known & np.uint64(0xFFFFFFFF00000000) == tag and known & np.uint64(0xFFFFFFFF) <= np.uint64(value):
        return False
    sent[w & mask] = tag | np.uint64(value)
    return True


@kernel
def take_letters(letters, dist, visited, offsets, unreached, seeds, state):  # type: ignore[no-untyped-def]
    """Write the distances of letters that are smaller than what is known, and keep these as seeds; how many."""
    group, row, hub = offsets
    kept = 0
    for i in range(len(letters[0])):
        w, value = letters[0][i], letters[1][i]
        if np.int64(dist[w]) > value:
            if dist[w] == unreached:
                visited[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
            else:
                state[AGAIN] += row_start(group, row, hub, w + 1) - row_start(group, row, hub, w)
            dist[w] = value
            seeds[0][kept], seeds[1][kept] = w, value
            kept += 1
    return kept


@kernel
def cut_off(dist, visited, offsets, span, longest, unreached):  # type: ignore[no-untyped-def]
    """In the vertices of span, forget distances above `longest`. Returns (vertices left with one, arcs of their
    rows, largest distance or -1)."""
    group, row, hub = offsets
    reached, arcs, largest = 0, 0, np.int64(-1)
    for v in range(span[0], span[1]):
        if dist[v] != unreached:
            value = np.int64(dist[v])
            if value > longest:
                dist[v] = unreached
                visited[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
            else:
                reached += 1
                largest = max(largest, value)
                arcs += row_start(group, row, hub, v + 1) - row_start(group, row, hub, v)
    return reached, arcs, largest


@kernel
def write_letters(ids, values, first, out):  # type: ignore[no-untyped-def]
    """Code letters, ids ascending, behind first, into uint8[20 k]; returns the bytes.

    A letter is twice the difference to the id before, plus 1 if the distance is another one than before; if so, the
    difference of distances follows, its sign in the last bit. Numbers are in groups of 7 bits, lowest first."""
    at = 0
    last, before = first, np.int64(0)
    for i in range(len(ids)):
        step = values[i] - before
        at = _write_number(out, at, ((ids[i] - last) << 1) | (step != 0))
        if step != 0:
            at = _write_number(out, at, (step << 1) if step > 0 else ((-step << 1) | 1))
        last, before = ids[i], values[i]
    return at


@kernel
def read_letters(message, first, ids, values):  # type: ignore[no-untyped-def]
    """The letters of write_letters into int64[k], k at least the length of the message; returns how many."""
    at = count = 0
    last, before = first, np.int64(0)
    while at < len(message):
        number, at = _read_number(message, at)
        last += number >> 1
        if number & 1:
            step, at = _read_number(message, at)
            before += -(step >> 1) if step & 1 else step >> 1
        ids[count], values[count] = last, before
        count += 1
    return count


@kernel
def _write_number(out, at, number):  # type: ignore[no-untyped-def]
    while number >= 128:
        out[at] = np.uint8(number & 127 | 128)
        number >>= 7
        at += 1
    out[at] = np.uint8(number)
    return at + 1


@kernel
def _read_number(message, at):  # type: ignore[no-untyped-def]
    number, shift = np.int64(0), 0
    while message[at] >= 128:
        number |= np.int64(message[at] & 127) << shift
        shift += 7
        at += 1
    return number | np.int64(message[at]) << shift, at + 1
