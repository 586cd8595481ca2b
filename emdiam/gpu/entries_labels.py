"""Registry entries of label growth, which has one load balancing."""

from __future__ import annotations

from .entry import IDS, Entry, variants
from .mappings import MAPPINGS

LABEL_MAPPING = "two-phase"

ENTRIES_LABELS: tuple[Entry, ...] = (
    Entry("labels.cu", "grow_labels", registers=40, builds=tuple(
        {**ids, "MAPPING": MAPPINGS[LABEL_MAPPING].macro, **MAPPINGS[LABEL_MAPPING].tuning}
        for ids in variants(VERTEX=IDS))),
)
