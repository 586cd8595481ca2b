"""One rank: a Dask Actor with its range of the graph and of every column, which runs verbs on them.

A verb is a function (rank, ...) of this package; one call of `run` executes it. `async` methods run on the event loop
of the worker, also during a verb; all others in Dask's thread for actors, one at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from distributed import get_worker
from distributed.comm import get_address_host

from ..errors import StoreError
from ..gpu.range_rows import RangeRows
from ..gpu.setting import share_device
from ..store.store import Store, open_store
from ..stream.counters import SharedCounters
from ..stream.pager import Arena, Pager
from ..stream.plan import READERS, program_bytes
from ..stream.rows import RowCheck
from ..stream.threads import Threads
from ..traverse.core import Core
from ..traverse.ram_column import RamColumn
from ..traverse.workspace import Workspace
from ..units import default_memory_bytes, peak_rss_bytes
from .alltoall import OwnerExchange, PeerLost
from .frontier import DeviceFrontier, RankFrontier
from .plan import RankSpec, build_range_table, plan_rank, queue_entries, virtual_zeros

Verb = Callable[..., Any]


@dataclass(frozen=True)
class Done:
    """The outcome of a verb on a rank. report : see Rank.report. error : the exception that it raised."""

    value: Any
    report: dict[str, Any]
    error: Exception | None = None


class Rank:
    """Rank number `number` of a run.

    span, words : slices, its vertices first..stop-1 and their words in a bitmap of all vertices. values : columns by
    key, unsigned[n], with memory for this range only. objects : objects by name that verbs keep for later verbs.
    rows : the rows of the range on a device, or None. under_way : the current traversal, whose `level` is the progress.
    """

    def __init__(self, spec: RankSpec, number: int) -> None:
        self.spec, self.number = spec, number
        with contextlib.ExitStack() as opened:
            self.store: Store = open_store(spec.store)
            opened.callback(self.store.close)
            if self.store.digest != spec.digest:
                raise StoreError("the store that the worker sees is another one", path=spec.store,
                                 remedy="give a path that is the same graph on every machine")
            self.first, self.stop = spec.span(number)
            # Opened before memory is planned, so that the plan counts its host memory as the program's.
            self._selected = share_device(spec.device, self._place())
            self.core, self.blocks = self._open_core(len(spec.addresses))
            opened.callback(self._threads.close)
            device = self._selected.device
            self.rows = None if device is None or not len(self.blocks) else RangeRows(
                device, self.core, spec.vram_bytes)
            if self.rows is not None:
                opened.callback(self.rows.close)
            self._open = opened.pop_all()  # closed by `close`
        self.alltoall = OwnerExchange(number, spec.ranges)
        self.frontier = (RankFrontier(self.core, self.alltoall) if self.rows is None
                         else DeviceFrontier(self.core, self.alltoall, self.rows))
        self.span, self.words = slice(self.first, self.stop), self.frontier.words
        self.values: dict[int, np.ndarray] = {}
        self.objects: dict[str, Any] = {}
        self.under_way: Any = None
        self._closed = False

    def _place(self) -> int:
        """The number of lower ranks on the same machine."""
        hosts = [get_address_host(address) for address in self.spec.addresses[: self.number + 1]]
        return hosts[:-1].count(hosts[-1])

    def _open_core(self, n_ranks: int) -> tuple[Core, np.ndarray]:
        spec, store, program = self.spec, self.store, program_bytes()
        table, blocks = build_range_table(store, self.first, self.stop)
        arcs = 0 if not len(blocks) else (len(blocks) << table.shift)
        memory = spec.memory_bytes or default_memory_bytes() // n_ranks
        self.plan = plan_rank(store, spec, self.number, len(blocks), arcs, memory, program)
        arena = Arena(table.n_blocks, self.plan.arena_blocks, store.indices.chunk_items, store.id_dtype)
        self._threads = Threads(spec.threads, READERS)
        counters = SharedCounters()
        rows = RowCheck(table, store.id_dtype, store.path, self.stop - self.first == store.n_vertices)
        pager = Pager(store.indices, rows, arena, self._threads, counters, self.plan.run_blocks)
        capacity = queue_entries(store.n_vertices, spec.longest)
        work = Workspace(store.n_vertices, store.id_dtype, capacity, virtual_zeros)
        core = Core(table, pager, self._threads, counters, work, dense_arcs=spec.dense_arcs,
                    part=(self.first, self.stop, blocks))
        core.n_isolated = store.record.n_isolated
        if self.plan.in_ram and len(blocks):
            pager.load(blocks)
        return core, blocks

    def column(self, key: int) -> RamColumn:
        """This range of a column, indexed from its first vertex; a view of its values."""
        return RamColumn(self.values[key][self.span])

    def report(self) -> dict[str, Any]:
        """Counters, messages and peak memory so far."""
        return {"counters": self.core.counters.snapshot().to_dict(), "messages": asdict(self.alltoall.counts),
                "peak_rss_bytes": peak_rss_bytes()}

    # -- as an actor ------------------------------------------------------------------------------
    def opened(self) -> Done:
        """Return the memory plan with the device, and the number of vertices of the range without an edge."""
        bits = int(np.bitwise_count(self.core.table.isolated[self.words]).sum())
        isolated = bits - -self.stop % 64 if self.first < self.stop else 0
        device = {"device": self._selected.name, "vram_bytes": self.rows.planned_bytes if self.rows else 0}
        return Done(({**self.plan.to_dict(), **device}, isolated), self.report())

    def run(self, number: int, verb: Verb, args: tuple[Any, ...], unused: Sequence[int] = ()) -> Done:
        """Drop the columns `unused`, and run verb(self, *args), verb number `number` of the run. Raises PeerLost if
        another rank is lost or this one is closed; other exceptions are in the returned Done."""
        if self._closed:
            raise PeerLost(self.number, "it is closed")
        for key in unused:
            self.values.pop(key, None)
        self.alltoall.begin(number)
        try:
            return Done(verb(self, *args), self.report())
        except PeerLost:
            raise
        except Exception as error:  # the client raises it
            return Done(None, self.report(), error)
        finally:
            self.under_way = None

    def close(self) -> None:
        """Stop the threads, close the store and drop all state."""
        if not self._closed:
            self._closed = True
            self._open.close()
            self.values, self.objects = {}, {}

    async def listen(self) -> str:
        """Listen for the other ranks; the address."""
        return await self.alltoall.listen(get_worker())

    async def connect(self, addresses: list[str]) -> None:
        """Connect to the other ranks, all of which listen."""
        await self.alltoall.connect(addresses)

    async def abandon(self, number: int, why: str) -> None:
        """End verb number `number` where it waits for others."""
        await self.alltoall.abandon(number, why)

    async def level(self) -> int | None:
        """How far the verb under way is."""
        level: int | None = getattr(self.under_way, "level", None)
        return level

    async def disconnect(self) -> None:
        """Close the connections to the others."""
        await self.alltoall.close()
