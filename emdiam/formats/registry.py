"""The input formats: names, the modules that read them and the suffixes that stand for them, as data.

Nothing here imports a reader, so that the command line can list the formats at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType

from ..errors import no_such


@dataclass(frozen=True)
class Format:
    """One input format.

    reader : "module:class" below emdiam.formats that reads it. suffixes : those that settle the format where the
    content has no mark of another (see marks.py); others (.txt, .e, .el, .edges, .tsv, ...) leave it to the content.
    headerless : whether its first bytes are numbers, which may by chance equal a compression magic. binary :
    whether it is no text. look : whether a look at the lines says how they are read, also where a suffix names the
    format.
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
    "ecl": Format("ecl:EclSource", (".egr",), headerless=True, binary=True),
    "gapbs": Format("gapbs:GapbsSource", (".sg", ".wsg"), headerless=True, binary=True),
    "npz": Format("npz:NpzSource", (".npz",), binary=True),
    "npy": Format("npy:NpySource", (".npy",), binary=True),
    "parquet": Format("parquet:ParquetSource", (".parquet", ".pq"), binary=True),
    "arrow": Format("arrow_file:ArrowSource", (".arrow", ".feather", ".ipc"), binary=True),
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

_BY_SUFFIX = {suffix: name for name, entry in READERS.items() for suffix in entry.suffixes}
_COMPRESSIONS = MappingProxyType({".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"})


def compression_suffix(name: str) -> str | None:
    """Compression that the last suffix of `name` stands for, or None."""
    return _COMPRESSIONS.get(PurePath(name).suffix.lower())


def format_suffix(name: str) -> str:
    """Lower-case suffix of `name` after stripping a compression suffix: "a.mtx.gz" -> ".mtx"."""
    path = PurePath(name)
    return (path.with_suffix("") if compression_suffix(name) else path).suffix.lower()


def format_of_file(name: str) -> str | None:
    """Format that the suffix of a file called `name` stands for, or None."""
    return _BY_SUFFIX.get(format_suffix(name))


def check_format(fmt: str) -> str:
    """The format called `fmt`, which is a name in FORMATS or a suffix without its dot.

    Raises InputError that lists the known names.
    """
    name = _BY_SUFFIX.get("." + fmt.lower(), fmt.lower())
    if name not in READERS:
        raise no_such("input format", fmt, FORMATS)
    return name
