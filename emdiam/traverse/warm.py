"""Compiling the kernels once, in a child process, and loading them from numba's cache here.

Compiling takes seconds and over 200 MB; loading takes a fraction of a second and a few MB. So a
child compiles (`python -m emdiam.traverse.warm uint32`) and leaves a stamp beside numba's cache
files; this process only loads, and a memory plan can count what it then holds as its base.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ..errors import EmdiamError

# Whose files hold kernels that a run may need, or what they are made of.
_ROOMS = ("approx", "dask", "exact", "gpu", "graph", "graph/generate", "stream", "traverse", "weighted")
_TICK_SECONDS = 0.2
_COLUMN_DTYPES = (np.uint8, np.uint16, np.uint32)


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


def _stamp(dtype: np.dtype[Any]) -> Path:
    digest = hashlib.blake2b(digest_size=8)
    here = Path(__file__).parent.parent
    for room in _ROOMS:
        for file in sorted((here / room).glob("*.py")):
            digest.update(file.read_bytes())
    digest.update(f"{numba.__version__} {np.__version__} {sys.version} {here}".encode())
    from llvmlite import binding

    digest.update(binding.get_host_cpu_name().encode())
    return _cache_folder() / f"emdiam-kernels-{dtype}-{digest.hexdigest()}.stamp"


def ensure_compiled(dtype: np.dtype[Any] | str = "uint32", tick: Callable[[], None] | None = None) -> float:
    """Compile all kernels for this id dtype in a child process unless that was done before.

    tick : called five times a second meanwhile; if it raises, the child is ended. Returns the seconds it
    took (0.0 if there was nothing to do). Raises EmdiamError if the child fails.
    """
    dtype = np.dtype(dtype)
    stamp = _stamp(dtype)
    if stamp.exists():
        return 0.0
    begin = time.perf_counter()
    code, complaint = _run_child(str(dtype), tick)
    if code != 0:
        raise EmdiamError(f"compiling the kernels failed: {complaint.strip()[-400:]}")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()
    return time.perf_counter() - begin


def _run_child(dtype: str, tick: Callable[[], None] | None) -> tuple[int, str]:
    """Exit code and standard error of the process that compiles."""
    command = [sys.executable, "-m", "emdiam.traverse.warm", dtype]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        try:
            while True:
                try:
                    complaint = child.communicate(timeout=_TICK_SECONDS)[1]
                    return child.returncode, complaint
                except subprocess.TimeoutExpired:
                    if tick is not None:
                        tick()
        except BaseException:
            child.kill()
            raise


@functools.cache
def load_kernels(dtype: np.dtype[Any] | str = "uint32", family: str = "exact") -> None:
    """Run every kernel of a family on a graph of 200 vertices, so that all are loaded (or compiled); once
    a process. family : "exact", or "approx" for approximations too."""
    from ..exact.warm_boxes import exercise_boxes
    from ..gpu.gather import exercise_gather
    from .warm_graph import exercise

    exercise(np.dtype(dtype), _COLUMN_DTYPES)
    exercise_boxes(_COLUMN_DTYPES)
    exercise_gather(np.dtype(dtype))
    if family == "approx":
        from ..approx.warm import exercise_approximations

        exercise_approximations(np.dtype(dtype), _COLUMN_DTYPES)


if __name__ == "__main__":
    from ..dask.warm import load_exchange

    load_kernels(sys.argv[1], "approx")
    load_exchange(np.dtype(sys.argv[1]))
