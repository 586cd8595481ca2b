"""What the command sets in its own process before the library starts."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings

# Parameters of glibc's malloc: variable of the environment, number in <malloc.h>, value.
_MALLOC = (
    ("MALLOC_ARENA_MAX", -8, 2), ("MALLOC_MMAP_THRESHOLD_", -3, 2 << 20), ("MALLOC_TRIM_THRESHOLD_", -1, 4 << 20))


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
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - for as long as the process runs


def hide_warnings_of_libraries() -> None:
    """Keep other packages' warnings (deprecations, experimental codecs) off the user's terminal,
    unless they are asked for with -W, PYTHONWARNINGS or EMDIAM_DEBUG=1."""
    if not sys.warnoptions and os.environ.get("EMDIAM_DEBUG") != "1":
        warnings.simplefilter("ignore")
