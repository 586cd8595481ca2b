"""The memory that a method needs on one store: vertex state by phase, on the CPU and on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import Known, Phase, Pool, known_of
from ..traverse.columns import FOLD_BYTES
from ..traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ..traverse.workspace import column_bytes, workspace_bytes

# Sources of a batch whose distances go to disk. Sorting them takes 16 bytes of disk a vertex for each.
MOST_ON_DISK = 8


@dataclass(frozen=True)
class DeviceState:
    """The state of a method on a GPU: the number of columns at a time, whether it spreads, whether it runs batches."""

    columns: int
    spreads: bool = False
    batches: bool = False


@dataclass(frozen=True)
class Needs:
    """The needs of a method on one store. Sizes in bytes.

    method : its name. phases : vertex state. pool : memory that it could use beside the vertex state.
    tables_bytes, room_bytes : if columns are elsewhere (on workers), the least memory that it takes beside them, and
    what it could use beyond that. device : its state on a GPU. known : of the graph; None: from the store's
    record.
    """

    method: str
    phases: tuple[Phase, ...]
    pool: Pool = Pool()
    tables_bytes: int = 0
    room_bytes: int = 0
    device: DeviceState = DeviceState(3)
    known: Known | None = None

    def known_on(self, store: Store) -> Known:
        """The knowledge of the store's graph."""
        return known_of(store) if self.known is None else self.known

    def fixed(self) -> Needs:
        """The same for an engine whose arena never shrinks: the whole reserve is planned."""
        return replace(self, pool=replace(self.pool, whole_reserve=True))


def widening_bytes(store: Store, column: int) -> int:
    """A distance column of `column` bytes an entry, with the narrower copy from which it was widened."""
    return store.n_vertices * (column + column // 2)


def distance_bytes(store: Store, column: int) -> int:
    """A column of distances, with its narrower copy while it widens, and the buffers of a fold."""
    return widening_bytes(store, column) + FOLD_BYTES


def batch_state_bytes(store: Store, batch: int) -> int:
    """State of a multi-source BFS from `batch` sources; 0 for a single source."""
    if batch == 1:
        return 0
    bits = NARROW_BITS if batch <= NARROW_BITS else min(MOST_BITS, -(-batch // WORD_BITS) * WORD_BITS)
    return batch_bytes(store.n_vertices, bits)


def traversal_phases(
    store: Store, solve_bytes: Callable[[int], int], *, keeps_distances: bool = True, keeps_labels: bool = False
) -> tuple[Phase, ...]:
    """Vertex state by phase of a method that traverses and keeps solve_bytes(bytes of a column's entry) itself.

    open: offsets. bfs: these, bitmaps, queues and (keeps_distances) distances. components: the same, with labels if
    there are several. solve: the method's own state, with labels if keeps_labels. verify: one distance column."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    table = table_bytes(store)
    shared = table + workspace_bytes(n, ids)

    def state(column: int) -> dict[str, int]:
        distances = shared + widening_bytes(store, column)
        first = distances if keeps_distances else shared
        return {"open": table, "bfs": first, "components": first, "solve": shared + solve_bytes(column),
                "verify": distances}

    labels = label_bytes(n, ids)
    return phases_of(store, state, {"components": labels, "solve": labels} if keeps_labels else None)


def phases_of(
    store: Store, state: Callable[[int], dict[str, int]], more: Mapping[str, int] | None = None,
    parts: Mapping[str, int] | None = None
) -> tuple[Phase, ...]:
    """Phases with state(bytes of a column's entry) bytes each. more : bytes that each phase may take in addition; None:
    the labels, in `components`. parts : the part of `more` that a connected graph does not take; None: all."""
    n, widest = store.n_vertices, column_bytes(store.n_vertices)
    narrow, middle, wide = (state(min(item, widest)) for item in (1, 2, 4))
    beside = {"components": label_bytes(n, store.id_dtype.itemsize)} if more is None else more
    apart = beside if parts is None else parts
    return tuple(
        Phase(name, size / max(1, n), size, wide[name] + beside.get(name, 0), middle[name], wide[name],
              apart.get(name, 0))
        for name, size in narrow.items())


def label_bytes(n_vertices: int, id_bytes: int) -> int:
    """Labels of components, at most: in one process (traverse/hidden.py), or with their sizes on workers."""
    return 2 * id_bytes * n_vertices + n_vertices // 4 + 64
