"""What the parsers of other libraries do not take as it is, or take more memory for than a file is worth."""

from __future__ import annotations

import io
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import anndata
import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sparse

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.formats import open_source
from tests.formats.writers.reading import read_back
from tests.formats.writers.writer import Held


def test_attributes_of_dot_may_have_any_name(tmp_path: Path):
    """igraph writes the names of vertices as an attribute `name`."""
    pytest.importorskip("pydot")
    path = tmp_path / "g.dot"
    path.write_text('digraph { /* name=a */ strict = 1; p [name=x, self="name = y"]; // src=1\n'
                    'p -> "name =" [src=1, dst=2, weight=3]; name -> p [name = "z"]; }')
    right = {("p", "name ="): None, ("name", "p"): None}
    assert read_back(path, {"directed": True}, tmp_path) == Held(frozenset({"p", "name", "name ="}), right)


@pytest.mark.parametrize("data", [b":~~~~~~~~~\n", b">>sparse6<<:~~~~~~~~~\n", b"~~?~~~~~\n"])
def test_graph6_is_refused_for_more_vertices_than_memory_has_room_for(tmp_path: Path, data: bytes):
    """Before they are made: ten bytes can say 2^36."""
    path = tmp_path / "g.g6"
    path.write_bytes(data)
    with pytest.raises(BudgetError, match="vertices take about"):
        emdiam.convert(path, tmp_path / "g.zarr", memory="8GiB")


def test_dictionaries_of_views_of_text_are_ids(tmp_path: Path):
    """polars writes them for its Categorical."""
    ends = [pa.DictionaryArray.from_arrays(pa.array(numbers, pa.uint32()), pa.array(["p", "q", "r"], pa.string_view()))
            for numbers in ([0, 1], [1, 2])]
    table = pa.table(ends, ["source", "target"])
    with pa.ipc.new_file(tmp_path / "g.arrow", table.schema) as out:
        out.write_table(table)
    assert read_back(tmp_path / "g.arrow", {}, tmp_path).edges == {("p", "q"): None, ("q", "r"): None}


def test_damaged_hdf5_is_refused_at_any_place(tmp_path: Path):
    """Or read, where nothing depends on the byte: h5py raises errors of many kinds."""
    path = tmp_path / "g.h5ad"
    graph = sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    anndata.AnnData(np.zeros((3, 1), np.float32), obsp={"connectivities": graph}).write_h5ad(path)
    data, read = path.read_bytes(), 0
    places = [place for place, byte in enumerate(data) if byte][::19]
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x5A]) + data[place + 1 :])
        try:
            open_source([path])
            read += 1
        except InputError:
            continue
    assert 0 < read < len(places)


def test_a_stream_of_arrow_that_claims_much_is_refused(tmp_path: Path):
    """The length of what follows is 2^61 bytes, which no buffer is made for."""
    table, path = pa.table({"source": [1, 2], "target": [2, 3]}), tmp_path / "g.arrows"
    with pa.ipc.new_stream(path, table.schema) as out:
        out.write_table(table)
    data = bytearray(path.read_bytes())
    sizes = [place for place in range(0, len(data) - 8, 8)
             if int.from_bytes(data[place : place + 8], "little") in (16, 32)]
    for place in sizes:
        path.write_bytes(bytes(data[:place]) + (1 << 61).to_bytes(8, "little") + bytes(data[place + 8 :]))
        with suppress(InputError):
            open_source([path])
    assert sizes


def test_a_member_of_zip_that_claims_to_be_elsewhere_is_refused(tmp_path: Path):
    """Its place is before the archive, which is no place to read at."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("edges.txt", "1 2\n2 3\n")
    data, refused = out.getvalue(), 0
    central = data.index(b"PK\x01\x02")
    for offset in (1 << 31, (1 << 32) - 2, 7):
        (tmp_path / "g.zip").write_bytes(data[: central + 42] + struct.pack("<I", offset) + data[central + 46 :])
        with pytest.raises(InputError):
            open_source([tmp_path / "g.zip"])
        refused += 1
    end = data.index(b"PK\x05\x06")
    (tmp_path / "g.zip").write_bytes(data[: end + 16] + struct.pack("<I", central + 9) + data[end + 20 :])
    with pytest.raises(InputError):
        open_source([tmp_path / "g.zip"])
    assert refused == 3


def test_matlab_files_whose_parts_do_not_fit_are_refused(tmp_path: Path):
    """Before scipy reads them, which would end the process at some."""
    path, graph = tmp_path / "g.mat", sparse.csc_array(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    scipy.io.savemat(path, {"A": graph})
    data = path.read_bytes()
    scipy.io.savemat(path, {"A": graph}, do_compression=True)
    packed = path.read_bytes()
    for begin in range(140, len(packed), 9):
        path.write_bytes(packed[:begin] + bytes([packed[begin] ^ 1]) + packed[begin + 1 :])
        with pytest.raises(InputError):
            open_source([path])
    for begin in range(144, len(data) - 24, 16):
        for cut in (8, 20):
            path.write_bytes(data[:begin] + data[begin + cut :])
            with pytest.raises(InputError):
                open_source([path])


def test_names_of_columns_that_are_no_text_are_refused(tmp_path: Path):
    path, table = tmp_path / "g.arrow", pa.table({"source": [1, 2], "target": [2, 3]})
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"target", b"t\xe5rget"))
    with pytest.raises(InputError, match="names of its columns"):
        open_source([path])


@pytest.mark.parametrize("place", range(4))
def test_indices_of_matlab_that_are_none_are_refused(tmp_path: Path, place: int):
    """A row that is not there, ends of columns that decrease, that begin behind 0, and that go beyond the rows."""
    path, graph = tmp_path / "g.mat", sparse.csc_array(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    scipy.io.savemat(path, {"A": graph})
    data = path.read_bytes()
    rows, ends = (data.index(np.array(part, np.int32).tobytes()) for part in ([0, 1, 2], [0, 0, 1, 2, 3]))
    at = (rows + 4, ends + 8, ends, ends + 16)[place]
    path.write_bytes(data[:at] + np.int32(1 << 28).tobytes() + data[at + 4 :])
    with pytest.raises(InputError, match="damaged"):
        open_source([path])
