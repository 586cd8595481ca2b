"""Sizes, counts, durations and the memory of this process and machine.

Sizes are bytes as int, durations seconds as float; texts like "4GiB", "512MB", "1.5g", "5min" are
parsed here and nowhere else.
"""

from __future__ import annotations

import math
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from .errors import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_SIZE = r"^\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*$"
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|h|d|)\s*$"
# More than any machine has, and so far below 2^63 that sums of a few sizes still fit in 64-bit integers.
_MOST_BYTES = 1 << 60
# The memory of a program varies a little between processes (malloc, imports). The least budget that a refusal names is
# this much above the refused one, so that the next process accepts it.
BASE_JITTER = 4 << 20
_COMPILER_BYTES = 50 << 20  # numba and its imports
_SYSTEM_PIECE, _PAGE_BYTES = 1 << 14, os.sysconf("SC_PAGE_SIZE")
_POWER = r"^\s*(\d{1,20})\s*(?:\^|\*\*)\s*(\d{1,4})\s*$"


def parse_size(text: str | int) -> int:
    """Bytes from an int or a text: "4GiB", "512MB", "768mib", "100000". Raises InputError."""
    if isinstance(text, int):
        size = text
    else:
        match = re.match(_SIZE, text, re.IGNORECASE)
        if not match or match.group(2).lower() == "i":
            raise InputError("not a size", text=text, remedy="write it like 4GiB, 512MB or 1000000")
        size = int(min(float(match.group(1)) * _UNITS[match.group(2).lower()], 2.0 * _MOST_BYTES))
    if size > _MOST_BYTES:
        raise InputError(f"a size is at most {_MOST_BYTES >> 40} TiB", text=str(text))
    if size <= 0:
        raise InputError("a size must be positive", text=str(text))
    return size


def parse_count(text: str | int) -> int:
    """A count from an int or a text: "2^20", "1e6", "1048576". Raises InputError."""
    if isinstance(text, int):
        return text
    match = re.match(_POWER, text)
    if match:
        base, exponent = int(match.group(1)), int(match.group(2))
        if exponent > 200:
            raise InputError("the count is too large", text=text)
        return base**exponent
    try:
        value = float(text) if not text.strip().isdigit() else int(text)
        count = int(value)
    except (ValueError, OverflowError):
        raise InputError("not a count", text=text, remedy="write it like 2^20, 1e6 or 1048576") from None
    if count != value:
        raise InputError("a count must be whole", text=text)
    return count


def parse_length(text: str | int | float) -> int | float:
    """A distance from a number or a text: 88, "88", "12.5", "1e3"; whole numbers without a point are ints. Raises
    InputError for other texts, infinite and negative numbers."""
    try:
        length = text if isinstance(text, int | float) else int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        raise InputError("not a length", text=str(text), remedy="write it like 88 or 12.5") from None
    if not 0 <= length < math.inf:
        raise InputError("a length is a number from 0 on", text=str(text))
    return length


def parse_duration(text: str | int | float) -> float:
    """Seconds from a number or a text: 90, "10s", "5min", "1.5 h", "2d", "250ms". Raises InputError."""
    if isinstance(text, int | float):
        seconds = float(text)
    else:
        match = re.match(_DURATION, text, re.IGNORECASE)
        if not match:
            raise InputError("not a duration", text=text, remedy="write it like 90, 10s, 5min or 8h")
        seconds = float(match.group(1)) * _SECONDS[match.group(2).lower()]
    if not 0 < seconds < float("inf"):
        raise InputError("a duration must be positive", text=str(text))
    return seconds


def format_size(size: int | float) -> str:
    """Bytes as a short text with a binary unit: 1536 -> "1.5 KiB"."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


SHORTEST_SHOWN = 0.01  # below it, differences between durations do not matter


def format_seconds(seconds: float) -> str:
    """A duration as a short text: "<0.01 s", "0.12 s", "18 s", "3 min 05 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= SHORTEST_SHOWN else "<0.01 s" if seconds > 0 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_fine_seconds(seconds: float) -> str:
    """The same, in milliseconds for short durations that are compared: "7.6 ms"."""
    return f"{1000 * seconds:.2g} ms" if 0.00005 <= seconds < 0.01 else format_seconds(seconds)


def outwards(low: float, high: float) -> tuple[str, str]:
    """The ends of an interval with four decimals, rounded outwards."""
    return f"{math.floor(low * 10_000) / 10_000:.4f}", f"{math.ceil(high * 10_000) / 10_000:.4f}"


def mean_text(low: float | None, high: float | None) -> str:
    """A proved interval of a mean distance; None without pairs."""
    if low is None or high is None:
        return "no mean distance, since no two vertices are connected"
    return "mean distance from {} to {}".format(*outwards(low, high))


def format_count(number: int, one: str, many: str | None = None) -> str:
    """A number of things: "1 edge", "2,048 edges". one : the singular; many : the plural, if it is not one + "s"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def system_text(path: str) -> str:
    """The content of a system file. A small run reads a dozen of them, and a file object and a Path take several times
    the system's own time. Raises OSError."""
    file, parts = os.open(path, os.O_RDONLY | os.O_CLOEXEC), []
    try:
        while part := os.read(file, _SYSTEM_PIECE):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts).decode(errors="surrogateescape")


def current_rss_bytes() -> int:
    """The resident set of this process now, in bytes. Read from /proc, like the peak: psutil takes 15 ms to import."""
    return int(system_text("/proc/self/statm").split()[1]) * _PAGE_BYTES


def program_rss_bytes() -> int:
    """The resident set of this process now, in bytes, plus the memory that numba will take when a kernel has to be
    compiled, if the program has kernels and has not loaded numba."""
    waiting = "emdiam.jit" in sys.modules and "numba" not in sys.modules
    return current_rss_bytes() + (_COMPILER_BYTES if waiting else 0)


def peak_rss_bytes(process: int | None = None) -> int:
    """The peak resident set of a process so far, in bytes; None: of this process. From VmHWM of Linux, as getrusage
    includes the parent's peak. Raises OSError, also for a process that has ended."""
    text = system_text(f"/proc/{process or 'self'}/status")
    match = re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    if match is None:
        raise ProcessLookupError("the process has ended")
    return int(match[1]) << 10


class MemoryFigures:
    """The memory figures of a report, in bytes: the limit, and the measured peak of the process so far, which includes
    work before the call of the library. Either may be None."""

    memory_limit_bytes: int | None
    peak_rss_bytes: int | None

    @property
    def memory_limit_exceeded(self) -> bool:
        """Whether the peak passed the limit."""
        return (self.memory_limit_bytes is not None and self.peak_rss_bytes is not None
                and self.peak_rss_bytes > self.memory_limit_bytes)


def _cgroup_limit_bytes() -> int | None:
    """The smallest memory limit between this process's cgroup (v2 or v1) and the root."""
    limits: list[int] = []
    for line in system_text("/proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            root, name = "/sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        parts = group.strip("/").split("/")
        for depth in range(len(parts), -1, -1):
            with suppress(FileNotFoundError, NotADirectoryError):
                text = system_text("/".join((root, *parts[:depth], name))).strip()
                if text.isdigit():
                    limits.append(int(text))
    return min(limits) if limits else None


def _available_bytes() -> int:
    """Memory that the machine can give without swapping. In some containers the system reports that of the host: then
    at most the container's total."""
    text = system_text("/proc/meminfo")
    sizes = {name: int(size) << 10 for name, size in re.findall(r"^(\w+):\s*(\d+) kB", text, re.MULTILINE)}
    return min(sizes.get("MemAvailable", sizes["MemFree"]), sizes["MemTotal"])


def default_memory_bytes() -> int:
    """Default of --memory: nine tenths of the memory that the machine has available (plus that of this process), or of
    the cgroup's limit, whichever is smaller."""
    available, limit = _available_bytes() + current_rss_bytes(), _cgroup_limit_bytes()
    return min(available, available if limit is None else limit) * 9 // 10


def budget_bytes(memory_bytes: int | None) -> int:
    """The memory budget of a process: `memory_bytes`, or the default."""
    return default_memory_bytes() if memory_bytes is None else memory_bytes


def scratch_folder(scratch: str | Path | None) -> str:
    """The folder for large temporary files: /tmp is often memory, /var/tmp is on disk."""
    if scratch is not None:
        return str(scratch)
    if "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK):
        return "/var/tmp"
    import tempfile

    return tempfile.gettempdir()


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))
