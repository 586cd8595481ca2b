"""The engine that keeps what its verbs give: the same journal whatever engine is under it.

Verbs that pass over edges are answered from the journal or done and written to it, with the columns that
they wrote. All others (columns, degrees, ranks, rows, paths, trees in RAM) are done again. The bitmap of
reached vertices is kept with each BFS, since Winnow and components look at it. Counters go on where they stood:
each record has what its verb cost. Where vertex state lives is said by a VertexState: how columns are written
and taken back (ram_state.py, worker_state.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..traverse.bfs import Traversal
from ..traverse.clusters import Labels
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.level_window_batch import MOST_STRIPS
from ..traverse.spanning import SpanningForest
from .arc_spill import ARCS, LEAST_ARC_BYTES, Push, PushedArcs
from .journal import Journal, told
from .partial_traversal import Halves, Resumable
from .records import Record, RecordWriter
from .refine_journal import JournalForest
from .vertex_state import VertexState

Keep = Callable[[RecordWriter, Any], Any]
Again = Callable[[Record, Any], Any]
# Verbs whose results are vertex state that not every engine hands out.
_LABELS = {"components", "grow_clusters", "restart"}


class JournalEngine:
    """The verbs of `engine`, answered from `journal` as far as it goes; see emdiam.engine.interface.Engine.

    engine : of the CPU or over workers; its reporter measures time by the journal from here on. state : its vertex
    state. halves : where traversals under way are kept. every : seconds after which they are. facts : what methods
    see of the plan (run_facts), that of the run which began the journal.
    """

    def __init__(
        self, engine: Any, state: VertexState, journal: Journal, halves: Halves, every: float, facts: dict[str, Any]
    ) -> None:
        self.engine, self.store, self.reporter = engine, engine.store, engine.reporter
        self.load_seconds = engine.load_seconds
        self.facts = replace(engine.facts, **facts)
        self.reporter.use_clock(journal.clock)
        # What reads no edges but few rows is done again.
        self.new_column, self.new_bounds, self.ranks = engine.new_column, engine.new_bounds, engine.ranks
        self.degrees, self.rows = engine.degrees, engine.rows
        self.vertices_of_degree, self.highest_degrees = engine.vertices_of_degree, engine.highest_degrees
        self.follow_chains, self.path_pieces = engine.follow_chains, engine.path_pieces
        self.all_edges_exist, self.sample_vertices = engine.all_edges_exist, engine.sample_vertices
        self._state, self._book, self._halves, self._every = state, journal, halves, every
        self._begun = self.reporter.stats()
        self._kept_at = journal.now()
        self._run: object | None = None
        self._call: list[Any] = []
        self.resumed_inside = False

    @property
    def plan(self) -> Any:
        """The memory plan of the engine."""
        return self.engine.plan

    def details(self) -> dict[str, Any]:
        """See CpuEngine.details."""
        found: dict[str, Any] = self.engine.details()
        return found

    # -- the journal ----------------------------------------------------------------------------
    def answered(self, verb: str, args: Any, live: Callable[[], Any], keep: Keep, again: Again) -> Any:
        """The result of a verb. live : does it. keep : writes its arrays, returns the rest (for JSON).
        again : makes the result of a record and that rest."""
        record = self._book.answer(verb, args)
        if record is not None:
            self._state.take_core(record.head["core"])
            if record.head.get("again") or (verb in _LABELS and not self._state.keeps_labels):
                self._run = record  # no other: nothing is taken up or kept half done
                return self._rested(live)
            self.reporter.count(**record.head["counters"])
            return again(record, record.head["value"])
        self._begun, self._run, self._call = self.reporter.stats(), None, [verb, args]
        result = self._rested(live)
        with self._book.writing() as writer:
            labels = verb in _LABELS and not self._state.keeps_labels
            self._write(writer, verb, args, None if labels else keep(writer, result), again=labels)
        return result

    def _rested(self, live: Callable[[], Any]) -> Any:
        """Do a verb, which tells of its rests, where it can be put down."""
        with self._state.resting(self._at_rest):
            return live()

    def _at_rest(self, run: Resumable) -> None:
        """The first run of a verb is taken up where it was, and kept now and then. Called between steps."""
        if self._run is None:
            self._run = run
            with self._halves.newest(self._book.n_records, self._call) as half:
                if half is not None:
                    run.restore(half.head["scalars"], half.read)
                    self.reporter.count(**half.head["counters"])
                    self.resumed_inside = True
        elif run is self._run and self._book.now() - self._kept_at >= self._every:
            self._book.sync()
            self._halves.save(self._book.n_records, self._call, self._cost(), run)
            self._kept_at = self._book.now()

    def _write(self, writer: RecordWriter, verb: str, args: Any, value: Any, again: bool = False) -> None:
        """Finish the record of the verb at hand. again : it has no result, and the verb is to be done again."""
        self._book.finish(writer, {"verb": verb, "args": args, "value": value, "counters": self._cost(),
                                   "core": self._state.keep_core(), **({"again": True} if again else {})})
        self._halves.forget()
        self._kept_at = self._book.now()

    def _cost(self) -> dict[str, float]:
        """What the verb at hand has cost so far."""
        return (self.reporter.stats() - self._begun).to_dict()

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> Traversal:
        """See Engine.bfs."""
        wanted = None if targets is None else np.fromiter(targets, np.int64)
        def live() -> Traversal:
            run: Traversal = self.engine.bfs(source, radius=radius, targets=wanted, distances=distances,
                                             profile=profile, into=into)
            return run

        def keep(writer: RecordWriter, run: Traversal) -> Any:
            self._state.keep_reached(writer)
            column = into if into is not None else run.distances
            if column is not None:
                self._state.keep_column(writer, "distances", column)
            writer.add("profile", np.array(run.level_counts, np.int64))
            return [run.eccentricity, run.levels, run.n_reached, run.farthest]

        def again(record: Record, value: list[Any]) -> Traversal:
            self._state.take_reached(record)
            column = self._state.take_column(record, "distances", into) if distances or into is not None else None
            complete, levels, reached, farthest = value
            return Traversal(int(source), complete, levels, reached, farthest, column,
                             record.read("profile").tolist(), self._state.reached())

        args = [int(source), radius, told(wanted), distances, profile, into is not None]
        result: Traversal = self.answered("bfs", args, live, keep, again)
        return result

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities. Each batch has a record of its own, so that no more than one is repeated."""
        wanted = np.asarray(sources, np.int64)
        strips = columns is not None and targets is None and self._state.is_thin()
        most = MOST_STRIPS if strips else self.facts.batch_bits
        if len(wanted) <= most:
            return self._journal_batch(wanted, targets, columns)
        parts = [slice(begin, begin + most) for begin in range(0, len(wanted), most)]
        return np.concatenate([
            self._journal_batch(wanted[part], targets, None if columns is None else columns[part]) for part in parts])

    def _journal_batch(
        self, sources: np.ndarray, targets: np.ndarray | None, columns: Sequence[Column] | None
    ) -> np.ndarray:
        """One batch of sources."""
        def keep(writer: RecordWriter, found: np.ndarray) -> Any:
            writer.add("found", found)
            for i, column in enumerate(columns or ()):
                self._state.keep_column(writer, f"column {i}", column)

        def again(record: Record, value: Any) -> np.ndarray:
            for i, column in enumerate(columns or ()):
                self._state.take_column(record, f"column {i}", column)
            return record.read("found")

        args = [told(sources), told(targets), columns is not None]
        found: np.ndarray = self.answered(
            "eccentricities", args, lambda: self.engine.eccentricities(sources, targets=targets, columns=columns),
            keep, again)
        return found

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        live = partial(self.engine.spread, seeds, values, limit, bound)
        if seeds is None:
            return self._lowering("extend", [int(values), int(limit)], bound, live)
        args = [told(np.asarray(seeds)), told(np.asarray(values)), int(limit)]
        return self._lowering("spread", args, bound, live)

    def _lowering(self, verb: str, args: Any, bound: Column, live: Callable[[], int]) -> int:
        """A verb that lowers entries of `bound` and returns how many."""
        before = None if self._book.replaying else self._state.digests(bound)

        def keep(writer: RecordWriter, lowered: int) -> Any:
            return [int(lowered), self._state.keep_changes(writer, bound, before)]

        def again(record: Record, value: list[Any]) -> int:
            self._state.take_changes(record, value[1], bound)
            return int(value[0])

        return int(self.answered(verb, args, live, keep, again))

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        def keep(writer: RecordWriter, found: Components | None) -> Any:
            if found is not None:
                writer.add("labels", found.labels)
                writer.add("sizes", found.sizes)
            return found is not None

        def again(record: Record, others: bool) -> Components | None:
            if not others:
                return None
            return self._state.components(record.read("labels"), record.read("sizes"), reached)

        found: Components | None = self.answered(
            "components", int(reached), lambda: self.engine.components(reached), keep, again)
        return found

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """See Engine.scan."""
        verb, args = ("tree_diameter", int(source)) if name == "tree-diameter" else ("scan", name)
        return int(self._number(verb, args, lambda: self.engine.scan(name, column, source)))

    def _number(self, verb: str, args: Any, live: Callable[[], int]) -> Any:
        return self.answered(verb, args, live, lambda writer, number: int(number), lambda record, number: number)

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        def live() -> Labels | None:
            grown: Labels | None = self.engine.grow_clusters(masters, most_rounds)
            return grown

        def keep(writer: RecordWriter, labels: Labels | None) -> Any:
            if labels is None:
                return None
            writer.add("labels", labels.raw)
            writer.add("masters", labels.masters)
            return labels.passes

        def again(record: Record, passes: int | None) -> Labels | None:
            if passes is None:
                return None
            return self._state.clusters(record.read("labels"), record.read("masters"), passes)

        labels: Labels | None = self.answered("grow_clusters", [told(masters), most_rounds], live, keep, again)
        return labels

    def restart(
        self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_scans: int | None = None
    ) -> bool:
        """See Engine.restart."""
        def live() -> bool:
            whole: bool = self.engine.restart(labels, base, parts, sources, most_scans)
            return whole

        def keep(writer: RecordWriter, exact: bool) -> Any:
            writer.add("labels", labels.raw)
            return [bool(exact), labels.passes]

        def again(record: Record, value: list[Any]) -> bool:
            record.read("labels", labels.raw)
            labels.masters, labels.passes = sources, value[1]
            return bool(value[0])

        args = [told(base), told(parts), told(sources), most_scans]
        return bool(self.answered("restart", args, live, keep, again))

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Push) -> None:
        """See Engine.condense."""
        verb, args = ("renumbered_arcs", [told(by), *bits]) if isinstance(by, np.ndarray) else ("condense", list(bits))
        self._pushing(verb, args, push, lambda out: self.engine.condense(by, bits, out))

    def _pushing(self, verb: str, args: Any, push: Push, scan: Callable[[Push], None]) -> None:
        """A scan that hands on arcs: they are kept if they take less than reading them again would;
        otherwise it is done again."""
        record = self._book.answer(verb, args)
        if record is not None:
            if record.head["value"]:
                self.reporter.count(**record.head["counters"])
                for piece in record.pieces(ARCS):
                    push(piece)
            else:
                scan(push)
            return
        most = self.facts.n_arcs * self.store.id_dtype.itemsize // 4 + LEAST_ARC_BYTES
        self._begun, self._run = self.reporter.stats(), None
        with self._book.writing() as writer:
            pushed = PushedArcs(writer, push, most)
            scan(pushed.push)
            self._write(writer, verb, args, pushed.whole)

    # -- spanning trees -------------------------------------------------------------------------
    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> JournalForest:
        """See Engine.spanning_forest."""
        def keep(writer: RecordWriter, forest: SpanningForest) -> Any:
            writer.add("parents", forest.raw)
            return [forest.n_trees, forest.scans, forest.bytes_read]

        forest: SpanningForest = self.answered(
            "spanning_forest", [int(key), buffer_bytes], lambda: self.engine.spanning_forest(key, buffer_bytes),
            keep, lambda record, value: SpanningForest(record.read("parents"), *value))
        return JournalForest(forest.raw, forest.n_trees, forest.scans, forest.bytes_read,
                             self._state.engine_of_trees(), self.answered)
