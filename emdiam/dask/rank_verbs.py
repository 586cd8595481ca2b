"""Natural ranks as asked of the rank that owns the vertices."""

from __future__ import annotations

import numpy as np

from .halo import ranks_of
from .rank import Part


def ranks_at(part: Part, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    return ranks_of(part, ids)
