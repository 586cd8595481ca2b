"""Faults of windows of levels on a GPU, of workers' GPUs, and of searches along weights there."""

from __future__ import annotations

from tests.mutations.fault import Fault

_WHOLE = ("tests/gpu/test_whole.py",)
_CANDIDATES = ("tests/gpu/test_candidates.py",)

DEVICE_FAULTS = (
    Fault("nobody goes on from a vertex that is lowered within a window", "emdiam/gpu/kernels/bfs_whole.cu",
          "return before > at.next;", "return before == UNREACHED;", _WHOLE),
    Fault("a vertex that is lowered within a window counts in both levels", "emdiam/gpu/kernels/bfs_whole.cu",
          "static_cast<u64>(fill[i]) - fill[WINDOW + i]", "static_cast<u64>(fill[i])", _WHOLE),
    Fault("the first level of a window that is undone stays", "emdiam/gpu/kernels/bfs_whole.cu",
          "distance != UNREACHED && distance > level;", "distance != UNREACHED && distance > level + 1;",
          _WHOLE),
    Fault("what was lowered is the farthest behind a window", "emdiam/gpu/kernels/bfs_whole.cu",
          "if (load_fresh(distances + v) == levels) farthest", "if (load_fresh(distances + v) <= levels) farthest",
          _WHOLE),
    Fault("a row of a worker's device takes the mask of another vertex", "emdiam/gpu/kernels/bfs_bitmaps.cu",
          "word & ((1ull << (w % 64)) - 1)", "word & ((2ull << (w % 64)) - 1)", ("tests/dask/test_devices.py",)),
    Fault("steep arcs into the last vertex of another range are left out", "emdiam/gpu/kernels/rows.cu",
          "head >= low && head < behind ?", "head >= low && head + 1 < behind ?", ("tests/gpu/test_rows.py",)),
    Fault("rounded weights stay unrounded on the device", "emdiam/gpu/paths/registry.py",
          "        super().round_down(exponent)\n        self._attempt(self._upload)\n",
          "        super().round_down(exponent)\n", ("tests/gpu/paths/test_diameters.py",)),
    Fault("only the first of several sources is at the beginning", "emdiam/gpu/paths/weighted_graph.py",
          "for source in np.atleast_1d(sources).tolist():", "for source in np.atleast_1d(sources)[:1].tolist():",
          ("tests/gpu/paths/test_diameters.py",)),
    Fault("a candidate at the limit counts as unsettled", "emdiam/gpu/kernels/boxes.cu",
          "values[ids[i]] > limit)", "values[ids[i]] >= limit)", _CANDIDATES),
    Fault("what is dropped stays in the list on the device", "emdiam/gpu/device_column.py",
          "        super().keep(mask)\n        self._listed = None\n", "        super().keep(mask)\n", _CANDIDATES),
    Fault("a distance of two bytes loses the upper one", "emdiam/gpu/kernels/boxes.cu",
          "static_cast<u16>(min(value, 0xffffu))", "static_cast<u8>(min(value, 0xffffu))", _CANDIDATES),
    Fault("each byte of a count is the lowest", "emdiam/gpu/kernels/boxes.cu",
          "(count >> (8 * width * part)) & mask", "count & mask", ("tests/gpu/test_boxes.py",)),
    Fault("the last word of a selection is left out", "emdiam/gpu/kernels/columns.cu",
          "lane_id() == 0 && v < n)", "lane_id() == 0 && v + 1 < n)", ("tests/gpu/test_columns.py",)),
    Fault("a bound on the device leaves its component", "emdiam/gpu/kernels/arc_bounds.cu",
          "if (numbers[v] == number && sum", "if (sum", ("tests/gpu/test_directed.py",)),
    Fault("a level up on the device reads the rows out", "emdiam/gpu/kernels/bfs_whole.cu",
          "level_up(turned(at, into_offsets, into), words", "level_up(at, words", ("tests/gpu/test_directed.py",)),
    Fault("a batch on the device pulls from the rows out", "emdiam/gpu/kernels/multi_source_whole.cu",
          "pull_all(rows, into, n", "pull_all(rows, neighbours, n", ("tests/gpu/test_directed.py",)),
)
