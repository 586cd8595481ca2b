"""Inputs of every format, changed at random: read, and some of them converted.

What is accepted has to be the pairs, and the graph, that a plain twin of the reader finds in the same bytes.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import emdiam
from emdiam.formats import open_source
from tests.fuzz.kinds import Attack
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import LOOSE, RIGHT, WRONG, Outcome
from tests.fuzz.samples import Pairs, Sample, some_sample, unpacked
from tests.helpers import formats_naive
from tests.helpers.damage import read_store

_UNCHANGED, _CONVERTED, _OUTSIDE = 0.03, 0.05, 0.5


def attacks(folder: Path) -> Attack:
    """One input an attack, in `folder`."""
    return lambda rng: attack(folder, rng)


def attack(folder: Path, rng: random.Random) -> Outcome:
    """Read one input, perhaps convert it too."""
    sample = some_sample(rng)
    data = sample.compressed(sample.data)
    if rng.random() > _UNCHANGED:
        outside = sample.packed is None or rng.random() < _OUTSIDE
        data = mutated(data, rng) if outside else sample.compressed(mutated(sample.data, rng))
    path = folder / f"input{sample.suffix}{sample.packed or ''}"
    path.write_bytes(data)
    source = open_source([path])
    pairs = formats_naive.collect(source)
    want = twin_pairs(sample, data)
    if rng.random() < _CONVERTED:
        info = source.info()
        declared = None if info.n_vertices is None else range(info.first_id, info.first_id + info.n_vertices)
        return converted(folder, path, pairs, declared)
    if want is None:
        return Outcome(LOOSE, f"{len(pairs)} pairs of {path.name}: {data[:300]!r}")
    # A format that lists an edge once, or twice, may be read either way round.
    if as_edges(pairs) != as_edges(want) and as_edges(names(pairs)) != as_edges(names(want)):
        if as_edges(names(pairs)) in map(as_edges, other_readings(sample, data, source.info().reading)):
            return Outcome(LOOSE, f"{path.name}: {data[:300]!r} read in another way, which is said")
        return Outcome(WRONG, f"{path.name}: {data[:600]!r} read as {pairs[:30]}, not {want[:30]}")
    return Outcome(RIGHT)


def other_readings(sample: Sample, data: bytes, said: str) -> Iterator[Pairs]:
    """What the lines of a text are if the first is no header, or one; or lists of neighbours. said : how they were
    read, which has to name a header or the lists."""
    text = unpacked(sample.packed, data).decode("utf-8", "replace").removeprefix("\ufeff")
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip() and line.lstrip()[0] not in "#%"]
    mark = "," if sample.suffix == ".csv" else r"\s*,\s*|\s+"
    rows = [[re.sub('^"(.*)"$', r"\1", field.strip()) for field in re.split(mark, line.strip())] for line in lines]
    edges = [(row[0], row[1]) for row in rows if len(row) > 1]
    if "no header" in said:
        yield edges
    elif "header" in said or "the first line says" in said:
        yield edges[1:]
    if "lists of neighbours" in said:
        yield [(row[0], field) for row in rows for field in row[1:]] + [(row[0], row[0]) for row in rows if not row[1:]]


def twin_pairs(sample: Sample, data: bytes) -> Pairs | None:
    """What the plain twin reads, None where it cannot."""
    try:
        return sample.twin(unpacked(sample.packed, data))
    except Exception:  # whatever its libraries raise
        return None


def names(pairs: Pairs) -> Pairs:
    """The ids as text: whether those of a text are numbers is for the reader to say."""
    return [(str(a), str(b)) for a, b in pairs]


def as_edges(pairs: Pairs) -> set[tuple[Any, Any]]:
    """The undirected edges, loops too."""
    return {(min(pair), max(pair)) for pair in pairs}


def converted(folder: Path, path: Path, pairs: Pairs, declared: range | None) -> Outcome:
    """Convert the file; the store has to hold the graph of `pairs`."""
    target = folder / "g.zarr"
    shutil.rmtree(target, ignore_errors=True)
    if declared is not None and len(declared) > 10_000_000:
        return Outcome(RIGHT, "too many vertices to look at")
    emdiam.convert(path, target, memory="4GiB", threads=1)
    vertices: list[Any] = sorted({v for pair in pairs for v in pair}) if declared is None else list(declared)
    arrays = read_store(target)
    with emdiam.open(target) as store:
        names = list(store.user_ids(np.arange(store.n_vertices)))
        indptr, indices = arrays["indptr"][: store.n_vertices + 1], arrays["indices"]
    edges = {(min(names[v], names[w]), max(names[v], names[w]))
             for v in range(len(names)) for w in indices[indptr[v] : indptr[v + 1]].tolist()}
    want = {edge for edge in as_edges(pairs) if edge[0] != edge[1]}
    if edges != want or sorted(names) != vertices:
        return Outcome(WRONG, f"{path.name}: store of {len(names)} vertices, edges {sorted(edges)[:30]}, not"
                              f" {sorted(want)[:30]} over {vertices[:30]}")
    return Outcome(RIGHT)
