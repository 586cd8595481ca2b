"""Files that this process has open, so that a test can say that none is left."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress


def open_files() -> Counter[str]:
    """Paths that are open, with how often; not sockets and pipes, which threads of libraries open as they like.

    Compare with `not open_files() - before`: a file of an earlier test may be closed meanwhile.
    """
    paths: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            paths[os.readlink(f"/proc/self/fd/{number}")] += 1
    return Counter({path: times for path, times in paths.items()
                    if path.startswith("/") and not path.startswith("/proc/")})
