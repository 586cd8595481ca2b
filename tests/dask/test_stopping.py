"""A stop while workers are started: the cluster is there first, and is closed."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emdiam.cli import process
from emdiam.cli.process import stop_asked, stopping_on_signals
from tests.helpers.stopped import stopped_everywhere

pytest.importorskip("distributed")

PATIENCE = 60.0


def test_a_cluster_that_is_half_there_is_closed_when_it_is_whole():
    from emdiam.dask.opening import _whole

    told: list[str] = []
    begun = threading.Event()

    def start() -> Any:
        begun.set()
        while not stop_asked():  # the signal comes while it is being started
            time.sleep(0.001)
        told.append("started")
        return SimpleNamespace(close=lambda: told.append("closed"))

    def signal_it() -> None:
        assert begun.wait(PATIENCE)
        signal.pthread_kill(cast(int, threading.main_thread().ident), signal.SIGTERM)

    other = threading.Thread(target=signal_it)
    with stopping_on_signals():
        other.start()
        with pytest.raises(KeyboardInterrupt), _whole(start):
            threading.Event().wait(PATIENCE)
        other.join()
    assert told == ["started", "closed"]


def test_a_cluster_is_closed_wherever_a_stop_comes(monkeypatch: pytest.MonkeyPatch):
    """Also while Python starts the thread, and when the cluster is there and its end is not sure yet."""
    from emdiam.dask import opening

    monkeypatch.setattr(process, "AGAIN_SECONDS", 0.001)
    monkeypatch.setattr(opening, "_MOMENT_SECONDS", 0.0002)
    told: list[str] = []

    def start() -> Any:
        told.append("started")
        return SimpleNamespace(close=lambda: told.append("closed"))

    def body() -> None:
        with ExitStack() as stack:
            stack.enter_context(opening._whole(start))
            end = time.monotonic() + PATIENCE
            while stop_asked():  # KeyboardInterrupt comes as soon as it can
                assert time.monotonic() < end
                time.sleep(0.001)

    ends = []
    for place in stopped_everywhere(body):
        ends.append(place.interrupted)
        assert told == sorted(told, reverse=True) and ("started" in told) == ("closed" in told), place
        told.clear()
    assert ends.count(True) > 50


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_workers_are_not_profiled(processes: bool):
    """Dask's profiler may stop a process for good."""
    from emdiam.dask.internals import await_workers
    from emdiam.dask.opening import connected
    from emdiam.dask.setting import OnCluster
    from tests.helpers.workers import client

    def profiled(dask_worker: Any) -> bool:
        return "profile" in dask_worker.periodic_callbacks

    with connected(OnCluster(workers=1), 1) if processes else nullcontext(client(1, processes=False)) as one:
        if processes:
            await_workers(one)
        assert list(one.run(profiled).values()) == [False]


def test_clusters_of_tests_end_with_a_folder_and_begin_again() -> None:
    from tests.helpers.workers import client, close_clusters

    first = client(1, processes=False)
    assert client(1, processes=False) is first and first.status == "running"
    close_clusters()
    assert first.status == "closed"
    assert client(1, processes=False) is not first
