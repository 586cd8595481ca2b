"""One rank on its worker: its range of the graph, its part of every column, and what is asked of it.

A verb is a function (part, ...) of this package that runs as a task on the worker. Parts live in the worker process
between tasks, by room and rank.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from distributed import get_worker, secede

from ..errors import StoreError
from ..store.store import Store, open_store
from ..stream.arena import Arena
from ..stream.counters import SharedCounters
from ..stream.pager import Pager
from ..stream.plan import READERS
from ..stream.rows import RowCheck
from ..stream.threads import Crew
from ..traverse.columns import Column
from ..traverse.core import Core
from ..traverse.ram_column import RamColumn
from ..units import default_memory_bytes, peak_rss_bytes
from .alltoall import Mail, PeerLost
from .frontier import Frontier
from .plan import PartSpec, plan_part
from .ranges import RangeWorkspace, build_range_table
from .replicas import Copies
from .search import Search, Work

_PARTS: dict[tuple[str, int], Part] = {}
Verb = Callable[..., Any]


@dataclass(frozen=True)
class Ref:
    """A column as verbs name it."""

    key: int


class Part:
    """What rank `rank` of a run holds. values : columns by key, unsigned[n] of which this range takes memory."""

    def __init__(self, spec: PartSpec, rank: int) -> None:
        worker = get_worker()
        self.spec, self.rank = spec, rank
        self.store: Store = open_store(spec.store)
        try:
            if self.store.digest != spec.digest:
                raise StoreError("the store that the worker sees is another one", path=spec.store,
                                 remedy="give a path that is the same graph on every machine")
            self.first, self.stop = spec.own(rank)
            self.core, self.blocks = self._open_core(len(spec.addresses))
        except BaseException:
            self.store.close()
            raise
        self.mail = Mail(worker, spec.room, rank, list(spec.addresses))
        self.frontier = Frontier(self.core)
        self.work = Work(self.core, self.mail, self.frontier, spec.ranges)
        self.values: dict[int, np.ndarray] = {}
        self.search: Search | None = None
        self.objects: dict[str, Any] = {}
        self.copies = Copies()

    def _open_core(self, n_ranks: int) -> tuple[Core, np.ndarray]:
        spec, store = self.spec, self.store
        table, blocks = build_range_table(store, self.first, self.stop)
        arcs = 0 if not len(blocks) else (len(blocks) << table.shift)
        memory = spec.memory_bytes or default_memory_bytes() // n_ranks
        self.plan = plan_part(store, spec, self.rank, len(blocks), arcs, memory)
        arena = Arena(table.n_blocks, self.plan.arena_blocks, store.indices.chunk_items, store.id_dtype)
        self._crew = Crew(spec.threads, READERS)
        counters = SharedCounters()
        rows = RowCheck(table, store.id_dtype, store.path, self.stop - self.first == store.n_vertices)
        pager = Pager(store.indices, rows, arena, self._crew, counters, self.plan.run_blocks)
        core = Core(table, pager, self._crew, counters, RangeWorkspace(store.n_vertices, store.id_dtype),
                    dense_arcs=spec.dense_arcs, part=(self.first, self.stop, blocks))
        core.n_isolated = store.record.n_isolated
        if self.plan.in_ram and len(blocks):
            pager.load(blocks)
        return core, blocks

    @property
    def own(self) -> slice:
        """The vertices of this rank."""
        return slice(self.first, self.stop)

    @property
    def own_words(self) -> slice:
        """Their words in a bitmap of all vertices."""
        return self.frontier.own

    def column(self, key: int) -> Column:
        """This range of a column, indexed from its first vertex; it shares its values."""
        return RamColumn(self.values[key][self.own])

    def report(self) -> dict[str, Any]:
        """Counters, messages and peak memory so far."""
        return {"counters": self.core.counters.snapshot().to_dict(), "mail": asdict(self.mail.counts),
                "peak_rss_bytes": peak_rss_bytes()}

    def rejoin(self, spec: PartSpec) -> None:
        """Go on in another room, where a rank that was lost lives on another worker. State and counts stay."""
        counts = self.mail.counts
        self.mail.close()
        _PARTS.pop((self.spec.room, self.rank), None)
        self.spec = spec
        self.mail = self.work.mail = Mail(get_worker(), spec.room, self.rank, list(spec.addresses))
        self.mail.counts = counts
        _PARTS[spec.room, self.rank] = self

    def close(self) -> None:
        """End threads and connections, and let go of the store."""
        _PARTS.pop((self.spec.room, self.rank), None)
        with contextlib.ExitStack() as stack:
            stack.callback(self.store.close)
            stack.callback(self._crew.close)
            stack.callback(self.mail.close)


def open_part(spec: PartSpec, rank: int) -> dict[str, Any]:
    """Open a rank on this worker; its plan as a dict, and how many vertices of its range have no edge."""
    part = Part(spec, rank)
    _PARTS[spec.room, rank] = part
    own = part.core.table.isolated[part.first // 64 : -(-part.stop // 64)]
    isolated = int(np.bitwise_count(own).sum()) - -part.stop % 64 if part.first < part.stop else 0
    return {"plan": part.plan.to_dict(), "blocks": len(part.blocks), "report": part.report(), "isolated": isolated}


def on_part(room: str, rank: int, verb: Verb, args: tuple[Any, ...], together: bool) -> tuple[Any, dict[str, Any]]:
    """verb(part, *args) on this worker, and the report after it. together : all ranks run it at the same time and
    wait for each other, so it gives its place among the worker's tasks away. Raises what the verb raises, of which
    the others learn."""
    part = _PARTS.get((room, rank))
    if part is None:
        raise PeerLost(rank, "its process was started again")
    if together:
        secede()
    try:
        value = verb(part, *args)
    except PeerLost:
        raise
    except BaseException as error:
        part.mail.fail(f"{type(error).__name__}: {error}")
        raise
    return value, part.report()


def rejoin_part(rooms: list[str], rank: int, spec: PartSpec) -> dict[str, Any]:
    """Take a rank that is there from any of `rooms` into the one of `spec`; what open_part gives. Raises PeerLost."""
    part = next((_PARTS[room, rank] for room in rooms if (room, rank) in _PARTS), None)
    if part is None:
        raise PeerLost(rank, "its process was started again")
    part.rejoin(spec)
    return {"plan": part.plan.to_dict(), "blocks": len(part.blocks), "report": part.report()}


def look_at_part(rooms: list[str], rank: int) -> tuple[bool, int, float]:
    """Whether a rank is here, the rank that it waits for (-1: none), and how many seconds it has."""
    part = next((_PARTS[room, rank] for room in rooms if (room, rank) in _PARTS), None)
    if part is None or part.mail.waiting is None:
        return part is not None, -1, 0.0
    waited, since = part.mail.waiting
    return True, waited, time.monotonic() - since


def close_part(room: str, rank: int) -> None:
    """Close a rank, if it is there."""
    part = _PARTS.get((room, rank))
    if part is not None:
        part.close()


def connect_part(part: Part) -> None:
    """Verb: open the connections to the other ranks, all of which are open."""
    part.mail.connect()


def abandon_part(room: str, rank: int, lost: int, why: str) -> None:
    """End the waiting of a rank for one that is gone."""
    part = _PARTS.get((room, rank))
    if part is not None:
        part.mail.lose(lost, why)
