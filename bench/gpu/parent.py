"""Runs the parts one after the other, each in a process of its own, and keeps what they found.

A process that is stopped by its time, or ends by itself, leaves its rows in a file of the folder for files; one that
ends before its part does is started anew, as long as each begins some cell, and goes on behind the cell that it
ended in, without its subject. A run that was ended takes its process with it, and goes on from the same folder
(`resume`).
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .parts import PARTS
from .report import bad_rows, markdown
from .rows import cell_under_way, deaths, ended, lines_of, mended, rows_of, write_line
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
                   str(seconds), "--rows", str(rows), "--out", str(out), "--parent", str(os.getpid())]
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
        # Its time is over, or something that it has started goes on without it.
        with suppress(ProcessLookupError):
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
        return _kept(file, took)
    start, failures = time.monotonic(), list[str]()
    for _ in range(1 + RESTARTS):
        mended(file)
        before = len(lines_of(file))
        end = launch(name, max(1.0, seconds - (time.monotonic() - start)), file)
        mended(file)
        if end.code == 0:
            break
        how = ("said nothing any more and was stopped" if end.stalled else
               "was stopped by its time" if end.code is None else f"left with {end.code}")
        timed_out = end.code is None and not end.stalled
        cell = cell_under_way(file)
        if timed_out or cell is None:
            failures.append(f"the process {how} in the cell: {cell or 'none'}. {end.tail}".strip())
        if timed_out or cell is not None:
            with file.open("a", encoding="utf-8") as lines:
                write_line(lines, {"stopped": True} if timed_out else {"died": how, "said": end.tail})
        # Without a cell begun it would end in the same way again.
        if timed_out or time.monotonic() - start > seconds or len(lines_of(file)) == before:
            break
    return _kept(file, time.monotonic() - start, failures)


def _kept(file: Path, seconds: float, failures: Sequence[str] = ()) -> dict[str, Any]:
    """A part as the report has it. failures : beside the cells that ended their process."""
    return {"rows": rows_of(file), "seconds": seconds, "failure": "\n".join([*deaths(file), *failures])}


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
        if lines_of(file := folder / f"{name}.jsonl"):
            kept["parts"][name] = _kept(file, ended(file) or 0.0)
    end = time.monotonic() + seconds
    order = [name for name in PARTS if name in names]
    for place, name in enumerate(order):
        file = folder / f"{name}.jsonl"
        weights = [PARTS[later].weight for later in order[place:] if ended(folder / f"{later}.jsonl") is None]
        left = end - time.monotonic()
        why = "no time was left" if left <= 1 else what_smokes(kept["parts"][SMOKE]) if SMOKE in kept["parts"] else ""
        share = left * PARTS[name].weight / max(1, sum(weights))
        kept["parts"][name] = (_kept(file, 0.0, [f"not started: {why}"]) if why and ended(file) is None else
                               run_part(name, share, launch, folder))
        _write(out / "gpu.json", json.dumps(kept, indent=1) + "\n")
        _write(out / "gpu.md", markdown(kept))
    return kept


def _write(path: Path, text: str) -> None:
    """Put a whole file in its place, so that a run that is ended leaves none that was cut short."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
