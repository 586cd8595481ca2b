"""A table of distances between chosen vertices, along edges, arcs or weights: a search from each source.

A row for every source and target, in the order of the arguments: origin, destination, distance, which is null
without a path. Without targets all vertices are targets, in the order of the store. Weights must not be negative. Along
floats a distance is the least sum that a search has found, as of `emdiam sssp`.
Bytes: those of a search (paths/plan.py), 8 a vertex for a column, and the ids of the targets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InputError, StoppedEarly
from ..paths.rows import unreached
from ..progress import Meter, TimeOver, silent
from ..shown import Shown
from ..store.names import vertices_of
from ..units import MemoryFigures
from ..vertex_tables import PIECE, Piece, write_vertices

if TYPE_CHECKING:
    from ..methods.weighted.metric import WeightMetric
    from ..runs.task import Session

_VERTEX_BYTES = 40


@dataclass(repr=False)
class DistanceRows(Shown, MemoryFigures):
    """A table that was written. n_pairs : rows. unreachable_pairs : rows without a path. largest_distance : of the
    other rows; None if there are none. weighted, directed : whether distances are sums of weights, and go along arcs.
    out : the file. seconds : wall seconds {load, write, total}."""

    shown: ClassVar[tuple[str, ...]] = (
        "n_sources", "n_targets", "n_pairs", "unreachable_pairs", "largest_distance", "n_vertices", "n_edges", "out",
        "weight", "weights")

    n_vertices: int
    n_edges: int
    n_sources: int
    n_targets: int
    n_pairs: int = 0
    unreachable_pairs: int = 0
    largest_distance: Any = None
    out: str | None = None
    directed: bool = False
    weighted: bool = False
    weights: str | None = None
    weight: str | None = None
    edges_scanned: int = 0
    bytes_read: int = 0
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = "cpu"
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    not_written: list[str] = field(default_factory=list)
    directions_dropped: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, and memory_limit_exceeded; ready for JSON."""
        return {**vars(self), "memory_limit_exceeded": self.memory_limit_exceeded}


def solve(session: Session, weighted: bool) -> DistanceRows:
    """Compute and write the table. Raises InputError (BudgetError; for an unknown id), and StoppedEarly on Ctrl-C and
    when the time is over: then there is no file."""
    store, asked = session.store, session.task.options
    sources, targets = (None if named is None else vertices_of(store, ids_in(named))
                        for named in (asked.sources, asked.targets))
    assert sources is not None, "a table has sources"
    n_targets = store.n_vertices if targets is None else len(targets)
    with session.along_weights(_VERTEX_BYTES, weighted=weighted, along=False) as (metric, plan):
        result = DistanceRows(store.n_vertices, store.n_edges, len(sources), n_targets, weighted=weighted,
                              directed=store.directed, **(metric.fields() if weighted else {}))
        try:
            session.write(result, "out", asked.out, lambda: write_vertices(
                asked.out, _rows(session, metric, sources, targets, result), "the table of distances"))
        except (TimeOver, KeyboardInterrupt):
            raise StoppedEarly("stopped before the table of distances was whole, so it was not written") from None
        session.tell(result, session.memory_bytes, plan.need)
        used = metric.used()
        result.bytes_read, result.edges_scanned = used.bytes_read, used.edges_scanned
        result.seconds = {**metric.seconds, **result.seconds, "total": session.elapsed}
    return result


def _rows(session: Session, metric: WeightMetric, sources: np.ndarray, targets: np.ndarray | None,
          result: DistanceRows) -> Iterator[Piece]:
    """The rows of one source after the other, in pieces of its targets."""
    store, meter = session.store, Meter(session.progress or silent)
    origins, longest = store.user_ids(sources), -1
    everyone = np.arange(store.n_vertices) if targets is None else targets
    names = [store.user_ids(everyone[start : start + PIECE]) for start in range(0, len(everyone), PIECE)]
    meter.begin("write", len(sources), "sources")
    for number, source in enumerate(sources.tolist()):
        if session.deadline is not None and time.monotonic() >= session.deadline:
            raise TimeOver
        column, missing = _column(metric, source, everyone)
        lengths = metric.units.lengths(column) if metric.units.whole else column
        if not missing.all():
            longest = max(longest, column.max().item())
        result.n_pairs += len(column)
        result.unreachable_pairs += int(np.count_nonzero(missing))
        if longest >= 0:
            result.largest_distance = metric.number(longest) if metric.units.whole else longest
        for place, some in enumerate(names):
            part = slice(place * PIECE, place * PIECE + len(some))
            yield {"origin": [origins[number]] * len(some), "destination": some,  # type: ignore[dict-item]
                   "distance": (lengths[part], missing[part])}
        meter.update(number + 1)
    meter.end()


def _column(metric: WeightMetric, source: int, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distances from a source to targets, in units, or floats along floats; and whether each has no path, where the
    distance is 0."""
    column = metric.summed(*metric.search(np.array([source])))[targets]
    missing = column == unreached(column.dtype)
    column[missing] = 0
    return column, missing


def ids_in(named: str | Path | Sequence[Any]) -> list[int | str]:
    """Ids in a file, one a line, without empty lines; or those of a sequence. Raises InputError."""
    if not isinstance(named, str | Path):
        return list(named)
    try:
        lines = Path(named).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the ids cannot be read ({getattr(error, 'strerror', None) or 'they are not UTF-8'})",
                         path=named) from None
    found: list[int | str] = [line.strip() for line in lines if line.strip()]
    if not found:
        raise InputError("there is no id in this file", path=named, remedy="write one on every line")
    return found
