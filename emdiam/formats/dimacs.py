"""DIMACS graphs: shortest-path .gr ("p sp n m", "a u v w"), clique and colouring .col ("p edge n m",
"e u v") and the PACE flavours of .gr ("p tw n m", "p td n m", ..., then bare pairs). Ids are 1-based, n is declared.

Weights are dropped and counted, or kept; lines "c ..." are comments, and lines "n ..." describe vertices. The number of
edge lines is checked. Some colouring files list every edge in both directions and declare half of their lines; others
declare twice their number, which a note says.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from .base import FileSource
from .inputs import HeaderLine, header_line
from .lines import FURTHER_FIELDS, LineReader
from .source import EdgeBatch, SourceInfo
from .symmetry import Balance
from .weights import WHOLE

# Name of the problem -> letter of its edge lines.
_PROBLEMS = MappingProxyType({"sp": "a", "max": "a", "min": "a", "edge": "e", "edges": "e", "col": "e",
                              **dict.fromkeys(("tw", "ds", "td", "tww", "cep"), "")})

# Name of the problem -> meaning of the number after the two ids. ("min" has three numbers, which are no weights.)
_MORE = MappingProxyType({"sp": "weights", "max": "capacities"})


class DimacsSource(FileSource):
    """See the module. Arcs of "sp", "max" and "min" are directed, the others' edges are not."""

    format = "dimacs"

    def _read_header(self) -> tuple[HeaderLine, str, int, int]:
        """(problem line, name of the problem, n, m)."""
        header = header_line(self.input, lambda line: line.split()[0] == b"c")
        words = header.text.split()
        if len(words) != 4 or words[0] != "p" or words[1] not in _PROBLEMS:
            raise header.error("a DIMACS graph starts with a line 'p sp N M' or 'p edge N M'",
                               "fix it, or name the format with --format")
        n, m = header.counts(words[2:])
        return header, words[1], n, m

    def _read_info(self) -> SourceInfo:
        _, problem, n, m = self._read_header()
        if self.weights is not None and problem not in _MORE:
            raise self.no_weights(f"a graph of kind {problem} has none")
        return self._facts(n_vertices=n, first_id=1, n_entries=None if _PROBLEMS[problem] == "e" else m,
                           directed=_PROBLEMS[problem] == "a", weights="" if self.weights is None else WHOLE)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError at a bad line, and if the counts do not match."""
        header, problem, n, m = self._read_header()
        letter = _PROBLEMS[problem]
        lines = LineReader(self.name, header.number + 1, letter=letter, least=1, largest=n, weights=self.weights,
                           closed=2 if problem in _MORE else 0)
        balance = Balance()
        with self.input.text(header.offset) as stream:
            for batch in lines.pairs(stream, "cn", batch_bytes):
                if letter == "e":
                    balance.add(batch.src, batch.dst)
                yield batch
        self.weight_kind = lines.weight_kind()
        more = FURTHER_FIELDS if self.weights is not None else _MORE.get(problem, FURTHER_FIELDS)
        self.dropped = {more: lines.n_further}
        half = letter == "e" and 2 * lines.n_pairs == m
        self.notes = (f"the header declares {m:,} edges, twice the number of lines",) if half else ()
        if lines.n_pairs != m and not half and not (
                letter == "e" and lines.n_pairs == 2 * m and balance.symmetric):
            raise header.error(f"the header declares {m:,} edges but there are {lines.n_pairs:,}",
                               "fix the problem line or fetch the file again")
