"""Components and clusters of the Dask engine, over workers; with the verbs of walk_engine.py and local_engine.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import InputError
from ..traverse.clusters import MOST_MASTERS, Labels
from ..traverse.components import Components
from ..traverse.labels import FOREVER
from . import components as component_verbs
from . import labels as label_verbs
from . import scans
from .components import WorkerComponents, WorkerLabels
from .exchange import group_size
from .growth import GROWING, TOO_LONG, WHOLE
from .labels import WorkerClusters
from .local_engine import LocalVerbs
from .walk_engine import WalkVerbs

# Packed arcs that a worker hands over at a time.
_MOST_ARCS = 1 << 20
_LABEL_BYTES = 8


class LabelVerbs(WalkVerbs, LocalVerbs):
    """See BaseEngine. Labels and sizes of components, and labels of clusters, are columns on the workers."""

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        if not any(self.group.everyone(component_verbs.any_unseen)):
            return None
        keys = self.columns.new_key(), self.columns.new_key()
        counts = self.group.everyone(component_verbs.find_parts, *keys, int(reached), self.columns.take_unused(),
                                     label="components", together=True, tick=self.reporter.heartbeat)
        labels, sizes = (self.columns.adopt(key, self.store.id_dtype) for key in keys)
        return WorkerComponents(self.columns, WorkerLabels(labels), sizes, sum(counts), int(reached))

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        _check_number(len(masters))
        key = self.columns.new_key()
        self.group.everyone(label_verbs.begin_labels, key, self.columns.take_unused())
        labels = WorkerClusters(self.columns, self.columns.adopt(key, np.uint64), np.asarray(masters, np.int64))
        if not self._grow_from(labels, 0, most_rounds):
            return None
        if not any(self.group.everyone(label_verbs.any_lonely, key)):
            return labels
        found = self.group.everyone(label_verbs.lonely_roots, key, label="lonely-components", together=True,
                                    tick=self.reporter.heartbeat)
        roots, ranks = (np.concatenate(parts) for parts in zip(*found, strict=True))
        first = len(masters)
        _check_number(first + len(roots))
        labels.masters = np.concatenate((labels.masters, roots[np.argsort(ranks)]))
        return labels if self._grow_from(labels, first, most_rounds) else None

    def _grow_from(self, labels: WorkerClusters, first: int, most_rounds: int | None) -> bool:
        """Grow around the masters from number `first` on; False if stopped after `most_rounds`."""
        self.group.everyone(label_verbs.seed_labels, labels.key, labels.masters[first:], first)
        return self._grow(labels, 1, (most_rounds, None))

    def _grow(self, labels: WorkerClusters, width: int, limits: tuple[int | None, int | None]) -> bool:
        """Grow what waits; see growth.Growth."""
        level, how = 0, GROWING
        while how == GROWING:
            steps = self.group.everyone(label_verbs.grow_some, labels.key, width, limits, self._ghost_room,
                                        label=f"labels-level-{level}", together=True, tick=self.reporter.heartbeat)
            how, level, rounds = steps[0]
            self.reporter.heartbeat()
        labels.passes += rounds
        if how == TOO_LONG:
            raise OverflowError(f"a distance of {level} does not fit a label")
        return how == WHOLE

    def restart(
        self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_scans: int | None = None
    ) -> bool:
        """See Engine.restart. One that is asked again after it was cut short grows from the sources alone, which gives
        the same distances."""
        mine, spoiled = _on_workers(labels), _on_workers(labels).spoiled
        mine.masters, mine.spoiled = np.asarray(sources, np.int64), True
        self._mine.add(traversals=1)
        if spoiled:
            self.group.everyone(label_verbs.begin_labels, mine.key, self.columns.take_unused())
            whole = self._grow_from(mine, 0, None)
        else:
            self.group.everyone(label_verbs.restart_range, mine.key, base, parts, mine.masters)
            most = None if most_scans is None else most_scans * self.facts.n_blocks
            whole = self._grow(mine, FOREVER, (None, most))
        mine.spoiled = False
        return whole

    def condense(self, labels: Labels, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.condense; arcs come in pieces, without those that a piece has already."""
        key, size = _on_workers(labels).key, group_size(self._ghost_room, _LABEL_BYTES)
        try:
            for low in range(0, self.facts.n_vertices, size):
                self.group.everyone(scans.begin_condensing, key, low, min(low + size, self.facts.n_vertices),
                                    label="condense-labels", together=True, tick=self.reporter.heartbeat)
                self._condense_group(key, bits, push)
        finally:
            self.group.everyone(scans.end_condensing)

    def _condense_group(self, key: int, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """Hand over the arcs into the group of vertices whose labels are at hand."""
        left = list(range(self.group.size))
        while left:
            found = self.group.some(scans.condense_some, {rank: (key, bits, _MOST_ARCS) for rank in left},
                                    label="condense", tick=self.reporter.heartbeat)
            for arcs, _ in found:
                if len(arcs):
                    push(arcs)
            left = [rank for rank, (_, more) in zip(left, found, strict=True) if more]


def _on_workers(labels: Labels) -> WorkerClusters:
    if not isinstance(labels, WorkerClusters):
        raise TypeError("these labels are in RAM of the client; those of this engine are on its workers")
    return labels


def _check_number(masters: int) -> None:
    if masters > MOST_MASTERS:
        raise InputError(f"a label holds no more than {MOST_MASTERS:,} masters", text=f"{masters:,}",
                         remedy="ask for fewer")
