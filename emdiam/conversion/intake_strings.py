"""Taking in string ids: vertices are the strings that occur, in byte order.

Pairs wait in the spool as 63-bit hashes, the distinct strings are sorted out of core, and once
the vertex of every string is known the table of hashes in that order joins the two. Two strings
with one hash are noticed (as many distinct hashes as strings are needed) and answered by taking
all in again with another salt; a source that cannot start over is kept in scratch for that.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.source import EdgeBatch
from ..sorting.merge import fewer_runs, merged
from ..sorting.sort import KeySorter, SortContext
from ..store.writer import StoreWriter
from .intake import Numbering, TableIntake, Tally, without_loops
from .relabel import IdTable
from .strings import StringFile, StringSorter, blocks_state, hash_strings, restored_blocks

_BINARY = pa.large_binary()


class HashCollisionError(Exception):
    """Two strings have the same hash under this salt."""


class StringIntake(TableIntake):
    """Ids are strings. name : of the source, for errors. salt : chooses the hash function. resumed : see Intake."""

    def __init__(self, name: str, context: SortContext, salt: int = 0, resumed: State | None = None) -> None:
        super().__init__(context, resumed)
        self._name, self._salt = name, salt
        self.tally = Tally.of(resumed)
        self._hashes: KeySorter | None = None
        # The strings by vertex, and their blocks.
        self._names = StringFile(context.scratch.file() if resumed is None else context.file(resumed["names"]),
                                 context.plan.string_block_bytes)
        self._name_blocks = [] if resumed is None else restored_blocks(resumed["name_blocks"])[0]

    def state(self) -> State:
        return {**super().state(), "tally": [self.tally.pairs, self.tally.loops], "names": self._names.name,
                "name_blocks": blocks_state([self._name_blocks])}

    def _new_sorter(self, resumed: State | None) -> StringSorter:
        return StringSorter(self._context, resumed)

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for a missing id."""
        ends = pa.concat_arrays([pa.array([], _BINARY), *_chunks(batch.src), *_chunks(batch.dst)])
        if ends.null_count:
            raise InputError("a vertex id is missing", path=self._name, remedy="give every edge two ids")
        if not len(ends):
            return
        coded = ends.dictionary_encode()
        distinct = coded.dictionary
        assert self._spool is not None
        hashes = hash_strings(distinct, self._salt, self._context.plan.hash_bits)
        both = hashes[coded.indices.to_numpy(zero_copy_only=False)]
        self._sorter.add(distinct)
        src, dst, _ = without_loops(both[: len(batch.src)], both[len(batch.src) :], self.tally)
        self._spool.add(src, dst)

    def _new_table(self) -> IdTable:
        """The hash of every string in byte order, the strings themselves in self._names. Raises HashCollisionError."""
        context = self._context
        table = IdTable(context.scratch.file(), increasing=False)
        self._hashes = KeySorter(context)
        for strings in self._sorter.sorted():
            self._name_blocks += self._names.append(strings)
            hashes = hash_strings(strings, self._salt, context.plan.hash_bits)
            table.append(hashes)
            self._hashes.add(hashes)
        self._sorter.abort()
        runs = fewer_runs(self._hashes.finish(), context)
        n_distinct = sum(merged(runs, context, len))
        runs.close()
        if n_distinct != table.n:
            table.file.close()
            raise HashCollisionError
        return table

    def _numbering(self, table: IdTable) -> Numbering:
        if not table.n:
            return Numbering(0, "string")
        first = self._names.read(self._name_blocks[0])[0].as_py()
        last = self._names.read(self._name_blocks[-1])[-1].as_py()
        return Numbering(table.n, "string", 0, first.decode(), last.decode())

    def _append_ids(self, writer: StoreWriter, table: IdTable) -> None:
        for block in self._name_blocks:
            writer.append_vertex_strings(self._names.read(block))

    def _close_ids(self) -> None:
        super()._close_ids()
        self._names.close()

    def abort(self) -> None:
        if self._hashes is not None:
            self._hashes.abort()
        super().abort()


class StoredBatches:
    """The batches of a source that cannot start over, kept in scratch as they pass."""

    def __init__(self, context: SortContext) -> None:
        self._file = StringFile(context.scratch.file(), context.plan.string_block_bytes)
        self._blocks: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]] = []

    def passing(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The same batches, each kept before it is handed on."""
        for batch in batches:
            self._blocks.append((self._store(batch.src), self._store(batch.dst)))
            yield batch

    def _store(self, column: pa.Array) -> list[tuple[int, int]]:
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
