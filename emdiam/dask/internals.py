"""All uses of undocumented parts of dask.distributed, and the cluster of one run on this machine.

Actors, clients and connections have a documented interface. Undocumented are: the TLS settings of a worker, the text of
the error of a lost actor, the HTTP servers of scheduler and worker, the name of an event loop, and the processes of a
SpecCluster with their nannies. tests/dask/test_internals.py names the change if a newer distributed differs.

No other user of the machine can reach the cluster of a run. Dask sends code: a program that connects to a scheduler or
a worker runs code as the user who started it. So these processes, and the listeners of the ranks (alltoall.py), accept
only connections with the key of this run. A new key is made for each run, stays in memory, and reaches worker processes
through the pipes that start them. Dask's HTTP servers have no access control: they are not started, except for a
dashboard on request. Dask's files go into a folder that only this user can enter, since Dask puts it first on the path
of modules.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster, Status, Worker
from distributed.comm import connect, listen
from distributed.security import Security
from distributed.utils import IOLoop

from ..errors import InputError, StateLost

# The cluster of a run waits for its workers while their processes live: Dask's time limits are for machines that
# vanish, and a busy machine exceeds them. Nannies and connections notice when a process ends. Dask's own restart of
# lost workers (lost-worker-timeout) never restarts a worker that is lost twice; mend() does. Dask's profiler samples
# all threads a hundred times a second, which before Python 3.11.9 may hang the process (python/cpython#106883).
_SETTINGS: dict[str, Any] = {
    "distributed.deploy.lost-worker-timeout": "30 days", "distributed.scheduler.worker-ttl": None,
    "distributed.comm.timeouts.connect": "2 minutes", "distributed.comm.timeouts.tcp": "1 day",
    "distributed.worker.profile.enabled": False,
}
# Routes of an HTTP server, without routes to other hosts.
_ROUTES = ["distributed.http.scheduler.info", "distributed.http.scheduler.json", "distributed.http.health",
           "distributed.http.statics"]
_DASHBOARD = "127.0.0.1:8787"
_ENDED = (Status.closing, Status.closed, Status.failed)
# A nanny whose process has ended starts another one at once; after this time it never will.
_IDLE_SECONDS = 15.0
# Allowed failures to start the process of a worker; seconds for all workers to start.
_FAILED_STARTS = 3
START_SECONDS = 600.0
_FOLDER = "temporary-directory"


def listener_beside(worker: Worker, receive: Callable[[Any], Any]) -> Any:
    """A listener on the host of a worker, on a port that the system chooses, with the worker's TLS. It calls `receive`
    with each connection. The caller starts it."""
    protocol, _, place = worker.address.partition("://")
    host = "" if protocol == "inproc" else place.rpartition(":")[0] + ":0"
    return listen(f"{protocol}://{host}", receive, **worker.security.get_listen_args("worker"))


async def connected_as(worker: Worker, address: str) -> Any:
    """A connection to an address, with the worker's TLS."""
    return await connect(address, **worker.security.get_connection_args("worker"))


def is_of_actor(error: Exception) -> bool:
    """Whether distributed raised the error (OSError or RuntimeError) for an actor whose worker is lost."""
    return "Actor" in str(error)


@contextmanager
def event_loop() -> Iterator[IOLoop]:
    """A context with an event loop in a new thread. Dask's own loop has 10 seconds to start, which is too little on a
    busy machine, and it runs on if a client cannot connect."""
    started: Future[Any] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        started.set_result((IOLoop.current(), stop))
        await stop.wait()

    with ThreadPoolExecutor(1, "emdiam-loop") as thread:
        running: Future[Any] = thread.submit(lambda: asyncio.run(serve()))
        wait((started, running), return_when=FIRST_COMPLETED)
        if running.done():
            running.result()  # raises why no loop could start
        loop, stop = started.result()
        try:
            yield loop
        finally:
            loop.add_callback(stop.set)


class _Scheduler(Scheduler):
    """A scheduler without an HTTP server."""

    def start_http_server(self, *_args: Any, **_named: Any) -> None:
        """Do nothing: no server is started."""


class _Worker(Worker):
    """A worker without an HTTP server, whose temporary files are in the folder of the run."""

    def __init__(self, *args: Any, **named: Any) -> None:
        tempfile.tempdir = dask.config.get(_FOLDER)  # making a TLS context writes the key here for a moment
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # hides messages about refused connections
        super().__init__(*args, **named)

    def start_http_server(self, *_args: Any, **_named: Any) -> None:
        """Do nothing: no server is started."""


class RunCluster(SpecCluster):
    """A scheduler in this process, and worker processes, which mend() starts.

    workers : number of workers. threads : of each worker. dashboard : whether to start Dask's dashboard. Raises
    InputError if a package for the dashboard or for TLS is missing.
    """

    def __init__(self, workers: int, threads: int, dashboard: bool = False) -> None:
        self.wanted = workers
        self._idle: dict[Any, float] = {}
        self._names = map("worker-{}".format, itertools.count())  # never repeated
        self._replaced: list[float] = []
        security = _identity()
        address = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
        scheduler: dict[str, Any] = {"cls": _Scheduler, "options": address}
        if dashboard:
            _check_dashboard()
            scheduler = {"cls": Scheduler, "options": {
                **address, "dashboard": True, "dashboard_address": _DASHBOARD}}
        # emdiam plans and measures memory, so Dask has no limit, at which it would kill workers.
        worker = {"cls": Nanny, "options": {
            **address, "worker_class": _Worker, "nthreads": threads, "memory_limit": 0, "dashboard": False,
            "silence_logs": logging.CRITICAL}}
        with warnings.catch_warnings():  # if the dashboard's port is in use; the run reports the actual one
            warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
            with ExitStack() as loop:
                super().__init__(scheduler=scheduler, worker=worker, security=security, silence_logs=logging.CRITICAL,
                                 loop=loop.enter_context(event_loop()))
                self._own_loop = loop.pop_all()

    def close(self, timeout: float | None = None) -> None:
        """End the workers, the scheduler and the event loop. timeout : seconds."""
        super().close(timeout)
        self._own_loop.close()

    def mend(self) -> None:
        """Start missing worker processes, and ended ones that Dask does not restart; they are ready seconds later.
        Raises StateLost if they end repeatedly."""
        now = time.monotonic()
        ended = [name for name, nanny in list(self.workers.items())
                 if name in self.worker_spec and self._gone(name, nanny, now)]
        for name in ended:
            del self.worker_spec[name]
        missing = self.wanted - len(self.worker_spec)
        if not missing:
            return
        self._replaced = [*(then for then in self._replaced if now - then < START_SECONDS), *[now] * len(ended)]
        if len(self._replaced) > _FAILED_STARTS * self.wanted:
            raise StateLost(f"worker processes end while they are started, {len(self._replaced)} so far")
        for name in itertools.islice(self._names, missing):
            self.worker_spec[name] = self.new_spec
        assert self.loop is not None
        self.loop.add_callback(self._catch_up)

    def _gone(self, name: Any, nanny: Any, now: float) -> bool:
        """Whether a nanny has ended, or has had no process for too long."""
        if nanny.status in _ENDED:
            return True
        if nanny.status != Status.running or nanny.is_alive():
            self._idle.pop(name, None)
            return False
        return now - self._idle.setdefault(name, now) > _IDLE_SECONDS

    async def _catch_up(self) -> None:
        """Start and end processes by self.worker_spec."""
        with contextlib.suppress(Exception):  # mend() checks the outcome
            await self


def await_workers(client: Client, heartbeat: Callable[[int], None] | None = None) -> dict[str, int]:
    """Wait until all workers of a client's RunCluster have started; return their numbers of threads by address.

    heartbeat : called from time to time with the number of workers. Raises StateLost if they do not start."""
    cluster, until = client.cluster, time.monotonic() + START_SECONDS
    while True:
        there = {worker.address: worker.nthreads for worker in list(cluster.scheduler.workers.values())}
        if len(there) >= cluster.wanted:
            return there
        if time.monotonic() > until:
            raise StateLost(f"{len(there)} of {cluster.wanted} workers have started within {START_SECONDS:.0f} s")
        cluster.mend()
        if heartbeat is not None:
            heartbeat(len(there))
        time.sleep(0.05)


@contextmanager
def cluster_settings(dashboard: bool = False) -> Iterator[None]:
    """A context with Dask's settings for a RunCluster, and a folder for its files, removed at the end."""
    routes = [*_ROUTES] if dashboard else []
    with (
        tempfile.TemporaryDirectory(prefix="emdiam-workers-", dir=dask.config.get(_FOLDER, None),
                                    ignore_cleanup_errors=True) as folder,
        dask.config.set({**_SETTINGS, _FOLDER: folder, "distributed.scheduler.http.routes": routes,
                         "distributed.worker.http.routes": []}),
    ):
        yield


def _identity() -> Security:
    """A key for this run alone."""
    try:
        return Security.temporary()
    except ImportError as error:
        raise InputError(f"workers need TLS, so that other users of this machine cannot reach them ({error})",
                         remedy="install it with: pip install 'emdiam[dask]'") from None


def _check_dashboard() -> None:
    """Raise InputError if Dask's dashboard is not installed."""
    try:
        import distributed.dashboard.scheduler  # noqa: F401 - tests the import
    except ImportError as error:
        raise InputError(f"the dashboard needs bokeh ({error})",
                         remedy="install it with: pip install bokeh, or leave --dashboard out") from None
