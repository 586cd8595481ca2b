"""Running the kernels of this package once, so that they are compiled and loaded; see traverse.warm."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..stream.threads import Crew
from ..traverse.core import Core
from ..traverse.warm_graph import small_core
from .async_bfs import exercise_thin
from .frontier_codec import add_to_words, decode_ids, encode_ids, encode_words
from .label_warm import exercise_ranges
from .warm_values import exercise_values


@functools.cache
def load_exchange(dtype: np.dtype[Any]) -> None:
    """Run every kernel of this package with ids of `dtype`, so that all are loaded (or compiled); once a process."""
    crew = Crew(1, 0)
    try:
        exercise_exchange(small_core(dtype, crew, 0))
    finally:
        crew.close()


def exercise_exchange(core: Core) -> None:
    """Run every kernel on a small graph."""
    for ids in (np.array([1, 3, 700], np.int64), np.arange(64)):
        message = encode_ids(ids, 0, 1024)
        words = np.zeros(16, np.uint64)
        add_to_words(message, words)
        decode_ids(encode_words(words, 0), 0)
    exercise_thin(core)
    exercise_values(core)
    exercise_ranges(core)
