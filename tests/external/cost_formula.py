"""What a BFS of the external engine reads and writes: the formula of docs/algorithms/external.md.

With level k of f_k vertices and a_k arcs, B blocks of b arcs, of which A are in the arena, n vertices of which r are
reached, ids of i bytes and distances of c:

blocks read <= A + (1 - A/B) sum over k of min(B, f_k (1 + a/b)), a arcs a row, in any order of the vertices; in an
order in which those of neighbouring levels lie together, B, as long as what two levels need is in the arena at once.
Chunks of offsets: the same with theirs, and every chunk twice for the checks of what is first read.
scratch, each way: i a_k for thick levels whose arcs are more than the buffer holds, and (i + 4) r, where there is more
than one range; i f_k written and three times that read for frontiers that are not in memory; c n for the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emdiam.external.disk import Disk
from emdiam.traverse.columns import smallest_dtype


@dataclass(frozen=True)
class Io:
    """blocks : of arcs, and chunks : of offsets, read from the store. written, read : bytes of scratch files."""

    blocks: float
    chunks: float
    written: int
    read: int


def bfs_io(disk: Disk, levels: Sequence[tuple[int, int]], *, local: bool = False) -> Io:
    """The formula for a BFS whose levels have so many (vertices, arcs). local : in an order as above."""
    arcs, offsets, degree = disk.rows.arcs.arena, disk.rows.offsets.arena, disk.store.n_arcs / max(1, disk.n)
    blocks, chunks = len(arcs.slot_of), len(offsets.slot_of)
    if local:
        read_blocks, read_chunks = float(blocks), float(chunks)
    else:
        spanned = 1 + degree / arcs.block_ids
        read_blocks = _missing(blocks, arcs.n_slots, [vertices * spanned for vertices, _ in levels])
        read_chunks = _missing(chunks, offsets.n_slots, [float(vertices) for vertices, _ in levels])
    written, read = _scratch(disk, levels)
    return Io(read_blocks, read_chunks + 2 * chunks, written, read)


def _missing(count: int, slots: int, needed: Sequence[float]) -> float:
    """Chunks read of `count`, of which so many stay, by levels that need so many at most."""
    if slots >= count:
        return float(count)
    return slots + (1 - slots / count) * sum(min(float(count), some) for some in needed)


def _scratch(disk: Disk, levels: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Bytes of scratch files written and read."""
    key, sizes = disk.key.itemsize, disk.sizes
    written = read = 0
    for vertices, arcs in levels:
        if disk.ranges(0.125).count > 1 and arcs > max(sizes.thin, sizes.buffer_bytes // key):
            written, read = written + key * arcs, read + key * arcs
        if vertices > disk.in_memory:
            written, read = written + key * vertices, read + 3 * key * vertices
    reached = sum(vertices for vertices, _ in levels)
    if disk.ranges(4).count > 1 and reached * (key + 4) > sizes.buffer_bytes:
        written, read = written + (key + 4) * reached, read + (key + 4) * reached
    return written + smallest_dtype(len(levels) - 1).itemsize * disk.n, read
