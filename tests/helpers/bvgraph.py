"""Graphs as BVGraph, written plainly, and read by a plain twin: bits are texts of 0 and 1."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

Rows = list[list[int]]
CODES = ("UNARY", "GAMMA", "DELTA", "ZETA", "NIBBLE", "GOLOMB")
FIELDS = ("OUTDEGREES", "REFERENCES", "BLOCK_COUNT", "BLOCKS", "INTERVALS", "RESIDUALS", "OFFSETS")
USUAL = dict(zip(FIELDS, ("GAMMA", "UNARY", "GAMMA", "GAMMA", "GAMMA", "ZETA", "GAMMA"), strict=True))


@dataclass(frozen=True)
class Choices:
    """How a graph is written. chain : rows that are copied one from another, at most; None: any number. codes : of
    fields that have not the usual one. k : of zeta and Golomb codes."""

    window: int = 7
    chain: int | None = 3
    least_interval: int = 4
    k: int = 3
    little: bool = False
    codes: dict[str, str] = field(default_factory=dict)
    offsets: bool = True

    def code(self, name: str) -> str:
        """Of a field."""
        return self.codes.get(name, USUAL[name])

    def properties(self, nodes: int, arcs: int) -> dict[str, str]:
        """What stands in the file of properties."""
        more = {"version": "1", "endianness": "little"} if self.little else {"version": "0"}
        return {"graphclass": "it.unimi.dsi.webgraph.BVGraph", "nodes": str(nodes), "arcs": str(arcs),
                "windowsize": str(self.window), "minintervallength": str(self.least_interval), "zetak": str(self.k),
                "maxrefcount": str(-1 if self.chain is None else self.chain),
                "compressionflags": " | ".join(f"{name}_{code}" for name, code in self.codes.items()), **more}


def drawn_choices(rng: random.Random) -> Choices:
    """At random: as usual, or with any code for any field."""
    odd = [name for name in FIELDS if rng.random() < 0.4] if rng.random() < 0.6 else []
    codes = {name: rng.choice(CODES) for name in odd}
    little = rng.random() < 0.3
    if little:  # whose blocks are counted by the code of blocks, and offsets are as usual
        codes.pop("OFFSETS", None)
        if "BLOCK_COUNT" not in codes and "BLOCKS" in codes:
            codes["BLOCK_COUNT"] = codes["BLOCKS"]
    return Choices(rng.randrange(8), rng.choice((0, 1, 3, None)), rng.choice((0, 2, 3, 4, 7)), rng.choice((1, 2, 3, 5)),
                   little, codes, rng.random() < 0.7)


def drawn_rows(rng: random.Random, most: int = 40) -> Rows:
    """A graph at random with up to `most` nodes: rows that resemble those before, runs, gaps, loops, empty rows."""
    n = rng.randint(1, most)
    rows: Rows = []
    for v in range(n):
        row: set[int] = set()
        if rows and rng.random() < 0.6:
            row |= {w for w in rng.choice(rows[-8:]) if rng.random() < 0.8}
        if rng.random() < 0.4:
            first = rng.randrange(n)
            row |= set(range(first, min(n, first + rng.choice((1, 3, 4, 5, 20)))))
        if rng.random() < 0.5:
            row |= {rng.randrange(n) for _ in range(rng.choice((1, 2, 9)))}
        if rng.random() < 0.1:
            row |= {0, n - 1, v}
        rows.append(sorted(row) if rng.random() < 0.9 else [])
    return rows


# -- bits ------------------------------------------------------------------------------------------
def _number(x: int, n: int, little: bool) -> str:
    text = format(x, f"0{n}b") if n else ""
    return text[::-1] if little else text


def _minimal(x: int, size: int, little: bool) -> str:
    """A number below `size` in as few bits as there are, or one more."""
    n = size.bit_length() - 1
    short = (2 << n) - size
    if x < short:
        return _number(x, n, little)
    return _number((x + short) >> 1, n, little) + str((x + short) & 1)


def _unary(x: int, _k: int, _little: bool) -> str:
    return "0" * x + "1"


def _gamma(x: int, _k: int, little: bool) -> str:
    n = (x + 1).bit_length() - 1
    return "0" * n + "1" + _number(x + 1 - (1 << n), n, little)


def _delta(x: int, k: int, little: bool) -> str:
    n = (x + 1).bit_length() - 1
    return _gamma(n, k, little) + _number(x + 1 - (1 << n), n, little)


def _zeta(x: int, k: int, little: bool) -> str:
    h = ((x + 1).bit_length() - 1) // k
    return "0" * h + "1" + _minimal(x + 1 - (1 << h * k), (1 << (h + 1) * k) - (1 << h * k), little)


def _nibble(x: int, _k: int, little: bool) -> str:
    parts = [x & 7 | 8]
    while x := x >> 3:
        parts.append(x & 7)
    return "".join(_number(part, 4, little) for part in reversed(parts))


def _golomb(x: int, k: int, little: bool) -> str:
    return "0" * (x // k) + "1" + _minimal(x % k, k, little)


WRITE: dict[str, Callable[[int, int, bool], str]] = dict(
    zip(CODES, (_unary, _gamma, _delta, _zeta, _nibble, _golomb), strict=True))


def to_bytes(bits: str, little: bool = False) -> bytes:
    """Bits as bytes, filled up with 0."""
    parts = (bits[at : at + 8].ljust(8, "0") for at in range(0, len(bits), 8))
    return bytes(int(part[::-1] if little else part, 2) for part in parts)


def to_bits(data: bytes, little: bool = False) -> str:
    """The other way."""
    return "".join(format(byte, "08b")[:: -1 if little else 1] for byte in data)


# -- writing ---------------------------------------------------------------------------------------
class _Writer:
    def __init__(self, choices: Choices) -> None:
        self.choices, self.bits = choices, ""

    def put(self, name: str, x: int) -> None:
        self.bits += WRITE[self.choices.code(name)](x, self.choices.k, self.choices.little)

    def row(self, v: int, row: Sequence[int], back: int, other: Sequence[int]) -> None:
        """One row, that copies `other`, which stands `back` rows before; 0: none."""
        self.put("OUTDEGREES", len(row))
        if not row:
            return
        if self.choices.window:
            self.put("REFERENCES", back)
        rest = set(row)
        if back:
            self._blocks([w in rest for w in other])
            rest -= set(other)
        if not rest:
            return
        runs = _runs(sorted(rest), self.choices.least_interval)
        if self.choices.least_interval:
            self.put("INTERVALS", len(runs))
            behind = None
            for first, length in runs:
                self.put("INTERVALS", _natural(first - v) if behind is None else first - behind - 1)
                self.put("INTERVALS", length - self.choices.least_interval)
                behind = first + length
                rest -= set(range(first, behind))
        before = None
        for w in sorted(rest):
            self.put("RESIDUALS", _natural(w - v) if before is None else w - before - 1)
            before = w

    def _blocks(self, kept: list[bool]) -> None:
        sizes, state = [0], True
        for keep in kept:
            if keep != state:
                sizes.append(0)
                state = keep
            sizes[-1] += 1
        if state:  # what follows the last block that is skipped is copied anyhow
            sizes.pop()
        self.put("BLOCK_COUNT", len(sizes))
        for place, size in enumerate(sizes):
            self.put("BLOCKS", size - (place > 0))


def _natural(x: int) -> int:
    return 2 * x if x >= 0 else -2 * x - 1


def _runs(ids: list[int], least: int) -> list[tuple[int, int]]:
    runs: list[list[int]] = []
    for w in ids:
        if runs and w == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([w, 1])
    return [(first, length) for first, length in runs if least and length >= least]


def encoded(rows: Rows, choices: Choices, rng: random.Random | None = None) -> tuple[str, list[int]]:
    """(bits of the graph, where each row begins and the last one ends). rng : copies from rows at random; else from the
    one with the most ids in common."""
    writer, depth, at = _Writer(choices), [0] * len(rows), [0]
    for v, row in enumerate(rows):
        able = [back for back in range(1, min(choices.window, v) + 1)
                if choices.chain is None or depth[v - back] < choices.chain]
        back = 0
        if row and able:
            back = rng.choice([0, *able]) if rng else max(able, key=lambda b: len(set(rows[v - b]) & set(row)))
        depth[v] = depth[v - back] + 1 if back else 0
        writer.row(v, row, back, rows[v - back])
        at.append(len(writer.bits))
    return writer.bits, at


def write_bvgraph(path: Path, rows: Rows, choices: Choices = Choices(), rng: random.Random | None = None,
                  **changed: str | None) -> Path:
    """Write NAME.graph, its properties, and its offsets if they are to be there. changed : other properties; None: they
    are left out."""
    bits, at = encoded(rows, choices, rng)
    path.write_bytes(to_bytes(bits, choices.little))
    values = {**choices.properties(len(rows), sum(map(len, rows))), **changed}
    path.with_suffix(".properties").write_text("#BVGraph properties\n" + "".join(
        f"{name}={value}\n" for name, value in values.items() if value is not None))
    if choices.offsets:
        gaps = "".join(WRITE[choices.code("OFFSETS")](gap, choices.k, False)
                       for gap in (0, *(b - a for a, b in pairwise(at))))
        path.with_suffix(".offsets").write_bytes(to_bytes(gaps))
    return path


# -- reading ---------------------------------------------------------------------------------------
class Twin:
    """A plain reader. Raises ValueError or IndexError for bits that are no graph."""

    def __init__(self, data: bytes, nodes: int, arcs: int, choices: Choices) -> None:
        self.bits, self.at, self.choices = to_bits(data, choices.little), 0, choices
        self.nodes, self.arcs = nodes, arcs

    def rows(self) -> Rows:
        """All rows."""
        rows: Rows = []
        for v in range(self.nodes):
            rows.append(self._row(v, rows))
        rest = self.bits[self.at :]
        if sum(map(len, rows)) != self.arcs or len(rest) > 128 or (len(rest) > 7 and "1" in rest):
            raise ValueError("arcs, or what follows")
        return rows

    def _row(self, v: int, rows: Rows) -> list[int]:
        d = self._get("OUTDEGREES")
        if d > self.nodes or not d:
            _check(not d)
            return []
        row: list[int] = []
        back = self._get("REFERENCES") if self.choices.window else 0
        _check(back <= min(self.choices.window, v))
        if back:
            row += self._copied(rows[v - back])
        _check(len(row) <= d)
        if len(row) < d and self.choices.least_interval:
            behind = None
            for _ in range(self._get("INTERVALS")):
                first = self._get("INTERVALS")
                first = v + _signed(first) if behind is None else behind + 1 + first
                behind = first + self._get("INTERVALS") + self.choices.least_interval
                _check(behind - first <= d)
                row += range(first, behind)
        _check(len(row) <= d)
        before = None
        for _ in range(d - len(row)):
            gap = self._get("RESIDUALS")
            before = v + _signed(gap) if before is None else before + 1 + gap
            row.append(before)
        row.sort()
        _check(len(set(row)) == d and row[0] >= 0 and row[-1] < self.nodes)
        return row

    def _copied(self, other: list[int]) -> list[int]:
        count, at, row = self._get("BLOCK_COUNT"), 0, []
        for place in range(count):
            size = self._get("BLOCKS") + (place > 0)
            _check(at + size <= len(other))
            row += other[at : at + size] if place % 2 == 0 else []
            at += size
        return row + (other[at:] if count % 2 == 0 else [])

    def _get(self, name: str) -> int:
        return getattr(self, "_" + self.choices.code(name).lower())()

    def _number(self, n: int) -> int:
        text = self.bits[self.at : self.at + n]
        _check(len(text) == n)
        self.at += n
        return int("0" + (text[::-1] if self.choices.little else text), 2)

    def _unary(self) -> int:
        x = self.bits.index("1", self.at) - self.at
        self.at += x + 1
        return x

    def _gamma(self) -> int:
        n = self._unary()
        return (1 << n) - 1 + self._number(n)

    def _delta(self) -> int:
        n = self._gamma()
        return (1 << n) - 1 + self._number(n)

    def _minimal(self, size: int) -> int:
        n = size.bit_length() - 1
        x, short = self._number(n), (2 << n) - size
        return x if x < short else 2 * x + self._number(1) - short

    def _zeta(self) -> int:
        h, k = self._unary(), self.choices.k
        return (1 << h * k) - 1 + self._minimal((1 << (h + 1) * k) - (1 << h * k))

    def _nibble(self) -> int:
        x, more = 0, True
        while more:
            nibble = self._number(4)
            x, more = 8 * x + nibble % 8, nibble < 8
        return x

    def _golomb(self) -> int:
        return self._unary() * self.choices.k + self._minimal(self.choices.k)


def _signed(x: int) -> int:
    return -(x + 1) // 2 if x % 2 else x // 2


def _check(right: bool) -> None:
    if not right:
        raise ValueError("no row")
