"""Part compile: every build of the registry, by several threads, so that later parts find it compiled.

CuPy keeps what it compiles on disk, by text and options.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from emdiam.gpu.registry import ENTRIES

from .setting import NO_TIME, Row, Setting, describe

CELL = "compile"
Build = tuple[str, str, dict[str, Any]]


def builds() -> list[Build]:
    """One entry of each build of each kernel file: (file, entry, macros)."""
    found: dict[Any, Build] = {}
    for entry in ENTRIES:
        for defines in entry.builds:
            found.setdefault((entry.file, tuple(sorted(defines.items()))), (entry.file, entry.entry, dict(defines)))
    return list(found.values())


def run(setting: Setting, chosen: list[Build] | None = None) -> Iterator[Row]:
    """A row for each build that fails, and one for all of them that there was time for; none if an earlier process has
    ended in it."""
    if CELL in setting.done:
        return
    chosen = builds() if chosen is None else chosen
    threads, start, late = len(os.sched_getaffinity(0)), time.perf_counter(), list[Build]()

    def compile_one(build: Build) -> Row | None:
        file, entry, defines = build
        if setting.left() <= 0:
            late.append(build)
            return None
        if setting.cuda is not None:
            setting.cuda.use()
        try:
            setting.device.kernel(file, entry, defines)
        except Exception as error:  # a finding: the other builds are to be tried
            return {"what": f"{file} {defines}", "failure": describe(error)}
        return None

    setting.begin(CELL, None)
    with ThreadPoolExecutor(threads) as pool:
        yield from (row for row in pool.map(compile_one, chosen) if row is not None)
    yield {"what": "all builds", "builds": len(chosen) - len(late), "threads": threads,
           "seconds": time.perf_counter() - start, **({"skipped": NO_TIME} if late else {})}
