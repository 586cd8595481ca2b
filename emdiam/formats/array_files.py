"""A graph in several NumPy arrays (.npy): offsets and neighbours of rows (CSR), or sources and targets; optionally with
weights as a third array.

Their names decide which arrays they are (indptr and indices, row_ptr and col_idx, src and dst, ...), else `--format
csr` or `--format npy`, else their values if only one reading is possible. They are read in parallel as streams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, ClassVar

from ..errors import InputError
from .arrays import whole_numbers
from .base import FileSource
from .csr import ArrayStream, csr_batches
from .inputs import Input
from .npy import ArrayHeader, header_of_array
from .source import EdgeBatch, SourceInfo, Wishes, pairs_per_batch
from .tables import certain_pair
from .weights import checked_weights, kind_of

_SUFFIX, _CSR, _NPY = ".npy", "csr", "npy"
_MOST = 3
_OFFSETS = re.compile(r"(?:.*[._-])?(?:indptr|(?:row|col|crow)?_?(?:ptrs?|offsets?|pointers?)|crow_indices|xadj)")
_NEIGHBOURS = re.compile(r"(?:.*[._-])?(?:indices|(?:col|column)_?(?:idx|index|indices|ind)?|adj(?:ncy|acency)?"
                         r"|neighbou?rs?|edges|targets?|dst)")
_AGAIN = "write it with numpy.save from an array of whole numbers"
_BOTH = "for offsets and neighbours say --format csr, for sources and targets --format npy"


@dataclass(frozen=True)
class ArrayFile:
    """One array in one file."""

    input: Input
    header: ArrayHeader

    @property
    def length(self) -> int:
        """The number of its values."""
        return self.header.shape[0]

    @property
    def stem(self) -> str:
        """The name without its suffixes."""
        return PurePath(PurePath(self.input.name).name.lower().partition(_SUFFIX)[0]).name

    def error(self, what: str, **where: Any) -> InputError:
        """An InputError about this file."""
        return InputError(what, path=self.input.name, **where)

    def stream(self, stack: ExitStack, begin: int = 0) -> ArrayStream:
        """A stream of its values from number `begin` on."""
        dtype, start = self.header.dtype, self.header.start
        stream = stack.enter_context(closing(self.input.open_second()))
        stream.skip(start + begin * dtype.itemsize)
        return ArrayStream(stream.read, dtype, self.length - begin, lambda what, index, remedy=_AGAIN: self.error(
            what, byte=start + (begin + index) * dtype.itemsize, remedy=remedy))

    def value(self, place: int) -> int | float:
        """The value at `place`."""
        with ExitStack() as stack:
            found: int | float = self.stream(stack, place).items(1)[0].item()
            return found


def arrays_of(names: Sequence[str], wishes: Wishes) -> FileSource | None:
    """The source of edges in one-dimensional arrays, None unless the names are two or three such files. Raises
    InputError if the meaning of the arrays is not clear."""
    if not 2 <= len(names) <= _MOST or not all(PurePath(name).suffix.lower() == _SUFFIX for name in names) or (
            wishes.format not in (None, _CSR, _NPY)):
        return None
    files = []
    for name in names:
        source = Input(name)
        files.append(ArrayFile(source, header_of_array(source)))
    if not all(len(file.header.shape) == 1 for file in files):
        return None
    if wishes.columns is not None or wishes.bipartite:
        raise files[0].error("arrays of one dimension have no columns to choose from, and no two sides",
                             remedy="leave out --columns and --bipartite")
    files, is_csr = _in_order(files, wishes)
    reader = (CsrArraysSource if is_csr else EndArraysSource)(files[0].input, wishes)
    reader.arrays = files
    return reader


def _in_order(files: list[ArrayFile], wishes: Wishes) -> tuple[list[ArrayFile], bool]:
    """(arrays in order: offsets before neighbours, sources before targets, weights last; whether they are CSR).

    Raises InputError if two readings fit, or none."""
    stems = [file.stem for file in files]
    if wishes.format == _CSR:
        return files, True
    if wishes.format == _NPY:
        return files, False
    offsets = [i for i, stem in enumerate(stems) if _OFFSETS.fullmatch(stem)]
    neighbours = [i for i, stem in enumerate(stems) if _NEIGHBOURS.fullmatch(stem) and i not in offsets]
    if len(offsets) == len(neighbours) == 1:
        return _first(files, (offsets[0], neighbours[0])), True
    ends = certain_pair(stems)
    if ends is not None:
        return _first(files, ends), False
    orders = [pair for pair in ((0, 1), (1, 0)) if _fits_as_offsets(*(files[i] for i in pair))]
    alike = files[0].length == files[1].length
    if orders and (alike or len(orders) > 1):
        raise files[0].error(f"this and {files[1].input.name} may be offsets and neighbours, or sources and targets",
                             remedy=_BOTH)
    if not orders and not alike:
        raise files[0].error(f"this, of {files[0].length:,} values, and {files[1].input.name}, of {files[1].length:,},"
                             " are no offsets and neighbours, and no sources and targets",
                             remedy="give offsets from 0 to the number of neighbours, or arrays of one length")
    return _first(files, orders[0] if orders else (0, 1)), bool(orders)


def _first(files: list[ArrayFile], places: tuple[int, int]) -> list[ArrayFile]:
    return [*(files[i] for i in places), *(file for i, file in enumerate(files) if i not in places)]


def _fits_as_offsets(offsets: ArrayFile, neighbours: ArrayFile) -> bool:
    whole = offsets.header.dtype.kind in "iu"
    return whole and offsets.value(0) == 0 and offsets.value(offsets.length - 1) == neighbours.length


class ArrayFilesSource(FileSource):
    """The base of both readings. arrays : in the order of _in_order."""

    arrays: list[ArrayFile]
    second: ClassVar[str]

    @property
    def paths(self) -> list[Path]:
        """The files of all arrays."""
        return [file.input.path for file in self._files if file.input.path is not None]

    @property
    def _files(self) -> list[ArrayFile]:
        """The arrays. Raises InputError for a wrong number of arrays, or wrong types."""
        if not hasattr(self, "arrays"):
            raise self.error(f"{self.second} are in a second array", remedy="name both files, one behind the other")
        return self.arrays

    def _check(self, n_entries: int) -> SourceInfo:
        """The facts without a number of vertices. Raises InputError for types and lengths that do not match."""
        for file in self._files[: 2]:
            if file.header.dtype.kind not in self._kinds:
                raise file.error(f"an array of {file.header.dtype} has no {self.second}", remedy=_AGAIN)
        if len(self._files) > 2 and self._files[2].length != n_entries:
            raise self._files[2].error(f"there are {self._files[2].length:,} weights for {n_entries:,} edges",
                                       remedy="give every edge one")
        for file in self._files:
            self.input.watched.add(Path(file.input.name))
            file.header.check_size(file.input)
        kind = ""
        if self.weights is not None:
            if len(self._files) < _MOST:
                raise self.no_weights("there is no third array of them")
            found = kind_of(self._files[2].header.dtype)
            if found is None:
                raise self._files[2].error(f"an array of {self._files[2].header.dtype} has no weights", remedy=_AGAIN)
            kind = found
        self.weight_kind = kind
        size = sum(file.input.size_bytes or 0 for file in self._files)
        return SourceInfo(n_entries=n_entries, directed=True, weights=kind, size_bytes=size, format=self.format)

    _kinds: ClassVar[str] = "iu"

    def _weigher(self, stack: ExitStack) -> Callable[[int], Any] | None:
        choice = self.weights
        if choice is None:
            return None
        weights = self._files[2].stream(stack)

        def weigh(count: int) -> Any:
            first = weights.index
            return checked_weights(weights.items(count), choice, partial(weights.refusal, first))

        return weigh

    def _count(self, n_entries: int) -> None:
        self.dropped = {"weights": n_entries if len(self._files) > 2 and self.weights is None else 0}


class CsrArraysSource(ArrayFilesSource):
    """Offsets of rows, and their neighbours."""

    format = _CSR
    second = "offsets and neighbours"

    def _read_info(self) -> SourceInfo:
        info = self._check(self._files[1].length)
        return replace(info, n_vertices=self._files[0].length - 1)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with file and byte for offsets that decrease or do not end with the number
        of neighbours, and for neighbours that are no vertices."""
        self.info()
        with ExitStack() as stack:
            offsets, neighbours = (file.stream(stack) for file in self._files[:2])
            yield from csr_batches(offsets, neighbours, batch_bytes, self._files[0].length - 1, self._weigher(stack))
        self._count(self._files[1].length)


class EndArraysSource(ArrayFilesSource):
    """Sources and targets of edges, with any ids."""

    format = _NPY
    second = "sources and targets"
    _kinds = "iuf"

    def _read_info(self) -> SourceInfo:
        sources, targets = self._files[:2]
        if sources.length != targets.length:
            raise targets.error(f"there are {targets.length:,} targets for {sources.length:,} sources",
                                remedy="give arrays of one length, or offsets and neighbours with --format csr")
        return self._check(sources.length)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with file and byte for an invalid id."""
        n = self.info().n_entries or 0
        step = pairs_per_batch(batch_bytes)
        with ExitStack() as stack:
            ends, weigh = [file.stream(stack) for file in self._files[:2]], self._weigher(stack)
            for begin in range(0, n, step):
                count = min(step, n - begin)
                src, dst = (whole_numbers(end.items(count), partial(end.refusal, begin)) for end in ends)
                yield EdgeBatch(src, dst, None if weigh is None else weigh(count))
        self._count(n)
