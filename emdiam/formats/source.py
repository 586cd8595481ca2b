"""The interface between input formats, generators and the conversion: EdgeSource and its parts.

A source yields batches of directed pairs in the *user's* ids, in any order, with loops and duplicates. It keeps at most
about one batch in memory, and reports the facts that its format declares.

`Wishes` are the user's settings for reading inputs; each reader uses the fields that concern its format.

`TwoSides` reads bipartite graphs whose two sides have separate ids: the same id on both sides is two vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import InputError
from .registry import HEADERS

if TYPE_CHECKING:
    import numpy as np

    from .weights import WeightChoice

@dataclass(frozen=True)
class SourceInfo:
    """The facts that the format declares before the first edge; some are complete only after a pass.

    n_vertices : number of vertices if the format declares it (Matrix Market, METIS, DIMACS, .egr,
        .sg, .npz, generators); ids are then in [first_id, first_id + n_vertices), and vertices
        without an edge exist. None: the vertices are the ids that occur (a loop counts).
    first_id : 0 or 1, only used with n_vertices.
    n_entries : number of pairs that `batches` will yield, if known (progress, checks).
    directed : True if a pair (a, b) may mean only the arc a -> b; False if the format is undirected or
        lists both directions.
    id_kind : "int" (batches hold int64/uint64 arrays) or "string" (pyarrow string arrays).
    size_bytes : bytes to read (compressed size for compressed input), if known.
    format : name of the format, e.g. "matrix-market".
    both_directions : True if the format lists every edge in both directions.
    dropped : data beside the edges that is not read, such as weights: name -> number of values. Known after a
        complete pass of `batches`; call `info()` again then.
    skipped : lines that are no edges: kind (comments, empty lines) -> number, if counted; known with `dropped`.
    weights : kind of the weights in batches (weights.KINDS), "" without; final with `dropped`.
    weight_name : name of the weights in the input (a column or an attribute); "" without a name.
    declared : number of pairs (v, v) in batches that declare vertices; known with `dropped`.
    listed : number of those from a file that lists the vertices.
    notes : notes to the user on how the input was read, one sentence each; known with `dropped`.
    labels : with n_vertices: the user's ids of vertices 0 to n - 1, increasing, int64[n] or a pyarrow string array;
        None: their numbers.
    reading : how a text or a table was read, in one sentence ("2 columns by blanks; no header"); "" if the format
        defines it. Final with `dropped`.
    all_declared : whether batches declare every vertex, if any.
    adds_weights : whether several entries of one place are one weight, their sum, as in a matrix.
    more_ids : first and last of a range of integers that are all vertices, even without an edge, from a line of counts
        that the edges confirm; known with `dropped`. None without n_vertices: the vertices are the ids that occur.
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
    listed: int = 0
    notes: tuple[str, ...] = ()
    labels: Any = field(default=None, repr=False)
    reading: str = ""
    more_ids: tuple[int, int] | None = None
    all_declared: bool = False
    adds_weights: bool = False


@dataclass(frozen=True)
class EdgeBatch:
    """src, dst : numpy int64 or uint64 [k] in the user's ids (id_kind "int"), or pyarrow string arrays of length k
    (id_kind "string"). weights : float64 [k], or None without weights. declares : whether the pairs (v, v) of the batch
    declare vertices and are no loops."""

    src: Any
    dst: Any
    weights: Any = None
    declares: bool = False


def pairs_per_batch(batch_bytes: int) -> int:
    """The number of pairs of int64 ids in `batch_bytes`; at least 1."""
    return max(1, batch_bytes // 16)


class WithoutFile:
    """The base of sources that read no file: they can start over, and have no position."""

    rewindable = True

    def position_bytes(self) -> int:
        """Always 0."""
        return 0


@dataclass(frozen=True)
class SortedRows:
    """The neighbours of each vertex of an undirected graph, increasing and without duplicates, as in a store.

    starts : integers[n + 1], the offset of each row in `ids`, and the end. ids : integers[k], both directions of each
    edge, and loops. loops : int64, positions of the loops in `ids`. n_pairs : number of pairs in the source.
    n_reverse : number of these pairs that are the second direction of an edge.
    """

    starts: np.ndarray
    ids: np.ndarray
    loops: np.ndarray
    n_pairs: int
    n_reverse: int


@runtime_checkable
class EdgeSource(Protocol):
    """A stream of edges. `info` may read the header; `batches` may be called again to start over unless `rewindable` is
    False (standard input). A source with SortedRows has a method rows(), which returns them or None. A generator has
    n_slots, slots_done and slot_unit, which progress counts if the number of edges is unknown."""

    name: str
    rewindable: bool

    def info(self) -> SourceInfo:
        """The facts of the header. Raises InputError for a missing or empty file, or one of another format."""
        ...

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Pairs in batches whose arrays have about `batch_bytes` together (never more than twice that).

        Raises InputError at the first fault, with file, line or byte, text and remedy; and after the last batch if
        counts differ from the header."""
        ...

    def position_bytes(self) -> int:
        """The bytes of input read so far (for progress against info().size_bytes)."""
        ...



def what_is_read(
    source: EdgeSource, info: SourceInfo, pairs: Callable[[], int]
) -> tuple[int | None, str, Callable[[], int]]:
    """(total or None if unknown, unit, function that returns the amount done) for the progress of reading.

    pairs : returns the number of pairs read so far."""
    slots: Any = source
    if info.n_entries is not None:
        return info.n_entries, "edges", pairs
    if getattr(source, "slot_unit", None):
        return slots.n_slots, slots.slot_unit, lambda: int(slots.slots_done)
    return info.size_bytes, "B", source.position_bytes


@dataclass(frozen=True)
class Wishes:
    """The user's settings for reading inputs.

    Parameters
    ----------
    format : str or None
        Name in registry.FORMATS, for all inputs; None: found from content and suffix.
    ids : str
        "int", "string", or "auto": the kind of the first edge.
    weights : WeightChoice or None
        Weights to keep; None: no weights.
    directed : bool
        Whether to keep the directions of edges.
    encoding : str
        Encoding of texts; "" for UTF-8, and UTF-16 with a byte order mark.
    bipartite : bool
        Whether sources and targets are two sides with separate ids.
    columns : (str, str) or None
        Names, or numbers from 1 on, of the columns of the two ends; None: found from names or places.
    header : str
        One of HEADERS, for texts.
    memory_bytes : int or None
        Peak memory of the process, for formats that need memory beside batches; None: the machine's free memory.
    threads : int or None
        Number of decoding threads, for formats with parallel decoding; None: the number of cores.
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
    """Raise InputError unless `header` is one of HEADERS."""
    if header not in HEADERS:
        raise InputError("unknown kind of header", text=header, remedy="choose one of " + ", ".join(HEADERS))


def two_columns(given: Any) -> tuple[str, str] | None:
    """The user's columns of the two ends, given as "u,v" or as two names or numbers from 1 on; None for None.

    Raises InputError for any other value.
    """
    if given is None:
        return None
    several = given.split(",") if isinstance(given, str) else given if isinstance(given, Iterable) else [given]
    names = [str(name).strip() for name in several]
    if len(names) != 2 or not all(names):
        raise InputError("the ends of an edge are two columns", text=str(given),
                         remedy="name both, or give their numbers, as in --columns 1,3")
    return names[0], names[1]


SAID = "two sides numbered apart: ids are those of the file behind l and r, for left and right"


def matrix_note(rows: int, columns: int) -> str:
    """The note on the ids of a bipartite matrix's vertices."""
    return f"rows are vertices 0 to {rows - 1:,}, columns {rows:,} to {rows + columns - 1:,}"


def two_sides(batch: EdgeBatch) -> EdgeBatch:
    """The pairs with the side ("l" or "r") in front of each id. Vertices that a batch declares are on the left."""
    import pyarrow as pa
    import pyarrow.compute as pc  # slow to load

    src, dst = (pc.binary_join_element_wise(pa.scalar(side), pa.array(ids).cast(pa.string()), "")
                for side, ids in (("l", batch.src), ("l" if batch.declares else "r", batch.dst)))
    return replace(batch, src=src, dst=dst)


class TwoSides:
    """An EdgeSource for bipartite edges: sources are one side, targets the other.

    source : the wrapped EdgeSource; other attributes are taken from it. The members of EdgeSource are defined in this
    class, because isinstance ignores `__getattr__` from Python 3.12 on."""

    more_ids = None

    def __init__(self, source: Any) -> None:
        self._source: Any = source
        self.name, self.rewindable = source.name, source.rewindable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    @property
    def said(self) -> str:
        """The description of how the input was read, one sentence."""
        return "; ".join(filter(None, (getattr(self._source, "said", ""), SAID)))

    def info(self) -> SourceInfo:
        """The facts of the wrapped source, with string ids."""
        return replace(self._source.info(), id_kind="string", more_ids=None, reading=self.said)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The batches of the wrapped source, with sides."""
        yield from map(two_sides, self._source.batches(batch_bytes))

    def position_bytes(self) -> int:
        """The position of the wrapped source."""
        return int(self._source.position_bytes())


def with_two_sides(source: Any) -> EdgeSource:
    """A source of edges, read as bipartite."""
    found: EdgeSource = TwoSides(source)
    return found
