"""The part of the Dask engine that fills columns: many sources at once, spreads, bounds on eccentricities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..traverse.columns import Column
from ..traverse.pivot_bounds import PivotBounds
from . import multi as multi_verbs
from . import spread as spread_verbs
from .base_engine import BaseEngine
from .columns import ref
from .masks import part_bytes, row_bytes
from .pivot_bounds import WorkerBounds

_WORD_BITS = 64
_LEAST_ROOM, _USUAL_ROOM = 1 << 16, 1 << 20


class ValueVerbs(BaseEngine):
    """Engine verbs over workers; see emdiam.engine.interface.Engine.

    batch_room_bytes : what a batch of sources may take on a worker for masks that go to others, and again for those
    that come; None: by what the pool leaves, 64 KiB at least."""

    batch_room_bytes: int | None = None

    # -- many sources ---------------------------------------------------------------------------
    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities. Batches are of as many bits as the pool of every worker holds, 64 at least."""
        wanted = np.asarray(sources, np.int64)
        if len(wanted) and (int(wanted.min()) < 0 or int(wanted.max()) >= self.facts.n_vertices):
            raise ValueError(f"a source is no vertex (0 to {self.facts.n_vertices - 1})")
        if columns is not None and (len(columns) != len(wanted) or len({column.dtype for column in columns}) > 1):
            raise ValueError("one column per source, all of one dtype, is needed")
        keys = None if columns is None else [ref(column).key for column in columns]
        self.reporter.begin()
        found, bits = np.empty(len(wanted), np.int32), self._bits(len(wanted))
        for begin in range(0, len(wanted), bits):
            end = min(begin + bits, len(wanted))
            found[begin:end] = self._batch(wanted[begin:end], targets, None if keys is None else keys[begin:end])
        self.reporter.end("multi-source", sources=len(wanted),
                          eccentricity=None if targets is not None else int(found.max(initial=0)))
        return found

    def _bits(self, wanted: int) -> int:
        """Sources of a batch, if there are so many: as many as fit the pool of every worker."""
        bits = min(self.facts.batch_bits, -(-max(1, wanted) // _WORD_BITS) * _WORD_BITS)
        while bits > _WORD_BITS and any(part_bytes(own, bits) + 2 * _LEAST_ROOM > pool for own, pool in self._pools()):
            bits -= _WORD_BITS
        return bits

    def _pools(self) -> list[tuple[int, int]]:
        """(vertices, bytes of the pool) of every rank."""
        owned = np.diff(self.group.ranges).tolist()
        return [(own, plan["pool_bytes"]) for own, plan in zip(owned, self.group.plans, strict=True)]

    def _room(self, bits: int) -> int:
        """The room of a batch of so many bits; the same on all ranks."""
        if self.batch_room_bytes is not None:
            return self.batch_room_bytes
        left = min((pool - part_bytes(own, bits)) // 2 for own, pool in self._pools())
        most = max(own for own, _ in self._pools()) * row_bytes(bits) // 2
        return max(_LEAST_ROOM, min(_USUAL_ROOM, left), min(most, left // 2))

    def _batch(self, sources: np.ndarray, targets: np.ndarray | None, columns: list[int] | None) -> np.ndarray:
        """The eccentricities of one batch, int32[k]."""
        remaining = None
        if targets is not None:
            own = targets[sources >> 6] >> (sources & 63).astype(np.uint64) & np.uint64(1)
            remaining = int(np.bitwise_count(targets).sum()) * len(sources) - int(own.sum())
        batch = multi_verbs.Batch(sources, columns, remaining, self._room(len(sources)))
        words, dropped = (self.group.ranges + 63) >> 6, self.columns.take_unused()
        steps = self.group.some(multi_verbs.begin_multi, {
            rank: (batch, None if targets is None else targets[words[rank] : words[rank + 1]], dropped)
            for rank in range(self.group.size)}, label="multi-level-0", together=True, tick=self.reporter.heartbeat)
        while steps[0].found is None:
            self.reporter.level = steps[0].level
            self.reporter.heartbeat()
            steps = self.group.everyone(multi_verbs.step_multi, label=level_label("multi", steps[0]), together=True,
                                        tick=self.reporter.heartbeat)
        self.reporter.level = steps[0].level
        if steps[0].too_long:
            raise OverflowError(f"distance {steps[0].level} does not fit the columns")
        self._mine.add(traversals=1)
        found: np.ndarray = steps[0].found
        return found

    # -- bounds ---------------------------------------------------------------------------------
    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return WorkerBounds(self.columns, largest)

    def spread(self, seeds: np.ndarray, values: np.ndarray, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        wanted, starts = np.asarray(seeds, np.int64), np.asarray(values, np.int64)
        key = self._bound_key(limit, bound)
        kept = starts <= limit
        wanted, starts = wanted[kept], starts[kept]
        owners, levels = self.group.owners(wanted), np.unique(starts)
        return self._spread(spread_verbs.begin_spread, {
            rank: (key, limit, wanted[owners == rank], starts[owners == rank], levels)
            for rank in range(self.group.size)})

    def extend(self, old: int, new: int, bound: Column) -> int:
        """See Engine.extend."""
        key = self._bound_key(new, bound)
        return self._spread(spread_verbs.begin_extension, {rank: (key, old, new) for rank in range(self.group.size)})

    def _bound_key(self, limit: int, bound: Column) -> int:
        key = ref(bound).key
        if limit >= bound.unreached:
            raise OverflowError(f"the limit {limit} does not fit the bound column ({bound.dtype})")
        return key

    def _spread(self, verb: Any, args: dict[int, tuple[Any, ...]]) -> int:
        self.reporter.begin()
        steps = self.group.some(verb, args, label="spread-level-0", together=True, tick=self.reporter.heartbeat)
        while steps[0].lowered is None:
            self.reporter.heartbeat()
            steps = self.group.everyone(spread_verbs.step_spread, label=level_label("spread", steps[0]), together=True,
                                        tick=self.reporter.heartbeat)
        lowered = sum(step.lowered for step in steps)
        self._mine.add(traversals=1)
        self.reporter.end("spread", reached=lowered)
        return lowered


def level_label(verb: str, step: multi_verbs.MultiStep | spread_verbs.SpreadStep) -> str:
    """The name of the task that goes on from there."""
    return f"{verb}-level-{step.level}" + ("-dense" if step.dense else "")
