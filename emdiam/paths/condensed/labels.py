"""Labels of vertices: distances, or distances with the nearest master; what both machines share.

A label is distance << owner_bits | owner. With owner_bits = 0 it is the distance, uint32 or uint64;
with owner_bits = 32 it is uint64, and the smallest label is the nearest master, ties to the
smallest: the least fixpoint of label(b) = min(label(a) + (weight << owner_bits)) is unique, so
whatever relaxes arcs until nothing changes ends with the same labels. All ones is unreached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...jit import kernel
from ..labels import Tick, unreached
from .packed import WeightedArcs, each_block, head_of, tail_of

OWNER_BITS = 32
NO_OWNER = (1 << 32) - 1


@dataclass(frozen=True)
class PathOptions:
    """How paths are searched. Results never depend on it.

    arena_bytes : blocks held in RAM where arcs are on disk. threads : that read them ahead.
    dtype : of distances, uint32 or uint64; None: uint32, and once more with uint64 if that overflows.
    tick : called a few times a second or more; what it raises stops the search.
    """

    arena_bytes: int = 64 << 20
    threads: int = 1
    dtype: npt.DTypeLike | None = None
    tick: Tick | None = None


def seed_labels(seeds: np.ndarray, n_vertices: int, dtype: np.dtype[Any], owner_bits: int) -> np.ndarray:
    """Labels with distance 0 at `seeds` (int64[s]) and unreached elsewhere; with owner_bits seed i owns
    itself, the smallest i where a vertex is named twice. Raises ValueError for a seed that is no vertex."""
    if len(seeds) and not (0 <= int(seeds.min()) and int(seeds.max()) < n_vertices):
        raise ValueError(f"sources must be vertices, 0 to {n_vertices - 1}")
    labels = np.full(n_vertices, unreached(dtype), dtype)
    if owner_bits:
        labels[seeds[::-1]] = np.arange(len(seeds) - 1, -1, -1, dtype=dtype)
    else:
        labels[seeds] = 0
    return labels


def reaches_on(arcs: WeightedArcs, labels: np.ndarray) -> bool:
    """Whether an arc leads from a reached vertex to an unreached one: after a search, that its
    distance did not fit. One pass."""
    bits = arcs.packing.id_bits, arcs.packing.weight_bits
    return any(leads_out(block, *bits, labels, unreached(labels.dtype)) for block in each_block(arcs))


@kernel
def leads_out(block, id_bits, weight_bits, labels, none):
    """True if an arc of `block` goes from a label that is not `none` to one that is."""
    for arc in block:
        if labels[tail_of(arc, id_bits, weight_bits)] != none and labels[head_of(arc, id_bits, weight_bits)] == none:
            return True
    return False
