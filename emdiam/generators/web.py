"""A web: rows in order, with both directions of every edge, so that a conversion needs no sorting; a slot is a vertex.

Vertices are pages in the order of a crawl that keeps sites together. For every level k from 5 on, each aligned block of
2^k vertices has hubs: a run of consecutive pages that are linked from the menus of others. A coin for each aligned
group of 16 vertices in the block decides whether the group links to all hubs. So distances 2^k between the ids of
neighbours are about equally frequent for all k, rows have long runs of consecutive neighbours, and hubs of blocks of
2^k have about 2^k neighbours, a power law. Above the size of a site, 2^14, coins rarely succeed.

- Each group has a luck between 1/64 and 1 that scales all its coins, so degrees of usual pages follow another power
  law.
- All pages of a block of 2^5 are neighbours of its first hub, and each first hub is a neighbour of the first hub of the
  surrounding block. So a giant component exists.
- Pages 2 i and 2 i + 1 are neighbours, and also three in five pairs of pages that are 2 apart in blocks of 4.
- The share `tendrils` of the vertices is on paths: blocks of 8, continued as long as the next block is also a tendril,
  and attached to the vertex before them. An eighth of the paths is not attached, and forms small components.
- The share `dangling` of the pages has only one neighbour, the first hub of the block of 2^5, besides an attached path.

A hash decides whether two vertices are neighbours, and both ends compute it. A row is made from the hubs of the blocks
around its vertex; the row of a hub also needs a pass over its block, group by group. No memory beyond the batch.
Diameter: no formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..formats.source import SourceInfo
from ..hashing import below, draw, unit
from ..jit import inlined, kernel
from .source import GeneratedSource, GeneratorFacts, Ids, Request, required_vertices

LEAST_LEVEL = 5
SHARES = (1.2, 1.0, 0.8, 0.8, 0.8, 0.8, 1.0, 1.5, 2.2, 2.6)
"""Chances of coins of the levels from 5 on, relative to each other: as far apart as neighbours in cnr-2000 are."""
FAR_SHARE = 0.04
"""The same of the levels above, which are larger than a site."""
DEFAULT_DEGREE = 17
LEAST_VERTICES = 64
_GROUP, _TENDRIL_BITS = 16, 3
_GROUP_BITS = 4
_MOST_HUBS, _USUAL_HUBS = 128, 6
_MOST_LEVELS = 64
_TRIES = 8
_ISLANDS, _SIBLINGS = 0.125, 0.6
_LOG_LEAST_LUCK = math.log(1 / 64)
_MEAN_LUCK = (1 - 1 / 64) / -_LOG_LEAST_LUCK
_MOST_CHANCE = 0.95
_LEAST_ROOM = 2 * _GROUP
# Keys of hashes.
_STREAMS = ("hub", "run", "coin", "luck", "tendril", "leaf", "island", "sibling")
_HUB, _RUN, _COIN, _LUCK, _TENDRIL, _LEAF, _ISLAND, _SIBLING = range(len(_STREAMS))
# The state of a listing: the vertex; whether its row is ready; the number of its few neighbours, and the next one; the
# levels at which it is a hub, as bits; and the next group of the largest of these blocks.
_VERTEX, _READY, _NEAR, _NEXT, _LEVELS, _AT = range(6)


@inlined
def _is_tendril(web, keys, v):
    """Whether the vertex is on a path."""
    return unit(draw(keys[_TENDRIL], np.uint64(v >> _TENDRIL_BITS))) < web[4]


@inlined
def _is_linked(web, keys, v):
    """Whether the vertex is on a path and is a neighbour of the previous vertex."""
    if v < 1 or v >= web[0] or not _is_tendril(web, keys, v):
        return False
    if v & 7 or _is_tendril(web, keys, v - 1):
        return True
    return unit(draw(keys[_ISLAND], np.uint64(v >> _TENDRIL_BITS))) >= _ISLANDS


@inlined
def _is_usual(web, keys, v):
    """Whether the vertex is a page that may have several neighbours."""
    return not _is_tendril(web, keys, v) and unit(draw(keys[_LEAF], np.uint64(v))) >= web[3]


@inlined
def _first_hub(web, keys, level, block):
    """The first hub of a block of this level; -1 if none is found, or if the block is beyond the last vertex."""
    base = block << level
    if base >= web[0]:
        return -1
    size = min(np.int64(1) << level, web[0] - base)
    number = np.uint64((block * _MOST_LEVELS + level) * _TRIES)
    for turn in range(_TRIES):
        hub = base + np.int64(below(draw(keys[_HUB], number + np.uint64(turn)), np.uint64(size)))
        if _is_usual(web, keys, hub):
            return hub
    return -1


@inlined
def _end_of_hubs(web, keys, level, block, first):
    """The vertex after the last hub of a block."""
    number = np.uint64(block * _MOST_LEVELS + level)
    count = 1 + np.int64(below(draw(keys[_RUN], number), np.uint64(2 * web[2] - 1)))
    return min(first + count, min((block + 1) << level, web[0]))


@inlined
def _is_lucky(keys, chances, level, group):
    """Whether a group of 16 vertices links to the hubs of its block of this level."""
    coin = unit(draw(keys[_COIN], np.uint64(group * _MOST_LEVELS + level)))
    if coin >= chances[level]:
        return False
    return coin < chances[level] * np.exp(_LOG_LEAST_LUCK * unit(draw(keys[_LUCK], np.uint64(group))))


@inlined
def _put(near, count, w):
    """Insert a neighbour into the first `count` ones, which are increasing, unless it is a duplicate; return the new
    count."""
    place = count
    while place > 0 and near[place - 1] > w:
        place -= 1
    if place > 0 and near[place - 1] == w:
        return count
    for i in range(count, place, -1):
        near[i] = near[i - 1]
    near[place] = w
    return count + 1


@inlined
def _put_first_hub(web, keys, level, block, v, near, count):
    """Insert the first hub of a block, if it exists and is not v; return the new count."""
    hub = _first_hub(web, keys, level, block)
    if hub < 0 or hub == v:
        return count
    return _put(near, count, hub)


@inlined
def _begin_row(web, keys, chances, state, near):
    """Write the few neighbours of the vertex to `near`: all except its neighbours as a hub."""
    v, count, levels = state[_VERTEX], 0, np.int64(0)
    if _is_linked(web, keys, v):
        count = _put(near, count, v - 1)
    if _is_linked(web, keys, v + 1):
        count = _put(near, count, v + 1)
    if not _is_tendril(web, keys, v):
        count = _put_first_hub(web, keys, LEAST_LEVEL, v >> LEAST_LEVEL, v, near, count)
        if _is_usual(web, keys, v):
            if _is_usual(web, keys, v ^ 1) and v ^ 1 < web[0]:
                count = _put(near, count, v ^ 1)
            pair = np.uint64(min(v, v ^ 2))
            if _is_usual(web, keys, v ^ 2) and v ^ 2 < web[0] and unit(draw(keys[_SIBLING], pair)) < _SIBLINGS:
                count = _put(near, count, v ^ 2)
            for level in range(LEAST_LEVEL, web[1] + 1):
                block = v >> level
                first = _first_hub(web, keys, level, block)
                if first < 0:
                    continue
                end = _end_of_hubs(web, keys, level, block, first)
                if first == v:
                    if level < web[1]:
                        count = _put_first_hub(web, keys, level + 1, block >> 1, v, near, count)
                    if level > LEAST_LEVEL:
                        count = _put_first_hub(web, keys, level - 1, 2 * block, v, near, count)
                        count = _put_first_hub(web, keys, level - 1, 2 * block + 1, v, near, count)
                if first <= v < end:
                    levels |= np.int64(1) << level
                if _is_lucky(keys, chances, level, v >> _GROUP_BITS):
                    for hub in range(first, end):
                        if hub != v and _is_usual(web, keys, hub):
                            count = _put(near, count, hub)
    state[_READY], state[_NEAR], state[_NEXT], state[_LEVELS] = 1, count, 0, levels
    state[_AT] = 0
    if levels:
        largest = web[1]
        while not (levels >> largest) & 1:
            largest -= 1
        state[_AT] = (v >> largest << largest) >> _GROUP_BITS


@inlined
def _links(web, keys, chances, v, levels, group):
    """The neighbours of the hub in a group: 0 none, 1 the usual pages, 2 all pages."""
    found = 0
    for level in range(LEAST_LEVEL, web[1] + 1):
        if (levels >> level) & 1 and (group << _GROUP_BITS) >> level == v >> level:
            if level == LEAST_LEVEL and _first_hub(web, keys, level, v >> level) == v:
                return 2
            if found == 0 and _is_lucky(keys, chances, level, group):
                found = 1
    return found


@inlined
def _put_group(web, keys, chances, state, near, src, dst, count):
    """Write the neighbours of a hub in the current group, with its few neighbours there; return the new count."""
    v, group = state[_VERTEX], state[_AT]
    kinds = _links(web, keys, chances, v, state[_LEVELS], group)
    for w in range(group << _GROUP_BITS, min((group + 1) << _GROUP_BITS, web[0])):
        is_near = state[_NEXT] < state[_NEAR] and near[state[_NEXT]] == w
        if is_near:
            state[_NEXT] += 1
        if w != v and (is_near or (kinds == 1 and _is_usual(web, keys, w))
                       or (kinds == 2 and not _is_tendril(web, keys, w))):
            src[count], dst[count] = v, w
            count += 1
    state[_AT] += 1
    return count


@kernel
def list_rows(web, keys, chances, state, near, stop, src, dst):
    """Write pairs of the rows from the state on, before vertex `stop`, until the arrays are full; return their number.

    web : (vertices, last level, hubs of a block on average, share of leaves, share of tendrils). keys : uint64 of
    _STREAMS. chances : float64 of every level. state : int64[6], see _VERTEX. near : int64 with room for the hubs of
    all levels. src, dst : int64[k], k >= _LEAST_ROOM."""
    count = 0
    while state[_VERTEX] < stop:
        if state[_READY] == 0:
            _begin_row(web, keys, chances, state, near)
        v, levels = state[_VERTEX], state[_LEVELS]
        end = np.int64(0)
        if levels:
            largest = web[1]
            while not (levels >> largest) & 1:
                largest -= 1
            end = (min(((v >> largest) + 1) << largest, web[0]) + _GROUP - 1) >> _GROUP_BITS
        while state[_NEXT] < state[_NEAR] or state[_AT] < end:
            if count + _LEAST_ROOM > len(src):
                return count
            if state[_AT] < end and (state[_NEXT] == state[_NEAR]
                                     or near[state[_NEXT]] >= state[_AT] << _GROUP_BITS):
                count = _put_group(web, keys, chances, state, near, src, dst, count)
            else:
                src[count], dst[count] = v, near[state[_NEXT]]
                state[_NEXT] += 1
                count += 1
        state[_VERTEX] += 1
        state[_READY] = 0
    return count


class Web(GeneratedSource):
    """See the module. chances : success probability of a coin, by level."""

    def __init__(self, request: Request) -> None:
        n, values = required_vertices(request, LEAST_VERTICES), request.values
        coins = _Coins(n, (1 - values["dangling"]) * (1 - values["tendrils"]))
        arcs = min(DEFAULT_DEGREE * n, coins.most_arcs) if values["arcs"] is None else values["arcs"]
        super().__init__(request, GeneratorFacts(n, n, values={**values, "arcs": arcs}))
        hubs, self.chances = coins.for_arcs(arcs)
        self._web = n, int(coins.levels[-1]), hubs, float(values["dangling"]), float(values["tendrils"])
        self._keys = np.array([request.key(stream) for stream in _STREAMS], np.uint64)

    def info(self) -> SourceInfo:
        """See GeneratedSource; with both directions."""
        return replace(super().info(), both_directions=True)

    def _pairs(self, first_slot: int, stop_slot: int, batch_edges: int) -> Iterator[tuple[Ids, Ids]]:
        state = np.array([first_slot, 0, 0, 0, 0, 0], np.int64)
        near = np.empty(_MOST_LEVELS * (_MOST_HUBS + 4), np.int64)
        room = max(batch_edges, _LEAST_ROOM)
        while True:
            src, dst = np.empty(room, np.int64), np.empty(room, np.int64)
            count = list_rows(self._web, self._keys, self.chances, state, near, stop_slot, src, dst)
            self.slots_done = int(state[_VERTEX])
            yield src[:count], dst[:count]
            if state[_VERTEX] >= stop_slot:
                return


class _Coins:
    """The number of arcs from coins, in addition to arcs of first hubs and of pages next to each other. usual : share
    of vertices with coins. levels : from the least to that of all vertices. most_arcs : the approximate maximum."""

    def __init__(self, n: int, usual: float) -> None:
        self._n, self._usual = n, usual
        self.levels = np.arange(LEAST_LEVEL, max(LEAST_LEVEL, (n - 1).bit_length()) + 1)
        self._shares = np.full(len(self.levels), FAR_SHARE)
        self._shares[: len(SHARES)] = SHARES[: len(self.levels)]
        self._others = n * (2 + usual * usual * (1 + _SIBLINGS))
        self.most_arcs = int(self._others + self._most(_MOST_HUBS // 2))

    def _each(self, hubs: int) -> float:
        """Arcs of all levels, if the shares were the chances of coins. hubs : mean number per block."""
        # Runs have 1 to 2 hubs - 1 vertices, cut at the end of the block; the usual pages among them are hubs.
        lengths = np.arange(1, 2 * hubs)
        runs = hubs - np.outer(0.5 / 2.0**self.levels, lengths * (lengths - 1)).mean(axis=1)
        found = float((self._shares * (1 + (np.maximum(runs, 1) - 1) * self._usual)).sum())
        return found * 2 * self._n * self._usual * _MEAN_LUCK

    def _most(self, hubs: int) -> float:
        return self._each(hubs) * _MOST_CHANCE / float(self._shares.max())

    def for_arcs(self, arcs: int) -> tuple[int, np.ndarray]:
        """The mean number of hubs per block, and the chance of a coin by level, float64[64]. Raises InputError for too
        many arcs."""
        wanted = max(0.0, arcs - self._others)
        hubs = next((hubs for hubs in range(_USUAL_HUBS, _MOST_HUBS // 2 + 1) if wanted <= self._most(hubs)), None)
        if hubs is None:
            raise InputError(f"a web of {self._n:,} vertices has at most about {self.most_arcs:,} arcs", text=str(arcs),
                             remedy="ask for fewer")
        chances = np.zeros(_MOST_LEVELS)
        chances[self.levels] = self._shares * (wanted / self._each(hubs))
        return hubs, chances


def web(request: Request) -> Web:
    """A web with n vertices and about the requested number of arcs."""
    return Web(request)
