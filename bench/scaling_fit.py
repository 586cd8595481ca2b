"""What a second of BFS over workers buys: runs on 1, 2 and 4 worker processes here, and the costs that fit them.

What a task, a message and a byte cost is measured by itself: wall seconds of one, and CPU seconds more for each
further one, which do not depend on who else wants the cores. Then every BFS gives one equation: its seconds, less
those, are the sum of rounds, arcs and vertices, each times an unknown cost, found by least squares of relative errors,
no cost below 0. Where workers share the cores of one machine, work that is done on each of them counts for as many as
share a core, and `crowd` is what a round takes longer for each further one; machines of their own have none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

from emdiam.dask.setting import OnCluster
from emdiam.runs.opening import open_engine
from emdiam.store.store import Store

from .foreign import ForeignWatch
from .scaling_model import Costs, Shape, directed, with_levels

if TYPE_CHECKING:
    from emdiam.dask.rank import Rank

WORKERS = (1, 2, 4)
# Workers as threads of one process: rounds and bytes are those of so many machines, times are not.
COUNTED = 16
KNOWN = ("step", "task", "swap", "message", "byte")
TERMS = ("round", "sparse_arc", "dense_arc", "vertex", "crowd")
_SWAPS, _STEPS, _ROUNDS = 300, 40, 3
_LARGE = 1 << 18
_BITMAP = 1 << 26
_BITMAP_ROUNDS = 5


@dataclass(frozen=True)
class Observation:
    """One BFS over workers. levels : of it. steps : verbs asked of all workers. rounds : of one worker. messages,
    payload_bytes, fact_bytes, arcs, dense_levels : of all workers. wait_seconds : of all, in swaps. found,
    found_sparse : vertices, and those found on sparse levels. row_arcs, sparse_arcs : arcs of the rows of sparse
    levels, and arcs scanned on these. foreign_cores : load of others meanwhile. timed : workers were processes."""

    graph: str
    workers: int
    source: int
    seconds: float
    levels: int
    steps: int
    rounds: int
    messages: int
    payload_bytes: int
    fact_bytes: int
    wait_seconds: float
    arcs: int
    dense_levels: int
    found: int
    found_sparse: float
    row_arcs: float
    sparse_arcs: float
    foreign_cores: float
    timed: bool


@contextmanager
def cluster_of(workers: int, processes: bool = True) -> Iterator[str]:
    """The address of a scheduler with so many workers of one thread on this machine, processes or not."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=processes, dashboard_address=":0",
                      memory_limit=0) as cluster:
        yield cluster.scheduler_address


def observe(
    store: Store, address: str, levels: Mapping[int, np.ndarray], shape: Shape, timed: bool = True
) -> tuple[list[Observation], dict[str, Any]]:
    """A BFS from each source over the workers of the scheduler at `address`, and the plan of the first worker.

    levels : by source, see scaling_shapes.level_arcs. If timed, there are several rounds, and the one with the least
    foreign load counts, whatever its times are."""
    with open_engine(store, cluster=OnCluster(scheduler=address)) as engine:
        engine.bfs(next(iter(levels)))
        rounds = [_round(engine, levels, shape, timed) for _ in range(_ROUNDS if timed else 1)]
        return min(rounds, key=lambda found: found[0].foreign_cores), dict(engine.group.plans[0])


def _round(engine: Any, levels: Mapping[int, np.ndarray], shape: Shape, timed: bool) -> list[Observation]:
    """A BFS from each source, with the foreign load of all of them."""
    watch, children, begin = ForeignWatch(), _children_seconds(), time.perf_counter()
    found = [_one(engine, source, with_levels(shape, rows)) for source, rows in levels.items()]
    own = (_children_seconds() - children) / (time.perf_counter() - begin)
    return [replace(one, timed=timed, foreign_cores=max(0.0, watch.cores - own)) for one in found]


def _children_seconds() -> float:
    """CPU seconds of the processes below this one that are alive: the workers."""
    import psutil  # comes with distributed

    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return float(sum(one.user + one.system for one in times))


def _one(engine: Any, source: int, shape: Shape) -> Observation:
    """One BFS. Which levels are sparse, the rule says; all, if none was dense."""
    before, counters, verbs = _messages(engine), engine.reporter.stats(), engine.group.number
    begin = time.perf_counter()
    run = engine.bfs(source)
    seconds, steps = time.perf_counter() - begin, engine.group.number - verbs
    after, spent = _messages(engine), engine.reporter.stats() - counters
    sums = {name: after[name] - before[name] for name in after}
    levels = [level for level in directed(shape, shape.n_arcs) if not level.dense or not spent.dense_levels]
    rows = sum(level.arcs for level in levels)
    sparse = min(rows, spent.edges_scanned) if spent.dense_levels else float(spent.edges_scanned)
    return Observation(
        shape.name, engine.group.size, source, seconds, len(shape.levels), steps,
        round(sums["rounds"] / engine.group.size),
        int(sums["messages"]), int(sums["payload_bytes"]), int(sums["fact_bytes"]),
        sums["wait_seconds"],
        spent.edges_scanned, spent.dense_levels, run.n_reached,
        sum(level.found for level in levels), rows, sparse, 0.0, True)


def _messages(engine: Any) -> dict[str, float]:
    """Sums over all workers of the messages that they have counted."""
    reports = [report["messages"] for report in engine.group.reports]
    return {name: float(sum(report[name] for report in reports)) for name in reports[0]}


def count_swaps(rank: Rank, rounds: int, size: int) -> tuple[float, float]:
    """Verb: (wall, CPU) seconds of a round of messages of `size` bytes, on a worker that is a process."""
    messages = dict.fromkeys(rank.alltoall.others, np.ones(size, np.uint8))
    begin, cpu = time.perf_counter(), time.process_time()
    for _ in range(rounds):
        rank.alltoall.swap(messages, np.zeros(4, np.int64))
    return (time.perf_counter() - begin) / rounds, (time.process_time() - cpu) / rounds


def nothing(rank: Rank) -> int:
    """Verb: the rank."""
    return rank.number


def overheads(store: Store, address: str) -> dict[str, float]:
    """Seconds of a step and of a swap over the workers at `address`: workers, step, step_cpu (of this process, which is
    client and scheduler), swap, swap_cpu (of one worker), byte_cpu (of a worker, for each byte that it sends)."""
    with open_engine(store, cluster=OnCluster(scheduler=address)) as engine:
        group = engine.group
        group.everyone(nothing)
        begin, cpu = time.perf_counter(), time.process_time()
        for _ in range(_STEPS):
            group.everyone(nothing)
        step, step_cpu = (time.perf_counter() - begin) / _STEPS, (time.process_time() - cpu) / _STEPS
        swap, swap_cpu = _swap(group, _SWAPS, 0)
        large = _swap(group, _SWAPS // 4, _LARGE)[1]
        return {"workers": group.size, "step": step, "step_cpu": step_cpu, "swap": swap, "swap_cpu": swap_cpu,
                "byte_cpu": max(0.0, large - swap_cpu) / (_LARGE * max(1, group.size - 1))}


def _swap(group: Any, rounds: int, size: int) -> tuple[float, float]:
    """(wall, CPU) seconds of a round, of the slowest worker."""
    swaps = group.everyone(count_swaps, rounds, size)
    return max(wall for wall, _ in swaps), max(cpu for _, cpu in swaps)


def known_costs(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """KNOWN, from `overheads` on some numbers of workers: slopes of CPU seconds over workers, and what is
    left of the wall seconds of one step of one worker, and one swap of two."""
    few = min(measured, key=lambda one: one["workers"])
    pair = next(one for one in measured if one["workers"] == 2)
    task = max(0.0, _slope(measured, "step_cpu"))
    message = max(0.0, _slope([one for one in measured if one["workers"] > 1] or measured, "swap_cpu"))
    return {"step": max(0.0, few["step"] - few["workers"] * task), "task": task,
            "swap": max(0.0, pair["swap"] - message), "message": message, "byte": pair["byte_cpu"]}


def _slope(measured: Sequence[Mapping[str, float]], name: str) -> float:
    """Seconds more for each worker, by least squares; over one number of workers: its share of each."""
    workers = np.array([one["workers"] for one in measured])
    seconds = np.array([one[name] for one in measured])
    if len(set(workers.tolist())) == 1:
        return float(np.mean(seconds / workers))
    return float(np.polyfit(workers, seconds, 1)[0])


def features(seen: Observation, cores: int) -> tuple[list[float], list[float]]:
    """How often each of KNOWN, and each of TERMS, occurs in the time of an observation. Messages, bytes and arcs are
    those of one worker, times the workers that share a core."""
    abreast = min(seen.workers, cores)
    crowd, several = seen.workers / abreast, float(seen.workers > 1)
    return ([seen.steps, seen.steps * seen.workers, seen.rounds * several * crowd, seen.messages / abreast,
             seen.payload_bytes / abreast],
            [seen.rounds * crowd, seen.sparse_arcs / abreast,
             max(0.0, seen.arcs - seen.sparse_arcs) / abreast, seen.found / abreast, seen.rounds * (crowd - 1)])


def fitted(rows: np.ndarray, seconds: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[terms], none below 0: the costs with which rows @ costs is closest to `seconds`.

    rows : float64[k, terms]. weights : float64[k], of the errors. A term that never occurs costs 0."""
    scale = np.abs(rows).max(axis=0)
    scale[scale == 0] = 1.0
    found, _ = nnls(rows / scale * weights[:, None], seconds * weights)
    costs: np.ndarray = found / scale
    return costs


def fit_costs(
    seen: Sequence[Observation], known: Mapping[str, float], micro: Mapping[str, float]
) -> tuple[Costs, float, list[float]]:
    """(costs, crowd, predicted / measured seconds of each observation), by those that are timed.

    known : those of KNOWN. micro : bitmap_byte, decode_arc, base_bytes."""
    cores = len(os.sched_getaffinity(0))
    before, rows = (np.array(part) for part in zip(*(features(one, cores) for one in seen), strict=True))
    sure = before @ np.array([known[name] for name in KNOWN])
    seconds, timed = np.array([one.seconds for one in seen]), np.array([one.timed for one in seen])
    found = fitted(rows[timed], np.maximum(0.0, seconds - sure)[timed], 1 / seconds[timed])
    *terms, crowd = found.tolist()
    costs = Costs(**known, **dict(zip(TERMS[:-1], terms, strict=True)), bitmap_byte=micro["bitmap_byte"],
                  decode_arc=micro["decode_arc"], base_bytes=int(micro["base_bytes"]),
                  fact_bytes=sum(one.fact_bytes for one in seen) / max(1, sum(one.messages for one in seen)))
    return costs, crowd, ((sure + rows @ found) / seconds).tolist()


def bitmap_byte_seconds() -> float:
    """Seconds to pass over a byte of a bitmap that no cache holds: that of the best `a |= b`, three passes."""
    one, other = np.zeros(_BITMAP // 8, np.uint64), np.ones(_BITMAP // 8, np.uint64)
    best = np.inf
    for _ in range(_BITMAP_ROUNDS):
        begin = time.perf_counter()
        one |= other
        best = min(best, time.perf_counter() - begin)
    return float(best) / (3 * _BITMAP)
