"""Settings of the command's own process: streams, malloc, warnings, and the handling of signals.

The first SIGINT or SIGTERM (batch systems, `timeout`) raises KeyboardInterrupt in the main thread, at the next block or
slice of a kernel. The command prints the interval so far and removes scratch files. A second signal ends the process at
once, with the same effect as a power cut. A watching thread does this, since a handler in Python runs only between two
kernels.

In some places Python prints an exception and continues: callbacks from C (llvmlite while it loads or compiles kernels),
__del__, and callbacks of weak references. A KeyboardInterrupt raised there is lost, and the compiler of llvmlite gets
no result from its callback. Extensions in Rust turn an exception during their import into a panic. An exception while
Python's own libraries take a lock in several steps may leave it locked, so that other threads wait for ever. So none is
raised while numba or llvmlite works, while a module is imported, inside these steps, or between the start of a context
manager and the point from which its end is certain. It is delayed: the watching thread sends the main thread another
signal (SIGURG, ignored by default) every 20 ms until the exception is raised, and again if it is lost nevertheless
(the hook for unraisable exceptions notices).

The stopping signal may also arrive just before the main thread starts to wait for a lock. Python then runs no handler
until the lock is free, perhaps never. SIGURG wakes the main thread in this case too.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

# Parameters of glibc's malloc: variable of the environment, number in <malloc.h>, value.
_MALLOC = (
    ("MALLOC_ARENA_MAX", -8, 2), ("MALLOC_MMAP_THRESHOLD_", -3, 2 << 20), ("MALLOC_TRIM_THRESHOLD_", -1, 4 << 20))

_MANY_FILES = 1 << 20
# Position, behind the name in /proc/self/stat, of the start time of the process, in ticks since the system's start.
_START_TIME = 19


def settle_malloc() -> None:
    """Make glibc's malloc keep little freed memory, so that the peak RSS equals the memory in use.

    By default every thread may get its own arena (up to eight times the number of cores), and memory freed in one arena
    is not reused by another. Also, once an array of up to 32 MiB has been freed, all arrays up to its size come from a
    heap, where freed memory between others remains resident. Both would raise the peak RSS above --memory by amounts
    that no plan can predict. The environment variables reach child processes; this process has already started, so it
    calls mallopt. A value set by the user is kept.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    for name, parameter, value in _MALLOC:
        if name not in os.environ:
            os.environ[name] = str(value)
            if mallopt is not None:  # other C libraries lack these parameters
                mallopt(parameter, value)


class _Own:
    """began : start of this process, of CLOCK_BOOTTIME, if it is one of the command line. code : its exit code once its
    command has ended."""

    began: float | None = None
    code: int | None = None


def own_process() -> None:
    """Mark this process as one of the command line. Its seconds are those seen by the shell, with the interpreter's
    start and imports."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_START_TIME]
    _Own.began = int(ticks) / os.sysconf("SC_CLK_TCK")


def process_seconds() -> float | None:
    """Wall seconds since this process started; None if it is not a process of the command line."""
    return None if _Own.began is None else time.clock_gettime(time.CLOCK_BOOTTIME) - _Own.began


def settle_start() -> None:
    """Shorten the start, unless the user has set the variable. numpy's BLAS, which the package does not use, would
    start a thread per core when it is imported (15 ms of CPU).
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def exit_with(code: int) -> NoReturn:
    """Raise SystemExit; `end_process` then ends the process with this code."""
    _Own.code = code
    sys.exit(code)


def end_process() -> None:
    """End the process of a command that has ended, without freeing its objects one by one (4 to 30 ms). It is the first
    handler to be registered with atexit and so the last to run: the handlers of libraries have run by then."""
    if _Own.code is None or sys.gettrace() is not None:  # a tracer, as of coverage, began before and must end later
        return
    with suppress(OSError, ValueError):  # Python's own end reports it
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(_Own.code)


def fill_closed_streams() -> None:
    """Open /dev/null in place of a closed standard input, output or error. Otherwise a file opened later would get its
    number, and text written to it. A closed sys.stdout remains None (output.check_stdout reports it); messages to a
    closed standard error are lost."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the smallest free number
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # for as long as the process runs


def allow_many_files() -> None:
    """Raise the limit of open files as far as the system allows, up to 2^20. Every shard of a store stays open, and a
    store of 10^10 edges has more than the 1,024 files that most shells allow. Child processes inherit the limit."""
    limit, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= limit < min(allowed, _MANY_FILES):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(allowed, _MANY_FILES), allowed))


def hide_warnings_of_libraries() -> None:
    """Hide other packages' warnings (deprecations, experimental codecs), unless -W, PYTHONWARNINGS or EMDIAM_DEBUG=1
    requests them."""
    if not sys.warnoptions and os.environ.get("EMDIAM_DEBUG") != "1":
        warnings.simplefilter("ignore")


STOPPING = (signal.SIGINT, signal.SIGTERM)
# Signals within this time after the first are repeats of it: `timeout` sends it to the process and then to its group.
SAME_SECONDS = 0.3
AGAIN_SECONDS = 0.02
_AGAIN = signal.SIGURG
# Packages with callbacks from C, or that an interrupt leaves in an inconsistent state. The last one has the frames that
# call a module during its import.
_CALLED_BACK = ("numba", "llvmlite", "importlib")
# Packages whose functions take and release locks or resources in steps, and their functions that wait for others.
_STEPWISE = ("threading", "concurrent", "queue", "logging", "contextlib")
_WAITING = ("wait", "join", "_wait_for_tstate_lock")


@contextmanager
def stopping_on_signals(end: Callable[[int], None] = os._exit) -> Iterator[None]:
    """A context whose code SIGINT and SIGTERM stop as described above. Afterwards the handlers of both and of SIGURG
    are restored. For the main thread of our own programs, never for library use.

    end : ends the process with an exit code, 128 + the signal's number. An ignored SIGINT (a background job of a shell)
    remains ignored. A signal after the end of the code stops nothing.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    wanted = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    stop = _Stop()
    watcher = threading.Thread(
        target=_watch, args=(reading, set(wanted), stop, end), name="emdiam-signals", daemon=True)
    watcher.start()
    outer = _now[0]
    _now[0] = stop
    hook, sys.unraisablehook = sys.unraisablehook, stop.lost
    old = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    before: dict[signal.Signals, Any] = {_AGAIN: signal.signal(_AGAIN, stop.again)}
    try:
        for number in wanted:
            before[number] = signal.getsignal(number)
            signal.signal(number, stop.asked)
        yield
    finally:  # runs completely, since no handler raises KeyboardInterrupt inside this module
        signal.set_wakeup_fd(old)
        os.close(writing)
        watcher.join()
        os.close(reading)
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook, _now[0] = hook, outer


def stop_asked() -> bool:
    """Whether a signal has requested a stop inside stopping_on_signals. Later errors may be effects of the signal: an
    interrupted import of a library raises an error that does not mention KeyboardInterrupt."""
    return _now[0] is not None and _now[0].wanted


class _Stop:
    """Raises KeyboardInterrupt for the first signal, once, at a place where it is not lost, so that no second one
    disturbs the cleanup."""

    def __init__(self) -> None:
        self.wanted = self.raised = False

    def asked(self, _number: int, frame: FrameType | None) -> None:
        """The handler of the stopping signals."""
        if not self.wanted:
            self.wanted = True
            self._raise(frame)

    def again(self, _number: int, frame: FrameType | None) -> None:
        """The handler of the watching thread's signal."""
        if self.wanted and not self.raised:
            self._raise(frame)

    def lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """The hook for exceptions that cannot be raised to a caller."""
        if self.raised and issubclass(unraisable.exc_type, KeyboardInterrupt):
            self.raised = False
        else:
            sys.__unraisablehook__(unraisable)

    def _raise(self, frame: FrameType | None) -> None:
        if not _is_delicate(frame):
            self.raised = True
            raise KeyboardInterrupt


_now: list[_Stop | None] = [None]


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_delicate(frame: FrameType | None) -> bool:
    """Whether an exception raised in `frame` could be lost or leave an inconsistent state: one of the packages or this
    module runs in the frame or in its callers, or the frame itself works in steps."""
    if frame is not None and _package(frame) in _STEPWISE and not _waits(frame):
        return True
    while frame is not None and not (_package(frame) in _CALLED_BACK or frame.f_globals is globals()):
        frame = frame.f_back
    return frame is not None


def _waits(frame: FrameType) -> bool:
    """Whether a function waits for other threads, in a state that an exception may end. Condition.wait first releases
    its lock, and takes it again at its end only if it has reached `gotit = False`."""
    if frame.f_code is threading.Condition.wait.__code__:
        return "gotit" in frame.f_locals
    return frame.f_code.co_name in _WAITING


def _watch(reading: int, wanted: set[int], stop: _Stop, end: Callable[[int], None]) -> None:
    """Read the numbers of signals until the other end is closed. From the first stopping signal on, wake the main
    thread until it has raised KeyboardInterrupt."""
    first: float | None = None
    pipe, main = select.poll(), threading.main_thread().ident
    assert main is not None
    pipe.register(reading, select.POLLIN)
    while True:
        if not pipe.poll(None if first is None else AGAIN_SECONDS * 1000):
            if not stop.raised:
                signal.pthread_kill(main, _AGAIN)
            continue
        numbers = os.read(reading, 64)
        if not numbers:
            return
        for number in numbers:
            if number not in wanted:
                continue
            if first is None:
                first = time.monotonic()
            elif time.monotonic() - first >= SAME_SECONDS:
                end(128 + number)
