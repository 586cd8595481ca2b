"""A stop while workers are started: the cluster is there first, and is closed."""

from __future__ import annotations

import signal
import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emdiam.cli.process import stop_asked, stopping_on_signals

pytest.importorskip("distributed")

PATIENCE = 60.0


def test_a_cluster_that_is_half_there_is_closed_when_it_is_whole():
    from emdiam.dask.opening import _whole

    told: list[str] = []
    begun = threading.Event()

    def start() -> Any:
        begun.set()
        while not stop_asked():  # the signal comes while it is being started
            assert not gone.wait(0.001)
        told.append("started")
        return SimpleNamespace(close=lambda: told.append("closed"))

    def signal_it() -> None:
        assert begun.wait(PATIENCE)
        signal.pthread_kill(cast(int, threading.main_thread().ident), signal.SIGTERM)

    gone = threading.Event()
    other = threading.Thread(target=signal_it)
    with stopping_on_signals():
        other.start()
        with pytest.raises(KeyboardInterrupt):
            _whole(start)
        other.join()
    assert told == ["started", "closed"]


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_workers_are_not_profiled(processes: bool):
    """Dask's profiler may stop a process for good."""
    from emdiam.dask.here import await_workers
    from emdiam.dask.opening import connected
    from emdiam.dask.setting import OnCluster
    from tests.helpers.workers import client

    def profiled(dask_worker: Any) -> bool:
        return "profile" in dask_worker.periodic_callbacks

    with connected(OnCluster(workers=1), 1) if processes else nullcontext(client(1, processes=False)) as one:
        if processes:
            await_workers(one)
        assert list(one.run(profiled).values()) == [False]
