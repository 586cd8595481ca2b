"""python -m bench.gpu.child: one part in a process of its own, its rows as lines of JSON in a file.

Leaves with BROKEN if the device is lost. Ends, with what it has started, as soon as the process is gone that has
started it. See rows.py for the lines.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from emdiam.errors import EmdiamError

from .opening import opened
from .parts import PARTS
from .rows import dead_subjects, names_begun, rows_of, write_line
from .setting import BrokenDevice, Setting, Subject
from .sizes import SIZES

BROKEN = 3
POLL = 0.2


def write_rows(part: str, setting: Setting, file: TextIO) -> int:
    """Run a part and write its rows; 0, or BROKEN."""

    last: list[Subject | None] = [None]

    def begin(name: str, subject: Subject | None = None) -> None:
        last[0] = subject
        write_line(file, {"begun": name, **({} if subject is None else {"of": subject})})

    setting.begin = begin
    try:
        for row in PARTS[part].run(setting):
            write_line(file, row)
    except BrokenDevice:
        write_line(file, {"lost": last[0]})
        return BROKEN
    write_line(file, {"ended": setting.seconds - setting.left()})
    return 0


def end_with(parent: int) -> None:
    """End this process and its group once `parent`, the number of a process, is not what has started it any more."""
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the GPU and run one part."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.child", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--scale", choices=SIZES, default="full")
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--parent", type=int, help="the process without which this one is to end")
    given = parser.parse_args(arguments)
    if given.parent is not None:
        end_with(given.parent)
    try:
        device, cuda = opened(given.device)
    except EmdiamError as error:
        print(error)
        return error.exit_code
    setting = Setting(device, SIZES[given.scale], cuda.xp, cuda, seconds=given.seconds, out=given.out,
                      done=names_begun(given.rows), earlier=rows_of(given.rows),
                      dead=dead_subjects(given.rows.parent), named=given.device)
    with given.rows.open("a", encoding="utf-8") as file:
        return write_rows(given.part, setting, file)


if __name__ == "__main__":
    sys.exit(main())
