"""String ids: vertices are the strings that occur, in byte order.

Pairs wait in the spool as 63-bit hashes, the distinct strings are sorted out of core, and once the vertex of every
string is known, a join with the table of hashes in that order replaces hashes with vertices. Two strings with the same
hash are detected (there are fewer distinct hashes than strings), and all pairs are then read again with another salt; a
source that cannot start over is stored in scratch for that.

Strings are Arrow arrays of large_binary, so that they compare as bytes. Distinct strings are collected up to a size,
sorted and written as a run of blocks (Arrow IPC, lz4) to a scratch file. A merge step takes, from the current block of
every run, the strings up to the smallest of the blocks' last strings, which uses up at least one block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.look_sample import IN_ONE_FORM, LOOK_THE_SAME, UNSEEN, as_seen
from ..formats.source import EdgeBatch
from ..hashing import mix64
from ..sorting.runs import Keys
from ..sorting.scratch import ScratchFile
from ..sorting.sort import KeySorter, SortContext, fewer_runs, merged
from ..store.writer import StoreWriter
from .intake import HashCollisionError, PairTally, TableIntake, VertexNumbering, without_loops
from .keys import numbers_of
from .relabel import IdTable

TOP_BIT = 1 << 63
_HASHED_AT_A_TIME = 1 << 15
_BINARY = pa.large_binary()
_MOST_ODD, _NOT_ASCII = 1 << 16, 0x80
# Letters that are not seen, blanks that are not broken, and accents beside their letter.
_ODD_LETTERS = f"[\u00a0{UNSEEN}\u0300-\u036f]"
_SCHEMA = pa.schema([("id", _BINARY)])


def hash_strings(strings: pa.Array, salt: int, bits: int) -> Keys:
    """A hash of every string, uint64[k] with the top bit set and `bits` (up to 63) others in use.

    strings : large_binary array without nulls. Words of 8 bytes are mixed in one after another
    (the finaliser of splitmix64), for many strings at a time.
    """
    hashes = np.empty(len(strings), np.uint64)
    for start in range(0, len(strings), _HASHED_AT_A_TIME):
        part = strings.slice(start, _HASHED_AT_A_TIME)
        hashes[start : start + len(part)] = _hash_words(part, salt)
    return (hashes & np.uint64((1 << bits) - 1)) | np.uint64(TOP_BIT)


def _hash_words(strings: pa.Array, salt: int) -> Keys:
    offsets, text = _buffers(strings)
    data = np.zeros(len(text) + 8, np.uint8)
    data[:-8] = text
    # Every position as the start of a little-endian word; the padding keeps the last words inside.
    words = np.ndarray(len(data) - 7, "<u8", data.data, strides=(1,))
    starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    hashes = mix64(lengths.astype(np.uint64) + np.uint64(salt << 32))
    active = np.flatnonzero(lengths > 0)
    place = 0
    while len(active):
        left = lengths[active] - place
        word = words[starts[active] + place]
        short = left < 8
        word[short] &= (np.uint64(1) << (8 * left[short]).astype(np.uint64)) - np.uint64(1)
        hashes[active] = mix64(hashes[active] ^ word)
        active = active[left > 8]
        place += 8
    return hashes


def _buffers(strings: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Offsets int64[k + 1] of a large_binary array, and the bytes from the first to the last."""
    _, offsets_buffer, data_buffer = strings.buffers()
    if not len(strings):
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    offsets = np.frombuffer(offsets_buffer, np.int64, len(strings) + 1, 8 * strings.offset)
    if offsets[0] == offsets[-1]:
        return offsets, np.empty(0, np.uint8)
    return offsets, np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]


def sorted_distinct(chunks: list[pa.Array]) -> pa.Array:
    """The distinct strings of all chunks in byte order.

    Sorts with repetitions and then removes them: a hash table of the distinct strings would take more memory than
    everything else here (about three copies at the peak).
    """
    ordered = pa.concat_arrays(chunks)
    ordered = ordered.take(pc.array_sort_indices(ordered))
    if len(ordered) < 2:
        return ordered
    fresh = pc.not_equal(ordered.slice(1), ordered.slice(0, len(ordered) - 1))
    return ordered.filter(pa.concat_arrays([pa.array([True]), fresh]))


class Gathering:
    """Strings copied into one piece of memory until it is full.

    n_bytes : half of it for characters, half for offsets. (Keeping the arrays of the batches instead would pin the
    freed memory between them.)
    """

    def __init__(self, n_bytes: int) -> None:
        self._data = np.empty(max(1, n_bytes // 2), np.uint8)
        self._offsets = np.zeros(max(2, n_bytes // 16), np.int64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def take(self, strings: pa.Array) -> int:
        """Copy the strings that fit; returns their number."""
        offsets, text = _buffers(strings)
        begin = int(self._offsets[self._n])
        fits = int(np.searchsorted(offsets - offsets[0], len(self._data) - begin, side="right")) - 1
        n = min(fits, len(self._offsets) - 1 - self._n)
        size = int(offsets[n] - offsets[0])
        self._data[begin : begin + size] = text[:size]
        self._offsets[self._n + 1 : self._n + 1 + n] = offsets[1 : n + 1] - offsets[0] + begin
        self._n += n
        return n

    def strings(self) -> pa.Array:
        """The collected strings, without a copy: valid until `take` is called after `clear`."""
        buffers = [None, pa.py_buffer(self._offsets), pa.py_buffer(self._data)]
        return pa.Array.from_buffers(_BINARY, self._n, buffers)

    def clear(self) -> None:
        self._n = 0


def warm_up() -> None:
    """Let Arrow do its initialisation (tens of MiB) now."""
    few = pa.array([b"a", b"b", b"a"], _BINARY).dictionary_encode().dictionary
    hash_strings(sorted_distinct([few, few]), 0, 63)


class StringFile:
    """Blocks of strings in a scratch file; `blocks` are their (offset, size) pairs."""

    def __init__(self, file: ScratchFile, block_bytes: int) -> None:
        self._file, self._block_bytes = file, block_bytes

    @property
    def name(self) -> str:
        return self._file.name

    def append(self, strings: pa.Array) -> list[tuple[int, int]]:
        """Write strings in blocks of about block_bytes; returns the blocks."""
        made = []
        rows = max(1, len(strings) * self._block_bytes // max(1, strings.nbytes))
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        for start in range(0, len(strings), rows):
            batch = pa.record_batch([strings.slice(start, rows)], schema=_SCHEMA)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, _SCHEMA, options=options) as stream:
                stream.write_batch(batch)
            data = sink.getvalue()
            made.append((self._file.append(np.frombuffer(data, np.uint8)), data.size))
        return made

    def read(self, block: tuple[int, int]) -> pa.Array:
        return pa.ipc.open_stream(pa.py_buffer(self._file.read(*block))).read_next_batch().column(0)

    def close(self) -> None:
        self._file.close()


def blocks_state(runs: list[list[tuple[int, int]]]) -> State:
    """Blocks of strings, run by run, as arrays."""
    return {"lengths": np.array([len(run) for run in runs], np.int64),
            "blocks": np.array([block for run in runs for block in run], np.int64).reshape(-1, 2)}


def restored_blocks(state: State) -> list[list[tuple[int, int]]]:
    """The inverse of `blocks_state`."""
    blocks = iter(state["blocks"].tolist())
    return [[(offset, size) for offset, size in islice(blocks, n)] for n in state["lengths"].tolist()]


class StringSorter:
    """Takes strings in any order; returns the distinct ones in byte order. resumed : a `state`."""

    def __init__(self, context: SortContext, resumed: State | None = None) -> None:
        plan = context.plan
        self._context = context
        self._gathering = Gathering(plan.string_bytes)
        file = context.scratch.file() if resumed is None else context.file(resumed["file"])
        self._file = StringFile(file, plan.string_block_bytes)
        self._runs: list[list[tuple[int, int]]] = [] if resumed is None else restored_blocks(resumed)

    def state(self) -> State:
        """All strings so far, which are written to disk first, as a state."""
        self._end_run()
        return {"file": self._file.name, **blocks_state(self._runs)}

    def add(self, strings: pa.Array) -> None:
        """Add a large_binary array without nulls."""
        while len(strings):
            strings = strings.slice(self._gathering.take(strings))
            if len(self._gathering) and len(strings):
                self._end_run()
            elif len(strings):
                # A string larger than the whole room becomes a run alone.
                self._write_run(strings.slice(0, 1))
                strings = strings.slice(1)

    def _end_run(self) -> None:
        if len(self._gathering):
            self._write_run(sorted_distinct([self._gathering.strings()]))
            self._gathering.clear()

    def _write_run(self, strings: pa.Array) -> None:
        self._runs.append(self._file.append(strings))
        self._context.stats.runs += 1
        self._context.stats.disk_runs += 1

    def sorted(self) -> Iterator[pa.Array]:
        """All distinct strings in byte order, large_binary arrays, never empty."""
        if not self._runs:
            if len(self._gathering):
                yield sorted_distinct([self._gathering.strings()])
            return
        self._end_run()
        plan = self._context.plan
        limit = max(2, plan.string_bytes // (2 * plan.string_block_bytes))
        while len(self._runs) > limit:
            self._merge_groups(limit)
        yield from _merge_strings(self._file, self._runs)

    def _merge_groups(self, limit: int) -> None:
        """Do one pass that merges groups of `limit` runs."""
        self._context.stats.merge_passes += 1
        fewer = StringFile(self._context.scratch.file(), self._context.plan.string_block_bytes)
        made = []
        for start in range(0, len(self._runs), limit):
            group = self._runs[start : start + limit]
            made.append([block for part in _merge_strings(self._file, group) for block in fewer.append(part)])
        self._file.close()
        self._file, self._runs = fewer, made

    def abort(self) -> None:
        self._file.close()


class _Cursor:
    """The position of the merge in one run: the remaining strings of the current block."""

    def __init__(self, file: StringFile, blocks: list[tuple[int, int]]) -> None:
        self._file, self._blocks = file, iter(blocks)
        self.strings: Any = None
        self._next_block()

    def _next_block(self) -> None:
        block = next(self._blocks, None)
        self.strings = None if block is None else self._file.read(block)

    def last(self) -> bytes:
        value: bytes = self.strings[-1].as_py()
        return value

    def take(self, bound: bytes) -> pa.Array:
        """Take the strings up to `bound`, and read the next block after the last string of this one."""
        stop = bisect_right(range(len(self.strings)), bound, key=lambda i: self.strings[i].as_py())
        taken = self.strings.slice(0, stop)
        self.strings = self.strings.slice(stop)
        if not len(self.strings):
            self._next_block()
        return taken


def _merge_strings(file: StringFile, runs: list[list[tuple[int, int]]]) -> Iterator[pa.Array]:
    """The distinct strings of sorted runs in byte order."""
    cursors = [_Cursor(file, blocks) for blocks in runs]
    while cursors := [cursor for cursor in cursors if cursor.strings is not None]:
        bound = min(cursor.last() for cursor in cursors)
        yield sorted_distinct([cursor.take(bound) for cursor in cursors])


class StringIntake(TableIntake):
    """Ids are strings. name : of the source, for errors. salt : chooses the hash function. resumed : see Intake. seen :
    whether two ids that look the same are an error."""

    def __init__(self, name: str, context: SortContext, salt: int = 0, resumed: State | None = None,
                 seen: bool = False) -> None:
        super().__init__(context, resumed)
        self._as_seen = _Seen() if seen else None
        self._name, self._salt = name, salt
        self.tally = PairTally.of(resumed)
        self._hashes: KeySorter | None = None
        # The strings by vertex, and their blocks.
        self._names = StringFile(context.scratch.file() if resumed is None else context.file(resumed["names"]),
                                 context.plan.string_block_bytes)
        self._name_blocks = [] if resumed is None else restored_blocks(resumed["name_blocks"])[0]

    def state(self) -> State:
        return {**super().state(), "tally": self.tally.state(), "names": self._names.name,
                "name_blocks": blocks_state([self._name_blocks])}

    def _new_sorter(self, resumed: State | None) -> StringSorter:
        return StringSorter(self._context, resumed)

    def add(self, batch: EdgeBatch) -> None:
        """Add a batch. Raises InputError for a missing id."""
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
        numbers = None if batch.weights is None else numbers_of(batch.weights)
        pairs = without_loops(both[: len(batch.src)], both[len(batch.src) :], numbers, self.tally)
        self._spool.add(pairs.src, pairs.dst, pairs.numbers)

    def _new_table(self) -> IdTable:
        """The hash of every string in byte order; the strings themselves go to self._names. Raises
        HashCollisionError."""
        context = self._context
        table = IdTable(context.scratch.file(), increasing=False)
        self._hashes = KeySorter(context)
        for strings in self._sorter.sorted():
            self._name_blocks += self._names.append(strings)
            if self._as_seen is not None:
                self._as_seen.watch(strings)
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
        twice = None if self._as_seen is None else self._as_seen.met_in(map(self._names.read, self._name_blocks))
        if twice is not None:
            raise InputError(LOOK_THE_SAME, path=self._name, text=twice, remedy=IN_ONE_FORM)
        return table

    def _numbering(self, table: IdTable) -> VertexNumbering:
        if not table.n:
            return VertexNumbering(0, "string")
        first = self._names.read(self._name_blocks[0])[0].as_py()
        last = self._names.read(self._name_blocks[-1])[-1].as_py()
        return VertexNumbering(table.n, "string", 0, first.decode(), last.decode())

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


class _Seen:
    """Ids with letters that are not seen or accents of their own, the first _MOST_ODD, as they look."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._twice: str | None = None

    def watch(self, strings: pa.Array) -> None:
        """Keep those among distinct strings, a large_binary array."""
        if _buffers(strings)[1].max(initial=0) < _NOT_ASCII or len(self._forms) >= _MOST_ODD:
            return
        try:
            texts = strings.cast(pa.large_string())
        except pa.ArrowInvalid:  # not UTF-8
            return
        odd = np.flatnonzero(pc.match_substring_regex(texts, _ODD_LETTERS).to_numpy(zero_copy_only=False))
        for text in texts.take(odd[:_MOST_ODD]).to_pylist():
            plain = as_seen(text)
            if plain in self._forms:
                self._twice = plain
            elif plain != text:
                self._forms.add(plain)

    def met_in(self, blocks: Iterator[pa.Array]) -> str | None:
        """A form that two ids have, or that is an id itself in these blocks of all ids; None without one."""
        if self._twice is None and self._forms:
            forms = pa.array([form.encode() for form in self._forms], _BINARY)
            met = next((same[0].as_py() for strings in blocks if len(same := strings.filter(
                pc.is_in(strings, value_set=forms)))), None)
            self._twice = None if met is None else met.decode()
        return self._twice


class StoredBatches:
    """The batches of a source that cannot start over, stored in scratch as they pass."""

    def __init__(self, context: SortContext) -> None:
        self._file = StringFile(context.scratch.file(), context.plan.string_block_bytes)
        self._weights = context.scratch.file() if context.weighted else None
        self._blocks: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]] = []

    def passing(self, batches: Iterator[EdgeBatch]) -> Iterator[EdgeBatch]:
        """The same batches, each stored before it is passed on."""
        for batch in batches:
            self._blocks.append((self._store(batch.src), self._store(batch.dst)))
            if self._weights is not None:
                self._weights.append(np.ascontiguousarray(batch.weights))
            yield batch

    def _store(self, column: pa.Array) -> list[tuple[int, int]]:
        return [block for chunk in _chunks(column) for block in self._file.append(chunk)]

    def again(self) -> Iterator[EdgeBatch]:
        """All batches again, from the first."""
        at = 0
        for ends in self._blocks:
            src, dst = (pa.chunked_array([self._file.read(block) for block in blocks], _BINARY) for blocks in ends)
            weights = None
            if self._weights is not None:
                weights = np.empty(len(src), np.float64)  # not units of 10^-k: for those the source is read again
                self._weights.read_array(at, weights)
                at += weights.nbytes
            yield EdgeBatch(src, dst, weights)


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """The column as large_binary arrays."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [pc.cast(chunk, _BINARY) for chunk in chunks]
