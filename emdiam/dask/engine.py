"""The Dask engine: the Engine interface over workers, each with a range of vertices.

The client has no vertex state: it calls verbs on all ranks (rank_group.py) and merges small answers. Messages between
ranks go from worker to worker (alltoall.py). The client's own engine computes random spanning forests, their tours and
heights, and arcs in the order of labels, in RAM, and reads the store itself. Bytes a vertex with ids of 4 bytes, in
addition to the 3 of that engine: 20 while the forest is made, 20 (28 in large reordered stores) for Euler tours, 16 for
trees and refined heights, 4 (8 with larger ids) for arcs in the order of labels. The resulting columns are in RAM of
the client; input columns on workers are copied to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..engine.counting import ColumnCounting
from ..engine.cpu import CpuEngine
from ..engine.forest import CpuForest
from ..engine.interface import Engine, Facts, Labels
from ..engine.reporter import Reporter
from ..errors import StateLost
from ..gpu.setting import CPU
from ..progress import Event, Listener
from ..store.store import Store
from ..stream.blocks import check_degrees
from ..stream.counters import Counters, SharedCounters
from ..stream.plan import MemoryPlan
from ..traverse.bfs import BfsResult
from ..traverse.columns import Column, smallest_dtype
from ..traverse.components import Components
from ..traverse.core import Core, highest_degrees
from ..traverse.paths import all_edges_exist, read_rows
from ..traverse.pivot_bounds import PivotBounds
from ..traverse.workspace import pairs_to_meet
from . import components as component_verbs
from . import multi, scans, search, walks
from .alltoall import ranks_of, slab_size
from .column_verbs import ReachedByRanks, of_degree, on_core
from .columns import Columns, WorkerBounds, WorkerColumn, ref
from .components import WorkerComponents
from .labels import WorkerClusters, on_workers
from .masks import range_bytes, row_bytes
from .rank_group import VAIN_LOSSES, Loss, RankGroup, WorkersLost
from .spread import spread

_BATCH_BITS, _WORD_BITS = 512, 64
_LEAST_ROOM, _USUAL_ROOM = 1 << 16, 1 << 20
# Values of other ranks on a worker during a pass take at most its pool / _HALO_SHARE, or _LEAST_HALO bytes.
_HALO_SHARE, _LEAST_HALO = 2, 1 << 20
_Value = TypeVar("_Value")


class DaskEngine(ColumnCounting, Engine):
    """Engine over a RankGroup; see emdiam.engine.interface.Engine for the verbs. Not thread-safe.

    store : opened by the client. plan : of the client's memory. local : opens the client's CPU engine for verbs that
    workers do not have, at the first call of one. Raises StoreError if the number of vertices without an edge in the
    store's record is not the workers' count.

    batch_room_bytes : memory of a batch of sources on a worker for outgoing masks, and the same for incoming ones;
    None: by the rest of the pool, at least 64 KiB. halo_bytes : memory on a worker for values of other ranges during a
    pass; None: half of its pool, at least 1 MiB.
    """

    batch_room_bytes: int | None = None
    halo_bytes: int | None = None

    def __init__(
        self, store: Store, group: RankGroup, plan: MemoryPlan, local: Callable[[], AbstractContextManager[CpuEngine]],
        progress: Listener | None = None
    ) -> None:
        self.store, self.group, self.plan = store, group, plan
        self.columns = Columns(group, store.n_vertices)
        self.load_seconds = 0.0
        check_degrees(store, store.record.max_degree, group.n_isolated)
        self.facts = self._facts()
        self._counters = SharedCounters()
        self.reporter = Reporter(progress, self._stats, self._counters.add, self._position)
        self._exits = ExitStack()
        self._open_local = local
        self._local_engine: CpuEngine | None = None
        group.on_loss, group.heartbeat = self._report_loss, self.reporter.heartbeat
        for loss in group.losses:  # while it was opened
            self._report_loss(loss)

    def _facts(self) -> Facts:
        """The facts of the engine; workers change after a loss."""
        store, group = self.store, self.group
        return Facts(
            store.n_vertices, store.n_arcs, group.n_isolated, max(1, store.indices.n_chunks), _BATCH_BITS,
            group.pool_bytes, self.plan.pool_bytes, self.plan.spare_bytes, group.size * group.spec.threads,
            all(plan["in_ram"] for plan in group.plans))

    def repeated(self, attempt: Callable[[], _Value]) -> _Value:
        """The result of attempt(), which uses this engine. It is called again after each loss of workers, since columns
        are lost. Raises StateLost if no worker remains, or if workers are lost repeatedly at the same place."""
        furthest = in_vain = 0
        while True:
            before = self.group.number
            try:
                return attempt()
            except WorkersLost as loss:
                self.facts = self._facts()
                verbs = self.group.number - before
                furthest, in_vain = max(furthest, verbs), in_vain + 1 if verbs <= furthest else 0
                if in_vain == VAIN_LOSSES:
                    raise StateLost(f"{loss}, {VAIN_LOSSES + 1} times at the same place") from None

    def _report_loss(self, loss: Loss) -> None:
        facts = {"ranks": loss.ranks, "verb": loss.verb, "seconds": loss.seconds}
        self.reporter.listener(Event("recover", facts=facts))

    def close(self) -> None:
        """Close the client's own engine."""
        self._exits.close()

    @property
    def local(self) -> CpuEngine:
        """The client's own engine, for verbs that workers do not have."""
        if self._local_engine is None:
            self._local_engine = self._exits.enter_context(self._open_local())
            # From now on the client's memory follows this plan; its phases are not those of the run.
            self.plan = replace(self._local_engine.plan, phases=())
            self.facts = replace(self.facts, spare_bytes=self.plan.spare_bytes)
        return self._local_engine

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> BfsResult:
        """See Engine.bfs."""
        if not 0 <= source < self.facts.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.facts.n_vertices - 1})")
        wanted = None if targets is None else np.unique(np.fromiter(targets, np.int64))
        self.reporter.begin()
        keep = None if into is not None or not distances else self.columns.new_key()
        there = None if into is None else ref(into).key
        parts = self.group.everyone(search.bfs, int(source), radius, wanted, there, keep, profile)
        self._counters.add(traversals=1)
        column = into if keep is None else self.columns.adopt(keep, parts[0].dtype)
        level = self.reporter.level = parts[0].level
        run = BfsResult(
            int(source), level if parts[0].complete else None, level, sum(part.reached for part in parts),
            min(part.farthest for part in parts if part.farthest >= 0), column,
            parts[0].level_counts if profile else [], ReachedByRanks())
        self.reporter.end("bfs", source=run.source, eccentricity=run.eccentricity,
                          reached=run.n_reached, profile=partial(search.merged_profile, parts, level))
        return run

    # -- columns --------------------------------------------------------------------------------
    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """See Engine.new_column."""
        dtype = smallest_dtype(largest)
        column = self.columns.make(dtype, int(np.iinfo(dtype).max) if value is None else value)
        return column if isolated is None else column.put_pieces(self.vertices_of_degree(0), isolated)

    # -- rows -----------------------------------------------------------------------------------
    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.degrees."""
        return self.group.gathered(on_core, ids, np.int64, Core.degrees)

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """See Engine.rows."""
        wanted = np.asarray(ids, np.int64)
        places = self.group.by_owner(wanted)
        rows: list[np.ndarray] = [np.empty(0, np.int64)] * len(wanted)
        parts = self.group.some(on_core, {rank: (read_rows, wanted[at]) for rank, at in places.items()})
        for at, some in zip(places.values(), parts, strict=True):
            for i, row in zip(at.tolist(), some, strict=True):
                rows[i] = row
        return rows

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """See Engine.vertices_of_degree."""
        piece = np.empty(0, np.int64)
        for rank in range(self.group.size):
            start, stop = int(self.group.ranges[rank]), int(self.group.ranges[rank + 1])
            while start < stop:  # pieces are filled across ranges, so methods get the same pieces on every engine
                (more, start), = self.group.some(of_degree, {rank: (degree, start, most - len(piece))})
                piece = np.concatenate((piece, more))
                if len(piece) == most:
                    yield piece
                    piece = np.empty(0, np.int64)
        if len(piece):
            yield piece

    def highest_degrees(self, most: int) -> np.ndarray:
        """See Engine.highest_degrees."""
        pairs = self.group.everyone(on_core, highest_degrees, most)
        best, degrees = (np.concatenate(each) for each in zip(*pairs, strict=True))
        order = np.argsort(-degrees, kind="stable")[:most]
        return best[order[degrees[order] > 0]]

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """See Engine.all_edges_exist."""
        tails, heads = np.asarray(tails, np.int64), np.asarray(heads, np.int64)
        return all(self.group.some(on_core, {
            rank: (all_edges_exist, tails[at], heads[at]) for rank, at in self.group.by_owner(tails).items()}))

    # -- many sources ---------------------------------------------------------------------------
    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities. A batch has the number of sources that fits the pool of every worker, at least
        64."""
        wanted = np.asarray(sources, np.int64)
        if len(wanted) and (int(wanted.min()) < 0 or int(wanted.max()) >= self.facts.n_vertices):
            raise ValueError(f"a source is no vertex (0 to {self.facts.n_vertices - 1})")
        if columns is not None and (len(columns) != len(wanted) or len({column.dtype for column in columns}) > 1):
            raise ValueError("one column per source, all of one dtype, is needed")
        keys = None if columns is None else [ref(column).key for column in columns]
        self.reporter.begin()
        result, bits = np.empty(len(wanted), np.int32), self._bits(len(wanted))
        for begin in range(0, len(wanted), bits):
            end = min(begin + bits, len(wanted))
            result[begin:end] = self._batch(wanted[begin:end], targets, None if keys is None else keys[begin:end])
        self.reporter.end("multi-source", sources=len(wanted),
                          eccentricity=None if targets is not None else int(result.max(initial=0)))
        return result

    def _bits(self, wanted: int) -> int:
        """The number of sources of a batch, at most `wanted`, that fits the pool of every worker."""
        bits = min(self.facts.batch_bits, -(-max(1, wanted) // _WORD_BITS) * _WORD_BITS)
        while bits > _WORD_BITS and any(range_bytes(n, bits) + 2 * _LEAST_ROOM > pool for n, pool in self._pools()):
            bits -= _WORD_BITS
        return bits

    def _pools(self) -> list[tuple[int, int]]:
        """(vertices, bytes of the pool) of every rank."""
        return [(n, plan["pool_bytes"])
                for n, plan in zip(np.diff(self.group.ranges).tolist(), self.group.plans, strict=True)]

    def _room(self, bits: int) -> int:
        """The memory for masks of a batch of `bits` sources; the same on all ranks."""
        if self.batch_room_bytes is not None:
            return self.batch_room_bytes
        left = min((pool - range_bytes(n, bits)) // 2 for n, pool in self._pools())
        useful = max(n for n, _ in self._pools()) * row_bytes(bits) // 2
        return max(_LEAST_ROOM, min(_USUAL_ROOM, left), min(useful, left // 2))

    def _batch(self, sources: np.ndarray, targets: np.ndarray | None, columns: list[int] | None) -> np.ndarray:
        """The eccentricities of one batch, int32[k]."""
        remaining = None if targets is None else pairs_to_meet(targets, sources)
        room, words = self._room(len(sources)), [None] * self.group.size
        eccentricities, self.reporter.level, too_long = self.group.some(multi.multi_source, {
            rank: (sources, columns, bitmap, remaining, room)
            for rank, bitmap in enumerate(words if targets is None else self.group.split_words(targets))})[0]
        if too_long:
            raise OverflowError(f"distance {self.reporter.level} does not fit the columns")
        self._counters.add(traversals=1)
        return np.asarray(eccentricities)

    # -- bounds ---------------------------------------------------------------------------------
    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return WorkerBounds(self.columns, largest)

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        key, old = ref(bound).key, None if seeds is not None else values
        if limit >= bound.unreached:
            raise OverflowError(f"the limit {limit} does not fit the bound column ({bound.dtype})")
        wanted, starts = (np.asarray([] if seeds is None else entries, np.int64) for entries in (seeds, values))
        wanted, starts = wanted[starts <= limit], starts[starts <= limit]
        owners, levels = self.group.owners(wanted), np.unique(starts)
        self.reporter.begin()
        lowered = sum(self.group.some(spread, {
            rank: (key, limit, wanted[owners == rank], starts[owners == rank], levels, old)
            for rank in range(self.group.size)}))
        self._counters.add(traversals=1)
        self.reporter.end("spread", reached=lowered)
        return lowered

    # -- components and clusters ------------------------------------------------------------------
    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        keys = self.columns.new_key(), self.columns.new_key()
        counts = self.group.everyone(component_verbs.label_components, *keys, int(reached))
        if counts[0] < 0:
            return None
        labels, sizes = (self.columns.adopt(key, self.store.id_dtype) for key in keys)
        return WorkerComponents(self.columns, labels, sizes, sum(counts), int(reached))

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        labels = WorkerClusters(self.columns, np.asarray(masters, np.int64), self._halo_room)
        if not labels.grow_new(0, most_rounds):
            return None
        first = len(labels.masters)
        return labels if not labels.add_lonely() or labels.grow_new(first, most_rounds) else None

    def restart(
        self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_scans: int | None = None
    ) -> bool:
        """See Engine.restart."""
        self._counters.add(traversals=1)
        most_blocks = None if most_scans is None else most_scans * self.facts.n_blocks
        return on_workers(labels).restart_from(base, parts, sources, most_blocks)

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.condense; arcs come in pieces without duplicates within a piece. For new numbers (an array) the
        client's own engine does it."""
        if isinstance(by, np.ndarray):
            self.local.condense(by, bits, push)
        else:
            on_workers(by).condense(bits, push)

    # -- passes over all rows ---------------------------------------------------------------------
    @property
    def _halo_room(self) -> int:
        if self.halo_bytes is not None:
            return self.halo_bytes
        return int(max(_LEAST_HALO, min(plan["pool_bytes"] for plan in self.group.plans) // _HALO_SHARE))

    def on_workers(self, column: Column) -> WorkerColumn:
        """The column, or a copy of it on the workers."""
        if isinstance(column, WorkerColumn):
            return column
        copy = self.columns.make(column.dtype, column.unreached)
        copy.copy_from(column)
        return copy

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """See Engine.scan."""
        if name == "tree-diameter":
            return self._tree_diameter(column, source)
        if name != "steep-arcs":
            raise ValueError(f"unknown scan kernel {name!r}")
        there = self.on_workers(column)
        return sum(self.group.everyone(scans.count_steep, there.key, slab_size(self._halo_room, there.dtype.itemsize)))

    def _tree_diameter(self, distances: Column, source: int) -> int:
        if distances.gather([source])[0] != 0:
            raise ValueError(f"vertex {source} is not the source of these distances")
        there = self.on_workers(distances)
        size = slab_size(self._halo_room, there.dtype.itemsize + self.store.id_dtype.itemsize)
        parts = self.group.everyone(scans.tree_diameter, there.key, size)
        orphan = max(vertex for _, vertex in parts)
        if orphan >= 0:
            raise RuntimeError(f"no neighbour of vertex {orphan} is nearer to the source")
        return max(longest for longest, _ in parts)

    # -- ranks ------------------------------------------------------------------------------------
    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.ranks."""
        wanted = np.asarray(ids, np.int64)
        if self.store.is_natural or len(wanted) == 0:
            return wanted
        return self.group.gathered(ranks_of, wanted, np.int64)

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """See Engine.sample_vertices."""
        candidates = max(1, self.facts.n_vertices - self.facts.n_isolated)
        threshold = min((expected << 64) // candidates, (1 << 64) - 1)
        pairs = self.group.everyone(scans.sample_range, key, threshold, expected >= candidates)
        vertices, ranks = (np.concatenate(each) for each in zip(*pairs, strict=True))
        return vertices[np.argsort(ranks, kind="stable")]

    # -- chains, paths and forests ----------------------------------------------------------------
    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See Engine.follow_chains."""
        ends, lengths = np.empty(len(tips), np.int64), np.zeros(len(tips), np.int64)
        for walk in self.group.everyone(walks.follow_chains, np.asarray(tips, np.int64)):
            ends[walk[:, 0]], lengths[walk[:, 0]] = walk[:, 1], walk[:, 3]
        return ends, lengths

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """See Engine.path_pieces."""
        there, path = self.on_workers(distances), walks.PathStep(int(target), 0)
        yield np.array([target], np.int64)
        while not path.ended:
            steps = self.group.everyone(walks.walk_some, there.key, by_rank, path.at, path.length)
            for _, piece in sorted((piece for step in steps for piece in step.pieces), key=lambda piece: piece[0]):
                yield piece
            path = steps[0]
            if path.lost:
                raise RuntimeError(f"no neighbour of vertex {path.at} is nearer to the source")

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> CpuForest:
        """See Engine.spanning_forest; by the client's own engine."""
        return self.local.spanning_forest(key, buffer_bytes)

    # -- figures --------------------------------------------------------------------------------
    def _stats(self) -> Counters:
        """The sum of the counters of all workers and the client."""
        total = self.group.counters() + self._counters.snapshot()
        return total if self._local_engine is None else total + self._local_engine.reporter.stats()

    def details(self) -> dict[str, Any]:
        """The details of a result about workers; see docs/scaling.md."""
        return {"workers": [
            {"address": address, "vertices": int(stop - first), **report["messages"],
             "bytes_read": report["counters"]["bytes_read"], "edges_scanned": report["counters"]["edges_scanned"],
             "peak_rss_bytes": report["peak_rss_bytes"], "planned_rss_bytes": plan["planned_rss_bytes"],
             "device": plan["device"], "vram_bytes": plan["vram_bytes"]}
            for address, first, stop, report, plan in zip(
                self.group.spec.addresses, self.group.ranges[:-1], self.group.ranges[1:], self.group.reports,
                self.group.plans, strict=True)],
            "losses": [asdict(loss) for loss in self.group.losses]}

    @property
    def device_name(self) -> str:
        """For results: "cpu", or the devices of the workers with their numbers."""
        counts = Counter(plan["device"] for plan in self.group.plans)
        if set(counts) <= {CPU}:
            return CPU
        return " + ".join(f"{count} x {name}" for name, count in sorted(counts.items()))

    def _position(self) -> dict[str, Any]:
        return {} if self.group.level is None else {"level": self.group.level}
