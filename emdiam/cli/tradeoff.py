"""`emdiam tradeoff`: what a better approximation costs on a store."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError, StoppedEarly
from . import options
from .listener import answered
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.STORE
@options.of("tradeoff")
def command(**given: Any) -> int:
    """Compare what approximations of a store cost and give.

    Every method, with every number of masters and every seed, is a run in a separate process, with all of --memory.
    DIR gets the result of each run as it ends, tradeoff.csv, tradeoff.json, table.md, and plots if matplotlib is
    installed. A command that was stopped goes on where it was.

    Exit code 3: a run failed or was stopped; the table says which and why.
    """
    from ..report.tradeoff import tradeoff
    from ..report.tradeoff_table import markdown_text

    result = answered(given, lambda listener: tradeoff(given["store"], given["out"], _options(given), listener),
                      lambda result: markdown_text(result).rstrip("\n"))
    return 0 if result.complete else StoppedEarly.exit_code


def _options(given: dict[str, Any]) -> Any:
    """The options of the library."""
    from ..dask.setting import chosen_cluster
    from ..report.cells import cell_task
    from ..report.tradeoff import TradeoffOptions

    cluster = chosen_cluster(*(given[name] for name in ("scheduler", "workers", "worker_memory", "worker_threads")))
    cells = cell_task(
        memory_bytes=given["memory"], arena_bytes=given["arena"], cluster=cluster,
        scratch=None if given["scratch"] is None else str(given["scratch"]),
        own={name: given[name] for name in ("vertex_state", "reorder", "weighted", "device")},
        **{name: given[name] for name in (
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
