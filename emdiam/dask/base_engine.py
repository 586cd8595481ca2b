"""The part of the Dask engine that searches and looks rows up: the Engine interface over workers with vertex ranges.

The client holds no vertex state: it asks verbs of all ranks as tasks that Dask's dashboard shows by name
(bfs-level-12), and merges small answers. What workers tell each other goes from worker to worker (alltoall.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from ..engine.cpu import CpuEngine
from ..engine.interface import Facts
from ..engine.reporter import Reporter
from ..progress import Event, Listener
from ..store.store import Store
from ..stream.blocks import check_degrees
from ..stream.counters import Counters, SharedCounters
from ..stream.plan import MemoryPlan
from ..traverse.bfs import Traversal
from ..traverse.columns import Column, smallest_dtype
from ..traverse.profile import BINS
from . import column_verbs, search_verbs
from .columns import Columns, ref
from .rank_group import Group
from .recovery import Loss, Recovery
from .resumable_bfs import Flight
from .search_verbs import How

_MOST_BITS = 512


class Reached:
    """Stands for what the last BFS reached, which workers know."""


class BaseEngine:
    """Engine over a Group; see emdiam.engine.interface.Engine for the verbs. Not thread-safe.

    store : as the client sees it. plan : of the client's own memory. local : opens the CPU engine of the client, for
    verbs that are not shared out; it is opened when the first of them is called. Raises StoreError where the store
    record has another number of vertices without an edge than the workers count.
    """

    def __init__(
        self, store: Store, group: Group, plan: MemoryPlan,
        local: Callable[[], AbstractContextManager[CpuEngine]],
        progress: Listener | None = None
    ) -> None:
        self.store, self.group, self.plan = store, group, plan
        self.columns = Columns(group, store.n_vertices)
        self.load_seconds = 0.0
        check_degrees(store, store.record.max_degree, group.n_isolated)
        self.facts = Facts(
            store.n_vertices, store.n_arcs, group.n_isolated, max(1, store.indices.n_chunks), _MOST_BITS,
            pool_of_all(group), plan.pool_bytes, plan.spare_bytes, group.size * group.spec.threads,
            all(found["in_ram"] for found in group.plans))
        self.reporter = Reporter(progress, self._stats, self._count, self._position)
        self._mine = SharedCounters()
        self._exits = ExitStack()
        self._open_local = local
        self._local_engine: CpuEngine | None = None
        self.recovery = Recovery(group, self.columns, self._tell_loss)
        group.heartbeat = self.reporter.heartbeat

    def _tell_loss(self, loss: Loss) -> None:
        facts = {"ranks": loss.ranks, "verb": loss.verb, "seconds": loss.seconds}
        self.reporter.listener(Event("recover", facts=facts))

    def close(self) -> None:
        """Let go of the client's own engine."""
        self._exits.close()

    @property
    def local(self) -> CpuEngine:
        """The client's own engine, for verbs that are not shared out."""
        if self._local_engine is None:
            self._local_engine = self._exits.enter_context(self._open_local())
            # From here on the client holds what that plan says; its phases are not those of the run.
            self.plan = replace(self._local_engine.plan, phases=())
            self.facts = replace(self.facts, spare_bytes=self.plan.spare_bytes)
        return self._local_engine

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> Traversal:
        """See Engine.bfs."""
        if not 0 <= source < self.facts.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.facts.n_vertices - 1})")
        wanted = None if targets is None else np.unique(np.fromiter(targets, np.int64))
        self.reporter.begin()
        key = None if into is not None or not distances else self.columns.new_key()
        found = self._search(How(int(source), radius, wanted, None if into is None else ref(into).key, profile), key)
        self._mine.add(traversals=1)
        column = into if key is None else self.columns.adopt(key, found[0].dtype)
        level, complete = int(self.reporter.level or 0), found[0].complete
        run = Traversal(
            int(source), level if complete else None, level, sum(part.reached for part in found),
            min(part.farthest for part in found if part.farthest >= 0), column,
            found[0].level_counts if profile else [])
        self.reporter.end("bfs", source=run.source, eccentricity=run.eccentricity,
                          reached=run.n_reached, profile=partial(merged_profile, found, level))
        return run

    def _search(self, how: How, key: int | None) -> list[search_verbs.Found]:
        """What each rank has found at the end of a search."""
        flight = Flight(self.group, self.recovery, how, key, self.reporter.heartbeat)
        steps = flight.begin(self.columns.take_unused())
        while True:
            self.reporter.level = steps[0].level
            found = [step.found for step in steps if step.found is not None]
            if found:
                return found
            self.reporter.heartbeat()
            steps = flight.step(f"bfs-level-{steps[0].level}" + ("-dense" if steps[0].dense else ""))

    def reached(self) -> Any:
        """See Engine.reached."""
        return Reached()

    # -- columns --------------------------------------------------------------------------------
    def new_column(self, largest: int, value: int | None = None) -> Column:
        """See Engine.new_column."""
        dtype = smallest_dtype(largest)
        return self.columns.make(dtype, int(np.iinfo(dtype).max) if value is None else value)

    # -- rows -----------------------------------------------------------------------------------
    def _by_owner(self, ids: np.ndarray) -> dict[int, np.ndarray]:
        """Places in `ids` by the rank that owns what is there."""
        owners = self.group.owners(ids)
        return {int(rank): np.flatnonzero(owners == rank) for rank in np.unique(owners)}

    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.degrees."""
        wanted = np.asarray(ids, np.int64)
        places = self._by_owner(wanted)
        found = np.empty(len(wanted), np.int64)
        parts = self.group.some(column_verbs.degrees_of, {rank: (wanted[at],) for rank, at in places.items()})
        for at, values in zip(places.values(), parts, strict=True):
            found[at] = values
        return found

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """See Engine.rows."""
        wanted = np.asarray(ids, np.int64)
        places = self._by_owner(wanted)
        rows: list[np.ndarray] = [np.empty(0, np.int64)] * len(wanted)
        parts = self.group.some(column_verbs.rows_of, {rank: (wanted[at],) for rank, at in places.items()})
        for at, some in zip(places.values(), parts, strict=True):
            for i, row in zip(at.tolist(), some, strict=True):
                rows[i] = row
        return rows

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """See Engine.vertices_of_degree."""
        piece = np.empty(0, np.int64)
        for rank in range(self.group.size):
            start, stop = int(self.group.ranges[rank]), int(self.group.ranges[rank + 1])
            while start < stop:  # pieces are filled across ranges, so that methods see the same ones as anywhere
                (found, start), = self.group.some(column_verbs.of_degree, {rank: (degree, start, most - len(piece))})
                piece = np.concatenate((piece, found))
                if len(piece) == most:
                    yield piece
                    piece = np.empty(0, np.int64)
        if len(piece):
            yield piece

    def max_degree_vertex(self) -> tuple[int, int]:
        """See Engine.max_degree_vertex."""
        best, degrees = self._highest(1)
        return (int(best[0]), int(degrees[0])) if len(best) else (-1, -1)

    def highest_degrees(self, most: int) -> np.ndarray:
        """See Engine.highest_degrees."""
        best, degrees = self._highest(most)
        return best[degrees > 0]

    def _highest(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        found = self.group.everyone(column_verbs.highest_degrees, most)
        best, degrees = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(-degrees, kind="stable")[:most]
        return best[order], degrees[order]

    def first_with_edge(self) -> int:
        """See Engine.first_with_edge."""
        return next((v for v in self.group.everyone(column_verbs.first_connected) if v >= 0), -1)

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """See Engine.all_edges_exist."""
        tails, heads = np.asarray(tails, np.int64), np.asarray(heads, np.int64)
        return all(self.group.some(column_verbs.edges_exist, {
            rank: (tails[at], heads[at]) for rank, at in self._by_owner(tails).items()}))

    # -- people ---------------------------------------------------------------------------------
    def user_ids(self, ids: np.ndarray) -> list[Any]:
        """See Engine.user_ids."""
        return self.store.user_ids(ids)

    def _stats(self) -> Counters:
        """Counters of all workers and the client together."""
        total = self.group.counters()
        parts = [self._mine.snapshot()]
        if self._local_engine is not None:
            parts.append(self._local_engine.reporter.stats())
        for counters in parts:
            for name, amount in counters.to_dict().items():
                setattr(total, name, getattr(total, name) + amount)
        return total

    def details(self) -> dict[str, Any]:
        """What a result tells of the workers: see docs/scaling.md."""
        return {"workers": [
            {"address": address, "vertices": int(stop - first), **report["mail"],
             "bytes_read": report["counters"]["bytes_read"], "edges_scanned": report["counters"]["edges_scanned"],
             "peak_rss_bytes": report["peak_rss_bytes"], "planned_rss_bytes": plan["planned_rss_bytes"]}
            for address, first, stop, report, plan in zip(
                self.group.spec.addresses, self.group.ranges[:-1], self.group.ranges[1:], self.group.reports,
                self.group.plans, strict=True)],
            "losses": [asdict(loss) for loss in self.recovery.losses]}

    def _count(self, **amounts: float) -> None:
        self._mine.add(**amounts)

    def _position(self) -> dict[str, Any]:
        waited = self.group.waited_for
        return {"waiting_for": {f"worker {rank}": round(s, 1) for rank, s in waited.items()}} if waited else {}


def pool_of_all(group: Group) -> int:
    """The bytes of columns of the whole graph for which every rank has room in its pool: the same for any number of
    ranks where memory is no limit, since a column takes of each what its vertices do."""
    n, sizes = int(group.ranges[-1]), np.diff(group.ranges).tolist()
    pools = [plan["pool_bytes"] * n // own for plan, own in zip(group.plans, sizes, strict=True) if own]
    return min(pools, default=0)


def merged_profile(found: Sequence[search_verbs.Found], level: int) -> list[list[int]]:
    """[[first level, vertices], ...] up to `level`, from the bins of all ranks (traverse/profile.py)."""
    shift = max(int(part.bins[0]) for part in found)
    total = np.zeros(BINS, np.int64)
    for part in found:
        folded = part.bins[1:].reshape(-1, 1 << (shift - int(part.bins[0]))).sum(axis=1)
        total[: len(folded)] += folded
    return [[i << shift, count] for i, count in enumerate(total[: 1 + (level >> shift)].tolist())]
