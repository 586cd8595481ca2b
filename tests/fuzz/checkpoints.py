"""Checkpoints that were damaged, or put together from two runs: what goes on has to end as if nothing had happened."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import emdiam
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.progress import Event
from tests.fuzz.bases import good_stores
from tests.fuzz.kinds import Attack
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import RIGHT, WRONG, Outcome
from tests.fuzz.solving import MEMORY, METHODS, Truth, solve
from tests.helpers.damage import read_store


class Planted(Exception):
    """The planted end of a run."""


def stop_at(number: int) -> Callable[[Event], None]:
    """A listener that ends the run at its event `number`."""
    events = [0]

    def listen(event: Event) -> None:
        events[0] += 1
        if events[0] == number:
            raise Planted

    return listen


def attacks(folder: Path) -> Attack:
    """One checkpoint an attack, of a run or of a conversion."""
    bases = good_stores(folder / "bases")
    conversion = Conversions(folder)
    runs = Runs(folder, bases)
    return lambda rng: conversion.attack(rng) if rng.random() < 0.3 else runs.attack(rng)


class Runs:
    """Checkpoints of exact and approximate runs. The first two stores have equal numbers of vertices and arcs."""

    def __init__(self, folder: Path, bases: list[tuple[Path, Truth]]) -> None:
        self._folder, self._bases = folder, bases

    def attack(self, rng: random.Random) -> Outcome:
        """Stop a run, harm its checkpoint, go on."""
        alike = rng.random() < 0.6
        (store, truth), (other, _) = rng.sample(self._bases[:2], 2) if alike else [rng.choice(self._bases)] * 2
        method = rng.choice(METHODS)
        first, second = self._folder / "first", self._folder / "second"
        self._stopped(store, method, first, rng)
        self._stopped(other, method if rng.random() < 0.8 else rng.choice(METHODS), second, rng)
        harm(first, second, rng)
        options = CheckpointOptions(first, every=0.0, resume=True)
        return truth.judge(solve(store, method, checkpoint=options))

    def _stopped(self, store: Path, method: str, folder: Path, rng: random.Random) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        options = CheckpointOptions(folder, every=0.0, keep=True)
        try:
            solve(store, method, checkpoint=options, progress=stop_at(rng.choice((3, 8, 15, 25, 1000))))
        except Planted:
            return


class Conversions:
    """Checkpoints of conversions and of reorderings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        rng = random.Random(4)
        self._edges = [(rng.randrange(90) * 3, rng.randrange(90) * 3) for _ in range(300)]
        self._input, self._other = folder / "edges.txt", folder / "other.txt"
        self._input.write_text("".join(f"{a} {b}\n" for a, b in self._edges))
        self._other.write_text("".join(f"{a + 3} {b + 3}\n" for a, b in self._edges))
        self._whole = folder / "whole.zarr"
        emdiam.convert(self._input, self._whole, memory=MEMORY, threads=1)
        self._tasks: list[Callable[..., Any]] = [self._convert, self._reorder]

    def _convert(self, source: Path, target: Path, **options: Any) -> None:
        emdiam.convert(source, target, memory=MEMORY, threads=1, **options)

    def _reorder(self, source: Path, target: Path, **options: Any) -> None:
        emdiam.reorder(self._whole, target, "degree" if source == self._input else "bfs", memory=MEMORY, threads=1,
                       **options)

    def attack(self, rng: random.Random) -> Outcome:
        """Stop a conversion, harm its checkpoint, go on."""
        task, target = rng.choice(self._tasks), self._folder / "g.zarr"
        first, second = self._folder / "first", self._folder / "second"
        for source, folder in ((self._other, second), (self._input, first)):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(target, ignore_errors=True)
            try:
                task(source, target, checkpoint=CheckpointOptions(folder, every=0.0, keep=True),
                     progress=stop_at(rng.choice((2, 4, 6, 9, 14, 1000))))
            except Planted:
                pass
        harm(first, second, rng)
        task(self._input, target, checkpoint=CheckpointOptions(first, every=0.0, resume=True))
        return Outcome(RIGHT) if self._is_whole(target) else Outcome(WRONG, "another store than without a stop")

    def _is_whole(self, target: Path) -> bool:
        """Whether a store holds the graph of the edges."""
        arrays = read_store(target)
        with emdiam.open(target) as store:
            names = list(store.user_ids(np.arange(store.n_vertices)))
        indptr, indices = arrays["indptr"], arrays["indices"]
        rows = {(names[v], names[w]) for v in range(len(names)) for w in indices[indptr[v] : indptr[v + 1]].tolist()}
        return rows == {pair for a, b in self._edges if a != b for pair in ((a, b), (b, a))}


def harm(folder: Path, other: Path, rng: random.Random) -> None:
    """Change a file of the checkpoint, remove it, or take that of the other one for it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for victim in rng.sample(files, min(len(files), rng.choice((1, 1, 2)))):
        kind = rng.choice(("edit", "edit", "foreign", "foreign", "cut", "more", "gone", "empty"))
        data = victim.read_bytes()
        if kind == "edit":
            victim.write_bytes(mutated(data, rng))
        elif kind == "foreign":
            theirs = other / victim.relative_to(folder)
            if theirs.is_file():
                victim.write_bytes(theirs.read_bytes())
        elif kind == "cut":
            victim.write_bytes(data[: rng.randint(0, len(data))])
        elif kind == "more":
            victim.write_bytes(data + rng.randbytes(rng.randint(1, 60)))
        else:
            victim.unlink() if kind == "gone" else victim.write_bytes(b"")
