"""python -m bench.gpu --rehearse: the whole benchmark without a GPU, ended at random moments.

The command, the processes and the files are those of a run on a GPU; the device is the machine of fibres of the
tests, at toy size, and compute-sanitizer a script that runs what it is given. A lent machine ends a command after ten
minutes (MACHINE_SECONDS), whatever it is about, and a run goes on with the next command (--resume). Here some commands
are ended earlier, at random moments: after some more rows and a fraction of a second, which may be while a part
starts, while it runs, or while its report is written. Between them the process of a part alone is killed, as by a
fault of a kernel. At the end it is checked that no row was lost or done twice, that every part came to its end with
all of its cells, and that the report has what the files of rows have.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .opening import SHIM, opened
from .parent import SMOKE
from .parts import PARTS
from .report import bad_rows, markdown
from .rows import MARKS, ended, has_late, lines_of, rows_of
from .sanitize import ROOT
from .setting import NO_TIME, Setting
from .sizes import SIZES

DEVICE, SCALE = f"{SHIM}0", "toy"
MACHINE_SECONDS = 600.0
KILLS = 6
# A command that is not ended early does at least a part; some parts take more than one.
MOST_COMMANDS = 40
MOST_LINES = 200
POLL = 0.05
LINGER_SECONDS = 60.0
# For one of the tools it runs the program, which for others would do the same.
TOOL = """#!/bin/sh
# compute-sanitizer --tool NAME --print-limit N PROGRAM...
tool=$2
shift 4
if [ "$tool" = memcheck ]; then "$@" || exit; fi
echo "========= ERROR SUMMARY: 0 errors"
"""


@dataclass
class Rehearsed:
    """commands : that were started. killed : ended early, with all their processes. children : processes of parts that
    were killed alone. late : commands that the machine's time has ended. faults : what went wrong, a sentence each."""

    commands: int = 0
    killed: int = 0
    children: int = 0
    late: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        """All of it for people."""
        good = "No row was lost, every part resumed and ended, and the report has all rows."
        return "\n".join([
            f"{self.commands} commands in {self.seconds:.0f} s: {self.killed} ended at random moments, {self.late} by"
            f" the time of the machine; {self.children} processes of parts killed alone.",
            *([f"wrong: {fault}" for fault in self.faults] or [good])])


class Rehearsal:
    """A run of the parts `names` in the folder `out`. seed : of the random moments. seconds : that each command is
    given for its parts. kills : commands that are ended early, and at most as many processes of parts; lines : of rows
    that come at most before that; pause : seconds at most after them."""

    def __init__(self, out: Path, names: Sequence[str], seed: int, seconds: float, kills: int = KILLS,
                 lines: int = MOST_LINES, pause: float = 1.0) -> None:
        self._out, self._names, self._seconds, self._kills = out, list(names), seconds, kills
        self._lines, self._pause = lines, pause
        self._random, self.found = random.Random(seed), Rehearsed()
        self._files = {name: out / "rows" / f"{name}.jsonl" for name in names}

    def run(self) -> Rehearsed:
        """Commands until every part has ended and one has come to its own end after that, then the checks."""
        begin = time.monotonic()
        with _tools() as path:
            whole = False
            while not (whole and not self._open_parts()) and self.found.commands < MOST_COMMANDS:
                whole = self._command(path)
        self.found.seconds = time.monotonic() - begin
        self.found.faults += faults_of(self._out, self._names)
        return self.found

    def _open_parts(self) -> list[str]:
        return [name for name, file in self._files.items() if ended(file) is None or has_late(file)]

    def _command(self, path: str) -> bool:
        """One command, until it ends or is ended; what it leaves has all rows that there were. Whether it has ended by
        itself."""
        # The smoke part is run by every command.
        before = {name: rows_of(file) for name, file in self._files.items() if name != SMOKE}
        self.found.commands += 1
        command = subprocess.Popen(
            [sys.executable, "-m", "bench.gpu", "--device", DEVICE, "--scale", SCALE, "--only", ",".join(self._names),
             "--seconds", str(self._seconds), "--out", str(self._out), "--resume"], cwd=ROOT,
            env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            children = self._let_run(command)
            whole = command.poll() is not None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(command.pid, signal.SIGKILL)
            command.wait()
        begin = time.monotonic()
        while running := [child for child in children if _is_running(child)]:
            if time.monotonic() - begin > LINGER_SECONDS:
                self.found.faults.append(f"process {running[0]} of a part went on when its command was gone")
                os.killpg(running[0], signal.SIGKILL)
            time.sleep(POLL)
        for name, rows in before.items():
            lost = Counter(map(json.dumps, rows)) - Counter(map(json.dumps, rows_of(self._files[name])))
            self.found.faults += [f"{name} lost the row {row}" for row in lost if NO_TIME not in row]
        return whole

    def _let_run(self, command: subprocess.Popen[bytes]) -> set[int]:
        """Until it ends, its random moment comes, or the machine's time is over; the numbers of its children."""
        begin, seen = time.monotonic(), set[int]()
        kill = self._moment() if self.found.killed < self._kills else None
        kill_child = self._moment() if self.found.children < self._kills and self._random.random() < 0.5 else None
        while command.poll() is None:
            children = _children(command.pid)
            seen.update(children)
            if time.monotonic() - begin > MACHINE_SECONDS:
                self.found.late += 1
                break
            if kill_child is not None and children and self._has_come(kill_child):
                kill_child = None
                self.found.children += 1
                os.killpg(children[0], signal.SIGKILL)
            if kill is not None and self._has_come(kill):
                self.found.killed += 1
                break
            time.sleep(POLL)
        return seen

    def _moment(self) -> list[float]:
        """So many lines of rows that are to be there, and so many seconds beside."""
        more = int(self._lines ** self._random.random())
        return [self._n_lines() + more, self._random.random() * self._pause]

    def _has_come(self, moment: list[float]) -> bool:
        if self._n_lines() >= moment[0]:
            moment[1] -= POLL
            return moment[1] < 0
        return False

    def _n_lines(self) -> int:
        return sum(file.read_bytes().count(b"\n") for file in self._files.values() if file.exists())


def faults_of(out: Path, names: Sequence[str]) -> list[str]:
    """What is wrong with the rows and the report that a run has left, a sentence each."""
    found, kept = list[str](), json.loads((out / "gpu.json").read_text(encoding="utf-8"))
    if (out / "gpu.md").read_text(encoding="utf-8") != markdown(kept):
        found.append("gpu.md is not the report of gpu.json")
    for name in names:
        file, part = out / "rows" / f"{name}.jsonl", kept["parts"].get(name, {"rows": [], "failure": ""})
        if ended(file) is None or has_late(file):
            found.append(f"{name} came to no end: {part['failure']}")
        if part["rows"] != json.loads(json.dumps(rows_of(file))):
            found.append(f"the report of {name} has other rows than its file")
        found += [f"{name}: {row}" for row in bad_rows(part["rows"])]
        found += [f"{name}: errors in {row}" for row in part["rows"] if row.get("errors", 0) != 0]
        found += [f"{name}: {fault}" for fault in _faults_of_cells(lines_of(file), cells_of(name), part["failure"])]
    return found


def _faults_of_cells(lines: list[dict[str, Any]], cells: Sequence[str], said: str) -> list[str]:
    """Cells that were lost, or done twice, or whose end the report does not tell."""
    found, done = list[str](), Counter[str]()
    for line, after in pairwise([*lines, {}]):
        if "begun" in line and "stopped" not in after:
            done[line["begun"]] += 1
            if "died" in after and f"in the cell: {line['begun']}." not in said:
                found.append(f"the report does not tell that {line['begun']} has ended its process")
            elif "died" not in after and not (after and MARKS.isdisjoint(after)):
                found.append(f"{line['begun']} has no row")
    passed = sum("skipped" in row and "begun" not in before for before, row in pairwise([{}, *lines]))
    found += [f"{cell} was done {times} times" for cell, times in done.items() if times > 1]
    if len(done) + passed != len(cells) or not done.keys() <= set(cells):
        found.append(f"{len(done)} cells were done and {passed} passed over of {len(cells)}: "
                     f"{', '.join(sorted(set(cells) ^ done.keys())[:5])}")
    return found


class _Everything:
    """The cells that were done: all of them, noted as a part asks for each."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __contains__(self, name: object) -> bool:
        self.asked.append(str(name))
        return True


def cells_of(name: str) -> list[str]:
    """The cells of a part, of which none is run."""
    device, cuda = opened(DEVICE)
    done = _Everything()
    list(PARTS[name].run(Setting(device, SIZES[SCALE], np, cuda, done=done, named=DEVICE)))
    return done.asked


@contextmanager
def _tools() -> Iterator[str]:
    """$PATH with a compute-sanitizer that finds nothing in front."""
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "compute-sanitizer"
        tool.write_text(TOOL, encoding="utf-8")
        tool.chmod(0o755)
        yield f"{folder}{os.pathsep}{os.environ['PATH']}"


def _children(pid: int) -> list[int]:
    """The processes that the main thread of a process has started."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _is_running(pid: int) -> bool:
    """Whether there is such a process, which has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
