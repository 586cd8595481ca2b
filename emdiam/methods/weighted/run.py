"""One exact run on a weighted graph, from its options to its result: the diameter is proved, its path added up again,
files are written. The points of candidates take what is left of the memory.

Bytes: see stages.py; a vertex: 24 for columns of the sweeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, no_such
from ..witness import write_path
from .bounding import WeightedBounding
from .pivots import SWEEPS, WeightedPivots
from .result import WeightedResult
from .search import WeightedSearch
from .stages import Stages, solved

if TYPE_CHECKING:
    from ...runs.task import Session, Task
    from ..definition import Limits

METHODS: dict[str, type[WeightedSearch]] = {"pivots": WeightedPivots, "bounding": WeightedBounding}
# Points of candidates below this are not worth a plan.
_LEAST_ROOM = 16 << 20


@dataclass(frozen=True)
class WeightedOptions:
    """path_file : file for the path, None: none."""

    path_file: Path | None = None


def options(task: Task, own: dict[str, Any], limits: Limits) -> WeightedOptions:
    """The options of those that were given by name. Raises InputError for a method that there is not."""
    if task.method == "fdiam":
        raise InputError("F-Diam is for graphs without weights: it counts edges", remedy="use --method pivots")
    if task.method not in METHODS:
        raise no_such("method for weighted graphs", task.method, METHODS)
    return WeightedOptions(**own)


def solve(session: Session) -> WeightedResult:
    """The largest length of a shortest path between two vertices that are joined by one.

    Raises InputError (BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the end of the time,
    OverflowError where distances may not fit 64 bits."""
    return solved(session, 8 * SWEEPS, METHODS[session.task.method], _proved, _LEAST_ROOM)


def _proved(stages: Stages, search: WeightedSearch) -> WeightedResult:
    if isinstance(search, WeightedPivots):
        search.room, stages.planned = stages.room, stages.memory
    with stages.solving(search, lambda: stages.answer(WeightedResult, search)):
        search.solve()
    path = stages.checked(search)
    result = stages.answer(WeightedResult, search)
    result.witness = stages.witness(search, path)
    file = stages.task.options.path_file
    if file is not None:
        _write_path(result, path, file, stages)
    stages.session.certify(result, stages.store, search)
    return stages.end(result)


def _write_path(result: WeightedResult, path: list[int], file: Path, stages: Stages) -> None:
    assert result.witness is not None
    try:
        write_path(stages.store, [np.array(path)], file)
        result.witness.path_file = str(file)
    except InputError as error:
        result.not_written.append(str(error))
