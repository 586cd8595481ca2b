"""The checkpoint options of runs and of conversions. No heavy imports, since the command line reads this."""

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

    folder : made if missing; None: for a run, a folder in the folder for temporary files, named after the store, the
    method and its options, so that the same command finds it again; for a conversion, a folder beside the new store.
    every : seconds between saves of an unfinished traversal or phase; each finished one is always saved. resume :
    continue from the folder's content; start anew if it is empty. keep : do not remove the folder after success.
    """

    folder: Path | None = None
    every: float = EVERY_SECONDS
    resume: bool = False
    keep: bool = False

    def folder_for(self, target: Path) -> Path:
        """The folder for the writing of the store `target`."""
        return self.folder or target.with_name(target.name + _BESIDE)


def chosen_checkpoint(values: Mapping[str, Any]) -> CheckpointOptions | None:
    """The checkpoint options in `values`; None if there are none.

    values : options by their names on the command line: checkpoint (a folder, or CheckpointOptions), checkpoint_every,
    resume, keep_checkpoint. Raises InputError for a bad time.
    """
    folder, every = values.get("checkpoint"), values.get("checkpoint_every")
    resume, keep = bool(values.get("resume")), bool(values.get("keep_checkpoint"))
    if isinstance(folder, CheckpointOptions):
        return folder
    if folder is None and every is None and not resume and not keep:
        return None
    return CheckpointOptions(None if folder is None else Path(folder),
                             EVERY_SECONDS if every is None else parse_duration(every), resume, keep)
