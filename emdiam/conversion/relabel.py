"""Relabelling out of core: from any 64-bit ids to vertices 0..n-1, in the order of a table.

The raw pairs wait in a spool on disk. The table (the ids of vertices 0, 1, ...) is on disk too; it is read in pieces
that fit the budget, and for every piece one pass over the spool replaces the ids found in it (block nested-loop join).
Replacing in place is safe because a vertex number is never equal to an id in a later piece: integer tables increase, so
every later id exceeds all numbers assigned so far, and hashes of strings have their top bit set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..sorting.runs import Keys
from ..sorting.scratch import Scratch, ScratchFile
from ..sorting.sort import RunSet, SortContext, fewer_runs, in_order, merged

_TABLE_BLOCK = 1 << 17


class PairSpool:
    """Pairs of uint64 ids on disk, in blocks of `block_pairs`: the sources, then the targets, then the numbers of the
    pairs if it is `followed`."""

    def __init__(
        self, scratch: Scratch, block_pairs: int, file: ScratchFile | None = None, followed: bool = False
    ) -> None:
        self._scratch, self._file = scratch, scratch.file() if file is None else file
        self._copy: ScratchFile | None = None
        self._buffer = np.empty((3 if followed else 2, block_pairs), np.uint64)
        self._used = 0
        self.block_pairs = block_pairs
        self.n_pairs = 0

    def add(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Append pairs, uint64[k] each. numbers : of the pairs, uint64[k]."""
        start = 0
        while start < len(src):
            take = min(len(src) - start, self.block_pairs - self._used)
            self._buffer[0, self._used : self._used + take] = src[start : start + take]
            self._buffer[1, self._used : self._used + take] = dst[start : start + take]
            if numbers is not None:
                self._buffer[2, self._used : self._used + take] = numbers[start : start + take]
            self._used += take
            start += take
            if self._used == self.block_pairs:
                self.flush()

    def flush(self) -> None:
        """Write the last, shorter block. Nothing may be added later."""
        if self._used:
            self._file.append(np.ascontiguousarray(self._buffer[:, : self._used]))
            self.n_pairs += self._used
            self._used = 0

    def offsets(self) -> Iterator[tuple[int, int]]:
        """(offset in bytes, number of pairs) of every block."""
        for first in range(0, self.n_pairs, self.block_pairs):
            yield 8 * len(self._buffer) * first, min(self.block_pairs, self.n_pairs - first)

    def read(self, offset: int, n_pairs: int) -> Keys:
        """A block, uint64[2, n_pairs]: its sources and its targets; uint64[3, n_pairs] if numbers follow."""
        block = np.empty((len(self._buffer), n_pairs), np.uint64)
        self._file.read_array(offset, block)
        return block

    def state(self) -> State:
        return {"file": self._file.name, "n_pairs": self.n_pairs, "block_pairs": self.block_pairs,
                "waiting": self._buffer[:, : self._used].copy()}

    @classmethod
    def restored(cls, state: State, context: SortContext) -> PairSpool:
        made = cls(context.scratch, state["block_pairs"], context.file(state["file"]), len(state["waiting"]) > 2)
        made.n_pairs, made._used = state["n_pairs"], state["waiting"].shape[1]
        made._buffer[:, : made._used] = state["waiting"]
        return made

    def overwrite(self, offset: int, block: Keys) -> None:
        """Write a changed block back."""
        self._file.overwrite(block, offset)

    def copy_on(self, block: Keys) -> None:
        """Append a block, changed or not, to the copy that will replace all blocks."""
        if self._copy is None:
            self._copy = self._scratch.file()
        self._copy.append(block)

    def use_copy(self) -> None:
        """Replace the blocks with the copy, which must contain all of them."""
        if self._copy is not None:
            self._file.close()
            self._file, self._copy = self._copy, None

    def close(self) -> None:
        self._file.close()
        if self._copy is not None:
            self._copy.close()


@dataclass
class IdTable:
    """The id (or hash) of every vertex on disk, uint64[n]. increasing: ids are sorted."""

    file: ScratchFile
    n: int = 0
    increasing: bool = True

    def append(self, ids: Keys) -> None:
        self.file.append(np.ascontiguousarray(ids))
        self.n += len(ids)

    def read(self, start: int, end: int) -> Keys:
        """Ids of the vertices start..end-1."""
        ids = np.empty(end - start, np.uint64)
        self.file.read_array(8 * start, ids)
        return ids

    def ends(self) -> tuple[int, int]:
        """The first and the last id; 0 and -1 of an empty table."""
        if not self.n:
            return 0, -1
        return int(self.read(0, 1)[0]), int(self.read(self.n - 1, self.n)[0])

    @property
    def contiguous(self) -> bool:
        """Whether the ids increase without gaps."""
        first, last = self.ends()
        return self.increasing and last - first + 1 == self.n

    def blocks(self) -> Iterator[Keys]:
        """All ids in order, a MiB at a time."""
        for start in range(0, self.n, _TABLE_BLOCK):
            yield self.read(start, min(self.n, start + _TABLE_BLOCK))

    def state(self) -> State:
        return {"file": self.file.name, "n": self.n, "increasing": self.increasing}

    @classmethod
    def restored(cls, state: State, context: SortContext) -> IdTable:
        return cls(context.file(state["file"]), state["n"], state["increasing"])


def sorted_table(runs: RunSet, context: SortContext) -> IdTable:
    """The distinct keys of `runs` as an increasing table; the runs are removed."""
    table = IdTable(context.scratch.file())
    runs = fewer_runs(runs, context)
    for ids in merged(runs, context, np.copy):
        table.append(ids)
    runs.close()
    return table


@dataclass(frozen=True)
class _Piece:
    """Vertices base..base+k-1 of the table, sorted by id. vertices : None if the vertex of ids[i] is base + i."""

    ids: Keys
    base: int
    vertices: npt.NDArray[np.int64] | None

    def replace(self, block: Keys) -> int:
        """Replace the ids in `block` that belong to this piece with vertices; returns their number."""
        order = np.argsort(block)
        wanted = block[order]
        place = np.searchsorted(self.ids, wanted)
        np.minimum(place, len(self.ids) - 1, out=place)
        matches = self.ids[place] == wanted
        place = place[matches]
        vertices = place if self.vertices is None else self.vertices[place]
        block[order[matches]] = (vertices + self.base).astype(np.uint64)
        return len(place)


@dataclass
class JoinPosition:
    """The progress of a join. start : the first vertex of the current piece of the table. block : blocks of the spool
    passed to the sink during the last piece. n_replaced : endpoints replaced."""

    start: int = 0
    block: int = 0
    n_replaced: int = 0


def join(
    spool: PairSpool, table: IdTable, context: SortContext, sink: Callable[..., None],
    position: JoinPosition | None = None,
) -> None:
    """Replace all ids in `spool` with vertices and pass the pairs, with their numbers, to `sink`, in blocks.

    position : where to resume; kept up to date. With checkpoints every piece except the last makes a new spool from the
    old one, since replacing in place could not be repeated, and a state can be saved after every block of the last
    piece. context.meter receives the number of endpoints replaced. Raises RuntimeError if an id is not in the table.
    """
    at, step = position or JoinPosition(), context.plan.table_ids
    if table.contiguous:  # then the table is not needed
        first = np.uint64(table.ends()[0])
        for offset, n_pairs in islice(spool.offsets(), at.block, None):
            block = spool.read(offset, n_pairs)
            block[:2] -= first
            sink(*block)
            at.block += 1
            context.safe.reached()
        return
    context.stats.table_pieces = -(-table.n // step)
    while at.start < table.n:
        # A piece that was the last one when its first blocks were passed on stays the last, even with another plan.
        end = table.n if at.block else min(table.n, at.start + step)
        last = end == table.n
        for offset, block, n_replaced in _replaced(spool, _piece(table, at.start, end), context.threads, at.block):
            at.n_replaced += n_replaced
            context.meter.update(at.n_replaced)
            if last:
                sink(*block)
                at.block += 1
                context.safe.reached()
            elif context.safe.active:
                spool.copy_on(block)
            elif n_replaced:
                spool.overwrite(offset, block)
        at.start = end
        if not last:
            spool.use_copy()
            context.safe.reached(always=True)
    if at.n_replaced != 2 * spool.n_pairs:
        raise RuntimeError(f"{at.n_replaced} of {2 * spool.n_pairs} endpoints were found in the table of ids")


def _piece(table: IdTable, start: int, end: int) -> _Piece:
    ids = table.read(start, end)
    if table.increasing:
        return _Piece(ids, start, None)
    order = np.argsort(ids)
    return _Piece(ids[order], start, order)


def _replaced(spool: PairSpool, piece: _Piece, threads: int, first: int = 0) -> Iterator[tuple[int, Keys, int]]:
    """(offset, block with the piece's ids replaced, their number) for every block of the spool from number `first`
    on."""
    def work(offset: int, n_pairs: int) -> tuple[int, Keys, int]:
        block = spool.read(offset, n_pairs)
        return offset, block, piece.replace(block[:2].reshape(-1))

    return in_order(work, islice(spool.offsets(), first, None), threads, threads + 1, "join")
