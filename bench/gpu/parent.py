"""Runs the parts one after the other, each in a process of its own, and keeps what they found.

A process that is stopped by its time, or ends by itself, leaves its rows in a file of the folder for files; one that
ends before its part does is started anew, as long as each begins some cell, and goes on behind the cell that it
ended in, without its subject. A run that was ended goes on from the same folder (`resume`).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .parts import PARTS
from .report import bad_rows, markdown
from .rows import ended, lines_of, mended, rows_of, write_line
from .sanitize import ROOT

RESTARTS = 60
SMOKE = "smoke"
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


def run_part(name: str, seconds: float, launch: Launch, folder: Path) -> dict[str, Any]:
    """The rows of one part, the seconds it took, and what went wrong ("" for nothing).

    folder : where its rows are, and come as they are made. One that came to its end there is not run.
    """
    file = folder / f"{name}.jsonl"
    file.touch()
    if (took := ended(file)) is not None:
        return {"rows": rows_of(file), "seconds": took, "failure": ""}
    start, failures = time.monotonic(), []
    for _ in range(1 + RESTARTS):
        mended(file)
        before = len(lines_of(file))
        end = launch(name, max(1.0, seconds - (time.monotonic() - start)), file)
        mended(file)
        if end.code == 0:
            break
        how = ("said nothing any more and was stopped" if end.stalled else
               "was stopped by its time" if end.code is None else f"left with {end.code}")
        failures.append(f"the process {how} in the cell: {_unfinished(file)}. {end.tail}".strip())
        timed_out = end.code is None and not end.stalled
        if timed_out:
            with file.open("a", encoding="utf-8") as lines:
                write_line(lines, {"stopped": True})
        # Without a cell begun it would end in the same way again.
        if timed_out or time.monotonic() - start > seconds or len(lines_of(file)) == before:
            break
    return {"rows": rows_of(file), "seconds": time.monotonic() - start, "failure": "\n".join(failures)}


def _unfinished(file: Path) -> str:
    """The cell that was begun last, if nothing came of it."""
    lines = lines_of(file)
    return str(lines[-1]["begun"]) if lines and "begun" in lines[-1] else "none"


def rows_folder(out: Path, names: Sequence[str], resume: bool) -> Path:
    """The folder for rows: without those of the parts that are to be run, or with them to go on from. The smoke
    part is always run, since the machine may be another."""
    folder = out / "rows"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.jsonl"):
        if file.stem in names and (not resume or file.stem == SMOKE):
            file.unlink()
        elif resume:
            mended(file, again=True)
    return folder


def what_smokes(part: dict[str, Any]) -> str:
    """What is wrong with the smoke part, in a sentence; "" for nothing."""
    bad = [f"{row['what']}: {row.get('failure') or 'the result is wrong'}" for row in bad_rows(part["rows"])]
    lines = part["failure"].strip().splitlines()
    # Where no cell was begun, all that matters is what the process has said.
    said = [re.sub(r"^the process left with \d+ in the cell: none\. ", "", line) for line in lines[-1:]]
    return "; ".join([*bad, *said])


def run_all(names: Sequence[str], seconds: float, launch: Launch, out: Path, about: dict[str, Any],
            resume: bool = False) -> dict[str, Any]:
    """All parts that are named, in their order; the report is written after each of them. Where the smoke part
    fails, no other is started.

    out : folder for gpu.json, gpu.md and rows. about : kept beside the parts. resume : go on from the rows there; the
    report has the parts of earlier runs too.
    """
    folder = rows_folder(out, names, resume)
    kept: dict[str, Any] = {**about, "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "parts": {}}
    for name in (name for name in PARTS if resume and name not in names):
        if rows := rows_of(file := folder / f"{name}.jsonl"):
            kept["parts"][name] = {"rows": rows, "seconds": ended(file) or 0.0, "failure": ""}
    end = time.monotonic() + seconds
    order = [name for name in PARTS if name in names]
    for place, name in enumerate(order):
        weights = [PARTS[later].weight for later in order[place:]]
        left = end - time.monotonic()
        share = left * weights[0] / sum(weights)
        why = "no time was left" if left <= 1 else what_smokes(kept["parts"][SMOKE]) if SMOKE in kept["parts"] else ""
        kept["parts"][name] = ({"rows": [], "seconds": 0.0, "failure": f"not started: {why}"} if why else
                               run_part(name, share, launch, folder))
        (out / "gpu.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        (out / "gpu.md").write_text(markdown(kept), encoding="utf-8")
    return kept
