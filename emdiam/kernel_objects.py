"""Compiled kernels as objects: files of machine code that LLVM loads without numba.

A file contains the SHA-256 of its rest, a line with the functions that the object calls, and the object (ELF). It is
written under another name and renamed, so that it is never incomplete, even if several processes write it; later damage
is detected, and the kernel compiled again.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
from llvmlite import binding

from .kernel_code import DTYPES, MISMATCH_RESULT, Array, Kind

_LOG = logging.getLogger("emdiam")
_HASH_BYTES = 32
Caller = Callable[[tuple[Any, ...]], Any]


# -- arguments -------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """The argument with exactly the types that callers expect, in place of array subclasses, equivalent dtypes with
    other names, and named tuples."""
    if isinstance(value, np.ndarray):
        return np.asarray(value).view(np.dtype(value.dtype.str))
    if isinstance(value, np.generic):
        return np.dtype(value.dtype.str).type(value)
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)


def kind_of(value: Any) -> Kind:
    """The kind of a plain argument. Raises TypeError for other types, OverflowError for a number that is too large."""
    if isinstance(value, tuple):
        return tuple(map(kind_of, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return Array(_named(value.dtype), value.ndim, layout, flags.writeable)
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"a kernel is given {value}: it takes numbers of 64 bits")
        return "int64" if value < 1 << 63 else "uint64"
    return _named(np.dtype(type(value)) if isinstance(value, bool | float) else getattr(value, "dtype", value))


def _named(dtype: Any) -> str:
    name = getattr(dtype, "name", "")
    if name not in DTYPES or not dtype.isnative:
        raise TypeError(f"a kernel is given {dtype!r}: it takes arrays and numbers of {', '.join(DTYPES)}, and tuples")
    return str(name)


# -- processors ------------------------------------------------------------------------------------
# Levels of the x86-64 psABI, the lowest first, and the features that each adds, by LLVM's names.
LEVELS = {"x86-64-v2": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3",
          "x86-64-v3": "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave",
          "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl"}
SHIPPED = Path(__file__).with_name("objects")  # filled by scripts/make_kernels.py


def _release_of_numba() -> str:
    """The release of numba, without importing it. The metadata folder beside it has the release in its name; reading
    the folder's content takes 15 ms."""
    numba = find_spec("numba")
    if numba is not None and numba.origin is not None:
        beside = [folder.stem for folder in Path(numba.origin).parents[1].glob("numba-*.dist-info")]
        if len(beside) == 1:
            return beside[0].removeprefix("numba-")
    from importlib import metadata

    return metadata.version("numba")


@cache
def processor() -> str:
    """Name and features of this machine's processor, and the versions of the code generators."""
    versions = f"numba {_release_of_numba()} llvmlite {llvmlite.__version__} numpy {np.__version__}"
    features = binding.get_host_cpu_features().flatten()
    return f"{binding.get_host_cpu_name()} {features} {versions} {object.__basicsize__}"


@cache
def levels() -> tuple[str, ...]:
    """Levels of x86-64 that this processor supports and that objects are shipped for, the highest first."""
    features, kept = binding.get_host_cpu_features(), list[str]()
    for level, needed in LEVELS.items():
        if not all(features.get(name) for name in needed.split()):
            break
        kept.append(level)
    return tuple(level for level in reversed(kept) if (SHIPPED / level).is_dir())


def interface(level: str) -> str:
    """The properties, other than its sources, that a shipped object for a level depends on: kernel_code describes the
    fields that it reads in place. The release of numba that compiled it does not matter."""
    return f"{level} {object.__basicsize__} numpy {np.__version__.partition('.')[0]}"


@cache
def machine(level: str | None = None) -> binding.TargetMachine:
    """The code generator for this processor, or for all processors of a level."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = "" if level else binding.get_host_cpu_features().flatten()
    return binding.Target.from_default_triple().create_target_machine(
        opt=3, cpu=level or binding.get_host_cpu_name(), features=features,
        reloc="default", codemodel="jitdefault", jit=True)


# -- loading ---------------------------------------------------------------------------------------
@cache
def _engine() -> binding.ExecutionEngine:
    """The engine that loads all objects of the process."""
    binding.load_library_permanently("libm.so.6")
    for name in _PYTHON:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        binding.add_symbol(name, address)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine())


_PYTHON = tuple("PyTuple_Size PyTuple_GetItem PyTuple_New PyTuple_SetItem PyLong_AsLongLong PyLong_AsUnsignedLongLong"
                " PyLong_FromLongLong PyLong_FromUnsignedLongLong PyFloat_FromDouble PyBool_FromLong"
                " PyBytes_FromStringAndSize PyObject_CallFunctionObjArgs PyErr_Occurred PyErr_Clear Py_IncRef Py_DecRef"
                " PyEval_SaveThread PyEval_RestoreThread".split())


def _fail(pickled: bytes) -> None:
    """Raise the exception that a kernel raised."""
    if not pickled:
        raise RuntimeError("a kernel has failed without a reason")
    kind, arguments, _ = pickle.loads(pickled)
    raise kind(*arguments)


# See kernel_code.
_KEPT: Any = (MISMATCH_RESULT, None, _fail, True, np.ndarray, tuple, int, float, bool,
         *(one for name in DTYPES for one in (np.dtype(name).type, np.dtype(name))))
_TABLE = (ctypes.py_object * len(_KEPT))(*_KEPT)


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("documentation", ctypes.c_char_p))


_ONE_ARGUMENT = 0x8  # METH_O


def missing(code: bytes) -> list[str]:
    """Functions that an object calls and that this process lacks."""
    _engine()
    return [name for name in code.partition(b"\n")[0].decode().split() if not binding.address_of_symbol(name)]


def load(code: bytes, symbol: str) -> Caller:
    """The function `symbol` of an object, which calls a kernel with a tuple of arguments."""
    if absent := missing(code):
        raise RuntimeError(f"{symbol} calls {', '.join(absent)}, which this process does not have")
    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(code.partition(b"\n")[2]))
    engine.finalize_object()
    table = ctypes.c_void_p.from_address(engine.get_global_value_address(f"{symbol}.table"))
    table.value = ctypes.addressof(_TABLE)
    method = _Method(symbol.encode(), engine.get_function_address(symbol), _ONE_ARGUMENT, None)
    # The function keeps a pointer to it, and may outlive this module when the process ends.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    made: Caller = make(ctypes.addressof(method), None, None)
    return made


# -- files -----------------------------------------------------------------------------------------
def read(file: Path) -> bytes | None:
    """The object in a file; None if it is missing or incomplete."""
    try:
        kept = file.read_bytes()
    except OSError:
        return None
    code = kept[_HASH_BYTES:]
    return code if hashlib.sha256(code).digest() == kept[:_HASH_BYTES] else None


def write(file: Path, code: bytes) -> None:
    """Store an object, or log why that failed."""
    beside = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_bytes(hashlib.sha256(code).digest() + code)
        beside.replace(file)
    except OSError as error:
        _LOG.warning("a compiled kernel cannot be kept in %s: %s", file.parent, error.strerror)
        with suppress(OSError):
            beside.unlink()
