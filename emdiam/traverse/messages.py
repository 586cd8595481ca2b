"""Vertices that send messages to each other, in supersteps, on rows in memory.

Every vertex begins with a message that contains its own name. In a superstep each vertex takes the names that its
neighbours sent in the last one, adds the new ones to its history, and sends these on. A vertex whose name is new to v
in superstep s is s steps away. Sets of names are bitmaps, uint64[n, ceil(n / 64)] each: histories, names sent in the
last superstep, names to send.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .atomics import atomic_add


def first_messages(n: int) -> np.ndarray:
    """Every vertex's own name, uint64[n, ceil(n / 64)]."""
    words = np.zeros((n, -(-n // 64)), np.uint64)
    every = np.arange(n)
    words[every, every >> 6] = np.uint64(1) << (every & 63).astype(np.uint64)
    return words


@kernel
def superstep(offsets, heads, history, sent, sending, last_new, step, turn):
    """Do one superstep, vertices taken in turn by threads; returns whether any message is then on its way.

    history, sent, sending : see the file's head; `sending` is written. last_new : int64[n], the last superstep in which
    each vertex got a new name. turn : int64[1], 0."""
    busy = False
    n_words = history.shape[1]
    v = atomic_add(turn, 0, 1)
    while v < len(history):
        for j in range(n_words):
            sending[v, j] = 0
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            for j in range(n_words):
                sending[v, j] |= sent[u, j]
        heard = np.uint64(0)
        for j in range(n_words):
            sending[v, j] &= ~history[v, j]
            history[v, j] |= sending[v, j]
            heard |= sending[v, j]
        if heard:
            last_new[v] = step
            busy = True
        v = atomic_add(turn, 0, 1)
    return busy
