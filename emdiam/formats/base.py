"""The base class of readers, FileSource, and ChainedSource, which joins several inputs into one source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InputError
from .inputs import Input
from .reading import Reading
from .source import EdgeBatch, SourceInfo, Wishes
from .weights import common_kind

if TYPE_CHECKING:
    from .vertex_lists import VertexList

IDS = ("auto", "int", "string")
MAX_ID = 2**63 - 1
# Memory of the bytes read ahead from a remote file, see remote_files.py.
_REMOTE_BYTES = 32 << 20
_LEAST_PAIR_BYTES = 2  # a neighbour in a line of METIS


class Named:
    """A base of objects with a name for error messages."""

    name: str

    @contextmanager
    def _damage(self, errors: tuple[type[Exception], ...], what: str, remedy: str) -> Iterator[None]:
        """A context that turns these errors of a library into an InputError with `what` and the library's message."""
        try:
            yield
        except errors as error:
            why = str(error).partition("\n")[0]
            raise self.error(f"{what} ({why})", remedy=remedy) from error

    def error(self, what: str, **where: object) -> InputError:
        """An InputError about this input."""
        return InputError(what, path=self.name, **where)  # type: ignore[arg-type]


class FileSource(Named, ABC):
    """An EdgeSource over one input. Subclasses read the header once and yield the batches.

    source : the input. wishes : the user's settings. reading : the result of `look` for a text, if already known.
    """

    format: ClassVar[str]
    takes_strings: ClassVar[bool] = False
    takes_columns: ClassVar[bool] = False
    """Whether the weights can be one column of several."""
    takes_ends: ClassVar[bool] = False
    """Whether the ends of edges are two columns of several, which can be named."""
    takes_headers: ClassVar[bool] = False
    """Whether its first line may be an edge, counts or names."""
    takes_sides: ClassVar[bool] = False
    """Whether sources and targets may be two sides that are numbered apart."""
    by_ids = False
    """Whether edges end at ids also if all vertices are known before: several inputs, and lists of vertices, have to
    agree by ids."""
    sides_by_ids: ClassVar[bool] = False
    """Whether its ids are then told apart by TwoSides, as the reader does not do it."""

    def __init__(self, source: Input, wishes: Wishes, reading: Reading | None = None) -> None:
        ids, weights = wishes.ids, wishes.weights
        if ids == "string" and not self.takes_strings:
            raise InputError(f"ids of format {self.format} are integers", path=source.name,
                             remedy="leave out --ids string")
        if weights is not None and weights.column and not self.takes_columns:
            raise InputError(f"format {self.format} has no columns of weights to choose from", path=source.name,
                             text=weights.column, remedy="give --weights alone")
        if wishes.columns is not None and not self.takes_ends:
            raise InputError(f"format {self.format} has no columns to choose the ends of edges from", path=source.name,
                             text=",".join(wishes.columns), remedy="leave out --columns")
        if wishes.header != "auto" and not self.takes_headers:
            raise InputError(f"format {self.format} defines its first line", path=source.name,
                             text=wishes.header, remedy="leave out --header")
        if wishes.bipartite and not (self.takes_sides or self.sides_by_ids):
            raise InputError(f"format {self.format} has no two sides that are numbered apart", path=source.name,
                             remedy="leave out --bipartite")
        self.input, self.wishes, self.ids, self.weights, self.reading = source, wishes, ids, weights, reading
        self.name, self.rewindable = source.name, source.rewindable
        self._info: SourceInfo | None = None
        self.dropped: dict[str, int] = {}
        """What a complete pass of `batches` met beside the edges; see SourceInfo."""
        self.skipped: dict[str, int] = {}
        """Lines of it that are no edges; see SourceInfo."""
        self.weight_kind = ""
        """Kind of the weights in it; see SourceInfo."""
        self.declared = 0
        """Pairs in it that declare vertices; see SourceInfo."""
        self.has_arcs: bool | None = None
        """Whether some edge in it has a direction, where only a complete pass can tell."""
        self.notes: tuple[str, ...] = ()
        """See SourceInfo."""
        self.column_names: tuple[str, ...] = ()
        """Of a table, as its header has them; known after `info`."""

    def info(self) -> SourceInfo:
        """The facts of the header, read once. Raises InputError."""
        if self._info is None:
            self._info = self._read_info()
        return self._info

    @property
    def has_two_sides(self) -> bool:
        """Whether the input itself says that its ends are two sides."""
        return False

    @abstractmethod
    def _read_info(self) -> SourceInfo:
        """Read the header."""

    def _facts(self, **facts: Any) -> SourceInfo:
        """A SourceInfo with these facts, and the size and format of this input."""
        return SourceInfo(size_bytes=self.input.size_bytes, format=self.format, **facts)

    def no_weights(self, why: str) -> InputError:
        """The error for an input without weights."""
        return self.error(f"weights are to be kept, but {why}", remedy="leave out --weights")

    def _path_in_place(self, file: str, kind: str) -> Path:
        """The path of the input, if its table of contents is at its end. Raises InputError for a pipe or a compressed
        file. file, kind : names of the file and its kind for the message."""
        path = self.input.require_file(f"{file} has its table of contents at its end")
        if self.input.compression is not None:
            raise self.error(f"a compressed {kind} cannot be read in place", remedy="decompress it first")
        return path

    @property
    def paths(self) -> list[Path]:
        """The files of this input; empty for a pipe."""
        return [] if self.input.path is None else [self.input.path]

    @abstractmethod
    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource."""

    def position_bytes(self) -> int:
        """The compressed bytes of input read so far."""
        return self.input.position_bytes()


class ChainedSource:
    """One or more inputs, read one after the other; an EdgeSource.

    vertices : lists of the vertices beside the edges. directed : whether edges have directions, if a file beside them
    says so, else None. notes : notes on the inputs for the user, one sentence each. After a complete pass `info()` also
    has the counts of data beside the edges.
    """

    of_files: ClassVar[bool] = True
    """Whether names come from files, where two that look the same may be a fault."""

    def __init__(self, sources: Sequence[FileSource], vertices: VertexList | None = None,
                 directed: bool | None = None, notes: Sequence[str] = ()) -> None:
        self._sources, self._vertices, self._directed = list(sources), vertices, directed
        self._said = tuple(notes)
        for source in sources:
            source.by_ids = len(sources) > 1 or vertices is not None
        self.rewindable = all(source.rewindable for source in sources)
        more = len(sources) - 1
        self.name = sources[0].name + (f" and {more} more" if more else "")
        self._info: SourceInfo | None = None

    @property
    def paths(self) -> list[Path]:
        """The files of all inputs that are files, in order."""
        lists = () if self._vertices is None else self._vertices.inputs
        return [*(path for source in self._sources for path in source.paths),
                *(source.path for source in lists if source.path is not None)]

    @property
    def named_vertices(self) -> VertexList | None:
        """The list of vertices if it has names, else None."""
        return self._vertices if self._vertices is not None and self._vertices.named else None

    @property
    def memory_bytes(self) -> int:
        """The memory beside batches of the input that needs most."""
        remote = any(source.remote is not None for source in self._inputs)
        return max(getattr(source, "memory_bytes", 0) for source in self._sources) + (_REMOTE_BYTES if remote else 0)

    @property
    def addresses(self) -> list[list[Any]]:
        """[address, size, version] of each remote input."""
        return [[remote.name, remote.size, remote.version] for source in self._inputs
                if (remote := source.remote) is not None]

    @property
    def _inputs(self) -> list[Input]:
        """The inputs of edges and of lists of vertices."""
        lists = () if self._vertices is None else self._vertices.inputs
        return [*(source.input for source in self._sources), *lists]

    def check_unchanged(self) -> None:
        """Raise InputError if a file has changed since it was opened."""
        for source in self._inputs:
            source.watched.check()

    @property
    def most_pairs(self) -> int | None:
        """An upper bound on the number of pairs from the sizes of the files; None with pipes or compressed files."""
        plain = [source.input.size_bytes if source.input.compression is None else None for source in self._sources]
        size = _sum(plain)
        return None if size is None else size // _LEAST_PAIR_BYTES

    def info(self) -> SourceInfo:
        """The merged facts of all headers. Raises InputError if they contradict each other."""
        if self._info is None:
            infos = [source.info() for source in self._sources]
            for source, info in zip(self._sources, infos, strict=True):
                self._check(source, info, infos[0])
            self._info = _merged(infos)
            if self._directed is not None:
                self._info = replace(self._info, directed=self._directed)
            if self.named_vertices is not None and self._info.id_kind != "int":
                raise self.named_vertices.error(f"it has names for integers, and the ids of {self.name} are names",
                                                remedy="leave --vertices out, or list the ids alone")
        return self._info

    def _check(self, source: FileSource, info: SourceInfo, first: SourceInfo) -> None:
        if info.n_vertices == 0:
            raise source.error("the header declares a graph without vertices", remedy="give a graph")
        if info.id_kind != first.id_kind:
            raise source.error(f"its ids are {_kind(info)} but those of {self._sources[0].name} are {_kind(first)}",
                               remedy="convert them apart, or take all as names with --ids string")
        if info.n_vertices != first.n_vertices or (info.n_vertices is not None and info.first_id != first.first_id):
            raise source.error(f"it declares {_count(info)} but {self._sources[0].name} declares {_count(first)}",
                               remedy="inputs given together must be parts of one graph")

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource: the pairs of each input in turn."""
        info = self.info()
        dropped, skipped = Counter[str](), Counter[str]()
        common = None if self._vertices is None or self._vertices.named else self._vertices.compared()
        for source in self._sources:
            for batch in source.batches(batch_bytes):
                if common is not None:
                    common.watch_edges(batch)
                yield batch
            dropped.update(source.dropped)
            skipped.update(source.skipped)
        declared, listed = sum(source.declared for source in self._sources), 0
        alone = self._vertices is None and len(self._sources) == 1
        if common is not None and self._vertices is not None:
            strict = self._sources[0].ids == "auto"
            for batch in self._vertices.declared(batch_bytes, info.id_kind == "string", bool(info.weights), strict):
                listed += len(batch.src)
                common.watch_list(batch)
                yield batch
            common.check(self._vertices)
        arcs = [source.has_arcs for source in self._sources]
        ranges = [found for source in self._sources if (found := getattr(source, "more_ids", None)) is not None]
        more = (min(first for first, _ in ranges), max(last for _, last in ranges)) if ranges else None
        self._info = replace(info, dropped={name: count for name, count in dropped.items() if count},
                             skipped=dict(skipped), weights=common_kind(s.weight_kind for s in self._sources),
                             directed=any(arcs) if None not in arcs else info.directed,
                             declared=declared + listed, listed=listed, notes=self._notes(),
                             all_declared=alone and info.all_declared, more_ids=more, reading=_readings(self._sources))

    def _notes(self) -> tuple[str, ...]:
        lists = [] if self._vertices is None else [self._vertices.note]
        return tuple(dict.fromkeys([*self._said, *lists, *(note for source in self._sources for note in source.notes)]))

    def position_bytes(self) -> int:
        """The compressed bytes read so far, over all inputs."""
        return sum(source.position_bytes() for source in self._sources)


def _readings(sources: Sequence[FileSource]) -> str:
    """The descriptions of how the inputs were read, without duplicates."""
    return " | ".join(dict.fromkeys(filter(None, (getattr(source, "said", "") for source in sources))))


def _merged(infos: list[SourceInfo]) -> SourceInfo:
    return replace(infos[0], n_entries=_sum([info.n_entries for info in infos]),
                   size_bytes=_sum([info.size_bytes for info in infos]),
                   directed=any(info.directed for info in infos),
                   both_directions=all(info.both_directions for info in infos),
                   adds_weights=len(infos) == 1 and infos[0].adds_weights,
                   weights=common_kind(info.weights for info in infos),
                   reading=" | ".join(dict.fromkeys(info.reading for info in infos if info.reading)),
                   format="+".join(sorted({info.format for info in infos})))


def _sum(numbers: list[int | None]) -> int | None:
    """The sum, or None if a number is unknown."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _kind(info: SourceInfo) -> str:
    return "integers" if info.id_kind == "int" else "names"


def _count(info: SourceInfo) -> str:
    if info.n_vertices is None:
        return "no number of vertices"
    return f"vertices {info.first_id}..{info.first_id + info.n_vertices - 1}"
