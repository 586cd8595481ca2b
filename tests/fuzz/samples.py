"""Small inputs of every format, with the plain twin that reads them."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import random
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse
import zstandard

from tests.helpers import formats_naive as naive

Edges = list[tuple[int, int]]
Pairs = list[tuple]


@dataclass(frozen=True)
class Sample:
    """suffix : of the file. data : its bytes, compressed by `packed` if that is not None. twin : pairs in the user's
    ids that a plain reader finds in bytes; it raises anything for bytes that it cannot read."""

    suffix: str
    data: bytes
    twin: Callable[[bytes], Pairs]
    packed: str | None = None

    def compressed(self, data: bytes) -> bytes:
        """`data` as it stands in the file."""
        return data if self.packed is None else _PACKERS[self.packed](data)


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.ZstdCompressor().compress,
}
_UNPACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def unpacked(suffix: str | None, data: bytes) -> bytes:
    """What is inside compressed bytes. Raises anything for bytes that are none."""
    return data if suffix is None else _UNPACKERS[suffix](data)


def some_edges(rng: random.Random) -> tuple[int, Edges]:
    """(n, pairs), the last vertex with an edge."""
    n = rng.randint(2, 9)
    edges = [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(1, 12))]
    return n, [*edges, (n - 1, rng.randrange(n))]


def edge_list(rng: random.Random) -> Sample:
    _, edges = some_edges(rng)
    gap, extra = rng.choice((" ", "\t", ", ")), rng.choice(("", " 7", ""))
    head = rng.choice(("", "# a comment\n", "\n\n"))
    end = rng.choice(("\n", "\r\n"))
    text = head + "".join(f"{a}{gap}{b}{extra}{end}" for a, b in edges)
    return Sample(".txt", text.encode(), naive.naive_edge_list)


def names_list(rng: random.Random) -> Sample:
    _, edges = some_edges(rng)
    return Sample(".txt", "".join(f"v{a} w{b}\n" for a, b in edges).encode(),
                  lambda data: naive.naive_edge_list(data.removeprefix(b"\xef\xbb\xbf"), strings=True))


def table(rng: random.Random) -> Sample:
    _, edges = some_edges(rng)
    quote = rng.choice(('"', ""))
    rows = "".join(f"{quote}n{a}{quote},{quote}n{b}{quote}\n" for a, b in edges)
    return Sample(".csv", ("src,dst\n" + rows).encode(), read_table)


_BLANK_LINES = re.compile(r"\A(?:[ \t]*[\r\n]+)+")


def read_table(data: bytes) -> Pairs:
    """Pairs of a CSV file: comments, a header, records; without a header where the first line is two integers."""
    text = _BLANK_LINES.sub("", data.decode().removeprefix("\ufeff"))
    while text.startswith("#"):
        text = _BLANK_LINES.sub("", text.partition("\n")[2])
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    if " " in rows[0][0].strip():
        raise ValueError("fields between blanks")
    headed = not all(field.strip().isdigit() for field in rows[0][:2])
    return [(row[0].strip(), row[1].strip()) for row in rows[headed:]]


def matrix(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    field = rng.choice(("pattern", "integer"))
    lower = sorted({(max(e), min(e)) for e in edges})
    value = "" if field == "pattern" else " 3"
    text = f"%%MatrixMarket matrix coordinate {field} symmetric\n{n} {n} {len(lower)}\n"
    return Sample(".mtx", (text + "".join(f"{a + 1} {b + 1}{value}\n" for a, b in lower)).encode(), read_matrix)


def read_matrix(data: bytes) -> Pairs:
    """Pairs of a Matrix Market file, from 1. (That of scipy dies of some files.)"""
    text = data.decode().replace("\r", " ")
    n, pairs = naive.naive_matrix_market(text)
    if not text.startswith("%%MatrixMarket") or any(not 1 <= v <= n for pair in pairs for v in pair):
        raise ValueError("not a Matrix Market file")
    return pairs


def dimacs(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    rows = "".join(f"a {a + 1} {b + 1} 5\n" for a, b in edges)
    return Sample(".gr", f"c graph\np sp {n} {len(edges)}\n{rows}".encode(),
                  lambda data: naive.naive_dimacs(data.decode())[1])


def metis(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    rows = naive.symmetric_rows(n, set(edges))
    text = f"{n} {sum(map(len, rows)) // 2}\n" + "".join(" ".join(str(w + 1) for w in row) + "\n" for row in rows)
    return Sample(".graph", text.encode(), lambda data: naive.naive_metis(data.decode())[1])


def ecl(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    return Sample(".egr", naive.pack_egr(n, naive.symmetric_rows(n, set(edges))), read_ecl)


def read_ecl(data: bytes) -> Pairs:
    """Pairs of an ECL file."""
    n, m = struct.unpack_from("<2i", data)
    starts = struct.unpack_from(f"<{n + 1}i", data, 8)
    flat = struct.unpack_from(f"<{m}i", data, 8 + 4 * (n + 1))
    return [(v, w) for v in range(n) for w in flat[starts[v] : starts[v + 1]]]


def gapbs(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    return Sample(".sg", naive.pack_sg(naive.symmetric_rows(n, set(edges))), read_gapbs)


def read_gapbs(data: bytes) -> Pairs:
    """Pairs of a GAPBS file."""
    _, entries, n = struct.unpack_from("<?qq", data)
    starts = struct.unpack_from(f"<{n + 1}q", data, 17)
    flat = struct.unpack_from(f"<{entries}i", data, 17 + 8 * (n + 1))
    return [(v, w) for v in range(n) for w in flat[starts[v] : starts[v + 1]]]


def npz(rng: random.Random) -> Sample:
    n, edges = some_edges(rng)
    rows = np.array(edges)
    entries = scipy.sparse.coo_matrix((np.ones(len(rows)), (rows[:, 0], rows[:, 1])), (n, n))
    out = io.BytesIO()
    scipy.sparse.save_npz(out, entries.asformat(rng.choice(("coo", "csr", "csc"))), compressed=rng.random() < 0.5)
    return Sample(".npz", out.getvalue(), read_npz)


def read_npz(data: bytes) -> Pairs:
    """Pairs of a sparse matrix in a file of scipy."""
    entries = scipy.sparse.load_npz(io.BytesIO(data)).tocoo()
    return [(int(a), int(b)) for a, b in zip(entries.row, entries.col, strict=True)]


def parquet(rng: random.Random) -> Sample:
    _, edges = some_edges(rng)
    kind = rng.choice((pa.int32(), pa.int64(), pa.uint32()))
    out = io.BytesIO()
    pq.write_table(pa.table([pa.array([e[i] for e in edges], kind) for i in (0, 1)], ["src", "dst"]), out)
    return Sample(".parquet", out.getvalue(), read_parquet)


def read_parquet(data: bytes) -> Pairs:
    """Pairs of the first two columns."""
    found = pq.read_table(io.BytesIO(data))
    return list(zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True))


FORMATS = (edge_list, names_list, table, matrix, dimacs, metis, ecl, gapbs, npz, parquet)
TEXT = (edge_list, names_list, table, matrix, dimacs, metis)


def some_sample(rng: random.Random) -> Sample:
    """A small input of any format, text sometimes compressed."""
    make = rng.choice(FORMATS)
    sample = make(rng)
    if make in TEXT and rng.random() < 0.1:
        sample = Sample(sample.suffix, sample.data, sample.twin, rng.choice(list(_PACKERS)))
    return sample
