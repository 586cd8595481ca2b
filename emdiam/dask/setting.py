"""The workers of a run. Importing this module does not import Dask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..gpu.setting import CPU


@dataclass(frozen=True)
class OnCluster:
    """scheduler : address of a running scheduler, e.g. tcp://host:8786, or the file that `dask scheduler
    --scheduler-file` writes; in Python also a Dask cluster or Client, which stays open; None: a cluster on this
    machine, for this run. workers : number of workers (None: all of the scheduler). worker_memory_bytes : limit of the
    peak RSS of a worker process (None: an equal share of nine tenths of its machine's available memory). worker_threads
    : computing threads of a worker (None: Dask's setting; on this machine, its share of the cores). device : device of
    a worker for levels of many arcs: cpu, gpu (one of its machine, in turn), gpu:N,M,... (one of these), or auto (a
    GPU, if its machine has one). vram_bytes : GPU memory that a worker may use (None: the free memory). dashboard :
    whether a cluster that is started for this run has Dask's dashboard, which all users of this machine can see.
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
    """Whether `scheduler` is a text, a path, a cluster or a client."""
    return isinstance(scheduler, str) or any(
        hasattr(scheduler, name) for name in ("__fspath__", "scheduler_address", "scheduler_info"))


def chosen_cluster(
    scheduler: Any, workers: int | None, worker_memory_bytes: int | None = None,
    worker_threads: int | None = None, dashboard: bool | None = None,
) -> OnCluster | None:
    """The setting by the options; None for this process alone. Raises InputError."""
    if scheduler is None and workers is None:
        if worker_memory_bytes is not None or worker_threads is not None or dashboard:
            raise InputError("memory, threads or a dashboard of workers, and no workers",
                             remedy="give --workers N, or --scheduler ADDRESS")
        return None
    return OnCluster(scheduler, workers, worker_memory_bytes, worker_threads, dashboard=bool(dashboard))
