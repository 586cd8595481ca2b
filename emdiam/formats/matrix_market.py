"""Matrix Market coordinate files: a banner, comments, a size line, then 1-based entries.

(NIST, "The Matrix Market Exchange Formats", 1996.) Every stored entry is an edge whatever its
value; the size line declares n and the number of entries, which is checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import kernels
from .base import FURTHER_FIELDS, FileSource, text_head
from .faults import Wording
from .headers import HeaderEnd, find_line, header_counts
from .pair_lines import pair_batches
from .source import EdgeBatch, SourceInfo

_FIELDS = {"pattern": 2, "real": 3, "double": 3, "integer": 3, "unsigned-integer": 3, "complex": 4}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def _find_size_line(head: bytes, complete: bool) -> HeaderEnd | None:
    return find_line(head, complete, lambda line: bool(line) and not line.startswith(b"%"))


class MatrixMarketSource(FileSource):
    """See the module. `directed` is False for symmetric, skew-symmetric and Hermitian matrices."""

    format = "matrix-market"

    def _read_header(self) -> tuple[HeaderEnd, int, int, str, str]:
        """(size line, n, entries, field, symmetry)."""
        end = text_head(self.input, _find_size_line)
        banner = end.start.lower().split()
        if (len(banner) != 5 or banner[:2] != ["%%matrixmarket",
                                               "matrix"] or banner[3] not in _FIELDS or banner[4] not in _SYMMETRIES):
            raise self.error("the first line is no Matrix Market banner", line=1, text=end.start,
                             remedy="it must read like '%%MatrixMarket matrix coordinate pattern symmetric'")
        if banner[2] != "coordinate":
            raise self.error("only coordinate matrices are graphs here", line=1, text=end.start,
                             remedy="write the matrix in coordinate form")
        sizes = header_counts(end.text.split(), end, self.name)
        if len(sizes) != 3:
            raise self.error("the size line must have three numbers", line=end.number, text=end.text,
                             remedy="rows, columns, entries")
        if sizes[0] != sizes[1]:
            raise self.error(f"a {sizes[0]} x {sizes[1]} matrix is not square, so no adjacency matrix", line=end.number,
                             text=end.text, remedy="give a square matrix")
        return end, sizes[0], sizes[2], banner[3], banner[4]

    def _read_info(self) -> SourceInfo:
        _, n, entries, _, symmetry = self._read_header()
        return SourceInfo(n_vertices=n, first_id=1, n_entries=entries, directed=symmetry == "general",
                          size_bytes=self.input.size_bytes, format=self.format)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad entry and when the counts do not match."""
        end, n, entries, field, _ = self._read_header()
        wording = Wording(self.name, least=1, largest=n, fields=_FIELDS[field])
        found, state = 0, kernels.new_state(end.number + 1)
        with self.input.text(end.offset) as stream:
            for batch in pair_batches(stream, "%", wording, batch_bytes, state):
                found += len(batch.src)
                if found <= entries:
                    yield batch
        self.dropped = {FURTHER_FIELDS if field == "pattern" else "values": int(state[kernels.MORE])}
        if found != entries:
            kind = "cut short" if found < entries else "longer than declared"
            raise self.error(f"the header declares {entries} entries but there are {found}: the file is {kind}",
                             line=end.number, text=end.text, remedy="mend the size line or fetch the file again")
