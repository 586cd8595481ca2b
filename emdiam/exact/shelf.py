"""Memory of one component's proof: pivot columns in RAM or on disk, and what fits into the pool.

Single traversals need the bounds and one column, which are planned by the vertex. All else is
sized by the pool of the plan: columns that are kept until there are candidates (beyond it they go to a
scratch folder), the candidates themselves, and the words of batches.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..engine import Engine
from ..errors import BudgetError, InputError
from ..traverse.columns import Column, smallest_dtype
from ..traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ..traverse.stored_column import StoredColumn
from ..units import format_size, scratch_folder

# Bounds (three) and the column of the traversal at hand.
COLUMNS = 4
MOST_KEPT = 12
# Pieces of columns and small tables that are looked at in passing.
PIECES_BYTES = 8 << 20
POOL_BYTES_A_VERTEX, LEAST_POOL_BYTES = 256, 1 << 20
_CANDIDATE_BYTES = 32


def budget_bytes(engine: Engine, largest: int, labels: int) -> int:
    """What of the pool is left beside columns wider than planned and component labels.

    Raises BudgetError if the labels, which are only kept where very many components matter, do not
    fit.
    """
    wider = COLUMNS * engine.n_vertices * (smallest_dtype(largest).itemsize - 1)
    if labels > max(0, engine.pool_bytes - wider):
        missing = labels + wider - engine.pool_bytes
        raise BudgetError("so many components may matter that their labels need"
                          f" {format_size(missing)} more than the memory that was planned",
                          remedy=f"give --memory at least {format_size(missing)} more")
    return max(0, engine.pool_bytes - wider - labels)


class Shelf:
    """The columns kept, in order; the budget, and the room of it for what is held beside columns.

    Parameters: the engine; the largest distance; bytes of the pool that may be used; where columns
    go that do not fit (None: the system's folder for temporary files).
    """

    def __init__(self, engine: Engine, largest: int, budget: int, scratch: Path | None) -> None:
        self._engine, self._largest, self._scratch = engine, largest, scratch
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.column = engine.new_column(largest)
        self._item = self.column.dtype.itemsize
        self.budget, self.room = budget, min(budget, engine.room_bytes)
        self.kept: list[Column | StoredColumn] = []

    def keep(self) -> None:
        """Put the column at hand on the shelf; the next traversal gets another, or its memory. More
        than MOST_KEPT are not kept: their pivots still settle."""
        if len(self.kept) == MOST_KEPT:
            return
        if self._in_ram() + 1 <= self.budget // 2 // max(1, self._engine.n_vertices * self._item):
            self.kept.append(self.column)
            self.column = self._engine.new_column(self._largest)
            return
        try:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="emdiam-", dir=scratch_folder(self._scratch))
            self.kept.append(StoredColumn(self.column, Path(self._folder.name) / f"{len(self.kept)}.column"))
        except OSError as error:
            raise InputError(f"a pivot column cannot be written ({error.strerror})", path=error.filename,
                             remedy="give --scratch a folder with room, or more --memory") from None

    def _in_ram(self) -> int:
        return sum(isinstance(column, Column) for column in self.kept)

    @property
    def on_disk(self) -> int:
        """Columns on disk."""
        return len(self.kept) - self._in_ram()

    def clear(self) -> None:
        """Nothing on the shelf is needed any more."""
        self.kept = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def most_candidates(self) -> int:
        """How many candidates with the distances kept so far may be held."""
        width = max(8, 2 * len(self.kept))
        return self.room // 2 // (_CANDIDATE_BYTES + 3 * width * self._item)

    def batch_bits(self, n_candidates: int, k: int) -> int:
        """Sources of a batch beside so many candidates with k distances; 0: none."""
        n = self._engine.n_vertices
        free = self.budget - n_candidates * (_CANDIDATE_BYTES + 3 * k * self._item)
        for bits in (*range(MOST_BITS, 0, -WORD_BITS), NARROW_BITS):
            if batch_bytes(n, bits) <= free:
                return bits
        return 0

    def batch_columns(self, n_candidates: int, k: int) -> int:
        """Sources of a batch that writes all their distances."""
        n = self._engine.n_vertices
        free = self.budget - n_candidates * (_CANDIDATE_BYTES + 3 * k * self._item)
        return max(0, int(free // (n * (self._item + 0.125) + 3 * n / 8 + 1)))
