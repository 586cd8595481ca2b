"""Near-far: vertices whose labels are below a limit are relaxed, frontier after frontier; others wait in a pile.

When nothing is near any more, the limit rises by Delta, beyond the smallest label in the far pile, which is split:
what has been relaxed meanwhile is dropped, what is below the limit is near. A vertex is in the far pile once.
Delta: as of Delta-stepping. Rounds: frontiers. Bytes a vertex: those of frontier.py, and an id and a byte.
Source: Davidson, Baxter, Garland, Owens (2014), section 5.

Delta-stepping with buckets that are emulated by sorting: no structure for them, a sort in every round.

What waits is sorted by the bucket of its label, stably; the rows of the first bucket are relaxed, and what they bring
is added to the rest. So a vertex whose label falls moves at the next sort. Delta: as of Delta-stepping. Rounds: sorts.
Bytes a vertex: those of frontier.py, and 25 while a sort runs. Source: Davidson, Baxter, Garland, Owens (2014),
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
                # All below the limit are done; those that were in the pile too are dropped from it.
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
