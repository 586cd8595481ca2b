"""What the command sets in its own process: streams, malloc, warnings, and what signals do.

The first SIGINT or SIGTERM (batch systems, `timeout`) raises KeyboardInterrupt in the main thread, which meets it at
the next block or slice of a kernel: the interval so far is printed and scratch files are removed. A second one ends the
process at once, whatever it is in the middle of, and leaves what a power cut would leave. A watching thread sees to
that, since a handler in Python only runs between two kernels.

There are places where Python prints an exception and goes on: functions that C calls back (llvmlite while
it loads or compiles kernels), __del__, callbacks of weak references. A KeyboardInterrupt that is raised there
is lost, and in llvmlite the compiler is left without an answer. Extensions in Rust make a panic of an exception that
is raised while they are imported. So none is raised while numba or llvmlite is at work or a module is being
imported, nor while Python's own libraries take locks in steps, which an exception may leave locked for good, so that
other threads wait for ever, nor between the beginning of a context manager and the moment when its end is sure. It is
put off: the watching thread sends the main thread another signal (SIGURG, which does nothing by default) every 20 ms
until the exception is raised, and again where it is lost all the same (the hook for such exceptions sees that).

The signal that asks for the stop may itself come just before the main thread begins to wait for a lock. Python then
runs no handler until the lock is free, which may be never. SIGURG wakes the main thread here too.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import select
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

# Parameters of glibc's malloc: variable of the environment, number in <malloc.h>, value.
_MALLOC = (
    ("MALLOC_ARENA_MAX", -8, 2), ("MALLOC_MMAP_THRESHOLD_", -3, 2 << 20), ("MALLOC_TRIM_THRESHOLD_", -1, 4 << 20))

_MANY_FILES = 1 << 20
# Place of the time at which a process has begun behind its name in /proc/self/stat, in ticks since the system's start.
_START_TIME = 19


def settle_malloc() -> None:
    """Let glibc's malloc keep little of what is freed, so that a peak is what is in use.

    By default every thread may get an arena of its own (up to eight times the number of cores), and memory freed in
    one is not reused by another. And once an array of up to 32 MiB has been freed, all that are no larger come from
    a heap, where what is freed between others stays resident. Both would push the peak RSS past --memory by amounts
    that no plan can know. The variables in the environment reach child processes; this process has started already,
    so it is told through mallopt. A value that the user has set stands.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    for name, parameter, value in _MALLOC:
        if name not in os.environ:
            os.environ[name] = str(value)
            if mallopt is not None:  # other C libraries have no such parameters
                mallopt(parameter, value)


class _Own:
    """began : when this process did, of CLOCK_BOOTTIME, where it is one of the command line."""

    began: float | None = None


def own_process() -> None:
    """This process is one of the command line, whose seconds are those of the shell: the interpreter's start and
    imports are among them."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_START_TIME]
    _Own.began = int(ticks) / os.sysconf("SC_CLK_TCK")


def process_seconds() -> float | None:
    """Wall seconds since this process began; None in one that has other work than a command."""
    return None if _Own.began is None else time.clock_gettime(time.CLOCK_BOOTTIME) - _Own.began


def settle_start() -> None:
    """Spend less before the work begins, where the user has not said otherwise. numpy's BLAS, which nothing here calls,
    would start a thread a core when it is imported (15 ms of CPU).
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def spare_the_end() -> None:
    """Let the process end without looking through all of its objects for cycles of garbage once more (30 ms)."""
    gc.disable()
    gc.freeze()


def fill_closed_streams() -> None:
    """Put /dev/null in the place of standard input, output and error where they are closed: a file that is opened
    later would else get their number, and what is written to them. A closed sys.stdout stays None
    (output.check_stdout says so), while complaints just go nowhere."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the smallest free number
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # for as long as the process runs


def allow_many_files() -> None:
    """Raise the limit of open files as far as the system allows, up to 2^20: every shard of a store is kept open, and
    most shells allow 1,024 files, which a store of 10^10 edges passes. Child processes inherit it."""
    limit, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= limit < min(allowed, _MANY_FILES):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(allowed, _MANY_FILES), allowed))


def hide_warnings_of_libraries() -> None:
    """Keep other packages' warnings (deprecations, experimental codecs) off the user's terminal,
    unless they are asked for with -W, PYTHONWARNINGS or EMDIAM_DEBUG=1."""
    if not sys.warnoptions and os.environ.get("EMDIAM_DEBUG") != "1":
        warnings.simplefilter("ignore")


STOPPING = (signal.SIGINT, signal.SIGTERM)
# Signals that come this soon after the first are the same one: `timeout` sends it to the process and then to its group.
SAME_SECONDS = 0.3
AGAIN_SECONDS = 0.02
_AGAIN = signal.SIGURG
# Packages with functions that C calls back, or that leave themselves in disorder when they are interrupted; the last
# is the one whose frames stand above a module that is being imported.
_CALLED_BACK = ("numba", "llvmlite", "importlib")
# Packages whose functions take and give back locks or resources in steps, and those functions that wait for others.
_STEPWISE = ("threading", "concurrent", "queue", "logging", "contextlib")
_WAITING = ("wait", "join", "_wait_for_tstate_lock")


@contextmanager
def stopping_on_signals(end: Callable[[int], None] = os._exit) -> Iterator[None]:
    """SIGINT and SIGTERM stop what runs inside, as told above; both, and SIGURG, are as before afterwards. For
    the main thread of a program of our own, never for library use.

    end : ends the process with an exit code, 128 + the signal's number. A SIGINT that is ignored (a job
    in the background of a shell) stays so. A signal that comes when what runs inside has ended stops nothing.
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
    finally:  # no handler raises KeyboardInterrupt in this module: what follows is done as a whole
        signal.set_wakeup_fd(old)
        os.close(writing)
        watcher.join()
        os.close(reading)
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook, _now[0] = hook, outer


def stop_asked() -> bool:
    """Whether a signal has asked to stop what runs inside stopping_on_signals. What fails from then on may have
    failed by that alone: the import of a library that is interrupted says nothing of KeyboardInterrupt."""
    return _now[0] is not None and _now[0].wanted


class _Stop:
    """Raises KeyboardInterrupt for the first signal, once, where it is not lost; what cleans up after it is not
    disturbed."""

    def __init__(self) -> None:
        self.wanted = self.raised = False

    def asked(self, _number: int, frame: FrameType | None) -> None:
        """The handler of the signals that stop."""
        if not self.wanted:
            self.wanted = True
            self._raise(frame)

    def again(self, _number: int, frame: FrameType | None) -> None:
        """The handler of the watching thread's signal."""
        if self.wanted and not self.raised:
            self._raise(frame)

    def lost(self, unraisable: sys.UnraisableHookArgs) -> None:
        """The hook for exceptions that nobody can meet."""
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
    """Whether an exception that is raised in `frame` could be lost or leave things in disorder: one of the packages, or
    this module, is at work in it or in those that called it, or `frame` itself does something in steps."""
    if frame is not None and _package(frame) in _STEPWISE and not _waits(frame):
        return True
    return any(_package(one) in _CALLED_BACK or one.f_globals is globals() for one, _ in traceback.walk_stack(frame))


def _waits(frame: FrameType) -> bool:
    """Whether a function waits for other threads, in a state that an exception may end. Condition.wait first gives its
    lock back, and takes it again in the end only where it has come to `gotit = False`."""
    if frame.f_code is threading.Condition.wait.__code__:
        return "gotit" in frame.f_locals
    return frame.f_code.co_name in _WAITING


def _watch(reading: int, wanted: set[int], stop: _Stop, end: Callable[[int], None]) -> None:
    """Read the numbers of signals as they come, until the other end is closed; from the first that stops on, wake the
    main thread until it has met KeyboardInterrupt."""
    first: float | None = None
    pipe = select.poll()
    pipe.register(reading, select.POLLIN)
    while True:
        if not pipe.poll(None if first is None else AGAIN_SECONDS * 1000):
            if not stop.raised:
                signal.pthread_kill(_main_thread(), _AGAIN)
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


def _main_thread() -> int:
    ident = threading.main_thread().ident
    assert ident is not None
    return ident
