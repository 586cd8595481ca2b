"""The external engine: the Engine interface without arrays that have an entry for every vertex.

Columns are files (columns.py), rows are looked up in chunks of `indptr` and `indices` (rows.py), traversals keep two
levels (search.py), and values sent along arcs are sorted by ranges of vertices (buckets.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..engine.counting import ColumnCounting
from ..engine.interface import Facts
from ..engine.reporter import Reporter
from ..progress import Listener
from ..stream.plan import MemoryPlan
from ..traverse.bfs import BfsResult
from ..traverse.columns import Column, smallest_dtype
from ..traverse.components import Components
from ..traverse.core import highest_degrees
from ..traverse.paths import copied_rows, heads_in_rows
from ..traverse.pivot_bounds import PivotBounds
from ..traverse.workspace import pairs_to_meet
from .bounds import DiskPivotBounds
from .clustering import ClusteringVerbs
from .columns import DiskColumn
from .disk import Disk
from .distances import LevelColumn, LevelColumns, OpenBits, RanksReached, spread
from .paths import follow_chains, path_pieces, steep_arcs
from .search import BITS, DiskSearch, Wanted, listed_targets


class ExternalEngine(ColumnCounting, ClusteringVerbs):
    """See emdiam.engine.interface.Engine for the verbs. Not thread-safe. disk : the graph and its scratch files."""

    def __init__(self, disk: Disk, plan: MemoryPlan, progress: Listener | None = None) -> None:
        store, rows = disk.store, disk.rows
        self.disk, self.store, self.plan = disk, store, plan
        self._rows, self.space = rows, disk.space
        self.load_seconds = 0.0
        self.facts = Facts(store.n_vertices, store.n_arcs, store.record.n_isolated, max(1, rows.table.n_blocks), BITS,
                           plan.pool_bytes, plan.pool_bytes, plan.spare_bytes, rows.threads.compute, plan.in_ram,
                           columns_on_disk=True)
        self.reporter = Reporter(progress, rows.stats, rows.counters.add, self._position)
        self._reached: Any = disk.words()
        self._n_reached = 0

    def _position(self) -> dict[str, Any]:
        done, total = self._rows.arcs.position
        return {"pass_done": done, "pass_total": total} if total else {}

    def details(self) -> dict[str, Any]:
        """Facts about the engine other than its counters, for Result.details."""
        scratch = self.disk.scratch
        return {"vertex_state": "on disk", "scratch_bytes_written": scratch.bytes_written,
                "scratch_bytes_read": scratch.bytes_read, "scratch_peak_bytes": scratch.peak_bytes}

    # -- traversing -----------------------------------------------------------------------------
    def bfs(self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
            distances: bool = True, profile: bool = False, into: Column | None = None) -> BfsResult:
        """See Engine.bfs."""
        source = int(source)
        self._check([source])
        self.reporter.begin()
        levels = LevelColumn(self.disk) if distances or into is not None else None
        bits = RanksReached(self.disk) if levels is None else None
        wanted = Wanted(-1 if radius is None else radius, **({} if targets is None else listed_targets(
            source, targets)))
        search = DiskSearch(self.disk, [(np.array([source]), np.ones(1, np.uint64))], 1, wanted,
                        (levels or bits).add, counting=profile)  # type: ignore[union-attr]
        self._finish(search)
        column = None if levels is None else levels.column(search.level, into)
        if bits is not None:
            bits.finish()
        self._reached = OpenBits(column) if column is not None else bits.words  # type: ignore[union-attr]
        self._n_reached = search.reached
        self._rows.counters.add(traversals=1)
        eccentricity = search.level if search.complete else None
        self.reporter.end("bfs", source=source, eccentricity=eccentricity, reached=search.reached)
        return BfsResult(source, eccentricity, search.level, search.reached, search.smallest, column, search.counts,
                             self._reached)

    def _check(self, sources: Sequence[int] | np.ndarray) -> None:
        """Raise ValueError for an invalid vertex."""
        if len(sources) and not 0 <= min(sources) <= max(sources) < self.facts.n_vertices:
            raise ValueError(f"a source is no vertex (0 to {self.facts.n_vertices - 1})")

    def _finish(self, search: DiskSearch) -> None:
        self.reporter.level = None
        while not search.step(self.reporter.heartbeat):
            self.reporter.level = search.level
            self.reporter.heartbeat()

    def eccentricities(self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
                       columns: Sequence[Column] | None = None) -> np.ndarray:
        """See Engine.eccentricities."""
        wanted = np.asarray(sources, np.int64)
        self._check(wanted)
        self.reporter.begin()
        result = np.empty(len(wanted), np.int32)
        for begin in range(0, len(wanted), BITS):
            part = slice(begin, begin + BITS)
            result[part] = self._batch(wanted[part], targets, None if columns is None else columns[part])
        self.reporter.end("multi-source", sources=len(wanted),
                          eccentricity=None if targets is not None else int(result.max(initial=0)))
        return result

    def _batch(self, sources: np.ndarray, targets: np.ndarray | None, columns: Sequence[Column] | None) -> np.ndarray:
        """Eccentricities of at most BITS sources."""
        vertices, where = np.unique(sources, return_inverse=True)
        masks = np.zeros(len(vertices), np.uint64)
        np.bitwise_or.at(masks, where, np.uint64(1) << np.arange(len(sources)).astype(np.uint64))
        wanted = Wanted() if targets is None else Wanted(words=targets, remaining=pairs_to_meet(targets, sources))
        made = None if columns is None else LevelColumns(self.disk, columns)
        search = DiskSearch(self.disk, [(vertices, masks)], max(2, len(sources)), wanted,
                        (lambda *found: None) if made is None else made.add)
        self._finish(search)
        if made is not None:
            made.finish()
        self._rows.counters.add(traversals=1)
        return search.farthest[: len(sources)].astype(np.int32)

    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """See Engine.new_column."""
        column = self.disk.column(smallest_dtype(largest), value)
        return column if isolated is None else column.put_pieces(self.vertices_of_degree(0), isolated)

    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return DiskPivotBounds(self.disk, largest)

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        assert isinstance(bound, DiskColumn)
        self.reporter.begin()
        lowered = spread(self.disk, seeds, values, limit, bound, self.reporter.heartbeat)
        self._rows.counters.add(traversals=1)
        self.reporter.end("spread", reached=lowered)
        return lowered

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        with_edge = self.facts.n_vertices - self.facts.n_isolated
        if with_edge == 0 or (self._n_reached == with_edge and int(self._rows.degrees(np.array([reached]))[0])):
            return None
        words = self._reached

        def unseen(first: int, stop: int) -> np.ndarray:
            bits = words[first >> 6 : -(-stop // 64)].view(np.uint8)
            return np.unpackbits(bits, count=stop - first, bitorder="little") == 0

        return self.hidden_components(unseen, reached)

    # -- looking --------------------------------------------------------------------------------
    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.degrees."""
        return self._rows.degrees(np.asarray(ids, np.int64))

    def highest_degrees(self, most: int) -> np.ndarray:
        """See Engine.highest_degrees."""
        best, degrees = highest_degrees(self._rows, most)
        return best[degrees > 0]

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """See Engine.vertices_of_degree."""
        for vertices, degrees in self._rows.ascending():
            those = vertices[degrees == degree]
            for start in range(0, len(those), most):
                yield those[start : start + most]

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """See Engine.rows."""
        rows = self._rows
        return copied_rows(rows.arcs, rows.table.shift, *rows.bounds_of(np.asarray(ids, np.int64)))

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """See Engine.path_pieces."""
        assert isinstance(distances, DiskColumn)
        ranks = self.store.array("natural_id") if by_rank and not self.store.is_natural else None
        return path_pieces(self.disk, distances, target, ranks)

    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See Engine.follow_chains."""
        return follow_chains(self._rows, tips)

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """See Engine.all_edges_exist."""
        rows = self._rows
        return heads_in_rows(rows.arcs, rows.table.shift, heads, *rows.bounds_of(tails))

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """See Engine.scan."""
        if name == "steep-arcs":
            return steep_arcs(self.disk, column, self.reporter.heartbeat)
        if name != "tree-diameter":
            raise ValueError(f"unknown scan kernel {name!r}")
        return self.tree_diameter(column, source)
