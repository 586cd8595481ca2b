"""Row offsets in 2.2 bytes a vertex instead of 8.

Vertices are taken in groups of 64. A group keeps the offset of its first row (int64) and each row
its distance from it (uint16). A group whose rows span more than 65,535 arcs (it holds a hub) has
-1 - k in place of the offset, and 64 full offsets in block k of an overflow table: one such group
has at least 65,536 arcs, so the table is at most n_arcs / 128 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..jit import inlined, kernel

# As numpy.zeros: (length, dtype).
Zeros = Callable[..., np.ndarray]
GROUP = 64


@dataclass(frozen=True)
class Offsets:
    """Compact offsets of n_vertices rows (entry n_vertices is the end of the last row).

    group : int64[n_groups]; row : uint16[64 * n_groups]; hub : int64[64 * n_hub_groups].
    """

    n_vertices: int
    group: np.ndarray
    row: np.ndarray
    hub: np.ndarray


@inlined
def row_start(group, row, hub, v):  # type: ignore[no-untyped-def]
    """Offset of the first arc of vertex v (v = n_vertices gives the number of arcs)."""
    g = v >> 6
    base = group[g]
    if base >= 0:
        return base + np.int64(row[v])
    return hub[((-1 - base) << 6) + (v & 63)]


@inlined
def row_length(offsets, v):  # type: ignore[no-untyped-def]
    """Arcs of vertex v. offsets : (group, row, hub)."""
    group, row, hub = offsets
    return row_start(group, row, hub, v + 1) - row_start(group, row, hub, v)


@kernel
def row_starts(group, row, hub, vertices, out):  # type: ignore[no-untyped-def]
    """out[i] = offset of the first arc of vertices[i]; int64[k] each."""
    for i in range(len(vertices)):
        out[i] = row_start(group, row, hub, np.int64(vertices[i]))


def offsets_bytes(n_vertices: int, n_arcs: int) -> int:
    """Upper bound of the bytes of Offsets for such a graph."""
    n_groups = n_vertices // GROUP + 1
    return n_groups * (8 + 2 * GROUP) + n_arcs // 128


def build_offsets(
    n_vertices: int, pieces: Iterator[np.ndarray], span: tuple[int, int] | None = None, zeros: Zeros = np.zeros
) -> Offsets:
    """Compact offsets from int64 pieces of indptr that concatenate to values first..stop of the span (all: n_vertices +
    1 values), whose first is a multiple of 64; other rows read as rows without arcs. zeros : makes the arrays.

    Raises ValueError if the pieces are not monotone from 0 or have another total length.
    """
    first, stop = span or (0, n_vertices)
    n_groups = n_vertices // GROUP + 1
    group, row = zeros(n_groups, np.int64), zeros(n_groups * GROUP, np.uint16)
    hubs: list[np.ndarray] = []
    rest = np.empty(0, np.int64)
    done, last = first, 0
    for piece in pieces:
        values = np.concatenate((rest, piece))
        if len(values) and (values[0] < last or np.any(values[1:] < values[:-1])):
            raise ValueError("row offsets are not monotone")
        whole = len(values) // GROUP * GROUP
        if done + len(values) == stop + 1:
            pad = -len(values) % GROUP
            values = np.concatenate((values, np.full(pad, values[-1] if len(values) else 0, np.int64)))
            whole = len(values)
        if whole:
            _add_groups(values[:whole].reshape(-1, GROUP), done // GROUP, group, row, hubs)
            last = int(values[whole - 1])
        done, rest = done + whole, values[whole:]
    if done != (stop // GROUP + 1) * GROUP or len(rest):
        raise ValueError(f"row offsets end after {done + len(rest)} of {stop + 1}")
    hub = np.concatenate(hubs) if hubs else np.zeros(0, np.int64)
    return Offsets(n_vertices, group, row, hub)


def _add_groups(values: np.ndarray, first: int, group: np.ndarray, row: np.ndarray, hubs: list[np.ndarray]) -> None:
    """Fill in groups from number `first` on. values : int64[k, 64], offsets of their rows. hubs : takes the full
    offsets of groups that span too many arcs."""
    count = len(values)
    starts = values[:, 0]
    relative = values - starts[:, None]
    wide = np.flatnonzero(relative[:, -1] > 0xFFFF)
    group[first : first + count] = starts
    relative[wide] = 0
    row[first * GROUP : (first + count) * GROUP] = relative.reshape(-1).astype(np.uint16)
    for w in wide:
        group[first + w] = -1 - len(hubs)
        hubs.append(values[w].copy())
