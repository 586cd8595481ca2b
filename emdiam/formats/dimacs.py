"""DIMACS graphs: shortest-path .gr ("p sp n m", "a u v w"), clique and colouring .col ("p edge n m",
"e u v") and the PACE flavour of .gr ("p tw n m", then bare pairs). Ids are 1-based, n is declared.

Weights are dropped and counted; lines "c ..." are comments and "n ..." describe vertices. The number of edge
lines is checked; colouring files are known to declare twice or half of what they list, and both
are accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from . import kernels
from .base import FURTHER_FIELDS, FileSource, text_head
from .faults import Wording
from .headers import HeaderEnd, find_line, header_counts
from .pair_lines import pair_batches
from .source import EdgeBatch, SourceInfo

# Name of the problem -> letter of its edge lines.
_PROBLEMS = MappingProxyType({"sp": "a", "max": "a", "edge": "e", "edges": "e", "col": "e", "tw": ""})

# Name of the problem -> what stands behind the two ids.
_MORE = MappingProxyType({"sp": "weights", "max": "capacities"})


def _find_problem_line(head: bytes, complete: bool) -> HeaderEnd | None:
    return find_line(head, complete, lambda line: bool(line) and line.split()[0] != b"c")


class DimacsSource(FileSource):
    """See the module. Arcs of "sp" and "max" are directed, the others' edges are not."""

    format = "dimacs"

    def _read_header(self) -> tuple[HeaderEnd, str, int, int]:
        """(problem line, letter of edge lines, n, m)."""
        end = text_head(self.input, _find_problem_line)
        words = end.text.split()
        if len(words) != 4 or words[0] != "p" or words[1] not in _PROBLEMS:
            raise self.error("a DIMACS graph starts with a line 'p sp N M' or 'p edge N M'", line=end.number,
                             text=end.text, remedy="mend it, or name the format with --format")
        n, m = header_counts(words[2:], end, self.name)
        return end, _PROBLEMS[words[1]], n, m

    def _read_info(self) -> SourceInfo:
        _, letter, n, m = self._read_header()
        return SourceInfo(n_vertices=n, first_id=1, n_entries=None if letter == "e" else m, directed=letter == "a",
                          size_bytes=self.input.size_bytes, format=self.format)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad line and when the counts do not match."""
        end, letter, n, m = self._read_header()
        wording = Wording(self.name, letter=letter, least=1, largest=n)
        found, state = 0, kernels.new_state(end.number + 1)
        with self.input.text(end.offset) as stream:
            for batch in pair_batches(stream, "cn", wording, batch_bytes, state):
                found += len(batch.src)
                yield batch
        self.dropped = {_MORE.get(end.text.split()[1], FURTHER_FIELDS): int(state[kernels.MORE])}
        if found != m and not (letter == "e" and (found == 2 * m or 2 * found == m)):
            raise self.error(f"the header declares {m} edges but there are {found}", line=end.number, text=end.text,
                             remedy="mend the problem line or fetch the file again")
