"""Taking in string ids: vertices are the strings that occur, in byte order.

Pairs wait in the spool as 63-bit hashes, the distinct strings are sorted out of core, and once
the vertex of every string is known the table of hashes in that order joins the two. Two strings
with one hash are noticed (as many distinct hashes as strings are needed) and answered by taking
all in again with another salt; a source that cannot start over is kept in scratch for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.source import EdgeBatch
from ..sorting.merge import fewer_runs, merged
from ..sorting.sort import KeySorter, SortContext
from ..store.writer import StoreWriter
from .intake import Numbering, Tally, without_loops
from .pack import ArcSorter
from .relabel import IdTable, JoinPosition, PairSpool, join
from .strings import StringFile, StringSorter, blocks_state, hash_strings, restored_blocks

_BINARY = pa.large_binary()


class HashCollisionError(Exception):
    """Two strings have the same hash under this salt."""


class StringIntake:
    """Ids are strings. name : of the source, for errors. salt : chooses the hash function. resumed :
    see Intake."""

    def __init__(self, name: str, context: SortContext, salt: int = 0, resumed: State | None = None) -> None:
        self._name, self._context, self._salt = name, context, salt
        self._spool: PairSpool | None = None
        self._sorter: StringSorter | None = None
        self._name_blocks: list[tuple[int, int]] = []
        self._hashes: KeySorter | None = None
        self._table: IdTable | None = None
        self._arcs: ArcSorter | None = None
        self._position = JoinPosition()
        self.tally = Tally.of(resumed)
        if resumed is None:
            self._spool = PairSpool(context.scratch, max(1, context.plan.join_ids // 2))
            self._sorter = StringSorter(context)
            file = context.scratch.file()
        else:
            file = context.file(resumed["names"])
            self._resume(resumed)
        self._names = StringFile(file, context.plan.string_block_bytes)

    def _resume(self, state: State) -> None:
        """Go on from what `state` told."""
        context = self._context
        self._position = JoinPosition(*state["position"])
        if state["spool"] is not None:
            self._spool = PairSpool.restored(state["spool"], context)
        if state["sorter"] is not None:
            self._sorter = StringSorter(context, state["sorter"])
        (self._name_blocks,) = restored_blocks(state["name_blocks"])
        if state["table"] is not None:
            self._table = IdTable.restored(state["table"], context)
        if state["arcs"] is not None:
            self._arcs = self._new_arcs(*state["arcs"])

    def state(self) -> State:
        """See Intake."""
        return {
            "tally": [self.tally.pairs, self.tally.loops],
            "position": [self._position.start, self._position.block, self._position.n_found],
            "spool": self._spool and self._spool.state(), "sorter": self._sorter and self._sorter.state(),
            "names": self._names.name, "name_blocks": blocks_state([self._name_blocks]),
            "table": self._table and self._table.state(),
            "arcs": self._arcs and [self._n, self._arcs.state()],
        }

    def _new_arcs(self, n: int, resumed: State | None = None) -> ArcSorter:
        self._n = n
        return ArcSorter(n, replace(self._context, plan=self._context.plan.for_relabelling()), resumed)

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for a missing id."""
        ends = pa.concat_arrays([pa.array([], _BINARY), *_chunks(batch.src), *_chunks(batch.dst)])
        if ends.null_count:
            raise InputError("a vertex id is missing", path=self._name, remedy="give every edge two ids")
        if not len(ends):
            return
        coded = ends.dictionary_encode()
        distinct = coded.dictionary
        assert self._sorter is not None and self._spool is not None
        hashes = hash_strings(distinct, self._salt, self._context.plan.hash_bits)
        both = hashes[coded.indices.to_numpy(zero_copy_only=False)]
        self._sorter.add(distinct)
        src, dst, _ = without_loops(both[: len(batch.src)], both[len(batch.src) :], self.tally)
        self._spool.add(src, dst)

    def finish(self) -> Numbering:
        """Sort what is left and number the vertices. Raises HashCollisionError."""
        context = self._context
        if self._spool is not None:
            self._spool.flush()
            if self._table is None:
                assert self._sorter is not None
                self._table = self._new_table(self._sorter)
                self._sorter = None
                context.safe.reached(always=True)
            if self._arcs is None:
                self._arcs = self._new_arcs(self._table.n)
            context.meter.begin("relabel", 2 * self._spool.n_pairs, "endpoints")
            join(self._spool, self._table, context, self._arcs.add, self._position)
            self._table.file.close()
            self._spool.close()
            self._table = self._spool = None
        assert self._arcs is not None
        context.meter.begin("sort", None, "keys")
        self._arcs.finish()
        return self._numbering(self._n)

    def _new_table(self, sorter: StringSorter) -> IdTable:
        """The hash of every string in byte order, the strings themselves in self._names."""
        context = self._context
        table = IdTable(context.scratch.file(), increasing=False)
        self._hashes = KeySorter(context)
        for strings in sorter.sorted():
            self._name_blocks += self._names.append(strings)
            hashes = hash_strings(strings, self._salt, context.plan.hash_bits)
            table.append(hashes)
            self._hashes.add(hashes)
        sorter.close()
        runs = fewer_runs(self._hashes.finish(), context)
        n_distinct = sum(merged(runs, context, len))
        runs.close()
        if n_distinct != table.n:
            raise HashCollisionError
        return table

    def _numbering(self, n: int) -> Numbering:
        if not n:
            return Numbering(0, "string")
        first = self._names.read(self._name_blocks[0])[0].as_py()
        last = self._names.read(self._name_blocks[-1])[-1].as_py()
        return Numbering(n, "string", 0, first.decode(), last.decode())

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        """See Intake."""
        assert self._arcs is not None
        if writer.rows_resumed is None:
            for block in self._name_blocks:
                writer.append_vertex_strings(self._names.read(block))
        if not self._context.safe.active:  # else they are kept for a store that has to be begun again
            self._names.close()
        return self._arcs.write_rows(writer), self._arcs.n_reverse

    def abort(self) -> None:
        """Stop all threads and remove the files."""
        for sorter in (self._hashes, self._arcs):
            if sorter is not None:
                sorter.abort()
        for file in (self._spool, self._sorter, self._names):
            if file is not None:
                file.close()


class KeptBatches:
    """The batches of a source that cannot start over, kept in scratch as they pass."""

    def __init__(self, context: SortContext) -> None:
        self._file = StringFile(context.scratch.file(), context.plan.string_block_bytes)
        self._blocks: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]] = []

    def passing(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The same batches, each kept before it is handed on."""
        for batch in batches:
            self._blocks.append((self._keep(batch.src), self._keep(batch.dst)))
            yield batch

    def _keep(self, column: pa.Array) -> list[tuple[int, int]]:
        return [block for chunk in _chunks(column) for block in self._file.append(chunk)]

    def again(self) -> Iterator[EdgeBatch]:
        """All batches from the first on."""
        for src, dst in self._blocks:
            yield EdgeBatch(*(pa.chunked_array([self._file.read(block) for block in blocks], _BINARY)
                              for blocks in (src, dst)))


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The column as large_binary arrays."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [pc.cast(chunk, _BINARY) for chunk in chunks]
