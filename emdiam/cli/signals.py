"""Ctrl-C, SIGTERM, and what a second one does.

The first SIGINT or SIGTERM (batch systems, `timeout`) raises KeyboardInterrupt in the main thread,
which meets it at the next block or slice of a kernel: the interval so far is printed and scratch
files are removed. A second one ends the process at once, whatever it is in the middle of, and leaves
what a power cut would leave. A watching thread sees to that, since a handler in Python only runs
between two kernels.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM)
# Signals that come this soon after the first are the same one: `timeout` sends it to the process and
# then to its group.
SAME_SECONDS = 0.3


@contextmanager
def stopping_on_signals(end: Callable[[int], None] = os._exit) -> Iterator[None]:
    """SIGINT and SIGTERM stop what runs inside, as told above; both are as before afterwards. For the
    main thread of a program of our own, never for library use.

    end : ends the process with an exit code, 128 + the signal's number. A SIGINT that is ignored (a job
    in the background of a shell) stays so.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(reading, True)
    wanted = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    once = _once()
    before = {number: signal.signal(number, once) for number in wanted}
    old = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reading, set(wanted), end), name="emdiam-signals", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writing)
        watcher.join()
        os.close(reading)


def _once() -> Callable[[int, FrameType | None], None]:
    """A handler that raises the first time only: what cleans up after it is not disturbed."""
    seen: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            raise KeyboardInterrupt

    return interrupt


def _watch(reading: int, wanted: set[int], end: Callable[[int], None]) -> None:
    """Read the numbers of signals as they come, until the other end is closed."""
    first: float | None = None
    while numbers := os.read(reading, 64):
        for number in numbers:
            if number not in wanted:
                continue
            if first is None:
                first = time.monotonic()
            elif time.monotonic() - first >= SAME_SECONDS:
                end(128 + number)
