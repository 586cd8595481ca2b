"""How edges arrive: the interface between input formats, generators and the conversion.

A source yields batches of directed pairs in the *user's* ids, in any order, loops and duplicates
included. It never holds more than about one batch in memory and says what its format declares.

What a user says about how inputs are to be read; every reader takes from it what concerns its format.

Two sides of a bipartite graph that are numbered apart: the same id on both is two vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import InputError
from .registry import HEADERS

if TYPE_CHECKING:
    import numpy as np

    from .weights import WeightChoice

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


@dataclass(frozen=True)
class SortedRows:
    """The neighbours of every vertex of an undirected graph, increasing, each once, as a store has them.

    starts : integers[n + 1], where the rows begin in `ids`, and their end. ids : integers[k], both directions of every
    edge, and loops. loops : int64, the places of these. n_pairs, n_reverse : pairs that the source has for them, and
    how many of those are the second direction of an edge.
    """

    starts: np.ndarray
    ids: np.ndarray
    loops: np.ndarray
    n_pairs: int
    n_reverse: int


@runtime_checkable
class EdgeSource(Protocol):
    """A stream of edges. `info` may read the header; `batches` may be called again to start over
    unless `rewindable` is False (standard input). One that may have SortedRows has rows() -> these, or None;
    one that is generated has n_slots, slots_done and their slot_unit, which progress counts where edges cannot be."""

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



def what_is_read(
    source: EdgeSource, info: SourceInfo, pairs: Callable[[], int]
) -> tuple[int | None, str, Callable[[], int]]:
    """What progress of reading is counted in: all of it, None if that is unknown, the unit, and how much is done.
    pairs : how many have been read."""
    slots: Any = source
    if info.n_entries is not None:
        return info.n_entries, "edges", pairs
    if getattr(source, "slot_unit", None):
        return slots.n_slots, slots.slot_unit, lambda: int(slots.slots_done)
    return info.size_bytes, "B", source.position_bytes


@dataclass(frozen=True)
class Wishes:
    """How inputs are to be read.

    Parameters
    ----------
    format : str or None
        Name in registry.FORMATS, for all inputs; None: by content and suffix.
    ids : str
        "int", "string", or "auto": as the first edge has them.
    weights : WeightChoice or None
        Weights to keep; None: none.
    directed : bool
        Whether the directions of edges are to be kept.
    encoding : str
        Of texts; "" for UTF-8, and UTF-16 with a byte order mark.
    bipartite : bool
        Whether sources and targets are two sides that are numbered apart.
    columns : (str, str) or None
        Names, or numbers from 1 on, of the columns of the two ends; None: as their names or places say.
    header : str
        One of HEADERS, for texts.
    memory_bytes : int or None
        Peak memory of the process, for formats that take some beside batches; None: what the machine leaves.
    threads : int or None
        That may decode, of formats that several can; None: as many as there are cores.
    """

    format: str | None = None
    ids: str = "auto"
    weights: WeightChoice | None = None
    directed: bool = False
    encoding: str = ""
    bipartite: bool = False
    columns: tuple[str, str] | None = None
    header: str = "auto"
    memory_bytes: int | None = None
    threads: int | None = None


def check_header(header: str) -> None:
    """Raise InputError for what is none of HEADERS."""
    if header not in HEADERS:
        raise InputError("unknown kind of header", text=header, remedy="choose one of " + ", ".join(HEADERS))


def two_columns(given: Any) -> tuple[str, str] | None:
    """The columns of the two ends that a user names, as "u,v" or as two names or numbers from 1 on; None for None.

    Raises InputError for anything else.
    """
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else [str(name) for name in given]
    if len(names) != 2 or not all(names):
        raise InputError("the ends of an edge are two columns", text=str(given),
                         remedy="name both, or give their numbers, as in --columns 1,3")
    return names[0], names[1]


SAID = "two sides numbered apart: ids are those of the file behind l and r, for left and right"


def matrix_note(rows: int, columns: int) -> str:
    """How the vertices of a matrix of two sides are called."""
    return f"rows are vertices 0 to {rows - 1:,}, columns {rows:,} to {rows + columns - 1:,}"


def two_sides(batch: EdgeBatch) -> EdgeBatch:
    """The pairs with ids that say of which side they are. Vertices that a batch declares are those of the left."""
    import pyarrow as pa
    import pyarrow.compute as pc  # which takes long to load

    src, dst = (pc.binary_join_element_wise(pa.scalar(side), pa.array(ids).cast(pa.string()), "")
                for side, ids in (("l", batch.src), ("l" if batch.declares else "r", batch.dst)))
    return replace(batch, src=src, dst=dst)


class TwoSides:
    """A source of edges whose sources are one side, and targets the other one. source : of edges, whose fields it has
    else; those of EdgeSource are its own, since from Python 3.12 on isinstance looks for no others."""

    more_ids = None

    def __init__(self, source: Any) -> None:
        self._source: Any = source
        self.name, self.rewindable = source.name, source.rewindable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    @property
    def said(self) -> str:
        """How the input was read, in one sentence."""
        return "; ".join(filter(None, (getattr(self._source, "said", ""), SAID)))

    def info(self) -> SourceInfo:
        """As of the source."""
        return replace(self._source.info(), id_kind="string", more_ids=None, reading=self.said)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """As of the source."""
        yield from map(two_sides, self._source.batches(batch_bytes))

    def position_bytes(self) -> int:
        """As of the source."""
        return int(self._source.position_bytes())


def with_two_sides(source: Any) -> EdgeSource:
    """A source of edges as one of two sides."""
    found: EdgeSource = TwoSides(source)
    return found
