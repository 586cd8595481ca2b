"""The verbs of the external engine for components and clusters: see Engine in engine/interface.py.

A restart is a BFS from all sources at once: correcting upper bounds in any order would need an entry for every vertex.

Arcs between clusters are found with labels sent along arcs: every vertex sends its label to its neighbours, and in each
range of vertices their labels are compared with the received ones. I/O, with m arcs and b the bytes of an id: one pass
over the arcs; (b + 8) m written and read, if they do not fit the buffer; 16 per vertex for the labels. Bytes: the
buffer twice; 8 per vertex of a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property, partial

import numpy as np

from ..engine.interface import Labels
from ..engine.reporter import Reporter
from ..hashing import draw
from ..jit import kernel
from ..progress import Tick, no_tick
from ..store.store import Store
from ..traverse.clusters import check_number
from ..traverse.columns import Column
from ..traverse.labels import UNREACHED, WIDE_BITS
from ..traverse.paths import one_way
from .buckets import Fold
from .columns import WordFile
from .components import ExternalComponents, Hidden, external_components
from .disk import NaturalRanks
from .forest import DiskForest
from .growth import GROUP, DiskGrowth, DiskLabels, new_labels
from .queues import Space
from .rows import Rows, pieces
from .tree_diameter import tree_diameter

Push = Callable[[np.ndarray], None]
# part(first, stop): the words that vertices send and that are compared with received ones, uint64[stop - first].
Part = Callable[[int, int], np.ndarray]


def push_meetings(
    rows: Rows, space: Space, part: Part, crossing: bool, bits: tuple[int, int], push: Push, tick: Tick = no_tick,
) -> None:
    """Pass packed arcs to `push`, like Engine.condense. part : labels if `crossing`, when only arcs between two
    clusters count, else new numbers of vertices."""
    shifts = np.array([bits[0] + bits[1], bits[1]], np.uint64)
    pack = pack_crossing if crossing else pack_renumbered

    def meet(here: np.ndarray, first: int, keys: np.ndarray, values: np.ndarray) -> None:
        for start, stop in pieces(len(keys)):
            heads, packed = keys[start:stop], np.empty(stop - start, np.uint64)
            count = pack(heads, first, here, values[start:stop], shifts, packed)
            if count < 0:
                raise one_way(int(heads[-1 - count]))
            if count:
                push(packed[:count])

    sources = ((np.arange(start, stop), part(start, stop)) for start, stop in pieces(rows.table.n_vertices))
    rows.bring(sources, space.buckets(Fold(part, meet)), tick=tick)


@kernel
def pack_crossing(heads, first, own, others, shifts, packed):
    """Pack the arcs from clusters of `others` to different clusters of `heads`; see push_meetings.

    Returns the number of words, or -1 - i if an end of arc i is in no cluster.
    """
    count = 0
    for i in range(len(heads)):
        here = own[np.int64(heads[i]) - first]
        if here == UNREACHED or others[i] == UNREACHED:
            return -1 - i
        group = here & GROUP
        other = others[i] & GROUP
        if group != other:
            weight = (here >> np.uint64(WIDE_BITS)) + (others[i] >> np.uint64(WIDE_BITS)) + np.uint64(1)
            packed[count] = (group << shifts[0]) | (other << shifts[1]) | weight
            count += 1
    return count


@kernel
def pack_renumbered(heads, first, own, others, shifts, packed):
    """Pack all arcs with the new numbers of their ends and the weight 1."""
    for i in range(len(heads)):
        packed[i] = (own[np.int64(heads[i]) - first] << shifts[0]) | (others[i] << shifts[1]) | np.uint64(1)
    return len(heads)


# The compiled hash takes one number; its Python source also takes arrays.
_draws = getattr(draw, "py_func", draw)


class ClusteringVerbs:
    """The part of the external engine for components and clusters.

    _rows : of the graph (its verb `rows` lists a few). space : scratch space for data of vertices.
    """

    store: Store
    reporter: Reporter
    _rows: Rows
    space: Space

    @cached_property
    def natural_ranks(self) -> NaturalRanks:
        """Natural ranks of all vertices. Raises StoreError."""
        return NaturalRanks(self.store, self.space)

    @property
    def _n_connected(self) -> int:
        """Number of vertices with an edge."""
        return self.store.n_vertices - self.store.record.n_isolated

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.ranks."""
        return self.natural_ranks.take(ids)

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """See Engine.sample_vertices."""
        candidates = max(1, self._n_connected)
        threshold = np.uint64(min((expected << 64) // candidates, (1 << 64) - 1))
        taken, at = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for vertices, degrees in self._rows.ascending():
            ranks = self.natural_ranks.part(int(vertices[0]), int(vertices[-1]) + 1)
            chosen = degrees > 0
            if expected < candidates:
                chosen &= _draws(np.uint64(key), ranks.astype(np.uint64)) < threshold
            taken.append(vertices[chosen])
            at.append(ranks[chosen])
        result: np.ndarray = np.concatenate(taken)[np.argsort(np.concatenate(at))]
        return result

    def hidden_components(self, unseen: Callable[[int, int], np.ndarray], reached: int) -> ExternalComponents | None:
        """The components of unseen vertices with an edge. unseen(first, stop) : bool[stop - first]. reached : label of
        all other vertices."""
        rows = self._rows

        def members(first: int, stop: int) -> np.ndarray:
            hidden = unseen(first, stop)
            if hidden.any():
                hidden &= rows.degrees_of(first, stop) > 0
            return hidden

        def sources() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for _, first, stop in self.space.ranges.each():
                vertices = np.flatnonzero(members(first, stop)) + first
                for begin, end in pieces(len(vertices)):
                    yield (vertices[begin:end],) * 2

        hidden = Hidden(lambda sink: rows.send(sources(), sink, up=True, tick=self.reporter.heartbeat), members,
                        lambda first, stop: (rows.degrees_of(first, stop), self.natural_ranks.part(first, stop)))
        found = external_components(self.space, hidden, reached, self.reporter.heartbeat)
        if found is not None:
            rows.counters.add(passes=1)
        return found

    def tree_diameter(self, column: Column, source: int) -> int:
        """Engine.scan("tree-diameter", ...)."""
        if column.gather([source])[0] != 0:
            raise ValueError(f"vertex {source} is not the source of these distances")
        return tree_diameter(self._rows, self.space, column, self.natural_ranks, self.reporter.heartbeat)

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> DiskForest:
        """See Engine.spanning_forest; works in rounds and ignores the buffer size."""
        return DiskForest(self._rows, self.space, self.natural_ranks, key, self._n_connected, self.reporter.heartbeat)

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        check_number(len(masters))
        words = new_labels(self.space)
        if not self._grow(words, masters, 0, most_rounds):
            return None
        lonely = self.hidden_components(lambda first, stop: words[first:stop] == UNREACHED, 0)
        if lonely is not None:
            best = lonely.first_by_rank()
            lonely.release()
            first = len(masters)
            masters = np.concatenate((masters, best[np.argsort(best[:, 0]), 1]))
            check_number(len(masters))
            if not self._grow(words, masters, first, most_rounds):
                return None
        self._check_whole(words)
        return DiskLabels(self.space, words, masters, self.natural_ranks)

    def _grow(self, words: WordFile, seeds: np.ndarray, first: int, most_rounds: int | None = None) -> bool:
        """Grow around the seeds from number `first` on; returns False if that takes more rounds than allowed."""
        with closing(DiskGrowth(self._rows, self.space, words, len(seeds))) as growth:
            return growth.grow(seeds[first:], first, most_rounds, self.reporter.heartbeat)

    def _check_whole(self, words: WordFile) -> None:
        """Raise StoreError unless exactly the vertices with an edge have labels."""
        for vertices, degrees in self._rows.ascending():
            first, stop = int(vertices[0]), int(vertices[-1]) + 1
            wrong = np.flatnonzero((words[first:stop] == UNREACHED) != (degrees == 0))
            if len(wrong):
                raise one_way(first + int(wrong[0]))

    def restart(self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray,
                most_scans: int | None = None) -> bool:
        """See Engine.restart; a BFS from all sources, without a limit of scans."""
        assert isinstance(labels, DiskLabels)
        labels.words, labels.masters = new_labels(self.space), sources
        self._grow(labels.words, np.asarray(sources, np.int64), 0)
        self._rows.counters.add(traversals=1)
        return True

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.condense."""
        to = partial(push_meetings, self._rows, self.space, bits=bits, push=push, tick=self.reporter.heartbeat)
        if isinstance(by, np.ndarray):
            to(lambda first, stop: by[first:stop].astype(np.uint64), False)
            return
        assert isinstance(by, DiskLabels)
        words = by.words
        to(lambda first, stop: words[first:stop], True)
