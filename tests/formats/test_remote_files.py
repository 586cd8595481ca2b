"""Inputs behind an address: read by ranges, resumed where the server breaks off, at once where it has no ranges."""

from __future__ import annotations

import gzip
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.errors import InputError
from emdiam.formats import open_source, remote_files
from tests.helpers.formats_naive import collect, fault_of, read_pairs
from tests.helpers.graph_files import adj, galois, gapbs
from tests.helpers.http_faulty import FaultyServer, faulty_serving
from tests.helpers.http_range import RangeServer, serving

pytestmark = pytest.mark.filterwarnings("error")
PAIRS = [(v, (7 * v + 1) % 5000) for v in range(5000)]
TEXT = "".join(f"{a}\t{b}\n" for a, b in PAIRS).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are so small that small files have several."""
    monkeypatch.setattr(remote_files, "_HEAD_BYTES", 1 << 10)
    monkeypatch.setattr(remote_files, "_PIECE_BYTES", 1 << 13)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RangeServer]:
    """Serves the folder."""
    with serving(tmp_path) as found:
        yield found


@pytest.fixture
def faulty(tmp_path: Path) -> Iterator[FaultyServer]:
    """The same, and fails as it is told."""
    with faulty_serving(tmp_path) as found:
        yield found


def write(folder: Path, name: str, data: bytes = TEXT) -> str:
    (folder / name).write_bytes(data)
    return name


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ranges", [True, False])
def test_files_are_read_as_if_they_were_here(ranges: bool, server: RangeServer, tmp_path: Path) -> None:
    server.ranges = ranges
    head = b"%%MatrixMarket matrix coordinate pattern general\n5000 5000 5000\n"
    matrix = head + b"".join(b"%d %d\n" % (a + 1, b + 1) for a, b in PAIRS)
    for name, data in (("g.txt", TEXT), ("g.tsv.gz", gzip.compress(TEXT)), ("graph.mtx", matrix)):
        write(tmp_path, name, data)
        address = f"{server.url}/{name}"
        source = open_source([address])
        assert collect(source) == read_pairs(tmp_path / name) == collect(source, 4096)
        assert source.name == address and source.rewindable
        assert source.info().size_bytes == (tmp_path / name).stat().st_size == source.position_bytes()
    np.save(tmp_path / "g.npy", np.array(PAIRS, np.int32))
    assert read_pairs(f"{server.url}/g.npy") == PAIRS
    for name, encode in (("g.sg", gapbs), ("g.adj", adj), ("g.gr", galois)):
        write(tmp_path, name, encode([[b] for _, b in PAIRS]))
        assert read_pairs(f"{server.url}/{name}") == PAIRS
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fetch")]


@pytest.mark.usefixtures("small")
def test_no_byte_is_asked_for_twice_but_the_first(server: RangeServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt")
    source = open_source([f"{server.url}/g.txt"])
    server.requests.clear()
    assert collect(source) == PAIRS
    ranges = [wanted for _, wanted in server.requests]
    assert len(ranges) == len(set(ranges)) == -(-(len(TEXT) - 1024) // (1 << 13))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ranges", [True, False])
def test_bytes_are_passed_over(ranges: bool, server: RangeServer, tmp_path: Path) -> None:
    """Near ones and far ones, while a piece is on its way."""
    server.ranges = ranges
    write(tmp_path, "g.txt")
    for seed in range(6):
        rng, at = random.Random(seed), 0
        stream = remote_files.RemoteFile(f"{server.url}/g.txt").raw()
        while at < len(TEXT):
            data = stream.read(rng.choice((7, 2000, 9000)))
            assert data == TEXT[at : at + len(data)]
            at += len(data)
            if stream.seekable() and rng.random() < .5:
                at += stream.skip(rng.choice((3, 700, 9000, 20_000)))
        assert at == len(TEXT) == stream.consumed and stream.read(9) == b""
        stream.close()


def test_a_look_is_one_request(server: RangeServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt", TEXT * 40)
    source = open_source([f"{server.url}/g.txt"])
    assert len(server.requests) == 1
    assert collect(source) == PAIRS * 40 and len(server.requests) == 2


def test_stores_of_addresses(server: RangeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "g.txt.gz", gzip.compress(TEXT))
    address = f"{server.url}/g.txt.gz"
    report = emdiam.convert(address, tmp_path / "g.zarr", memory="2GiB")
    assert report.record.source == [address] and report.pairs_read == len(PAIRS)
    assert emdiam.exact(address).diameter == emdiam.exact(tmp_path / "g.zarr").diameter
    assert run(group, ["convert", address, str(tmp_path / "h.zarr"), "--quiet", "--memory", "2GiB"]) == 0
    assert "edges" in capsys.readouterr().out
    (tmp_path / "data").write_bytes(TEXT)
    more = emdiam.convert(f"{server.url}/data", tmp_path / "i.zarr", format="edgelist", memory="2GiB")
    assert more.record.n_edges == report.record.n_edges


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("tags", [True, False])
def test_what_breaks_off_is_asked_for_again(tags: bool, faulty: FaultyServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt")
    faulty.conduct.tags = tags
    faulty.conduct.faults["/g.txt"] = ["cut", 503, "cut"]
    assert read_pairs(f"http://{faulty.host}/g.txt") == PAIRS
    source = open_source([f"http://{faulty.host}/g.txt"])
    faulty.conduct.faults["/g.txt"] = ["cut", 502, "cut"]
    assert collect(source) == PAIRS and not faulty.conduct.faults["/g.txt"]


@pytest.mark.usefixtures("small")
def test_a_server_that_goes_on_breaking_off_is_named_with_the_byte(faulty: FaultyServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt")
    source = open_source([f"http://{faulty.host}/g.txt?key=secret"])
    faulty.conduct.faults["/g.txt"] = ["cut", "always"]
    with pytest.raises(InputError, match="breaks off") as caught:
        collect(source)
    assert caught.value.byte == 1024 and caught.value.path == f"http://{faulty.host}/g.txt"
    assert "secret" not in str(caught.value) and caught.value.remedy
    faulty.conduct.faults.clear()
    assert collect(source) == PAIRS


@pytest.mark.usefixtures("small")
def test_a_server_without_ranges_that_breaks_off(server: RangeServer, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    server.ranges = False
    write(tmp_path, "g.txt")
    source = open_source([f"{server.url}/g.txt"])
    handler = server.RequestHandlerClass
    answer = handler._answer  # type: ignore[attr-defined]

    def cut(self: object, status: int, body: bytes, content_range: str | None = None) -> None:
        self.command = "HEAD"  # type: ignore[attr-defined]
        answer(self, status, body, content_range)
        self.wfile.write(body[: len(body) // 2])  # type: ignore[attr-defined]
        self.close_connection = True  # type: ignore[attr-defined]

    monkeypatch.setattr(handler, "_answer", cut)
    with pytest.raises(InputError, match="breaks off") as caught:
        collect(source)
    assert "continues after a stop" in str(caught.value.remedy)


@pytest.mark.usefixtures("small")
def test_a_file_that_changes_meanwhile(faulty: FaultyServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt")
    source = open_source([f"http://{faulty.host}/g.txt"])
    write(tmp_path, "g.txt", TEXT.replace(b"1", b"2"))
    os.utime(tmp_path / "g.txt", (1, 1))
    with pytest.raises(InputError, match="changed while it was read"):
        collect(source)


@pytest.mark.parametrize(("name", "data", "what"), [
    ("none.txt", None, "missing"), ("g.txt", b"", "ends before|empty"),
    ("g.zip", b"PK\x03\x04" + bytes(99), "an address"),
    ("g.parquet", b"PAR1" + bytes(99), "no Parquet|not a Parquet"),
    ("g.graph", b"\x07\0\x05\x06" * 99, "binary"), ("g.txt.gz", gzip.compress(TEXT)[:-40], "cut short|ends|damaged")])
def test_what_is_refused(name: str, data: bytes | None, what: str, server: RangeServer, tmp_path: Path) -> None:
    if data is not None:
        write(tmp_path, name, data)
    error = fault_of(f"{server.url}/{name}")
    assert any(part in error.what for part in what.split("|")), error
    assert str(error.path).startswith(server.url) and error.remedy


def test_addresses_of_stores_are_none_of_files(server: RangeServer, tmp_path: Path) -> None:
    emdiam.convert([(0, 1), (1, 2)], tmp_path / "g.zarr")
    assert emdiam.exact(f"{server.url}/g.zarr").diameter == 2
    with pytest.raises(InputError, match="cannot be reached"):
        open_source(["http://127.0.0.1:9/g.txt"])


def test_other_schemes_go_by_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://folder/g.txt", "wb") as file:
        file.write(TEXT)
    source = open_source(["memory://folder/g.txt"])
    assert collect(source) == collect(source, 256) == PAIRS and source.info().size_bytes == len(TEXT)
    with fsspec.open("memory://folder/g.parquet", "wb") as file:
        pq.write_table(pa.table({"src": [1, 2], "dst": [2, 3]}), file)
    assert read_pairs("memory://folder/g.parquet") == [(1, 2), (2, 3)]
    assert "FileNotFoundError" in fault_of("memory://folder/none.txt").what
    assert "cannot be read" in fault_of("nothing://folder/none.txt").what
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    assert "needs the package fsspec" in fault_of("memory://folder/g.txt").what


def test_parquet_is_read_in_place(faulty: FaultyServer, tmp_path: Path) -> None:
    """Of its columns those with the ends alone, row group by row group."""
    src, dst = np.array(PAIRS * 20).T
    table = pa.table({"note": np.random.default_rng(1).random(len(src)), "src": src, "dst": dst})
    pq.write_table(table, tmp_path / "g.parquet", row_group_size=30_000, use_dictionary=False)
    address = f"http://{faulty.host}/g.parquet"
    source = open_source([address])
    faulty.conduct.sent = 0
    faulty.conduct.faults["/g.parquet"] = ["cut", 503]
    assert collect(source) == PAIRS * 20
    assert faulty.conduct.sent < .9 * (tmp_path / "g.parquet").stat().st_size
    faulty.conduct.faults["/g.parquet"] = ["cut", "always"]
    with pytest.raises(InputError, match="breaks off") as caught:
        collect(source)
    assert caught.value.path == address


def test_parquet_without_ranges(server: RangeServer, tmp_path: Path) -> None:
    pq.write_table(pa.table({"src": [1], "dst": [2]}), tmp_path / "g.parquet")
    server.ranges = False
    assert "no requests for ranges" in fault_of(f"{server.url}/g.parquet").what


@pytest.mark.usefixtures("small")
def test_a_checkpoint_knows_the_version(server: RangeServer, tmp_path: Path) -> None:
    write(tmp_path, "g.txt")
    source = open_source([f"{server.url}/g.txt"])
    assert source.addresses[0][:2] == [f"{server.url}/g.txt", len(TEXT)] and source.addresses[0][2]
    assert source.paths == [] and source.memory_bytes >= 32 << 20
