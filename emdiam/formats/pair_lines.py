"""Batches from lines that hold two ids: the part that edge lists, Matrix Market and DIMACS share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import kernels
from .base import pairs_per_batch
from .blocks import block_bytes_for, text_blocks
from .faults import Wording, fault_error
from .source import EdgeBatch
from .streams import ByteStream


def comment_table(starts: str) -> Any:
    """bool[256]: whether a line whose first non-blank byte is this is a comment."""
    table = np.zeros(256, np.bool_)
    table[[ord(letter) for letter in starts]] = True
    return table


def pair_batches(stream: ByteStream, comments: str, wording: Wording, batch_bytes: int,
                 state: Any) -> Iterator[EdgeBatch]:
    """int64 pairs of the rest of `stream`. state : a fresh one of the kernels, with the number of the next line;
    afterwards it also has how many lines have more fields.

    Raises InputError with line number and text at the first line that `wording` does not allow.
    """
    capacity = pairs_per_batch(batch_bytes)
    table = comment_table(comments)
    letter = ord(wording.letter) if wording.letter else 0
    options = np.array([letter, wording.least, wording.largest, wording.fields], np.int64)
    src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    for block in text_blocks(stream, block_bytes_for(batch_bytes)):
        state[kernels.POS], state[kernels.END] = 0, len(block)
        while state[kernels.POS] < state[kernels.END]:
            kernels.parse_pairs(block, state, options, table, src, dst)
            if state[kernels.FAULT]:
                raise fault_error(wording, state, block)
            if state[kernels.COUNT] == capacity:
                yield EdgeBatch(src, dst)
                state[kernels.COUNT] = 0
                src, dst = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    count = int(state[kernels.COUNT])
    if count:
        yield EdgeBatch(src[:count], dst[:count])
