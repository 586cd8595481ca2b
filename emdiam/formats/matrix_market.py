"""Matrix Market coordinate files: a banner, comments, a size line, then 1-based entries.

(NIST, "The Matrix Market Exchange Formats", 1996.) Every stored entry is an edge whatever its
value, which is its weight where weights are kept; the size line declares n and the number of entries, which is checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from .base import FileSource
from .heads import HeaderLine, header_line
from .lines import FURTHER_FIELDS, LineReader
from .source import EdgeBatch, SourceInfo
from .weights import FLOAT64, WHOLE

_FIELDS = {"pattern": 2, "real": 3, "double": 3, "integer": 3, "unsigned-integer": 3, "complex": 4}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


class MatrixMarketSource(FileSource):
    """See the module. `directed` is False for symmetric, skew-symmetric and Hermitian matrices."""

    format = "matrix-market"

    def _read_header(self) -> tuple[HeaderLine, int, int, str, str]:
        """(size line, n, entries, field, symmetry)."""
        header = header_line(self.input, lambda line: line.startswith(b"%"))
        banner = header.first.lower().split()
        if (len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"] or banner[3] not in _FIELDS
                or banner[4] not in _SYMMETRIES):
            raise self.error("the first line is no Matrix Market banner", line=1, text=header.first,
                             remedy="it must read like '%%MatrixMarket matrix coordinate pattern symmetric'")
        if banner[2] != "coordinate":
            raise self.error("only coordinate matrices are graphs here", line=1, text=header.first,
                             remedy="write the matrix in coordinate form")
        sizes = header.counts(header.text.split())
        if len(sizes) != 3:
            raise header.error("the size line must have three numbers", "rows, columns, entries")
        if sizes[0] != sizes[1]:
            raise header.error(f"a {sizes[0]} x {sizes[1]} matrix is not square, so no adjacency matrix",
                               "give a square matrix")
        return header, sizes[0], sizes[2], banner[3], banner[4]

    def _read_info(self) -> SourceInfo:
        _, n, entries, field, symmetry = self._read_header()
        if self.weights is not None and (_FIELDS[field] != 3 or symmetry not in _SYMMETRIES[:2]):
            raise self.no_weights(f"a {symmetry} matrix of kind {field} has no weights of edges")
        return self._facts(n_vertices=n, first_id=1, n_entries=entries, directed=symmetry == "general",
                           weights="" if self.weights is None else WHOLE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad entry and when the counts do not match."""
        header, n, entries, field, _ = self._read_header()
        lines = LineReader(self.name, header.number + 1, least=1, largest=n, fields=_FIELDS[field],
                           weights=self.weights)
        with self.input.text(header.offset) as stream:
            for batch in lines.pairs(stream, "%", batch_bytes):
                if lines.n_pairs <= entries:
                    yield batch
        further = field == "pattern" or self.weights is not None
        self.dropped = {FURTHER_FIELDS if further else "values": lines.n_further}
        if lines.n_pairs != entries:
            kind = "cut short" if lines.n_pairs < entries else "longer than declared"
            raise header.error(f"the header declares {entries:,} entries but there are {lines.n_pairs:,}: the file is "
                               f"{kind}", "fix the size line or fetch the file again")
        # As the banner says: values of a real matrix may all be written without a point.
        self.weight_kind = lines.weight_kind() if self.weights is None or "integer" in field else FLOAT64
