"""Pairs from lines of text: what edge lists, Matrix Market, DIMACS and METIS share.

The kernels stop at a line that is not as it must be; here its code becomes a sentence with the number of the line and
its text. Ids that are names become pyarrow string arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from . import kernels
from .base import MAX_ID
from .blocks import after_word, block_bytes_for, line_text, text_blocks
from .source import EdgeBatch, pairs_per_batch
from .streams import ByteStream

FURTHER_FIELDS = "lines with further fields"
_STRING_PAIRS = 1 << 17  # 4 MiB of spans; a block yields several batches if it has more pairs


def _comment_table(starts: str) -> Any:
    """bool[256]: whether a line whose first non-blank byte is this is a comment."""
    table = np.zeros(256, np.bool_)
    table[[ord(letter) for letter in starts]] = True
    return table


@dataclass
class LineReader:
    """Reads the lines of one text, and knows what each of them must be.

    name : the input. line : number of the first line. letter : the one that edge lines start with, if any.
    least, largest : ids that the header allows. fields : fewest fields on a line. strings : whether ids could be
    taken as names. n_pairs : read so far.
    """

    name: str
    line: int = 1
    letter: str = ""
    least: int = 0
    largest: int = MAX_ID
    fields: int = 2
    strings: bool = False
    n_pairs: int = 0

    def __post_init__(self) -> None:
        self._state = np.zeros(kernels.STATE_SIZE, np.int64)
        self._state[kernels.LINE] = self.line

    @property
    def n_further(self) -> int:
        """Lines so far with more fields than the two ids."""
        return int(self._state[kernels.MORE])

    @property
    def skipped(self) -> dict[str, int]:
        """Lines so far that are no edges, where every pair is a line: comments and empty ones."""
        comments = int(self._state[kernels.COMMENTS])
        return {"comments": comments,
                "empty": int(self._state[kernels.LINE]) - self.line - self.n_pairs - comments}

    @property
    def n_rows(self) -> int:
        """Rows so far that were complete."""
        return int(self._state[kernels.ROW])

    def pairs(self, stream: ByteStream, comments: str, batch_bytes: int) -> Iterator[EdgeBatch]:
        """int64 pairs of the rest of `stream`, whose comments start with one of the letters `comments`.

        Raises InputError with line number and text at the first line that is not as it must be.
        """
        table = _comment_table(comments)
        options = np.array([ord(self.letter or "\0"), self.least, self.largest, self.fields], np.int64)
        blocks = text_blocks(stream, block_bytes_for(batch_bytes))
        return self._parsed(blocks, batch_bytes, line_text, lambda block, src, dst: kernels.parse_pairs(
            block, self._state, options, table, src, dst))

    def rows(self, stream: ByteStream, lead: int, period: int, batch_bytes: int) -> Iterator[EdgeBatch]:
        """int64 pairs (row, neighbour) of the rest of `stream`, whose rows are numbered 1 .. largest.

        lead : words before the first neighbour of a row. period : words per neighbour. Raises InputError with line
        number and word at the first word that is not as it must be.
        """

        def blocks() -> Iterator[Any]:
            # A line end behind the last row, which counts even if its own is missing (and even if it is empty).
            yield from text_blocks(stream, block_bytes_for(batch_bytes), after_word)
            yield np.array([10], np.uint8)

        layout = np.array([lead, period, self.largest], np.int64)
        return self._parsed(blocks(), batch_bytes, _word_text, lambda block, src, dst: kernels.parse_rows(
            block, self._state, layout, src, dst))

    def _parsed(self, blocks: Iterable[Any], batch_bytes: int, text: Callable[[Any, int], str],
                parse: Callable[[Any, Any, Any], None]) -> Iterator[EdgeBatch]:
        """Batches that `parse(block, src, dst)` fills; `text` is what an error shows."""
        state, capacity = self._state, pairs_per_batch(batch_bytes)
        src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        for block in blocks:
            state[kernels.POS], state[kernels.END] = 0, len(block)
            while state[kernels.POS] < state[kernels.END]:
                parse(block, src, dst)
                if state[kernels.FAULT]:
                    raise self._fault(block, text)
                if state[kernels.COUNT] == capacity:
                    self.n_pairs += capacity
                    yield EdgeBatch(src, dst)
                    state[kernels.COUNT] = 0
                    src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        count = int(state[kernels.COUNT])
        if count:
            self.n_pairs += count
            yield EdgeBatch(src[:count], dst[:count])

    def names(self, stream: ByteStream, comments: str, batch_bytes: int) -> Iterator[EdgeBatch]:
        """UTF-8 string pairs of the rest of `stream` as pyarrow string arrays.

        Raises InputError with line number and text at a line with one field or invalid UTF-8.
        """
        table, state = _comment_table(comments), self._state
        spans = np.empty((max(1, min(_STRING_PAIRS, batch_bytes // 32)), 4), np.int64)
        for block in text_blocks(stream, block_bytes_for(batch_bytes)):
            first_line = int(state[kernels.LINE])
            state[kernels.POS], state[kernels.END] = 0, len(block)
            while state[kernels.POS] < state[kernels.END]:
                state[kernels.COUNT] = 0
                kernels.find_fields(block, state, table, spans)
                if state[kernels.FAULT]:
                    raise self._fault(block, line_text)
                pairs = spans[: state[kernels.COUNT]]
                if len(pairs):
                    self.n_pairs += len(pairs)
                    yield self._named(block, pairs, first_line)

    def _named(self, block: Any, spans: Any, first_line: int) -> EdgeBatch:
        src, dst = _strings(block, spans, 0), _strings(block, spans, 1)
        try:
            src.validate(full=True)
            dst.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self._encoding_error(block, spans, first_line) from error
        return EdgeBatch(src, dst)

    def _encoding_error(self, block: Any, spans: Any, first_line: int) -> InputError:
        """Finds the first field that is not UTF-8 and says where it is."""
        for begin_a, end_a, begin_b, end_b in spans.tolist():
            try:
                block[begin_a:end_a].tobytes().decode()
                block[begin_b:end_b].tobytes().decode()
            except UnicodeDecodeError:
                before = block[:begin_a].tobytes()
                ends = before.count(b"\n") + before.replace(b"\r\n", b"\n").count(b"\r")
                return InputError("an id is not UTF-8 text", path=self.name, line=first_line + ends,
                                  text=line_text(block, begin_a), remedy="convert the file to UTF-8")
        raise AssertionError("pyarrow refuses strings that Python decodes")

    def _fault(self, block: Any, text: Callable[[Any, int], str]) -> InputError:
        """What a kernel found wrong in `block`."""
        what, remedy = self._sentence(int(self._state[kernels.FAULT]))
        return InputError(what, path=self.name, line=int(self._state[kernels.LINE]), remedy=remedy,
                          text=text(block, int(self._state[kernels.START])) or None)

    def _sentence(self, fault: int) -> tuple[str, str]:
        """(what, remedy) for a fault code of the kernels."""
        number = "fix the line" + (", or keep such ids as names with --ids string" if self.strings else "")
        return {
            kernels.ONE_FIELD: ("a line with fewer than two ids", "every line needs two ids"),
            kernels.NOT_INTEGER: ("an id is not an integer", number),
            kernels.NEGATIVE: ("an id is negative", number),
            kernels.TOO_LARGE: ("an id is larger than 2^63 - 1", number),
            kernels.OUT_OF_RANGE: (f"an id is outside {self.least}..{self.largest}, the ids that the header declares",
                                   "fix the id or the header"),
            kernels.EMPTY_FIELD: ("an id is missing before a comma", "fix the line"),
            kernels.WRONG_LETTER: (f"a line of no known kind where an edge ({self.letter} U V) is expected",
                                   "fix the line"),
            kernels.FEW_FIELDS: (f"a line with fewer than {self.fields} fields", "fix the line or the header"),
            kernels.OPEN_ROW: ("a row ends before the numbers that the header's flags demand",
                               "fix the row or the flags"),
            kernels.EXTRA_ROW: (f"a row after the {self.largest:,} rows that the header declares", "fix the header"),
        }[fault]


def _strings(block: Any, spans: Any, field: int) -> pa.StringArray:
    offsets = np.empty(len(spans) + 1, np.int32)
    data = np.empty(int((spans[:, 2 * field + 1] - spans[:, 2 * field]).sum()), np.uint8)
    kernels.gather_fields(block, spans, field, offsets, data)
    return pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(data))


def _word_text(block: Any, start: int) -> str:
    """The word of uint8[k] `block` from byte `start` on, or "" at a line end."""
    return next(iter(line_text(block, start).split()), "")
