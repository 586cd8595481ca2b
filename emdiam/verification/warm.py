"""Loading the verifier's kernels before memory is planned, so that they are part of the base.

They are compiled in this process when that has not been done before (a few seconds, and some tens of
MB that the base then includes), and come from numba's cache later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..store.arc_runs import ArcRun
from ..store.edge_digest import hash_ids, sum_arcs, sum_vertices
from .components import Labelling
from .labels import LabelColumn, LabelGroup
from .pairs import prove_pairs


def load_kernels(id_dtype: np.dtype[Any], item_dtype: np.dtype[Any]) -> None:
    """Run every kernel once, on a path of three vertices, for these dtypes of ids and labels."""
    run = ArcRun(0, 1, np.arange(3), np.array([0, 1, 3, 4]), False, False)
    ids = np.array([1, 0, 2, 1], id_dtype)
    none = np.empty(0, np.uint64)
    sum_arcs(run.rows, run.starts, ids, np.uint64(0), none, np.zeros(5, np.uint64))
    sum_vertices(3, np.uint64(0), none, np.zeros(2, np.uint64))
    hash_ids([1])
    hash_ids(["a"])
    labelling = Labelling(3, id_dtype)
    labelling.add(run, ids)
    member = labelling.members(np.array([1])).of
    fault = np.full(2, -1, np.int64)
    labels = np.array([[0], [1], [2]], item_dtype)
    group = LabelGroup([LabelColumn(0, 1, 2, settles=True, level=True)], labels, member)
    group.check_ends(fault)
    group.scan_run(run, ids, fault)
    group.settle(np.array([0, 2], np.int64), np.zeros(3, np.uint8))
    prove_pairs(labels, 3)
