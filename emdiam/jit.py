"""`@kernel`: compiled by numba at its first call, without the GIL, and kept in numba's cache safely.

Numba's own cache is not made for several processes at once: two that save different signatures of one
function may give both the same file name, and then one signature loads the code of the other; and a process
that is killed between writing the index and the code leaves an index that may name older code. So the cache
of a kernel is read and written under a lock, and the code is written before the index names it.
"""

from __future__ import annotations

import fcntl
import itertools
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llvmlite.binding import newpassmanagers
from llvmlite.binding.ffi import ObjectRef
from numba import njit
from numba.core import event

_LOG = logging.getLogger("emdiam")
# To see whether numpy.correlate could use BLAS, numba imports scipy.linalg with its first kernel: 0.2 s and 16 MiB,
# which are saved where it cannot be imported for that moment.
_BLAS = "scipy.linalg.cython_blas"
if _BLAS not in sys.modules:
    sys.modules[_BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_BLAS]
# numba makes a pass manager for every function that it compiles, and llvmlite (0.45 to 0.50) never frees one: its
# classes inherit an empty method before the one that frees. That kept 63 MiB of the 130 that kernels of pivots took.
for _manager in (newpassmanagers.FunctionPassManager, newpassmanagers.ModulePassManager):
    if _manager._dispose is ObjectRef._dispose:
        _manager._dispose = newpassmanagers.NewPassManager._dispose


def kernel(function: Any = None, *, allocates: bool = True, **options: Any) -> Any:
    """Compile a function at its first call for each signature, or load it; releases the GIL.

    allocates : False for one that makes no array and counts no references to those it is given, which costs where
    a level takes nanoseconds. options : further ones of numba.njit. Both where it is used with brackets.
    """
    if not allocates:
        options["_nrt"] = False
    if function is None:
        return lambda given: kernel(given, **options)
    compiled = njit(cache=True, nogil=True, **options)(function)
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None:  # None where caching, or numba itself, is turned off
        compiled._cache._cache_file = _LockedFile(file)
    return compiled


def visitor(function: Any) -> Any:
    """A function that is compiled into the walk that takes it, at the place of its call."""
    return njit(inline="always")(function)


def walk(function: Any) -> Any:
    """A function that calls visitors and is compiled into kernels. It allocates nothing, and so counts no references:
    else taking arrays out of the state of a walk would count them at every row (up to nine times the CPU seconds)."""
    return njit(_nrt=False)(function)  # type: ignore[call-overload]  # an option that its stubs leave out


class _LockedFile:
    """In place of numba's IndexDataCacheFile, on the same files."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def flush(self) -> None:
        """Forget all signatures."""
        with self._locked(fcntl.LOCK_EX):
            self._file.flush()

    def load(self, key: Any) -> Any:
        """The code of a signature, None if there is none."""
        if not Path(self._file._index_path).exists():
            return None
        with self._locked(fcntl.LOCK_SH):
            return self._file.load(key)

    def save(self, key: Any, code: Any) -> None:
        """Keep the code of a signature."""
        file = self._file
        with self._locked(fcntl.LOCK_EX):
            names = file._load_index()
            taken = set(names.values())
            free = (name for name in map(file._data_name, itertools.count(1)) if name not in taken)
            name = names.get(key) or next(free)
            file._save_data(name, code)
            file._save_index({**names, key: name})

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        with open(Path(self._file._cache_path) / "emdiam-cache.lock", "a") as lock:
            fcntl.flock(lock, how)
            yield


class _Compilations(event.Listener):
    """Hears of all that numba compiles in this process, under numba's lock; what comes from the cache is not told.

    seconds : spent on it. A kernel that another calls is compiled within it.
    """

    def __init__(self) -> None:
        self.seconds = self._begin = 0.0
        self._depth = 0

    def on_start(self, _event: event.Event) -> None:
        """A function begins to be compiled."""
        if self._depth == 0:
            if self.seconds == 0:
                _LOG.info("compiling kernels, which later runs on this machine will load")
            self._begin = time.perf_counter()
        self._depth += 1

    def on_end(self, _event: event.Event) -> None:
        """A function is compiled, or cannot be."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._begin


_COMPILATIONS = _Compilations()
event.register("numba:compile", _COMPILATIONS)


def compile_seconds() -> float:
    """Wall seconds that this process has spent compiling kernels so far."""
    return _COMPILATIONS.seconds
