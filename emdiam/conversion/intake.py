"""Reading of pairs: from the batches of a source to sorted runs of arcs among vertices 0..n-1.

    DeclaredIntake    ids in [first_id, first_id + n), declared by the format; every id there is a vertex
    IntIntake         the vertices are the integers that occur (a loop counts)
    StringIntake      the vertices are the strings that occur, in byte order; see strings.py

While all integers are below the size of a bitmap, arcs are sorted by raw ids and relabelled by rank in the merge
(_Compact). At the first larger id all pairs so far move to the path for any 64-bit ids (_Wide): pairs wait in a spool,
their endpoints are sorted into a table, and a join replaces ids with vertices. The source is never read twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..distinct import distinct
from ..errors import InputError
from ..formats.source import EdgeBatch, SourceInfo
from ..sorting.runs import DiskRun, Keys, Presence, Ranks
from ..sorting.sort import KeySorter, SortContext
from ..store.layout import id_dtype
from ..store.writer import StoreWriter
from .arc_keys import ArcKeys
from .arcs import ArcSorter, ArcSplitter, RowStream
from .keys import BLOCK, WeightEnds, low_bits, numbers_of, pairs_of, weighted_pairs_of
from .relabel import IdTable, JoinPosition, PairSpool, join, sorted_table


@dataclass
class PairTally:
    """pairs : number so far. loops : the pairs of a vertex with itself among them. weights : of the others."""

    pairs: int = 0
    loops: int = 0
    weights: WeightEnds = field(default_factory=WeightEnds)

    @classmethod
    def of(cls, resumed: State | None) -> PairTally:
        """The tally from the state of an intake, or a new one."""
        if resumed is None:
            return cls()
        pairs, loops, *ends = resumed["tally"]
        return cls(pairs, loops, WeightEnds(*ends))

    def state(self) -> list[int | None]:
        """The tally, for the state of an intake."""
        ends = self.weights
        return [self.pairs, self.loops, ends.least, ends.largest, ends.places, ends.counted]


@dataclass(frozen=True)
class VertexNumbering:
    """The numbering of vertices; see StoreRecord for id_kind and first_id.

    min_id, max_id : the user's smallest and largest id (None without vertices). gaps : number of integers between them
    that are not vertices.
    """

    n_vertices: int
    id_kind: str
    first_id: int = 0
    min_id: int | str | None = None
    max_id: int | str | None = None
    gaps: int = 0


class Intake(Protocol):
    """Call `add` for every batch, then `finish` and `write`; or `abort` at any time.

    `state` may be read between two calls and at the safe points inside them. An intake made with it as `resumed`
    continues from there: with `add`, then `finish` (again), then `write`.
    """

    tally: PairTally

    def add(self, batch: EdgeBatch) -> None:
        """Add a batch. Raises InputError for an invalid id."""

    def finish(self) -> VertexNumbering:
        """Sort the rest after the last batch, and number the vertices."""

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        """Append the array of ids, if any, and all rows; returns the number of arcs, and of edges that came in both
        directions."""

    def state(self) -> State:
        """The whole progress as a state."""

    def abort(self) -> None:
        """Stop all threads."""


class HashCollisionError(Exception):
    """Two strings have the same hash under this salt."""


@dataclass(frozen=True)
class IdBlock:
    """Ids of some pairs, uint64[k]. signed : whether src and dst came as signed integers, so that values from 2^63 on
    are really negative. numbers : of their weights, uint64[k]."""

    src: Keys
    dst: Keys
    signed: tuple[bool, bool]
    numbers: Keys | None = None

    @property
    def largest(self) -> int:
        """The largest id; negative ones count as 2^63 and more."""
        return max(int(self.src.max()), int(self.dst.max()))

    def first_user_id(self, wrong: Callable[[Keys], npt.NDArray[np.bool_]]) -> int | None:
        """The first id for which `wrong` is true, as the user wrote it, or None."""
        for ids, signed in zip((self.src, self.dst), self.signed, strict=True):
            places = np.flatnonzero(wrong(ids))
            if len(places):
                return int(ids.view(np.int64)[places[0]]) if signed else int(ids[places[0]])
        return None


def id_blocks(batch: EdgeBatch) -> Iterator[IdBlock]:
    """The batch in blocks that stay in cache. Raises TypeError unless ids are integers."""
    src, dst = np.asarray(batch.src), np.asarray(batch.dst)
    if src.dtype.kind not in "iu" or dst.dtype.kind not in "iu" or src.shape != dst.shape or src.ndim != 1:
        raise TypeError(f"batches of integer ids of equal length expected, not {src.dtype}{src.shape}"
                        f" and {dst.dtype}{dst.shape}")
    signed = (src.dtype.kind == "i", dst.dtype.kind == "i")
    for start in range(0, len(src), BLOCK):
        here = slice(start, start + BLOCK)
        yield IdBlock(_as_uint64(src[here]), _as_uint64(dst[here]), signed,
                      None if batch.weights is None else numbers_of(batch.weights[here]))


def _as_uint64(values: np.ndarray[Any, np.dtype[Any]]) -> Keys:
    """The same bits as uint64, sign-extended."""
    if values.dtype.itemsize < 8:
        values = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64)
    return np.ascontiguousarray(values).view(np.uint64)


def refuse_negative(block: IdBlock, name: str) -> None:
    """Raise InputError if an id of 2^63 or more in the block is really negative."""
    for ids, signed in zip((block.src, block.dst), block.signed, strict=True):
        if signed and ids.max() >= 1 << 63:
            raise InputError(
                "a negative vertex id", path=name, text=str(int(ids.view(np.int64).min())),
                remedy="ids are integers from 0 up, or convert them as strings with --ids string",
            )


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs without loops, uint64[k]; numbers of their weights, or None; and ids of loops, or None."""

    src: Keys
    dst: Keys
    numbers: Keys | None
    loops: Keys | None


def without_loops(src: Keys, dst: Keys, numbers: Keys | None, tally: PairTally) -> NumberedPairs:
    """Count pairs, loops and weights; returns the pairs that are not loops."""
    keep = src != dst
    n_loops = len(src) - int(np.count_nonzero(keep))
    tally.pairs += len(src)
    tally.loops += n_loops
    left = NumberedPairs(src, dst, numbers, None) if not n_loops else NumberedPairs(
        src[keep], dst[keep], None if numbers is None else numbers[keep], src[~keep])
    if left.numbers is not None:
        tally.weights.add(left.numbers)
    return left


class DeclaredIntake:
    """Ids are in [first_id, first_id + n_vertices), and every id there is a vertex.

    info : with n_vertices. name : of the source, for errors. resumed : see Intake. arcs : a replacement for the
    ArcSorter, or None.
    """

    def __init__(self, info: SourceInfo, name: str, context: SortContext, resumed: State | None = None,
                 arcs: Any = None) -> None:
        assert info.n_vertices is not None
        self._n, self._first, self._labels, self._name = info.n_vertices, info.first_id, info.labels, name
        self._arcs: Any = arcs or ArcSorter(self._n, context, resumed and resumed["arcs"])
        self.tally = PairTally.of(resumed)

    def add(self, batch: EdgeBatch) -> None:
        """Add a batch. Raises InputError for an id outside the declared range."""
        for block in id_blocks(batch):
            # An id below first_id wraps to a very large one and fails the same test.
            src, dst = self._from_first(block.src), self._from_first(block.dst)
            if max(int(src.max()), int(dst.max())) >= self._n:
                raise InputError(
                    f"a vertex id outside the declared {self._first}..{self._first + self._n - 1}", path=self._name,
                    text=str(block.first_user_id(lambda ids: self._from_first(ids) >= np.uint64(self._n))),
                    remedy="correct the id or the declared number of vertices",
                )
            pairs = without_loops(src, dst, block.numbers, self.tally)
            self._arcs.add(pairs.src, pairs.dst, pairs.numbers)

    def _from_first(self, ids: Keys) -> Keys:
        return ids - np.uint64(self._first) if self._first else ids

    def finish(self) -> VertexNumbering:
        self._arcs.finish()
        if self._labels is not None and self._n:
            first, last = self._labels[0], self._labels[-1]
            if isinstance(self._labels, np.ndarray):
                return numbering_of(self._n, int(first), int(last))
            return VertexNumbering(self._n, "string", 0, first.as_py(), last.as_py())
        last = self._first + self._n - 1
        return VertexNumbering(self._n, "offset" if self._first else "identity", self._first,
                               self._first if self._n else None, last if self._n else None)

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        if self._labels is not None and writer.rows_resumed is None:
            if not isinstance(self._labels, np.ndarray):
                writer.append_vertex_strings(self._labels)
            elif int(self._labels[-1]) - int(self._labels[0]) != self._n - 1:
                writer.append_ids("vertex_id", self._labels)
        return self._arcs.write_rows(writer), self._arcs.n_reverse

    def state(self) -> State:
        return {"tally": self.tally.state(), "arcs": self._arcs.state()}

    def abort(self) -> None:
        self._arcs.abort()


class IntIntake:
    """Ids are any integers in [0, 2^64). name : of the source, for errors. resumed : see Intake."""

    def __init__(self, name: str, context: SortContext, resumed: State | None = None) -> None:
        self._name, self._context = name, context
        self.tally = PairTally.of(resumed)
        self._way: _Compact | _Wide
        if resumed is not None and resumed["wide"] is not None:
            self._way = _Wide(context, resumed["wide"])
        else:
            self._way = _Compact(context, resumed and resumed["compact"])

    def add(self, batch: EdgeBatch) -> None:
        """Add a batch. Raises InputError for a negative id."""
        for block in id_blocks(batch):
            largest = block.largest
            if largest >= 1 << 63:
                refuse_negative(block, self._name)
            if isinstance(self._way, _Compact) and largest >= self._way.n_ids:
                self._widen(self._way)
            self._way.add(without_loops(block.src, block.dst, block.numbers, self.tally))

    def declare(self, first: int, last: int) -> None:
        """Make all integers from `first` to `last` vertices, also without a pair."""
        if isinstance(self._way, _Compact) and last >= self._way.n_ids:
            self._widen(self._way)
        for start in range(first, last + 1, BLOCK):
            self._way.add_ids(np.arange(start, min(start + BLOCK, last + 1), dtype=np.uint64))

    def _widen(self, compact: _Compact) -> None:
        """Move all pairs so far to the path for wide ids."""
        wide = _Wide(self._context)
        try:
            compact.move_to(wide)
        except BaseException:
            wide.abort()
            raise
        self._way = wide

    def finish(self) -> VertexNumbering:
        return self._way.finish()

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        return self._way.write(writer)

    def state(self) -> State:
        state, compact = self._way.state(), isinstance(self._way, _Compact)
        return {"tally": self.tally.state(), "compact": state if compact else None, "wide": None if compact else state}

    def abort(self) -> None:
        self._way.abort()


def numbering_of(n: int, first: int, last: int) -> VertexNumbering:
    """The numbering of n integers from `first` to `last`; without an array of ids if there are no gaps."""
    if not n:
        return VertexNumbering(0, "identity")
    gaps = last - first + 1 - n
    kind = "int" if gaps else "offset" if first else "identity"
    return VertexNumbering(n, kind, first if kind == "offset" else 0, first, last, gaps)


class _Compact:
    """Ids below n_ids: arcs by raw ids, and a bitmap of the ids that occur."""

    def __init__(self, context: SortContext, resumed: State | None = None) -> None:
        self._context = context
        behind = low_bits(context.weighted)
        self._shift = (context.plan.key_bits - behind) // 2
        self._ranks: Ranks | None = None
        if resumed is None:
            self._presence = Presence(min(context.plan.presence_ids, 1 << self._shift))
        else:
            self._presence = Presence.restored(resumed["presence"])
        self.n_ids, self.add_ids = self._presence.n_ids, self._presence.add
        self._keys = ArcKeys(context, self._shift, resumed=resumed and resumed["keys"],
                             on_run=lambda keys: self._presence.add_sources(keys, self._shift + behind))
        if self._keys.runs is not None:
            self._ranks = Ranks(self._presence)

    def state(self) -> State:
        # Sorting threads add ids to the bitmap until they are idle, so the keys come first.
        keys = self._keys.state()
        return {"keys": keys, "presence": self._presence.state()}

    def add(self, pairs: NumberedPairs) -> None:
        self._keys.add(pairs.src, pairs.dst, pairs.numbers)
        if pairs.loops is not None:
            self.add_ids(distinct(pairs.loops))

    def move_to(self, wide: _Wide) -> None:
        """Pass everything to `wide`, each direction of an edge once, and stop."""
        runs = self._keys.on_disk()
        for run in runs.runs:
            assert isinstance(run, DiskRun)
            pairs = weighted_pairs_of if run.followed else pairs_of
            for entries in run.blocks(0, len(run.firsts)):
                wide.add_pairs(*pairs(entries, self._shift, self._context.directed))
        runs.close()
        for ids in self._presence.ids():
            wide.add_ids(ids)

    def finish(self) -> VertexNumbering:
        self._keys.finish()
        self._ranks = Ranks(self._presence)
        return numbering_of(self._ranks.n, self._ranks.first, self._ranks.last)

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        runs = self._keys.runs
        assert self._ranks is not None and runs is not None
        ranks, dtype, directed = self._ranks, id_dtype(self._ranks.n), self._context.directed
        splitter = ArcSplitter(self._shift, dtype, directed=directed, weights=writer.weight_form)
        if ranks.contiguous:
            splitter = replace(splitter, first=ranks.first)
        else:
            splitter = replace(splitter, rank=ranks.rank)
            if writer.rows_resumed is None:
                for ids in self._presence.ids():
                    writer.append_ids("vertex_id", ids.view(np.int64))
        stream = RowStream(writer, ranks.n, directed)
        if not stream.part:
            stream.take(runs, self._context, splitter)
        stream.finish()
        if not self._context.safe.active:  # otherwise kept in case the store must be started again
            runs.close()
        return stream.n_arcs, stream.n_arcs // 2 if self._keys.symmetric else stream.n_reverse

    def abort(self) -> None:
        self._keys.abort()


class TableIntake(ABC):
    """Base of intakes that look up ids in a table: pairs wait in a spool until the id of every vertex is known, and a
    join replaces ids with vertices. resumed : see Intake."""

    def __init__(self, context: SortContext, resumed: State | None = None) -> None:
        self._context, self._position = context, JoinPosition()
        self._spool: PairSpool | None = None
        self._sorter: Any = None  # of the ids that occur: KeySorter or StringSorter
        self._table: IdTable | None = None
        self._arcs: ArcSorter | None = None
        if resumed is None:
            self._spool = PairSpool(context.scratch, max(1, context.plan.join_ids // 2), followed=context.weighted)
            self._sorter = self._new_sorter(None)
            return
        self._position = JoinPosition(*resumed["position"])
        if resumed["spool"] is not None:
            self._spool = PairSpool.restored(resumed["spool"], context)
        if resumed["table"] is None:
            self._sorter = self._new_sorter(resumed["sorter"])
        else:
            self._table = IdTable.restored(resumed["table"], context)
            self._arcs = self._new_arcs(self._table.n, resumed["arcs"])

    @abstractmethod
    def _new_sorter(self, resumed: State | None) -> Any:
        """The sorter of the ids that occur."""

    @abstractmethod
    def _new_table(self) -> IdTable:
        """The table with the id of every vertex, from the sorter."""

    @abstractmethod
    def _numbering(self, table: IdTable) -> VertexNumbering:
        """The numbering of the vertices."""

    @abstractmethod
    def _append_ids(self, writer: StoreWriter, table: IdTable) -> None:
        """Write the array of ids, if any."""

    def _new_arcs(self, n: int, resumed: State | None = None) -> ArcSorter:
        return ArcSorter(n, replace(self._context, plan=self._context.plan.for_relabelling()), resumed)

    def state(self) -> State:
        return {
            "position": [self._position.start, self._position.block, self._position.n_replaced],
            "spool": self._spool and self._spool.state(),
            "sorter": None if self._table is not None else self._sorter.state(),
            "table": self._table and self._table.state(), "arcs": self._arcs and self._arcs.state(),
        }

    def finish(self) -> VertexNumbering:
        context = self._context
        if self._table is None:
            assert self._spool is not None
            self._spool.flush()
            self._table = self._new_table()
            context.safe.reached(always=True)
        if self._arcs is None:
            self._arcs = self._new_arcs(self._table.n)
        if self._spool is not None:
            context.meter.begin("relabel", 2 * self._spool.n_pairs, "endpoints")
            join(self._spool, self._table, context, self._take_joined, self._position)
            self._spool.close()
            self._spool = None
        context.meter.begin("sort", None, "keys")
        self._arcs.finish()
        return self._numbering(self._table)

    def _take_joined(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Take pairs of vertices, with the numbers of their weights, from the join."""
        assert self._arcs is not None
        self._arcs.add(src, dst, numbers)

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        assert self._arcs is not None and self._table is not None
        if writer.rows_resumed is None:
            self._append_ids(writer, self._table)
        if not self._context.safe.active:  # otherwise kept in case the store must be started again
            self._close_ids()
        return self._arcs.write_rows(writer), self._arcs.n_reverse

    def _close_ids(self) -> None:
        """Remove the files with the ids."""
        if self._table is not None:
            self._table.file.close()

    def abort(self) -> None:
        for sorter in (self._sorter, self._arcs):
            if sorter is not None:
                sorter.abort()
        if self._spool is not None:
            self._spool.close()
        self._close_ids()


class _Wide(TableIntake):
    """Any 64-bit ids: the endpoints of the pairs are sorted into the table."""

    def _new_sorter(self, resumed: State | None) -> KeySorter:
        return KeySorter(self._context, resumed=resumed)

    def add(self, pairs: NumberedPairs) -> None:
        self.add_pairs(pairs.src, pairs.dst, pairs.numbers)
        for ids in (pairs.src, pairs.dst, pairs.loops):
            if ids is not None:
                self.add_ids(ids)

    def add_pairs(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Store pairs whose ids are added separately."""
        assert self._spool is not None
        self._spool.add(src, dst, numbers)

    def add_ids(self, ids: Keys) -> None:
        """Add ids that occur."""
        self._sorter.add(ids)

    def _new_table(self) -> IdTable:
        return sorted_table(self._sorter.finish(), self._context)

    def _numbering(self, table: IdTable) -> VertexNumbering:
        return numbering_of(table.n, *table.ends())

    def _append_ids(self, writer: StoreWriter, table: IdTable) -> None:
        if not table.contiguous:
            signed = table.ends()[1] < 1 << 63
            for ids in table.blocks():
                writer.append_ids("vertex_id", ids.view(np.int64) if signed else ids)
