"""The options of checkpoints, of runs and of conversions. No heavy imports, since the command line reads this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..units import parse_duration

EVERY_SECONDS = 300.0
_BESIDE = ".resume"


@dataclass(frozen=True)
class CheckpointOptions:
    """Where and how a checkpoint is kept.

    folder : made if it is missing; None: for a run, one in the folder for temporary files, named after the store, the
    method and its options, so that the same command finds it again; for a conversion, one beside the new store. every :
    seconds after which a long traversal or phase is kept half done; each finished one is kept in any case. resume : go
    on from what the folder has; begin if it has nothing. keep : leave the folder when all has ended well.
    """

    folder: Path | None = None
    every: float = EVERY_SECONDS
    resume: bool = False
    keep: bool = False

    def folder_for(self, target: Path) -> Path:
        """The folder for the writing of the store `target`."""
        return self.folder or target.with_name(target.name + _BESIDE)


def chosen_checkpoint(given: Mapping[str, Any]) -> CheckpointOptions | None:
    """What was asked of checkpoints; None if none of the options was given.

    given : options by the names of the command line: checkpoint (a folder, or CheckpointOptions), checkpoint_every,
    resume, keep_checkpoint. Raises InputError for a bad time."""
    folder, every = given.get("checkpoint"), given.get("checkpoint_every")
    resume, keep = bool(given.get("resume")), bool(given.get("keep_checkpoint"))
    if isinstance(folder, CheckpointOptions):
        return folder
    if folder is None and every is None and not resume and not keep:
        return None
    return CheckpointOptions(None if folder is None else Path(folder),
                             EVERY_SECONDS if every is None else parse_duration(every), resume, keep)
