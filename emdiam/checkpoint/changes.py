"""What a verb changed of a column: the pieces whose digest is another one, without a copy of the column.

Memory: 16 bytes for PIECE_ITEMS entries.
"""

from __future__ import annotations

import numpy as np

from ..traverse.columns import PIECE_ITEMS, digests
from .records import Record, RecordWriter


def add_changes(writer: RecordWriter, values: np.ndarray, before: list[bytes]) -> list[int]:
    """Add the pieces that changed since `before` to the array "changed"; their numbers."""
    pieces = [i for i, (old, new) in enumerate(zip(before, digests(values), strict=True)) if old != new]
    for i in pieces:
        writer.add("changed", values[i * PIECE_ITEMS : (i + 1) * PIECE_ITEMS])
    return pieces


def take_changes(record: Record, pieces: list[int], values: np.ndarray) -> None:
    """Put the pieces of add_changes into the vector."""
    for i, piece in zip(pieces, record.pieces("changed") if pieces else (), strict=True):
        values[i * PIECE_ITEMS : i * PIECE_ITEMS + len(piece)] = piece
