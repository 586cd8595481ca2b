"""`emdiam tradeoff`: what a better approximation costs on a store."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError, StoppedEarly
from ..runs.registry import APPROXIMATIONS
from . import options
from .listener import answered
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--out", type=options.NEW_FOLDER, required=True, metavar="DIR",
              help="Folder for the results of runs, tables and plots. The same command goes on with what is in it.")
@click.option("--methods", metavar="LIST", default=",".join(APPROXIMATIONS), show_default=True,
              help="Approximations, separated by commas.")
@click.option("--masters", metavar="LIST", default="2^8..2^24:4", show_default=True,
              help="clusters: numbers of masters (cluster centres), separated by commas: counts, shares like 10%, auto,"
                   " and ranges FIRST..LAST:FACTOR.")
@click.option("--seed", "seeds", metavar="LIST", default="0", show_default=True,
              help="Seeds of all random choices, separated by commas: every run once with each.")
@click.option("--exact", is_flag=True, help="First an exact run, which proves the diameter.")
@click.option("--known-diameter", type=options.AT_LEAST_0, metavar="D",
              help="Largest diameter of any component, if it is known: for the ratios estimate / D.")
@click.option("--iterations", type=options.AT_LEAST_0, metavar="N",
              help="sweep, fringe, spanning: at most so many iterations. [default: the method's]")
@click.option("--euler", is_flag=True, help="clusters: further masters along an Euler tour.")
@options.stacked(options.levels, options.memory, options.arena, options.threads, options.workers, options.spill)
@click.option("--time-limit", type=options.DURATION, metavar="TIME",
              help="Stop a run after TIME, e.g. 10s, 5min or 8h, with the bounds so far.")
@click.option("--checkpoint-every", type=options.DURATION, metavar="TIME",
              help="Save what a run has done, within a long traversal each time that TIME has gone by, so that a run"
                   " that was stopped goes on. [default: it begins again]")
@options.evict_page_cache
@click.option("--retry", is_flag=True, help="Run again what failed or was stopped.")
@click.option("--no-plots", is_flag=True, help="Write tables, but no plots.")
@options.stacked(options.as_json, options.progress)
def command(**given: Any) -> int:
    """Compare what approximations of a store cost and give.

    Every method, with every number of masters and every seed, is a run in a process of its own, with all of --memory.
    DIR gets the result of each run as it ends, tradeoff.csv, tradeoff.json, table.md, and plots if matplotlib is
    installed. A command that was stopped goes on where it was.

    Exit code 3: a run failed or was stopped; the table says which and why.
    """
    from ..tradeoff import tradeoff
    from ..tradeoff.summary import markdown_text

    result = answered(given, lambda listener: tradeoff(given["store"], given["out"], _options(given), listener),
                      lambda result: markdown_text(result).rstrip("\n"))
    return 0 if result.complete else StoppedEarly.exit_code


def _options(given: dict[str, Any]) -> Any:
    """The options of the library."""
    from ..dask.setting import chosen_cluster
    from ..tradeoff import TradeoffOptions
    from ..tradeoff.cells import CellOptions

    cluster = chosen_cluster(*(given[name] for name in ("scheduler", "workers", "worker_memory", "worker_threads")))
    cells = CellOptions(
        memory_bytes=given["memory"], arena_bytes=given["arena"], cluster=cluster,
        scratch=None if given["scratch"] is None else str(given["scratch"]), **{name: given[name] for name in (
            "threads", "evict_page_cache", "iterations", "euler", "levels", "time_limit")})
    return TradeoffOptions(
        methods=tuple(name.strip() for name in given["methods"].split(",")), seeds=_seeds(given["seeds"]),
        plots=not given["no_plots"], cells=cells, **{name: given[name] for name in (
            "masters", "exact", "known_diameter", "retry", "checkpoint_every")})


def _seeds(text: str) -> tuple[int, ...]:
    items = [item.strip() for item in text.split(",")]
    if not all(item.isdecimal() for item in items):
        raise InputError("not a list of seeds", text=text, remedy="write it like 0 or 0,1,2")
    return tuple(int(item) for item in items)
