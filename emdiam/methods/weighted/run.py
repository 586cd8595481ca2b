"""One exact run on a weighted graph, from its options to its result: the diameter is proved, its path added up again,
files are written. The points of candidates take what is left of the memory.

Bytes: see stages.py; a vertex: 24 for columns of the sweeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...durable import check_file
from ...engine.attempts import attempted
from ...errors import InputError, no_such
from ...progress import Listener
from ...store.store import Store
from ..exact.witness import write_path
from .bounding import WeightedBounding
from .certificate import write_certificate
from .pivots import SWEEPS, WeightedPivots
from .result import WeightedResult
from .search import WeightedSearch
from .stages import RunOptions, Stages, given_fields, opened

METHODS: dict[str, type[WeightedSearch]] = {"pivots": WeightedPivots, "bounding": WeightedBounding}
# Points of candidates below this are not worth a plan.
_LEAST_ROOM = 16 << 20


@dataclass(frozen=True)
class WeightedOptions(RunOptions):
    """method : of METHODS. path_file, certificate : files to write, None: none."""

    method: str = "pivots"
    path_file: Path | None = None
    certificate: Path | None = None


def options_of(given: Mapping[str, Any]) -> WeightedOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError for those that a run on
    a weighted graph has not."""
    return WeightedOptions(**given_fields(given, {
        "method": ("method", exact_method), "path": ("path_file", Path), "certificate": ("certificate", Path)}))


def exact_method(name: str) -> str:
    """The name of a method. Raises InputError for one that there is not."""
    if name == "fdiam":
        raise InputError("F-Diam is for graphs without weights: it counts edges", remedy="use --method pivots")
    if name not in METHODS:
        raise no_such("method for weighted graphs", name, METHODS)
    return name


def solve(store: Store | str | Path, asked: WeightedOptions, progress: Listener | None = None) -> WeightedResult:
    """The largest length of a shortest path between two vertices that are joined by one.

    Raises InputError (StoreError; BudgetError with the numbers; NotWritten with `result`), StoppedEarly with `result`
    on Ctrl-C and at the end of the time, OverflowError where distances may not fit 64 bits."""
    for file in (asked.path_file, asked.certificate):
        if file is not None:
            check_file(file)
    with opened(store, asked) as place:
        return attempted(lambda found: _solved(
            Stages(place, asked, progress, 8 * SWEEPS, _LEAST_ROOM, found=found), asked))


def _solved(stages: Stages, asked: WeightedOptions) -> WeightedResult:
    """The answer, checked. Raises StoppedEarly, NotWritten."""
    with stages.opened_arcs() as arcs:
        return stages.proved(lambda: _proved(
            stages, stages.with_room(METHODS[asked.method](arcs, stages.units)), asked))


def _proved(stages: Stages, search: WeightedSearch, asked: WeightedOptions) -> WeightedResult:
    if isinstance(search, WeightedPivots):
        search.room, stages.planned = stages.room, stages.memory
    with stages.solving(search, lambda: _answer(stages, search)):
        search.solve()
    path = stages.checked(search)
    result = _answer(stages, search)
    result.witness = stages.witness(search, path)
    if asked.path_file is not None:
        _write_path(stages.store, result, path, asked.path_file)
    if asked.certificate is not None:
        stages.certify(result, asked.certificate, lambda file: write_certificate(file, result, search, stages.store))
    stages.end(result)
    return result


def _answer(stages: Stages, search: WeightedSearch) -> WeightedResult:
    return WeightedResult(method=search.name, **stages.told(search))


def _write_path(store: Store, result: WeightedResult, path: list[int], file: Path) -> None:
    assert result.witness is not None
    try:
        write_path(store, [np.array(path)], file)
        result.witness.path_file = str(file)
    except InputError as error:
        result.not_written.append(str(error))
