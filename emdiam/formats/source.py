"""How edges arrive: the interface between input formats, generators and the conversion.

A source yields batches of directed pairs in the *user's* ids, in any order, loops and duplicates
included. It never holds more than about one batch in memory and says what its format declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class SourceInfo:
    """What the format declares before the first edge.

    n_vertices : number of vertices if the format declares it (Matrix Market, METIS, DIMACS, .egr,
        .sg, .npz, generators); ids then lie in [first_id, first_id + n_vertices) and vertices
        without an edge exist. None: the vertices are the ids that occur (a loop counts).
    first_id : 0 or 1, only meaningful with n_vertices.
    n_entries : number of pairs that `batches` will yield, if known (progress, checks).
    directed : True if a pair (a, b) may be meant as an arc a -> b only; False if the format is undirected or
        lists both directions.
    id_kind : "int" (batches hold int64/uint64 arrays) or "string" (pyarrow string arrays).
    size_bytes : bytes to read (compressed size for compressed input), if known.
    format : name of the format, e.g. "matrix-market".
    both_directions : True if the format lists every edge in both directions.
    dropped : what the input has beside the edges and is not taken in, such as weights: a name for it and how
        many values of it there are. Known after a complete pass of `batches`; ask `info()` again then.
    skipped : lines that are no edges, by what they are (comments, empty lines), where they are counted; known when
        `dropped` is.
    weights : kind of the weights that batches have (weights.KINDS), "" without; certain when `dropped` is.
    weight_name : what the input calls them: a column, or an attribute; "" where they have no name.
    declared : pairs of a vertex with itself, of batches that declare vertices; known when `dropped` is.
    notes : what the user should know of how the input was read, one sentence each; known when `dropped` is.
    labels : with n_vertices: what the user calls vertices 0 to n - 1, increasing, int64[n] or a pyarrow string array;
        None: by their numbers.
    reading : how a text or a table was read, in one sentence ("2 columns by blanks; no header"); "" where the format
        says it. Certain when `dropped` is.
    more_ids : the first and last of a range of integers that are all vertices, though some have no edge, as a line of
        counts may say that proves right; known when `dropped` is. None without n_vertices: the ids that occur.
    """

    n_vertices: int | None = None
    first_id: int = 0
    n_entries: int | None = None
    directed: bool = True
    id_kind: str = "int"
    size_bytes: int | None = None
    format: str = ""
    both_directions: bool = False
    dropped: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    weights: str = ""
    weight_name: str = ""
    declared: int = 0
    notes: tuple[str, ...] = ()
    labels: Any = field(default=None, repr=False)
    reading: str = ""
    more_ids: tuple[int, int] | None = None


@dataclass(frozen=True)
class EdgeBatch:
    """src, dst : numpy int64 or uint64 [k] in the user's ids (id_kind "int"), or pyarrow string
    arrays of length k (id_kind "string"). weights : float64 [k], of a source that has weights. declares : whether these
    are pairs of a vertex with itself that are no loops, but say that there is such a vertex."""

    src: Any
    dst: Any
    weights: Any = None
    declares: bool = False


def pairs_per_batch(batch_bytes: int) -> int:
    """Pairs of int64 ids that take `batch_bytes`; at least one."""
    return max(1, batch_bytes // 16)


class WithoutFile:
    """What sources have in common that read no file: they can start over, and have no position."""

    rewindable = True

    def position_bytes(self) -> int:
        """Always 0."""
        return 0


@runtime_checkable
class EdgeSource(Protocol):
    """A stream of edges. `info` may read the header; `batches` may be called again to start over
    unless `rewindable` is False (standard input)."""

    name: str
    rewindable: bool

    def info(self) -> SourceInfo:
        """Header facts; raises InputError for a missing, empty or foreign file."""
        ...

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Pairs in batches whose arrays take about `batch_bytes` together (never more than twice
        that). Raises InputError at the first fault, with file, line or byte, text and remedy, and
        after the last batch when counts do not match what the header declared."""
        ...

    def position_bytes(self) -> int:
        """Bytes of input consumed so far (for progress against info().size_bytes)."""
        ...
