"""python -m bench.gpu.child: one part in a process of its own, its rows as lines of JSON in a file.

Leaves with BROKEN if the device is lost. A line {"begun": NAME} stands before the rows of a cell, so that the
parent knows where a process ended that could not tell.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from emdiam.gpu.cupy_device import find_device

from .parts import PARTS
from .setting import BrokenDevice, Setting
from .sizes import SIZES

BROKEN = 3


def write_rows(part: str, setting: Setting, file: TextIO) -> int:
    """Run a part and write its rows; 0, or BROKEN."""

    def line(value: Any) -> None:
        file.write(json.dumps(value) + "\n")
        file.flush()

    setting.begin = lambda name: line({"begun": name})
    try:
        for row in PARTS[part].run(setting):
            line(row)
    except BrokenDevice:
        return BROKEN
    return 0


def names_begun(file: Path) -> frozenset[str]:
    """The cells that earlier attempts began, by the lines they left."""
    if not file.exists():
        return frozenset()
    return frozenset(row["begun"] for row in lines_of(file) if "begun" in row)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of rows; a last one that was cut short is left out."""
    lines = file.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


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

    device = find_device(given.device)
    cuda = Cuda(int(re.sub(r"\D", "", given.device) or 0))
    setting = Setting(device, SIZES[given.scale], cuda.xp, cuda, seconds=given.seconds, out=given.out,
                      done=names_begun(given.rows))
    with given.rows.open("a", encoding="utf-8") as file:
        return write_rows(given.part, setting, file)


if __name__ == "__main__":
    sys.exit(main())
