"""What a method needs of memory on one store: vertex state by phase, on the CPU and on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import Phase
from ..traverse.columns import FOLD_BYTES
from ..traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ..traverse.workspace import column_bytes, workspace_bytes


@dataclass(frozen=True)
class DeviceState:
    """What a method holds on a GPU: columns at a time, whether it spreads, whether it runs batches."""

    columns: int
    spreads: bool = False
    batches: bool = False


@dataclass(frozen=True)
class Needs:
    """What a method needs on one store. Sizes in bytes.

    method : its name. phases : vertex state, at worst. pool_bytes : what it could make use of beside that.
    tables_bytes, room_bytes : where columns are elsewhere (on workers), what it holds beside them at least, and what
    it could make use of beyond that. device : what it holds on a GPU.
    """

    method: str
    phases: tuple[Phase, ...]
    pool_bytes: int = 0
    tables_bytes: int = 0
    room_bytes: int = 0
    device: DeviceState = DeviceState(3)


def distance_bytes(store: Store) -> int:
    """A column of distances, with its narrower copy while it widens, and the pieces of a fold."""
    column = column_bytes(store.n_vertices)
    return store.n_vertices * (column + column // 2) + FOLD_BYTES


def batch_state_bytes(store: Store, batch: int) -> int:
    """State of a multi-source BFS from `batch` sources; none for a single one."""
    if batch == 1:
        return 0
    bits = NARROW_BITS if batch <= NARROW_BITS else min(MOST_BITS, -(-batch // WORD_BITS) * WORD_BITS)
    return batch_bytes(store.n_vertices, bits)


def traversal_phases(store: Store, solve_bytes: int, *, keeps_distances: bool = True) -> tuple[Phase, ...]:
    """Vertex state by phase, at worst, of what traverses, labels components, and keeps `solve_bytes` beside the labels.

    open: offsets; bfs: with bitmaps, queues and (keeps_distances) distances; components: labels and sizes beside
    them; solve: beside labels and sizes; verify: one distance column."""
    n, ids, column = store.n_vertices, store.id_dtype.itemsize, column_bytes(store.n_vertices)
    table = table_bytes(n, store.n_arcs, store.indices.chunk_items)
    shared, distances = table + workspace_bytes(n, ids), n * (column + column // 2)
    held = distances if keeps_distances else 0
    return phases_of(store, {
        "open": table, "bfs": shared + held, "components": shared + held + n * 2 * ids,
        "solve": shared + n * 2 * ids + solve_bytes, "verify": shared + distances})


def phases_of(store: Store, sizes: dict[str, int]) -> tuple[Phase, ...]:
    """Phases of so many bytes each."""
    return tuple(Phase(name, size / max(1, store.n_vertices), size) for name, size in sizes.items())


def traversal_needs(store: Store) -> Needs:
    """What traversals with a column of distances and labels of components need: for orders and verification, which
    are no methods."""
    return Needs("traversals", traversal_phases(store, distance_bytes(store)))
