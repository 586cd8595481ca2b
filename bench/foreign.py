"""How much of the machine somebody else used while we measured.

A sample counts as quiet by what other processes used, never by its own timing: that would be
choosing the results one likes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

_BUSY_FIELDS = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal of /proc/stat's first line


def _machine_busy_seconds() -> float:
    """CPU seconds that all cores together have been busy since the start of the machine."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(fields[i]) for i in _BUSY_FIELDS) / os.sysconf("SC_CLK_TCK")


def own_cpu_seconds() -> float:
    """CPU seconds of this process, all threads, and of children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


class ForeignWatch:
    """Watches from its making; `cores` is what others have used since, in cores (1.0 = one core).

    The counters tick in hundredths of a second: below half a second the figure is coarse.
    """

    def __init__(self) -> None:
        self._begin, self._busy, self._own = time.perf_counter(), _machine_busy_seconds(), own_cpu_seconds()

    @property
    def cores(self) -> float:
        """Mean number of cores that other processes kept busy, 0 or more."""
        elapsed = max(time.perf_counter() - self._begin, 1e-9)
        foreign = _machine_busy_seconds() - self._busy - (own_cpu_seconds() - self._own)
        return max(0.0, foreign / elapsed)
