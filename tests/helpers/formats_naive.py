"""Slow, plain twins of the format readers, and what the format tests share."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa

from emdiam.errors import InputError
from emdiam.formats import open_source

Pairs = list[tuple]


class NaiveFault(Exception):
    """The naive twin refuses the input; `line` is 1-based."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def collect(source, batch_bytes: int = 1 << 16) -> Pairs:
    """All pairs of a source, checking what every batch must satisfy."""
    pairs: Pairs = []
    for batch in source.batches(batch_bytes):
        assert len(batch.src) == len(batch.dst) > 0
        if isinstance(batch.src, np.ndarray):
            assert batch.src.dtype == batch.dst.dtype == np.int64
            assert batch.src.nbytes + batch.dst.nbytes <= max(2 * batch_bytes, 32)
        else:
            assert batch.src.type == batch.dst.type == pa.string()
        pairs.extend(zip(batch.src.tolist(), batch.dst.tolist(), strict=True))
    return pairs


def read_pairs(*paths: Path | str, batch_bytes: int = 1 << 16, **options) -> Pairs:
    """All pairs of the files."""
    return collect(open_source([str(path) for path in paths], **options), batch_bytes)


def fault_of(*paths: Path | str, batch_bytes: int = 1 << 16, **options) -> InputError:
    """The InputError that reading the files raises."""
    try:
        pairs = read_pairs(*paths, batch_bytes=batch_bytes, **options)
    except InputError as error:
        return error
    raise AssertionError(f"no error, but {len(pairs)} pairs")


def text_lines(data: bytes) -> list[bytes]:
    """Lines that end with LF, CR LF or CR."""
    return re.split(b"\r\n|\n|\r", data)


def naive_fields(line: bytes, number: int) -> tuple[bytes, bytes]:
    """The first two fields of a data line."""
    fields = re.split(rb"[ \t]*,[ \t]*|[ \t]+", line.strip(b" \t"))
    if len(fields) < 2 or not fields[0] or not fields[1]:
        raise NaiveFault(number)
    return fields[0], fields[1]


def naive_integer(field: bytes, number: int) -> int:
    """A decimal id, or a whole number with a point."""
    point = re.fullmatch(rb"([0-9]{1,15})\.0*", field)
    if point:
        return int(point[1])
    if not re.fullmatch(rb"[0-9]+", field) or int(field) > 2**63 - 1:
        raise NaiveFault(number)
    return int(field)


def naive_edge_list(data: bytes, *, strings: bool = False) -> Pairs:
    """Pairs of a text edge list; NaiveFault at the first bad line."""
    pairs: Pairs = []
    for number, line in enumerate(text_lines(data), 1):
        if not line.strip(b" \t") or line.strip(b" \t")[:1] in (b"#", b"%"):
            continue
        a, b = naive_fields(line, number)
        pairs.append(
            (a.decode(), b.decode()) if strings else (naive_integer(a, number), naive_integer(b, number))
        )
    return pairs


def naive_matrix_market(text: str) -> tuple[int, Pairs]:
    """(n, pairs) of a Matrix Market file."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("%")]
    return int(lines[0].split()[0]), [tuple(map(int, line.split()[:2])) for line in lines[1:]]


def naive_dimacs(text: str) -> tuple[int, Pairs]:
    """(n, pairs) of a DIMACS file."""
    rows = [line.split() for line in text.split("\n")]
    n = next(int(row[2]) for row in rows if row and row[0] == "p")
    return n, [(int(row[1]), int(row[2])) for row in rows if row and row[0] in "ae"]


def naive_metis(text: str) -> tuple[int, Pairs]:
    """(n, pairs, both directions) of a METIS file."""
    lines = [line.split() for line in text.split("\n") if not line.lstrip().startswith("%")]
    header = lines[0]
    flags = (header[2] if len(header) > 2 else "0").zfill(3)
    lead = int(flags[0]) + int(flags[1]) * (int(header[3]) if len(header) > 3 else 1)
    step = 1 + int(flags[2])
    n = int(header[0])
    return n, [
        (row, int(word)) for row, words in enumerate(lines[1 : n + 1], 1) for word in words[lead::step]
    ]


def pack_egr(n: int, rows: list[list[int]], *, weights: bool = False) -> bytes:
    """An ECL graph, field by field."""
    flat = [v for row in rows for v in row]
    offsets = [sum(len(row) for row in rows[:i]) for i in range(n + 1)]
    tail = [1] * len(flat) if weights else []
    return struct.pack(f"<{2 + n + 1 + len(flat) + len(tail)}i", n, len(flat), *offsets, *flat, *tail)


def pack_sg(rows: list[list[int]], *, directed: bool = False, weights: bool = False) -> bytes:
    """A GAPBS graph, field by field."""

    def lists(rows: list[list[int]]) -> bytes:
        flat = [v for row in rows for v in row]
        offsets = [sum(len(row) for row in rows[:i]) for i in range(len(rows) + 1)]
        words = [x for v in flat for x in (v, 7)] if weights else flat
        return struct.pack(f"<{len(offsets)}q", *offsets) + struct.pack(f"<{len(words)}i", *words)

    entries = sum(map(len, rows))
    data = struct.pack("<?qq", directed, entries, len(rows)) + lists(rows)
    if directed:
        data += lists([[u for u, row in enumerate(rows) for v in row if v == w] for w in range(len(rows))])
    return data


def row_pairs(rows: list[list[int]]) -> Pairs:
    """(row, neighbour) pairs in storage order."""
    return [(u, v) for u, row in enumerate(rows) for v in row]


def symmetric_rows(n: int, edges: set[tuple[int, int]]) -> list[list[int]]:
    """Sorted adjacency of the undirected edges without loops."""
    proper = {(min(e), max(e)) for e in edges if e[0] != e[1]}
    return [sorted([b for a, b in proper if a == u] + [a for a, b in proper if b == u]) for u in range(n)]


def weight_ends(record) -> tuple[float, float]:
    """The least and the largest weight of a store, by its record, in the unit of the input."""
    unit = 10**record.weights.decimals
    return float(record.weights.least) / unit, float(record.weights.largest) / unit
