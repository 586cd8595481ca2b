"""Every entry of every kernel file, with the macros it is built with and what it may use.

The compile test builds all of them for sm_90 and compares: an entry that is not listed, or listed and not
there, registers above the budget, and spills are failures.
"""

from __future__ import annotations

from .entries_auto import ENTRIES_AUTO
from .entries_bounds import ENTRIES_BOUNDS
from .entries_busato import BUSATO
from .entries_dal import ENTRIES_DAL
from .entries_labels import ENTRIES_LABELS
from .entries_mapping import ENTRIES_MAPPING
from .entries_multi import ENTRIES_MULTI
from .entries_paging import ENTRIES_PAGING
from .entry import DISTANCES, IDS, Entry, variants

__all__ = ["DISTANCES", "ENTRIES", "IDS", "Entry", "find_entry", "variants"]

ENTRIES: tuple[Entry, ...] = (
    Entry("bfs_levels.cu", "bfs_standard", builds=variants(VERTEX=IDS, DISTANCE=DISTANCES)),
    *BUSATO,
    *ENTRIES_AUTO,
    *ENTRIES_BOUNDS,
    *ENTRIES_DAL,
    *ENTRIES_LABELS,
    *ENTRIES_MAPPING,
    *ENTRIES_MULTI,
    *ENTRIES_PAGING,
)


def find_entry(file: str, entry: str) -> Entry:
    """The registered entry of that name. Raises KeyError if there is none."""
    for known in ENTRIES:
        if (known.file, known.entry) == (file, entry):
            return known
    raise KeyError(f"{entry} of {file} is not in the registry")
