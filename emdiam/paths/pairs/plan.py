"""The plan of a run: memory, disk and least time, before it starts; refuses impossible runs with the numbers."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...errors import BudgetError, MoreMemoryError
from ...units import BASE_JITTER, format_seconds, format_size
from .arcs import Lengths, StoreArcs
from .disk_tiles import disk_layout, least_layout
from .matrix import CHUNK
from .methods import AUTO, MATRIX, METHODS, ROWS, PairsMethod, method_of
from .tiles import ram_bytes

# Place of the matrix during the computation: memory, tiles on disk, or strips of rows that are written when computed.
MEMORY, DISK, STRIPS = "memory", "disk", "strips"
# A run whose least time is longer is refused, unless a time limit allows it.
MOST_SECONDS = 24 * 3600.0
INSTEAD = ("use emdiam exact for the diameter, emdiam ecc for all eccentricities, or emdiam distances for how distances"
           " are distributed")
# Sums of 4 bytes a second and thread in products, best and usual; seconds an arc of a search: best, usual without
# weights, usual with weights.
_BEST_SUMS, _USUAL_SUMS = 6e10, 2.5e10
_BEST_ARC, _UNIT_ARC, _WEIGHTED_ARC = 1e-9, 4e-9, 4e-8
# Bytes of a search a vertex and thread; copies of a chunk during writing.
_SEARCH_BYTES, _COPIES = 33, 4
# Bytes of the head of an arc: no matrix has 2^32 rows.
_HEAD_BYTES = 4


@dataclass(frozen=True)
class PairsPlan:
    """method : its name. where : MEMORY, DISK or STRIPS. edge : rows of a tile on disk, or of a strip, or n. tiles :
    number of tiles on disk, or of strips; 1 in memory. room_bytes : for STRIPS, further memory for the method.
    least_seconds : lower bound of the time. Sizes in bytes."""

    method: str
    where: str
    edge: int
    tiles: int
    memory_limit_bytes: int
    planned_rss_bytes: int
    matrix_bytes: int
    disk_bytes: int
    least_seconds: float
    room_bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Budget:
    """The resources of a run. memory_bytes : limit of the process. base_bytes : memory of the process without graph and
    matrix. threads : threads of kernels. out : path of the matrix; None: it stays in memory. time_limit : seconds, or
    None."""

    memory_bytes: int
    base_bytes: int
    threads: int
    out: Path | None = None
    time_limit: float | None = None


@dataclass(frozen=True)
class Pairs:
    """The task to plan. negative : whether weights are negative."""

    arcs: StoreArcs
    lengths: Lengths
    negative: bool

    @property
    def matrix_bytes(self) -> int:
        """Bytes of the distances."""
        return self.arcs.n_vertices**2 * self.lengths.dtype.itemsize

    def seconds(self, method: PairsMethod, threads: int, *, best: bool) -> float:
        """Seconds of a run, best or usual."""
        n, m = self.arcs.n_vertices, self.arcs.n_arcs
        if method.kind != ROWS:
            rate = (_BEST_SUMS if best else _USUAL_SUMS) * 4 / self.lengths.dtype.itemsize
            return n**3 / rate / threads
        if method.name == "separators":
            return n**2.5 / _BEST_SUMS / threads
        arc = _BEST_ARC if best else _UNIT_ARC if self.arcs.unit else _WEIGHTED_ARC
        return n * (m + n) * arc / threads

    def suited(self, threads: int) -> PairsMethod:
        """The default method: searches, or Floyd-Warshall by tiles on denser graphs."""
        search = METHODS["harish" if self.arcs.unit else "johnson"]
        ways = (search, METHODS["blocked"])
        return min(ways, key=lambda method: self.seconds(method, threads, best=False))


def plan_pairs(task: Pairs, method: str, budget: Budget) -> PairsPlan:
    """The plan of a run. Raises InputError for an unknown method, and BudgetError if memory, disk or time is too
    small."""
    chosen = task.suited(budget.threads) if method == AUTO else method_of(method)
    seconds = task.seconds(chosen, budget.threads, best=True)
    _check_time(task, chosen, seconds, budget)
    _check_disk(task, task.matrix_bytes, budget)
    if chosen.kind == ROWS:
        return _strips(task, chosen, budget, seconds)
    return _matrix(task, chosen, budget, seconds)


def _matrix(task: Pairs, method: PairsMethod, budget: Budget, seconds: float) -> PairsPlan:
    """The plan of a method on the whole matrix, or on its tiles."""
    n, item = task.arcs.n_vertices, task.lengths.dtype.itemsize
    base = budget.base_bytes + task.arcs.nbytes + task.arcs.piece_bytes
    writing = 0 if budget.out is None else _COPIES * item * min(CHUNK, n) ** 2
    panels = 2 if method.kind == MATRIX else 1  # two rounds at a time have panels
    need = base + panels * (ram_bytes(n, item) - task.matrix_bytes) + task.matrix_bytes + writing
    fields = (budget.memory_bytes, need, task.matrix_bytes)
    if need <= budget.memory_bytes:
        disk = 0 if budget.out is None else task.matrix_bytes
        return PairsPlan(method.name, MEMORY, n, 1, *fields, disk, seconds)
    layout = disk_layout(n, item, budget.memory_bytes - base)
    if method.kind == MATRIX or budget.out is None or layout is None:
        least = need if method.kind == MATRIX or budget.out is None else base + least_layout(n, item).memory_bytes
        raise _too_small(task, budget, least, base, method.kind == MATRIX)
    _check_disk(task, layout.disk_bytes, budget)
    return PairsPlan(method.name, DISK, layout.edge, layout.count**2, budget.memory_bytes, base + layout.memory_bytes,
                     task.matrix_bytes, layout.disk_bytes, seconds)


def _strips(task: Pairs, method: PairsMethod, budget: Budget, seconds: float) -> PairsPlan:
    """The plan of a method that computes rows."""
    n, item, arcs = task.arcs.n_vertices, task.lengths.dtype.itemsize, task.arcs
    costs = (8 + item if task.negative else item) * arcs.n_arcs
    base = (budget.base_bytes + arcs.nbytes + arcs.piece_bytes + arcs.rows_bytes + costs
            + _SEARCH_BYTES * n * budget.threads)
    rest = budget.memory_bytes - base
    if budget.out is None:
        height, need = n, task.matrix_bytes
    else:
        # The method gets half of the remaining memory (separators), strips a quarter.
        height = max(1, min(CHUNK, n, rest // 4 // max(1, _strip_bytes(n, item, 1))))
        need = _strip_bytes(n, item, height)
    if need > rest:
        works = base + separator_bytes(task, budget.out is None) if method.name == "separators" else 0
        raise _too_small(task, budget, base + need, base, False, works)
    disk = 0 if budget.out is None else task.matrix_bytes
    return PairsPlan(method.name, STRIPS, height, max(1, -(-n // max(1, height))), budget.memory_bytes, base + need,
                     task.matrix_bytes, disk, seconds, rest - need)


def _strip_bytes(n_vertices: int, item: int, height: int) -> int:
    """Bytes of `height` rows, and of a row of chunks during writing."""
    return height * (n_vertices + _COPIES * min(CHUNK, n_vertices)) * item


def separator_bytes(task: Pairs, whole: bool) -> int:
    """An upper bound of the memory of separators without the arcs, with strips: all vertices on a boundary, and no arc
    with a reverse. whole : whether the matrix is in memory."""
    from .min_plus import EDGE, Product, padded
    from .separators import part_size

    n, item = task.arcs.n_vertices, task.lengths.dtype.itemsize
    size = min(n, part_size(n))
    # Parts arise by halving, so each has more than half of the wanted size.
    parts = padded(size) * (n + EDGE * -(-2 * n // max(1, size)))
    matrices = (parts + padded(n) ** 2) * item + Product.panel_bytes(padded(n), item)
    finding = 8 * (n + 1) + 2 * _HEAD_BYTES * task.arcs.n_arcs
    return max(finding, matrices) + (task.matrix_bytes if whole else _strip_bytes(n, item, min(CHUNK, n)))


def with_room(error: MoreMemoryError, plan: PairsPlan, task: Pairs) -> BudgetError:
    """The error of a method that computes rows, with a memory limit that suffices together with strips."""
    n, item = task.arcs.n_vertices, task.lengths.dtype.itemsize
    strips = max(0, _strip_bytes(n, item, min(CHUNK, n)) - _strip_bytes(n, item, plan.edge))
    enough = plan.memory_limit_bytes + error.missing_bytes + strips + BASE_JITTER
    return BudgetError(error.what, remedy=f"use --method blocked, or give at least --memory {-(-enough // 2**20)}MiB")


def _too_small(task: Pairs, budget: Budget, least: int, base: int, whole: bool, works: int = 0) -> BudgetError:
    """The error for too little memory. whole : whether the method needs the whole matrix. works : memory that suffices
    for any graph, if that is more than the least."""
    other = ", or use --method blocked, whose tiles may be on disk" if whole else ""
    if budget.out is None:
        other += ", or name a file for the matrix"
    return BudgetError(
        f"--memory {format_size(budget.memory_bytes)} is too small for distances between {task.arcs.n_vertices:,}"
        f" vertices: the least is {format_size(least + BASE_JITTER)} = {format_size(base)} program and graph +"
        f" {format_size(least + BASE_JITTER - base)} of a matrix of {format_size(task.matrix_bytes)}"
        + (f", and without small separators {format_size(works + BASE_JITTER)}" if works > least else ""),
        remedy=f"give at least --memory {-(-(max(least, works) + BASE_JITTER) // 2**20)}MiB{other}; or {INSTEAD}")


def _check_time(task: Pairs, method: PairsMethod, seconds: float, budget: Budget) -> None:
    """Raise BudgetError for a run whose least time is too long."""
    limit = MOST_SECONDS if budget.time_limit is None else budget.time_limit
    if seconds > limit:
        allowed = "" if budget.time_limit is not None else ", or allow it by --time-limit"
        raise BudgetError(
            f"distances between {task.arcs.n_vertices:,} vertices by {method.name} take {format_seconds(seconds)} at"
            f" least, more than {format_seconds(limit)}", remedy=INSTEAD + allowed)


def _check_disk(task: Pairs, need: int, budget: Budget) -> None:
    """Raise BudgetError if the disk has less than `need` bytes free."""
    if budget.out is None:
        return
    folder = budget.out.absolute().parent
    free = shutil.disk_usage(folder).free
    if need > free:
        raise BudgetError(
            f"distances between {task.arcs.n_vertices:,} vertices take {format_size(need)} on disk, and {folder} has"
            f" {format_size(free)} free", remedy=INSTEAD)
