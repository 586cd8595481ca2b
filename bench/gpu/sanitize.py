"""Parts sanitize and tests: tools that run programs of their own on the device."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .races import races
from .setting import NO_TIME, Row, Setting, Skipped

TOOLS = ("memcheck", "synccheck", "initcheck", "racecheck")
PLACES = ("compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer")
ROOT = Path(__file__).resolve().parents[2]
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|deselected|errors?)")
# The compile test needs no device; what names a shim needs none either.
# One -q stands in setup.cfg; with another pytest would not say how many passed.
TESTS = ("-k", "not shim", "--ignore=tests/gpu/test_compile.py", "-p", "no:cacheprovider", "tests/gpu")
# Set, it has the tests pass over what runs on the machine of fibres (tests/simt/devices.py).
ONLY_GPU = "EMDIAM_ONLY_GPU"
TAIL = 1500


def find_sanitizer() -> str | None:
    """The tool, or None."""
    return next((found for place in PLACES if (found := shutil.which(place))), None)


def run(setting: Setting) -> Iterator[Row]:
    """A row for each tool of compute-sanitizer over every entry of the registry. One after the other has all the time
    that is left, since half of what a tool finds is worth nothing; a run that goes on does the others."""
    for tool in TOOLS:
        yield from setting.cell({"tool": tool}, partial(_sanitize, setting, tool))


def _sanitize(setting: Setting, tool: str) -> dict[str, Any]:
    """What one tool finds. Races that kernels have on purpose are no errors."""
    program = find_sanitizer()
    if program is None:
        return {"skipped": "compute-sanitizer is not on this machine"}
    done = _run([program, "--tool", tool, "--print-limit", "10000", sys.executable, "-m", "bench.gpu.every_entry",
                 setting.named], setting.left())
    summary = SUMMARY.search(done)
    if tool != "racecheck" or summary is None:
        return {"errors": int(summary[1]) if summary else None, "tail": done[-TAIL:]}
    intended, others = races(done)
    unread = int(summary[1]) - len(intended) - len(others)
    found = {"errors": len(others) + max(0, unread), "counts": {"intended": len(intended)}}
    return {**found, "tail": "\n".join(others)[:TAIL] or done[-TAIL:]}


def run_tests(setting: Setting) -> Iterator[Row]:
    """A row of the tests' own cases on a GPU."""
    yield from setting.cell({"tool": "pytest"}, partial(_tests, setting))


def _tests(setting: Setting) -> dict[str, Any]:
    if importlib.util.find_spec("pytest") is None:
        return {"skipped": "pytest is not installed"}
    done = _run([sys.executable, "-m", "pytest", *TESTS], setting.left(), {ONLY_GPU: "1"})
    counts = {word.removesuffix("s"): int(number) for number, word in COUNTS.findall(done[-TAIL:])}
    return {"counts": counts, "errors": counts.get("failed", 0) + counts.get("error", 0) if counts else None,
            "tail": done[-TAIL:]}


def _run(command: list[str], seconds: float, environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a program prints, both streams. Raises Skipped, so that a run that goes on tries again, if its time is
    over before it has said what it found."""
    try:
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=max(1.0, seconds), env={**os.environ, **environment})
    except subprocess.TimeoutExpired as late:
        printed = late.stdout or b""
        text = printed.decode(errors="replace") if isinstance(printed, bytes) else printed
        if SUMMARY.search(text) is None:
            raise Skipped(NO_TIME) from late
        return f"{text}\nstopped after {seconds:.0f} s"
    return done.stdout
