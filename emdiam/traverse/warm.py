"""Running every kernel once on a tiny graph, so that all are loaded from numba's cache, or compiled.

The kernels come in parts, which compiled.py compiles beforehand, each in a process of its own
(`python -m emdiam.traverse.warm uint32 graph`); a run then only loads what its family needs.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

_COLUMN_DTYPES = (np.uint8, np.uint16, np.uint32)


@functools.cache
def load_kernels(dtype: np.dtype[Any] | str = "uint32", family: str = "exact") -> None:
    """Run every kernel of a family on a graph of 200 vertices, so that all are loaded (or compiled); once
    a process. family : "exact", or "approx" for approximations too."""
    load_part(np.dtype(dtype), "graph")
    load_part(np.dtype(dtype), "boxes")
    if family == "approx":
        load_part(np.dtype(dtype), "approx")


def load_part(dtype: np.dtype[Any], part: str) -> None:
    """Run the kernels of one part: "graph" (traversals, bounds), "boxes" (certificates of pivots), "approx"
    or "workers" (what ranks of a run on many machines exchange)."""
    if part == "graph":
        from ..gpu.pack_rows import exercise_gather
        from .warm_graph import exercise

        exercise(dtype, _COLUMN_DTYPES)
        exercise_gather(dtype)
    elif part == "boxes":
        from ..methods.exact.warm_boxes import exercise_boxes

        exercise_boxes(_COLUMN_DTYPES)
    elif part == "approx":
        from ..methods.approx.warm import exercise_approximations

        exercise_approximations(dtype, _COLUMN_DTYPES)
    else:
        from ..dask.warm import load_exchange

        load_exchange(dtype)


if __name__ == "__main__":
    load_part(np.dtype(sys.argv[1]), sys.argv[2])
