"""Matrix Market files: a banner, comments, a size line, then 1-based entries (coordinate), or all values column by
column (array).

(NIST, "The Matrix Market Exchange Formats", 1996.) Each stored entry of a coordinate matrix is an edge for any value;
the value is its weight if weights are kept. The size line declares n and the number of entries, which is checked. In an
array each nonzero value is an edge. The banner may have one % (Network Repository), and follow blank lines. A matrix
that is not square has two sides, which have separate ids if the user says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import FileSource
from .inputs import HeaderLine, header_line, text_head
from .lines import FURTHER_FIELDS, LineReader
from .source import EdgeBatch, SourceInfo
from .streams import after_word, block_bytes_for, text_blocks
from .weights import FLOAT64, WHOLE, checked_weights

_FIELDS = {"pattern": 2, "real": 3, "double": 3, "integer": 3, "unsigned-integer": 3, "complex": 4}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_FORM = "it must read like '%%MatrixMarket matrix coordinate pattern symmetric'"
_MOST_SIDE = 1 << 24  # most rows or columns of an array, which has n * n values


@dataclass(frozen=True)
class _Header:
    """The header. line : the size line. rows, columns, entries : its numbers; entries is -1 for an array. array, field,
    symmetry : from the banner."""

    line: HeaderLine
    rows: int
    columns: int
    entries: int
    field: str
    symmetry: str

    @property
    def array(self) -> bool:
        """Whether all values are listed (an array)."""
        return self.entries < 0


class MatrixMarketSource(FileSource):
    """See the module. `directed` is False for symmetric, skew-symmetric and Hermitian matrices."""

    format = "matrix-market"
    takes_sides = True

    def _read_banner(self) -> list[str]:
        """The words of the banner, in lower case."""
        text = text_head(self.input, lambda head, complete: self._first_comment(head, complete))
        words = text.lower().lstrip("%").split()
        if words[:1] == ["matrixmarket"] and words[1:2] == ["vector"]:
            raise self.error("a vector is no graph", line=1, text=text, remedy="give a matrix")
        if (len(words) != 5 or words[:2] != ["matrixmarket", "matrix"] or words[3] not in _FIELDS
                or words[4] not in _SYMMETRIES):
            raise self.error("the first line is no Matrix Market banner", line=1, text=text, remedy=_FORM)
        if words[2] not in ("coordinate", "array") or (words[2] == "array" and words[3] == "pattern"):
            raise self.error("only coordinate matrices and arrays are graphs here", line=1, text=text,
                             remedy="write the matrix in coordinate form")
        return words

    def _first_comment(self, head: bytes, complete: bool) -> str | None:
        """The first line that is not blank."""
        line = head.lstrip().partition(b"\n")[0].partition(b"\r")[0]
        return line.decode("utf-8", "replace").strip() if complete or len(line) < len(head.lstrip()) else None

    def _read_header(self) -> _Header:
        words = self._read_banner()
        line = header_line(self.input, lambda text: text.startswith(b"%"))
        sizes = line.counts(line.text.split())
        if words[2] == "array":
            if len(sizes) != 2:
                raise line.error("the size line of an array must have two numbers", "rows, columns")
            sizes.append(-1)
        if len(sizes) != 3:
            raise line.error("the size line must have three numbers", "rows, columns, entries")
        header = _Header(line, sizes[0], sizes[1], sizes[2], words[3], words[4])
        if header.rows != header.columns and not self.wishes.bipartite:
            raise line.error(f"a {header.rows} x {header.columns} matrix is not square, so no adjacency matrix",
                             "give a square matrix, or take rows and columns as two sides with --bipartite")
        if header.array and max(header.rows, header.columns) > _MOST_SIDE:
            raise line.error(f"an array of more than {_MOST_SIDE:,} rows or columns", "fix the size line")
        return header

    def _read_info(self) -> SourceInfo:
        header = self._read_header()
        if self.weights is not None and (_FIELDS[header.field] != 3 or header.symmetry not in _SYMMETRIES[:2]):
            raise self.no_weights(f"a {header.symmetry} matrix of kind {header.field} has no weights of edges")
        n = header.rows
        if self.wishes.bipartite:
            n += header.columns
            self.notes = (f"rows are vertices 1 to {header.rows:,}, columns {header.rows + 1:,} to {n:,}",)
        return self._facts(n_vertices=n, first_id=1, n_entries=None if header.array else header.entries,
                           directed=header.symmetry == "general" and not self.wishes.bipartite, adds_weights=True,
                           weights="" if self.weights is None else WHOLE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad entry, and if the counts do not match."""
        header = self._read_header()
        pairs = self._of_array(header, batch_bytes) if header.array else self._listed(header, batch_bytes)
        if not self.wishes.bipartite:
            yield from pairs
            return
        for batch in pairs:
            for ids, largest, what in ((batch.src, header.rows, "row"), (batch.dst, header.columns, "column")):
                if len(ids) and ids.max() > largest:
                    raise self.error(f"a {what} is outside 1..{largest}", text=str(ids.max()), remedy="fix the entry")
            yield EdgeBatch(batch.src, batch.dst + header.rows, batch.weights)
            if header.symmetry != "general" and not header.array:  # half of its entries are listed
                beside = batch.src != batch.dst
                yield EdgeBatch(batch.dst[beside], batch.src[beside] + header.rows,
                                None if batch.weights is None else batch.weights[beside])

    def _listed(self, header: _Header, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The entries of a coordinate matrix."""
        entries, field = header.entries, header.field
        lines = LineReader(self.name, header.line.number + 1, least=1, largest=max(header.rows, header.columns),
                           fields=_FIELDS[field], weights=self.weights,
                           closed=_FIELDS[field] - 1 if field != "pattern" else 0)
        with self.input.text(header.line.offset) as stream:
            for batch in lines.pairs(stream, "%", batch_bytes):
                if lines.n_pairs <= entries:
                    yield batch
        further = field == "pattern" or self.weights is not None
        self.dropped = {FURTHER_FIELDS if further else "values": lines.n_further}
        if lines.n_pairs != entries:
            kind = "cut short" if lines.n_pairs < entries else "longer than declared"
            raise header.line.error(f"the header declares {entries:,} entries but there are {lines.n_pairs:,}: the file"
                                    f" is {kind}", "fix the size line or fetch the file again")
        # The banner decides the kind, because all values of a real matrix may be written without a point.
        self.weight_kind = lines.weight_kind() if self.weights is None or "integer" in field else FLOAT64

    def _of_array(self, header: _Header, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The nonzero values of an array; a symmetric array lists only its lower triangle."""
        starts, first_rows = _column_starts(header)
        width = 2 if header.field == "complex" else 1
        done, n_values, rest = 0, 0, np.empty(0)
        for values in self._numbers(header, batch_bytes // 4):
            values = np.concatenate((rest, values))
            whole = len(values) // width * width
            rest, entries = values[whole:], (values[:whole].reshape(-1, width) != 0).any(1)
            places = done + np.flatnonzero(entries)
            done += len(entries)
            if done > starts[-1]:
                break
            column = np.searchsorted(starts, places, side="right") - 1
            row = places - starts[column] + first_rows[column]
            weights = None if self.weights is None else checked_weights(
                values[:whole][entries], self.weights, lambda what, _place, **more: self.error(what, **more))
            n_values += len(places)
            if len(places):
                yield EdgeBatch(row + 1, column + 1, weights)
        if done != starts[-1] or len(rest):
            raise header.line.error(f"the header demands {starts[-1]:,} values but there are"
                                    f" {'more' if done > starts[-1] else f'{done:,}'}",
                                    "fix the size line or fetch the file again")
        self.dropped = {"values": n_values if self.weights is None else 0}
        self.weight_kind = "" if self.weights is None else WHOLE if "integer" in header.field else FLOAT64

    def _numbers(self, header: _Header, block_bytes: int) -> Iterator[Any]:
        """The numbers after the size line, float64[k] for each block."""
        with self.input.text(header.line.offset) as stream:
            for block in text_blocks(stream, block_bytes_for(block_bytes), after_word):
                words = block.tobytes().split()
                try:
                    values = np.array(words, np.float64)
                except ValueError:
                    wrong = next(word for word in words if not _is_number(word))
                    raise self.error("a value of the array is no number", text=wrong.decode("utf-8", "replace"),
                                     remedy="fix the value") from None
                if self.weights is not None and np.isfinite(values).all():  # others are refused later
                    self.weights.digits.rounding(values, words)
                yield values


def _column_starts(header: _Header) -> tuple[Any, Any]:
    """(index of the first stored value of each column, and their total, int64[columns + 1]; the row of the first value
    of each column, int64[columns])."""
    columns = np.arange(header.columns)
    first = columns * (header.symmetry != "general") + (header.symmetry == "skew-symmetric")
    return np.concatenate(([0], np.cumsum(np.maximum(header.rows - first, 0)))), first


def _is_number(word: bytes) -> bool:
    try:
        return float(word) is not None
    except ValueError:
        return False
