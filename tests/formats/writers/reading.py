"""A graph drawn by number, written by a writer and read back: whether it is the same."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np

import emdiam
from emdiam.conversion.convert import graph_in_memory
from emdiam.errors import EmdiamError, InputError
from emdiam.store.store import Store, open_store
from emdiam.terms import keywords_of
from tests.formats.writers.drawn import drawn
from tests.formats.writers.table import WRITERS
from tests.formats.writers.writer import Held, Options, expected
from tests.helpers.damage import read_array
from tests.helpers.handed_in import keyword_remedies

EQUAL, LED, REFUSED, DIFFERENT, FAULT = "equal", "refused, and the remedy leads to it", "refused", "different", "fault"
_IN_FILES, _NO_DIRECTIONS = 10, "leave directed=True out"
# Vertices that are looked at: damaged files may have any number.
_MOST = 10**6


@dataclass(frozen=True)
class Trip:
    """word : EQUAL, LED where one of the remedies of a refusal gives the graph, REFUSED where none does, DIFFERENT, or
    FAULT for an error that is no sentence. text : what there is to tell. path : the file. way : the keywords that led
    to the graph."""

    word: str
    text: str
    path: Path
    way: str = ""


def round_trip(name: str, number: int, folder: Path) -> Trip:
    """Write the graph of this number by this writer and read it, with its weights and directions where the number says
    so; every tenth one into a store of files."""
    random, writer = Random(f"{name} {number}"), WRITERS[name]
    graph = drawn(random, writer.traits)
    path = folder / f"g{random.choice(writer.suffixes)}"
    options = dict(writer.write(graph, path, random) or {})
    weighted = graph.weights is not None and random.random() < 0.7
    directed = graph.directed and random.random() < 0.7
    if weighted:
        options["weights"] = writer.weight or True
    if directed:
        options["directed"] = True
    return _judged(path, options, expected(graph, writer.traits, weighted, directed), folder,
                   converted if number % _IN_FILES == _IN_FILES - 1 else read_back)


def _judged(path: Path, options: Options, right: list[Held], folder: Path, read: Callable[..., Held]) -> Trip:
    try:
        found = read(path, options, folder)
    except InputError as error:
        return _followed(path, options, right, folder, error)
    except (EmdiamError, Exception):  # what is no InputError is a fault, whatever it is
        return Trip(FAULT, traceback.format_exc()[-1500:], path)
    return Trip(EQUAL, "", path) if found in right else Trip(
        DIFFERENT, f"with {options}: {_beside(found, right[0])}", path)


def _followed(path: Path, options: Options, right: list[Held], folder: Path, error: InputError) -> Trip:
    ways = [way for _, way in keyword_remedies(str(error), {})]
    if _NO_DIRECTIONS in str(error):  # scipy writes a symmetric matrix as such
        options, right, ways = {**options, "directed": False}, [held.both_ways() for held in right], [{}]
    for way in ways:
        if not way.keys() <= keywords_of(emdiam.convert):  # of another function, as of numpy
            continue
        try:
            if read_back(path, {**options, **way}, folder) in right:
                return Trip(LED, str(error), path, ", ".join(
                    f'{name}="{value}"' for name, value in way.items()) or _NO_DIRECTIONS)
        except InputError:
            continue
        except (EmdiamError, Exception):  # as above
            return Trip(FAULT, f"{way}: {traceback.format_exc()[-1500:]}", path)
    return Trip(REFUSED, f"with {options}: {error}", path)


def _beside(found: Held, right: Held) -> str:
    """Where they differ."""
    edges = {pair: (found.edges.get(pair, "none"), right.edges.get(pair, "none"))
             for pair in found.edges.keys() | right.edges.keys()
             if found.edges.get(pair, "none") != right.edges.get(pair, "none")}
    return (f"vertices too many {sorted(found.vertices - right.vertices)[:5]}, too few"
            f" {sorted(right.vertices - found.vertices)[:5]}; edges found and right {dict(list(edges.items())[:5])}")


def read_back(path: Path, options: Options, folder: Path, memory: str = "4GiB") -> Held:
    """The graph that the file becomes, in a store in memory: one in files costs ten times as much, and its writer has
    tests of its own. Raises as `emdiam.convert`."""
    stores: list[Store] = []
    with patch("emdiam.conversion.convert._write", lambda source, target, options, checkpoint: stores.append(
            graph_in_memory(source, folder, options))):
        emdiam.convert(path, folder / "read.zarr", threads=1, memory=memory, scratch=folder, **options)
    return _held(stores[0])


def converted(path: Path, options: Options, folder: Path, memory: str = "4GiB") -> Held:
    """The graph of the store that `emdiam.convert` makes of the file. Raises as it."""
    target = folder / "read.zarr"
    shutil.rmtree(target, ignore_errors=True)
    emdiam.convert(path, target, threads=1, memory=memory, scratch=folder, **options)
    with open_store(target, directed=None) as store:
        return _held(store)


def _held(store: Store) -> Held:
    n = min(store.n_vertices, _MOST)
    names = [str(name) for name in store.user_ids(np.arange(n))]
    ends, heads = (read_array(array).tolist() for array in (store.indptr, store.indices))
    places = 0 if store.record.weights is None else store.record.weights.decimals
    weights = None if store.weights is None else [w / 10**places for w in read_array(store.weights).tolist()]
    edges: dict[tuple[str, str], float | None] = {}
    for v, tail in enumerate(names):
        for at in range(ends[v], ends[v + 1]):
            pair = (tail, names[heads[at]] if heads[at] < n else str(heads[at]))
            edges[pair if store.directed else (min(pair), max(pair))] = None if weights is None else weights[at]
    return Held(frozenset(names), edges)
