"""Files of rows: .adj of Ligra, .gr of Galois, .sg of GAP, and arrays of NumPy; odd ones, and every way to be wrong."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.formats import adjacency_graph, open_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.formats_naive import collect, fault_of, read_pairs
from tests.helpers.graph_files import Rows, adj, arrays, galois, gapbs

Encode = Callable[[Rows], bytes]
FILES: dict[str, Encode] = {
    "g.adj": adj, "lines.adj": lambda rows: adj(rows, mark="\r\n"), "blanks.adj": lambda rows: adj(rows, mark=" \t"),
    "w.adj": lambda rows: adj(rows, [1] * sum(map(len, rows))), "one.gr": galois,
    "two.gr": lambda rows: galois(rows, 2), "weights.gr": lambda rows: galois(rows, 1, [2] * sum(map(len, rows))),
    "wide.csgr": lambda rows: galois(rows, 2, [.5] * sum(map(len, rows)), "d"), "g.sg": gapbs,
    "g.wsg": lambda rows: gapbs(rows, [3] * sum(map(len, rows)))}
N = 900
ODD: dict[str, Rows] = {
    "no edges": [[]] * 5, "a loop": [[0]], "full": [list(range(30))] * 30, "twice": [[1, 1], [0, 0, 0], []],
    "a long row": [[], list(range(N)), *[[]] * (N - 2)], "the last vertex": [*[[]] * (N - 1), [0, N - 1]]}


def drawn(rng: random.Random) -> Rows:
    n = rng.choice((1, 2, 7, 40))
    return [[rng.randrange(n) for _ in range(rng.choice((0, 0, 1, 2, 9)))] for _ in range(n)]


def pairs_of(rows: Rows) -> list[tuple[int, int]]:
    return [(v, w) for v, row in enumerate(rows) for w in row]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a text are so small that small graphs have several."""
    monkeypatch.setattr(adjacency_graph, "_BLOCK_BYTES", 16)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", FILES)
def test_random_graphs(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for number in range(20):
        rng = random.Random(number)
        rows = drawn(rng)
        path.write_bytes(FILES[name](rows))
        assert read_pairs(path, batch_bytes=rng.choice((16, 256, 1 << 16))) == pairs_of(rows)
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        assert read_pairs(packed) == pairs_of(rows)


@pytest.mark.parametrize("rows", ODD.values(), ids=ODD)
def test_odd_graphs(rows: Rows, tmp_path: Path) -> None:
    for name, encode in FILES.items():
        (tmp_path / name).write_bytes(encode(rows))
        source = open_source([tmp_path / name])
        assert source.info().n_vertices == len(rows) and source.info().directed
        assert collect(source, 4096) == pairs_of(rows)
    for dtype in ("<i4", ">u8", "<u2") if any(rows) else ():
        assert read_pairs(*arrays(tmp_path, rows, dtype=dtype), batch_bytes=4096) == pairs_of(rows)


@pytest.mark.parametrize(("name", "data", "weights", "right"), [
    ("g.adj", adj([[1], [0, 1]], [7, 8, 9]), "", [7, 8, 9]),
    ("g.adj", adj([[1], [0, 1]], ["0.5", "1e2", "-0"]), "", [.5, 100, 0]),
    ("g.gr", galois([[1], [0, 1]], 1, [7, 8, 2**32 - 1]), "uint32", [7, 8, 2**32 - 1]),
    ("g.gr", galois([[1], [0, 1]], 2, [.5, 8, 9], "f"), "float32", [.5, 8, 9]),
    ("g.gr", galois([[1], [0, 1]], 2, [7, 8, 9], "q"), "int64", [7, 8, 9]),
    ("g.gr", galois([[1], [0, 1]], 1, [7, 8, 9], "B"), "uint8", [7, 8, 9]),
    ("g.wsg", gapbs([[1], [0, 1]], [7, 8, 9]), "", [7, 8, 9]),
])
def test_weights(name: str, data: bytes, weights: str, right: list[float], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    source = open_source([tmp_path / name], weights=WeightChoice(weights))
    assert [one for batch in source.batches(32) for one in batch.weights.tolist()] == right
    plain = open_source([tmp_path / name])
    assert collect(plain) == [(0, 1), (1, 0), (1, 1)] and plain.info().dropped == {"weights": 3}


def test_weights_of_which_the_type_is_not_said(tmp_path: Path) -> None:
    path = tmp_path / "g.gr"
    path.write_bytes(galois([[1], [0, 1]], 1, [7, 8, 9]))
    error = fault_of(path, weights=WeightChoice())
    assert "several types" in error.what and "--weights=uint32, --weights=int32, --weights=float32" in error.remedy
    assert "several types" in fault_of(path, weights=WeightChoice("float64")).what
    path.write_bytes(galois([[1], [0, 1]]))
    assert "has none" in fault_of(path, weights=WeightChoice("uint32")).what
    path.write_bytes(struct.pack("<6Q", 2, 3, 1, 1, 1, 0) + bytes(3))
    assert "no numbers" in fault_of(path, weights=WeightChoice()).what and read_pairs(path) == [(0, 0)]
    (tmp_path / "g.adj").write_bytes(adj([[1], [0]]))
    assert "has none" in fault_of(tmp_path / "g.adj", weights=WeightChoice()).what
    for words, what in ((["1", "x"], "not a number"), (["1", "-3"], "negative"), (["1", "1e999"], "not finite")):
        (tmp_path / "g.adj").write_bytes(adj([[1], [0]], words))
        error = fault_of(tmp_path / "g.adj", weights=WeightChoice())
        assert what in error.what and "word 9 " in error.what, str(error)


def test_both_kinds_of_gr_are_told_apart_by_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "g.gr"
    path.write_text("c roads\np sp 3 2\na 1 2 5\na 2 3 6\n")
    assert open_source([path]).info().format == "dimacs" and read_pairs(path) == [(1, 2), (2, 3)]
    for version in (1, 2):
        path.write_bytes(galois([[1], []], version))
        assert open_source([path]).info().format == "galois"
    path.write_bytes(struct.pack("<4Q", 3, 0, 2, 1))
    assert "version 3" in fault_of(path, fmt="galois").what
    (tmp_path / "graph").write_bytes(galois([[1], []]))
    assert "--format galois" in fault_of(tmp_path / "graph").remedy
    assert read_pairs(tmp_path / "graph", fmt="galois") == [(0, 1)]
    (tmp_path / "g.txt").write_bytes(adj([[1], []]))
    assert open_source([tmp_path / "g.txt"]).info().format == "adj"
    (tmp_path / "g.adj").write_text("7 8 9\n8 7\n9 7\n")  # lists of neighbours by the same suffix
    assert open_source([tmp_path / "g.adj"]).info().format == "adjlist"
    (tmp_path / "g.adj").write_text("AdjacencyHypergraph\n1\n")
    assert "hypergraph" in fault_of(tmp_path / "g.adj").what


@pytest.mark.parametrize(("data", "what"), [
    (b"AdjacencyGraph\n2\n", "numbers of vertices"), (b"AdjacencyGraph\n2\n-1\n", "numbers of vertices"),
    (b"AdjacencyGraph\n" + b"9" * 30 + b"\n1\n", "numbers of vertices"),
    (b"AdjacencyGraph\n99999\n1\n0\n", "demands 100,003 words"),
    (b"AdjacencyGraph\n2\n1\n0\n1\n", "there are 5"),
    (b"AdjacencyGraph\n2\n1\n0\n1\n1\n7\n", "there are 7"),
    (b"AdjacencyGraph\n2\n1\n1\n1\n1\n", "first row offset is 1"),
    (b"AdjacencyGraph\n2\n2\n0\n3\n1\n1\n", "not monotone (word 6 "),
    (b"AdjacencyGraph\n3\n2\n0\n2\n1\n1\n1\n", "not monotone (word 6 "),
    (b"AdjacencyGraph\n2\n1\n0\n1\n2\n", "neighbour 2 is outside 0..1 (word 6 "),
    (b"AdjacencyGraph\n2\n1\n0\nx\n1\n", "word 5 of the file is no whole number"),
    (b"AdjacencyGraph\n2\n1\n0\n1\n0x1\n", "word 6 of the file is no whole number"),
    (b"AdjacencyGraph\n2\n1\n0\n1\n-1\n", "word 6 of the file"), (b"AdjacencyGraph\n2\n1\n0\n1\n1.0\n", "word 6 of"),
    (b"AdjacencyGraph\n2\n1\n0\n1\n9223372036854775808\n", "word 6 of the file"),
    (b"AdjacencyGraph\n0\n0\n", "without vertices"), (b"WeightedAdjacencyGraph\n2\n1\n0\n1\n1\n", "there are 6"),
])
def test_adjacency_graphs_that_make_no_sense(data: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "g.adj").write_bytes(data)
    error = fault_of(tmp_path / "g.adj")
    assert what in str(error) and error.remedy, str(error)


@pytest.mark.parametrize(("data", "what"), [
    (struct.pack("<6Q", 1, 0, 2, 1, 1, 1), "cut short"), (galois([[1], [0]])[:-1], "cut short"),
    (galois([[1], []]) + b"x", "follow the neighbour list"), (struct.pack("<2Q", 1, 0), "cut short within its header"),
    (struct.pack("<7Q", 2, 0, 2, 1, 1, 0, 0), "not monotone"), (struct.pack("<7Q", 2, 0, 2, 1, 2, 2, 0), "larger than"),
    (struct.pack("<7Q", 2, 0, 2, 1, 0, 0, 0), "last row offset is 0"),
    (struct.pack("<7Q", 2, 0, 2, 1, 1, 1, 2), "neighbour 2 is outside"),
    (struct.pack("<7Q", 2, 0, 2, 1, 1, 1, 1 << 63), "larger than 2^63"),
    (struct.pack("<4Q", 1, 0, 1 << 60, 1), "no graph of Galois"), (struct.pack("<4Q", 1, 99, 1, 1), "no graph of"),
])
def test_graphs_of_galois_that_make_no_sense(data: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "g.gr").write_bytes(data)
    error = fault_of(tmp_path / "g.gr", fmt="galois")
    assert what in str(error) and error.byte is not None and error.remedy, str(error)


# -- arrays of NumPy -------------------------------------------------------------------------------
def saved(folder: Path, **values: object) -> list[Path]:
    for name, value in values.items():
        np.save(folder / f"{name}.npy", np.array(value))
    return [folder / f"{name}.npy" for name in values]


@pytest.mark.parametrize("names", [
    ("indptr", "indices"), ("indices", "indptr"), ("row_ptr", "col_idx"), ("graph_offsets", "graph_neighbors"),
    ("xadj", "adjncy"), ("csr.rowptr", "csr.col"), ("crow_indices", "col_indices"), ("a", "b"), ("b", "a")])
def test_arrays_of_rows(names: tuple[str, str], tmp_path: Path) -> None:
    rows = [[1, 2], [], [0, 3, 3], [1]]
    offsets, neighbours = [0, 2, 2, 5, 6], [1, 2, 0, 3, 3, 1]
    first_is_offsets = names[0] != "indices" and names != ("b", "a")
    values = (offsets, neighbours) if first_is_offsets else (neighbours, offsets)
    paths = saved(tmp_path, **dict(zip(names, values, strict=True)))
    assert read_pairs(*paths) == read_pairs(*paths, batch_bytes=16) == pairs_of(rows)
    source = open_source(paths)
    assert source.info().n_vertices == 4 and source.info().format == "csr" and sorted(source.paths) == sorted(paths)


def test_arrays_of_ends(tmp_path: Path) -> None:
    paths = saved(tmp_path, src=[0, 40, 7], dst=[40, 7, 7])
    assert read_pairs(*paths) == [(0, 40), (40, 7), (7, 7)] and open_source(paths).info().n_vertices is None
    assert read_pairs(*saved(tmp_path, a=[5., 40, 7], b=[40, 7, 7])) == [(5, 40), (40, 7), (7, 7)]
    weighted = open_source(saved(tmp_path, src=[0, 1], dst=[1, 2], km=[.5, 7]), weights=WeightChoice())
    assert [batch.weights.tolist() for batch in weighted.batches(1 << 10)] == [[.5, 7]]
    report = emdiam.convert(saved(tmp_path, indptr=[0, 1, 2, 2], indices=[1, 2], data=[7, 9]), tmp_path / "g.zarr",
                            weights=True, memory="2GiB")
    assert report.record.weights is not None and (report.record.n_vertices, report.record.n_edges) == (3, 2)


@pytest.mark.parametrize(("values", "options", "what"), [
    ({"a": [0, 1, 2, 4], "b": [1, 2, 3, 0]}, {}, "may be offsets and neighbours, or sources and targets"),
    ({"a": [0, 1, 2], "b": [1, 2, 3, 0]}, {}, "are no offsets"), ({"a": [1, 2]}, {"fmt": "csr"}, "second array"),
    ({"indptr": [0, 2, 1, 3], "indices": [0, 1, 2]}, {}, "not monotone"),
    ({"indptr": [0, 2, 4], "indices": [0, 1, 1]}, {}, "larger than"),
    ({"indptr": [0, 2, 2], "indices": [0, 1, 1]}, {}, "last row offset"),
    ({"indptr": [1, 2, 3], "indices": [0, 1, 1]}, {}, "first row offset is 1"),
    ({"indptr": [0, 2, 3], "indices": [0, 2, 1]}, {}, "neighbour 2 is outside"),
    ({"indptr": [0, 2, 3], "indices": [0, -2, 1]}, {}, "neighbour -2 is outside"),
    ({"indptr": [0, 2, 3], "indices": [0., 1, 1]}, {}, "float64"), ({"src": [1, -2], "dst": [3, 4]}, {}, "negative"),
    ({"src": [1, 2], "dst": [3.5, 4]}, {}, "no whole number"), ({"src": [1, 2], "dst": [3]}, {}, "1 targets for 2"),
    ({"src": [1, 2], "dst": [3, 4], "km": [7]}, {}, "1 weights for 2"),
    ({"src": [1, 2], "dst": [3, 4]}, {"weights": WeightChoice()}, "no third array"),
    ({"src": [1, 2], "dst": [3, 4]}, {"columns": "1,2"}, "no columns"),
    ({"indptr": [0, 1], "indices": [0], "data": ["x"]}, {}, "has no edges"),
])
def test_arrays_that_make_no_sense(values: dict[str, list[float]], options: dict[str, object], what: str,
                                   tmp_path: Path) -> None:
    error = fault_of(*saved(tmp_path, **values), **options)
    assert what in str(error) and error.path is not None and error.remedy, str(error)


def test_both_readings_of_two_arrays_can_be_chosen(tmp_path: Path) -> None:
    paths = saved(tmp_path, a=[0, 1, 2, 4], b=[1, 2, 0, 0])
    assert "--format csr" in fault_of(*paths).remedy and "--format npy" in fault_of(*paths).remedy
    assert read_pairs(*paths, fmt="csr") == [(0, 1), (1, 2), (2, 0), (2, 0)]
    assert read_pairs(*paths, fmt="npy") == [(0, 1), (1, 2), (2, 0), (4, 0)]
    paths[1].write_bytes(paths[1].read_bytes() + b"x")
    assert "demands" in fault_of(*paths, fmt="csr").what
    paths[1].write_bytes(paths[1].read_bytes()[:-9])
    assert "demands" in fault_of(*paths, fmt="csr").what


# -- bent files ------------------------------------------------------------------------------------
BENT = 300


def bent(name: str, number: int, folder: Path) -> None:
    """A file with some bytes changed, cut or longer is read, or refused with its name."""
    rng = random.Random(number)
    data = bytearray(FILES[name](drawn(rng)))
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at] = rng.choice((rng.randrange(256), data[at] ^ 1 << rng.randrange(8), 0, 255, 57, 32))
    data = data[: rng.randint(1, len(data))] if rng.random() < .3 else data + bytes(rng.choice((0, 0, 1, 8)))
    path = folder / name
    path.write_bytes(data)
    try:
        read_pairs(path, batch_bytes=256, fmt=rng.choice((None, "galois")) if name.endswith("gr") else None)
    except InputError as error:
        assert str(error.path) == str(path) and error.what, data


@pytest.mark.parametrize("name", FILES)
def test_bent_files(name: str, tmp_path: Path) -> None:
    for number in range(25):
        bent(name, number, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_many_bent_files(name: str, tmp_path: Path) -> None:
    for number in range(BENT):
        bent(name, number, tmp_path)


def bent_arrays(number: int, folder: Path) -> None:
    """The same of two arrays."""
    rng = random.Random(number)
    paths = arrays(folder, [[1], [0, 2], [2]] if number % 3 else [[1, 1]] * 2, dtype=rng.choice(("<i4", "<i8", "<u8")))
    path = rng.choice(paths)
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 2)):
        data[rng.randrange(rng.choice((10, 128, len(data))))] = rng.choice((rng.randrange(256), 0, 255, 57))
    path.write_bytes(data if rng.random() < .7 else data[: rng.randrange(1, len(data))])
    try:
        read_pairs(*paths, batch_bytes=64)
    except InputError as error:
        assert str(error.path) in [*map(str, paths), f"{paths[0]} and 1 more"] and error.what, data


def test_bent_arrays(tmp_path: Path) -> None:
    for number in range(40):
        bent_arrays(number, tmp_path)


@pytest.mark.slow
def test_many_bent_arrays(tmp_path: Path) -> None:
    for number in range(BENT):
        bent_arrays(number, tmp_path)
