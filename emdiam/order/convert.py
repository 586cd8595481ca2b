"""Converting edge lists into a store in another order: naturally first, then reordered.

The naturally ordered store lies in NAME.natural.partial beside the target until the other is
complete. Whatever stops the conversion, it is removed, after `kill -9` by the next one; meanwhile
its claim (graph/claim.py) tells it from one at work.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..graph.claim import claim
from ..graph.convert import ConvertOptions, ConvertReport, convert
from ..graph.layout import PARTIAL_SUFFIX
from ..graph.writer import check_target
from ..units import default_memory_bytes
from .registry import order_named
from .run import reorder

_STORE = "store"


def convert_ordered(
    inputs: Sequence[str | Path], target: str | Path, order: str, *, options: ConvertOptions | None = None
) -> ConvertReport:
    """Convert files, globs or "-" (together one graph) into a store at `target` in the named order.

    The report is that of the conversion, with the record of the store at `target`, the seconds and
    peaks of both steps, and the naturally ordered store counted as scratch. Raises what `convert`
    and `reorder` raise.
    """
    options, target = options or ConvertOptions(), Path(target)
    order_named(order)
    check_target(target, options.force)
    options = replace(options, memory_bytes=options.memory_bytes or default_memory_bytes())
    with _store_beside(target) as natural:
        report = convert(inputs, natural, options=replace(options, force=False))
        size = sum(path.stat().st_size for path in natural.rglob("*") if path.is_file())
        placed = reorder(natural, target, order, options=options)
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
def _store_beside(target: Path) -> Iterator[Path]:
    """A place for a store in a claimed folder beside the target, removed at the end.

    Raises InputError if another conversion has it, or if something else is in the way.
    """
    folder = target.with_name(f"{target.name}.natural{PARTIAL_SUFFIX}")
    _remove_stale(folder)
    folder.mkdir()
    handle = claim(folder)
    try:
        yield folder / _STORE
    finally:
        shutil.rmtree(folder)
        os.close(handle)


def _remove_stale(folder: Path) -> None:
    """Remove what a killed conversion has left under this name, and nothing else."""
    if not folder.exists() and not folder.is_symlink():
        return
    ours = folder.is_dir() and not folder.is_symlink()
    if not ours or not {path.name for path in folder.iterdir()} <= {_STORE, _STORE + PARTIAL_SUFFIX}:
        raise InputError("this is in the way and is not an unfinished store", path=folder,
                         remedy="move it away or choose another name for the store")
    handle = claim(folder)
    try:
        shutil.rmtree(folder)
    finally:
        os.close(handle)
