"""Pairs from the offsets and neighbours of a CSR graph, read in parallel in pieces; shared by .egr, .sg and .npz.

Offsets and neighbours are two separate streams (two file positions, two members of an archive), so that memory is about
one batch for any n and m.

ECL binary graphs (.egr; Burtscher's Efficient Computing Laboratory).

Little-endian int32: n, m, nindex[n + 1], nlist[m], and optionally eweight[m]. By convention both directions of an edge
are listed, but the file does not guarantee it.

Serialized graphs of the GAP Benchmark Suite (.sg, and .wsg with int32 weights).

As its WriteSerializedGraph writes them on a little-endian machine, without padding: directed (bool, 1 byte), entries
(int64), vertices (int64), out_index (int64[n + 1]), out_neighbours (int32[m], in .wsg pairs of neighbour and weight).
Directed graphs have the same two arrays for incoming edges; they are redundant and skipped.

Graphs of Galois (.gr of versions 1 and 2; .tgr, .csgr).

Little-endian uint64: version, bytes of an edge's data, n, m; then the ends of rows (uint64[n]), neighbours (uint32[m]
in version 1, padded to 8 bytes; uint64[m] in version 2), and the data of the edges, whose type is not in the file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from .base import FileSource
from .registry import format_suffix
from .source import EdgeBatch, SourceInfo, pairs_per_batch
from .streams import ByteStream
from .weights import WHOLE, WeightChoice, checked_weights, kind_of

_LEAST_ROWS = 64
_REMEDY = "fetch or write the file again"


@dataclass
class ArrayStream:
    """An array that is read in order.

    read : read(size) -> its next bytes, at most `size`; empty at the end. dtype : of its items, with byte order.
    length : number of items. error : creates an InputError from a sentence, the index of an item and optionally a
    remedy. field : the field to use if dtype is structured. index : index of the next item. last : the items of the
    last `take`, with all fields.
    """

    read: Callable[[int], bytes]
    dtype: np.dtype[Any]
    length: int
    error: Callable[..., InputError]
    field: str | None = None
    index: int = 0
    last: Any = None

    def items(self, count: int) -> Any:
        """The next `count` items (fewer at the end of the array), dtype[k]. Raises InputError when the bytes end
        early."""
        count = min(count, self.length - self.index)
        wanted = count * self.dtype.itemsize
        data = bytearray()
        while len(data) < wanted:
            piece = self.read(wanted - len(data))
            if not piece:
                raise self.error("the data are cut short", self.index + len(data) // self.dtype.itemsize)
            data += piece
        self.index += count
        self.last = np.frombuffer(data, self.dtype)
        return self.last

    def take(self, count: int) -> Any:
        """The next items as int64[k], see `items`. Raises InputError also if an item does not fit int64."""
        first, items = self.index, self.items(count)
        if self.field is not None:
            items = items[self.field]
        if items.dtype.kind == "u" and items.dtype.itemsize == 8 and (items >> 63).any():
            raise self.error("a number is larger than 2^63 - 1", first + int(np.argmax(items >> 63)))
        return items.astype(np.int64)

    def take_ids(self, count: int, n_vertices: int, what: str) -> Any:
        """The next items as `take`. Raises InputError also for an item outside 0..n_vertices - 1. what : the noun for
        an item in the message."""
        first = self.index
        ids = self.take(count)
        outside = (ids < 0) | (ids >= n_vertices)
        if outside.any():
            at = int(np.argmax(outside))
            raise self.error(f"{what} {ids[at]} is outside 0..{n_vertices - 1}", first + at)
        return ids

    def take_weights(self, count: int, choice: WeightChoice) -> Any:
        """The next items as weights, float64[k]. Raises InputError also for an invalid weight."""
        first = self.index
        return checked_weights(self.items(count), choice, partial(self.refusal, first))

    def refusal(self, first: int, what: str, place: int, *, text: str, remedy: str) -> InputError:
        """The error for the weight with index first + place."""
        return self.error(f"{what} ({text})", first + place, remedy)

    def take_offsets(self, count: int, previous: int, n_entries: int) -> Any:
        """`previous` and the next `count` items, int64[k + 1]. Raises InputError also if they decrease or exceed
        n_entries."""
        first = self.index
        window = np.concatenate(([previous], self.take(count)))
        falls = window[1:] < window[:-1]
        if falls.any():
            raise self.error("the row offsets are not monotone", first + int(np.argmax(falls)))
        if window[-1] > n_entries:
            beyond = int(np.argmax(window[1:] > n_entries))
            raise self.error(f"a row offset is larger than the {n_entries:,} entries", first + beyond)
        return window


def csr_batches(offsets: ArrayStream, neighbours: ArrayStream, batch_bytes: int, n_columns: int,
                weigh: Callable[[int], Any] | None = None, ends_alone: bool = False) -> Iterator[EdgeBatch]:
    """(row, neighbour) pairs as int64 batches.

    offsets : n + 1 non-decreasing items from 0 to neighbours.length; with ends_alone the first one (0) is not stored.
    Neighbours are in [0, n_columns). weigh : weigh(count) -> the weights of the neighbours read last. Raises InputError
    through the streams' `error`.
    """
    capacity, row = pairs_per_batch(batch_bytes), 0
    first = 0 if ends_alone else int(offsets.take(1)[0])
    if first != 0:
        raise offsets.error(f"the first row offset is {first}, not 0", 0)
    while offsets.index < offsets.length:
        window = offsets.take_offsets(max(_LEAST_ROWS, capacity // 2), first, neighbours.length)
        while first < window[-1]:
            last = min(first + capacity, int(window[-1]))
            degrees = np.diff(np.clip(window, first, last))
            rows = np.repeat(np.arange(row, row + len(degrees)), degrees)
            ids = neighbours.take_ids(last - first, n_columns, "neighbour")
            yield EdgeBatch(rows, ids, None if weigh is None else weigh(len(ids)))
            first = last
        row += len(window) - 1
    if first != neighbours.length:
        raise offsets.error(f"the last row offset is {first:,} but there are {neighbours.length:,} entries",
                            offsets.length - 1)


@dataclass(frozen=True)
class CsrLayout:
    """The layout of a file: header_bytes, then n + 1 offsets, then n_entries neighbours, then one of `tails`.

    tails : valid sizes in bytes of the rest. weights_behind : whether the rest is weights. weight_dtype : their dtype;
    None: id_dtype. padding : bytes before them. ends_alone : whether the first offset, 0, is not stored. id_field :
    field of the neighbour if its weight is beside it. directed : whether an edge may be listed in one direction only.
    symmetric : whether the format guarantees both directions; then they are checked.
    """

    header_bytes: int
    n_vertices: int
    n_entries: int
    offset_dtype: np.dtype[Any]
    id_dtype: np.dtype[Any]
    tails: tuple[int, ...] = (0,)
    weights_behind: bool = False
    id_field: str | None = None
    directed: bool = False
    symmetric: bool = False
    weight_dtype: np.dtype[Any] | None = None
    padding: int = 0
    ends_alone: bool = False

    @property
    def n_offsets(self) -> int:
        """The number of row offsets in the file."""
        return self.n_vertices + (not self.ends_alone)

    @property
    def neighbours_at(self) -> int:
        """The byte offset of the neighbours."""
        return self.header_bytes + self.n_offsets * self.offset_dtype.itemsize

    def weighted(self, size: int | None, compression: str | None) -> bool:
        """Whether the file has weights, from its size; for a compressed file, whether it may have weights."""
        behind = self.weights_behind and (compression is not None or size is None or size > self.end)
        return self.id_field is not None or behind

    @property
    def end(self) -> int:
        """The byte offset after the neighbours."""
        return self.neighbours_at + self.n_entries * self.id_dtype.itemsize


class BinaryCsrSource(FileSource):
    """A raw binary file of a header, offsets and neighbours. Subclasses interpret the header.

    header : dtype of the header. suffix : file suffix of the format.
    """

    header: ClassVar[np.dtype[Any]]
    suffix: ClassVar[str]

    @abstractmethod
    def _layout(self, header: Any) -> CsrLayout:
        """The layout from the numbers of the header. Raises InputError for invalid numbers."""

    def _read_layout(self) -> CsrLayout:
        self.input.require_places(f"an {self.suffix} graph is read at two places at once")
        head = self.input.peek(self.header.itemsize)
        if len(head) < self.header.itemsize:
            raise self.error("the file is cut short within its header", byte=len(head), remedy=_REMEDY)
        return self._layout(np.frombuffer(head, self.header)[0].tolist())

    def _read_info(self) -> SourceInfo:
        layout = self._read_layout()
        self._check_size(layout)
        if self.weights is not None and not layout.weighted(self.input.size_bytes, self.input.compression):
            raise self.no_weights("the file has none")
        self.weight_kind = "" if self.weights is None else kind_of(layout.weight_dtype or layout.id_dtype) or WHOLE
        return self._facts(n_vertices=layout.n_vertices, n_entries=layout.n_entries, directed=layout.directed,
                           both_directions=not layout.directed, weights=self.weight_kind)

    def _check_size(self, layout: CsrLayout) -> None:
        """Raise InputError if the size of an uncompressed file differs from its header."""
        if self.input.compression is None and self.input.size_bytes is not None:
            self._check_tail(layout, self.input.size_bytes)

    def _check_tail(self, layout: CsrLayout, size: int) -> None:
        if size < layout.end:
            raise self.error(f"the file is cut short: its header ({layout.n_vertices:,} vertices, {layout.n_entries:,} "
                             f"entries) demands {layout.end:,} bytes", byte=size, remedy=_REMEDY)
        if size - layout.end not in layout.tails:
            raise self.error(f"{size - layout.end} bytes follow the neighbour list, where "
                             f"{' or '.join(map(str, layout.tails))} are expected", byte=layout.end, remedy=_REMEDY)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the byte for a short file, decreasing offsets or neighbours that are
        no vertices; and for a graph that is not symmetric if the format guarantees it."""
        layout = self._read_layout()
        if layout.symmetric:
            from .symmetry import checked_symmetric  # has kernels that other readers do not need

            yield from checked_symmetric(self, lambda size: self._rows(layout, size), batch_bytes)
        else:
            yield from self._rows(layout, batch_bytes)

    def _rows(self, layout: CsrLayout, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The pairs of the graph; also reads the rest of the file, to detect damage there."""
        self._check_size(layout)
        with ExitStack() as stack:
            tables, lists = (stack.enter_context(closing(stream))
                             for stream in (self.input.open_second(), self.input.open()))
            tables.skip(layout.header_bytes)
            lists.skip(layout.neighbours_at)
            offsets = self._array(tables, layout.header_bytes, layout.offset_dtype, layout.n_offsets)
            neighbours = self._array(lists, layout.neighbours_at, layout.id_dtype, layout.n_entries)
            neighbours.field = layout.id_field
            weigh = None if self.weights is None else self._weigher(stack, layout, neighbours, self.weights)
            yield from csr_batches(offsets, neighbours, batch_bytes, layout.n_vertices, weigh, layout.ends_alone)
            rest = lists.skip(None if self.input.compression else max(layout.tails))
        self._check_tail(layout, layout.end + rest)
        weighted = layout.id_field or (layout.weights_behind and rest)
        self.dropped = {"weights": layout.n_entries if weighted and self.weights is None else 0}

    def _weigher(self, stack: ExitStack, layout: CsrLayout, neighbours: ArrayStream, choice: WeightChoice) -> Callable[
            [int], Any]:
        """A function: count -> the weights of the neighbours read last."""
        if layout.id_field is not None:
            return lambda count: checked_weights(
                neighbours.last["weight"], choice, partial(neighbours.refusal, neighbours.index - count))
        stream = stack.enter_context(closing(self.input.open_second()))
        begin = layout.end + layout.padding
        stream.skip(begin)
        weights = self._array(stream, begin, layout.weight_dtype or layout.id_dtype, layout.n_entries)
        return lambda count: weights.take_weights(count, choice)

    def _array(self, stream: ByteStream, start: int, dtype: np.dtype[Any], length: int) -> ArrayStream:
        return ArrayStream(stream.read, dtype, length, lambda what, index, remedy=_REMEDY: self.error(
            what, byte=start + index * dtype.itemsize, remedy=remedy))


_INT = np.dtype("<i4")


class EclSource(BinaryCsrSource):
    """See the module."""

    format, suffix = "ecl", ".egr"
    header = np.dtype([("n", _INT), ("m", _INT)])

    def _layout(self, header: Any) -> CsrLayout:
        n, m = header
        if n < 0 or m < 0:
            raise self.error(f"no ECL graph: it would have {n:,} vertices and {m:,} entries", byte=0,
                             remedy="name the right format with --format")
        return CsrLayout(self.header.itemsize, n, m, _INT, _INT, tails=(0, m * _INT.itemsize), weights_behind=True)


_OFFSET, _ID = np.dtype("<i8"), np.dtype("<i4")
_WEIGHTED_ID = np.dtype([("id", _ID), ("weight", _ID)])


class GapbsSource(BinaryCsrSource):
    """See the module. Undirected graphs list both directions of each edge; this is checked."""

    format, suffix = "gapbs", ".sg"
    header = np.dtype([("directed", "u1"), ("m", "<i8"), ("n", "<i8")])

    def _layout(self, header: Any) -> CsrLayout:
        directed, m, n = header
        if directed > 1 or not 0 <= m < 2**48 or not 0 <= n <= 2**31:
            raise self.error("no GAPBS graph: its header makes no sense", byte=0,
                             remedy="name the right format with --format")
        weighted = format_suffix(self.name) == ".wsg"
        entry = _WEIGHTED_ID if weighted else _ID
        incoming = (n + 1) * _OFFSET.itemsize + m * entry.itemsize
        return CsrLayout(self.header.itemsize, n, m, _OFFSET, entry, tails=(0, incoming) if directed else (0,),
                         id_field="id" if weighted else None, directed=bool(directed), symmetric=not directed)


_LONG = np.dtype("<u8")
# Possible types of edge data by their size in bytes, as named in --weights.
_DATA = {1: ("uint8", "int8"), 2: ("uint16", "int16"), 4: ("uint32", "int32", "float32"),
         8: ("uint64", "int64", "float64")}


def is_galois(head: bytes) -> bool:
    """Whether a file with these first bytes may be a graph of Galois."""
    if len(head) < 32 or head[0] not in (1, 2) or any(head[1:8]):
        return False
    size, n, m = np.frombuffer(head, _LONG, 3, 8).tolist()
    return size <= 64 and n < 1 << 48 and m < 1 << 56


class GaloisSource(BinaryCsrSource):
    """See the module."""

    format, suffix = "galois", ".gr"
    header = np.dtype([("version", _LONG), ("size", _LONG), ("n", _LONG), ("m", _LONG)])
    takes_columns = True

    def _layout(self, header: Any) -> CsrLayout:
        version, size, n, m = header
        if not is_galois(np.array(header, _LONG).tobytes()):
            raise self.error(f"no graph of Galois: version {version:,}, {size:,} bytes of data an edge, {n:,} vertices"
                             f" and {m:,} edges", byte=0, remedy="name the right format with --format")
        ids = np.dtype("<u4") if version == 1 else _LONG
        padding = -m * ids.itemsize % 8
        tails = (padding + m * size,) if size else tuple({0, padding})
        return CsrLayout(self.header.itemsize, n, m, _LONG, ids, tails=tails, weights_behind=bool(size), directed=True,
                         weight_dtype=self._weight_dtype(size), padding=padding, ends_alone=True)

    def _weight_dtype(self, size: int) -> np.dtype[Any] | None:
        """The dtype of edge data that are kept as weights. Raises InputError if the user does not name it."""
        if self.weights is None or not size:
            return None
        kinds = _DATA.get(size, ())
        if self.weights.column in kinds:
            return np.dtype(self.weights.column).newbyteorder("<")
        if not kinds:
            raise self.no_weights(f"its data of {size} bytes an edge are no numbers")
        raise self.error(f"data of {size} bytes an edge may be numbers of several types, which the file does not say",
                         text=self.weights.column or None,
                         remedy="name it: " + ", ".join(f"--weights={kind}" for kind in kinds))
