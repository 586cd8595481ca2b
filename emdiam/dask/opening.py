"""Opening an engine over workers: a scheduler found or started, ranges cut, ranks opened."""

from __future__ import annotations

import logging
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from ..engine.cpu import CpuEngine
from ..engine.needs import Needs
from ..errors import InputError
from ..progress import Event, Listener, TimeOver
from ..store.check import blamed_on
from ..store.store import Store
from ..units import default_memory_bytes
from .engine import DaskEngine
from .plan import RankSpec, plan_client
from .ranges import balanced_ranges
from .rank_group import RankGroup, chosen_workers
from .setting import OnCluster

_CONNECT_SECONDS = 30.0
# Of a cluster on this machine. It looks, 15 s after a worker was lost, whether it is there again, and else never starts
# it again; at that moment it may be starting after a second loss. And its profiler looks a hundred times a second at
# what all threads do, which before Python 3.11.9 may stop the process for good (python/cpython#106883).
SETTINGS = {"distributed.deploy.lost-worker-timeout": "30 days", "distributed.worker.profile.enabled": False}


@contextmanager
def open_dask_engine(
    store: Store, cluster: OnCluster, needs: Needs, local: Callable[[], AbstractContextManager[CpuEngine]], *,
    threads: int, progress: Listener | None, options: dict[str, Any],
) -> Iterator[DaskEngine]:
    """An engine on `store` over the workers of `cluster`.

    needs : of the method. local : opens the client's own engine. threads : cores of this machine, shared out where
    workers are started here. options : memory_bytes, dense_arcs. Raises InputError (BudgetError, StoreError)."""
    begin = time.perf_counter()
    with ExitStack() as stack:
        memory, here = options.get("memory_bytes"), cluster.scheduler is None
        if memory is None:  # what is left here; beside workers on this machine, a share as theirs
            memory = default_memory_bytes() // ((cluster.workers or 1) + 1 if here else 1)
        plan = plan_client(store, needs, memory)
        client = stack.enter_context(connected(cluster, threads))
        addresses = chosen_workers(client, cluster.workers)
        given = client.nthreads()
        # Workers of a scheduler look at the memory of their machines themselves.
        share = (default_memory_bytes() - plan.planned_rss_bytes) // len(addresses) if here else None
        spec = RankSpec(
            store=worker_path(store), digest=store.digest, ranges=balanced_ranges(store, len(addresses)),
            addresses=addresses, phases=needs.phases, pool_wanted=needs.pool.wanted,
            memory_bytes=cluster.worker_memory_bytes or share,
            threads=cluster.worker_threads or min(given[address] for address in addresses),
            dense_arcs=options.get("dense_arcs", -1), device=cluster.device, vram_bytes=cluster.vram_bytes)
        group = RankGroup(client, store, spec)
        stack.callback(group.close)
        engine = DaskEngine(store, group, plan, local, progress)
        stack.callback(engine.close)
        engine.load_seconds = time.perf_counter() - begin
        if progress is not None:
            progress(Event("workers", group.size, group.size, "workers", finished=True))
        stack.enter_context(blamed_on(store, TimeOver))
        yield engine


def worker_path(store: Store) -> str:
    """The store as workers are to open it: an absolute path, or the URL as it was given."""
    return store.path if "://" in store.path else str(Path(store.path).absolute())


@contextmanager
def connected(cluster: OnCluster, threads: int) -> Iterator[Client]:
    """A client of the scheduler, or of one that is started here and ended with the run."""
    with ExitStack() as stack:
        if cluster.scheduler is None:
            workers = cluster.workers or 1
            each = cluster.worker_threads or max(1, threads // workers)
            # Memory is planned and measured here, and not by killing what has grown: hence no limit of Dask's own.
            stack.enter_context(dask.config.set(SETTINGS))
            here = stack.enter_context(_whole(lambda: _quiet_cluster(workers, each)))
            yield stack.enter_context(Client(here))
            return
        stack.enter_context(_quiet_logs())
        try:
            client = stack.enter_context(Client(cluster.scheduler, timeout=_CONNECT_SECONDS))
        except OSError as error:
            raise InputError(f"no scheduler answers ({error})", text=cluster.scheduler,
                             remedy="start one with: dask scheduler") from None
        yield client


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Without the log of Dask's own, since what ends a run is said by the error that ends it."""
    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    before = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _whole(start: Callable[[], LocalCluster]) -> LocalCluster:
    """The cluster that start() starts. A stop in the middle waits until it is there, and closes it: Dask cannot close
    one that is half there."""
    made: Future[LocalCluster] = Future()

    def fulfil() -> None:
        if made.set_running_or_notify_cancel():
            # Inherited by all that is started from here: Ctrl-C on a terminal goes to every process of its group, and
            # is for this one to hear, which ends the workers.
            resource_tracker.ensure_running()  # which lets the signal through again where it is started
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                made.set_result(start())
            except BaseException as error:  # the other thread raises it
                made.set_exception(error)

    try:
        threading.Thread(target=fulfil, name="emdiam-cluster", daemon=True).start()
        return made.result()
    except KeyboardInterrupt:
        if not made.cancel():
            made.result().close()
        raise


def _quiet_cluster(workers: int, threads: int) -> LocalCluster:
    """A cluster on this machine, without a dashboard."""
    with warnings.catch_warnings():
        # Of a port for one, which nobody asked for.
        warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
        return LocalCluster(n_workers=workers, threads_per_worker=threads, memory_limit=0, dashboard_address=None,
                            silence_logs=logging.CRITICAL)
