"""What may be asked of checkpoints; no heavy imports, since the command line reads this."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..units import parse_duration

EVERY_SECONDS = 300.0


@dataclass(frozen=True)
class CheckpointOptions:
    """Where and how a run keeps its checkpoint.

    folder : None for one in the folder for temporary files, named after the store, the method and its
    options, so that the same command finds it again. every : seconds after which a long traversal is kept
    half done; each finished one is kept in any case. resume : go on from what the folder has; begin if
    it has nothing. keep : leave the folder when the run has ended well.
    """

    folder: Path | None = None
    every: float = EVERY_SECONDS
    resume: bool = False
    keep: bool = False


def chosen_checkpoint(
    folder: str | Path | None, every: str | float | None, resume: bool | None, keep: bool | None
) -> CheckpointOptions | None:
    """What was asked of checkpoints; None if none of the options was given. Raises InputError for a bad time."""
    if folder is None and every is None and not resume and not keep:
        return None
    return CheckpointOptions(None if folder is None else Path(folder),
                             EVERY_SECONDS if every is None else parse_duration(every), bool(resume), bool(keep))
