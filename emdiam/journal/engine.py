"""An engine that writes the results of its verbs to a journal and answers from it, on top of any engine.

Verbs that pass over edges are answered from the journal, or executed and written to it with the columns that they
wrote. All others (columns, degrees, ranks, rows, paths, trees in RAM) are executed again. The bitmap of reached
vertices is written with each BFS, since Winnow and components use it. Counters continue from the journal: each record
has the cost of its verb. An unfinished traversal is saved at intervals as a state of the folder. A VertexState reads
and writes the engine's vertex state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

from ..checkpoint.folder import DamagedError, Folder
from ..checkpoint.records import Record, RecordWriter
from ..engine.cpu import LocalEngine
from ..engine.forest import CpuForest
from ..traverse.bfs import BfsResult
from ..traverse.clusters import RamLabels
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.hidden import HiddenComponents
from ..traverse.level_windows import MAX_WINDOW_SOURCES
from ..traverse.ram_column import RamColumn
from ..trees.refinement import RamRefinement
from ..trees.spanning import SpanningForest
from .journal import Journal, argument
from .vertex_state import RamState, VertexState

Push = Callable[[np.ndarray], None]
Value = TypeVar("Value")
# Verbs whose results are vertex state that not every engine exposes.
_LABELS = {"components", "grow_clusters", "restart"}
_ARCS, _LEAST_ARC_BYTES = "arcs", 1 << 20


class Resumable(Protocol):
    """A traversal that can be saved between two steps, and restored in a new one with the same arguments."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars (for JSON) and 1-D arrays, which are views."""
        ...

    def restore(self, scalars: dict[str, Any], read: Any) -> None:
        """Restore a result of `state`. read(name, out=None) returns an array, read into `out` if passed."""
        ...


class JournalEngine:
    """The verbs of `engine`, answered from `journal` as far as it goes; see emdiam.engine.interface.Engine.

    engine : of the CPU or over workers; from now on its reporter uses the journal's clock. state : its vertex state.
    folder : receives unfinished traversals. facts : the run_facts of the run that began the journal. resumed_inside :
    whether an unfinished traversal was resumed.
    """

    def __init__(
        self, engine: Any, state: VertexState, journal: Journal, folder: Folder, facts: Mapping[str, Any]
    ) -> None:
        self.engine, self.facts = engine, replace(engine.facts, **facts, keeps_candidates=False)
        self.reporter.use_clock(journal.clock)
        self.journal, self._state, self._folder = journal, state, folder
        self._stats_before = self.reporter.stats()
        self._run: object | None = None
        self._call: list[Any] = []
        self.resumed_inside = False

    def __getattr__(self, name: str) -> Any:
        """All other attributes, including verbs that read only a few rows, are the engine's own."""
        return getattr(self.engine, name)

    def watch(self, column: Column | None) -> None:
        """See SharedScans. A run may begin on an engine that shares scans and resume on one that does not."""
        self._state.watch(column)

    # -- the journal ----------------------------------------------------------------------------
    def answered(self, verb: str, args: Any, live: Callable[[], Value], write: Callable[[RecordWriter, Value], Any],
                 read: Callable[[Record, Any], Value]) -> Value:
        """The result of a verb. args : its arguments, for JSON. live : executes it. write : writes the arrays of the
        result and returns the rest, for JSON. read : makes the result from a record and that rest."""
        record = self.journal.answer(verb, args)
        unwritten = verb in _LABELS and not self._state.keeps_labels
        if record is not None:
            self._state.set_core(record.head["core"])
            if record.head.get("again") or unwritten:
                self._run = record  # a placeholder: no run is restored or saved
                return self._rested(live)
            self.reporter.count(**record.head["counters"])
            return read(record, record.head["value"])
        self._stats_before, self._run, self._call = self.reporter.stats(), None, [verb, args]
        result = self._rested(live)
        with self.journal.writing() as writer:
            self._finish(writer, verb, args, None if unwritten else write(writer, result), again=unwritten)
        return result

    def _rested(self, live: Callable[[], Value]) -> Value:
        """Execute a verb that calls _at_rest whenever its state can be saved."""
        with self._state.resting(self._at_rest):
            return live()

    def _at_rest(self, run: Resumable) -> None:
        """Restore the first run of a verb, then save it at intervals. Called between steps."""
        if self._run is None:
            self._run = run
            self._take_up(run)
        elif run is self._run and self._folder.due:
            self.journal.sync()
            scalars, arrays = run.state()
            self._folder.save({"position": self.journal.n_records, "call": self._call, "scalars": scalars,
                               "counters": self._cost()}, arrays)

    def _take_up(self, run: Resumable) -> None:
        """Restore a run from the newest undamaged state, if that belongs to the current verb."""
        for number in self._folder.states():
            try:
                with self._folder.state(number) as state:
                    if [state.head["position"], state.head["call"]] == [self.journal.n_records, self._call]:
                        run.restore(state.head["scalars"], state.read)
                        self.reporter.count(**state.head["counters"])
                        self.resumed_inside = True
                        return
            except DamagedError as error:
                self._folder.damage.append(str(error))

    def _finish(self, writer: RecordWriter, verb: str, args: Any, value: Any, again: bool = False) -> None:
        """Finish the record of the current verb. again : the record has no result, and a resumed run executes the verb
        again."""
        self.journal.finish(writer, {"verb": verb, "args": args, "value": value, "counters": self._cost(),
                                     "core": self._state.core(), **({"again": True} if again else {})})
        self._folder.drop(self._folder.states())
        self._folder.saved()

    def _cost(self) -> dict[str, float]:
        """The cost of the current verb so far."""
        return (self.reporter.stats() - self._stats_before).to_dict()

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> BfsResult:
        wanted = None if targets is None else np.fromiter(targets, np.int64)

        def write(writer: RecordWriter, run: BfsResult) -> Any:
            self._state.write_reached(writer)
            column = into if into is not None else run.distances
            if column is not None:
                self._state.write_column(writer, "distances", column)
            writer.add("profile", np.array(run.level_counts, np.int64))
            return [run.eccentricity, run.levels, run.n_reached, run.farthest]

        def read(record: Record, value: list[Any]) -> BfsResult:
            self._state.read_reached(record)
            column = self._state.read_column(record, "distances", into) if distances or into is not None else None
            complete, levels, reached, farthest = value
            return BfsResult(int(source), complete, levels, reached, farthest, column,
                             record.read("profile").tolist(), self._state.reached())

        args = [int(source), radius, argument(wanted), distances, profile, into is not None]
        live = partial(self.engine.bfs, source, radius=radius, targets=wanted, distances=distances, profile=profile,
                       into=into)
        return self.answered("bfs", args, live, write, read)

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities. Each batch has its own record, so that at most one batch is repeated."""
        wanted = np.asarray(sources, np.int64)
        windows = columns is not None and targets is None and self._state.core()[1]
        size = MAX_WINDOW_SOURCES if windows else self.facts.batch_bits
        if len(wanted) <= size:
            return self._journal_batch(wanted, targets, columns)
        parts = [slice(begin, begin + size) for begin in range(0, len(wanted), size)]
        return np.concatenate([
            self._journal_batch(wanted[part], targets, None if columns is None else columns[part]) for part in parts])

    def _journal_batch(
        self, sources: np.ndarray, targets: np.ndarray | None, columns: Sequence[Column] | None
    ) -> np.ndarray:
        """One batch of sources."""
        args = [argument(sources), argument(targets), columns is not None]
        live = partial(self.engine.eccentricities, sources, targets=targets, columns=columns)
        return self._eccentricities("eccentricities", args, live, columns or ())

    def wide_eccentricities(self, sources: np.ndarray, bits: int) -> np.ndarray:
        """See WideBatches; a batch of at most `bits` sources has one record."""
        return self._eccentricities("wide_eccentricities", [argument(sources), bits],
                                    partial(self.engine.wide_eccentricities, sources, bits))

    def _eccentricities(self, verb: str, args: Any, live: Callable[[], np.ndarray],
                        columns: Sequence[Column] = ()) -> np.ndarray:
        """A verb that gives eccentricities, and writes to columns."""
        def write(writer: RecordWriter, eccentricities: np.ndarray) -> Any:
            writer.add("eccentricities", eccentricities)
            for i, column in enumerate(columns):
                self._state.write_column(writer, f"column {i}", column)

        def read(record: Record, value: Any) -> np.ndarray:
            for i, column in enumerate(columns):
                self._state.read_column(record, f"column {i}", column)
            return record.read("eccentricities")

        return self.answered(verb, args, live, write, read)

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        live = partial(self.engine.spread, seeds, values, limit, bound)
        if seeds is None:
            return self.changing("extend", [int(values), int(limit)], live, self._state, bound)
        args = [argument(np.asarray(seeds)), argument(np.asarray(values)), int(limit)]
        return self.changing("spread", args, live, self._state, bound)

    def changing(self, verb: str, args: Any, live: Callable[[], int], state: VertexState, column: Column) -> int:
        """Execute or answer a verb that changes entries of `column`, a column of `state`, and returns a number."""
        before = {} if self.journal.replaying else state.digests(column)

        def write(writer: RecordWriter, number: int) -> Any:
            return [int(number), state.write_changes(writer, column, before)]

        def read(record: Record, value: list[Any]) -> int:
            state.read_changes(record, value[1], column)
            return int(value[0])

        return int(self.answered(verb, args, live, write, read))

    def components(self, reached: int) -> Components | None:
        def write(writer: RecordWriter, components: Components | None) -> Any:
            if components is not None:
                assert isinstance(components, HiddenComponents)
                writer.add("hidden", components.words)
                writer.add("entries", components.entries)
            return components is not None

        def read(record: Record, others: bool) -> Components | None:
            if not others:
                return None
            return self._state.components(record.read("hidden"), record.read("entries"), reached)

        live = partial(self._state.find_components, reached)
        return self.answered("components", int(reached), live, write, read)

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        verb, args = ("tree_diameter", int(source)) if name == "tree-diameter" else ("scan", name)
        live = partial(self.engine.scan, name, column, source)
        return int(self.answered(verb, args, live, lambda writer, number: int(number), lambda record, number: number))

    # -- clusters -------------------------------------------------------------------------------
    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> RamLabels | None:
        def write(writer: RecordWriter, labels: RamLabels | None) -> Any:
            if labels is None:
                return None
            writer.add("labels", labels.packed.values)
            writer.add("masters", labels.masters)
            return [labels.passes, labels.packed.bits]

        def read(record: Record, value: list[int] | None) -> RamLabels | None:
            if value is None:
                return None
            labels = self._state.clusters(record.read("masters"), value[0])
            _read_labels(record, labels, value[1])
            return labels

        live = partial(self.engine.grow_clusters, masters, most_rounds)
        return self.answered("grow_clusters", [argument(masters), most_rounds], live, write, read)

    def restart(
        self, labels: RamLabels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_scans: int | None = None
    ) -> bool:
        def write(writer: RecordWriter, exact: bool) -> Any:
            writer.add("labels", labels.packed.values)
            return [bool(exact), labels.passes, labels.packed.bits]

        def read(record: Record, value: list[Any]) -> bool:
            _read_labels(record, labels, value[2])
            labels.masters, labels.passes = sources, value[1]
            return bool(value[0])

        args = [argument(base), argument(parts), argument(sources), most_scans]
        live = partial(self.engine.restart, labels, base, parts, sources, most_scans)
        return bool(self.answered("restart", args, live, write, read))

    def condense(self, by: RamLabels | np.ndarray, bits: tuple[int, int], push: Push) -> None:
        """See Engine.condense. The arcs are written if reading them again would cost more; otherwise a resumed run
        scans again."""
        verb, args = "condense", list[Any](bits)
        if isinstance(by, np.ndarray):
            verb, args = "renumbered_arcs", [argument(by), *bits]
        record = self.journal.answer(verb, args)
        if record is not None:
            if record.head["value"]:
                self.reporter.count(**record.head["counters"])
                for piece in record.pieces(_ARCS):
                    push(piece)
            else:
                self.engine.condense(by, bits, push)
            return
        limit = self.facts.n_arcs * self.store.id_dtype.itemsize // 4 + _LEAST_ARC_BYTES
        self._stats_before, self._run = self.reporter.stats(), None
        with self.journal.writing() as writer:
            spill = ArcSpill(writer, push, limit)
            self.engine.condense(by, bits, spill.push)
            self._finish(writer, verb, args, spill.whole)

    # -- spanning trees -------------------------------------------------------------------------
    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> JournalForest:
        def write(writer: RecordWriter, forest: SpanningForest) -> Any:
            writer.add("parents", forest.raw)
            return [forest.n_trees, forest.scans, forest.bytes_read]

        live = partial(self.engine.spanning_forest, key, buffer_bytes)
        forest: SpanningForest = self.answered(
            "spanning_forest", [int(key), buffer_bytes], live, write,
            lambda record, value: SpanningForest(record.read("parents"), *value))
        return JournalForest(forest.raw, forest.n_trees, forest.scans, forest.bytes_read,
                             self._state.engine_of_trees(), self)


def _read_labels(record: Record, labels: RamLabels, bits: int) -> None:
    """Restore labels as they were written. bits : of a group."""
    labels.packed.adopt(record.shape("labels")[0], bits)
    record.read("labels", labels.packed.values)


class ArcSpill:
    """Passes packed arcs from a scan to a collector: to `push`, from any number of threads, and to the array "arcs" of
    the journal while they are few.

    limit : bytes on disk, packed; if there are more, none are written. whole : whether all arcs are written.
    """

    def __init__(self, writer: RecordWriter, push: Push, limit: int) -> None:
        self._writer, self._push, self._limit, self._lock = writer, push, limit, Lock()
        self.whole = True
        writer.add(_ARCS, np.empty(0, np.uint64))

    def push(self, arcs: np.ndarray) -> None:
        """Pass on arcs, uint64[k], in any order. Raises OSError if the disk is full."""
        self._push(arcs)
        with self._lock:
            if not self.whole:
                return
            self._writer.add(_ARCS, arcs)
            if self._writer.nbytes > self._limit:
                self.whole = False
                self._writer.abort()


@dataclass
class JournalForest(CpuForest):
    """A forest whose refinement is answered by the journaling engine `over`."""

    over: JournalEngine

    def refine(self) -> RamRefinement:
        return JournalTrees(self.engine, self.raw, self.over)


class JournalTrees(RamRefinement):
    """See TreeRefinement. Each iteration has a record with the chosen parents; heights follow from these and are
    computed again."""

    def __init__(self, engine: LocalEngine, parents: np.ndarray, over: JournalEngine) -> None:
        super().__init__(engine.core, parents, engine.rank_array, engine.reporter.heartbeat)
        self._state, self._over = RamState(engine), over

    def _choose(self) -> int:
        return self._over.changing("choose parents", self.iterations, super()._choose, self._state,
                                   RamColumn(self._parents))
