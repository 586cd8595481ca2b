"""python -m bench.gpu.child: one part in a process of its own, its rows as lines of JSON in a file.

Leaves with BROKEN if the device is lost. See rows.py for the lines.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from emdiam.errors import EmdiamError
from emdiam.gpu.cupy_device import find_device

from .parts import PARTS
from .rows import dead_subjects, names_begun, write_line
from .setting import BrokenDevice, Setting, Subject
from .sizes import SIZES

BROKEN = 3


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the GPU and run one part."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu.child", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--device", default="gpu:0")
    parser.add_argument("--scale", choices=SIZES, default="full")
    parser.add_argument("--seconds", type=float, default=540.0)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    from .cuda import Cuda

    try:
        device = find_device(given.device)
    except EmdiamError as error:
        print(error)
        return error.exit_code
    cuda = Cuda(int(re.sub(r"\D", "", given.device) or 0))
    setting = Setting(device, SIZES[given.scale], cuda.xp, cuda, seconds=given.seconds, out=given.out,
                      done=names_begun(given.rows), dead=dead_subjects(given.rows.parent))
    with given.rows.open("a", encoding="utf-8") as file:
        return write_rows(given.part, setting, file)


if __name__ == "__main__":
    sys.exit(main())
