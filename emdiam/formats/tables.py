"""What the readers of tables share: which two columns are the edge, and their ids in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .source import EdgeBatch

PAIRS = (("src", "dst"), ("source", "target"), ("from", "to"), ("id_1", "id_2"), ("id1", "id2"), ("node_1", "node_2"),
         ("node1", "node2"), ("node_id_1", "node_id_2"), ("src_id", "dst_id"), ("source_id", "target_id"),
         ("from_id", "to_id"), ("fromnodeid", "tonodeid"), ("from_node", "to_node"), ("source_node", "target_node"))
"""Names of the two ends that are recognised, in lower case."""

_MAX_NAMES = 8


def dropped_columns(names: Sequence[str], ids: tuple[int, int], weight: int | None = None) -> list[str]:
    """What the columns that are no ids, and not the weight, are called when it is said that they are dropped; many are
    one."""
    others = [i for i in range(len(names)) if i not in ids and i != weight]
    if len(others) > _MAX_NAMES:
        return [f"{len(others)} further columns"]
    return [f"column {names[i].strip() or i + 1}" for i in others]


def named_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of the first pair of PAIRS among `names`, whatever their case, or None."""
    lower = [name.strip().lower() for name in names]
    for first, second in PAIRS:
        if lower.count(first) == 1 and lower.count(second) == 1:
            return lower.index(first), lower.index(second)
    return None


def in_slices(src: Any, dst: Any, batch_bytes: int, weights: Any = None) -> Iterator[EdgeBatch]:
    """Two int64 or string arrays of one length, and their weights, as batches of about `batch_bytes` (by the mean size
    of the ids)."""
    pieces = max(1, -(-(src.nbytes + dst.nbytes) // batch_bytes))
    step = max(1, -(-len(src) // pieces))
    for start in range(0, len(src), step):
        here = slice(start, start + step)
        yield EdgeBatch(src[here], dst[here], None if weights is None else weights[here])
