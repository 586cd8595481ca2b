"""`@kernel`: compiled by numba at its first call, without the GIL, and kept in a cache that is safe to share.

Compiled kernels are kept below $NUMBA_CACHE_DIR, or else below $XDG_CACHE_HOME/emdiam (~/.cache/emdiam), in a folder
whose name is a digest of all that a kernel is compiled from: numba looks at the file of the kernel alone, and walks,
visitors and constants of other files are compiled into it. So a folder never has code of another source.

numba's own cache is not made for several processes at once: two that save different signatures of one function may
give both the same file name, and then one signature loads the code of the other. So code is saved under a lock. It is
loaded without one: files are replaced whole, and an index whose code is not there yet is as none.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import logging
import os
import stat
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Any

import numba
import numpy as np
from numba import njit

from . import numba_private
from .links import of_another
from .numba_private import COMPILE, LOCK, UNCOUNTED, Event, Listener, cached_in, listen, saved_in

_LOG = logging.getLogger("emdiam")
numba_private.import_without_blas()
numba_private.free_pass_managers()

# Compiling takes a third less without what nobody calls: a function for C, and for what is compiled into kernels one
# for Python; and where LLVM inlines, not numba, which copies and types the code of a function at every call.
# Nothing here divides by what may be zero, which the errors of Python would look for.
_KERNEL: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True, "forceinline": True, **UNCOUNTED}


def kernel(function: Any = None, *, allocates: bool = True, **options: Any) -> Any:
    """Compile a function at its first call for each signature, or load it; releases the GIL.

    allocates : False for one that makes no array and counts no references to those it is given, which costs where
    a level takes nanoseconds. options : further ones of numba.njit. Both where it is used with brackets.
    """
    options = {**_KERNEL, **({} if allocates else UNCOUNTED), "nogil": True, **options}
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    folder = cache_folder()
    if folder is None:
        return njit(cache=False, **options)(function)
    with cached_in(folder / source_digest(function.__module__)):
        return njit(cache=True, **options)(function)


def inlined(function: Any) -> Any:
    """A function that is compiled into the kernel that calls it, at the place of the call. It allocates nothing, and so
    counts no references: else taking arrays out of the state of a walk would count them at every row (up to nine times
    the CPU seconds)."""
    return njit(**_INNER)(function)


# -- where compiled kernels are kept --------------------------------------------------------------
@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None where nothing can be written there, or where other users may write, whose
    code this process would run: then every process compiles."""
    named = numba_private.cache_setting() or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "emdiam")
    try:
        # Resolved, so that no link is followed later that another user may have changed meanwhile.
        folder = Path(named).expanduser().resolve()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable, distrusted = os.access(folder, os.W_OK), _distrusted(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home, or links lead in a circle
        writable, distrusted = False, None
    if distrusted is not None:
        _LOG.warning("compiled kernels are not kept in %s, since %s, and so could give this process code to run: set"
                     " NUMBA_CACHE_DIR to a folder of your own", named, distrusted)
    elif not writable:
        _LOG.warning("compiled kernels cannot be kept in %s: set NUMBA_CACHE_DIR to a folder for them", named)
    return folder if writable and distrusted is None else None


def _distrusted(folder: Path) -> str | None:
    """Who else could put code there, as a clause; None: nobody but this user, root, and who the group of the folder is.
    Raises OSError."""
    own, above = os.stat(folder), os.stat(folder.parent)
    if of_another(own):
        return "it belongs to another user"
    if own.st_mode & stat.S_IWOTH or (above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX):
        return "any user may write there"
    return None


@cache
def source_digest(module: str) -> str:
    """Of all that kernels of a module (by its name) are compiled from: its file, those of the compiled functions that
    it takes from other modules, the values of constants, these decorators, and numba."""
    names = vars(sys.modules[module])
    digest = hashlib.sha256(f"{numba.__version__} {Path(names['__file__']).name}".encode())
    for file in (__file__, numba_private.__file__, names["__file__"]):
        digest.update(Path(file).read_bytes())
    for name, value in sorted(names.items()):
        if numba_private.is_compiled(value) and getattr(value, "__module__", module) != module:
            digest.update(source_digest(value.__module__).encode())
        elif isinstance(value, int | float | str | tuple | np.generic) and not name.startswith("__"):
            digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()[:16]


class _SaveLock(Listener):
    """Keeps a lock of the folder where numba is about to save a kernel that it has compiled.

    numba tells when it has compiled one, then saves it, then gives its own lock back, which it may hold several times:
    as often as a kernel is compiled within another.
    """

    def __init__(self) -> None:
        self._thread = threading.local()  # a thread that waits for numba's lock has told of that, too

    def on_start(self, happened: Event) -> None:
        """Compiling begins, or numba's lock is asked for."""
        if happened.kind == LOCK:
            self._thread.depth = getattr(self._thread, "depth", 0) + 1

    def on_end(self, happened: Event) -> None:
        """A kernel is compiled, or cannot be; or numba's lock is given back."""
        this = self._thread
        if happened.kind == COMPILE:
            folder = saved_in(happened)
            if folder is not None:
                this.locks = [*getattr(this, "locks", []), (this.depth, _lock(folder))]
            return
        while getattr(this, "locks", []) and this.locks[-1][0] >= this.depth:
            this.locks.pop()[1].close()
        this.depth -= 1


def _lock(folder: Path) -> IO[bytes]:
    """An open file that keeps the lock of a folder until it is closed."""
    file = open(folder / "lock", "ab")  # closed once the kernel is saved
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


# -- how long it takes -----------------------------------------------------------------------------
class _Compilations(Listener):
    """Hears of all that numba compiles in this process, under numba's lock; what comes from the cache is not told.

    seconds : spent on it. count : of kernels. A function that a kernel calls is compiled within it.

    Garbage is collected after a kernel, not meanwhile: looking for cycles among what numba needs to the end took a
    sixth of the time. What one kernel leaves behind are 4 MiB.
    """

    def __init__(self) -> None:
        self.seconds = self._begin = 0.0
        self.count = self._depth = 0
        self._collecting = True

    def on_start(self, _event: Event) -> None:
        """A function begins to be compiled."""
        if self._depth == 0:
            if self.seconds == 0:
                _LOG.info("compiling kernels (first run only)")
            self._begin = time.perf_counter()
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, _event: Event) -> None:
        """A function is compiled, or cannot be."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._begin
            self.count += 1
            if self._collecting:
                gc.enable()
                gc.collect(0)


class _Preparations(Listener):
    """Measures how long any thread holds numba's lock, or waits for it: kernels are compiled, or loaded from the
    cache. seconds : so far."""

    def __init__(self) -> None:
        self.seconds, self._begin, self._depth = 0.0, 0.0, 0
        self._guard = threading.Lock()

    def on_start(self, _event: Event) -> None:
        """A thread asks for the lock."""
        with self._guard:
            if self._depth == 0:
                self._begin = time.perf_counter()
            self._depth += 1

    def on_end(self, _event: Event) -> None:
        """It has given the lock back."""
        with self._guard:
            self._depth -= 1
            if self._depth == 0:
                self.seconds += time.perf_counter() - self._begin


_COMPILATIONS, _SAVING, _PREPARATIONS = _Compilations(), _SaveLock(), _Preparations()
for _kind, _listener in ((COMPILE, _COMPILATIONS), (COMPILE, _SAVING), (LOCK, _SAVING), (LOCK, _PREPARATIONS)):
    listen(_kind, _listener)


def compile_seconds() -> float:
    """Wall seconds that this process has spent compiling kernels so far."""
    return _COMPILATIONS.seconds


def kernel_seconds() -> float:
    """Wall seconds that this process has spent compiling kernels and loading those from the cache so far."""
    return _PREPARATIONS.seconds


def compiled_kernels() -> int:
    """How many kernels, each with its types, this process has compiled so far."""
    return _COMPILATIONS.count


def working_seconds() -> float:
    """Wall seconds, from any start, in which no kernel was compiled or loaded."""
    return time.perf_counter() - kernel_seconds()
