"""Runs the parts one after the other, each in a process of its own, and keeps what they found.

A process that is stopped by its time, or ends by itself, leaves its rows; one that ends before its part does is
started anew, at most RESTARTS times, and goes on behind the cell that it ended in.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .child import lines_of
from .parts import PARTS
from .report import markdown
from .sanitize import ROOT

RESTARTS = 3
# A child stops by itself; this is how long it has for what cannot be interrupted.
GRACE = 20.0
TAIL = 2000
POLL = 0.2


@dataclass(frozen=True)
class Ended:
    """How a process ended: its code, or None if it was stopped, the end of what it printed, and whether it was
    stopped because it said nothing any more."""

    code: int | None
    tail: str
    stalled: bool = False


# part, seconds, file for rows -> how it ended
Launch = Callable[[str, float, Path], Ended]


def launcher(device: str, scale: str, out: Path) -> Launch:
    """Starts children on that device."""

    def launch(part: str, seconds: float, rows: Path) -> Ended:
        command = [sys.executable, "-m", "bench.gpu.child", part, "--device", device, "--scale", scale, "--seconds",
                   str(seconds), "--rows", str(rows), "--out", str(out)]
        return run_limited(command, seconds + GRACE, rows, PARTS[part].stall)

    return launch


def run_limited(command: Sequence[str], seconds: float, rows: Path | None = None, stall: float = float("inf")) -> Ended:
    """Run a program in a process group of its own, which is killed when the time is over, or when its file of
    rows has not grown for `stall` seconds."""
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(command, cwd=ROOT, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code, stalled = _wait(child, seconds, rows, stall)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        if code is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        printed.seek(0)
        return Ended(code, printed.read()[-TAIL:].decode(errors="replace"), stalled)


def _wait(child: subprocess.Popen[bytes], seconds: float, rows: Path | None, stall: float) -> tuple[int | None, bool]:
    """The code of a process, or None if its time is over, and whether it is because it has stalled."""
    start = grown = time.monotonic()
    size = -1
    while True:
        try:
            return child.wait(timeout=POLL), False
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if rows is not None and rows.stat().st_size != size:
            size, grown = rows.stat().st_size, now
        if now - grown > stall or now - start > seconds:
            return None, now - grown > stall


def run_part(name: str, seconds: float, launch: Launch) -> dict[str, Any]:
    """The rows of one part, the seconds it took, and what went wrong ("" for nothing)."""
    start, failures = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows"
        file.touch()
        for _ in range(1 + RESTARTS):
            before = len(lines_of(file))
            ended = launch(name, max(1.0, seconds - (time.monotonic() - start)), file)
            if ended.code == 0:
                break
            how = ("said nothing any more and was stopped" if ended.stalled else
                   "was stopped by its time" if ended.code is None else f"left with {ended.code}")
            failures.append(f"the process {how} in the cell: {_unfinished(file)}. {ended.tail}".strip())
            # Without a cell begun it would end in the same way again.
            late = time.monotonic() - start > seconds or (ended.code is None and not ended.stalled)
            if late or len(lines_of(file)) == before:
                break
        rows = [line for line in lines_of(file) if "begun" not in line]
    return {"rows": rows, "seconds": time.monotonic() - start, "failure": "\n".join(failures)}


def _unfinished(file: Path) -> str:
    """The cell that was begun last, if nothing came of it."""
    lines = lines_of(file)
    return str(lines[-1]["begun"]) if lines and "begun" in lines[-1] else "none"


def run_all(names: Sequence[str], seconds: float, launch: Launch, out: Path, about: dict[str, Any]) -> dict[str, Any]:
    """All parts that are named, in their order; the report is written after each of them.

    out : folder for gpu.json and gpu.md. about : kept beside the parts.
    """
    kept: dict[str, Any] = {**about, "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "parts": {}}
    end = time.monotonic() + seconds
    order = [name for name in PARTS if name in names]
    for place, name in enumerate(order):
        weights = [PARTS[later].weight for later in order[place:]]
        left = end - time.monotonic()
        share = left * weights[0] / sum(weights)
        kept["parts"][name] = (run_part(name, share, launch) if left > 1 else
                               {"rows": [], "seconds": 0.0, "failure": "no time was left"})
        (out / "gpu.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        (out / "gpu.md").write_text(markdown(kept), encoding="utf-8")
    return kept
