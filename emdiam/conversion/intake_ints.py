"""Taking in integer ids where the vertices are exactly the ids that occur (a loop counts).

As long as all ids are below the size of a bitmap, arcs are sorted by raw ids and relabelled by
rank while they are merged (_Compact). At the first larger id everything taken so far moves to the
path for any 64-bit ids: pairs wait in a spool, their endpoints are sorted to a table, and a join
puts vertices for ids (Wide). The source is never read twice.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from ..checkpoint.records import State
from ..formats.source import EdgeBatch
from ..sorting.merge import fewer_runs
from ..sorting.presence import Presence, Ranks
from ..sorting.runs import DiskRun, Keys
from ..sorting.sort import KeySorter, RunSet, SortContext
from ..store.layout import id_dtype
from ..store.writer import StoreWriter
from .arc_keys import FLAG_BITS, pairs_of, put_both_directions
from .arcs import ArcSplitter, RowStream
from .intake import Numbering, Tally, id_blocks, refuse_negative, without_loops
from .pack import ArcSorter
from .relabel import IdTable, JoinPosition, PairSpool, join, sorted_table


class IntIntake:
    """Ids are any integers in [0, 2^64). name : of the source, for errors. resumed : see Intake."""

    def __init__(self, name: str, context: SortContext, resumed: State | None = None) -> None:
        self._name, self._context = name, context
        self.tally = Tally.of(resumed)
        self._compact: _Compact | None = None
        self._wide: _Wide | None = None
        if resumed is not None and resumed["wide"] is not None:
            self._wide = _Wide(context, resumed["wide"])
        else:
            self._compact = _Compact(context, resumed and resumed["compact"])

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for a negative id."""
        for block in id_blocks(batch):
            largest = block.largest
            if largest >= 1 << 63:
                refuse_negative(block, self._name)
            if self._compact is not None and largest >= self._compact.n_ids:
                self._widen(self._compact)
            src, dst, loops = without_loops(block.src, block.dst, self.tally)
            way = self._compact or self._wide
            assert way is not None
            way.add(src, dst, loops)

    def _widen(self, compact: _Compact) -> None:
        """Move all that was taken in to the path for wide ids."""
        self._wide = _Wide(self._context)
        compact.move_to(self._wide)
        self._compact = None

    def finish(self) -> Numbering:
        """Sort what is left and number the vertices."""
        way = self._compact or self._wide
        assert way is not None
        return way.finish()

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        """See Intake."""
        way = self._compact or self._wide
        assert way is not None
        return way.write(writer)

    def state(self) -> State:
        """See Intake."""
        return {"tally": [self.tally.pairs, self.tally.loops],
                "compact": self._compact and self._compact.state(), "wide": self._wide and self._wide.state()}

    def abort(self) -> None:
        """Stop all threads."""
        for way in (self._compact, self._wide):
            if way is not None:
                way.abort()


def _numbering(n: int, first: int, last: int) -> Numbering:
    """Numbering of n integers from `first` to `last`; without a map where there are no gaps."""
    if not n:
        return Numbering(0, "identity")
    gaps = last - first + 1 - n
    kind = "int" if gaps else "offset" if first else "identity"
    return Numbering(n, kind, first if kind == "offset" else 0, first, last, gaps)


class _Compact:
    """Ids below n_ids: arcs by raw ids, and a bitmap of the ids that occur."""

    def __init__(self, context: SortContext, resumed: State | None = None) -> None:
        self._context = context
        self._shift = (context.plan.key_bits - FLAG_BITS) // 2
        self._runs: RunSet | None = None
        self._ranks: Ranks | None = None
        if resumed is None:
            self._presence = Presence(min(context.plan.presence_ids, 1 << self._shift))
        else:
            self._presence = Presence.restored(resumed["presence"])
        self.n_ids = self._presence.n_ids
        self._sorter = KeySorter(context, on_run=lambda keys: self._presence.add_sources(keys, self._shift + FLAG_BITS),
                                 resumed=resumed and resumed["sorter"])
        if resumed is not None and resumed["runs"] is not None:
            self._runs, self._ranks = RunSet.restored(resumed["runs"], context), Ranks(self._presence)

    def state(self) -> State:
        # The sorter enters ids into the bitmap until it is at rest, so it comes first.
        sorter = self._sorter.state() if self._runs is None else None
        return {"sorter": sorter, "runs": self._runs and self._runs.state(), "presence": self._presence.state()}

    def add(self, src: Keys, dst: Keys, loops: Keys | None) -> None:
        put_both_directions(self._sorter, src, dst, self._shift)
        if loops is not None:
            self._presence.add(np.unique(loops))

    def move_to(self, wide: _Wide) -> None:
        """Give everything to `wide`, each direction of an edge once, and stop."""
        runs = self._sorter.finish(on_disk=True)
        for run in runs.runs:
            assert isinstance(run, DiskRun)
            for keys in run.blocks(0, len(run.firsts)):
                wide.add_pairs(*pairs_of(keys, self._shift))
        runs.close()
        for ids in self._presence.ids():
            wide.add_ids(ids)

    def finish(self) -> Numbering:
        if self._runs is None:
            self._runs = self._sorter.finish()
        self._runs = fewer_runs(self._runs, self._context, self._passed)
        self._ranks = Ranks(self._presence)
        return _numbering(self._ranks.n, self._ranks.first, self._ranks.last)

    def _passed(self, runs: RunSet) -> None:
        """A pass has made these of the runs."""
        self._runs = runs
        self._context.safe.reached()

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        assert self._ranks is not None and self._runs is not None
        ranks, dtype = self._ranks, id_dtype(self._ranks.n)
        if ranks.contiguous:
            splitter = ArcSplitter(self._shift, dtype, first=ranks.first)
        else:
            splitter = ArcSplitter(self._shift, dtype, rank=ranks.rank)
            if writer.rows_resumed is None:
                for ids in self._presence.ids():
                    writer.append_ids("vertex_id", ids.view(np.int64))
        stream = RowStream(writer, ranks.n)
        if not stream.part:
            stream.take(self._runs, self._context, splitter)
        stream.finish()
        if not self._context.safe.active:  # else they are kept for a store that has to be begun again
            self._runs.close()
        return stream.n_arcs, stream.n_reverse

    def abort(self) -> None:
        self._sorter.abort()


class _Wide:
    """Any 64-bit ids: pairs in a spool, endpoints sorted to a table, then a join."""

    def __init__(self, context: SortContext, resumed: State | None = None) -> None:
        self._context = context
        self._spool: PairSpool | None = None
        self._endpoints: KeySorter | None = None
        self._arcs: ArcSorter | None = None
        self._table: IdTable | None = None
        self._position = JoinPosition()
        if resumed is None:
            self._spool = PairSpool(context.scratch, max(1, context.plan.join_ids // 2))
            self._endpoints = KeySorter(context)
        else:
            self._resume(resumed)

    def _resume(self, state: State) -> None:
        """Go on from what `state` told."""
        context = self._context
        self._position = JoinPosition(*state["position"])
        if state["spool"] is not None:
            self._spool = PairSpool.restored(state["spool"], context)
        if state["table"] is None:
            self._endpoints = KeySorter(context, resumed=state["endpoints"])
        else:
            self._table = IdTable.restored(state["table"], context)
            self._arcs = self._new_arcs(self._table.n, state["arcs"])

    def state(self) -> State:
        joined = self._table is not None
        return {
            "position": [self._position.start, self._position.block, self._position.n_found],
            "spool": self._spool and self._spool.state(),
            "endpoints": None if joined or self._endpoints is None else self._endpoints.state(),
            "table": self._table and self._table.state(), "arcs": self._arcs and self._arcs.state(),
        }

    def _new_arcs(self, n: int, resumed: State | None = None) -> ArcSorter:
        return ArcSorter(n, replace(self._context, plan=self._context.plan.for_relabelling()), resumed)

    def add(self, src: Keys, dst: Keys, loops: Keys | None) -> None:
        self.add_pairs(src, dst)
        for ids in (src, dst, loops):
            if ids is not None:
                self.add_ids(ids)

    def add_pairs(self, src: Keys, dst: Keys) -> None:
        """Keep pairs whose ids are added apart."""
        assert self._spool is not None
        self._spool.add(src, dst)

    def add_ids(self, ids: Keys) -> None:
        """These ids occur."""
        assert self._endpoints is not None
        self._endpoints.add(ids)

    def finish(self) -> Numbering:
        context = self._context
        if self._table is None:
            assert self._spool is not None and self._endpoints is not None
            self._spool.flush()
            self._table = sorted_table(self._endpoints.finish(), context)
            context.safe.reached(always=True)
        table = self._table
        numbering = _numbering(table.n, *table.ends())
        if self._arcs is None:
            self._arcs = self._new_arcs(table.n)
        if self._spool is not None:
            context.meter.begin("relabel", 2 * self._spool.n_pairs, "endpoints")
            if numbering.gaps:
                join(self._spool, table, context, self._arcs.add, self._position)
            else:
                self._subtract(self._spool, self._arcs, table.ends()[0])
            self._spool.close()
            self._spool = None
        context.meter.begin("sort", None, "keys")
        self._arcs.finish()
        return numbering

    def _subtract(self, spool: PairSpool, arcs: ArcSorter, first: int) -> None:
        """Ids without gaps need no table."""
        for offset, n_pairs in islice(spool.offsets(), self._position.block, None):
            block = spool.read(offset, n_pairs) - np.uint64(first)
            arcs.add(block[:n_pairs], block[n_pairs:])
            self._position.block += 1
            self._context.safe.reached()

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        assert self._arcs is not None and self._table is not None
        first, last = self._table.ends()
        if writer.rows_resumed is None and last - first + 1 != self._table.n:
            for ids in self._table.blocks():
                writer.append_ids("vertex_id", ids.view(np.int64) if last < 1 << 63 else ids)
        if not self._context.safe.active:  # else it is kept for a store that has to be begun again
            self._table.file.close()
        return self._arcs.write_rows(writer), self._arcs.n_reverse

    def abort(self) -> None:
        for sorter in (self._endpoints, self._arcs):
            if sorter is not None:
                sorter.abort()
