"""python -m bench: run the sections, print a table each, keep the figures as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from . import bfs, convert, exact, streamed
from .cache import Cache
from .graphs import known
from .machine import facts
from .rounds import Effort
from .setting import QUICK_EFFORT, Setting
from .show import show

_HERE = Path(__file__).resolve().parent
_WIDTH = 200
SECTIONS: tuple[tuple[str, ModuleType], ...] = (
    ("bfs", bfs), ("exact", exact), ("streamed", streamed), ("convert", convert))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    names = [name for name, _ in SECTIONS]
    made = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    made.add_argument("--quick", action="store_true", help="small graphs, one round: does it work?")
    made.add_argument("--only", action="append", choices=names, metavar="NAME", default=[],
                      help=f"run only this section (again for more): {', '.join(names)}")
    made.add_argument("--graph", action="append", choices=sorted(known()), metavar="NAME", default=[],
                      help="measure only this graph (again for more)")
    made.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True,
                      help="columns of other libraries")
    made.add_argument("--json", type=Path, metavar="FILE",
                      help="where the figures go (default: bench/results/DATE.json; none with --quick)")
    made.add_argument("--cache", type=Path, metavar="DIR", default=_HERE / ".cache",
                      help="folder for stores and edge files (default: bench/.cache)")
    made.add_argument("--data", type=Path, metavar="DIR", default=_HERE.parents[1] / "shared" / "data",
                      help="folder of the real graphs; those that are not there are left out")
    made.add_argument("--threads", type=int, default=2)
    made.add_argument("--rounds", type=int, default=3, help="quiet rounds wanted (default: 3)")
    made.add_argument("--attempts", type=int, default=6, help="rounds at most (default: 6)")
    made.add_argument("--quiet-cores", type=float, default=0.15, metavar="CORES",
                      help="foreign load up to which a round counts as quiet (default: 0.15)")
    made.add_argument("--peer-seconds", type=float, default=120.0, metavar="S",
                      help="time limit of one measurement of a peer, loading included (default: 120)")
    made.add_argument("--solve-seconds", type=float, default=120.0, metavar="S",
                      help="time limit of one exact run (default: 120)")
    return made


def setting_of(given: argparse.Namespace) -> Setting:
    """The setting that the command line asks for."""
    effort = QUICK_EFFORT if given.quick else Effort(given.rounds, given.attempts, given.quiet_cores)
    return Setting(Cache(given.cache, given.data), given.threads, given.quick, tuple(given.graph),
                   given.peers, given.peer_seconds, given.solve_seconds, effort)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or 1 if a known diameter was missed."""
    given = parser().parse_args(arguments)
    setting = setting_of(given)
    console = Console(width=_WIDTH) if not sys.stdout.isatty() else Console()
    kept: dict[str, Any] = {
        "machine": facts(), "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "quick": given.quick,
        "threads": given.threads, "sections": {},
    }
    target = given.json
    if target is None and not given.quick:
        target = _HERE / "results" / time.strftime("%Y%m%d-%H%M%S.json")
    for name, section in SECTIONS:
        if given.only and name not in given.only:
            continue
        rows = section.run(setting)
        kept["sections"][name] = rows
        show(console, section.TITLE, *section.table(rows))
        if target is not None:  # after each section: a run that is stopped leaves what it has
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["wrong"] for row in kept["sections"].get("exact", [])) else 0


if __name__ == "__main__":
    sys.exit(main())
