"""python -m bench.memory: run every command and method on every graph, at the least budget and at 512 MiB.

Prints a table a graph, and keeps the figures in --out, as JSON and beside it as Markdown. Cells that are in it already
are not run again, so that a table that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emdiam.units import format_size

from ..machine import facts
from .cells import BUDGETS, SUBJECTS
from .graphs import SHAPES, SMALL, Files
from .table import Table, measured

_HERE = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 1 if a peak passed its limit or a command failed."""
    given = _parser().parse_args(arguments)
    table = Table.read(given.out, facts())
    for shape in SMALL if given.quick else SHAPES:
        if given.graph and shape.name not in given.graph:
            continue
        files = Files(shape, given.work)
        for subject in SUBJECTS:
            if given.only and subject.name not in given.only and subject.command not in given.only:
                continue
            for budget in BUDGETS:
                if table.has(shape, subject, budget):
                    continue
                begin = time.monotonic()
                files.make(given.make_memory)
                cell = measured(subject, files, budget, given.seconds, table.least_of(shape, subject))
                table.add(cell)
                print(f"{shape.name}, {subject.name}, {budget}: {_told(cell)}, {time.monotonic() - begin:.0f} s",
                      file=sys.stderr, flush=True)
    table.show(table.markdown())
    return 1 if table.faults() else 0


def _told(cell: dict[str, Any]) -> str:
    if "peak_bytes" not in cell or cell["status"] == "refused":
        return f"{cell['status']}: {cell['said']}"
    return f"{cell['status']}, {format_size(cell['peak_bytes'])} of {format_size(cell['limit_bytes'])}"


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    made.add_argument("--out", type=Path, metavar="FILE.json", required=True, help="where the figures are kept")
    made.add_argument("--work", type=Path, metavar="DIR", default=_HERE / ".cache" / "memory",
                      help="folder for inputs, stores and what commands write (default: bench/.cache/memory)")
    made.add_argument("--graph", action="append", metavar="NAME", default=[], help="this graph alone (again for more)")
    made.add_argument("--only", action="append", metavar="NAME", default=[],
                      help='this command alone, or method: "exact", "exact pivots" (again for more)')
    made.add_argument("--seconds", type=float, metavar="S", default=15.0,
                      help="time limit of methods that have one, and of verify (default: 15)")
    made.add_argument("--make-memory", metavar="SIZE", default="4GiB", help="to make inputs with (default: 4GiB)")
    made.add_argument("--quick", action="store_true", help="small graphs: does it work?")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
