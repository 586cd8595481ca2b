"""Memory of one component's proof: pivot columns in RAM or on disk, and the use of the pool.

Single traversals need the bounds and one column, which are planned by the vertex. All else is
sized by the pool of the plan: columns stored until there are candidates (beyond the pool they are written to a
scratch folder), the candidates themselves, and the words of batches.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...engine.interface import Engine
from ...engine.needs import MOST_ON_DISK, phases_of, widening_bytes
from ...errors import InputError, MoreMemoryError
from ...store.store import Store
from ...stream.blocks import table_bytes
from ...stream.plan import Phase, Pool
from ...traverse.columns import Column
from ...traverse.level_windows import MAX_WINDOW_SOURCES, window_batch_bytes
from ...traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes, words_for
from ...traverse.multi_wide import WIDTHS, wide_bytes
from ...traverse.ram_column import StoredColumn
from ...traverse.shared_sweeps import together_bytes
from ...traverse.workspace import workspace_bytes
from ...units import format_size, scratch_folder
from .candidates import candidate_bytes, width_for

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

# Bounds (three) and the current column.
COLUMNS = 4
MOST_KEPT = 12
# Pieces of columns and small tables in temporary use.
PIECES_BYTES = 8 << 20
POOL_BYTES_A_VERTEX, LEAST_POOL_BYTES = 256, 1 << 20
# With room for the widest batch beside candidates.
ROOMY_BYTES_A_VERTEX, ROOMY_BYTES = 640, 4 << 20
# The least pool: candidates for a hundredth of the vertices; with fewer, single traversals would settle them all.
LEAST_A_VERTEX = 1


def phases(store: Store, options: object) -> tuple[Phase, ...]:
    """Vertex state by phase.

    traverse: single traversals with three bounds, and the first distances if those are narrower. verify: the witness.
    Batches, candidates and stored columns are from the pool.
    """
    n, ids = store.n_vertices, store.id_dtype.itemsize
    table = table_bytes(store)
    built = table_bytes(store, building=False) + workspace_bytes(n, ids)
    shared = table + workspace_bytes(n, ids)

    def state(column: int) -> dict[str, int]:
        distances = shared + widening_bytes(store, column)
        return {"open": table, "bfs": distances, "components": distances,
                "traverse": built + n * (COLUMNS * column + column // 2) + PIECES_BYTES, "verify": distances}

    return phases_of(store, state)


def pool(store: Store) -> Pool:
    """Memory beside the vertex state that the method can use."""
    n = store.n_vertices
    return Pool(POOL_BYTES_A_VERTEX * n + LEAST_POOL_BYTES, LEAST_A_VERTEX * n + LEAST_POOL_BYTES,
                roomy=ROOMY_BYTES_A_VERTEX * n + ROOMY_BYTES)


def budget_bytes(engine: Engine, labels: int) -> int:
    """The part of the pool that remains beside `labels`, the bytes of it that labels of components take.

    Raises MoreMemoryError if the labels do not fit; they are kept only if very many components matter.
    """
    missing = labels - engine.facts.pool_bytes
    if missing > 0:
        raise MoreMemoryError("many components may have the diameter, and their labels need"
                              f" {format_size(missing)} more than the memory that was planned", missing)
    return engine.facts.pool_bytes - labels


class PivotColumns:
    """The stored columns, in order; the budget, and the part of it for data other than columns.

    Parameters: the engine; the largest distance; the current column; bytes of the pool that may be used;
    folder for columns that do not fit (None: the system's folder for temporary files).
    """

    def __init__(self, engine: Engine, largest: int, column: Column, budget: int, scratch: str | Path | None) -> None:
        self._engine, self._largest, self._scratch = engine, largest, scratch
        self._folder: TemporaryDirectory[str] | None = None
        self.column = column
        self._item = self.column.dtype.itemsize
        self.budget, self.room = budget, min(budget, engine.facts.room_bytes)
        self.stored: list[Column | StoredColumn] = []
        self._on_disk = engine.facts.columns_on_disk

    def keep(self) -> None:
        """Store the current column; the next traversal gets a new one, or its memory. At most MOST_KEPT are stored: the
        pivots of the others still settle."""
        if len(self.stored) == MOST_KEPT:
            return
        room = self.budget // 2 // max(1, self._engine.facts.n_vertices * self._item)
        if self._on_disk or self._in_ram() + 1 <= room:
            self.stored.append(self.column)
            self.column = self._engine.new_column(self._largest)
            return
        try:
            if self._folder is None:
                from tempfile import TemporaryDirectory

                self._folder = TemporaryDirectory(prefix="emdiam-", dir=scratch_folder(self._scratch))
            self.stored.append(StoredColumn(self.column, Path(self._folder.name) / f"{len(self.stored)}.column"))
        except OSError as error:
            raise InputError(f"a pivot column cannot be written ({error.strerror})", path=error.filename,
                             remedy="give --scratch a folder with room, or more --memory") from None

    def _in_ram(self) -> int:
        return 0 if self._on_disk else sum(isinstance(column, Column) for column in self.stored)

    @property
    def on_disk(self) -> int:
        """Number of columns on disk."""
        return len(self.stored) - self._in_ram()

    def clear(self) -> None:
        """Free all stored columns."""
        self.stored = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def candidates_bytes(self) -> int:
        """Bytes that candidates may take: half of the room, so that batches have room too."""
        return self.room // 2

    def candidates_limit(self) -> int:
        """Number of candidates that fit, with the distances stored so far."""
        return self.candidates_bytes // candidate_bytes(width_for(len(self.stored)), self._item)

    def batch_bits(self, held_bytes: int) -> int:
        """Sources of a batch beside candidates of held_bytes bytes; 0: none."""
        n = self._engine.facts.n_vertices
        if self._on_disk:
            return WORD_BITS
        for bits in (*range(MOST_BITS, 0, -WORD_BITS), NARROW_BITS):
            if batch_bytes(n, bits) <= self.budget - held_bytes:
                return bits
        return 0

    def together(self, working_bytes: int) -> int:
        """Sources whose BFS may share their sweeps, with all their distances, beside candidates of working_bytes
        bytes."""
        n = self._engine.facts.n_vertices
        left = self.budget - working_bytes - self._in_ram() * n * self._item
        return max(0, min(self._engine.facts.together, left // max(1, n * self._item + together_bytes(n))))

    def wide_bits(self, held_bytes: int) -> int:
        """Sources of a wide batch beside candidates of held_bytes bytes; 0: none. Always 0 out of core, where its first
        levels would read blocks that narrow batches skip."""
        facts = self._engine.facts
        return max((bits for bits in WIDTHS if facts.in_ram and bits <= facts.wide_bits
                    and wide_bytes(facts.n_vertices, bits, facts.threads) <= self.budget - held_bytes), default=0)

    def batch_columns(self, working_bytes: int) -> int:
        """Sources of a batch that writes all their distances, beside candidates of working_bytes bytes; 0: none."""
        n, blocks = self._engine.facts.n_vertices, self._engine.facts.n_blocks
        if self._on_disk:
            return MOST_ON_DISK
        for k in range(MAX_WINDOW_SOURCES, 0, -1):
            dtype, words = words_for(k)
            batch = max(batch_bytes(n, words * np.dtype(dtype).itemsize * 8), window_batch_bytes(n, blocks, k),
                        min(k, self._engine.facts.together) * together_bytes(n))
            if k * n * self._item + batch <= self.budget - working_bytes:
                return k
        return 0
