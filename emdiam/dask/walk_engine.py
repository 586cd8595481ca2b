"""Verbs of the Dask engine that look at rows along a way, or at all of them once: walks, scans, trees, samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..traverse.columns import Column
from . import scans, walks
from .base_engine import BaseEngine
from .column_verbs import ranks_at
from .columns import WorkerColumn
from .exchange import group_size

_ROOM_SHARE, _LEAST_ROOM = 2, 1 << 20


class WalkVerbs(BaseEngine):
    """See BaseEngine. A column in RAM of the client is copied to the workers, a piece at a time, for a verb that works
    there.

    ghost_bytes : what values of other ranges may take on a worker during a pass; None: half of its pool, or 1 MiB if
    that is more."""

    ghost_bytes: int | None = None

    @property
    def _ghost_room(self) -> int:
        if self.ghost_bytes is not None:
            return self.ghost_bytes
        return int(max(_LEAST_ROOM, min(plan["pool_bytes"] for plan in self.group.plans) // _ROOM_SHARE))

    def on_workers(self, column: Column) -> WorkerColumn:
        """The column, or a copy of it on the workers."""
        if isinstance(column, WorkerColumn):
            return column
        copy = self.columns.make(column.dtype, column.unreached)
        copy.copy_from(column)
        return copy

    # -- all rows once ----------------------------------------------------------------------------
    def scan(self, name: str, column: Column) -> int:
        """See Engine.scan."""
        if name != "steep-arcs":
            raise ValueError(f"unknown scan kernel {name!r}")
        mine = self.on_workers(column)
        return sum(self.group.everyone(
            scans.count_steep, mine.key, group_size(self._ghost_room, mine.dtype.itemsize), label="steep-arcs",
            together=True, tick=self.reporter.heartbeat))

    def tree_diameter(self, distances: Column, source: int) -> int:
        """See Engine.tree_diameter."""
        if distances.gather([source])[0] != 0:
            raise ValueError(f"vertex {source} is not the source of these distances")
        mine = self.on_workers(distances)
        size = group_size(self._ghost_room, mine.dtype.itemsize + self.store.id_dtype.itemsize)
        found = self.group.everyone(scans.tree_diameter, mine.key, size, together=True, tick=self.reporter.heartbeat)
        orphan = max(vertex for _, vertex in found)
        if orphan >= 0:
            raise RuntimeError(f"no neighbour of vertex {orphan} is nearer to the source")
        return max(longest for longest, _ in found)

    # -- ranks ------------------------------------------------------------------------------------
    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.ranks."""
        wanted = np.asarray(ids, np.int64)
        if self.store.is_natural or len(wanted) == 0:
            return wanted
        places = self._by_owner(wanted)
        found = np.empty(len(wanted), np.int64)
        parts = self.group.some(ranks_at, {rank: (wanted[at],) for rank, at in places.items()})
        for at, values in zip(places.values(), parts, strict=True):
            found[at] = values
        return found

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """See Engine.sample_vertices."""
        candidates = max(1, self.facts.n_vertices - self.facts.n_isolated)
        threshold = min((expected << 64) // candidates, (1 << 64) - 1)
        found = self.group.everyone(scans.sample_range, key, threshold, expected >= candidates)
        vertices, ranks = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return vertices[np.argsort(ranks, kind="stable")]

    # -- ways -------------------------------------------------------------------------------------
    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See Engine.follow_chains."""
        ends, lengths = np.empty(len(tips), np.int64), np.zeros(len(tips), np.int64)
        self.group.everyone(walks.begin_chains, np.asarray(tips, np.int64))
        while True:
            steps = self.group.everyone(walks.follow_some, label="chains", together=True, tick=self.reporter.heartbeat)
            for ended, _ in steps:
                ends[ended[:, 0]], lengths[ended[:, 0]] = ended[:, 1], ended[:, 3]
            if steps[0][1]:
                return ends, lengths

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """See Engine.path_pieces. Another verb may be asked between two pieces, but no second path."""
        mine = self.on_workers(distances)
        self.group.everyone(walks.begin_path, int(target))
        yield np.array([target], np.int64)
        while True:
            steps = self.group.everyone(walks.walk_some, mine.key, by_rank, label="path", together=True,
                                        tick=self.reporter.heartbeat)
            for _, piece in sorted((piece for step in steps for piece in step.pieces), key=lambda piece: piece[0]):
                yield piece
            if steps[0].lost:
                raise RuntimeError(f"no neighbour of vertex {steps[0].at} is nearer to the source")
            if steps[0].ended:
                return
