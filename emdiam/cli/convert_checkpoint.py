"""Options of checkpoints, which `emdiam convert` and `emdiam reorder` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import EmdiamError, StoppedEarly
from . import options
from .listener import listening
from .outcome import Interrupted

if TYPE_CHECKING:
    from ..conversion.resume import CheckpointOptions
    from ..progress import Listener

_BESIDE = ".resume"

checkpoint = options.stacked(
    click.option("--checkpoint", type=options.NEW_FOLDER, metavar="DIR",
                 help="Keep what is done, and the temporary files, in DIR as the work goes on, so that --resume can go"
                      " on from it."),
    click.option("--checkpoint-every", type=options.DURATION, metavar="TIME",
                 help="Keep long phases half done after each TIME, e.g. 30s or 10min; finished ones are kept in any"
                      " case. [default: 5min]"),
    click.option("--resume", is_flag=True,
                 help="Go on from the checkpoint of the same command; begin if there is none. Without --checkpoint it"
                      " is beside the new store, with .resume at the end of its name."),
    click.option("--keep-checkpoint", is_flag=True, help="Leave the checkpoint when the store is complete."),
)


@contextmanager
def writing(given: dict[str, Any], target: str) -> Iterator[tuple[Listener, CheckpointOptions | None]]:
    """A listener and what was asked of checkpoints, while the store `target` is written. Ctrl-C becomes an error that
    says what is left."""
    chosen = _chosen_checkpoint(given, target)
    try:
        with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
            yield listener, chosen
    except KeyboardInterrupt as stop:
        raise _stopped(target, chosen) from stop


def _chosen_checkpoint(given: dict[str, Any], target: str) -> CheckpointOptions | None:
    """What was asked of checkpoints, for the store `target`; None if none of the options was given."""
    every, folder = given["checkpoint_every"], given["checkpoint"]
    if folder is None and every is None and not given["resume"] and not given["keep_checkpoint"]:
        return None
    from ..conversion.resume import SECONDS_BETWEEN, CheckpointOptions

    path = Path(target)
    beside = path.with_name(path.name + _BESIDE)
    return CheckpointOptions(
        beside if folder is None else folder, SECONDS_BETWEEN if every is None else every, given["resume"],
        given["keep_checkpoint"],
    )


def _stopped(target: str, chosen: CheckpointOptions | None) -> EmdiamError:
    """What to say when the user has stopped the writing of `target`."""
    said = f"stopped by the user; {target} was not written"
    if chosen is None or not chosen.folder.exists():
        return Interrupted(said)
    return StoppedEarly(f"{said}; what was done is in {chosen.folder}: give the same command with --resume to go on")
