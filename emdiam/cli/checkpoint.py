"""Options of checkpoints, which `emdiam exact`, `approx`, `convert` and `reorder` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..checkpoints import CheckpointOptions, chosen_checkpoint
from ..errors import EmdiamError, StoppedEarly
from ..progress import Listener
from . import options
from .listener import listening
from .outcome import Interrupted

checkpoint = options.stacked(
    click.option("--checkpoint", type=options.NEW_FOLDER, metavar="DIR",
                 help="Keep what is done in DIR as the work goes on, so that --resume can go on from it."),
    click.option("--checkpoint-every", type=options.DURATION, metavar="TIME",
                 help="Keep a long traversal or phase half done after each TIME, e.g. 30s or 10min; finished ones are"
                      " kept in any case. [default: 5min]"),
    click.option("--resume", is_flag=True,
                 help="Go on from the checkpoint of the same command; begin if there is none. Without --checkpoint it"
                      " is beside a new store, with .resume at the end of its name, else in the folder for temporary"
                      " files."),
    click.option("--keep-checkpoint", is_flag=True, help="Leave the checkpoint when the command has ended well."),
)


@contextmanager
def writing(given: dict[str, Any], target: str) -> Iterator[tuple[Listener, CheckpointOptions | None]]:
    """A listener and what was asked of checkpoints, while the store `target` is written. Ctrl-C becomes an error that
    says what is left."""
    chosen = chosen_checkpoint(given)
    try:
        with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
            yield listener, chosen
    except KeyboardInterrupt as stop:
        raise _stopped(target, chosen) from stop


def _stopped(target: str, chosen: CheckpointOptions | None) -> EmdiamError:
    """What to say when the user has stopped the writing of the store `target`."""
    said = f"stopped by the user; {target} was not written"
    folder = None if chosen is None else chosen.folder_for(Path(target))
    if folder is None or not folder.exists():
        return Interrupted(said)
    return StoppedEarly(f"{said}; what was done is in {folder}: give the same command with --resume to go on")


class KeptRuns:
    """The checkpoints of the runs of one command. They stay until the answer has been printed: a command that
    is killed just before goes on from them and answers at once.

    several : each run has a folder of its own in that which was given.
    """

    def __init__(self, chosen: CheckpointOptions | None, several: bool = False) -> None:
        self._chosen, self._several = chosen, several
        self._ended: list[Path] = []

    def of(self, number: int) -> CheckpointOptions | None:
        """That of run `number`, from 0 on."""
        if self._chosen is None:
            return None
        folder = self._chosen.folder
        if self._several and folder is not None:
            folder = folder / f"run-{number + 1}"
        return replace(self._chosen, folder=folder, keep=True)

    def ended(self, result: dict[str, Any]) -> None:
        """A run has ended with `result`."""
        if self._chosen is not None and not self._chosen.keep:
            self._ended.append(Path(result["details"]["checkpoint"]["folder"]))

    def answered(self) -> None:
        """All have ended and the answer is out: remove what is not to be kept."""
        if not self._ended or self._chosen is None:
            return
        from ..checkpoint.folder import remove_checkpoint

        for path in self._ended:
            remove_checkpoint(path)
        folder = self._chosen.folder
        if self._several and folder is not None and not any(folder.iterdir()):
            folder.rmdir()
