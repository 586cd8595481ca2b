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

from . import (
    approx,
    apsp,
    bfs,
    convert,
    ecc,
    events,
    exact,
    external,
    hard,
    monotone,
    seeds,
    small,
    sssp,
    streamed,
    tenth,
)
from .arguments import add_programs, count, programs_of
from .cache import Cache
from .graphs import known
from .machine import facts
from .rounds import Effort
from .setting import QUICK_EFFORT, Setting
from .show import show_section

_HERE = Path(__file__).resolve().parent
_WIDTH = 200
SECTIONS: tuple[tuple[str, ModuleType], ...] = (
    ("bfs", bfs), ("exact", exact), ("small", small), ("ecc", ecc), ("sssp", sssp), ("seeds", seeds), ("hard", hard),
    ("external", external), ("streamed", streamed), ("tenth", tenth), ("monotone", monotone), ("convert", convert),
    ("approx", approx), ("apsp", apsp), ("events", events))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    names = [name for name, _ in SECTIONS]
    made = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    made.add_argument("--quick", action="store_true", help="small graphs, one round: does it work?")
    made.add_argument("--only", action="append", choices=names, metavar="NAME", default=[],
                      help=f"run only this section (again for more): {', '.join(names)}")
    made.add_argument("--graph", action="append", choices=sorted({*known(), *approx.NAMES}), metavar="NAME", default=[],
                      help="measure only this graph (again for more)")
    made.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True,
                      help="columns of other libraries")
    made.add_argument("--cache", type=Path, metavar="DIR", default=_HERE / ".cache",
                      help="folder for stores and edge files (default: bench/.cache)")
    made.add_argument("--data", type=Path, metavar="DIR", default=_HERE.parents[1] / "shared" / "data",
                      help="folder of the real graphs; those that are not there are left out")
    add_programs(made)
    made.add_argument("--threads", type=int, default=2)
    made.add_argument("--rounds", type=int, default=3, help="quiet rounds wanted (default: 3)")
    made.add_argument("--attempts", type=int, default=6, help="rounds at most (default: 6)")
    made.add_argument("--quiet-cores", type=float, default=0.15, metavar="CORES",
                      help="foreign load up to which a round counts as quiet (default: 0.15)")
    made.add_argument("--peer-seconds", type=float, default=120.0, metavar="S",
                      help="time limit of one measurement of a peer, loading included (default: 120)")
    made.add_argument("--solve-seconds", type=float, default=60.0, metavar="S",
                      help="time limit of one exact run (default: 60)")
    made.add_argument("--long-seconds", type=float, default=600.0, metavar="S",
                      help="the same out of core, over seeds, and on hard graphs (default: 600)")
    made.add_argument("--methods", choices=("own", "all"), default="own",
                      help="section exact: pivots and fdiam, or the classic methods too (default: own)")
    made.add_argument("--approximation", action="append", choices=approx.METHODS, metavar="NAME", default=[],
                      help="section approx: only this method (again for more)")
    made.add_argument("--large", action="store_true", help="with graphs that take minutes to make")
    made.add_argument("--vertices", type=count, metavar="N", default=1 << 22,
                      help="vertices of the generated graphs of section approx (default: 2^22)")
    _add_outputs(made)
    return made


def _add_outputs(made: argparse.ArgumentParser) -> None:
    """Options for what is kept, and for plots."""
    made.add_argument("--json", type=Path, metavar="FILE",
                      help="where the figures go (default: bench/results/DATE.json; none with --quick)")
    made.add_argument("--plots", type=Path, metavar="DIR",
                      help="folder for plots (SVG) of the section exact; needs matplotlib")
    made.add_argument("--from", type=Path, metavar="FILE", dest="kept",
                      help="measure nothing: tables and plots of the figures in this JSON file")


def setting_of(given: argparse.Namespace) -> Setting:
    """The setting that the command line asks for."""
    effort = QUICK_EFFORT if given.quick else Effort(given.rounds, given.attempts, given.quiet_cores)
    cache = Cache(given.cache, given.data)
    return Setting(cache, given.threads, given.quick, tuple(given.graph),
                   given.peers, given.peer_seconds, given.solve_seconds, given.long_seconds, given.methods,
                   given.large, effort, given.vertices, tuple(given.approximation),
                   programs_of(given, cache))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or 1 if diameters contradict each other or what is known."""
    given = parser().parse_args(arguments)
    console = Console(width=_WIDTH) if not sys.stdout.isatty() else Console()
    sections = _kept(console, given) if given.kept else _measured(console, given)
    if given.plots is not None:
        from .plots import draw

        for file in draw(sections.get("exact", []), given.plots):
            console.print(f"plot: {file}", markup=False, highlight=False)
    return 1 if any(row.get("wrong") for rows in sections.values() for row in rows) else 0


def _kept(console: Console, given: argparse.Namespace) -> dict[str, Any]:
    """The rows of sections that were kept as JSON, printed."""
    sections: dict[str, Any] = json.loads(given.kept.read_text(encoding="utf-8"))["sections"]
    chosen = {name: rows for name, rows in sections.items() if not given.only or name in given.only}
    for name, rows in chosen.items():
        show_section(console, dict(SECTIONS)[name], rows)
    return chosen


def _measured(console: Console, given: argparse.Namespace) -> dict[str, Any]:
    """The rows of the sections that are asked for, measured, printed and kept."""
    setting = setting_of(given)
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
        show_section(console, section, rows)
        if target is not None:  # after each section: a run that is stopped leaves what it has
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sections: dict[str, Any] = kept["sections"]
    return sections


if __name__ == "__main__":
    sys.exit(main())
