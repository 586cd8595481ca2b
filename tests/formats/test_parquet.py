"""Parquet: which columns, which types, and what is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.formats import open_source
from emdiam.formats.look_ends import MISSING
from tests.helpers.formats_naive import collect, fault_of, read_pairs

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
STRINGS = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


def save(folder, columns: dict, **options):
    file = folder / "g.parquet"
    pq.write_table(pa.table(columns), file, **options)
    return file


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=80),
    type_a=st.sampled_from(INTEGERS),
    type_b=st.sampled_from(INTEGERS),
    rows=st.integers(1, 30),
    codec=st.sampled_from(["none", "snappy", "zstd", "gzip"]),
    batch_pairs=st.integers(1, 60),
)
def test_integers_of_every_width(tmp_path, pairs, type_a, type_b, rows, codec, batch_pairs):
    columns = {
        "w": pa.array([0.5] * len(pairs)),
        "dst": pa.array([b for _, b in pairs], type_b),
        "src": pa.array([a for a, _ in pairs], type_a),
    }
    file = save(tmp_path, columns, row_group_size=rows, compression=codec)
    info = open_source([file]).info()
    assert (info.n_vertices, info.n_entries, info.directed, info.id_kind) == (None, len(pairs), True, "int")
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == pairs


NAMES = st.text(min_size=1, max_size=5).filter(lambda text: text not in MISSING)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(NAMES, NAMES), min_size=1),
    type_a=st.sampled_from(STRINGS),
    batch_pairs=st.integers(1, 60),
)
def test_strings(tmp_path, pairs, type_a, batch_pairs):
    columns = {"a": pa.array([a for a, _ in pairs]).cast(type_a), "b": pa.array([b for _, b in pairs])}
    file = save(tmp_path, columns)
    assert open_source([file]).info().id_kind == "string"
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == pairs


@pytest.mark.parametrize(
    "names, expected",
    [
        (["p", "q", "cost"], (0, 1)),
        (["dst", "y", "src"], (2, 0)),
        (["w", "id_1", "id_2"], (1, 2)),
        (["Target", "w", "SOURCE"], (2, 0)),
    ],
)
def test_columns_by_name_else_the_first_two(tmp_path, names, expected):
    file = save(tmp_path, {name: [i] for i, name in enumerate(names)})
    assert read_pairs(file) == [expected]


def test_integer_columns_go_before_strings(tmp_path):
    file = save(tmp_path, {"label": ["x"], "a": [1], "label2": ["y"], "b": [2]})
    assert read_pairs(file) == [(1, 2)]
    assert read_pairs(file, ids="string") == [("1", "2")]


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1]},
        {"a": [1], "b": ["x"]},
        {"src": [1], "dst": ["x"], "k": [1], "l": [2]},
        {"a": [True], "b": [False]},
        {"a": [[1]], "b": [[2]]},
    ],
)
def test_wrong_columns_are_listed(tmp_path, columns):
    error = fault_of(save(tmp_path, columns))
    assert "no two id columns" in error.what and all(f"{name}: " in error.what for name in columns)
    assert "src and dst" in error.remedy


@pytest.mark.parametrize(
    "bad, kind, what",
    [
        (None, pa.int64(), "no id in row 1501"),
        (-1, pa.int64(), "negative in row 1501"),
        (-128, pa.int8(), "row 1501"),
        ("", pa.string(), "empty id in row 1501"),
        (None, pa.string(), "no id in row 1501"),
    ],
)
def test_bad_ids_name_column_and_row(tmp_path, bad, kind, what):
    good = "x" if kind == pa.string() else 1
    column = pa.array([good] * 1500 + [bad] + [good] * 10, kind)
    file = save(tmp_path, {"src": pa.array([good] * 1511, kind), "dst": column}, row_group_size=700)
    for batch_bytes in (16 * 100, 1 << 20):
        error = fault_of(file, batch_bytes=batch_bytes)
        assert what in error.what and "column dst" in error.what and error.remedy


def test_integers_cannot_be_had_from_strings(tmp_path):
    assert "strings" in fault_of(save(tmp_path, {"a": ["x"], "b": ["y"]}), ids="int").what


def test_damaged_files(tmp_path):
    rng = np.random.default_rng(5)
    file = save(
        tmp_path,
        {"src": rng.integers(0, 10**9, 5000), "dst": rng.integers(0, 10**9, 5000)},
        compression="zstd",
        write_page_checksum=True,
    )
    data = file.read_bytes()
    for name, bad in (("cut", data[:-20]), ("text", b"1 2\n3 4\n"), ("short", b"PAR1")):
        bad_file = tmp_path / f"{name}.parquet"
        bad_file.write_bytes(bad)
        assert "not a Parquet file" in fault_of(bad_file).what
    flipped = bytearray(data)
    flipped[3000] ^= 255
    (tmp_path / "flip.parquet").write_bytes(flipped)
    assert "damaged" in fault_of(tmp_path / "flip.parquet").what
    (tmp_path / "g.parquet.gz").write_bytes(gzip.compress(data))
    assert "decompress it first" in fault_of(tmp_path / "g.parquet.gz").remedy


def test_no_rows_is_no_graph(tmp_path):
    assert (
        "no rows"
        in fault_of(save(tmp_path, {"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())})).what
    )


def test_long_strings_come_in_batches_of_the_asked_size(tmp_path):
    file = save(tmp_path, {"a": ["x" * 1000] * 2000, "b": ["y"] * 2000})
    source = open_source([file])
    sizes = [batch.src.nbytes + batch.dst.nbytes for batch in source.batches(1 << 16)]
    assert max(sizes) <= 2 << 16 and len(sizes) > 20
    assert source.position_bytes() == source.info().size_bytes
    assert collect(source) == [("x" * 1000, "y")] * 2000


def test_words_for_missing_ids_are_refused_as_in_texts(tmp_path):
    """pandas makes them of missing values by astype(str)."""
    pq.write_table(pa.table({"source": ["a", "b", "nan"], "target": ["b", "None", "c"]}), tmp_path / "g.parquet")
    assert "as programs write for a missing one" in str(fault_of(tmp_path / "g.parquet"))
    assert len(read_pairs(tmp_path / "g.parquet", ids="string")) == 3


@pytest.mark.parametrize(("columns", "what"), [
    ({"person1": ["a"], "person2": ["b"], "from": [2001], "to": [2002]}, "two pairs"),
    ({"node": [1, 2], "n1": [2, 3], "n2": [3, 4]}, "not clear"),
    ({"node": [1, 2], "community": [0, 1]}, "not clear"),
    ({"source": ["1", "2"], "target": ["2", "1.0"]}, "one vertex"),
    ({"user": ["1", "2"], "item": ["1", "3"]}, "two kinds"),
    ({"source": ["a", "b"], "target": ["b", "(null)"]}, "missing"),
])
def test_tables_that_texts_are_refused_for(tmp_path, columns, what):
    assert what in str(fault_of(save(tmp_path, columns)))


def test_tables_like_them_that_are_read(tmp_path):
    assert read_pairs(save(tmp_path, {"id": [1, 2], "gene1": ["a", "b"], "gene2": ["b", "c"]})) == [
        ("a", "b"), ("b", "c")]
    assert read_pairs(save(tmp_path, {"source": ["1", "2"], "target": ["2", "01"]})) == [("1", "2"), ("2", "01")]
    assert read_pairs(save(tmp_path, {"source": ["1", "2"], "target": ["2", "1.0"]}), ids="string") == [
        ("1", "2"), ("2", "1.0")]
