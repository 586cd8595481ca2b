"""Engines over workers of dask.distributed, for tests: clusters that are started once and kept for the tests of a
folder. Open ones take a tenth of a core, whether or not anything is asked of them."""

from __future__ import annotations

import atexit
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from emdiam.runs.opening import needs_of, open_engine
from emdiam.runs.task import make_task
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.waiting import PATIENCE

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

MEMORY = 4 << 30
# Vertices of small graphs are this far apart on workers, so that ranges, which begin at multiples of 64, share them.
APART = 13
# Sources of a test that counts distances: more than a word of 64 has, where every source takes workers milliseconds.
SOURCES = 70


def client(workers: int, processes: bool = True, threads: int = 1) -> Any:
    """A client of a cluster on this machine, ended by close_clusters: with processes, one as emdiam starts it, whose
    connections are TLS."""
    return _client(workers, processes, threads)


_CLUSTERS = ExitStack()


def close_clusters() -> None:
    """End all clusters; client() starts new ones."""
    _client.cache_clear()
    _CLUSTERS.close()


@cache
def _client(workers: int, processes: bool, threads: int) -> Any:
    _settle()
    if processes:
        from emdiam.dask.internals import RunCluster, await_workers

        cluster: Any = RunCluster(workers, threads)
        found = distributed.Client(cluster)
        await_workers(found)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Port .* is already in use", UserWarning)
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=False, dashboard_address=None, memory_limit=0)
        found = distributed.Client(cluster)
    _CLUSTERS.callback(cluster.close)
    _CLUSTERS.callback(found.close)
    return found


def tls_settings(workers: int) -> dict[str, str]:
    """Dask's settings by which another client reaches the cluster of client(workers)."""
    key = client(workers).security
    return {"distributed.comm.tls.ca-file": key.tls_ca_file, "distributed.comm.tls.client.key": key.tls_client_key,
            "distributed.comm.tls.client.cert": key.tls_client_cert}


@cache
def _settle() -> None:
    """The settings of emdiam's own clusters, until the session ends: a busy machine passes Dask's time limits."""
    from emdiam.dask.internals import cluster_settings

    settings = ExitStack()
    settings.enter_context(cluster_settings())
    settings.callback(close_clusters)
    atexit.register(settings.close)


def apart(graph: naive.Graph, by: int = APART) -> naive.Graph:
    """The graph with `by` - 1 vertices without an edge behind each of its own."""
    return [[by * w for w in row] if i == 0 else [] for row in graph for i in range(by)]


@contextmanager
def _newest(workers: int, processes: bool) -> Iterator[Any]:
    """A client of the cluster of client(workers), of its own where that has processes: actors speak through the client
    that was made last, which may be one of another cluster."""
    shared = client(workers, processes)
    if not processes:
        yield shared
        return
    with distributed.dask.config.set(tls_settings(workers)), distributed.Client(shared.scheduler.address) as mine:
        yield mine


@contextmanager
def engine_on_workers(path: Path, workers: int, *, processes: bool = True, **more: Any) -> Iterator[Any]:
    """A DaskEngine on the store over so many workers. more : fields of RankSpec."""
    from emdiam.dask.engine import DaskEngine
    from emdiam.dask.plan import RankSpec, balanced_ranges
    from emdiam.dask.rank_group import RankGroup, chosen_workers

    with open_store(path) as store, _newest(workers, processes) as mine:
        options: dict[str, Any] = {"memory_bytes": MEMORY, "threads": 2, **more}
        addresses = chosen_workers(mine.scheduler.address, mine.nthreads(), workers)
        spec = RankSpec(str(path), store.digest, balanced_ranges(store, workers), addresses,
                        needs_of(store, make_task("pivots")).phases, 1 << 20, **options)
        group = RankGroup(mine, store, spec)
        try:
            with open_engine(store, memory_bytes=MEMORY) as local:
                engine = DaskEngine(store, group, local.plan, lambda: open_engine(store, memory_bytes=MEMORY))
                try:
                    yield engine
                finally:
                    engine.close()
        finally:
            group.close()


@contextmanager
def running(command: list[str], ready: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that has said `ready` on standard error, and the line in which it did."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if ready in line:
                break
        else:
            raise AssertionError("".join(said))
        yield process, said[-1]
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
