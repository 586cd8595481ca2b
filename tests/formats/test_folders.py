"""Folders of parts as other programs write them, and what is refused by its name."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.errors import InputError, StoreError
from emdiam.formats import open_source
from tests.helpers.formats_naive import collect, read_pairs

ROWS = [(v, v + 1, v % 3) for v in range(60)]
PAIRS = sorted(row[:2] for row in ROWS)


def table() -> pa.Table:
    return pa.table({"src": [r[0] for r in ROWS], "dst": [r[1] for r in ROWS], "year": [r[2] for r in ROWS]})


def _hive_of_pyarrow(folder: Path) -> None:
    ds.write_dataset(table(), folder, format="parquet", partitioning=["year"], partitioning_flavor="hive")


def _csv_of_pyarrow(folder: Path) -> None:
    ds.write_dataset(table(), folder, format="csv", partitioning=["year"], partitioning_flavor="hive",
                     max_rows_per_group=7, max_rows_per_file=7)


def _arrow_of_pyarrow(folder: Path) -> None:
    ds.write_dataset(table(), folder, format="feather", max_rows_per_group=9, max_rows_per_file=9)


def _hive_of_pandas(folder: Path) -> None:
    pd.DataFrame(table().to_pydict()).to_parquet(folder, partition_cols=["year"])


def _hive_of_polars(folder: Path) -> None:
    pl.DataFrame(table().to_pydict()).write_parquet(folder, partition_by=["year"])


def _duckdb(folder: Path, form: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    edges = table()
    assert len(edges) == len(ROWS)
    duckdb.sql(f"COPY edges TO '{folder}' (FORMAT {form}, PARTITION_BY (year))")


def _spark(folder: Path) -> None:
    """As Spark leaves text: parts, some of them empty, and marks of its own."""
    folder.mkdir()
    for part in range(5):
        lines = "".join(f"{a}\t{b}\n" for a, b, _ in ROWS[15 * part : 15 * part + 15])
        (folder / f"part-0000{part}").write_text(lines)
        (folder / f".part-0000{part}.crc").write_bytes(b"crc\0")
    (folder / "_SUCCESS").write_text("")


def _hive_of_texts(folder: Path) -> None:
    """As Hive and Athena leave files without a suffix."""
    for part in range(4):
        (folder / f"year={part}").mkdir(parents=True)
        lines = "".join(f"{a}\t{b}\n" for a, b, _ in ROWS[15 * part : 15 * part + 15])
        (folder / f"year={part}" / f"00000{part}_0").write_text(lines)


def _zipped(folder: Path) -> None:
    _spark(folder)
    for file in list(folder.glob("part-*")):
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()


def _csv_with_headers(folder: Path) -> None:
    folder.mkdir()
    for part in range(5):
        lines = "".join(f"{a},{b}\n" for a, b, _ in ROWS[15 * part : 15 * part + 15])
        (folder / f"part-{part}.csv").write_text("src,dst\n" + lines)


WRITERS: dict[str, Callable[[Path], None]] = {
    "pyarrow": _hive_of_pyarrow, "pyarrow, CSV": _csv_of_pyarrow, "pyarrow, Feather": _arrow_of_pyarrow,
    "pandas": _hive_of_pandas, "polars": _hive_of_polars, "DuckDB": lambda folder: _duckdb(folder, "parquet"),
    "DuckDB, CSV": lambda folder: _duckdb(folder, "csv"), "Spark": _spark, "Hive": _hive_of_texts,
    "Spark, gzip": _zipped,
    "Spark, headers": _csv_with_headers}


@pytest.mark.parametrize("writer", WRITERS)
def test_folders_of_other_programs(writer: str, tmp_path: Path) -> None:
    folder = tmp_path / "edges"
    WRITERS[writer](folder)
    pairs = read_pairs(folder)
    assert sorted(pairs) == PAIRS and pairs == read_pairs(folder)
    files = [str(path) for path in open_source([folder]).paths]
    assert files == sorted(files) and (len(files) > 1 or "polars" not in writer)


def test_a_folder_is_a_graph_everywhere(tmp_path: Path) -> None:
    _spark(tmp_path / "edges")
    report = emdiam.convert(tmp_path / "edges", tmp_path / "g.zarr", memory="2GiB")
    assert (report.record.n_vertices, report.record.n_edges) == (61, 60)
    assert emdiam.exact(tmp_path / "edges").diameter == 60
    more = tmp_path / "more.txt"
    more.write_text("60 61\n")
    assert emdiam.convert([tmp_path / "edges", more], tmp_path / "h.zarr", memory="2GiB").record.n_edges == 61


def test_parts_without_a_record_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "edges"
    folder.mkdir()
    for number, rows in enumerate((0, 9, 0)):
        pq.write_table(table().slice(0, rows), folder / f"{number}.parquet")
    source = open_source([folder])
    assert len(collect(source)) == 9 and any("2 parts of" in note for note in source.info().notes)
    _csv_with_headers(tmp_path / "csv")
    assert any("1 part of" in note for note in _notes(tmp_path / "csv"))
    for file in folder.iterdir():
        pq.write_table(table().slice(0, 0), file)
    with pytest.raises(InputError, match="no rows"):
        open_source([folder])


def _notes(folder: Path) -> tuple[str, ...]:
    source = open_source([folder])
    collect(source)
    return source.info().notes


@pytest.mark.parametrize(("files", "what", "named"), [
    ({"a.parquet": b"x", "b.csv": b"x"}, "another kind than", "b.csv"),
    ({"a.csv": b"s,t\n1,2\n", "readme.md": b"x"}, "no format of edges", "readme.md"),
    ({"a.csv": b"s,t\n1,2\n", "in/zarr.json": b"{}"}, "no format of edges", "zarr.json"),
    ({"a.csv": b"s,t\n1,2\n", "zarr.json": b"{}"}, "is a store", "edges"),
    ({"a.parquet": b"x", "_delta_log/0.json": b"{}"}, "Delta Lake", "edges"),
    ({"a.parquet": b"x", ".hoodie/x": b"{}"}, "Hudi", "edges"),
    ({"data/a.parquet": b"x", "metadata/v1.metadata.json": b"{}"}, "Iceberg", "edges"),
    ({"a.txt": b"", "b.txt": b""}, "are empty", "edges"), ({"_x.txt": b"1 2\n"}, "no files", "edges"),
    ({"a.csv": b"src,dst\n1,2\n", "b.csv": b"src,dst,km\n1,2,3\n"}, "its columns", "b.csv"),
    ({"nodes.csv": b"id,name\n1,ann\n", "edges.csv": b"source,target\n1,2\n"}, "a file of vertices", "edges"),
    ({"part-0": b"1 2\n2 3\n3 4\n", "part-1": b"p q\n"}, "its ids are names", "part-1"),
    ({"part-0": b"1 2\n2 3\n3 4\n", "part-1": b"PAR1xxxx"}, "Parquet", "part-1"),
])
def test_what_is_refused(files: dict[str, bytes], what: str, named: str, tmp_path: Path) -> None:
    for name, data in files.items():
        path = tmp_path / "edges" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with pytest.raises(InputError, match=what) as caught:
        open_source([tmp_path / "edges"])
    assert Path(str(caught.value.path)).name == named and caught.value.remedy


def test_columns_that_are_keys_of_partitions(tmp_path: Path) -> None:
    _hive_of_pyarrow(tmp_path / "edges")
    with pytest.raises(InputError, match="year is a key"):
        open_source([tmp_path / "edges"], columns="src,year")
    with pytest.raises(InputError, match="year is a key"):
        emdiam.convert(tmp_path / "edges", tmp_path / "g.zarr", weights="year")


def test_other_folders_are_no_graph(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("x")
    with pytest.raises(StoreError):
        emdiam.exact(tmp_path / "notes")
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "a.csv").mkdir()
    with pytest.raises(InputError, match="no files"):
        open_source([tmp_path / "closed"])


def test_a_folder_of_vertices_and_edges_names_both(tmp_path: Path) -> None:
    (tmp_path / "g_nodes.csv").write_text("id,name\n1,ann\n2,bob\n3,cem\n4,dee\n")
    (tmp_path / "g_edges.csv").write_text("source,target\n1,2\n2,3\n")
    with pytest.raises(InputError) as caught:
        open_source([tmp_path])
    remedy = str(caught.value.remedy)
    assert f"{tmp_path / 'g_edges.csv'} alone" in remedy and f"--vertices {tmp_path / 'g_nodes.csv'}" in remedy
    assert open_source([tmp_path / "g_edges.csv"], vertices=tmp_path / "g_nodes.csv").info().id_kind == "int"
