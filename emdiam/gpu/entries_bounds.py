"""Registry entries of the kernels over columns of bounds that the exact methods use."""

from __future__ import annotations

from .entry import Entry

_FOLDS = ("open_where", "tighten_upper", "tighten_lower", "close_where", "close_known")

ENTRIES_BOUNDS: tuple[Entry, ...] = (
    *(Entry("folds.cu", name) for name in _FOLDS),
    Entry("pivot_bounds.cu", "fold_pivot", registers=40),
    Entry("pivot_bounds.cu", "choose_pivots"),
)
