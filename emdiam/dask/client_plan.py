"""The memory plan of the client of a run over workers: no vertex state and no blocks, but the tables of methods.

Candidates with their distances, and the arcs between clusters, are held where the method runs. Their share of the
memory is the room (Engine.room_bytes): what the method could make use of, or what there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BudgetError
from ..store.store import Store
from ..stream.plan import BASE_JITTER, MemoryPlan, Phase
from ..units import current_rss_bytes, format_size

# Messages, pieces of columns and of a path, and what workers tell.
_MARGIN = 32 << 20


def plan_client(store: Store, method: str, switches: Mapping[str, Any] | None, memory: int) -> MemoryPlan:
    """Plan the client within `memory` bytes of peak RSS of this process.

    The base is measured now, after the kernels that the client uses were loaded. Raises BudgetError with the numbers,
    InputError for options that the method has not."""
    tables, wanted = _tables_of(store, method, switches or {})
    _load_kernels(store, method)
    base = current_rss_bytes() + _MARGIN
    need = base + tables
    if memory < need:
        least = need + BASE_JITTER
        raise BudgetError(
            f"--memory {format_size(memory)} is too small for the client: the least is {format_size(least)} = "
            f"{format_size(base + BASE_JITTER)} program + {format_size(tables)} tables of {method}",
            remedy=f"give at least --memory {-(-least // 2**20)}MiB")
    room = min(wanted, memory - need)
    held = Phase("client", tables / max(1, store.n_vertices), tables)
    return MemoryPlan(
        memory_limit_bytes=memory, base_bytes=base, phases=(held,),
        buffer_bytes=0, arena_bytes=0, planned_rss_bytes=need + room, minimum_bytes=need + BASE_JITTER,
        n_blocks=store.indices.n_chunks, arena_blocks=0, pool_bytes=room, run_blocks=0, in_ram=False)


def _tables_of(store: Store, method: str, switches: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of tables that the method holds at least, and of the room that it could make use of beside them."""
    if method == "pivots":
        from ..methods.exact.pivots import tables_bytes

        return tables_bytes(store)
    if method == "clusters":
        from ..methods.approx.clusters import ClusterOptions
        from ..methods.approx.clusters import tables_bytes as of_clusters
        from ..methods.approx.methods import method_options

        options = method_options(method, switches)
        assert isinstance(options, ClusterOptions)
        return of_clusters(store, options)
    return 0, 0


def _load_kernels(store: Store, method: str) -> None:
    """Load what the client itself uses; workers load their own."""
    if method == "pivots":
        from ..traverse.warm import load_part

        load_part(store.id_dtype, "boxes")
    elif method == "clusters":  # whose shortest paths have boxes too
        from ..weighted.warm import exercise_weighted

        exercise_weighted()
