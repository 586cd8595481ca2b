"""The verbs of an engine that keeps what they give: the same journal whatever engine is under it.

Verbs that pass over edges are answered from the journal or done and written to it, with the columns that
they wrote. All others (columns, degrees, ranks, rows, paths, trees in RAM) are done again. The bitmap of
reached vertices is kept with each BFS, since Winnow and components look at it. Counters go on where they stood:
each record has what its verb cost. Where vertex state lives is the engine's affair: it says how columns are written
and taken back. Labels of components and clusters are kept where they are in RAM, and made again elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..traverse.bfs import Traversal
from ..traverse.clusters import Labels
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.core import Core
from ..traverse.level_window_batch import MOST_STRIPS
from ..traverse.spanning import SpanningForest
from ..traverse.tree_refinement import TreeRefinement
from .arc_spill import ARCS, LEAST_ARC_BYTES, Push, PushedArcs
from .journal import Journal, told
from .partial_traversal import Halves
from .records import Record, RecordWriter
from .refine_journal import JournalTrees

if TYPE_CHECKING:
    from ..engine.cpu import CpuEngine as _Engine
else:
    _Engine = ABC

Keep = Callable[[RecordWriter, Any], Any]
Again = Callable[[Record, Any], Any]
# Verbs whose results are vertex state that not every engine hands out.
_LABELS = {"components", "grow_clusters", "restart"}


class JournalVerbs(_Engine):
    """The verbs of the engine behind it in the order of classes, answered from a journal as far as it goes; see
    emdiam.engine.interface.Engine. Call `begin_journal` first.

    keeps_labels : whether results of the verbs on labels are kept, or the verbs are done again.
    """

    keeps_labels = True

    def begin_journal(self, journal: Journal, halves: Halves, every: float, facts: dict[str, Any]) -> None:
        """halves : where traversals under way are kept. every : seconds after which they are. facts : what
        methods see of the plan (run_facts), that of the run which began the journal."""
        self.facts = replace(self.facts, **facts)
        self.reporter.use_clock(journal.clock)
        self._book, self._halves, self._every = journal, halves, every
        self._begun = self.reporter.stats()
        self._kept_at = journal.now()
        self._run: object | None = None
        self._call: list[Any] = []
        self.resumed_inside = False

    @property
    def _under(self) -> Any:
        """The engine behind this class."""
        return super()

    # -- what an engine says of its vertex state ------------------------------------------------
    @abstractmethod
    def _keep_core(self) -> list[Any]:
        """[bias, thin] of the engine's core: what later verbs choose by."""

    @abstractmethod
    def _take_core(self, facts: list[Any]) -> None:
        """Take over what _keep_core gave."""

    @abstractmethod
    def _is_thin(self) -> bool:
        """Whether frontiers are thin; see traverse.core.Core."""

    @abstractmethod
    def _keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        """Write all values of a column to the array `name`."""

    @abstractmethod
    def _take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        """The column that _keep_column wrote: `into`, or a new one. Raises InputError if it does not fit."""

    @abstractmethod
    def _keep_reached(self, writer: RecordWriter) -> None:
        """Write the bitmap of what the last BFS reached, uint64[ceil(n/64)], to the array "visited"."""

    @abstractmethod
    def _take_reached(self, record: Record) -> None:
        """Take over what _keep_reached wrote."""

    @abstractmethod
    def _digests(self, column: Column) -> Any:
        """What tells later which pieces of a column have changed."""

    @abstractmethod
    def _keep_changes(self, writer: RecordWriter, column: Column, before: Any) -> list[int]:
        """Write the pieces that changed since _digests to the array "changed"; their numbers (changes.py)."""

    @abstractmethod
    def _take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        """Take over what _keep_changes wrote."""

    @abstractmethod
    def _core_of_trees(self) -> tuple[Core, np.ndarray]:
        """The core and the ranks that trees are refined with."""

    def _resting(self) -> AbstractContextManager[None]:
        """Around verbs that may be put down half done."""
        return nullcontext()

    # -- the journal ----------------------------------------------------------------------------
    def answered(self, verb: str, args: Any, live: Callable[[], Any], keep: Keep, again: Again) -> Any:
        """The result of a verb. live : does it. keep : writes its arrays, returns the rest (for JSON).
        again : makes the result of a record and that rest."""
        record = self._book.answer(verb, args)
        if record is not None:
            self._take_core(record.head["core"])
            if record.head.get("again") or (verb in _LABELS and not self.keeps_labels):
                self._run = record  # no other: nothing is taken up or kept half done
                return live()
            self.reporter.count(**record.head["counters"])
            return again(record, record.head["value"])
        self._begun, self._run, self._call = self.reporter.stats(), None, [verb, args]
        result = live()
        with self._book.writing() as writer:
            labels = verb in _LABELS and not self.keeps_labels
            self._write(writer, verb, args, None if labels else keep(writer, result), again=labels)
        return result

    def _write(self, writer: RecordWriter, verb: str, args: Any, value: Any, again: bool = False) -> None:
        """Finish the record of the verb at hand. again : it has no result, and the verb is to be done again."""
        self._book.finish(writer, {"verb": verb, "args": args, "value": value, "counters": self._cost(),
                                   "core": self._keep_core(), **({"again": True} if again else {})})
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
            run: Traversal = self._under.bfs(source, radius=radius, targets=wanted, distances=distances,
                                             profile=profile, into=into)
            return run

        def keep(writer: RecordWriter, run: Traversal) -> Any:
            self._keep_reached(writer)
            column = into if into is not None else run.distances
            if column is not None:
                self._keep_column(writer, "distances", column)
            writer.add("profile", np.array(run.level_counts, np.int64))
            return [run.eccentricity, run.levels, run.n_reached, run.farthest]

        def again(record: Record, value: list[Any]) -> Traversal:
            self._take_reached(record)
            column = self._take_column(record, "distances", into) if distances or into is not None else None
            complete, levels, reached, farthest = value
            return Traversal(int(source), complete, levels, reached, farthest, column, record.read("profile").tolist())

        args = [int(source), radius, told(wanted), distances, profile, into is not None]
        result: Traversal = self.answered("bfs", args, live, keep, again)
        return result

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities. Each batch has a record of its own, so that no more than one is repeated."""
        wanted = np.asarray(sources, np.int64)
        most = MOST_STRIPS if columns is not None and targets is None and self._is_thin() else self.facts.batch_bits
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
                self._keep_column(writer, f"column {i}", column)

        def again(record: Record, value: Any) -> np.ndarray:
            for i, column in enumerate(columns or ()):
                self._take_column(record, f"column {i}", column)
            return record.read("found")

        args = [told(sources), told(targets), columns is not None]
        found: np.ndarray = self.answered(
            "eccentricities", args, lambda: self._under.eccentricities(sources, targets=targets, columns=columns),
            keep, again)
        return found

    def spread(self, seeds: np.ndarray, values: np.ndarray, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        return self._lowering("spread", [told(np.asarray(seeds)), told(np.asarray(values)), int(limit)], bound,
                              lambda: self._under.spread(seeds, values, limit, bound))

    def extend(self, old: int, new: int, bound: Column) -> int:
        """See Engine.extend."""
        return self._lowering("extend", [int(old), int(new)], bound, lambda: self._under.extend(old, new, bound))

    def _lowering(self, verb: str, args: Any, bound: Column, live: Callable[[], int]) -> int:
        """A verb that lowers entries of `bound` and returns how many."""
        before = None if self._book.replaying else self._digests(bound)

        def keep(writer: RecordWriter, lowered: int) -> Any:
            return [int(lowered), self._keep_changes(writer, bound, before)]

        def again(record: Record, value: list[Any]) -> int:
            self._take_changes(record, value[1], bound)
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
            return Components(self.core, record.read("labels"), record.read("sizes"), reached)

        found: Components | None = self.answered(
            "components", int(reached), lambda: self._under.components(reached), keep, again)
        return found

    def tree_diameter(self, distances: Column, source: int) -> int:
        """See Engine.tree_diameter."""
        return int(self._number("tree_diameter", int(source), lambda: self._under.tree_diameter(distances, source)))

    def scan(self, name: str, column: Column) -> int:
        """See Engine.scan."""
        return int(self._number("scan", name, lambda: self._under.scan(name, column)))

    def _number(self, verb: str, args: Any, live: Callable[[], int]) -> Any:
        return self.answered(verb, args, live, lambda writer, number: int(number), lambda record, number: number)

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        def live() -> Labels | None:
            with self._resting():
                return self._under.grow_clusters(masters, most_rounds)

        def keep(writer: RecordWriter, labels: Labels | None) -> Any:
            if labels is None:
                return None
            writer.add("labels", labels.raw)
            writer.add("masters", labels.masters)
            return labels.passes

        def again(record: Record, passes: int | None) -> Labels | None:
            if passes is None:
                return None
            labels = Labels(self.core, record.read("labels"), record.read("masters"), self.rank_array)
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
                return self._under.restart(labels, base, parts, sources, most_scans)

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
        self._pushing("condense", list(bits), push, lambda out: self._under.condense(labels, bits, out))

    def renumbered_arcs(self, places: np.ndarray, bits: tuple[int, int], push: Push) -> None:
        """See Engine.renumbered_arcs."""
        self._pushing("renumbered_arcs", [told(places), *bits], push,
                      lambda out: self._under.renumbered_arcs(places, bits, out))

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
    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> SpanningForest:
        """See Engine.spanning_forest."""
        def keep(writer: RecordWriter, forest: SpanningForest) -> Any:
            writer.add("parents", forest.raw)
            return [forest.n_trees, forest.scans, forest.bytes_read]

        forest: SpanningForest = self.answered(
            "spanning_forest", [int(key), buffer_bytes], lambda: self._under.spanning_forest(key, buffer_bytes),
            keep, lambda record, value: SpanningForest(record.read("parents"), *value))
        return forest

    def refine_trees(self, forest: SpanningForest) -> TreeRefinement:
        """See Engine.refine_trees."""
        core, ranks = self._core_of_trees()
        return JournalTrees(core, forest.raw, ranks, self.reporter.heartbeat, self.answered)
