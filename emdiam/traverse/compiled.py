"""Compiling the kernels once, in child processes that leave them in numba's cache.

Compiling takes a minute or two and over 200 MB; loading takes a fraction of a second and a few MB. So
children compile, each a part of the kernels and two at a time, and every part leaves a stamp beside
numba's cache files; the process of the run only loads, and a memory plan counts what it then holds as
its base. One process at a time compiles, others wait for it (a lock beside the stamps); jit.py sees to it
that its children do not get into each other's way.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numba
import numpy as np

from ..errors import EmdiamError

# Whose files hold kernels that a run may need, or what they are made of.
_ROOMS = ("conversion", "dask", "engine", "generators", "gpu", "methods/approx", "methods/exact", "sorting", "store",
          "stream", "traverse", "weighted")
# The longest first, so that two at a time end together.
_PARTS = ("graph", "approx", "workers", "boxes")
_AT_ONCE = 2
_TICK_SECONDS = 0.2
_Tick = Callable[[], None]


def ensure_compiled(
    dtype: np.dtype[Any] | str = "uint32", tick: _Tick | None = None, *, family: str = "approx", workers: bool = False,
) -> float:
    """Compile the kernels of a family for this id dtype, unless that was done before.

    tick : called five times a second meanwhile; if it raises, the children are ended. family : "exact",
    or "approx" for approximations too. workers : those of the ranks of many machines, too. Returns the
    seconds it took (0.0 if there was nothing to do). Raises EmdiamError if a child fails.
    """
    wanted = {"graph", "boxes"} | ({"approx"} if family == "approx" else set()) | ({"workers"} if workers else set())
    dtype, tick = np.dtype(dtype), tick or _nothing
    if not _missing(dtype, wanted):
        return 0.0
    begin = time.perf_counter()
    with _only_one(tick):
        # Asked again: another process may have compiled them meanwhile.
        _compile(dtype, _missing(dtype, wanted), tick)
    return time.perf_counter() - begin


def _nothing() -> None:
    """What is called meanwhile where nobody listens."""


def _missing(dtype: np.dtype[Any], wanted: set[str]) -> list[str]:
    return [part for part in _PARTS if part in wanted and not _stamp(dtype, part).exists()]


def _cache_folder() -> Path:
    """Where numba keeps the cache of this package."""
    configured = str(getattr(numba.config, "CACHE_DIR", ""))
    if configured:
        return Path(configured)
    beside = Path(__file__).parent / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
    except OSError:
        return Path.home() / ".cache" / "numba"
    return beside if os.access(beside, os.W_OK) else Path.home() / ".cache" / "numba"


@functools.cache
def _what_is_compiled() -> str:
    """Digest of the sources, the compiler and the processor."""
    digest = hashlib.blake2b(digest_size=8)
    here = Path(__file__).parent.parent
    for room in _ROOMS:
        for file in sorted((here / room).glob("*.py")):
            digest.update(file.read_bytes())
    digest.update(f"{numba.__version__} {np.__version__} {sys.version} {here}".encode())
    from llvmlite import binding

    digest.update(binding.get_host_cpu_name().encode())
    return digest.hexdigest()


def _stamp(dtype: np.dtype[Any], part: str) -> Path:
    return _cache_folder() / f"emdiam-{part}-{dtype}-{_what_is_compiled()}.stamp"


@contextmanager
def _only_one(tick: _Tick) -> Iterator[None]:
    """Hold the lock in the cache folder, waiting for whoever has it."""
    folder = _cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "emdiam-kernels.lock", "a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                tick()
                time.sleep(_TICK_SECONDS)
        yield


def _compile(dtype: np.dtype[Any], parts: list[str], tick: _Tick) -> None:
    """Compile the parts, two at a time."""
    waiting = list(parts)
    running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < _AT_ONCE:
                running[waiting[0]] = _start(dtype, waiting[0])
                del waiting[0]
            for part in [part for part, (child, _) in running.items() if child.poll() is not None]:
                _finish(dtype, part, *running.pop(part))
            tick()
            time.sleep(_TICK_SECONDS)
    finally:
        for child, complaint in running.values():
            child.kill()
            child.wait()
            complaint.close()


def _start(dtype: np.dtype[Any], part: str) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """A process that compiles, and the file that takes what it has to say."""
    complaint = tempfile.TemporaryFile()
    command = [sys.executable, "-m", "emdiam.traverse.warm", str(dtype), part]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=complaint), complaint


def _finish(dtype: np.dtype[Any], part: str, child: subprocess.Popen[bytes], complaint: IO[bytes]) -> None:
    """Leave the stamp of a part that is compiled. Raises EmdiamError if it is not."""
    with complaint:
        if child.returncode:
            complaint.seek(0)
            said = complaint.read().decode(errors="replace").strip()
            raise EmdiamError(f"compiling the kernels failed: {said[-400:]}")
    _stamp(dtype, part).touch()
