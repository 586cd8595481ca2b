"""Files of pandas, polars and pyarrow: tables of edges."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from tests.formats.writers.drawn import ANY, BOTH_WEIGHTS, NUMBERS, WORDS, Drawn, Traits
from tests.formats.writers.writer import Options, Writer

Write = Callable[[Drawn, Path, Random], Options | None]
ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("node1", "node2"), ("Source", "Target"))
_WEIGHT = "weight"


def columns_of(graph: Drawn, random: Random, others: bool = True) -> dict[str, list[Any]]:
    """Columns by name: the ends by one of the usual names, weights, and perhaps others before and behind."""
    source, target = random.choice(ENDS)
    ends = {source: [a for a, _ in graph.edges], target: [b for _, b in graph.edges]}
    weights = {} if graph.weights is None else {_WEIGHT: list(graph.weights)}
    columns: dict[str, list[Any]] = {**ends, **weights}
    if others and random.random() < 0.3:
        columns = {"type": ["Directed" if graph.directed else "Undirected"] * len(graph.edges), **columns}
    if others and random.random() < 0.3:
        columns = {**columns, "year": [random.randint(1990, 2030) for _ in graph.edges]}
    return columns


def frame_of(graph: Drawn, random: Random) -> pd.DataFrame:
    """The same as a table of pandas."""
    return pd.DataFrame(columns_of(graph, random))


def _to_csv(floats: bool = False, **options: Any) -> Write:
    """By to_csv with these options; floats : whether ids are written as floats."""

    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        frame = frame_of(graph, random)
        if floats:
            for name in [name for name in frame.columns if name in {end for ends in ENDS for end in ends}][:2]:
                frame[name] = frame[name].astype(float)
        frame.to_csv(path, **options)
        return None

    return write


def _bare_csv(graph: Drawn, path: Path, random: Random) -> Options | None:
    """Without a header; the ends first."""
    pd.DataFrame(columns_of(graph, random, others=False)).to_csv(path, header=False, index=False)
    return None


def _indexed_pair(graph: Drawn, path: Path, random: Random) -> Options | None:
    """The ends are the index, as frames of osmnx have it."""
    frame = frame_of(graph, random)
    ends = [name for name in frame.columns if name in {end for pair in ENDS for end in pair}]
    frame.set_index(ends).to_csv(path)
    return None


_MANY = Traits(labels=ANY, alone=False, parallel=True, weights=BOTH_WEIGHTS)
_NUMBERS = Traits(labels=NUMBERS, alone=False, parallel=True, weights=BOTH_WEIGHTS)
# By name: options of to_csv, whether ids are floats, and suffixes.
_CSV: dict[str, tuple[dict[str, Any], bool, tuple[str, ...]]] = {
    "defaults": ({}, False, (".csv", ".txt")),
    "no index": ({"index": False}, False, (".csv", ".txt")),
    "index named": ({"index_label": "id"}, False, (".csv",)),
    "tabs": ({"sep": "\t", "index": False}, False, (".tsv", ".csv", ".txt")),
    "tabs and index": ({"sep": "\t"}, False, (".tsv",)),
    "semicolons": ({"sep": ";", "index": False}, False, (".csv", ".txt")),
    "semicolons, decimal commas": ({"sep": ";", "decimal": ",", "index": False}, False, (".csv",)),
    "semicolons, decimal commas, index": ({"sep": ";", "decimal": ","}, False, (".csv",)),
    "bars": ({"sep": "|", "index": False}, False, (".csv", ".txt")),
    "all quoted": ({"quoting": csv.QUOTE_ALL, "index": False}, False, (".csv",)),
    "words quoted": ({"quoting": csv.QUOTE_NONNUMERIC, "index": False}, False, (".csv",)),
    "words quoted, index": ({"quoting": csv.QUOTE_NONNUMERIC}, False, (".csv",)),
    "CR LF": ({"lineterminator": "\r\n", "index": False}, False, (".csv",)),
    "utf-8-sig": ({"encoding": "utf-8-sig", "index": False}, False, (".csv", ".txt")),
    "utf-16": ({"encoding": "utf-16", "index": False}, False, (".csv",)),
    "float ids": ({"index": False}, True, (".csv", ".txt")),
    "float ids, index": ({}, True, (".csv",)),
    "exponents": ({"index": False, "float_format": "%.15e"}, True, (".csv",)),
    "gzip": ({"index": False}, False, (".csv.gz",)),
    "zip": ({"index": False}, False, (".csv.zip",)),
    "xz": ({}, False, (".csv.xz",)),
}


def _parquet(floats: bool = False, **options: Any) -> Write:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        frame = frame_of(graph, random)
        if floats:
            frame = frame.astype({name: float for name in frame.columns if frame[name].dtype.kind == "i"})
        frame.to_parquet(path, **options)
        return None

    return write


def _feather(graph: Drawn, path: Path, random: Random) -> Options | None:
    frame_of(graph, random).to_feather(path)
    return None


def _polars(method: str, **options: Any) -> Write:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        import polars

        getattr(polars.DataFrame(columns_of(graph, random)), method)(path, **options)
        return None

    return write


def _polars_categories(graph: Drawn, path: Path, random: Random) -> Options | None:
    import polars

    frame = polars.DataFrame(columns_of(graph, random))
    frame = frame.with_columns(polars.col(polars.String).cast(polars.Categorical))
    random.choice((frame.write_parquet, frame.write_ipc))(path)
    return None


def _arrow_csv(graph: Drawn, path: Path, random: Random) -> Options | None:
    options = pa.csv.WriteOptions(delimiter=random.choice(",;\t"), quoting_style=random.choice(("needed", "all_valid")))
    pa.csv.write_csv(pa.table(columns_of(graph, random)), path, options)
    return None


def _arrow_parquet(graph: Drawn, path: Path, random: Random) -> Options | None:
    table = pa.table(columns_of(graph, random))
    pa.parquet.write_table(table, path, row_group_size=random.choice((2, 1000)),
                           use_dictionary=random.random() < 0.5,
                           compression=random.choice(("snappy", "zstd", "none", "gzip")))
    return None


def _arrow_dictionary(graph: Drawn, path: Path, random: Random) -> Options | None:
    table = pa.table({name: pa.array(values).dictionary_encode() if isinstance(values[0], str) else values
                      for name, values in columns_of(graph, random).items()})
    pa.parquet.write_table(table, path)
    return None


def _arrow_ipc(stream: bool) -> Write:
    def write(graph: Drawn, path: Path, random: Random) -> Options | None:
        table = pa.table(columns_of(graph, random))
        with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, table.schema) as out:
            out.write_table(table, max_chunksize=random.choice((2, 1000)))
        return None

    return write


def _arrow_feather(graph: Drawn, path: Path, random: Random) -> Options | None:
    pa.feather.write_feather(pa.table(columns_of(graph, random)), path,
                             compression=random.choice(("lz4", "zstd", "uncompressed")))
    return None


WRITERS = (
    *(Writer(f"to_csv, {name}", suffixes, _NUMBERS if floats else _MANY, _to_csv(floats, **options), "pandas")
      for name, (options, floats, suffixes) in _CSV.items()),
    Writer("to_csv, header=False", (".csv", ".txt"), Traits(labels=WORDS, alone=False, parallel=True,
                                                            weights=BOTH_WEIGHTS), _bare_csv, "pandas"),
    Writer("to_csv, ends in the index", (".csv",), _MANY, _indexed_pair, "pandas"),
    Writer("to_parquet", (".parquet", ".pq"), _MANY, _parquet(), "pandas"),
    Writer("to_parquet, float ids", (".parquet",), _NUMBERS, _parquet(True, index=False), "pandas"),
    Writer("to_feather", (".feather",), _MANY, _feather, "pandas"),
    Writer("write_csv", (".csv", ".txt"), _MANY, _polars("write_csv"), "polars"),
    Writer("write_csv, tabs", (".tsv",), _MANY, _polars("write_csv", separator="\t"), "polars"),
    Writer("write_parquet", (".parquet",), _MANY, _polars("write_parquet"), "polars"),
    Writer("write_ipc", (".arrow", ".ipc", ".feather"), _MANY, _polars("write_ipc"), "polars"),
    Writer("write_ipc_stream", (".arrows",), _MANY, _polars("write_ipc_stream"), "polars"),
    Writer("Categorical", (".parquet", ".arrow"), Traits(labels=("names", "spaced"), alone=False, parallel=True),
           _polars_categories, "polars"),
    Writer("csv.write_csv", (".csv", ".txt"), _MANY, _arrow_csv, "pyarrow"),
    Writer("parquet.write_table", (".parquet",), _MANY, _arrow_parquet, "pyarrow"),
    Writer("parquet.write_table, dictionaries", (".parquet",), Traits(labels=("names", "spaced"), alone=False,
                                                                      parallel=True), _arrow_dictionary, "pyarrow"),
    Writer("ipc.new_file", (".arrow",), _MANY, _arrow_ipc(False), "pyarrow"),
    Writer("ipc.new_stream", (".arrows", ".arrow"), _MANY, _arrow_ipc(True), "pyarrow"),
    Writer("feather.write_feather", (".feather",), _MANY, _arrow_feather, "pyarrow"),
)
