"""The ends of edges by name or number, in Parquet files and tables in memory."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.formats.objects import as_source
from emdiam.formats.source import two_columns
from tests.helpers.formats_naive import collect, fault_of, read_pairs

TABLE = pd.DataFrame({"id": [0, 1], "km": [5, 7], "boss": [10, 11], "worker": [11, 12]})


@pytest.mark.parametrize("columns", ["boss,worker", ("boss", "worker"), (3, 4), "3,Worker"])
def test_columns_of_files_and_tables(tmp_path, columns):
    TABLE.to_parquet(tmp_path / "g.parquet")
    assert read_pairs(tmp_path / "g.parquet", columns=columns) == [(10, 11), (11, 12)]
    for table in (TABLE, pa.table(TABLE)):
        assert collect(as_source(table, columns=two_columns(columns))) == [(10, 11), (11, 12)]


def test_columns_are_in_the_order_that_is_wanted(tmp_path):
    table = TABLE.rename(columns={"boss": "source", "worker": "target"})
    report = emdiam.convert(table, tmp_path / "s.zarr", columns="target,source", directed=True, weights="km")
    assert report.first_pairs == ((11, 10), (12, 11)) and report.record.weights.largest == 7


def test_columns_that_number_edges_are_asked_about(tmp_path):
    TABLE.to_parquet(tmp_path / "g.parquet")
    error = fault_of(tmp_path / "g.parquet")
    assert "not clear" in error.what and "--columns" in error.remedy


def test_columns_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="no column nobody"):
        emdiam.convert(TABLE, tmp_path / "s.zarr", columns="boss,nobody")
    with pytest.raises(InputError, match="leave"):
        emdiam.convert([(1, 2)], tmp_path / "s.zarr", columns="1,2")
    emdiam.convert([(1, 2)], tmp_path / "s.zarr")
    with pytest.raises(InputError, match="say how a file is read"):
        emdiam.convert(tmp_path / "s.zarr", tmp_path / "t.zarr", columns="1,2")


def test_columns_in_every_function(tmp_path):
    table, run = TABLE, {"columns": ("boss", "worker")}
    table.to_csv(tmp_path / "g.csv", index=False)
    for graph in (table, tmp_path / "g.csv"):
        assert emdiam.diameter(graph, **run).diameter == emdiam.exact(graph, **run).diameter == 2
        assert emdiam.exact(graph, weight="km", **run).diameter == 12
        assert emdiam.exact(graph, directed=True, **run).largest_distance == 2
        assert emdiam.eccentricities(graph, **run).by_vertex() == {10: 2, 11: 1, 12: 2}
        assert emdiam.approximate(graph, **run).upper >= 2 and emdiam.plan(graph, probe=None, **run)
        assert emdiam.distances(graph, **run).pairs == {1: 2, 2: 1}
        assert emdiam.all_pairs(graph, weight="km", **run).distances.max() == 12
        assert emdiam.shortest_paths(graph, 10, weight="km", target=12, **run).distance == 12
        assert emdiam.profile(graph, **run).effective_diameter is not None
    emdiam.convert(table, tmp_path / "g.zarr", **run)
    emdiam.exact(tmp_path / "g.zarr", certificate=tmp_path / "c.json")
    assert emdiam.verify(tmp_path / "c.json", table, **run).verified
    with pytest.raises(InputError, match="a store has no columns.*leave out columns="):
        emdiam.exact(tmp_path / "g.zarr", **run)
    with pytest.raises(TypeError, match="colums"):
        emdiam.verify(tmp_path / "c.json", table, colums="boss,worker")


def test_a_column_that_is_named_as_that_of_the_weights_is_no_end(tmp_path):
    """Of its values many are in the second column too, which could make both the ends."""
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{v // 4} {v + 9} {(7 * v) % 40 + 9} 0.{v}\n" for v in range(1, 40)))
    for weights in (False, True, "4"):
        with pytest.raises(InputError, match="second and the third column have the same values"):
            emdiam.convert(path, tmp_path / "s.zarr", weights=weights)
    report = emdiam.convert(path, tmp_path / "s.zarr", weights="3")
    assert report.first_pairs[:2] == ((0, 10), (0, 11)) and report.record.weights.largest == 48
