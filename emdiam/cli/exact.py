"""`emdiam exact`: the exact diameter of a store."""

from __future__ import annotations

from typing import Any, cast

import click

from ..errors import NotWritten, StoppedEarly
from . import options
from .checkpoint import KeptRuns, checkpoint, chosen_checkpoint
from .device import chosen_device, chosen_workers
from .listener import listening
from .outcome import EmdiamCommand
from .output import complain, emit, emit_json

# Options of methods; those that are not given take the method's own default.
_SWITCHES = ("winnow", "eliminate", "chains", "start", "first", "batch", "k", "path_file",
             "seed", "batches", "scratch")


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--method", type=click.Choice(options.METHODS), default="pivots", show_default=True,
              help="Exact method.")
@options.stacked(options.memory, options.arena, options.threads, options.as_json)
@options.gpu
@options.workers
@click.option("--path", "path_file", type=options.NEW_FILE, metavar="FILE",
              help="Write the witness path to FILE, one vertex id a line. Paths above 10,000 vertices are"
                   " shown nowhere else.")
@click.option("--certificate", type=options.NEW_FILE, metavar="FILE",
              help="Write the proof to FILE, for `emdiam verify`.")
@click.option("--bounds-only", is_flag=True, help="Bounds from a few BFS, without a proof of the diameter.")
@click.option("--gap", type=click.IntRange(min=0), metavar="G", help="Bounds that differ by at most G are enough.")
@click.option("--time-limit", type=options.DURATION, metavar="TIME",
              help="Stop after TIME, e.g. 10s, 5min or 8h, with the bounds so far and exit code 3.")
@checkpoint
@click.option("--seed", type=click.IntRange(min=0), metavar="N",
              help="Seed of the random choices of pivots. [default: 0]")
@click.option("--no-batches", "batches", flag_value=False, default=None,
              help="pivots without multi-source batches.")
@click.option("--scratch", type=options.SCRATCH, metavar="DIR",
              help="Folder for pivot columns that memory has no room for. [default: $TMPDIR or /var/tmp]")
@click.option("--no-winnow", "winnow", flag_value=False, default=None, help="fdiam without Winnow.")
@click.option("--no-eliminate", "eliminate", flag_value=False, default=None, help="fdiam without Eliminate.")
@click.option("--no-chains", "chains", flag_value=False, default=None, help="fdiam without Chain Processing.")
@click.option("--start", type=click.Choice(["max-degree", "first"]),
              help="Where fdiam begins. [default: max-degree]")
@click.option("--first", type=click.Choice(["upper", "lower"]),
              help="The end of the bounds that bounding takes first. [default: upper]")
@options.batch
@click.option("-k", "--sources", "k", type=click.IntRange(min=1), metavar="K",
              help="BFS a component of sweep-k. [default: 16]")
@click.option("--evict-page-cache", is_flag=True,
              help="Drop what was read from the page cache, so that every read is one from disk.")
@options.progress
def command(**given: Any) -> int:
    """Compute the exact diameter of a store.

    Distances are numbers of edges; a path of that length is given as a witness. All connected
    components count: the diameter of a disconnected graph is infinite, and that of its largest
    component and the largest over all components are given beside it.

    Ctrl-C prints the interval that is proved so far and leaves with exit code 3. sweep-k,
    --bounds-only and --gap may answer with an interval.

    With --checkpoint a run that was stopped, even by kill -9, goes on with the same command and
    --resume; at most the traversal that was under way is repeated.
    """
    from ..api_exact import ExactRun, exact
    from ..methods.exact.result import Result

    kept = KeptRuns(chosen_checkpoint(given))
    run = ExactRun(
        method=given["method"], memory_bytes=given["memory"], arena_bytes=given["arena"],
        threads=given["threads"], evict_page_cache=given["evict_page_cache"],
        switches={name: given[name] for name in _SWITCHES if given[name] is not None},
        gap=given["gap"], time_limit=given["time_limit"], bounds_only=given["bounds_only"],
        certificate=given["certificate"], device=chosen_device(given["device"]), bfs=given["bfs"],
        mapping=given["mapping"], vram_bytes=given["vram"], checkpoint=kept.of(0),
        cluster=chosen_workers(given),
    )
    try:
        with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
            result = exact(given["store"], run, listener)
    except StoppedEarly as stop:
        complain(f"emdiam: {stop}")
        if isinstance(stop.result, Result):
            _answer(stop.result.to_dict(), given["as_json"])
        return stop.exit_code
    except NotWritten as fault:
        _answer(cast("Result", fault.result).to_dict(), given["as_json"])
        raise
    except KeyboardInterrupt:
        complain("emdiam: stopped by the user before there was a bound on the diameter")
        return StoppedEarly.exit_code
    kept.ended(result.to_dict())
    _answer(result.to_dict(), given["as_json"])
    kept.answered()
    return 0


def _answer(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(result)
    else:
        from .exact_text import result_text

        emit(result_text(result))
