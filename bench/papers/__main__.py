"""python -m bench.papers: the tables and figures of a paper beside ours, as a page of Markdown and one of HTML."""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from emdiam import __version__
from emdiam.errors import InputError

from ..arguments import count
from ..cache import Cache
from ..programs import Programs
from .html import html
from .kept import Kept
from .markdown import DRAWINGS, markdown
from .page import Page
from .setting import FULL, SMALL, TINY, Setting

_BENCH = Path(__file__).resolve().parents[1]
PAPERS = ("001", "002", "003", "004")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.papers", description=__doc__)
    made.add_argument("paper", choices=PAPERS, help="001: Dal et al.; 002: F-Diam; 003: Ajwani et al.; 004: Busato,"
                                                    " Bombieri")
    made.add_argument("--scale", choices=(SMALL, FULL, TINY), default=SMALL,
                      help="small: minutes (default); full: a night; tiny: seconds, for tests")
    made.add_argument("--resume", type=Path, metavar="DIR",
                      help="keep every cell in DIR as it is done, and go on from those that are there")
    made.add_argument("--kept", action="store_true", help="measure nothing: a page of the cells that --resume has")
    made.add_argument("--out", type=Path, metavar="DIR", default=_BENCH / "results" / "reproduction",
                      help="folder of the pages (default: bench/results/reproduction)")
    made.add_argument("--html", type=Path, metavar="DIR", default=_BENCH.parent / DRAWINGS,
                      help=f"folder of the page with the figures drawn (default: {DRAWINGS})")
    made.add_argument("--graph", action="append", default=[], metavar="NAME",
                      help="only this graph, by its name in the paper (again for more)")
    made.add_argument("--seconds", type=float, metavar="S", help="limit of a run (default: by the paper and the scale)")
    made.add_argument("--vertices", type=count, metavar="N",
                      help="003: vertices of the generated graphs (default: 2^22, at full scale 2^28)")
    made.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    made.add_argument("--programs", type=Path, metavar="DIR", default=_BENCH / ".programs",
                      help="checkouts that are built, by the names of their repositories (default: bench/.programs)")
    made.add_argument("--real", type=Path, metavar="DIR", default=_BENCH / ".graphs",
                      help="the papers' graphs, brought by python -m bench.papers.fetch (default: bench/.graphs)")
    made.add_argument("--cache", type=Path, metavar="DIR", default=_BENCH / ".cache",
                      help="folder of stores (default: bench/.cache)")
    made.add_argument("--data", type=Path, metavar="DIR", default=_BENCH.parents[1] / "shared" / "data",
                      help="folder of the graphs that stand in for others; those that are not there are left out")
    made.add_argument("--recorded", type=Path, metavar="DIR", default=_BENCH / "results",
                      help="figures of other runs that a page shows (default: bench/results)")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or 2 with a sentence where the options or the folder of cells are at fault."""
    given = parser().parse_args(arguments)
    module = importlib.import_module(f".paper_{given.paper}", __package__)
    limit = module.LIMITS[given.scale] if given.seconds is None else given.seconds
    run = {"paper": given.paper, "scale": given.scale, "seconds": limit, "threads": given.threads,
           "version": __version__, **({} if given.vertices is None else {"vertices": given.vertices})}
    try:
        kept = Kept(given.resume, run, lambda line: print(line, file=sys.stderr, flush=True), not given.kept)
        cache = Cache(given.cache, given.data)
        setting = Setting(given.scale, limit, given.threads, cache, Programs(given.programs, cache.folder / "foreign"),
                          kept, given.real, given.recorded, given.vertices)
        made = _made(module, setting, given, kept)
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    for file in write(made, f"python -m bench.papers {given.paper}", given.out, given.html):
        print(file)
    return 0


def _made(module: ModuleType, setting: Setting, given: argparse.Namespace, kept: Kept) -> Page:
    """The page with its facts. Raises InputError, with the names of cells, where it cannot do without what is not
    measured."""
    size = "" if given.vertices is None else f" --vertices {given.vertices}"
    command = f"python -m bench.papers {given.paper} --scale {given.scale}{size}"
    try:
        return with_facts(module.run(setting, tuple(given.graph)), command, given.threads, kept)
    except (KeyError, IndexError, TypeError):
        if not kept.missing:
            raise
        raise InputError(f"cells are not measured: {named(kept.missing)}", path=given.resume,
                         remedy="measure them: without --kept") from None


def named(cells: Sequence[str], most: int = 20) -> str:
    """Their names, of many the first ones and how many more."""
    more = f"; and {len(cells) - most} more" if len(cells) > most else ""
    return "; ".join(cells[:most]) + more


def with_facts(page: Page, command: str, threads: int, kept: Kept) -> Page:
    """The page with what its figures belong to: machine, versions, load, scale."""
    facts: list[tuple[str, str]] = []
    machines = {session["machine"]["cpu"]: session["machine"] for session in kept.sessions}
    for machine in machines.values():
        facts.append(("machine", f"{machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores,"
                      f" {machine['memory_bytes'] / 2**30:.0f} GiB, Linux {machine['kernel']}"))
        facts.append(("versions", f"Python {machine['python']}, "
                      + ", ".join(f"{name} {version}" for name, version in machine["versions"].items())))
    lines = list(kept.lines())
    # In a shorter cell the kernel's ticks are too coarse to tell.
    foreign = [line["foreign_cores"] for line in lines if line["seconds"] >= 0.5] or [line["foreign_cores"]
                                                                                      for line in lines]
    if foreign:
        quiet = sum(one <= 0.15 for one in foreign)
        facts.append(("load", f"other processes used {statistics.median(foreign):.2f} cores in the median of the cells,"
                      f" {max(foreign):.2f} at most; {quiet} of {len(foreign)} cells of half a second or more were"
                      " quiet (0.15 at most). Seconds of the others are those of a loaded machine; counts are not"
                      " touched."))
        facts.append(("cells", f"{len(lines)}, which took {sum(line['seconds'] for line in lines):,.0f} s in all"))
    if kept.missing:
        facts.append(("not measured", named(kept.missing)))
    facts += [("command", f"{command}, {threads} threads"),
              ("date", str(kept.sessions[-1]["at"])[:10])]
    return Page(page.name, page.title, page.intro, [*facts, *page.facts], page.sections)


def write(page: Page, command: str, folder: Path, drawings: Path) -> list[Path]:
    """NAME.md, which names the command, in the folder, and NAME-figures.html in the other; both are made if absent."""
    files = [(folder / f"{page.name}.md", markdown(page, command)),
             (drawings / f"{page.name}-figures.html", html(page))]
    for file, text in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [file for file, _ in files]


if __name__ == "__main__":
    sys.exit(main())
