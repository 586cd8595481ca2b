"""Components on workers, as the client sees them: the same as traverse.components.Components, labels and sizes in
columns there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..traverse.components import Component, Components
from . import component_verbs as verbs
from .column_verbs import drop_columns
from .columns import Columns, WorkerColumn


class WorkerLabels(NDArrayOperatorsMixin):
    """Labels of all vertices, as an array that is fetched where it is looked at; Column.first takes them by key.

    column : that holds them."""

    def __init__(self, column: WorkerColumn) -> None:
        self._column, self.key, self.dtype = column, column.key, column.dtype

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, wanted: slice) -> np.ndarray:
        """Labels of consecutive vertices, a copy."""
        start, stop, step = wanted.indices(len(self))
        if step != 1:
            raise ValueError("labels are fetched for consecutive vertices")
        return self._column.part(start, stop)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = [item[:] if isinstance(item, WorkerLabels) else item for item in inputs]
        return getattr(ufunc, method)(*given, **options)


class WorkerComponents(Components):
    """See Components. labels : WorkerLabels, an empty array once they are released. sizes : of the component whose
    label a vertex is."""

    def __init__(
        self, columns: Columns, labels: WorkerLabels, sizes: WorkerColumn, n_others: int, reached_label: int
    ) -> None:
        self._columns, self._group = columns, columns.group
        self.labels: Any = labels
        self._count: WorkerColumn | None = sizes
        self.reached_label, self.n_others = reached_label, n_others
        self._listed: list[Component] | None = None
        self._left_out = 0

    def larger_than(self, size: int, most: int = 1 << 16) -> list[Component]:
        """See Components.larger_than."""
        if self._listed is not None:
            return super().larger_than(size, most)
        if self._count is None:
            return []
        found = self._group.everyone(verbs.largest_parts, self._count.key, size, most)
        roots, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((roots, -counts))[:most]
        order = order[np.argsort(roots[order])]
        roots, counts = roots[order], counts[order]
        if len(roots) == 0:
            return []
        told = np.array(self._group.everyone(verbs.describe_parts, self.labels.key, self._count.key, roots))
        last, degrees = told[:, 0].max(axis=0), told[:, 2]
        hubs = told[degrees.argmax(axis=0), 1, np.arange(len(roots))]  # the first of equals has the smaller vertices
        listed = [Component(int(r), int(r), int(x), int(c), int(h))
                  for r, x, c, h in zip(roots, last, counts, hubs, strict=True)]
        return sorted(listed, key=lambda c: (-c.size, c.root))

    def compact(self, size: int, most: int = 1 << 14) -> None:
        """See Components.compact."""
        if self._listed is None and self._count is not None and sum(
                self._group.everyone(verbs.count_larger, self._count.key, size)) <= most:
            listed = self.larger_than(size, most)
            self._left_out = self.largest_size()
            self._listed = listed
            self.release()

    @property
    def label_bytes(self) -> int:
        """Bytes of labels and sizes on all workers that are still held."""
        return 0 if self._count is None else 2 * len(self._count) * self._count.dtype.itemsize

    def release(self) -> None:
        """See Components.release."""
        self.labels, self._count = np.empty(0, self.labels.dtype), None
        self._group.everyone(drop_columns, self._columns.take_unused())

    def largest_size(self) -> int:
        """See Components.largest_size."""
        if self._listed is not None:
            return super().largest_size()
        return 0 if self._count is None else max(self._group.everyone(verbs.largest_size, self._count.key))
