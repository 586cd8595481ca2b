"""Names of the input formats, the suffixes that stand for them and the modules that read them."""

from __future__ import annotations

from pathlib import PurePath
from types import MappingProxyType

from ..errors import InputError

READERS = MappingProxyType(
    {
        "edgelist": ("edge_list", "EdgeListSource"),
        "csv": ("csv_table", "CsvSource"),
        "matrix-market": ("matrix_market", "MatrixMarketSource"),
        "dimacs": ("dimacs", "DimacsSource"),
        "metis": ("metis", "MetisSource"),
        "ecl": ("ecl", "EclSource"),
        "gapbs": ("gapbs", "GapbsSource"),
        "npz": ("npz", "NpzSource"),
        "parquet": ("parquet", "ParquetSource"),
    }
)
"""Name of each format -> (module, class) that reads it."""

FORMATS: tuple[str, ...] = tuple(READERS)
"""Names that `open_source(fmt=...)` takes."""

COMPRESSION_SUFFIXES = MappingProxyType(
    {
        ".gz": "gzip",
        ".bz2": "bz2",
        ".xz": "xz",
        ".zst": "zstd",
        ".zstd": "zstd",
    }
)

SUFFIXES = MappingProxyType(
    {
        ".csv": "csv",
        ".mtx": "matrix-market",
        ".mm": "matrix-market",
        ".gr": "dimacs",
        ".col": "dimacs",
        ".dimacs": "dimacs",
        ".graph": "metis",
        ".metis": "metis",
        ".egr": "ecl",
        ".sg": "gapbs",
        ".wsg": "gapbs",
        ".npz": "npz",
        ".parquet": "parquet",
        ".pq": "parquet",
    }
)
"""Suffixes that settle the format. Others (.txt, .e, .el, .edges, .tsv, ...) leave it to the content."""

HEADERLESS_BINARY = frozenset({"ecl", "gapbs"})
"""Formats whose first bytes are numbers and may by chance equal a compression magic."""

SEEKABLE_ONLY = frozenset({"npz", "parquet"})
"""Formats with their table of contents at the end: no compression around them, no pipe."""


def compression_suffix(name: str) -> str | None:
    """Compression that the last suffix of `name` stands for, or None."""
    return COMPRESSION_SUFFIXES.get(PurePath(name).suffix.lower())


def format_suffix(name: str) -> str:
    """Lower-case suffix of `name` after stripping a compression suffix: "a.mtx.gz" -> ".mtx"."""
    path = PurePath(name)
    if compression_suffix(name):
        path = path.with_suffix("")
    return path.suffix.lower()


def check_format(fmt: str) -> str:
    """The format called `fmt`, which is a name in FORMATS or a suffix without its dot.

    Raises InputError that lists the known names.
    """
    name = SUFFIXES.get("." + fmt.lower(), fmt.lower())
    if name not in READERS:
        raise InputError("unknown input format", text=fmt, remedy="known formats: " + ", ".join(FORMATS))
    return name
