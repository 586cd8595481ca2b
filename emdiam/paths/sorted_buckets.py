"""Delta-stepping with buckets that are emulated by sorting: no structure for them, a sort in every round.

What waits is sorted by the bucket of its label, stably; the rows of the first bucket are relaxed, and what they bring
is added to the rest. So a vertex whose label falls moves at the next sort. Delta: as of Delta-stepping. Rounds: sorts.
Bytes a vertex: those of frontier.py, and 25 while a sort runs. Source: Davidson, Baxter, Garland, Owens (2014),
section 6 (bucketing).
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from .delta_stepping import usual_delta
from .frontier import FrontierRounds, by_vertices, first_labels
from .paths import Paths, SearchOptions
from .rows import WeightedRows


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
            woken = frontiers.relax(frontier)
            fresh = woken[~waits[woken]]
            waits[fresh] = True
            waiting = np.concatenate([rest, fresh])
        return Paths("sorted-buckets", source, labels, frontiers.relaxations, frontiers.rounds)
