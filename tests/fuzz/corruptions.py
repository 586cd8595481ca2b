"""Damage to any file of a store: what opens has to answer rightly."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

from tests.fuzz.bases import good_stores
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import Outcome
from tests.fuzz.solving import METHODS, Truth, looked_at, reordered, solve, some_arena


def attacks(folder: Path) -> Attack:
    """One damaged store an attack."""
    bases = good_stores(folder / "bases")

    def attack(rng: random.Random) -> Outcome:
        base, truth = rng.choice(bases)
        store = folder / "g.zarr"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(base, store)
        for _ in range(rng.choice((1, 1, 2))):
            damage(store, rng.choice(bases)[0], rng)
        return answered(store, truth, rng)

    return attack


def answered(store: Path, truth: Truth, rng: random.Random) -> Outcome:
    """Ask a store for its diameter by any method, sometimes after it was checked or put into another order."""
    if rng.random() < 0.2:
        looked_at(store)
    if rng.random() < 0.15:
        store = reordered(store, rng)
    return truth.judge(solve(store, rng.choice(METHODS), arena_bytes=some_arena(rng)))


def damage(store: Path, other: Path, rng: random.Random) -> None:
    """Damage a file of the store, or take one of another store for it."""
    files = sorted(path for path in store.rglob("*") if path.is_file())
    if not files:
        return
    victim = rng.choice(files)
    data = victim.read_bytes()
    kind = rng.choice(("flip", "flip", "flip", "zero", "cut", "more", "empty", "gone", "swap", "foreign", "folder"))
    at = rng.randrange(max(1, len(data)))
    if kind == "flip" and data:
        victim.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
    elif kind == "zero":
        victim.write_bytes(data[:at] + bytes(min(16, len(data) - at)) + data[at + 16 :])
    elif kind == "cut":
        victim.write_bytes(data[:at])
    elif kind == "more":
        victim.write_bytes(data + rng.randbytes(rng.randint(1, 40)))
    elif kind == "empty":
        victim.write_bytes(b"")
    elif kind == "gone":
        victim.unlink()
    elif kind == "swap":
        second = rng.choice(files)
        there = second.read_bytes()
        second.write_bytes(data)
        victim.write_bytes(there)
    elif kind == "folder":
        victim.unlink()
        victim.mkdir()
    else:
        theirs = other / victim.relative_to(store)
        if theirs.is_file() and os.path.getsize(theirs):
            victim.write_bytes(theirs.read_bytes())
