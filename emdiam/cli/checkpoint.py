"""Options of checkpoints, which `emdiam exact` and `emdiam approx` share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..checkpoint.options import CheckpointOptions
from ..checkpoint.options import chosen_checkpoint as options_of
from . import options

checkpoint = options.stacked(
    click.option("--checkpoint", type=options.NEW_FOLDER, metavar="DIR",
                 help="Keep what is found in DIR as the run goes on, so that --resume can go on from it."),
    click.option("--checkpoint-every", type=options.DURATION, metavar="TIME",
                 help="Keep a long traversal half done after each TIME, e.g. 30s or 10min; finished ones are kept in"
                      " any case. [default: 5min]"),
    click.option("--resume", is_flag=True,
                 help="Go on from the checkpoint of the same command; begin if there is none. Without --checkpoint it"
                      " is in the folder for temporary files."),
    click.option("--keep-checkpoint", is_flag=True, help="Leave the checkpoint when the run has ended well."),
)


def chosen_checkpoint(given: dict[str, Any]) -> CheckpointOptions | None:
    """What was asked of checkpoints; None if none of the options was given."""
    return options_of(given["checkpoint"], given["checkpoint_every"], given["resume"], given["keep_checkpoint"])


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
