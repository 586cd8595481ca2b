"""Stores that somebody made by hand, every checksum right: rows, offsets, records and metadata of any kind.

Where the rows are those of a graph and only what is said of them was changed, an answer has to be right; where they
are not, there may be any answer, or a refusal, but no crash and no end.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.store.layout import StoreRecord
from emdiam.store.writer import StoreWriter
from tests.fuzz.bases import good_stores
from tests.fuzz.corruptions import answered
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import RIGHT, WRONG, Outcome
from tests.fuzz.solving import Truth
from tests.helpers import naive
from tests.helpers.damage import CHUNK, edit_json, edit_record, replace_chunk

_NUMBERS = (-1, 0, 1, 2, 3, 7, 60, 63, 64, 100, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64,
            10**40, 1.5, True, None, "64", "", [], {}, [64], "x" * 1000)


def attacks(folder: Path) -> Attack:
    """One hand-made store an attack."""
    bases = good_stores(folder / "bases")
    store = folder / "g.zarr"

    def attack(rng: random.Random) -> Outcome:
        shutil.rmtree(store, ignore_errors=True)
        base, truth = rng.choice(bases)
        kind = rng.choice((bad_rows, bad_rows, bad_rows, bad_offsets, said_falsely, metadata))
        if kind is bad_rows:
            rows = bad_rows(truth.graph, rng)
            if sum(map(len, rows)) % 2:  # no writer ends with half an edge
                next(row for row in rows if row).pop()
            write_rows(store, rows)
            good = is_graph(rows)
            return lenient(answered(store, Truth(list(range(len(rows))), rows), rng), good)
        shutil.copytree(base, store)
        good = kind(store, truth, rng)
        return lenient(answered(store, truth, rng), good)

    return attack


def lenient(outcome: Outcome, good: bool) -> Outcome:
    """Rows that are those of no graph have no right answer."""
    return Outcome(RIGHT, "any answer") if outcome.word == WRONG and not good else outcome


def is_graph(rows: naive.Graph) -> bool:
    """Whether rows are sorted, distinct, without loops, and symmetric."""
    n = len(rows)
    return all(row == sorted(set(row)) and v not in row and all(0 <= w < n and v in rows[w] for w in row)
               for v, row in enumerate(rows))


def write_rows(store: Path, rows: naive.Graph, record: StoreRecord | None = None) -> None:
    """A store of these rows, whatever they are."""
    indptr, indices = naive.csr(rows)
    writer = StoreWriter(store, n_vertices=len(rows), chunk_ids=CHUNK)
    writer.append_degrees(np.diff(indptr))
    writer.append_neighbours(indices.astype(writer.id_dtype))
    writer.finish(record or StoreRecord())


def bad_rows(graph: naive.Graph, rng: random.Random) -> naive.Graph:
    """The rows of a graph after a change that breaks their rules."""
    rows, n = [list(row) for row in graph], len(graph)
    kind = rng.choice(("zeros", "last", "random", "one-way", "shuffled", "twice", "loops", "outside", "wide", "ring"))
    if kind in ("zeros", "last"):
        return [[0 if kind == "zeros" else n - 1] * len(row) for row in rows]
    if kind == "random":
        return [[rng.randrange(n) for _ in row] for row in rows]
    if kind == "ring":
        return [[(v + 1) % n] for v in range(n)]
    if kind == "wide":
        return [[rng.randrange(n) for _ in range(rng.choice((0, 1, 3 * n)))] for _ in rows]
    for _ in range(rng.choice((1, 1, 5, n))):
        row = rows[rng.randrange(n)]
        if kind == "one-way" and row:
            row.pop(rng.randrange(len(row)))
        elif kind == "shuffled":
            rng.shuffle(row)
        elif kind == "twice" and row:
            row.insert(0, rng.choice(row))
        elif kind == "loops":
            row.append(rng.randrange(n))
        elif kind == "outside":
            row.append(rng.choice((n, n + 1, 2**31, 2**32 - 2, 2**32 - 1)))
    return rows


def bad_offsets(store: Path, truth: Truth, rng: random.Random) -> bool:
    """Offsets of rows that are none."""
    indptr, _ = naive.csr(truth.graph)
    chunk = rng.randrange(-(-len(indptr) // CHUNK))
    values = np.zeros(CHUNK, np.int64)
    part = indptr[chunk * CHUNK : (chunk + 1) * CHUNK]
    values[: len(part)] = part
    for _ in range(rng.choice((1, 1, 3))):
        wrong = (-1, 0, 3, int(indptr[-1]), int(indptr[-1]) + 1, 2**31, 2**62, -(2**63))
        values[rng.randrange(len(part))] = rng.choice(wrong)
    same = bool((values[: len(part)] == part).all())
    replace_chunk(store, "indptr", chunk, values)
    return same


def said_falsely(store: Path, truth: Truth, rng: random.Random) -> bool:
    """A record, its digest right, with another number in it. Of the ids it is the only witness."""
    record = json.loads((store / "zarr.json").read_text())["attributes"]["emdiam"]
    name = rng.choice(sorted(record))
    value = rng.choice((*_NUMBERS, *(record[name] + step for step in (-1, 1) if type(record[name]) is int)))
    try:
        edit_record(store, redo_digest=True, **{name: value})
    except (TypeError, ValueError, OverflowError):  # no record can hold it, so none has a digest with it
        edit_record(store, **{name: value})
    return name not in ("first_id", "id_kind")


def metadata(store: Path, truth: Truth, rng: random.Random) -> bool:
    """Metadata of an array, or of the group, with another value in it, or that is no metadata."""
    file = rng.choice(sorted(store.rglob("zarr.json")))
    if rng.random() < 0.15:
        file.write_bytes(rng.choice((b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a": 1, "a": 2}',
                                     b'{"zarr_format": 3}', b"1e999", b'"' + b"x" * 100_000)))
        return True
    edit_json(file, lambda document: change_somewhere(document, rng))
    return True


def change_somewhere(document: Any, rng: random.Random) -> None:
    """Replace, or remove, any value in a JSON document."""
    places: list[Callable[[], None]] = []

    def walk(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            def change(node: Any = node, key: Any = key) -> None:
                if rng.random() < 0.2:
                    del node[key]
                else:
                    node[key] = rng.choice(_NUMBERS)

            places.append(change)
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(document)
    if places:
        rng.choice(places)()


