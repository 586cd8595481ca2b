"""Text edge lists: one edge per line, two ids first; SNAP, KONECT, GAP .el/.wel and their kin.

Fields are separated by spaces, tabs or a comma with blanks around it. Lines that start with # or % are comments
wherever they stand; further columns (weights, times) are dropped and counted, but for the weights that are to be kept:
the third, or that of the number named. Line ends are LF, CR LF or CR. A header
comment says whether the graph is directed (SNAP "# Undirected graph", KONECT "% sym"); counts in comments ("# Nodes: 5
Edges: 7") are hearsay: they add no vertices and are not taken as the number of entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .base import FileSource
from .heads import Head, is_integer_line, read_head, text_head
from .lines import FURTHER_FIELDS, LineReader
from .source import EdgeBatch, SourceInfo
from .weights import WHOLE

_MOST_FIELDS = 1 << 10
_UNDIRECTED = re.compile(rb"#\s*undirected\s+graph", re.IGNORECASE)
_KONECT = re.compile(rb"%\s*(sym|asym|bip)\s+\w+")


class EdgeListSource(FileSource):
    """See the module. Ids are int64, or pyarrow strings if the first data line is not two integers."""

    format = "edgelist"
    takes_strings = takes_columns = True

    def _read_info(self) -> SourceInfo:
        head = text_head(self.input, read_head)
        kind = self._id_kind(head) if self.ids == "auto" else self.ids
        if self.weights is not None and not 3 <= self._field <= _MOST_FIELDS:
            raise self.error("columns of an edge list have no names, but numbers from 3 on", text=self.weights.column,
                             remedy="give the number of the column")
        return self._facts(directed=self._directed(head), id_kind=kind, weights="" if self.weights is None else WHOLE)

    @property
    def _field(self) -> int:
        """Number of the column of weights; 0 for none that there can be."""
        column = "" if self.weights is None else self.weights.column
        return 3 if not column else int(column) if column.isdecimal() and len(column) < 4 else 0

    def _id_kind(self, head: Head) -> str:
        if is_integer_line(head.lines[0]):
            return "int"
        if len(head.lines) > 1 and is_integer_line(head.lines[1]):
            raise self.error("the first line is not two integers but the next one is",
                             text=head.lines[0].decode("utf-8", "replace"),
                             remedy="if it is a header use --format csv, if ids are names use --ids string")
        return "string"

    def _directed(self, head: Head) -> bool:
        konect = next((m for m in map(_KONECT.match, head.comments) if m), None)
        if konect and konect[1] == b"bip":
            raise self.error("a bipartite KONECT graph numbers its two sides separately", text=konect[0].decode(),
                             remedy="add an offset to the ids of one side first")
        if konect:
            return konect[1] != b"sym"
        return not any(map(_UNDIRECTED.match, head.comments))

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad line."""
        integers = self.info().id_kind == "int"
        lines = LineReader(self.name, strings=integers, weights=self.weights, field=self._field)
        with self.input.text() as stream:
            yield from (lines.pairs if integers else lines.names)(stream, "#%", batch_bytes)
        self.weight_kind = lines.weight_kind()
        self.dropped, self.skipped = {FURTHER_FIELDS: lines.n_further}, lines.skipped
