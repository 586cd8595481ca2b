"""The table of input formats (names, reader classes, suffixes), and `open_source`, which opens inputs as an EdgeSource.

This module imports readers only when an input is opened, so that the command line lists the formats at once.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..errors import InputError, no_such, redacted
from ..units import format_count

if TYPE_CHECKING:
    from .base import FileSource
    from .inputs import Input
    from .reading import Reading
    from .source import EdgeSource, Wishes
    from .vertex_lists import VertexList

HEADERS = ("auto", "none", "counts", "names")
"""What the first line of a text may be said to be: an edge (none), counts of vertices and edges, or names."""

OF_VERTICES, OF_EDGES = "nodes?|vertex|vertices", "edges?|links?|arcs?|relations(?:hips)?"
"""Words for both, in names of files and in comments."""
_FILE_OF_EDGES = rf"(?:^|[^a-z])(?:{OF_EDGES}|edge_?list)(?:[^a-z]|$)|\.w?el(?:\.|$)"
_FILE_OF_VERTICES = rf"(?:^|[^a-z])(?:{OF_VERTICES}|node_?list|labels?|names?|coords?)(?:[^a-z]|$)"
# Values of vertices or edges, as in the data sets of TUDataset and MUSAE.
_FILE_OF_VALUES = (r"(?:^|[^a-z])(?:features?|feats?|genres?"
                   r"|(?:node|edge|graph)[_-](?:labels?|attributes?|indicator))$")


class Format(NamedTuple):
    """One input format.

    reader : "module:class" of its reader, relative to emdiam.formats. suffixes : file suffixes that decide the format
    if the content has no mark of another one (see marks.py); for other suffixes (.txt, .e, .el, .edges, .tsv, ...) the
    content decides. headerless : whether its first bytes are numbers, which may by chance equal a compression magic.
    binary : whether it is binary, not text. look : whether `look` decides from the lines how to read them, even if a
    suffix names the format.
    """

    reader: str
    suffixes: tuple[str, ...] = ()
    headerless: bool = False
    binary: bool = False
    look: bool = False


READERS: Mapping[str, Format] = MappingProxyType({
    "edgelist": Format("edge_list:EdgeListSource", look=True),
    "csv": Format("csv_table:CsvSource", (".csv",), look=True),
    "attributes": Format("rows:AttributesSource", look=True),
    "columns": Format("rows:ColumnsSource", look=True),
    "adjlist": Format("rows:AdjlistSource", (".adjlist",), look=True),
    "multiline-adjlist": Format("rows:MultilineSource", look=True),
    "matrix": Format("rows:AdjacencySource", look=True),
    "sif": Format("rows:SifSource", (".sif",), look=True),
    "lgl": Format("rows:LglSource", (".lgl",), look=True),
    "pycgr": Format("rows:PycgrSource", look=True),
    "matrix-market": Format("matrix_market:MatrixMarketSource", (".mtx", ".mm")),
    "dimacs": Format("dimacs:DimacsSource", (".gr", ".col", ".clq", ".max", ".dimacs")),
    "metis": Format("metis:MetisSource", (".graph", ".metis")),
    "graph-txt": Format("metis:AsciiGraphSource", (".graph-txt",)),
    "ecl": Format("csr:EclSource", (".egr",), headerless=True, binary=True),
    "gapbs": Format("csr:GapbsSource", (".sg", ".wsg"), headerless=True, binary=True),
    "galois": Format("csr:GaloisSource", (".tgr", ".csgr"), binary=True),
    "adj": Format("adjacency_graph:AdjSource"),
    "csr": Format("array_files:CsrArraysSource", binary=True),
    "bvgraph": Format("bvgraph:BvGraphSource", headerless=True, binary=True),
    "npz": Format("npz:NpzSource", (".npz",), binary=True),
    "npy": Format("npy:NpySource", (".npy",), binary=True),
    "parquet": Format("column_files:ParquetSource", (".parquet", ".pq"), binary=True),
    "arrow": Format("column_files:ArrowSource", (".arrow", ".feather", ".ipc"), binary=True),
    "hdf5": Format("hdf5:Hdf5Source", (".h5ad", ".h5", ".hdf5"), binary=True),
    "mat": Format("mat:MatSource", (".mat",), binary=True),
    "graphml": Format("xml_graphs:GraphmlSource", (".graphml",)),
    "gexf": Format("xml_graphs:GexfSource", (".gexf",)),
    "pajek": Format("pajek:PajekSource", (".paj",)),
    "leda": Format("leda:LedaSource", (".gw", ".lgr")),
    "dl": Format("dl:DlSource", (".dl",)),
    "ntriples": Format("ntriples:NtriplesSource", (".nt",)),
    "gml": Format("whole:GmlSource", (".gml",)),
    "dot": Format("whole:DotSource", (".dot", ".gv")),
    "json": Format("whole:JsonSource", (".json",)),
    "graph6": Format("whole:Graph6Source", (".g6", ".s6", ".d6")),
})
"""Every format by its name."""

FORMATS: tuple[str, ...] = tuple(READERS)
"""Names that `open_source(fmt=...)` takes."""

_WEB, _GRAPH, _EDGES = "bvgraph", ".graph", ".e"
# Suffixes of texts whose format is found from their lines.
_TEXTS = frozenset((".txt", ".tsv", ".tab", ".el", ".wel", ".e", ".edges", ".edgelist", ".links", ".adj"))
_OF_WEB = (_GRAPH, ".offsets", ".ef", ".obl")
_BY_SUFFIX = {suffix: name for name, entry in READERS.items() for suffix in entry.suffixes}
_COMPRESSIONS = MappingProxyType({".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"})


def compression_suffix(name: str) -> str | None:
    """The compression that the last suffix of `name` stands for, or None."""
    return _COMPRESSIONS.get(PurePath(name).suffix.lower())


def format_suffix(name: str) -> str:
    """Lower-case suffix of `name` after stripping a compression suffix: "a.mtx.gz" -> ".mtx"."""
    path = PurePath(name)
    return (path.with_suffix("") if compression_suffix(name) else path).suffix.lower()


def part_of(name: str) -> str:
    """The content of a file that is beside others, by its name: "edges", "vertices", or "" if it says neither or
    both."""
    lower = PurePath(name).name.lower()
    edges, vertices = (bool(re.search(words, lower)) for words in (_FILE_OF_EDGES, _FILE_OF_VERTICES))
    return "" if edges == vertices else "edges" if edges else "vertices"


def format_of_file(name: str) -> str | None:
    """The format that the suffix of the file name `name` stands for, or None."""
    return _BY_SUFFIX.get(format_suffix(name))


def check_format(fmt: str) -> str:
    """The format for `fmt`, a name in FORMATS or a suffix without its dot.

    Raises InputError, which lists the known names, for any other text.
    """
    name = _BY_SUFFIX.get("." + fmt.lower(), fmt.lower())
    if name not in READERS:
        raise no_such("input format", fmt, FORMATS)
    return name


def open_source(inputs: Sequence[str | Path], *, fmt: str | None = None,
                vertices: str | Path | Sequence[str | Path] | None = None, **options: Any) -> EdgeSource:
    """Open one or several inputs as one source of edges.

    Parameters
    ----------
    inputs : files, globs (this function expands and sorts them), folders (see folders.py) and "-" for standard input.
        All are parts of one graph: same kind of ids, same declared n.
    fmt : name in FORMATS, for all inputs; None: found from content and suffix. vertices : files that list the
        vertices, see vertex_lists.py. options : the other fields of Wishes.

    Raises InputError for inputs that are missing, empty, unreadable, in an unknown format, or that contradict each
    other. This function checks headers; edges are checked while they are read.
    """
    from .array_files import arrays_of
    from .base import IDS, ChainedSource
    from .folders import FolderParts
    from .inputs import expand
    from .source import Wishes, check_header, two_columns

    fmt = None if fmt is None else check_format(fmt)
    wishes = Wishes(fmt, **{**options, "columns": two_columns(options.get("columns"))})
    check_header(wishes.header)
    if wishes.ids not in IDS:
        raise InputError("unknown kind of ids", text=wishes.ids, remedy="choose one of " + ", ".join(IDS))
    folders = {str(item): FolderParts(Path(item)) for item in inputs if Path(item).is_dir()}
    names = expand(inputs)
    sources: list[FileSource] = []
    notes: list[str] = []
    arrays = None if folders else arrays_of(names, wishes)
    if arrays is not None:
        sources, names = [arrays], names[:1]
    for name in names if arrays is None else ():
        parts = folders.get(name)
        if parts is None:
            sources.append(_reader(name, wishes))
            continue
        parts.check_wanted([*(wishes.columns or ()), *([wishes.weights.column] if wishes.weights else [])])
        sources += parts.readers(lambda file: _reader(file, wishes))
        notes += [f"{format_count(parts.n_empty, 'part')} of {name} without a record"] if parts.n_empty else []
    notes += [source.input.member.note for source in sources if source.input.member and source.input.member.note]
    chained = ChainedSource(sources, *_vertices(vertices, names, wishes), notes)
    chained.info()
    return chained


def _reader(name: str, wishes: Wishes) -> FileSource:
    """The reader of one file. Raises InputError."""
    from .inputs import Input
    from .source import TwoSides

    fmt = wishes.format
    source = Input(name, headerless=lambda file: _is_headerless(fmt or _format_by_name(file)), encoding=wishes.encoding)
    found, reading = (fmt, None) if fmt else _found_format(source, _format_by_name(source.name), wishes)
    reader = _reader_class(found)(source, wishes, reading)
    apart = reader.sides_by_ids and (wishes.bipartite or reader.has_two_sides)
    return cast("FileSource", TwoSides(reader)) if apart else reader


def _vertices(given: str | Path | Sequence[str | Path] | None, names: Sequence[str],
              wishes: Wishes) -> tuple[VertexList | None, bool | None]:
    """(list of vertices or None, whether edges have directions or None), from `given` or a file beside the edges."""
    if given is None and PurePath(names[0]).suffix != _EDGES:
        return None, None
    from .vertex_lists import find_beside, find_vertices

    if given is None:
        return find_beside(names)
    if wishes.bipartite:
        raise InputError("a list of vertices does not say the side of each", remedy="leave out --vertices")
    return find_vertices(given, wishes.encoding), None


def is_address_of_file(address: str) -> bool:
    """Whether the address ends with the name of an edge file, not of a store."""
    name = PurePath(redacted(address)).name
    suffix = format_suffix(name)
    return suffix != ".zarr" and (compression_suffix(name) is not None or suffix in _TEXTS or suffix in _BY_SUFFIX)


def _format_by_name(name: str) -> str | None:
    """As format_of_file; but .graph, a suffix of METIS and WebGraph, is WebGraph's if its properties file is beside."""
    name = redacted(name)
    properties = PurePath(name).with_suffix(".properties")
    if PurePath(name).suffix in _OF_WEB and Path(properties).is_file():
        from .inputs import HEAD_BYTES
        from .marks import find_mark

        with open(properties, "rb") as file:
            mark = find_mark(file.read(HEAD_BYTES))
        if mark is not None and mark.format == _WEB:
            return _WEB
    return format_of_file(name)


def _is_headerless(named: str | None) -> bool:
    return named is not None and READERS[named].headerless


def _reader_class(named: str) -> type[FileSource]:
    """The reader class of a format."""
    module, reader = READERS[named].reader.split(":")
    source_class: type[FileSource] = getattr(importlib.import_module("." + module, __package__), reader)
    return source_class


def _found_format(source: Input, suffix: str | None, wishes: Wishes) -> tuple[str, Reading | None]:
    """(format, reading) of an input if the user names no format: from its mark, else its suffix, else its lines.

    reading : the result of `look` at the lines, or None."""
    from .inputs import HEAD_BYTES, EmptyInputError
    from .look import reading_of
    from .marks import ZIP, find_mark

    if re.search(_FILE_OF_VALUES, PurePath(source.name).name.lower().partition(".")[0]) and wishes.columns is None:
        raise InputError("by its name this file has values of vertices or edges", path=source.name,
                         remedy="give the file that has the edges, or name its format, as in --format"
                         f" {suffix or 'edgelist'}")
    head = source.peek(HEAD_BYTES, text=True)
    if not head:
        raise EmptyInputError("the input is empty", path=source.name, remedy="fetch or write it again")
    if _is_headerless(suffix):
        return str(suffix), None
    mark = find_mark(head)
    if mark is not None:
        found = "npz" if mark.format == ZIP else mark.format
        if found not in READERS:
            raise mark.refusal(source.name)
        return found, None
    if suffix == "dimacs" and _may_be_galois(head):
        return "galois", None
    odd = b"\0" in head or (suffix == "metis" and re.search(rb"[\x00-\x08\x0e-\x1f]", head))  # never in a text
    if odd and not (suffix and READERS[suffix].binary):
        raise _unknown_binary(source, head)
    if suffix is None or READERS[suffix].look or (suffix == "matrix-market" and not head.startswith(b"%%")):
        reading = reading_of(source, wishes)
        return reading.format, reading
    return suffix, None


def _may_be_galois(head: bytes) -> bool:
    from .csr import is_galois

    return is_galois(head)


def _unknown_binary(source: Input, head: bytes) -> InputError:
    """The error for binary data without a mark."""
    if source.path is not None and format_suffix(source.name) == _GRAPH:
        path = source.path.with_suffix("") if compression_suffix(source.name) else source.path
        beside = path.with_suffix(".properties").name
        return InputError(f"this is binary, so no METIS graph, and no BVGraph of WebGraph, which has its properties in"
                          f" {beside}", path=source.name, remedy=f"fetch {beside} too, with {path.name} as it is there")
    if _may_be_galois(head):
        return InputError("this may be a graph of Galois, or other binary data", path=source.name, byte=0,
                          remedy="say --format galois for the first, or name another format")
    if not any(head[1:1000:2]) or not any(head[:1000:2]):
        order = "le" if not any(head[1:1000:2]) else "be"
        width = 32 if not (any(head[2:1000:4]) if order == "le" else any(head[1:1000:4])) else 16
        return InputError(f"this looks like UTF-{width} without a byte order mark", path=source.name, byte=0,
                          remedy=f"name it with --encoding utf-{width}-{order}")
    return InputError("binary data of no known format", path=source.name, byte=head.index(b"\0"),
                      remedy="name the format with --format")
