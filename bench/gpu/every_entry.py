"""python -m bench.gpu.every_entry: runs every entry of the registry once, on small graphs.

For tools that look over a program's shoulder (compute-sanitizer). Leaves with 1 if a result is wrong or an
entry of the registry was not run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from emdiam.gpu.device import Device
from emdiam.gpu.registry import ENTRIES

from . import verify
from .opening import opened
from .setting import Row, Setting
from .sizes import SIZES
from .watch import Watched

CLASSES = ("circuit", "path")


def run_every(device: Device, classes: Sequence[str] = CLASSES) -> tuple[list[Row], list[str]]:
    """The rows of the part verify that are wrong or failed, and the entries of the registry that did not run."""
    watched = Watched(device)
    setting = Setting(watched, SIZES["toy"], seconds=float("inf"))
    bad = [row for row in verify.run(setting, classes, ("uint32",)) if row.get("wrong") or "failure" in row]
    missing = {(entry.file, entry.entry) for entry in ENTRIES} - watched.entries
    return bad, [f"{entry} of {file}" for file, entry in sorted(missing)]


def main(arguments: Sequence[str]) -> int:
    """Run on the device that is named (default: gpu); 0, or 1 with what is wrong."""
    device, cuda = opened(arguments[0] if arguments else "gpu")
    cuda.without_pool()
    bad, missing = run_every(device)
    for line in [*map(str, bad), *(f"{name} did not run" for name in missing)]:
        print(line)
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
