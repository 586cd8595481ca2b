"""Conversion of edge lists into a store in another order: naturally first, then reordered.

The naturally ordered store is in NAME.natural.partial beside the target until the other one is complete. It is removed
however the conversion ends, after `kill -9` by the next run; its claim (store/writer.py) shows whether a conversion is
using it. With a checkpoint it is kept for a conversion that resumes from that.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..checkpoint.folder import check_names, check_owner, make_folder
from ..checkpoint.options import CheckpointOptions
from ..durable import check_name, user_of
from ..errors import InputError
from ..links import status_of
from ..store.layout import NATURAL, PARTIAL_SUFFIX
from ..store.place import check_target, claim, make_partial
from ..units import budget_bytes
from .convert import ConvertOptions, ConvertReport, Inputs, check_outputs, convert
from .orders import order_named
from .reorder import reorder

_STORE = "store"
# Checkpoint folders of the two steps, and the suffix of their common folder while it is removed.
_STEPS = ("convert", "reorder")
_REMOVING = ".removing"


def convert_ordered(
    inputs: Inputs, target: str | Path, order: str, *, options: ConvertOptions | None = None
) -> ConvertReport:
    """Convert files, globs or "-" (together one graph), or the edges of a source, into a store at `target` in the
    named order.

    The report is that of the conversion, with the record of the store at `target`, the seconds and peaks of both steps,
    and the naturally ordered store counted as scratch. Raises like `convert` and `reorder`.
    """
    options, target = options or ConvertOptions(), Path(target)
    order_named(order)
    if options.checkpoint is None:
        check_outputs(target, options)
        options = replace(options, memory_bytes=budget_bytes(options.memory_bytes))
        with place_beside(target, NATURAL, [_STORE]) as place:
            return _both(inputs, place / _STORE, target, order, (options, options))
    return _resumable(inputs, target, order, options, options.checkpoint)


def _resumable(
    inputs: Inputs, target: Path, order: str, options: ConvertOptions, checkpoint: CheckpointOptions
) -> ConvertReport:
    """The same with a checkpoint for each step; the checkpoints and the naturally ordered store are kept until both
    steps are done."""
    folder = checkpoint.folder_for(target)
    check_name(folder)
    _check_removing(folder)
    steps = [folder / name for name in _STEPS]
    if os.path.lexists(folder):
        make_folder(folder)  # refuses anything but a folder
        check_owner(folder)
        check_names(folder, _STEPS.__contains__)
    else:
        check_target(target, options.force)
        make_folder(folder)
    with place_beside(target, NATURAL, [_STORE], checkpoint.resume, stays=folder.is_dir) as place:
        try:
            first, second = (replace(options, checkpoint=replace(checkpoint, folder=step, keep=True)) for step in steps)
            report = _both(inputs, place / _STORE, target, order, (first, second))
            if not checkpoint.keep:
                # Renamed first, so that no part of it is taken for a checkpoint to resume from.
                gone = folder.with_name(folder.name + _REMOVING)
                if gone.exists():  # the leftover of a killed run
                    shutil.rmtree(gone)
                folder.rename(gone)
                shutil.rmtree(gone)
            return report
        finally:
            if folder.is_dir() and not any(step.exists() for step in steps):
                folder.rmdir()


def _check_removing(folder: Path) -> None:
    """Raise InputError if the name for a removed folder is taken by anything but a folder of this user."""
    gone = folder.with_name(folder.name + _REMOVING)
    status = status_of(gone)
    if status is not None and (not stat.S_ISDIR(status.st_mode) or status.st_uid != user_of(gone.absolute().parent)):
        raise InputError("this is in the way, and no checkpoint of yours", path=gone,
                         remedy="move it away, or give --checkpoint another folder")


def _both(
    inputs: Inputs, natural: Path, target: Path, order: str,
    options: tuple[ConvertOptions, ConvertOptions],
) -> ConvertReport:
    """Convert to `natural`, and reorder that to `target`. options : of the two steps."""
    report = convert(inputs, natural, options=replace(options[0], force=False))
    size = sum(path.stat().st_size for path in natural.rglob("*") if path.is_file())
    placed = reorder(natural, target, order, options=options[1])
    seconds = dict(report.seconds)
    for phase, spent in placed.seconds.items():
        seconds[phase] = seconds.get(phase, 0.0) + spent
    return replace(
        report, record=placed.record, seconds=seconds, peak_rss_bytes=placed.peak_rss_bytes,
        planned_rss_bytes=max(report.planned_rss_bytes, placed.planned_rss_bytes),
        scratch_bytes=max(report.scratch_bytes, size + placed.scratch_bytes),
        notes=tuple(dict.fromkeys((*report.notes, *placed.notes))),
    )


@contextmanager
def place_beside(
    target: Path, kind: str, stores: Sequence[str], resume: bool = False, stays: Callable[[], bool] = lambda: False,
) -> Iterator[Path]:
    """Make and claim a folder NAME.KIND.partial beside the target, for stores with these names; it is removed at the
    end unless `stays` returns True.

    resume : use the folder of an earlier run. Raises InputError if another process has claimed it, or if something else
    has its name.
    """
    folder = target.with_name(f"{target.name}.{kind}{PARTIAL_SUFFIX}")
    check_name(folder)
    known = {name + ending for name in stores for ending in ("", PARTIAL_SUFFIX)}
    goes_on = resume and folder.is_dir()
    handle = claim(folder) if goes_on else make_partial(
        folder, lambda old: {path.name for path in old.iterdir()} <= known)
    try:
        yield folder
    finally:
        try:
            if not stays():
                shutil.rmtree(folder)
        finally:
            os.close(handle)
