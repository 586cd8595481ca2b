"""A few BFS at once that share their sweeps over blocks, out of core.

On graphs of small diameter a BFS reads the store in one or two dense levels. Which levels depends on the source: the
second and third from a vertex in the middle, the sixth from one at the end of a long path. So sources do not advance
level by level, as in a multi-source BFS. Each advances as far as possible without a sweep; then one sweep over the
blocks that any of them needs does the current level of each. So all of them together read about the same blocks as one
alone.
Work: that of the BFS, one by one. Bytes a vertex: a workspace each (0.53 with uint32 ids), beside the distances.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence

import numpy as np

from ..progress import Tick, no_tick
from .bfs import BfsRun, Learned
from .columns import Column
from .core import BlockSweep, Core
from .rows_aside import ArenaPart
from .workspace import Workspace, workspace_bytes

# With more sources the kernels take longer than the saved reading, and there is little room for the rows of each.
MOST_TOGETHER = 8


def together_bytes(n_vertices: int) -> int:
    """Bytes of the state of one more BFS, without distances."""
    return workspace_bytes(n_vertices, 4 if n_vertices < 1 << 32 else 8)


class SharedSweeps:
    """BFS of some sources: call `step` until it returns True, then `result`.

    columns : for the distances, unreached, one a source. learned : from single BFS. Raises
    OverflowError (from step) if a distance does not fit them.
    """

    def __init__(self, core: Core, sources: Sequence[int], columns: Sequence[Column],
                 learned: Learned) -> None:
        self._core, self._part, self._runs = core, ArenaPart(core.pager.arena, len(sources)), list[BfsRun]()
        for i, source in enumerate(sources):
            own = copy.copy(core)
            if i:
                own.work = Workspace(core.table.n_vertices, core.work.queues.dtype)
            self._runs.append(BfsRun(own, source, learned, distances=False))
            self._runs[i].aside.part = self._part
            self._runs[i].use_distances(columns[i].raw())
        self._going = self._runs

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return max(run.level for run in self._runs)

    def step(self, tick: Tick = no_tick) -> bool:
        """Do a step of the first BFS that has not come to a sweep, or the sweep of all; True when all are finished.

        One BFS continues until it waits for a sweep: blocks that it has loaded stay until it has read them."""
        moving = next((run for run in self._going if not run.at_sweep), None)
        if moving is None:
            self._sweep(self._going, tick)
            self._going = [run for run in self._going if run.mode is not None]
        elif moving.step(tick):
            self._going = [run for run in self._going if run is not moving]
        return not self._going

    def _sweep(self, runs: list[BfsRun], tick: Tick) -> None:
        core, sweeps = self._core, [run.dense.begin_sweep() for run in runs]
        joint = JointSweep(sweeps, core.table.n_blocks)
        core.take(joint.whole, tick)
        core.count_sweep(len(joint.whole.blocks), sum(joint.results), len(runs))
        for run, arcs in zip(runs, joint.results, strict=True):
            run.mode = run.dense.end_sweep(arcs)

    def result(self) -> np.ndarray:
        """int32[k], the eccentricities. To be called after `step` has returned True."""
        eccentricities = [run.result().levels for run in self._runs]
        self._part.give_back(last=True)
        self._core.work.rows_aside = None
        self._core.counters.add(traversals=1 - len(self._runs))
        return np.array(eccentricities, np.int32)


class JointSweep:
    """Several sweeps done as one: `whole`, over all their blocks. results : the result of each so far."""

    def __init__(self, sweeps: Sequence[BlockSweep], n_blocks: int) -> None:
        self._sweeps, self._lock = sweeps, threading.Lock()
        self._wanted = np.zeros((len(sweeps), n_blocks), bool)
        for wanted, sweep in zip(self._wanted, sweeps, strict=True):
            wanted[sweep.blocks] = True
        self.results = [0] * len(sweeps)
        self.whole = BlockSweep(np.flatnonzero(self._wanted.any(axis=0)), self._run)

    def _run(self, chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        total = 0
        while True:
            with self._lock:  # each sweep has its own turns, over the blocks that this thread has taken
                begin = int(turn[0])
                turn[0] += grain
            if begin >= len(chunks):
                return total
            part = slice(begin, begin + grain)
            for i, sweep in enumerate(self._sweeps):
                here = self._wanted[i, chunks[part]]
                count = int(np.count_nonzero(here))
                if count:
                    result = sweep.run(chunks[part][here], position[part][here], np.zeros(1, np.int64), count, ids)
                    total += result
                    with self._lock:
                        self.results[i] += result
