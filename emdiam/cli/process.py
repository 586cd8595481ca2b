"""What the command sets in its own process before the library starts."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings

_M_ARENA_MAX = -8  # from <malloc.h> of glibc
_ARENAS = 2


def limit_malloc_arenas() -> None:
    """Let glibc's malloc keep at most two arenas.

    By default every thread may get an arena of its own (up to eight times the number of cores)
    and memory freed in one is not reused by another, so that the decoding and sorting threads
    would push the peak RSS past --memory by amounts that no plan can know. The variable in the
    environment reaches child processes; this process has started already, so it is told through
    mallopt. A value that the user has set stands.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    os.environ["MALLOC_ARENA_MAX"] = str(_ARENAS)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have no arenas to limit
        mallopt(_M_ARENA_MAX, _ARENAS)


def hide_warnings_of_libraries() -> None:
    """Keep other packages' warnings (deprecations, experimental codecs) off the user's terminal,
    unless they are asked for with -W, PYTHONWARNINGS or EMDIAM_DEBUG=1."""
    if not sys.warnoptions and os.environ.get("EMDIAM_DEBUG") != "1":
        warnings.simplefilter("ignore")
