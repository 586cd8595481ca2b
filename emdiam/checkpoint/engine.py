"""An engine that keeps what its verbs give: over the CPU engine, in RAM and streamed alike.

Verbs that pass over edges are answered from the journal or done and written to it, with the columns that
they wrote. All others (columns, degrees, ranks, rows, paths, trees in RAM) are done again. The bitmap of
reached vertices is kept with each BFS, since Winnow and components look at it. Counters go on where they stood:
each record has what its verb cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..traverse.bfs import BfsRun, Traversal
from ..traverse.clusters import Labels
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.cpu_engine import CpuEngine
from ..traverse.labels import LabelRun
from ..traverse.multi import MultiRun
from ..traverse.refine import HeightRefinement
from ..traverse.spanning import SpanningForest
from ..traverse.strip_batch import StripBatch
from .changes import add_changes, digests, take_changes
from .half import Halves
from .heights import JournalHeights
from .journal import Journal, told
from .pushed import ARCS, LEAST_ARC_BYTES, Push, PushedArcs
from .records import Record, RecordWriter

Keep = Callable[[RecordWriter, Any], Any]
Again = Callable[[Record, Any], Any]


class JournalEngine(CpuEngine):
    """The verbs of `engine`, answered from `journal` as far as it goes; see emdiam.engine.Engine.

    halves : where traversals under way are kept. every : seconds after which they are. facts : what
    methods see of the plan (run_facts), that of the run which began the journal.
    """

    def __init__(
        self, engine: CpuEngine, journal: Journal, halves: Halves, every: float, facts: dict[str, Any]
    ) -> None:
        super().__init__(engine.store, engine._core, engine.plan, engine._progress)
        self.compile_seconds, self.load_seconds = engine.compile_seconds, engine.load_seconds
        self.pool_bytes, self.in_ram = int(facts["pool_bytes"]), bool(facts["in_ram"])
        self.batch_bits = int(facts["batch_bits"])
        self._book, self._halves, self._every = journal, halves, every
        self._begun = self.stats()
        self._kept_at = journal.now()
        self._run: object | None = None
        self._call: list[Any] = []
        self.resumed_inside = False

    # -- the journal ----------------------------------------------------------------------------
    def answered(self, verb: str, args: Any, live: Callable[[], Any], keep: Keep, again: Again) -> Any:
        """The result of a verb. live : does it. keep : writes its arrays, returns the rest (for JSON).
        again : makes the result of a record and that rest."""
        record = self._book.answer(verb, args)
        if record is not None:
            self.count(**record.head["counters"])
            self._core.bias, self._core.thin = record.head["core"]
            return again(record, record.head["value"])
        self._begun, self._run, self._call = self.stats(), None, [verb, args]
        result = live()
        with self._book.writing() as writer:
            self._write(writer, verb, args, keep(writer, result))
        return result

    def _write(self, writer: RecordWriter, verb: str, args: Any, value: Any) -> None:
        """Finish the record of the verb at hand."""
        core = [self._core.bias, self._core.thin]
        self._book.finish(writer, {"verb": verb, "args": args, "value": value, "counters": self._cost(),
                                      "core": core})
        self._halves.forget()
        self._kept_at = self._book.now()

    def _cost(self) -> dict[str, float]:
        """What the verb at hand has cost so far."""
        return (self.stats() - self._begun).to_dict()

    def _at_rest(self, run: BfsRun | LabelRun) -> None:
        """The first run of a verb is taken up where it was, and kept now and then. Called between steps."""
        if self._run is None:
            self._run = run
            with self._halves.newest(self._book.n_records, self._call) as half:
                if half is not None:
                    run.restore(half.head["scalars"], half.read)
                    self.count(**half.head["counters"])
                    self.resumed_inside = True
        elif run is self._run and self._book.now() - self._kept_at >= self._every:
            self._book.sync()
            self._halves.save(self._book.n_records, self._call, self._cost(), run)
            self._kept_at = self._book.now()

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """Label growth inside tells of its rests."""
        self._core.at_rest = self._at_rest
        try:
            yield
        finally:
            self._core.at_rest = None

    def clock(self) -> float:
        """See Engine.clock."""
        return self._book.clock()

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> Traversal:
        """See Engine.bfs."""
        wanted = None if targets is None else np.fromiter(targets, np.int64)

        def live() -> Traversal:
            return CpuEngine.bfs(self, source, radius=radius, targets=wanted, distances=distances, profile=profile,
                                 into=into)

        def keep(writer: RecordWriter, run: Traversal) -> Any:
            writer.add("visited", self._core.work.visited)
            column = into if into is not None else run.distances
            if column is not None:
                writer.add("distances", column.raw())
            writer.add("profile", np.array(run.level_counts, np.int64))
            return [run.eccentricity, run.levels, run.n_reached, run.farthest]

        def again(record: Record, value: list[Any]) -> Traversal:
            record.read("visited", self._core.work.visited)
            column = None
            if into is not None:
                record.read("distances", into.raw())
                column = Column(into.raw())
            elif distances:
                column = Column(record.read("distances"))
            complete, levels, reached, farthest = value
            return Traversal(int(source), complete, levels, reached, farthest, column, record.read("profile").tolist())

        args = [int(source), radius, told(wanted), distances, profile, into is not None]
        result: Traversal = self.answered("bfs", args, live, keep, again)
        return result

    def _finish(self, run: BfsRun | MultiRun | StripBatch) -> None:
        if not isinstance(run, BfsRun):
            super()._finish(run)
            return
        self._at_rest(run)
        while not run.step(self._heartbeat):
            self._facts["level"] = run.level
            self._heartbeat()
            self._at_rest(run)

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities."""
        def keep(writer: RecordWriter, found: np.ndarray) -> Any:
            writer.add("found", found)
            for i, column in enumerate(columns or ()):
                writer.add(f"column {i}", column.raw())

        def again(record: Record, value: Any) -> np.ndarray:
            for i, column in enumerate(columns or ()):
                record.read(f"column {i}", column.raw())
            return record.read("found")

        args = [told(np.asarray(sources, np.int64)), told(targets), columns is not None]
        found: np.ndarray = self.answered(
            "eccentricities", args, lambda: CpuEngine.eccentricities(self, sources, targets=targets, columns=columns),
            keep, again)
        return found

    def spread(self, seeds: np.ndarray, values: np.ndarray, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        return self._lowering("spread", [told(np.asarray(seeds)), told(np.asarray(values)), int(limit)], bound,
                              lambda: CpuEngine.spread(self, seeds, values, limit, bound))

    def extend(self, old: int, new: int, bound: Column) -> int:
        """See Engine.extend."""
        return self._lowering("extend", [int(old), int(new)], bound, lambda: CpuEngine.extend(self, old, new, bound))

    def _lowering(self, verb: str, args: Any, bound: Column, live: Callable[[], int]) -> int:
        """A verb that lowers entries of `bound` and returns how many."""
        before = [] if self._book.replaying else digests(bound.raw())

        def keep(writer: RecordWriter, lowered: int) -> Any:
            return [int(lowered), add_changes(writer, bound.raw(), before)]

        def again(record: Record, value: list[Any]) -> int:
            take_changes(record, value[1], bound.raw())
            return int(value[0])

        return int(self.answered(verb, args, live, keep, again))

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        def keep(writer: RecordWriter, found: Components | None) -> Any:
            if found is not None:
                writer.add("labels", found.labels)
                writer.add("sizes", found._sizes)
            return found is not None

        def again(record: Record, others: bool) -> Components | None:
            if not others:
                return None
            return Components(self._core, record.read("labels"), record.read("sizes"), reached)

        found: Components | None = self.answered(
            "components", int(reached), lambda: CpuEngine.components(self, reached), keep, again)
        return found

    def tree_diameter(self, distances: Column, source: int) -> int:
        """See Engine.tree_diameter."""
        return int(self._number("tree_diameter", int(source), lambda: CpuEngine.tree_diameter(self, distances, source)))

    def scan(self, name: str, column: Column) -> int:
        """See Engine.scan."""
        return int(self._number("scan", name, lambda: CpuEngine.scan(self, name, column)))

    def _number(self, verb: str, args: Any, live: Callable[[], int]) -> Any:
        return self.answered(verb, args, live, lambda writer, number: int(number), lambda record, number: number)

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        def live() -> Labels | None:
            with self._resting():
                return CpuEngine.grow_clusters(self, masters, most_rounds)

        def keep(writer: RecordWriter, labels: Labels | None) -> Any:
            if labels is None:
                return None
            writer.add("labels", labels.raw)
            writer.add("masters", labels.masters)
            return labels.passes

        def again(record: Record, passes: int | None) -> Labels | None:
            if passes is None:
                return None
            labels = Labels(self._core, record.read("labels"), record.read("masters"), self._rank_array)
            labels.passes = passes
            return labels

        labels: Labels | None = self.answered("grow_clusters", [told(masters), most_rounds], live, keep, again)
        return labels

    def restart(
        self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_scans: int | None = None
    ) -> bool:
        """See Engine.restart."""
        def live() -> bool:
            with self._resting():
                return CpuEngine.restart(self, labels, base, parts, sources, most_scans)

        def keep(writer: RecordWriter, exact: bool) -> Any:
            writer.add("labels", labels.raw)
            return [bool(exact), labels.passes]

        def again(record: Record, value: list[Any]) -> bool:
            record.read("labels", labels.raw)
            labels.masters, labels.passes = sources, value[1]
            return bool(value[0])

        args = [told(base), told(parts), told(sources), most_scans]
        return bool(self.answered("restart", args, live, keep, again))

    def condense(self, labels: Labels, bits: tuple[int, int], push: Push) -> None:
        """See Engine.condense."""
        self._pushing("condense", list(bits), push, lambda out: CpuEngine.condense(self, labels, bits, out))

    def renumbered_arcs(self, places: np.ndarray, bits: tuple[int, int], push: Push) -> None:
        """See Engine.renumbered_arcs."""
        self._pushing("renumbered_arcs", [told(places), *bits], push,
                      lambda out: CpuEngine.renumbered_arcs(self, places, bits, out))

    def _pushing(self, verb: str, args: Any, push: Push, scan: Callable[[Push], None]) -> None:
        """A scan that hands on arcs: they are kept if they take less than reading them again would;
        otherwise it is done again."""
        record = self._book.answer(verb, args)
        if record is not None:
            if record.head["value"]:
                self.count(**record.head["counters"])
                for piece in record.pieces(ARCS):
                    push(piece)
            else:
                scan(push)
            return
        most = self.n_arcs * self.store.id_dtype.itemsize // 4 + LEAST_ARC_BYTES
        self._begun, self._run = self.stats(), None
        with self._book.writing() as writer:
            pushed = PushedArcs(writer, push, most)
            scan(pushed.push)
            self._write(writer, verb, args, pushed.whole)

    # -- spanning trees -------------------------------------------------------------------------
    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> SpanningForest:
        """See Engine.spanning_forest."""
        def keep(writer: RecordWriter, forest: SpanningForest) -> Any:
            writer.add("parents", forest.raw)
            return [forest.n_trees, forest.scans, forest.bytes_read]

        forest: SpanningForest = self.answered(
            "spanning_forest", [int(key), buffer_bytes], lambda: CpuEngine.spanning_forest(self, key, buffer_bytes),
            keep, lambda record, value: SpanningForest(record.read("parents"), *value))
        return forest

    def refine_heights(self, heights: Column) -> HeightRefinement:
        """See Engine.refine_heights."""
        return JournalHeights(self._core, heights, self._heartbeat, self.answered)
