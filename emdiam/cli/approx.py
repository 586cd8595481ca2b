"""`emdiam approx`: bounds on the diameter that are proved, and an estimate."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError, StoppedEarly
from . import options
from .checkpoint import KeptRuns, checkpoint, chosen_checkpoint
from .device import chosen_device, chosen_workers
from .listener import listening
from .outcome import EmdiamCommand
from .output import complain, emit, emit_json

# Options of methods; those that are not given take the method's own default.
_SWITCHES = ("seed", "euler", "levels", "iterations", "known_diameter", "scratch")


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--method", type=click.Choice(options.APPROXIMATIONS), default="clusters", show_default=True,
              help="Approximation.")
@click.option("--masters", metavar="M",
              help="Expected number of masters of clusters: a count, a share of the vertices like 10%, or auto."
                   " Several with commas, as 2^10,2^14,10%, are a run each. [default: auto]")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of all random choices. [default: 0]")
@click.option("--euler", flag_value=True, default=None,
              help="Masters of clusters along an Euler tour too, so that none is far from its vertices.")
@click.option("--levels", type=click.IntRange(min=1), metavar="K",
              help="How often clusters condense the graph. [default: 1]")
@click.option("--iterations", type=click.IntRange(min=0), metavar="N",
              help="Iterations of sweep, fringe or spanning, at most. [default: the method's]")
@click.option("--known-diameter", type=click.IntRange(min=0), metavar="D",
              help="Largest diameter over all components, for the ratio estimate / D.")
@options.stacked(options.memory, options.arena, options.threads, options.gpu, options.workers)
@click.option("--scratch", type=options.SCRATCH, metavar="DIR",
              help="Folder for what memory has no room for. [default: $TMPDIR or /var/tmp]")
@click.option("--time-limit", type=options.DURATION, metavar="TIME",
              help="Stop a run after TIME, e.g. 10s, 5min or 8h, with the bounds so far and exit code 3.")
@checkpoint
@options.as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV, one row a run.")
@click.option("--evict-page-cache", is_flag=True,
              help="Drop what was read from the page cache, so that every read is one from disk.")
@options.progress
def command(**given: Any) -> int:
    """Prove bounds on the diameter of a store, and estimate it.

    The bounds are proved: a pair of vertices is at least as far apart as the lower one says, and no
    pair farther than the upper one. The estimate is that of the paper's formula for the method; it may
    lie outside of them. All connected components count: both are about the largest distance over all
    of them.

    With several --masters, there is a run for each of them and a table at the end; as JSON
    {"runs": [...]}. Ctrl-C prints what is proved so far and leaves with exit code 3.

    With --checkpoint a run that was stopped, even by kill -9, goes on with the same command and
    --resume.
    """
    from ..methods.approx.masters import parse_masters

    if given["as_json"] and given["as_csv"]:
        raise InputError("an answer is JSON or CSV, not both", remedy="leave --json or --csv out")
    masters = None if given["masters"] is None else parse_masters(given["masters"])
    results: list[dict[str, Any]] = []
    several = masters is not None and len(masters) > 1
    kept = KeptRuns(chosen_checkpoint(given), several)
    try:
        code = _run_all(given, masters, results, kept)
    finally:
        # Also when a later run is refused or at fault: the earlier ones have been paid for.
        if results:
            _answer(results, given, several=several)
    if code == 0:
        kept.answered()
    return code


def _run_all(
    given: dict[str, Any], masters: list[int | str] | None, results: list[dict[str, Any]], kept: KeptRuns
) -> int:
    """Run after run; the results so far are in `results`, that of one which is stopped included.
    Returns the exit code."""
    from ..api_approx import ApproxRun, approx
    from ..methods.approx.masters import AUTO, resolve_masters
    from ..methods.approx.result import Approximation
    from ..store.store import open_store

    own = {name: given[name] for name in _SWITCHES if given[name] is not None}
    device, workers = chosen_device(given["device"]), chosen_workers(given)
    with open_store(given["store"], evict_page_cache=given["evict_page_cache"]) as store:
        for item in masters or ():  # a number that cannot be is told before the first run
            if item != AUTO and store.n_vertices:
                resolve_masters(item, store.n_vertices)
        runs = [own] if masters is None else [{**own, "masters": item} for item in masters]
        for number, switches in enumerate(runs):
            run = ApproxRun(method=given["method"], memory_bytes=given["memory"], arena_bytes=given["arena"],
                            threads=given["threads"], switches=switches, time_limit=given["time_limit"],
                            device=device, bfs=given["bfs"], mapping=given["mapping"],
                            vram_bytes=given["vram"], checkpoint=kept.of(number), cluster=workers)
            try:
                with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
                    results.append(approx(store, run, listener).to_dict())
                kept.ended(results[-1])
            except StoppedEarly as stop:
                complain(f"emdiam: {stop}")
                if isinstance(stop.result, Approximation):
                    results.append(stop.result.to_dict())
                return stop.exit_code
            except KeyboardInterrupt:
                complain("emdiam: stopped by the user before there was a bound on the diameter")
                return StoppedEarly.exit_code
    return 0


def _answer(results: list[dict[str, Any]], given: dict[str, Any], several: bool) -> None:
    from .approx_text import approximation_text, csv_text, table_text

    if given["as_csv"]:
        emit(csv_text(results))
    elif given["as_json"]:
        emit_json({"runs": results} if several else results[0])
    else:
        emit(table_text(results) if several else approximation_text(results[0]))
