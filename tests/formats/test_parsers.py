"""What the parsers of other libraries do not take as it is, or take more memory for than a file is worth."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

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
    import anndata  # seconds, of one process of the suite

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


def matlab(variables: dict[str, object], compressed: bool = False) -> bytes:
    """The bytes of a MATLAB file."""
    out = io.BytesIO()
    scipy.io.savemat(out, variables, do_compression=compressed)
    return out.getvalue()


PATH_MATRIX = sparse.csc_array(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))


def test_matlab_files_whose_parts_do_not_fit_are_refused(tmp_path: Path):
    """Before scipy reads them, which would end the process at some."""
    path, data, packed = tmp_path / "g.mat", matlab({"A": PATH_MATRIX}), matlab({"A": PATH_MATRIX}, compressed=True)
    damaged = [packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :] for at in range(140, len(packed), 9)]
    damaged += [data[:begin] + data[begin + cut :] for begin in range(144, len(data) - 24, 16) for cut in (8, 20)]
    for found in damaged:
        path.write_bytes(found)
        with pytest.raises(InputError):
            open_source([path])


def test_names_of_columns_that_are_no_text_are_refused(tmp_path: Path):
    path, table = tmp_path / "g.arrow", pa.table({"source": [1, 2], "target": [2, 3]})
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"target", b"t\xe5rget"))
    with pytest.raises(InputError, match="names of its columns"):
        open_source([path])


# What stands in the file in place of four bytes, and what is wrong with it then.
OVERWRITTEN = {
    "a row that is not there": (np.int32([0, 1, 2]), 4, 1 << 28, "outside its rows"),
    "a negative row": (np.int32([0, 1, 2]), 4, -1, "outside its rows"),
    "ends that decrease": (np.int32([0, 0, 1, 2, 3]), 8, 1 << 28, "ends that decrease"),
    "a first end behind 0": (np.int32([0, 0, 1, 2, 3]), 0, 1, "ends that decrease"),
    "an end outside the rows": (np.int32([0, 0, 1, 2, 3]), 16, 1 << 28, "ends that decrease"),
    "more columns than there are": (np.int32([4, 4]), 4, 9, "fewer columns"),
    "ends as floats": (np.int32([5, 20]), 0, 7, "no whole number"),
    "values of an unknown type": (np.int32([9, 24]), 0, 200, "values of the type 200"),
    "a second part of values that is not there": (np.int32([6, 8, 5]), 8, 5 | 1 << 11, "cut short"),
    "a size that is no list": (np.int32([5, 8, 4, 4]), 4, 2, "0 dimensions"),
}


@pytest.mark.parametrize("what", OVERWRITTEN)
@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_files_with_wrong_numbers_are_refused(tmp_path: Path, what: str, compressed: bool):
    """Also where the checksum of what is compressed is right."""
    found, offset, number, message = OVERWRITTEN[what]
    path, data = tmp_path / "g.mat", matlab({"A": PATH_MATRIX})
    at = data.index(found.tobytes(), 136) + offset
    data = data[:at] + struct.pack("<i", number) + data[at + 4 :]
    if compressed:
        packed = zlib.compress(data[128:])
        data = data[:128] + struct.pack("<2I", 15, len(packed)) + packed
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"damaged.*{message}"):
        open_source([path])


def test_matlab_files_with_claims_of_much_are_refused(tmp_path: Path):
    """Cells inside cells, more than a call of scipy inside its calls has room for; a cell of 2^40 entries; a struct
    without an entry."""
    path, cell, data = tmp_path / "g.mat", np.empty(1, object), b""
    cell[0] = PATH_MATRIX
    for _ in range(70):
        data = struct.pack("<4I4I2I", 6, 8, 1, 0, 5, 8, 1, 1, 1, 0) + data
        data = struct.pack("<2I", 14, len(data)) + data
    path.write_bytes(matlab({})[:128] + data)
    with pytest.raises(InputError, match="64 deep"):
        open_source([path])
    for variables, sides, message in (({"c": cell}, (1 << 20, 1 << 20), "fewer entries"),
                                      ({"Problem": {"A": PATH_MATRIX}}, (0, 0), "Problem")):
        path.write_bytes(matlab(variables).replace(struct.pack("<4I", 5, 8, 1, 1), struct.pack("<4I", 5, 8, *sides), 1))
        with pytest.raises(InputError, match=message):
            open_source([path])


@pytest.mark.parametrize("compressed", [False, True])
def test_sparse_matrices_of_matlab_are_read(tmp_path: Path, compressed: bool):
    """In a struct, beside cells and texts, complex ones, and logical ones, whose values MATLAB writes as bytes."""
    cell, right = np.empty((2, 2), object), {("0", "1"): None, ("1", "2"): None, ("2", "3"): None}
    cell[:] = [["words", ""], [3, PATH_MATRIX]]
    data = matlab({"A": PATH_MATRIX})
    logical = data.replace(struct.pack("<3I", 6, 8, 5), struct.pack("<3I", 6, 8, 5 | 1 << 9))
    at = logical.index(struct.pack("<2I", 9, 24))
    logical = logical[:at] + struct.pack("<2I8s", 9, 3, b"\1\1\1")
    logical = logical[:132] + struct.pack("<I", len(logical) - 136) + logical[136:]
    files = [matlab({"Problem": {"A": PATH_MATRIX, "name": "words"}}, compressed), logical,
             matlab({"c": cell, "text": "", "number": 3, "A": PATH_MATRIX}, compressed)]
    for place, data in enumerate(files):
        (tmp_path / f"{place}.mat").write_bytes(data)
        found = read_back(tmp_path / f"{place}.mat", {}, tmp_path)
        assert found == Held(frozenset("0123"), right)
