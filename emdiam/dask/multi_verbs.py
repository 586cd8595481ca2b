"""Multi-source BFS as asked of a rank: begin, go on, tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .masks import Masks
from .multi import MultiSearch
from .rank import Part
from .reserved_arrays import virtual_zeros

_NAME = "multi"
_NO_BITS = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Batch:
    """What a batch looks for. sources : int64[k]. columns : keys of columns for their distances, or None. remaining :
    (target, source) pairs to be met, or None without targets. room : bytes for what goes to others, and as many for
    what comes from them."""

    sources: np.ndarray
    columns: list[int] | None
    remaining: int | None
    room: int


@dataclass(frozen=True)
class MultiStep:
    """level : largest distance so far. dense : whether the next level goes bottom-up. too_long : whether the columns do
    not hold this distance. found : the eccentricities, int32[k], once it is over."""

    level: int
    dense: bool
    too_long: bool
    found: np.ndarray | None


def begin_multi(part: Part, batch: Batch, targets: np.ndarray | None, dropped: Sequence[int]) -> MultiStep:
    """Begin a batch on all ranks together, and go on as `step_multi`. targets : bitmap of this range, uint64[words].
    The columns of the keys `dropped` are let go of."""
    for key in dropped:
        part.values.pop(key, None)
    bitmap = _NO_BITS
    if targets is not None:
        bitmap = virtual_zeros(part.store.n_vertices // 64 + 1, np.uint64)
        bitmap[part.own_words] = targets
    sinks, widest = _open_columns(part, batch)
    masks = Masks(part.core, batch.sources, targets=bitmap, sinks=sinks,
                  room=batch.room)
    part.objects[_NAME] = MultiSearch(part.work, masks, len(batch.sources), remaining=batch.remaining, widest=widest,
                                      room=batch.room)
    return step_multi(part)


def _open_columns(part: Part, batch: Batch) -> tuple[tuple[np.ndarray, int], int | None]:
    """(addresses of the columns and bytes of their items, largest value that they hold); sources are at distance 0."""
    if batch.columns is None:
        return (_NO_BITS, 0), None
    columns = [part.values[key] for key in batch.columns]
    for column, source in zip(columns, batch.sources.tolist(), strict=True):
        if part.first <= source < part.stop:
            column[source] = 0
    addresses = np.array([column.ctypes.data for column in columns], np.int64)
    return (addresses, columns[0].itemsize), int(np.iinfo(columns[0].dtype).max) - 1


def step_multi(part: Part) -> MultiStep:
    """Some levels, on all ranks together."""
    search: MultiSearch = part.objects.pop(_NAME)  # one that fails is let go of
    finished = search.step()
    if not finished:
        part.objects[_NAME] = search
    return MultiStep(search.level, search.dense, search.too_long, search.eccentricities if finished else None)
