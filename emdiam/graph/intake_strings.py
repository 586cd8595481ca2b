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

from ..errors import InputError
from .intake import Numbering, Tally, without_loops
from .merge import fewer_runs, merged
from .pack import ArcSorter
from .relabel import IdTable, PairSpool, join
from .sort import KeySorter, SortContext
from .source import EdgeBatch
from .strings import StringFile, StringSorter, hash_strings
from .writer import StoreWriter

_BINARY = pa.large_binary()


class HashCollisionError(Exception):
    """Two strings have the same hash under this salt."""


class StringIntake:
    """Ids are strings. name : of the source, for errors. salt : chooses the hash function."""

    def __init__(self, name: str, context: SortContext, salt: int = 0) -> None:
        self._name, self._context, self._salt = name, context, salt
        self._spool = PairSpool(context.scratch, max(1, context.plan.join_ids // 2))
        self._sorter = StringSorter(context)
        self._names = StringFile(context.scratch.file(), context.plan.string_block_bytes)
        self._name_blocks: list[tuple[int, int]] = []
        self._hashes: KeySorter | None = None
        self._arcs: ArcSorter | None = None
        self.tally = Tally()

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for a missing id."""
        ends = pa.concat_arrays([pa.array([], _BINARY), *_chunks(batch.src), *_chunks(batch.dst)])
        if ends.null_count:
            raise InputError("a vertex id is missing", path=self._name, remedy="give every edge two ids")
        if not len(ends):
            return
        coded = ends.dictionary_encode()
        distinct = coded.dictionary
        hashes = hash_strings(distinct, self._salt, self._context.plan.hash_bits)
        both = hashes[coded.indices.to_numpy(zero_copy_only=False)]
        self._sorter.add(distinct)
        src, dst, _ = without_loops(both[: len(batch.src)], both[len(batch.src) :], self.tally)
        self._spool.add(src, dst)

    def finish(self) -> Numbering:
        """Sort what is left and number the vertices. Raises HashCollisionError."""
        context = self._context
        self._spool.flush()
        table = self._table()
        context.meter.begin("relabel", 2 * self._spool.n_pairs, "endpoints")
        numbering = self._numbering(table.n)
        self._arcs = ArcSorter(table.n, replace(context, plan=context.plan.for_relabelling()))
        join(self._spool, table, context, self._arcs.add)
        table.file.close()
        self._spool.close()
        context.meter.begin("sort", None, "keys")
        self._arcs.finish()
        return numbering

    def _table(self) -> IdTable:
        """The hash of every string in byte order, the strings themselves in self._names."""
        context = self._context
        table = IdTable(context.scratch.file(), increasing=False)
        self._hashes = KeySorter(context)
        for strings in self._sorter.sorted():
            self._name_blocks += self._names.append(strings)
            hashes = hash_strings(strings, self._salt, context.plan.hash_bits)
            table.append(hashes)
            self._hashes.add(hashes)
        self._sorter.close()
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

    def write(self, writer: StoreWriter) -> int:
        """Append the strings and all rows; returns the number of arcs."""
        assert self._arcs is not None
        for block in self._name_blocks:
            writer.append_vertex_strings(self._names.read(block))
        self._names.close()
        return self._arcs.write_rows(writer)

    def abort(self) -> None:
        """Stop all threads and remove the files."""
        for sorter in (self._hashes, self._arcs):
            if sorter is not None:
                sorter.abort()
        for file in (self._spool, self._sorter, self._names):
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
