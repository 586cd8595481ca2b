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
              help="Folder for cells, tables and plots. The same command goes on with what is in it.")
@click.option("--methods", metavar="LIST", default=",".join(APPROXIMATIONS), show_default=True,
              help="Approximations, with commas.")
@click.option("--masters", metavar="LIST", default="2^8..2^24:4", show_default=True,
              help="Numbers of masters of clusters: counts, shares like 10%, auto, and ranges FIRST..LAST:FACTOR, with"
                   " commas.")
@click.option("--seed", "seeds", metavar="LIST", default="0", show_default=True,
              help="Seeds of all random choices, with commas; a run of every cell with each.")
@click.option("--exact", is_flag=True, help="Begin with an exact run, which proves the diameter.")
@click.option("--known-diameter", type=options.AT_LEAST_0, metavar="D",
              help="Largest diameter over all components, for the ratios estimate / D.")
@click.option("--iterations", type=options.AT_LEAST_0, metavar="N",
              help="Iterations of sweep, fringe and spanning, at most. [default: the method's]")
@click.option("--euler", is_flag=True, help="Masters of clusters along an Euler tour too.")
@options.stacked(options.levels, options.memory, options.arena, options.threads, options.workers, options.spill)
@click.option("--time-limit", type=options.DURATION, metavar="TIME",
              help="Stop a cell after TIME, e.g. 10s, 5min or 8h, with the bounds so far.")
@click.option("--checkpoint-every", type=options.DURATION, metavar="TIME",
              help="Keep what a cell has found, also inside a traversal after each TIME, so that one that was stopped"
                   " goes on. [default: it begins again]")
@options.evict_page_cache
@click.option("--retry", is_flag=True, help="Run cells again that failed or were stopped.")
@click.option("--no-plots", is_flag=True, help="Tables alone.")
@options.stacked(options.as_json, options.progress)
def command(**given: Any) -> int:
    """Run approximations of a store, and tell what each costs and gives.

    Every cell, a method with a number of masters and a seed, is a process of its own, with all of
    --memory. Written to DIR: the cells as they end, tradeoff.csv, tradeoff.json, table.md, and plots
    if matplotlib is installed. A command that was stopped goes on where it was.

    Exit code 3: a cell failed or was stopped; the table says which and why.
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
