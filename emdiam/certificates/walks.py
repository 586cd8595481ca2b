"""Walks of a certificate: each shows that its ends are at most as far apart as it has edges.

A walk from x to z of l edges is a label l of x from z, an upper bound of their distance. So the walks to one vertex are
a column of labels that only some vertices have, beside those of the pivots. Each edge is looked up in the one pass over
all arcs. Bytes: a few per vertex of a walk, and a label of every unsettled vertex for each vertex where walks end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..store.arc_runs import ArcRun
from ..store.store import Store
from .documents import Refused


class Walks:
    """walks : of vertices, int64[k] each. `add` every run of arcs, from any thread, then `check`."""

    def __init__(self, walks: list[np.ndarray]) -> None:
        self._walks = walks
        tails, heads = (np.concatenate([np.empty(0, np.int64), *ends])
                        for ends in ([walk[:-1] for walk in walks], [walk[1:] for walk in walks]))
        order = np.argsort(tails, kind="stable")
        self._tails, self._heads = tails[order], heads[order]
        self._found = np.zeros(len(tails), np.bool_)

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Look up edges in a run; ids as in scan_arcs."""
        first, last = np.searchsorted(self._tails, [run.rows[0], run.rows[-1] + 1])
        for i in range(first, last):
            row = np.searchsorted(run.rows, self._tails[i])
            if run.rows[row] == self._tails[i] and (ids[run.starts[row] : run.starts[row + 1]] == self._heads[i]).any():
                self._found[i] = True

    def check(self, store: Store) -> None:
        """Raise Refused if the store lacks an edge of a walk."""
        if not self._found.all():
            i = int(self._found.argmin())
            one, two = store.user_ids(np.array([self._tails[i], self._heads[i]]))
            raise Refused(f"vertices {one} and {two} of a walk are not joined by an edge")

    def columns(self, vertices: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """Labels unsigned[m, j] of m vertices, ascending, from each of the j vertices where walks of these end; the
        largest value of the dtype means no label."""
        none = np.iinfo(dtype).max
        rows = {vertex: row for vertex in {int(walk[i]) for walk in self._walks for i in (0, -1)}
                if (row := int(np.searchsorted(vertices, vertex))) < len(vertices) and vertices[row] == vertex}
        short = [walk for walk in self._walks if len(walk) <= none and int(walk[0]) in rows]
        ends = list(dict.fromkeys(int(walk[-1]) for walk in short))
        labels = np.full((len(vertices), len(ends)), none, dtype)
        for walk in short:
            at = rows[int(walk[0])], ends.index(int(walk[-1]))
            labels[at] = min(int(labels[at]), len(walk) - 1)
        for j, end in enumerate(ends):
            if end in rows:
                labels[rows[end], j] = 0
        return labels
