"""Adjacency graphs of Ligra, GBBS and PBBS (.adj): numbers in text, usually one a line.

    AdjacencyGraph            n, m, offsets of rows (n numbers), neighbours (m numbers)
    WeightedAdjacencyGraph    the same, and weights of the neighbours (m numbers)

Vertices are 0 to n - 1. The parts are read in parallel; a first pass finds their byte offsets. The file does not say
whether each edge is listed in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ..errors import InputError
from .arrays import arrow_numbers
from .base import FileSource
from .csr import ArrayStream, csr_batches
from .csv_table import WEIGHT_TEXT
from .digits import are_long
from .inputs import text_head
from .source import EdgeBatch, SourceInfo
from .streams import ByteStream, after_word, text_blocks
from .weights import FLOAT64, LARGEST_WHOLE, LEAST_WHOLE, WHOLE, checked_weights

_NAMES = {b"AdjacencyGraph": False, b"WeightedAdjacencyGraph": True}
_HEADER = 3  # words
_BLOCK_BYTES = 1 << 18
_BLANKS, _DIGITS = b" \t\r\n", b"0123456789"
_TO_LINES = bytes.maketrans(_BLANKS, b"\n" * len(_BLANKS))
_IS_BLANK = np.isin(np.arange(256), np.frombuffer(_BLANKS, np.uint8))
_WHOLE_TEXT = r"^-?[0-9]+$"
_AGAIN = "fetch or write it again"


@dataclass(frozen=True)
class AdjHeader:
    """n, m : vertices and neighbours. weighted : whether weights follow."""

    n: int
    m: int
    weighted: bool

    @property
    def n_words(self) -> int:
        """The number of words in the file."""
        return _HEADER + self.n + self.m * (1 + self.weighted)


class _Part:
    """The next `size` bytes of a stream, as a source for text_blocks."""

    def __init__(self, stream: ByteStream, size: int) -> None:
        self._stream, self._missing, self.raw = stream, size, stream.raw

    def readinto(self, target: memoryview) -> int:
        """See ByteStream."""
        got = self._stream.readinto(target[: self._missing])
        self._missing -= got
        return got


class _Words:
    """The words of a stream in order. Raises the error from `refuse` for a word that is no number."""

    def __init__(self, stream: _Part, types: pa.DataType, refuse: Callable[[str, int], InputError]) -> None:
        self._blocks, self._type, self._refuse = text_blocks(stream, _BLOCK_BYTES, after_word), types, refuse
        self._waiting, self.index = pa.array([], types), 0

    def take(self, count: int) -> Any:
        """The next `count` words; fewer at the end."""
        pieces, missing = [], count
        while missing:
            if not len(self._waiting):
                block = next(self._blocks, None)
                if block is None:
                    break
                self._waiting = self._parsed(block.tobytes())
            pieces.append(self._waiting.slice(0, missing))
            self._waiting = self._waiting.slice(len(pieces[-1]))
            missing -= len(pieces[-1])
        self.index += count - missing
        return pa.concat_arrays(pieces) if pieces else pa.array([], self._type)

    def _parsed(self, data: bytes) -> Any:
        """The words of a block, as an array."""
        lines = data.translate(_TO_LINES)
        integers = pa.types.is_integer(self._type)
        try:
            if not lines.strip():
                return pa.array([], self._type)
            if lines.translate(None, _DIGITS + b"\n" + (b"" if integers else b"+-.eE")):
                raise pa.ArrowInvalid
            column = pa_csv.read_csv(
                pa.BufferReader(lines), pa_csv.ReadOptions(use_threads=False, column_names=["n"],
                                                           block_size=len(lines) + 1),
                pa_csv.ParseOptions(quote_char=False),
                pa_csv.ConvertOptions(column_types={"n": self._type}, null_values=[])).column(0)
        except pa.ArrowInvalid:
            raise self._fault(lines, integers) from None
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def _fault(self, lines: bytes, integers: bool) -> InputError:
        for place, word in enumerate(filter(None, lines.split(b"\n"))):
            if integers and not (word.isdigit() and len(word.lstrip(b"0")) < 20 and int(word) < 1 << 63):
                return self._refuse(word[:80].decode("utf-8", "replace"), self.index + place)
            if not integers and word.translate(None, _DIGITS + b"+-.eE"):
                return self._refuse(word[:80].decode("utf-8", "replace"), self.index + place)
        raise AssertionError("pyarrow refuses numbers that are some")


class WordStream(ArrayStream):
    """Whole numbers in a text, read like an array. words : their source. last_item : the value of one more item after
    them that is not in the text, None without."""

    words: _Words
    last_item: int | None = None

    def take(self, count: int) -> Any:
        """See ArrayStream."""
        count = min(count, self.length - self.index)
        wanted = count - (self.last_item is not None and self.index + count == self.length)
        numbers = arrow_numbers(self.words.take(wanted)) if wanted else np.empty(0, np.int64)
        if len(numbers) < wanted:
            raise self.error("the numbers end early", self.index + len(numbers))
        self.index += count
        return numbers if wanted == count or self.last_item is None else np.append(numbers, self.last_item)


def _first_words(head: bytes, complete: bool) -> list[bytes] | None:
    """The words of the header, None if `head` may be too short for all."""
    words = list(filter(None, head.translate(_TO_LINES).split(b"\n")))
    return words[:_HEADER] if len(words) > _HEADER or complete else None


class AdjSource(FileSource):
    """See the module."""

    format = "adj"

    def _read_header(self) -> AdjHeader:
        self.input.require_places("an adjacency graph is read at several places at once")
        words = text_head(self.input, _first_words)
        name = words[0] if words else b""
        if name not in _NAMES:
            raise self.error("the first word is no AdjacencyGraph or WeightedAdjacencyGraph", byte=0,
                             text=name[:80].decode("utf-8", "replace"), remedy="name the right format with --format")
        counts = words[1:]
        if len(counts) < 2 or not all(word.isdigit() and len(word.lstrip(b"0")) < 16 for word in counts):
            raise self.error("no numbers of vertices and edges follow the first word", byte=0, remedy=_AGAIN)
        header = AdjHeader(int(counts[0]), int(counts[1]), _NAMES[name])
        size = self.input.size_bytes
        if self.input.compression is None and size is not None and 2 * header.n_words > size + 1:
            raise self.error(f"its header ({header.n:,} vertices, {header.m:,} edges) demands {header.n_words:,} words,"
                             f" and the file has {size:,} bytes", byte=size, remedy=_AGAIN)
        return header

    def _read_info(self) -> SourceInfo:
        header = self._read_header()
        if self.weights is not None and not header.weighted:
            raise self.no_weights("an AdjacencyGraph has none")
        return self._facts(n_vertices=header.n, n_entries=header.m, directed=True,
                           weights="" if self.weights is None else WHOLE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the number of the word for a word that is no number, decreasing
        offsets, or neighbours that are no vertices; and if the number of words differs from the header."""
        header = self._read_header()
        self.weight_kind = "" if self.weights is None else WHOLE
        starts = self._starts(header)
        with ExitStack() as stack:
            offsets = self._numbers(stack, starts[:2], _HEADER, header.n + 1)
            offsets.last_item = header.m
            neighbours = self._numbers(stack, starts[1:3], _HEADER + header.n, header.m)
            weigh = None if self.weights is None else self._weigher(stack, header, starts[2:])
            yield from csr_batches(offsets, neighbours, batch_bytes, header.n, weigh)
        self.dropped = {"weights": header.m if header.weighted and self.weights is None else 0}

    def _starts(self, header: AdjHeader) -> list[int]:
        """The byte offsets of row offsets, neighbours, weights, and the end of the file. Raises InputError for a wrong
        number of words."""
        firsts = [_HEADER, _HEADER + header.n, _HEADER + header.n + header.m]
        starts: list[int] = []
        n_words, at = 0, 0
        with self.input.text() as stream:
            for block in text_blocks(stream, _BLOCK_BYTES, after_word):
                blank = _IS_BLANK[block]
                begins = ~blank
                begins[1:] &= blank[:-1]
                count = int(np.count_nonzero(begins))
                while len(starts) < len(firsts) and firsts[len(starts)] < n_words + count:
                    starts.append(at + int(np.flatnonzero(begins)[firsts[len(starts)] - n_words]))
                n_words, at = n_words + count, at + len(block)
        if n_words != header.n_words:
            raise self.error(f"its header ({header.n:,} vertices, {header.m:,} edges) demands {header.n_words:,} words,"
                             f" and there are {n_words:,}", remedy=_AGAIN)
        return [*starts, *[at] * (len(firsts) + 1 - len(starts))]

    def _part(self, stack: ExitStack, ends: list[int]) -> _Part:
        """The bytes from ends[0] to ends[1]."""
        stream = stack.enter_context(closing(self.input.open_second()))
        stream.drop_bom()
        stream.skip(ends[0])
        return _Part(stream, ends[1] - ends[0])

    def _numbers(self, stack: ExitStack, ends: list[int], before: int, length: int) -> WordStream:
        """The numbers between two byte offsets. before : number of words before them."""
        def error(what: str, index: int, remedy: str = _AGAIN) -> InputError:
            return self.error(f"{what} (word {before + index + 1:,} of the file)", remedy=remedy)

        numbers = WordStream(lambda _: b"", np.dtype(np.int64), length, error)
        numbers.words = _Words(self._part(stack, ends), pa.int64(), lambda text, index: self.error(
            f"word {before + index + 1:,} of the file is no whole number below 2^63", text=text, remedy=_AGAIN))
        return numbers

    def _weigher(self, stack: ExitStack, header: AdjHeader, ends: list[int]) -> Callable[[int], Any]:
        """A function: count -> the next weights."""
        before = _HEADER + header.n + header.m
        words = _Words(self._part(stack, ends), pa.string(), lambda text, index: self._no_weight(
            "a weight is not a number", before + index, text=text))

        def weigh(count: int) -> Any:
            assert self.weights is not None
            first, texts = before + words.index, words.take(count)
            good = pc.match_substring_regex(texts, WEIGHT_TEXT)
            if not pc.all(good, min_count=0).as_py():
                wrong = int(np.argmin(good.to_numpy(zero_copy_only=False)))
                raise self._no_weight("a weight is not a number", first + wrong, text=texts[wrong].as_py())
            values = arrow_numbers(texts.cast(pa.float64())) + 0.0  # turns -0.0 into 0.0
            if not pc.all(pc.match_substring_regex(texts, _WHOLE_TEXT), min_count=0).as_py() or (
                    (values > LARGEST_WHOLE) | (values < LEAST_WHOLE)).any():
                self.weight_kind = FLOAT64
            checked = checked_weights(values, self.weights, partial(self._refused, first))
            long = are_long(texts, values)
            return self.weights.digits.taken(checked, long, texts.take(pa.array(long)))

        return weigh

    def _refused(self, first: int, what: str, place: int, **more: str) -> InputError:
        return self._no_weight(what, first + place, **more)

    def _no_weight(self, what: str, index: int, *, text: str, remedy: str = "fix it, or leave out --weights",
                   ) -> InputError:
        return self.error(f"{what} (word {index + 1:,} of the file)", text=text, remedy=remedy)
