"""One run of any command on a small store, and whether its answer is that of brute force."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import emdiam
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.orders import ORDERS
from emdiam.progress import Listener
from emdiam.runs.registry import METHODS as REGISTRY
from emdiam.runs.task import execute, make_task
from emdiam.store.arc_runs import store_info
from emdiam.store.check import check_store
from tests.fuzz.outcome import RIGHT, WRONG, Outcome
from tests.helpers import naive

METHODS = tuple(REGISTRY)
MEMORY = 4 << 30


@dataclass(frozen=True)
class Truth:
    """A graph in the user's ids. ids : of its vertices. graph : their rows."""

    ids: list[Any]
    graph: naive.Graph

    def judge(self, result: Any) -> Outcome:
        """Whether bounds, witness and path of a result are right."""
        largest, most, n_components = naive.diameters(self.graph)
        told = f"{result.method}: {result.lower} <= D <= {result.upper}, witness {result.witness}, D = {most}"
        if not result.lower <= most <= result.upper:
            return Outcome(WRONG, told)
        if result.n_components not in (None, n_components) or (result.n_vertices != len(self.graph)):
            return Outcome(WRONG, f"{told}; {result.n_components} components, {result.n_vertices} vertices")
        inner = getattr(result, "diameter_largest_component", None)
        if inner is not None and inner not in largest:
            return Outcome(WRONG, f"{told}; largest component {inner}")
        return Outcome(RIGHT) if self._is_path(result.witness) else Outcome(WRONG, told)

    def _is_path(self, witness: Any) -> bool:
        if witness is None:
            return True
        place = {name: v for v, name in enumerate(self.ids)}
        if witness.source not in place or witness.target not in place:
            return False
        source, target = place[witness.source], place[witness.target]
        path = [place.get(name, -1) for name in witness.path or ()]
        steps = all(v >= 0 and w in self.graph[v] for v, w in itertools.pairwise(path))
        return steps and naive.distances(self.graph, source)[target] == witness.length and (
            not path or (path[0], path[-1], len(path)) == (source, target, witness.length + 1))


def solve(
    store: Path, method: str, *, checkpoint: CheckpointOptions | None = None, progress: Listener | None = None,
    arena_bytes: int | None = None,
) -> Any:
    """The result of a method on the store."""
    common: dict[str, Any] = {"memory_bytes": MEMORY, "threads": 1, "checkpoint": checkpoint,
                              "arena_bytes": arena_bytes}
    return execute(store, make_task(method, **common), progress)


def some_arena(rng: random.Random) -> int | None:
    """Bytes for decoded blocks: few of them, or enough."""
    return rng.choice((None, 4 * 64 * 4))


def reordered(store: Path, rng: random.Random) -> Path:
    """The store in some order."""
    target = store.with_name("reordered.zarr")
    shutil.rmtree(target, ignore_errors=True)
    emdiam.reorder(store, target, rng.choice(list(ORDERS)), memory=MEMORY, threads=1)
    return target


def looked_at(store: Path) -> None:
    """Say what the store says of itself, and check every chunk and every rule."""
    with emdiam.open(store) as opened:
        store_info(opened)
        check_store(opened)


def truth_of(store: Path, read: Callable[[Path], dict[str, np.ndarray]]) -> Truth:
    """The graph in a good store."""
    arrays = read(store)
    with emdiam.open(store) as opened:
        ids = list(opened.user_ids(np.arange(opened.n_vertices)))
    indptr = arrays["indptr"]
    return Truth(ids, [arrays["indices"][indptr[v] : indptr[v + 1]].tolist() for v in range(len(ids))])
