"""`emdiam exact`: the exact diameter of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import StoppedEarly
from . import options
from .listener import listening
from .outcome import EmdiamCommand
from .output import complain, emit, emit_json


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--method", type=click.Choice(options.METHODS), default="fdiam", show_default=True,
              help="Exact method.")
@options.stacked(options.memory, options.arena, options.threads, options.as_json)
@click.option("--path", "path_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write the witness path to FILE, one vertex id a line. Paths above 10,000 vertices are"
                   " shown nowhere else.")
@click.option("--no-winnow", is_flag=True, help="fdiam without Winnow.")
@click.option("--no-eliminate", is_flag=True, help="fdiam without Eliminate.")
@click.option("--no-chains", is_flag=True, help="fdiam without Chain Processing.")
@click.option("--start", type=click.Choice(["max-degree", "first"]), default="max-degree", show_default=True,
              help="Where fdiam begins.")
@click.option("--evict-page-cache", is_flag=True,
              help="Drop what was read from the page cache, so that every read is one from disk.")
@options.progress
def command(**given: Any) -> int:
    """Compute the exact diameter of a store.

    Distances are numbers of edges; a path of that length is given as a witness. All connected
    components count: the diameter of a disconnected graph is infinite, and that of its largest
    component and the largest over all components are given beside it.

    Ctrl-C prints the interval that is proved so far and leaves with exit code 3.
    """
    from ..api_exact import ExactRun, exact
    from ..exact.result import Result

    run = ExactRun(
        method=given["method"], memory_bytes=given["memory"], arena_bytes=given["arena"],
        threads=given["threads"], evict_page_cache=given["evict_page_cache"],
        switches={
            "winnow": not given["no_winnow"], "eliminate": not given["no_eliminate"],
            "chains": not given["no_chains"], "start": given["start"],
            "path_file": given["path_file"],
        },
    )
    try:
        with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
            result = exact(given["store"], run, listener)
    except StoppedEarly as stop:
        complain(f"emdiam: {stop}")
        if isinstance(stop.result, Result):
            _answer(stop.result.to_dict(), given["as_json"])
        return stop.exit_code
    except KeyboardInterrupt:
        complain("emdiam: stopped by the user before there was a bound on the diameter")
        return StoppedEarly.exit_code
    _answer(result.to_dict(), given["as_json"])
    return 0


def _answer(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit_json(result)
    else:
        from .exact_text import result_text

        emit(result_text(result))
