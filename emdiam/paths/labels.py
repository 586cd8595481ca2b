"""Labels of a search over blocks, and what it counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..stream.counters import Tally

Tick = Callable[[], None]


@dataclass
class PathCounters(Tally):
    """searches : shortest-path and cluster searches. rounds : times that blocks were chosen and read.
    sweeps : over the blocks in RAM. blocks_read, bytes_read : from disk. arcs_scanned : relaxed."""

    searches: int = 0
    rounds: int = 0
    sweeps: int = 0
    blocks_read: int = 0
    bytes_read: int = 0
    arcs_scanned: int = 0


def unreached(dtype: np.dtype[Any]) -> int:
    """The label of a vertex without a path."""
    return int(np.iinfo(dtype).max)


def farthest_label(dtype: np.dtype[Any], owner_bits: int) -> int:
    """The largest distance that a label holds: all ones is taken."""
    return (unreached(dtype) >> owner_bits) - 1
