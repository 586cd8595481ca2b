"""Which workers a run is shared out to. Importing this brings nothing of Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..gpu.setting import CPU


@dataclass(frozen=True)
class OnCluster:
    """scheduler : address of one that runs, e.g. tcp://host:8786, or the file that `dask scheduler --scheduler-file`
    writes; in Python a cluster of Dask, or a Client, which stay open; None: a cluster on this machine, for this run.
    workers : how many (None: all that the scheduler has). worker_memory_bytes : peak RSS of a worker process (None: an
    equal share of nine tenths of what its machine has available). worker_threads : that compute on a worker (None:
    those that Dask gave it; on this machine, its share of the cores). device : what a worker does levels of many arcs
    on: cpu, gpu (one of its machine, by turns), gpu:N,M,... (one of these), or auto, a GPU where its machine has one.
    vram_bytes : memory of it that a worker may use (None: what is free). dashboard : whether a cluster that is started
    for this run has Dask's dashboard, which every user of this machine can look at.
    """

    scheduler: Any = None
    workers: int | None = None
    worker_memory_bytes: int | None = None
    worker_threads: int | None = None
    device: str = CPU
    vram_bytes: int | None = None
    dashboard: bool = False

    def __post_init__(self) -> None:
        if self.scheduler is None and self.workers is None:
            raise InputError("there are no workers", remedy="give --workers N, or --scheduler ADDRESS")
        if self.scheduler is not None and not _leads_to_one(self.scheduler):
            raise InputError("this is no scheduler", text=type(self.scheduler).__name__,
                             remedy="give an address, a cluster of Dask, or a distributed.Client")
        if self.scheduler is not None and self.dashboard:
            raise InputError("a dashboard is of workers that are started for the run", text=str(self.scheduler),
                             remedy="leave --dashboard out and look at that of the scheduler, or leave --scheduler out")


def _leads_to_one(scheduler: Any) -> bool:
    """Whether it is a text, a path, a cluster or a client."""
    return isinstance(scheduler, str) or any(
        hasattr(scheduler, name) for name in ("__fspath__", "scheduler_address", "scheduler_info"))


def chosen_cluster(
    scheduler: Any, workers: int | None, worker_memory_bytes: int | None = None,
    worker_threads: int | None = None, dashboard: bool | None = None,
) -> OnCluster | None:
    """The setting that options ask for; None if they ask for this process alone. Raises InputError."""
    if scheduler is None and workers is None:
        if worker_memory_bytes is not None or worker_threads is not None or dashboard:
            raise InputError("memory, threads or a dashboard of workers, and no workers",
                             remedy="give --workers N, or --scheduler ADDRESS")
        return None
    return OnCluster(scheduler, workers, worker_memory_bytes, worker_threads, dashboard=bool(dashboard))
