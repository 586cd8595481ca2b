"""Near-far: near vertices, with labels below a limit, are relaxed frontier by frontier; others wait in the far pile.

When no near vertex remains, the limit rises by Delta, beyond the smallest label of the far pile, which is split:
vertices that were relaxed meanwhile are dropped, and vertices below the limit become near. A vertex is in the far pile
at most once. Delta: as in Delta-stepping. Rounds: frontiers. Bytes a vertex: the bytes of frontier.py, an id and a
byte.
Source: Davidson, Baxter, Garland, Owens (2014), section 5.

Sorted buckets: Delta-stepping without a structure for buckets, with a sort in every round.

A round sorts the waiting vertices stably by the bucket of their labels, relaxes the rows of the first bucket, and adds
the vertices whose labels fell. So a vertex changes its bucket at the next sort. Delta: as in Delta-stepping. Rounds:
sorts. Bytes a vertex: the bytes of frontier.py, and 25 during a sort. Source: Davidson, Baxter, Garland, Owens (2014),
section 6 (bucketing).
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from .delta_stepping import usual_delta
from .frontier import FrontierRounds, by_merge_path, by_vertices, first_labels, with_woken
from .paths import Paths, SearchOptions
from .rows import WeightedRows


def near_far(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    delta = usual_delta(rows) if options.delta is None else options.delta
    labels = first_labels(rows, source)
    is_far = np.zeros(rows.n_vertices, np.bool_)
    far = np.empty(0, rows.heads.dtype)
    with closing(FrontierRounds(rows, labels, options, by_merge_path, merge_path=True)) as frontiers:
        near, limit = frontiers.begin(source), delta
        while len(near) or len(far):
            if not len(near):
                # All vertices below the limit are done, and are dropped from the pile.
                is_far[far] = False
                far = far[labels[far] >= limit]
                if len(far):
                    least = float(labels[far].min())
                    limit = max(least + delta, float(np.nextafter(least, np.inf)))
                    below = labels[far] < limit
                    near, far = far[below], far[~below]
                    is_far[far] = True
                continue
            woken = frontiers.relax(near)
            below = labels[woken] < limit
            near, far = woken[below], with_woken(far, woken[~below], is_far)
        return Paths("near-far", source, labels, frontiers.relaxations, frontiers.rounds)


def sorted_buckets(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    delta = usual_delta(rows) if options.delta is None else options.delta
    labels = first_labels(rows, source)
    waits = np.zeros(rows.n_vertices, np.bool_)
    with closing(FrontierRounds(rows, labels, options, by_vertices)) as frontiers:
        waiting = frontiers.begin(source)
        while len(waiting):
            buckets = np.floor(labels[waiting] / delta)
            order = np.argsort(buckets, kind="stable")
            first = int(np.searchsorted(buckets[order], buckets[order[0]], side="right"))
            frontier, rest = waiting[order[:first]], waiting[order[first:]]
            waits[frontier] = False
            waiting = with_woken(rest, frontiers.relax(frontier), waits)
        return Paths("sorted-buckets", source, labels, frontiers.relaxations, frontiers.rounds)
