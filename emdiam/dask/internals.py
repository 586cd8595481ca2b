"""All that is taken of dask.distributed beyond what it documents, and the cluster of one run on this machine.

Actors, clients and connections have a documented interface. Beyond it are: the TLS settings of a worker, the text of an
error of a lost actor, the HTTP servers of scheduler and worker, and the processes of a SpecCluster with their nannies.
tests/dask/test_internals.py says what changed where a newer distributed has them otherwise.

No other user of the machine reaches the cluster of a run.

Dask sends code: a program that connects to its scheduler or to a worker runs code as the user who started it. So all of
them, and the listeners of the ranks (alltoall.py), take only connections with the key of this run. It is made for each
run, is kept in memory, and reaches worker processes through the pipes that start them. The HTTP servers of Dask have no
such check: they are left out, except for the dashboard where it is asked for.
The files of Dask go into a folder that only this user can enter: Dask puts it in front of the path of modules.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster, Status, Worker
from distributed.comm import connect, listen
from distributed.security import Security

from ..errors import InputError, StateLost

# The cluster of a run waits for its workers for as long as their processes live: Dask's limits are for machines that go
# away, and a busy machine passes them. A process that ends is noticed by its nanny and by its connections.
# Dask's own look after lost workers (lost-worker-timeout) never starts one again that is lost twice; mend() does that.
# Its profiler looks a hundred times a second at what all threads do, which before Python 3.11.9 may stop the process
# for good (python/cpython#106883).
_SETTINGS: dict[str, Any] = {
    "distributed.deploy.lost-worker-timeout": "30 days", "distributed.scheduler.worker-ttl": None,
    "distributed.comm.timeouts.connect": "2 minutes", "distributed.comm.timeouts.tcp": "1 day",
    "distributed.worker.profile.enabled": False,
}
# Routes of an HTTP server without those that reach other hosts.
_ROUTES = ["distributed.http.scheduler.info", "distributed.http.scheduler.json", "distributed.http.health",
           "distributed.http.statics"]
_DASHBOARD = "127.0.0.1:8787"
_ENDED = (Status.closing, Status.closed, Status.failed)
# A nanny whose process has ended starts another one at once; one that has not by then never does.
_IDLE_SECONDS = 15.0
# Starts of a worker process that may fail, for each worker; seconds for all of them to be there.
_FAILED_STARTS = 3
START_SECONDS = 600.0
_FOLDER = "temporary-directory"


def listener_beside(worker: Worker, receive: Callable[[Any], Any]) -> Any:
    """A listener on the host of a worker, on a port of the system's choice, with the worker's TLS; it hands connections
    to `receive`. Start it."""
    protocol, _, place = worker.address.partition("://")
    host = "" if protocol == "inproc" else place.rpartition(":")[0] + ":0"
    return listen(f"{protocol}://{host}", receive, **worker.security.get_listen_args("worker"))


async def connected_as(worker: Worker, address: str) -> Any:
    """A connection to an address, with the worker's TLS."""
    return await connect(address, **worker.security.get_connection_args("worker"))


def is_of_actor(error: Exception) -> bool:
    """Whether distributed raised it, as OSError or RuntimeError, for an actor whose worker is gone."""
    return "Actor" in str(error)


class _Scheduler(Scheduler):
    """A scheduler without an HTTP server."""

    def start_http_server(self, *_args: Any, **_named: Any) -> None:
        """Listen nowhere."""


class _Worker(Worker):
    """A worker without an HTTP server, whose temporary files are in the folder of the run."""

    def __init__(self, *args: Any, **named: Any) -> None:
        tempfile.tempdir = dask.config.get(_FOLDER)  # where the key is for a moment when a TLS context is made
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # as of connections that are refused
        super().__init__(*args, **named)

    def start_http_server(self, *_args: Any, **_named: Any) -> None:
        """Listen nowhere."""


class RunCluster(SpecCluster):
    """A scheduler in this process, and worker processes, which mend() starts.

    workers : how many. threads : of each. dashboard : whether the scheduler has Dask's dashboard.
    Raises InputError where the dashboard, or what TLS needs, is not installed.
    """

    def __init__(self, workers: int, threads: int, dashboard: bool = False) -> None:
        self.wanted = workers
        self._idle: dict[Any, float] = {}
        self._names = map("worker-{}".format, itertools.count())  # none is used twice
        self._replaced: list[float] = []
        security = _identity()
        address = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
        scheduler: dict[str, Any] = {"cls": _Scheduler, "options": address}
        if dashboard:
            _check_dashboard()
            scheduler = {"cls": Scheduler, "options": {
                **address, "dashboard": True, "dashboard_address": _DASHBOARD}}
        # Memory is planned and measured by emdiam, and not by killing what has grown: hence no limit of Dask's own.
        worker = {"cls": Nanny, "options": {
            **address, "worker_class": _Worker, "nthreads": threads, "memory_limit": 0, "dashboard": False,
            "silence_logs": logging.CRITICAL}}
        with warnings.catch_warnings():  # of a port of the dashboard that is taken; where it is then is said
            warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
            super().__init__(scheduler=scheduler, worker=worker, security=security, silence_logs=logging.CRITICAL)

    def mend(self) -> None:
        """Start the worker processes that are missing, and those that have ended and that Dask does not start again;
        they are there some seconds later. Raises StateLost where they end again and again."""
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
        """Start and end processes as self.worker_spec says."""
        with contextlib.suppress(Exception):  # mend() looks at what has come of it
            await self


def await_workers(client: Client, heartbeat: Callable[[int], None] | None = None) -> dict[str, int]:
    """Wait until all workers of a client's RunCluster are there; threads by address.

    heartbeat : called now and then with how many there are. Raises StateLost where they do not come."""
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
    """Dask's settings for a RunCluster, and the folder of what it writes, which is removed in the end."""
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
                         remedy="install it with: pip install emdiam[dask]") from None


def _check_dashboard() -> None:
    """Raises InputError where Dask has no dashboard."""
    try:
        import distributed.dashboard.scheduler  # noqa: F401 - whether it can be imported
    except ImportError as error:
        raise InputError(f"the dashboard needs bokeh ({error})",
                         remedy="install it with: pip install bokeh, or leave --dashboard out") from None
