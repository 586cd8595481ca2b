"""What numba and llvmlite keep to themselves and this package uses, all of it: another release may change it.

tests/test_numba_private.py says in words what has changed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import newpassmanagers
from llvmlite.binding.ffi import ObjectRef
from numba.core import cgutils
from numba.core.event import Event, Listener
from numba.core.event import register as listen

__all__ = ["Event", "Listener", "listen"]  # and what is defined below
_CONFIG: Any = numba.config  # its stubs leave the settings out
_DECORATING = threading.Lock()
_BLAS = "scipy.linalg.cython_blas"

# -- for intrinsics: code that they emit -----------------------------------------------------------
# item_pointer(context, builder, array type, array, [index], wraparound=False): where an item is.
item_pointer: Any = cgutils.get_item_pointer
# library_function(module, type, name): a function of C, or of LLVM.
library_function: Any = cgutils.get_or_insert_function
# for_each(builder, count), for_range(builder, begin, end, step): contexts with a loop.
for_each: Any = cgutils.for_range
for_range: Any = cgutils.for_range_slice
# stack_slot(builder, type), filled_slot(builder, value): memory of the function.
stack_slot: Any = cgutils.alloca_once
filled_slot: Any = cgutils.alloca_once_value

# -- for kernels -----------------------------------------------------------------------------------
# Option of numba.njit: no array is made, and no references to those at hand are counted.
UNCOUNTED: dict[str, Any] = {"_nrt": False}


def cache_setting() -> str:
    """The folder for compiled kernels that numba is set to, "" for none."""
    return str(_CONFIG.CACHE_DIR)


@contextmanager
def cached_in(folder: Path) -> Iterator[None]:
    """Functions that are decorated within it are kept in this folder."""
    with _DECORATING:
        before, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(folder)
        try:
            yield
        finally:
            _CONFIG.CACHE_DIR = before


def is_compiled(value: Any) -> bool:
    """Whether a value is a function that numba compiles, or an intrinsic."""
    return type(value).__module__.startswith("numba.")


# -- what numba says of its work -------------------------------------------------------------------
# Kinds of events: a function is compiled; numba's lock is asked for and given back.
COMPILE, LOCK = "numba:compile", "numba:compiler_lock"


def saved_in(happened: Event) -> Path | None:
    """The folder where the function of a COMPILE event is kept."""
    folder = happened.data["dispatcher"].stats.cache_path
    return None if folder is None else Path(folder)


# -- time and memory -------------------------------------------------------------------------------
def import_without_blas() -> None:
    """To see whether numpy.correlate could use BLAS, numba imports scipy.linalg with its first kernel: 0.2 s and 16
    MiB, which are saved where it cannot be imported for that moment."""
    if _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[_BLAS]


def free_pass_managers() -> None:
    """numba makes a pass manager for every function that it compiles, and llvmlite (0.45 to 0.50) never frees one: its
    classes inherit an empty method before the one that frees. That kept 63 MiB of the 130 that kernels of pivots
    took."""
    for manager in (newpassmanagers.FunctionPassManager, newpassmanagers.ModulePassManager):
        if manager._dispose is ObjectRef._dispose:
            manager._dispose = newpassmanagers.NewPassManager._dispose
