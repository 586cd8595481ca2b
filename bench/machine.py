"""The machine and the versions that figures belong to."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("emdiam", "numpy", "numba", "zarr", "numcodecs", "pyarrow", "scipy", "networkit", "igraph",
             "networkx")


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _versions() -> dict[str, str]:
    """Versions of the packages that are installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def facts() -> dict[str, Any]:
    """CPU, cores (of the machine, and that this process may use), memory in bytes, load, versions."""
    return {
        "cpu": _cpu_model(), "cores": os.cpu_count(), "usable_cores": len(os.sched_getaffinity(0)),
        "memory_bytes": _memory_bytes(), "load_average": os.getloadavg()[0],
        "kernel": platform.release(), "python": sys.version.split()[0], "versions": _versions(),
    }
