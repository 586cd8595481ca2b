"""Compression, truncation, pipes and standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
import zstandard

from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.streams import RawStream, compression_of
from tests.helpers.formats_naive import fault_of, pack_egr, read_pairs
from tests.helpers.open_files import open_files

_START = random.Random(7).randrange(10**6)
PAIRS = [(_START ^ i, i * 7919 % 99991) for i in range(8000)]
TEXT = b"".join(b"%d %d\n" % pair for pair in PAIRS)
COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
ALL = pytest.mark.parametrize("suffix", list(COMPRESS))


def write(folder, data: bytes, name: str):
    file = folder / name
    file.write_bytes(data)
    return file


@ALL
@pytest.mark.parametrize("name", ["g.txt", "g", "g.csv"])
def test_every_compression(tmp_path, suffix, name):
    file = write(tmp_path, COMPRESS[suffix](TEXT), name + suffix)
    source = open_source([file])
    assert source.info().size_bytes == file.stat().st_size
    assert read_pairs(file) == PAIRS
    assert sum(len(batch.src) for batch in source.batches(1 << 20)) == len(PAIRS)
    assert source.position_bytes() == file.stat().st_size


@ALL
def test_several_members_in_a_row(tmp_path, suffix):
    """Cut anywhere, even within a line: the members are one text."""
    parts = TEXT[:30001], TEXT[30001:30001], TEXT[30001:70002], TEXT[70002:]
    data = b"".join(map(COMPRESS[suffix], parts))
    assert read_pairs(write(tmp_path, data, "g.txt" + suffix)) == PAIRS


@ALL
def test_compression_shows_without_the_suffix(tmp_path, suffix):
    data = COMPRESS[suffix](TEXT)
    assert compression_of(data[:6]) is not None
    assert read_pairs(write(tmp_path, data, "g.txt")) == PAIRS


@ALL
@pytest.mark.parametrize("keep", [0.999, 0.6, -1, -5, 12])
def test_truncated(tmp_path, suffix, keep):
    """Cut in the trailer, in the middle, in the header: one clear sentence, wherever."""
    data = COMPRESS[suffix](TEXT)
    cut = data[: int(len(data) * keep)] if 0 < keep < 1 else data[:keep]
    file = write(tmp_path, cut, "g.txt" + suffix)
    error = fault_of(file)
    assert "cut short" in error.what and error.path == str(file) and error.remedy
    assert error.byte is not None and error.byte <= len(cut)


@ALL
def test_truncated_second_member(tmp_path, suffix):
    data = COMPRESS[suffix](TEXT)
    assert "cut short" in fault_of(write(tmp_path, data + data[:-30], "g.txt" + suffix)).what


@ALL
def test_a_wrong_checksum_is_damage(tmp_path, suffix):
    data = bytearray(COMPRESS[suffix](TEXT))
    data[-6 if suffix != ".zst" else -2] ^= 64
    assert "damaged" in fault_of(write(tmp_path, bytes(data), "g.txt" + suffix)).what


@ALL
@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_damage_never_passes(tmp_path, suffix, at):
    """Either the decompressor notices, or what it makes of the data is no edge list."""
    data = bytearray(COMPRESS[suffix](TEXT))
    data[int(at * len(data))] ^= 64
    assert fault_of(write(tmp_path, bytes(data), "g.txt" + suffix)).remedy


@ALL
def test_garbage_behind_the_end(tmp_path, suffix):
    """It might be a member whose head is damaged."""
    data = COMPRESS[suffix](TEXT) + b"garbage behind the end"
    assert "data" in fault_of(write(tmp_path, data, "g.txt" + suffix)).what


@pytest.mark.parametrize("suffix", [".bz2", ".xz"])
def test_padding_between_members(tmp_path, suffix):
    data = COMPRESS[suffix](TEXT[:5000]) + b"\0" * 8 + COMPRESS[suffix](TEXT[5000:]) + b"\0" * 70000
    assert read_pairs(write(tmp_path, data, "g.txt" + suffix)) == PAIRS


@ALL
def test_a_suffix_that_lies(tmp_path, suffix):
    error = fault_of(write(tmp_path, TEXT, "g.txt" + suffix))
    assert "name says" in error.what and error.remedy


@ALL
def test_compressed_nothing_is_empty(tmp_path, suffix):
    assert "empty" in fault_of(write(tmp_path, COMPRESS[suffix](b""), "g.txt" + suffix)).what


@ALL
def test_compressed_egr(tmp_path, suffix):
    rows = [[(u + 1) % 500, (u + 499) % 500] for u in range(500)]
    file = write(tmp_path, COMPRESS[suffix](pack_egr(500, rows)), "g.egr" + suffix)
    assert read_pairs(file) == [(u, v) for u, row in enumerate(rows) for v in row]


def test_a_binary_graph_that_starts_like_gzip(tmp_path):
    """n = 559903 is 1f 8b 08 00: numbers of a raw format are not taken for a compression."""
    n = 0x00088B1F
    data = pack_egr(1, [[]])
    data = n.to_bytes(4, "little") + (0).to_bytes(4, "little") + b"\0" * 4 * (n + 1)
    file = write(tmp_path, data, "g.egr")
    assert compression_of(data[:6]) == "gzip"
    assert open_source([file]).info().n_vertices == n and read_pairs(file) == []


@pytest.fixture
def feed(monkeypatch):
    """Replaces standard input by bytes."""

    def replace(data: bytes):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return replace


@pytest.mark.parametrize("data", [TEXT, *(compress(TEXT) for compress in COMPRESS.values())])
def test_standard_input(feed, data):
    feed(data)
    source = open_source(["-"])
    assert not source.rewindable and source.name == "standard input" and source.info().size_bytes is None
    pairs = [p for b in source.batches(1 << 12) for p in zip(b.src.tolist(), b.dst.tolist(), strict=True)]
    assert pairs == PAIRS and source.position_bytes() == len(data)
    with pytest.raises(InputError, match="only be read once"):
        next(source.batches(1 << 12))
    assert not sys.stdin.buffer.closed


def test_a_pipe_is_read_once_with_any_header(feed):
    feed(b"3 1\n3\n\n1\n")
    source = open_source(["-"], fmt="metis")
    assert len(list(source.batches(16))) == 2
    with pytest.raises(InputError, match="only be read once"):
        next(source.batches(16))


def test_an_abandoned_pass_closes_its_files(tmp_path):
    """Stopping in the middle leaves no descriptor open, whatever the format."""
    rows = [[(u + 1) % 500, (u + 499) % 500] for u in range(500)]
    write(tmp_path, pack_egr(500, rows), "g.egr")
    write(tmp_path, b"src,dst\n" + b"1,2\n" * 500, "g.csv")
    for suffix, compress in COMPRESS.items():
        write(tmp_path, compress(TEXT), "g.txt" + suffix)
    for file in sorted(tmp_path.iterdir()):
        batches = open_source([file]).batches(64)
        next(batches)
        batches.close()
    assert not [path for path in open_files() if path.startswith(str(tmp_path))]


@pytest.mark.parametrize(
    "data, fmt, name",
    [
        (b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 3\n", None, "matrix-market"),
        (b"c x\np sp 3 1\na 1 3 5\n", None, "dimacs"),
        (b"3 1\n3\n\n1\n", "metis", "metis"),
        (b"src,dst\n1,3\n", None, "csv"),
        (b"\xef\xbb\xbf1 3\n", None, "edgelist"),
    ],
)
def test_formats_on_standard_input(feed, data, fmt, name):
    feed(data)
    source = open_source(["-"], fmt=fmt)
    assert source.info().format == name
    assert (1, 3) in [
        p for b in source.batches(1 << 12) for p in zip(b.src.tolist(), b.dst.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    "data, fmt",
    [
        (pack_egr(2, [[1], [0]]), "ecl"),
        (b"PAR1" + b"x" * 90, None),
        (b"PK\x03\x04" + b"x" * 90, None),
        (b"\0" * 99, "gapbs"),
    ],
)
def test_formats_that_need_a_file(feed, data, fmt):
    feed(data)
    error = fault_of("-", fmt=fmt)
    assert "pipe" in error.what and "save it as a file" in error.remedy


def test_faults_on_standard_input_have_a_line(feed):
    feed(b"1 2\n3\n")
    error = fault_of("-")
    assert error.line == 2 and error.text == "3" and error.path == "standard input"


@pytest.mark.parametrize("data", [b"", gzip.compress(b"")], ids=["nothing", "gzip of nothing"])
def test_empty_standard_input(feed, data):
    feed(data)
    assert "empty" in fault_of("-").what


def test_an_asymmetric_metis_graph_on_standard_input(feed):
    """It cannot be searched for a culprit, but it is refused."""
    feed(b"4 2\n2\n3\n4\n1\n")
    assert fault_of("-", fmt="metis").what == "the graph is not symmetric"


def test_a_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(TEXT))
    writer.start()
    source = open_source([pipe])
    assert not source.rewindable
    assert sum(len(batch.src) for batch in source.batches(1 << 14)) == len(PAIRS)
    writer.join()


def test_a_real_pipe_into_a_process():
    code = (
        "from emdiam.formats import open_source\n"
        "s = open_source(['-'])\nassert sum(len(b.src) for b in s.batches(1 << 16)) == 8000\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(TEXT), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


class FailingFile(io.RawIOBase):
    """A disk that fails after some bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int = -1) -> bytes:
        if not self.data:
            raise OSError(5, "Input/output error")
        data, self.data = self.data[:size], self.data[size:]
        return data


@pytest.mark.parametrize("compression", [None, "gzip", "bz2", "zstd", "xz"])
def test_a_failing_disk_is_no_damaged_archive(compression):
    from emdiam.formats.streams import ByteStream

    packed = {
        None: TEXT,
        "gzip": gzip.compress(TEXT),
        "bz2": bz2.compress(TEXT),
        "xz": lzma.compress(TEXT),
        "zstd": COMPRESS[".zst"](TEXT),
    }[compression]
    stream = ByteStream(RawStream(FailingFile(packed[:20000]), "disk"), compression)
    with pytest.raises(InputError, match="Input/output error"):
        stream.skip()


def test_names_of_formats_load_no_heavy_module():
    code = "import sys, emdiam.formats\nassert not {'numba', 'pyarrow'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tables_load_no_compiled_kernel(tmp_path):
    """Parquet and CSV spare the memory of numba."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "g.parquet")
    write(tmp_path, b"src,dst\n1,2\n", "g.csv")
    code = (
        "import sys\nfrom emdiam.formats import open_source\n"
        f"list(open_source([r'{tmp_path}/g.*']).batches(99))\nassert 'numba' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
