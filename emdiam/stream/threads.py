"""A few threads that run nogil kernels or fetch blocks, and one rule for errors.

Kernels are serial and release the GIL; parallelism is threads that run the same kernel and share
an atomic counter. That needs no second threading layer, costs about 50 microseconds a level, and
lets fetching, decoding and kernels share the cores as they come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import islice
from operator import length_hint
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Threads:
    """`compute` threads for kernels (the caller is one of them) and `readers` more for fetching."""

    def __init__(self, compute: int, readers: int = 1) -> None:
        if compute < 1:
            raise ValueError("at least one thread is needed")
        self.compute, self.fetchers = compute, compute + readers
        self._pool = ThreadPoolExecutor(max_workers=self.fetchers, thread_name_prefix="emdiam")

    def everywhere(self, task: Callable[[], R], shares: int | None = None) -> list[R]:
        """Run `task` on every compute thread at once, or on as many as there are `shares` of the work; the results, the
        caller's first.

        Waits for all threads even when one fails, then raises the first error.
        """
        count = self.compute if shares is None else min(self.compute, max(1, shares))
        futures = [self._pool.submit(task) for _ in range(count - 1)]
        try:
            result = task()
        finally:
            if futures:
                wait(futures)
        return [result, *(f.result() for f in futures)]

    def for_each(self, items: Iterable[T], task: Callable[[T], None], tick: Callable[[], None] | None = None,
                 beside: Callable[[], None] | None = None) -> None:
        """Run `task(item)` for all items on the fetching threads, in order of taking, and at the same time `beside` on
        the calling thread.

        `tick` runs on the calling thread about five times a second after that. After an error (of a task, of `beside`
        or of `tick`, or Ctrl-C) no further item is taken; the first error is raised.
        """
        left, lock, stopped = iter(items), threading.Lock(), threading.Event()

        def take() -> tuple[T, ...]:
            """The next item, or nothing."""
            with lock:
                return () if stopped.is_set() else tuple(islice(left, 1))

        def work() -> None:
            try:
                while taken := take():
                    task(*taken)
            except BaseException:
                stopped.set()
                raise

        futures = [self._pool.submit(work) for _ in range(min(self.fetchers, length_hint(items, self.fetchers)))]
        try:
            if beside is not None:
                beside()
            while wait(futures, timeout=0.2).not_done:
                if tick is not None:
                    tick()
        except BaseException:
            stopped.set()
            wait(futures)
            raise
        for future in futures:
            future.result()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
