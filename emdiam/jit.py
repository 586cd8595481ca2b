"""`@kernel`: functions compiled by numba at their first call, without the GIL, and kept as objects that need no numba.

Objects are kept below $NUMBA_CACHE_DIR, or else below $XDG_CACHE_HOME/emdiam (~/.cache/emdiam), in folders named by
digests of everything that a module's kernels are compiled from, which includes walks, visitors and constants of other
files. So a folder never has code from other sources. A process that finds the object of a kernel, for the kinds of its
arguments and for the processor, loads it (kernel_objects.py); else it imports numba (numba_private.py) and compiles it.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import importlib
import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from . import kernel_code, kernel_progress
from .links import of_another

if TYPE_CHECKING:
    from .kernel_objects import Caller

_LOG = logging.getLogger("emdiam")
_LOCK = threading.RLock()  # for compiling and loading


class Uncovered(Exception):
    """The replacement of a kernel does not support this case, and has changed nothing."""


class NumbaFunction:
    """A function that numba compiles. kind : kernel, inlined or intrinsic. native : numba's version of it, once it is
    needed."""

    def __init__(self, function: Any, kind: str) -> None:
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.py_func, self.kind = function, kind
        self.native: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it in Python, inside a kernel that is not compiled."""
        return self.py_func(*arguments)


class CompiledKernel(NumbaFunction):
    """A function that Python calls. callers : of loaded objects, the last used first. uncompiled : a numpy version for
    few items, or None. patience : CPU seconds that all uncompiled versions may take in a process before kernels are
    compiled, which limits the loss of a run if no objects are made."""

    patience = 0.3

    def __init__(self, function: Any, uncompiled: Any = None) -> None:
        super().__init__(function, "kernel")
        self.callers: list[Caller] = []
        self._by_kinds: dict[Any, Caller] = {}
        self._uncompiled, self._looked_for = uncompiled, False

    def __call__(self, *arguments: Any) -> Any:
        for caller in self.callers:
            result = caller(arguments)
            if result is not _MISMATCH:
                return result
        if self._looked_for:  # the search failed, and costs more than a call with few items
            result = self._called_uncompiled(arguments)
            if result is not _MISMATCH:
                return result
        return self._called_anew(arguments)

    def _called_anew(self, arguments: tuple[Any, ...]) -> Any:
        """Call it with arguments that no caller has accepted directly."""
        from . import kernel_objects

        expected = self.py_func.__code__.co_argcount
        if len(arguments) != expected:
            raise TypeError(f"{self.__name__}() takes {expected} arguments, not {len(arguments)}")
        same = kernel_objects.plain(arguments)
        kinds = kernel_objects.kind_of(same)
        caller = self._by_kinds.get(kinds)
        if caller is None:
            with _LOCK, _preparing():
                caller = self._by_kinds.get(kinds) or self._loaded(kinds)
                self._looked_for = caller is None
            if caller is None:
                result = self._called_uncompiled(same)
                if result is not _MISMATCH:
                    return result
                with _LOCK, _preparing():
                    caller = self._by_kinds.get(kinds) or self._prepared(same, kinds)
            self._by_kinds[kinds] = caller
        self.callers = [caller, *(other for other in self.callers if other is not caller)]
        result = caller(same)
        if result is _MISMATCH:
            raise RuntimeError(f"{self.__name__}() does not know its arguments again: {kinds}")
        return result

    def _called_uncompiled(self, arguments: tuple[Any, ...]) -> Any:
        """The result of the uncompiled version, if there are few items and such calls have not taken long so far; else
        the mismatch result. One thread at a time."""
        if self._uncompiled is None or _Spent.uncompiled >= self.patience or _items(arguments) > _FEW:
            return _MISMATCH
        result = _MISMATCH
        with _TURN:
            begin = time.thread_time()
            with np.errstate(over="ignore"), suppress(Uncovered):
                result = self._uncompiled(*arguments)
            _Spent.uncompiled += time.thread_time() - begin
        return _plain_result(result)

    def _loaded(self, kinds: Any) -> Caller | None:
        """The caller of a shipped or earlier object for these kinds, or None."""
        from . import kernel_objects

        for level in kernel_objects.levels():
            symbol, place = self.name_of(kinds, kernel_objects.interface(level))
            code = kernel_objects.read(kernel_objects.SHIPPED / level / place)
            if code is not None and not kernel_objects.missing(code):
                _Spent.used.append((self.__module__, place))
                return kernel_objects.load(code, symbol)
        folder, (symbol, place) = cache_folder(), self.name_of(kinds, kernel_objects.processor())
        code = None if folder is None else kernel_objects.read(folder / place)
        if code is None or kernel_objects.missing(code):
            return None
        _Spent.used.append((self.__module__, place))
        return kernel_objects.load(code, symbol)

    def _prepared(self, arguments: tuple[Any, ...], kinds: Any) -> Caller:
        """Compile the kernel for these kinds, and keep the object."""
        from . import kernel_objects

        folder, (symbol, place) = cache_folder(), self.name_of(kinds, kernel_objects.processor())
        with _compiling():
            from . import numba_private

            code = numba_private.compile_object(self, symbol, arguments, kinds, kernel_objects.machine())
        _Spent.used.append((self.__module__, place))
        if folder is not None:
            kernel_objects.write(folder / place, code)
        return kernel_objects.load(code, symbol)

    def name_of(self, kinds: Any, target: str) -> tuple[str, str]:
        """The function in the object for these kinds, and the object's file name. target : what the object is made for,
        kernel_objects.processor() or an interface()."""
        sources = source_digest(self.__module__)
        parts = (self.__module__, self.__qualname__, self.py_func.__code__.co_firstlineno, _inside(self.py_func), kinds,
                 target)
        symbol = f"{self.__name__}.{hashlib.sha256(f'{sources} {parts!r}'.encode()).hexdigest()[:24]}"
        return symbol, f"{sources}/{symbol}.o"


_MISMATCH = kernel_code.MISMATCH_RESULT
_FEW = 3 << 16  # in all arrays: a block of ids, and the state of some thousand vertices
_TURN = threading.RLock()


def _items(value: Any) -> int:
    """Number of items in an argument."""
    return sum(map(_items, value)) if isinstance(value, tuple) else value.size if isinstance(value, np.ndarray) else 0


def _plain_result(value: Any) -> Any:
    """A result with Python's numbers, alone or in a tuple, as from a compiled kernel."""
    return tuple(map(_plain_result, value)) if isinstance(value, tuple) else (
        value.item() if isinstance(value, np.generic) else value)


def kernel(function: Any = None, *, uncompiled: Any = None) -> Any:
    """Compile a function at its first call for each kind of arguments, or load it; releases the GIL.

    uncompiled : a numpy version for few items if no object exists; True: the function itself, run by Python; on_lists:
    the same, on lists."""
    if function is None:
        return lambda decorated: kernel(decorated, uncompiled=uncompiled)
    if uncompiled is on_lists:
        uncompiled = on_lists(function)
    return CompiledKernel(function, function if uncompiled is True else uncompiled)


def on_lists(function: Any) -> Any:
    """The function run by Python on lists in place of its one-dimensional arrays, whose numbers are then Python's and
    never overflow."""
    def call(*arguments: Any) -> Any:
        lists = [value.tolist() if isinstance(value, np.ndarray) else value for value in arguments]
        result = function(*lists)
        for value, items in zip(arguments, lists, strict=True):
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value[:] = items
        return result

    return call


def inlined(function: Any) -> Any:
    """A function that is compiled inline into the kernel that calls it. It allocates nothing, so references need not be
    counted: otherwise taking arrays out of the state of a walk would count them at every row (up to nine times the CPU
    seconds)."""
    return NumbaFunction(function, "inlined")


def intrinsic(function: Any) -> Any:
    """A function that emits LLVM code where a kernel calls it, see numba.extending.intrinsic; numba is only loaded when
    such a kernel is compiled."""
    return NumbaFunction(function, "intrinsic")


class Later:
    """A module that is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


# For intrinsics: types of LLVM and of numba, and the module numba_private.
ir, types, emitting = Later("llvmlite.ir"), Later("numba.types"), Later("emdiam.numba_private")


def _inside(function: Any) -> list[Any]:
    """The values in the closure of a function."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [(value.__qualname__, _inside(value.py_func)) if isinstance(value, NumbaFunction) else value
            for value in cells]


# -- the folder of compiled kernels ----------------------------------------------------------------
@cache
def cache_folder() -> Path | None:
    """The folder of compiled kernels; None if it cannot be written, or if other users may write there, whose code this
    process would run: then every process compiles."""
    named = os.environ.get("NUMBA_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "emdiam")
    try:
        # Resolved, so that later no link is followed that another user may have changed.
        folder = Path(named).expanduser().resolve()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable, distrusted = os.access(folder, os.W_OK), _distrusted(folder)
    except (OSError, RuntimeError):  # RuntimeError: no home, or a cycle of links
        writable, distrusted = False, None
    if distrusted is not None:
        _LOG.warning("compiled kernels are not kept in %s, since %s, and so could give this process code to run: set"
                     " NUMBA_CACHE_DIR to a folder of your own", named, distrusted)
    elif not writable:
        _LOG.warning("compiled kernels cannot be kept in %s: set NUMBA_CACHE_DIR to a folder for them", named)
    return folder if writable and distrusted is None else None


def _distrusted(folder: Path) -> str | None:
    """The reason why others could put code there, as a clause; None if only this user, root, and the folder's group
    can. Raises OSError."""
    own, above = os.stat(folder), os.stat(folder.parent)
    if of_another(own):
        return "it belongs to another user"
    if own.st_mode & stat.S_IWOTH or (above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX):
        return "any user may write there"
    return None


@cache
def source_digest(module: str) -> str:
    """Digest of everything that the kernels of a module (by its name) are compiled from: its file, the files of
    compiled functions from other modules, the values of constants, and the compiling modules."""
    names = vars(sys.modules[module])
    digest = hashlib.sha256(Path(names["__file__"]).name.encode())
    for file in (*_compilers(), names["__file__"]):
        digest.update(Path(file).read_bytes())
    for name, value in sorted(names.items()):
        if isinstance(value, NumbaFunction) and value.__module__ != module:
            digest.update(source_digest(value.__module__).encode())
        elif isinstance(value, int | float | str | tuple | np.generic) and not name.startswith("__"):
            digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()[:16]


@cache
def _compilers() -> list[Path]:
    """Files of this package that make objects of kernels."""
    names = "jit.py", "kernel_code.py", "kernel_call.ll", "kernel_objects.py", "numba_private.py", "kernel_runtime.ll"
    return [Path(__file__).with_name(name) for name in names]


# -- time of compiling -----------------------------------------------------------------------------
class _Spent:
    """Figures of this process for kernels, all under the lock. preparing : wall seconds for compiling and loading.
    kernels : number compiled. expected : number to compile; pace : seconds for one of them; None if unknown. used :
    module and file of each that was called. uncompiled : CPU seconds of uncompiled versions."""

    preparing = uncompiled = 0.0
    kernels = 0
    expected: int | None = None
    pace: float | None = None
    used: ClassVar[list[tuple[str, str]]] = []


@contextmanager
def all_compiled() -> Iterator[None]:
    """Context in which kernels without an object are compiled, even for few items."""
    before, CompiledKernel.patience = CompiledKernel.patience, 0.0
    try:
        yield
    finally:
        CompiledKernel.patience = before


@contextmanager
def _preparing() -> Iterator[None]:
    """Count the seconds."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        _Spent.preparing += time.perf_counter() - begin


@contextmanager
def _compiling() -> Iterator[None]:
    """Count a kernel and its seconds, and show a message.

    Garbage is collected after a kernel, not during it: searching for cycles among objects that numba needs until the
    end took a sixth of the time. One kernel leaves 4 MiB behind.
    """
    if not _Spent.kernels:
        _expect()
    done, total = _Spent.kernels, _Spent.expected
    if total is not None and done >= total:
        total = None
    # The first kernel may take as long as twelve others.
    pace = kernel_progress.Spent.compiling / done if done > 3 else _Spent.pace
    left = None if total is None or pace is None else pace * (total - done)
    begin, collecting = time.perf_counter(), gc.isenabled()
    gc.disable()
    try:
        with kernel_progress.shown(done, total, left):
            yield
    finally:
        kernel_progress.Spent.compiling += time.perf_counter() - begin
        _Spent.kernels += 1
        if collecting:
            gc.enable()
            gc.collect(0)


def _expect() -> None:
    """Find out the number of kernels to compile, before the first; store the kernels used at the end of the process."""
    folder = cache_folder()
    kernels, _Spent.pace = kernel_progress.last(folder)
    places = kernels or [(module, f"*/{name}.*.o") for module, name in kernel_progress.usual()]
    _Spent.expected = sum(not _is_there(folder, module, place) for module, place in places) or None
    atexit.register(lambda: kernel_progress.keep(folder, _Spent.used, compile_seconds() / max(1, _Spent.kernels)))


def _is_there(folder: Path | None, module: str, place: str) -> bool:
    """Whether the object in this file, shipped or in the folder, is from the present sources, as far as these are
    loaded. place : may contain *."""
    from . import kernel_objects

    sources, _, name = place.partition("/")
    if hasattr(sys.modules.get(module), "__file__"):  # the main module has none if its code comes from a string
        if sources not in ("*", source_digest(module)):
            return False
        sources = source_digest(module)
    folders = [*(kernel_objects.SHIPPED / level for level in kernel_objects.levels()), *([folder] if folder else [])]
    return any(True for one in folders for _ in one.glob(f"{sources}/{name}"))


def compile_seconds() -> float:
    """Wall seconds that this process has spent compiling kernels so far."""
    return kernel_progress.Spent.compiling


def kernel_seconds() -> float:
    """Wall seconds that this process has spent compiling kernels and loading those from the cache so far."""
    return _Spent.preparing


def compiled_kernels() -> int:
    """Number of kernels, counted for each combination of types, that this process has compiled so far."""
    return _Spent.kernels


def working_seconds() -> float:
    """Wall seconds, from an arbitrary start, without time for compiling or loading kernels."""
    return time.perf_counter() - kernel_seconds()
