"""Threads that run a kernel together."""

from __future__ import annotations

import threading

from emdiam.stream.threads import Threads


def test_helpers_that_have_not_begun_are_not_waited_for() -> None:
    threads, end, busy = Threads(3, 0), threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        busy.release()
        end.wait()

    held = [threads._pool.submit(hold) for _ in range(threads.fetchers)]
    for _ in held:
        busy.acquire()
    calls: list[int] = []
    try:
        assert threads.everywhere(lambda: calls.append(1), helpers=True) == [None]
    finally:
        end.set()
        threads.close()
    assert calls == [1]


def test_helpers_at_work_are_waited_for() -> None:
    threads, began = Threads(2, 0), threading.Event()

    def task() -> bool:
        if threading.current_thread() is threading.main_thread():
            return began.wait()
        began.set()
        return False

    assert threads.everywhere(task, helpers=True) == [True, False]
    threads.close()
