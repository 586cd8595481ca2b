"""A few points that drive the kernels of certificates in every dtype that a run may meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...traverse.ram_column import RamColumn
from .candidate_boxes import coarse_candidates
from .candidates import Candidates


def exercise_boxes(column_dtypes: Sequence[Any]) -> None:
    """Run all kernels of boxes.py, candidates.py and coarse.py on columns of these dtypes."""
    for dtype in column_dtypes:
        distances = np.abs(np.arange(40) - 20).astype(dtype)
        columns = [RamColumn(distances), RamColumn(np.roll(distances, 7))]
        upper = RamColumn(np.full(40, 99, dtype))
        coarse_candidates(upper, columns, 20, 1 << 16, 40)
        candidates = Candidates(np.arange(40), columns)
        candidates.certify(upper, 20)
        candidates.open_pairs(20, 30, 4, 1)
