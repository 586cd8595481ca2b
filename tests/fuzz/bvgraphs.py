"""BVGraphs, changed at random: bits, offsets or properties. What is accepted has to be the graph that a plain twin
reads in the same bits, whatever the offsets say."""

from __future__ import annotations

import random
from pathlib import Path

from emdiam.formats import bvgraph
from emdiam.units import peak_rss_bytes
from tests.fuzz.kinds import Attack
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import FAULT, LOOSE, RIGHT, WRONG, Outcome
from tests.helpers.bvgraph import Choices, Twin, drawn_choices, drawn_rows, write_bvgraph
from tests.helpers.formats_naive import Pairs, read_pairs

_UNCHANGED = 0.03
_MEMORY = 1 << 30


def attacks(folder: Path) -> Attack:
    """One graph an attack, in `folder`."""
    return lambda rng: attack(folder, rng)


def attack(folder: Path, rng: random.Random) -> Outcome:
    """Write a graph, change one of its files, and read it."""
    for file in folder.glob("g.*"):
        file.unlink()
    rows, choices = drawn_rows(rng), drawn_choices(rng)
    path = write_bvgraph(folder / "g.graph", rows, choices, rng)
    files = [".graph"] * 6 + [".offsets"] * choices.offsets + [".properties"]
    changed = path.with_suffix("" if rng.random() < _UNCHANGED else rng.choice(files))
    if changed.is_file():
        changed.write_bytes(bent(changed.read_bytes(), rng))
    bvgraph._BLOCK_BYTES, bvgraph._SPAN_NODES = rng.choice(((16, 8), (1 << 18, 1 << 16)))
    found = read_pairs(path, batch_bytes=rng.choice((256, 1 << 16)), threads=rng.choice((1, 2)))
    if peak_rss_bytes() > _MEMORY:
        return Outcome(FAULT, f"{peak_rss_bytes():,} bytes in memory: {path.read_bytes()!r}")
    want = [(v, w) for v, row in enumerate(rows) for w in row] if changed.suffix != ".graph" else twin_pairs(
        path.read_bytes(), len(rows), sum(map(len, rows)), choices)
    if found == want:
        return Outcome(RIGHT)
    if changed.suffix == ".properties":
        return Outcome(LOOSE, changed.read_text("latin-1"))
    return Outcome(WRONG, f"{path.read_bytes()!r}, {choices}: {found}, not {want}")


def bent(data: bytes, rng: random.Random) -> bytes:
    """Some bits are others, or the bytes are changed as those of any file."""
    if rng.random() < 0.3:
        return mutated(data, rng) or b"\0"
    many = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        many[rng.randrange(len(many))] ^= 1 << rng.randrange(8)
    return bytes(many)


def twin_pairs(data: bytes, nodes: int, arcs: int, choices: Choices) -> Pairs | None:
    """What the twin reads, None where it cannot."""
    try:
        rows = Twin(data, nodes, arcs, choices).rows()
    except (ValueError, IndexError, OverflowError, MemoryError):
        return None
    return [(v, w) for v, row in enumerate(rows) for w in row]
