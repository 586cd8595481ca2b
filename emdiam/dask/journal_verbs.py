"""What a checkpoint asks of ranks: which pieces of a column have changed, and what the last BFS reached."""

from __future__ import annotations

import numpy as np

from ..traverse.columns import PIECE_ITEMS, digests
from .rank import Part


def piece_digests(part: Part, key: int) -> dict[int, bytes]:
    """A digest of what lies in this range of each piece (traverse/columns.py) of a column."""
    values = part.values[key]
    pieces = range(part.first // PIECE_ITEMS, -(-part.stop // PIECE_ITEMS) if part.stop > part.first else 0)
    return {i: digests(values[max(part.first, i * PIECE_ITEMS) : min(part.stop, (i + 1) * PIECE_ITEMS)])[0]
            for i in pieces}


def reached_words(part: Part, start: int, stop: int) -> np.ndarray:
    """Words start..stop-1 of this range's bitmap of what the last BFS reached, uint64[k]."""
    return part.core.work.visited[start:stop].copy()


def set_reached(part: Part, start: int, words: np.ndarray) -> None:
    """Overwrite words of that bitmap from `start` on."""
    part.core.work.visited[start : start + len(words)] = words
