"""Opening an engine over workers: find or start a scheduler, divide the vertices into ranges, open the ranks."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client

from ..engine.cpu import CpuEngine
from ..engine.needs import Needs
from ..errors import InputError
from ..progress import Event, Listener, TimeOver
from ..store.store import Store, blamed_on
from ..units import default_memory_bytes
from .engine import DaskEngine
from .internals import RunCluster, await_workers, cluster_settings, event_loop
from .plan import RankSpec, balanced_ranges, plan_client
from .rank_group import RankGroup, chosen_workers
from .setting import OnCluster

_CONNECT_SECONDS = 30.0
_MOMENT_SECONDS = 0.005
_PRIVATE = ("tls://", "wss://", "inproc://")
_LOG = logging.getLogger("emdiam")


@contextmanager
def open_dask_engine(
    store: Store, cluster: OnCluster, needs: Needs, local: Callable[[], AbstractContextManager[CpuEngine]], *,
    threads: int, progress: Listener | None, options: dict[str, Any],
) -> Iterator[DaskEngine]:
    """A context with an engine on `store` over the workers of `cluster`.

    needs : of the method. local : opens the client's own engine. threads : cores of this machine, divided among workers
    that are started here. options : memory_bytes, dense_arcs. Raises InputError (BudgetError, StoreError)."""
    begin = time.perf_counter()
    with ExitStack() as stack:
        memory, here = options.get("memory_bytes"), cluster.scheduler is None
        if memory is None:  # the free memory; with workers on this machine, an equal share of it
            memory = default_memory_bytes() // ((cluster.workers or 1) + 1 if here else 1)
        plan = plan_client(store, needs, memory)
        client = stack.enter_context(connected(cluster, threads))
        cores = await_workers(client, partial(_say_started, progress, cluster.workers)) if here else client.nthreads()
        addresses = chosen_workers(client.scheduler.address, cores, cluster.workers)
        # Workers of an existing scheduler measure the memory of their machines themselves.
        share = (default_memory_bytes() - plan.planned_rss_bytes) // len(addresses) if here else None
        spec = RankSpec(
            store=worker_path(store), digest=store.digest, ranges=balanced_ranges(store, len(addresses)),
            addresses=addresses, phases=needs.phases, pool_wanted=needs.pool.wanted,
            memory_bytes=cluster.worker_memory_bytes or share,
            threads=cluster.worker_threads or min(cores[address] for address in addresses),
            dense_arcs=options.get("dense_arcs", -1), device=cluster.device, vram_bytes=cluster.vram_bytes)
        group = RankGroup(client, store, spec, mend=client.cluster.mend if here else None)
        stack.callback(group.close)
        engine = DaskEngine(store, group, plan, local, progress)
        stack.callback(engine.close)
        engine.load_seconds = time.perf_counter() - begin
        if progress is not None:
            progress(Event("workers", group.size, group.size, "workers", finished=True))
        stack.enter_context(blamed_on(store, TimeOver))
        yield engine


def worker_path(store: Store) -> str:
    """The store's absolute path or URL, for workers."""
    return store.path if "://" in store.path else str(Path(store.path).absolute())


def _say_started(progress: Listener | None, wanted: int | None, there: int) -> None:
    if progress is not None:
        progress(Event("workers", there, wanted, "workers"))


@contextmanager
def connected(cluster: OnCluster, threads: int) -> Iterator[Client]:
    """A context with a client of the scheduler, or of a new one on this machine that ends with the run and whose
    workers must still start (await_workers)."""
    with ExitStack() as stack:
        stack.enter_context(_quiet_logs())
        if cluster.scheduler is None:
            workers = cluster.workers or 1
            each = cluster.worker_threads or max(1, threads // workers)
            stack.enter_context(cluster_settings(cluster.dashboard))
            here = stack.enter_context(_whole(lambda: RunCluster(workers, each, cluster.dashboard)))
            client = stack.enter_context(Client(here))
            if cluster.dashboard:
                _LOG.warning("Dask's dashboard of this run is at %s; it asks for no password: every user of this"
                             " machine can look at it", client.dashboard_link)
            yield client
            return
        client = stack.enter_context(client_of(cluster.scheduler))
        if not client.scheduler.address.startswith(_PRIVATE):
            _LOG.warning("the scheduler at %s works without TLS: everyone who can connect to it or to its workers can"
                         " run code as you, and read what they send (docs/scaling.md)", client.scheduler.address)
        yield client


def client_of(scheduler: Any) -> AbstractContextManager[Client]:
    """A context with a client of a running scheduler, with TLS by Dask's configuration or by the cluster; if
    `scheduler` is a client, that client, which stays open. Raises InputError."""
    if isinstance(scheduler, Client):
        if scheduler.asynchronous:
            raise InputError("an asynchronous client cannot be waited for", remedy="give distributed.Client(...) as it"
                             " is by default, or the address of its scheduler")
        return nullcontext(scheduler)
    if isinstance(scheduler, os.PathLike) or (isinstance(scheduler, str) and os.path.isfile(scheduler)):
        return _connected(str(scheduler), scheduler_file=str(scheduler))
    return _connected(str(getattr(scheduler, "scheduler_address", scheduler)), address=scheduler)


class _Client(Client):
    """A client that is neither open nor Dask's default if it cannot connect."""

    def __init__(self, **way: Any) -> None:
        before = dask.config.get("scheduler", None)
        try:
            super().__init__(**way)
        except BaseException:
            if self.status != "newly-created":  # else it has no loop to close it with
                self.close()
            dask.config.set(scheduler=before)
            raise


@contextmanager
def _connected(shown: str, **way: Any) -> Iterator[Client]:
    """A context with a client of a scheduler. way : keywords of Client. shown : the scheduler in errors. Raises
    InputError."""
    with event_loop() as loop, _connect(shown, loop=loop, **way) as client:
        yield client


def _connect(shown: str, **way: Any) -> Client:
    try:
        return _Client(**way, timeout=_CONNECT_SECONDS)
    except OSError as error:
        raise InputError(f"no scheduler answers ({error})", text=shown,
                         remedy="start one with: dask scheduler") from None
    except (TypeError, ValueError, RuntimeError) as error:  # a bad address, or settings missing in Dask's configuration
        raise InputError(f"Dask cannot connect to the scheduler ({error})", text=shown,
                         remedy="write it like tcp://HOST:8786, or tls://HOST:8786 with the certificates in Dask's"
                                " configuration (distributed.comm.tls)") from None


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """A context without Dask's log, since the error that ends a run explains the end."""
    names = ["distributed", *(name for name in logging.root.manager.loggerDict if name.startswith("distributed."))]
    before = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _start_tracker() -> None:
    """Start Python's resource tracker without warnings. It removes shared resources at the end, also of killed workers,
    and its warning about them would alarm users after a loss that the run has recovered from."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, "ignore:resource_tracker:UserWarning"]))
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def _whole(start: Callable[[], RunCluster]) -> Iterator[RunCluster]:
    """A context with the cluster that start() starts. Ctrl-C during the start waits until the cluster is complete: Dask
    cannot close an incomplete one."""
    made: Future[RunCluster] = Future()

    def fulfil() -> None:
        if made.set_running_or_notify_cancel():
            # All processes that are started now inherit the mask: Ctrl-C on a terminal goes to every process of the
            # group, but only this one should react, and end the workers.
            try:
                _start_tracker()  # starting it unblocks the signal, so block it afterwards
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                made.set_result(start())
            except BaseException as error:  # the waiting thread raises it
                made.set_exception(error)

    try:
        threading.Thread(target=fulfil, name="emdiam-cluster", daemon=True).start()
        while not made.done():  # a KeyboardInterrupt inside made.result() could leave its lock in a bad state
            time.sleep(_MOMENT_SECONDS)
        yield made.result()
    finally:
        try:
            _end(made)
        except KeyboardInterrupt:  # Ctrl-C during the end
            _end(made)
            raise


def _end(made: Future[RunCluster]) -> None:
    """Close a cluster after its start is complete, if it was started; may be called repeatedly."""
    if not made.cancel() and made.exception() is None:
        made.result().close()
