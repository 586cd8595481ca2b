"""Parallel cluster growing around masters, and BFS that starts from the bounds of clusters.

Every vertex joins the nearest master's cluster, ties to the master of the smallest number. Masters are numbered by the
natural rank of their ids, so that neither threads nor blocks nor the order of a store change a cluster. In a component
without a master, the vertex of smallest rank becomes one.
Rounds: the largest distance to a master. Passes: see labels.py. Bytes a vertex: 4 (labels; 8 if distances and
groups need more bits, see labels.py), and 4 for each vertex that no master has reached, while components without a
master are searched.
Source: Meyer, On trade-offs in external-memory diameter-approximation (2008); Ajwani, Beckmann,
Meyer, Veith (2012), section 3 (PAR_APPROX).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import InputError, MoreMemoryError
from ..hashing import draw
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from . import uncompiled
from .columns import Column
from .core import Core
from .hidden import find_components
from .labels import FOREVER, WIDE_BITS, LabelRun, LabelVector
from .paths import one_way
from .ram_column import RamColumn
from .rows import has_bit
from .workspace import set_bits

# Levels of one window if blocks are streamed (0: adapted); in RAM a window has one level.
STREAMED_WIDTH = 0
MOST_MASTERS = (1 << WIDE_BITS) - 1
_PLACES = "numbers of vertices in the order of their distances"
# Another way to grow labels (uint64[n], in place) around seeds (int64[k]) that have distance 0 already. Arguments:
# labels, seeds, tick, most rounds. Returns (whether all has grown, passes).
LabelGrowth = Callable[[np.ndarray, np.ndarray, Tick, int | None], tuple[bool, int]]


class RamLabels:
    """(distance, group) of every vertex; isolated vertices are unreached.

    packed : the labels. masters : int64[n_groups], the vertex at distance 0 of each group. passes : over blocks.
    grower : grows the labels around masters (None: LabelRun).
    """

    def __init__(
        self, core: Core, packed: LabelVector, masters: np.ndarray, ranks: np.ndarray,
        grower: LabelGrowth | None = None,
    ) -> None:
        self._core, self.packed, self.masters, self._ranks = core, packed, masters, ranks
        self._grower = grower
        self.passes = 0

    @property
    def n_groups(self) -> int:
        """Number of clusters (or components)."""
        return len(self.masters)

    def grow_from(self, first: int, width: int, tick: Tick = no_tick, most_rounds: int | None = None) -> bool:
        """Grow around the masters from number `first` on; False if stopped after `most_rounds`."""
        new = self.masters[first:]
        self.packed.values[new] = np.arange(first, first + len(new), dtype=np.uint64)
        if self._grower is not None:
            whole, passes = self._grower(self.packed.values, new, tick, most_rounds)
            self.passes += passes
            return whole
        self._core.work.before[:] = 0
        set_bits(self._core.work.before, new, len(new))
        return self.grow(width, tick, most_rounds)

    def grow(self, width: int, tick: Tick = no_tick, most_rounds: int | None = None) -> bool:
        """Grow from the vertices that wait in core.work.before; False if stopped after `most_rounds`."""
        run = LabelRun(self._core, self.packed, width)
        while not run.step(tick):
            self.passes += 1
            if most_rounds is not None and run.level >= most_rounds:
                return False
        return True

    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """(largest distance, vertices) of each group, int64[n_groups] each."""
        radii, sizes = np.zeros(self.n_groups, np.int64), np.zeros(self.n_groups, np.int64)
        tally_labels(*self._parts, radii, sizes)
        return radii, sizes

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """The vertex of smallest rank at distance radii[g] in each group g, int64[n_groups]."""
        found = np.full(self.n_groups, -1, np.int64)
        first_in_groups(*self._parts, self._ranks, radii, found)
        return found

    def first_members(self) -> np.ndarray:
        """The vertex of smallest rank in each group, int64[n_groups]."""
        return self.farthest_members(np.empty(0, np.int64))

    def groups(self, vertices: np.ndarray) -> np.ndarray:
        """Group of each of `vertices`, int64[k]; -1 where unreached."""
        return self._looked_up(vertices, lambda label: label & np.uint64((1 << self.packed.bits) - 1))

    def distances(self, vertices: np.ndarray) -> np.ndarray:
        """Distance of each of `vertices` to its master, int64[k]; -1 where unreached."""
        return self._looked_up(vertices, lambda label: label >> np.uint64(self.packed.bits))

    def _looked_up(self, vertices: np.ndarray, part: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        values = self.packed.values[vertices]
        parts = part(values.astype(np.uint64)).astype(np.int64)
        return np.where(values == np.iinfo(values.dtype).max, np.int64(-1), parts)

    @property
    def _parts(self) -> tuple[np.ndarray, int]:
        """The labels in the form that kernels take."""
        return self.packed.values, self.packed.bits

    def restart(
        self, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_blocks: int | None = None,
        tick: Tick = no_tick,
    ) -> bool:
        """Turn the labels into distances from one source in every part (component), by label growth from the
        upper bounds base[group] + distance to the master. False if that would read more than `most_blocks` blocks; the
        labels are then still only upper bounds.

        base : int64[n_groups], length of a walk from the part's source to the master of the
        group. parts : int64[n_groups], part of each group. sources : int64[n_parts]. Every label
        stays the length of a walk from the source, and once no arc can lower a label they are the
        distances. Takes far fewer passes than a BFS if the bounds are good.
        """
        packed = self.packed
        bits = packed.begin_again(len(sources), int(base.max(initial=0)) + self.tally_longest())
        restart_labels(packed.values, bits, packed.bits, base.astype(np.uint64), parts.astype(np.uint64))
        packed.values[sources] = np.arange(len(sources), dtype=np.uint64)
        self.masters = sources
        core = self._core
        np.copyto(core.work.before, ~core.table.isolated)
        run = LabelRun(core, packed, FOREVER)
        while not run.step(tick):
            self.passes += 1
            if most_blocks is not None and run.blocks >= most_blocks:
                return not core.work.before.any()
        return True

    def places(self) -> np.ndarray:
        """Position of every vertex in the order by distance (ties: by vertex), id[n]. Raises MoreMemoryError if there
        is no room for the positions and new distances; the labels are then lost."""
        ids = self._core.work.queues.dtype
        try:
            self._core.hold(_PLACES, len(self.packed.values) * (ids.itemsize + 4))
        except MoreMemoryError:
            self.release()
            raise
        counts = np.zeros(self.tally_longest() + 2, np.int64)
        count_distances(*self._parts, counts)
        places = np.empty(len(self.packed.values), ids)
        place_by_distance(*self._parts, np.cumsum(counts) - counts, places)
        return places

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """Give every reached vertex v the distance distances[places[v]] (unsigned[n]); groups do not change."""
        replace_labels(*self._parts, distances, places)
        self._core.hold(_PLACES, 0)

    def tally_longest(self) -> int:
        """The largest distance."""
        return int(longest_label(*self._parts))

    def take_column(self) -> Column:
        """The distances as a Column of uint32; the labels are invalid afterwards."""
        values = self.packed.values
        narrow = values.view(np.uint32)[: len(values)]
        take_distances(*self._parts, narrow)
        return RamColumn(narrow)

    def release(self) -> None:
        """Free the labels."""
        self.packed.release()


def grow_clusters(
    core: Core, masters: np.ndarray, ranks: np.ndarray, tick: Tick = no_tick, most_rounds: int | None = None,
    grow: LabelGrowth | None = None,
) -> RamLabels | None:
    """Clusters around `masters` (int64[k], each with an edge, ascending by rank), and around an additional master
    in every component without one.

    ranks : natural rank of every vertex, id[n], or length 0 if every vertex is its own rank. grow : grows the labels,
    if not the kernels of labels.py. Returns None if it needs more than `most_rounds` rounds. Raises
    InputError beyond MOST_MASTERS.
    """
    check_number(len(masters))
    width = 1 if core.pager.everything_resident else STREAMED_WIDTH
    packed = LabelVector.unreached(core, len(masters) if grow is None else None)
    labels = RamLabels(core, packed, masters, ranks, grow)
    if not labels.grow_from(0, width, tick, most_rounds):
        return None
    rest = _lonely_roots(core, packed, ranks, tick)
    if len(rest):
        first = len(masters)
        check_number(first + len(rest))
        labels.masters = np.concatenate((masters, rest))
        packed.make_room(len(labels.masters), labels.tally_longest())
        if not labels.grow_from(first, width, tick, most_rounds):
            return None
    _check_whole(core, packed.values)
    return labels


def _check_whole(core: Core, values: np.ndarray) -> None:
    """Raise StoreError unless labels have reached exactly the vertices with an edge. Code that counts and packs labels
    relies on that, and it can fail if rows are not symmetric."""
    visited = core.work.visited
    mark_reached(values, visited)
    visited ^= core.table.isolated
    wrong = np.flatnonzero(visited != 0xFFFFFFFFFFFFFFFF)
    if len(wrong):
        bits = ~int(visited[wrong[0]]) & 0xFFFFFFFFFFFFFFFF
        raise one_way(64 * int(wrong[0]) + (bits & -bits).bit_length() - 1)


def check_number(masters: int) -> None:
    """Raise InputError if there are more masters than a label can number."""
    if masters > MOST_MASTERS:
        raise InputError(f"a label holds no more than {MOST_MASTERS:,} masters", text=f"{masters:,}",
                         remedy="ask for fewer")


def _lonely_roots(core: Core, packed: LabelVector, ranks: np.ndarray, tick: Tick) -> np.ndarray:
    """The vertex of smallest rank of every component with an edge that no label has reached,
    ascending by rank. One scan over the blocks of its rows."""
    visited = core.work.visited
    mark_reached(packed.values, visited)
    visited |= core.table.isolated
    others = find_components(core, 0, tick)
    if others is None:
        return np.empty(0, np.int64)
    best = others.first_by_rank(ranks)
    others.release()
    return best[np.argsort(best[:, 0]), 1].copy()


def sample_vertices(core: Core, key: int, expected: int, ranks: np.ndarray) -> np.ndarray:
    """A sample of the vertices with an edge, each independently with probability expected / (their number), by a hash
    of (key, natural rank); int64[k] ascending by rank. The same vertices in every order of a store."""
    n = core.table.n_vertices
    candidates = max(1, n - core.n_isolated)
    threshold = min((expected << 64) // candidates, (1 << 64) - 1)
    taken = sample_span(core, key, threshold, expected >= candidates, ranks)
    return taken if len(ranks) == 0 else taken[np.argsort(ranks[taken])]


def sample_span(core: Core, key: int, threshold: int, everyone: bool, ranks: np.ndarray) -> np.ndarray:
    """The vertices of the core's span with an edge whose hash of (key, natural rank) is below the threshold (all, if
    everyone), int64[k] ascending. ranks : of the span, or length 0 if every vertex is its own rank."""
    choice = np.array(core.span), np.uint64(key), np.uint64(threshold), everyone, core.table.isolated, ranks
    taken = np.empty(sampled(*choice, np.empty(0, np.int64)), np.int64)
    sampled(*choice, taken)
    return taken


@kernel(uncompiled=uncompiled.sampled)
def sampled(span, key, threshold, everyone, isolated, ranks, out):
    """Write the vertices of sample_span to `out` until it is full; returns their total number."""
    count = 0
    for v in range(span[0], span[1]):
        if has_bit(isolated, v):
            continue
        rank = np.uint64(ranks[v - span[0]]) if len(ranks) else np.uint64(v)
        if everyone or draw(key, rank) < threshold:
            if count < len(out):
                out[count] = v
            count += 1
    return count


@inlined
def _group(labels, bits, v):
    return np.int64(np.uint64(labels[v]) & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@inlined
def _distance(labels, bits, v):
    return np.int64(np.uint64(labels[v]) >> np.uint64(bits))


@kernel
def tally_labels(labels, bits, radii, sizes):
    """Largest distance and number of vertices of every group."""
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            group = _group(labels, bits, v)
            sizes[group] += 1
            radii[group] = max(radii[group], _distance(labels, bits, v))


@kernel
def first_in_groups(labels, bits, ranks, radii, found):
    """found[g] = vertex of smallest rank in group g, with distance radii[g] unless radii has length 0."""
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            group = _group(labels, bits, v)
            if len(radii) == 0 or _distance(labels, bits, v) == radii[group]:
                old = found[group]
                if old < 0 or (len(ranks) and ranks[v] < ranks[old]):
                    found[group] = v


@kernel
def restart_labels(labels, bits, new_bits, base, parts):
    """Change every reached label to (base[group] + distance, parts[group]), with groups of new_bits bits; distances are
    cut to the largest that fits."""
    longest = (np.uint64(np.iinfo(labels.dtype).max) >> np.uint64(new_bits)) - np.uint64(1)
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            group = _group(labels, bits, v)
            distance = np.uint64(_distance(labels, bits, v)) + base[group]
            labels[v] = (min(distance, longest) << np.uint64(new_bits)) | parts[group]


@kernel
def longest_label(labels, bits):
    """Largest distance of a reached vertex, 0 if there is none."""
    longest = np.int64(0)
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            longest = max(longest, _distance(labels, bits, v))
    return longest


@kernel
def count_distances(labels, bits, counts):
    """counts[d] = vertices at distance d, int64[longest + 2], zeros before; the last entry counts the unreached."""
    last = len(counts) - 1
    for v in range(len(labels)):
        d = last if labels[v] == np.iinfo(labels.dtype).max else _distance(labels, bits, v)
        counts[d] += 1


@kernel
def place_by_distance(labels, bits, starts, places):
    """places[v] = the next place of its distance, from `starts` (int64[longest + 2], incremented; the last entry is for
    unreached vertices)."""
    last = len(starts) - 1
    for v in range(len(labels)):
        d = last if labels[v] == np.iinfo(labels.dtype).max else _distance(labels, bits, v)
        places[v] = starts[d]
        starts[d] += 1


@kernel
def replace_labels(labels, bits, distances, places):
    """labels[v] = (distances[places[v]], group of v) where v is reached."""
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            distance = np.uint64(distances[places[v]])
            labels[v] = (distance << np.uint64(bits)) | np.uint64(_group(labels, bits, v))


@kernel
def take_distances(labels, bits, distances):
    """distances[v] = distance of v, uint32[n], which may be the front of the memory of the labels."""
    for v in range(len(labels)):
        unreached = labels[v] == np.iinfo(labels.dtype).max
        distances[v] = np.iinfo(distances.dtype).max if unreached else _distance(labels, bits, v)


@kernel
def mark_reached(labels, bitmap):
    """bitmap = the reached vertices."""
    bitmap[:] = np.uint64(0)
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            bitmap[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
