"""Threads that run nogil kernels or fetch blocks, with one rule for errors.

Kernels are serial and release the GIL; parallelism comes from threads that run the same kernel and share an atomic
counter. This needs no second threading layer, costs about 50 microseconds per level, and lets fetching, decoding and
kernels share the cores.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from itertools import islice
from operator import length_hint
from typing import TypeVar

from ..progress import Tick, no_tick

T = TypeVar("T")
R = TypeVar("R")


class ThreadWork:
    """Running work of some threads of a pool: task(item) for all items, taken in order. After an error no further item
    is taken. The caller must call `wait` or `stop`."""

    def __init__(self, pool: Executor, n_threads: int, items: Iterable[T], task: Callable[[T], None]) -> None:
        left, lock, stopped = iter(items), threading.Lock(), threading.Event()

        def take() -> tuple[T, ...]:
            """The next item in a tuple, or an empty tuple."""
            with lock:
                return () if stopped.is_set() else tuple(islice(left, 1))

        def work() -> None:
            try:
                while taken := take():
                    task(*taken)
            except BaseException:
                stopped.set()
                raise

        self._stopped, self._futures = stopped, [pool.submit(work) for _ in range(n_threads)]

    def wait(self, tick: Tick = no_tick) -> None:
        """Wait for the end, and call `tick` on this thread about five times a second. Raises the first error of a task
        or of `tick`, or KeyboardInterrupt."""
        try:
            while not all(future.done() for future in self._futures):
                if wait(self._futures, timeout=0.2).not_done:
                    tick()
        except BaseException:
            self.stop()
            raise
        for future in self._futures:
            future.result()

    def stop(self) -> None:
        """Take no further item, and wait for the running ones, ignoring their errors."""
        self._stopped.set()
        wait(self._futures)


class Threads:
    """`compute` threads for kernels (the caller is one of them) and `readers` more for fetching."""

    def __init__(self, compute: int, readers: int = 1) -> None:
        if compute < 1:
            raise ValueError("at least one thread is needed")
        self.compute, self.fetchers = compute, compute + readers
        self._pool = ThreadPoolExecutor(max_workers=self.fetchers, thread_name_prefix="emdiam")

    def everywhere(self, task: Callable[[], R], shares: int | None = None,
                   stop: Callable[[], None] | None = None, helpers: bool = False) -> list[R]:
        """Run `task` on every compute thread at once, or on at most `shares` threads; returns the results, the caller's
        first.

        Waits for all threads even if one fails, then raises the first error. stop : called if the caller's own task
        fails, or is interrupted by Ctrl-C before it starts; otherwise threads that wait for each other would wait for
        ever. helpers : the other threads only help: a thread that has not started when the caller finishes is
        cancelled, and has no result.
        """
        count = self.compute if shares is None else min(self.compute, max(1, shares))
        futures = [self._pool.submit(task) for _ in range(count - 1)]
        try:
            result = task()
        except BaseException:
            if stop is not None:
                stop()
            raise
        finally:
            if helpers:
                futures = [future for future in futures if not future.cancel()]
            if futures:
                wait(futures)
        return [result, *(f.result() for f in futures)]

    def begin(self, items: Iterable[T], task: Callable[[T], None]) -> ThreadWork:
        """Start `task(item)` for all items, taken in order, on the fetching threads."""
        return ThreadWork(self._pool, min(self.fetchers, length_hint(items, self.fetchers)), items, task)

    def for_each(self, items: Iterable[T], task: Callable[[T], None], tick: Tick = no_tick) -> None:
        """Run `task(item)` for all items on the fetching threads; see ThreadWork.wait."""
        self.begin(items, task).wait(tick)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
