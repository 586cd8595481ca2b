"""Pairs from lines of text; shared by edge lists, Matrix Market, DIMACS and METIS.

The kernels stop at an invalid line with a code; this module makes the error from it, with the number of the line and
its text. Names become pyarrow string arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from . import kernels
from .base import MAX_ID
from .look_ends import MISSING
from .source import EdgeBatch, pairs_per_batch
from .streams import ByteStream, after_word, block_bytes_for, line_text, text_blocks
from .weights import (
    FLOAT64,
    NEGATIVE,
    NO_INFINITE,
    NO_NEGATIVE,
    NOT_FINITE,
    WHOLE,
    WeightChoice,
    out_of_range,
)

_MISSING, _FIELDS = {word for word in MISSING if word.strip("-?")}, re.compile(r"[\s,]+")
FURTHER_FIELDS = "lines with further fields"
NO_UTF_8 = "name the encoding, as in --encoding latin-1"
_STRING_PAIRS = 1 << 17  # 4 MiB of spans; a block yields several batches if it has more pairs
_HARD_WEIGHTS = 1 << 12
_MARKS = {kernels.TABS: "tab", kernels.COMMAS: "comma"}


def _comment_table(starts: str) -> Any:
    """bool[256]: whether a line with this first non-blank byte is a comment."""
    table = np.zeros(256, np.bool_)
    table[[ord(letter) for letter in starts]] = True
    return table


@dataclass
class LineReader:
    """Reads and checks the lines of one text.

    name : of the input. line : number of the first line. letter : first letter of edge lines, if any. least, largest :
    range of ids from the header. fields : fewest fields of a line. strings : whether the ids could be read as names.
    weights : the weights to keep. field : their place in a line, from 1 on. strict : whether leading zeros are refused.
    closed : number of fields behind the second that is refused, 0 for none. separator : between fields, a constant of
    kernels.py. indented : whether every line may begin with a tab. rewrite : converts the bytes of whole lines to the
    same number of plain lines. n_pairs : number of pairs read so far.
    """

    name: str
    line: int = 1
    letter: str = ""
    least: int = 0
    largest: int = MAX_ID
    fields: int = 2
    strings: bool = False
    weights: WeightChoice | None = None
    field: int = 3
    strict: bool = False
    closed: int = 0
    separator: int = kernels.BLANKS_OR_COMMA
    indented: bool = True
    rewrite: Callable[[bytes], bytes] | None = None
    n_pairs: int = 0

    def __post_init__(self) -> None:
        self._state = np.zeros(kernels.STATE_SIZE, np.int64)
        self._state[kernels.LINE] = self.line
        # Weights that are converted in Python; the kernels convert only weights with a single rounding.
        self._hard = np.zeros((_HARD_WEIGHTS, 4), np.int64)
        self._minus = self.weights is not None and self.weights.negative

    @property
    def n_further(self) -> int:
        """The number of lines so far with more fields than the two ids."""
        return int(self._state[kernels.MORE])

    @property
    def skipped(self) -> dict[str, int]:
        """The numbers of comments and empty lines so far, if each pair is a line."""
        comments = int(self._state[kernels.COMMENTS])
        return {"comments": comments,
                "empty": int(self._state[kernels.LINE]) - self.line - self.n_pairs - comments}

    def weight_kind(self) -> str:
        """The kind of the weights, after all were read. Raises InputError for whole numbers out of range."""
        if self.weights is None:
            return ""
        if self._state[kernels.FRACTIONS]:
            return FLOAT64
        if self._state[kernels.LARGE]:
            raise out_of_range(self._minus, path=self.name, line=int(self._state[kernels.LARGE]))
        return WHOLE

    def _room(self, capacity: int) -> Any:
        """An array for `capacity` weights from the kernels; empty without weights."""
        return np.empty(0 if self.weights is None else capacity)

    def _read_hard(self, block: Any, weights: Any, before: int) -> None:
        """Convert the weights in `block` that a kernel could not. before : first place in `weights` of the kernel's
        results. Weights in units of 10^-k replace the floats in place, as the bits of int64."""
        hard = self._hard[: self._state[kernels.HARD]]
        self._state[kernels.HARD] = 0
        if self.weights is None or (not len(hard) and self.weights.digits.places is None):
            return
        texts, places = _strings(block, hard, 0), hard[:, kernels.PLACE]
        weights[places] = texts.cast(pa.float64()).to_numpy()
        infinite = np.flatnonzero(np.isinf(weights[places]))
        if len(infinite):
            raise InputError(NOT_FINITE, path=self.name, line=int(hard[infinite[0], kernels.AT_LINE]),
                             text=texts[infinite[0]].as_py(), remedy=NO_INFINITE)
        found = weights[before : self._state[kernels.COUNT]]
        taken = self.weights.digits.taken(found, places - before, texts)
        if taken is not found:
            found.view(np.int64)[:] = taken

    @property
    def _options(self) -> Any:
        """The `options` of the kernels."""
        return np.array([ord(self.letter or "\0"), self.least, self.largest, self.fields,
                         0 if self.weights is None else self.field, self._minus, self.strict, self.closed,
                         self.separator, self.indented], np.int64)

    def _blocks(self, stream: ByteStream, batch_bytes: int) -> Iterator[Any]:
        """The rest of `stream` in blocks of whole lines."""
        blocks = text_blocks(stream, block_bytes_for(batch_bytes))
        rewrite = self.rewrite
        if rewrite is None:
            return blocks
        return (np.frombuffer(rewrite(block.tobytes()), np.uint8) for block in blocks)

    @property
    def n_rows(self) -> int:
        """The number of complete rows so far."""
        return int(self._state[kernels.ROW])

    def pairs(self, stream: ByteStream, comments: str, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The int64 pairs in the rest of `stream`. comments : first letters of comment lines.

        Raises InputError with line number and text at the first invalid line.
        """
        table, options = _comment_table(comments), self._options
        blocks = self._blocks(stream, batch_bytes)
        return self._parsed(blocks, batch_bytes, line_text, lambda block, *out: kernels.parse_pairs(
            block, self._state, options, table, *out, self._hard))

    def rows(self, stream: ByteStream, lead: int, period: int, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The int64 pairs (row, neighbour) in the rest of `stream`, with rows least to largest.

        lead : words before the first neighbour of a row. period : words per neighbour. Raises InputError with line
        number and word at the first invalid word.
        """

        def blocks() -> Iterator[Any]:
            # A line end after the last row, which counts even without its own (and even if it is empty).
            yield from text_blocks(stream, block_bytes_for(batch_bytes), after_word)
            yield np.array([10], np.uint8)

        n_rows = self.largest + 1 - self.least
        layout = np.array([lead, period, n_rows, self.weights is not None, self._minus, self.least], np.int64)
        return self._parsed(blocks(), batch_bytes, _word_text, lambda block, *out: kernels.parse_rows(
            block, self._state, layout, *out, self._hard))

    def _parsed(self, blocks: Iterable[Any], batch_bytes: int, text: Callable[[Any, int], str],
                parse: Callable[..., None]) -> Iterator[EdgeBatch]:
        """The batches that `parse(block, src, dst, weights)` fills. text : returns the text for an error."""
        state, capacity = self._state, pairs_per_batch(batch_bytes)

        def room() -> tuple[Any, Any, Any]:
            return np.empty(capacity, np.int64), np.empty(capacity, np.int64), self._room(capacity)

        out = room()
        for block in blocks:
            state[kernels.POS], state[kernels.END] = 0, len(block)
            while state[kernels.POS] < state[kernels.END]:
                before = int(state[kernels.COUNT])
                parse(block, *out)
                self._read_hard(block, out[2], before)
                if state[kernels.FAULT]:
                    raise self._fault(block, text)
                if state[kernels.COUNT] == capacity:
                    yield self._batch(*out)
                    state[kernels.COUNT] = 0
                    out = room()
        if state[kernels.COUNT]:
            yield self._batch(*(values[: state[kernels.COUNT]] for values in out))

    def _batch(self, src: Any, dst: Any, weights: Any) -> EdgeBatch:
        """A batch of parsed pairs."""
        self.n_pairs += len(src)
        if self.weights is None:
            return EdgeBatch(src, dst)
        return EdgeBatch(src, dst, weights if self.weights.digits.places is None else weights.view(np.int64))

    def names(self, stream: ByteStream, comments: str, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The string pairs in the rest of `stream`, as pyarrow string arrays.

        Raises InputError with line number and text at a line with one field or invalid UTF-8.
        """
        table, state, options = _comment_table(comments), self._state, self._options
        spans = np.empty((max(1, min(_STRING_PAIRS, batch_bytes // 32)), 4), np.int64)
        weights = self._room(len(spans))
        for block in self._blocks(stream, batch_bytes):
            first_line = int(state[kernels.LINE])
            state[kernels.POS], state[kernels.END] = 0, len(block)
            while state[kernels.POS] < state[kernels.END]:
                state[kernels.COUNT] = 0
                kernels.find_fields(block, state, options, table, spans, weights, self._hard)
                self._read_hard(block, weights, 0)
                if state[kernels.FAULT]:
                    raise self._fault(block, line_text)
                pairs = spans[: state[kernels.COUNT]]
                if len(pairs):
                    yield self._batch(*self._named(block, pairs, first_line), weights[: len(pairs)].copy())

    def _named(self, block: Any, spans: Any, first_line: int) -> tuple[Any, Any]:
        src, dst = _strings(block, spans, 0), _strings(block, spans, 1)
        try:
            src.validate(full=True)
            dst.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self._encoding_error(block, spans, first_line) from error
        return src, dst

    def _encoding_error(self, block: Any, spans: Any, first_line: int) -> InputError:
        """The error, with position, for the first field that is not UTF-8."""
        for begin_a, end_a, begin_b, end_b in spans.tolist():
            try:
                block[begin_a:end_a].tobytes().decode()
                block[begin_b:end_b].tobytes().decode()
            except UnicodeDecodeError:
                before = block[:begin_a].tobytes()
                ends = before.count(b"\n") + before.replace(b"\r\n", b"\n").count(b"\r")
                return InputError("an id is not UTF-8 text", path=self.name, line=first_line + ends,
                                  text=line_text(block, begin_a), remedy=NO_UTF_8)
        raise AssertionError("pyarrow refuses strings that Python decodes")

    def _fault(self, block: Any, text: Callable[[Any, int], str]) -> InputError:
        """The error for the fault that a kernel found in `block`."""
        what, remedy = self._sentence(int(self._state[kernels.FAULT]))
        shown = text(block, int(self._state[kernels.START]))
        if self._state[kernels.FAULT] == kernels.NOT_INTEGER and not _MISSING.isdisjoint(_FIELDS.split(shown)):
            what, remedy = "an id is missing", "fix the line, or delete it"
        return InputError(what, path=self.name, line=int(self._state[kernels.LINE]), remedy=remedy, text=shown or None)

    def _sentence(self, fault: int) -> tuple[str, str]:
        """(what, remedy) for a fault code of the kernels."""
        number = "fix the line" + (", or keep such ids as names with --ids string" if self.strings else "")
        mark = _MARKS.get(self.separator, "")
        return {
            kernels.ONE_FIELD: ("a line with fewer than two ids", "every line needs two ids; list vertices"
                                " without an edge in a file of their own for --vertices FILE, or read lists of"
                                " neighbours with --format adjlist"),
            kernels.NOT_INTEGER: (f"an id{mark and f' between {mark}s'} is not an integer", number),
            kernels.NEGATIVE: ("an id is negative", number),
            kernels.TOO_LARGE: ("an id is larger than 2^63 - 1", number),
            kernels.OUT_OF_RANGE: (f"an id is outside {self.least}..{self.largest}, the ids that the header declares",
                                   "fix the id or the header"),
            kernels.EMPTY_FIELD: (f"an id is missing before a {mark or 'comma'}", "fix the line"),
            kernels.WRONG_LETTER: (f"a line of no known kind where an edge ({self.letter} U V) is expected",
                                   "fix the line"),
            kernels.FEW_FIELDS: (f"a line with fewer than {self.fields} fields", "fix the line or the header"),
            kernels.OPEN_ROW: ("a row ends before the numbers that the header's flags demand",
                               "fix the row or the flags"),
            kernels.EXTRA_ROW: (f"a row after the {self.largest + 1 - self.least:,} rows that the header declares",
                                "fix the header"),
            kernels.NO_WEIGHT: ("a line without a weight", "give every edge a weight, or leave out --weights"),
            kernels.NO_NUMBER: ("a weight is not a number", "fix the line, or leave out --weights"),
            kernels.NOT_FINITE: (NOT_FINITE, NO_INFINITE),
            kernels.NEGATIVE_WEIGHT: (NEGATIVE, NO_NEGATIVE),
            kernels.LEADING_ZERO: ("an id has leading zeros, and those before have none",
                                   "say --ids string if ids are names, or --ids int if they are numbers"),
            kernels.MANY_FIELDS: ("a line with more fields than the format has", "fix the line; a number may have no"
                                  " comma") if self.letter or self.fields > len(("src", "dst")) else (
                "a line with more fields than those before", "fix the line, or say --format adjlist for lists of"
                " neighbours, or --format edgelist to drop them"),
            kernels.INEXACT: ("an id is a float beyond 2^53, where floats are no longer exact",
                              "write ids as integers" + (", or keep them as names with --ids string"
                                                         if self.strings else "")),
        }[fault]


def _strings(block: Any, spans: Any, field: int) -> pa.StringArray:
    offsets = np.empty(len(spans) + 1, np.int32)
    data = np.empty(int((spans[:, 2 * field + 1] - spans[:, 2 * field]).sum()), np.uint8)
    kernels.gather_fields(block, spans, field, offsets, data)
    return pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(data))


def _word_text(block: Any, start: int) -> str:
    """The word of uint8[k] `block` at byte `start`, or "" at a line end."""
    return next(iter(line_text(block, start).split()), "")
