"""The engine that keeps what its verbs give, over the CPU engine: in RAM and streamed alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..engine.cpu import CpuEngine
from ..traverse.bfs import BfsRun
from ..traverse.columns import Column
from ..traverse.core import Core
from ..traverse.labels import LabelRun
from ..traverse.level_window_batch import StripBatch
from ..traverse.multi import MultiRun
from ..traverse.ram_column import RamColumn
from .changes import add_changes, digests, take_changes
from .journal import Journal
from .journaling_engine import JournalVerbs
from .partial_traversal import Halves
from .records import Record, RecordWriter


class JournalEngine(JournalVerbs, CpuEngine):
    """The verbs of `engine`, answered from `journal` as far as it goes; see JournalVerbs."""

    def __init__(
        self, engine: CpuEngine, journal: Journal, halves: Halves, every: float, facts: dict[str, Any]
    ) -> None:
        super().__init__(engine.store, engine.core, engine.plan, reporter=engine.reporter)
        self.load_seconds = engine.load_seconds
        self.begin_journal(journal, halves, every, facts)

    def _keep_core(self) -> list[Any]:
        return [self.core.bias, self.core.thin]

    def _take_core(self, facts: list[Any]) -> None:
        self.core.bias, self.core.thin = facts

    def _is_thin(self) -> bool:
        return self.core.thin

    def _keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        writer.add(name, column.raw())

    def _take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        if into is None:
            return RamColumn(record.read(name))
        record.read(name, into.raw())
        return RamColumn(into.raw())

    def _keep_reached(self, writer: RecordWriter) -> None:
        writer.add("visited", self.core.work.visited)

    def _take_reached(self, record: Record) -> None:
        record.read("visited", self.core.work.visited)

    def _digests(self, column: Column) -> list[bytes]:
        return digests(column.raw())

    def _keep_changes(self, writer: RecordWriter, column: Column, before: list[bytes]) -> list[int]:
        return add_changes(writer, column.raw(), before)

    def _take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        take_changes(record, pieces, column.raw())

    def _core_of_trees(self) -> tuple[Core, np.ndarray]:
        return self.core, self.rank_array

    # -- half-done traversals -------------------------------------------------------------------
    def _at_rest(self, run: BfsRun | LabelRun) -> None:
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

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """Label growth inside tells of its rests."""
        self.core.at_rest = self._at_rest
        try:
            yield
        finally:
            self.core.at_rest = None

    def _finish(self, run: BfsRun | MultiRun | StripBatch) -> None:
        if not isinstance(run, BfsRun):
            super()._finish(run)
            return
        self._at_rest(run)
        while not run.step(self.reporter.heartbeat):
            self.reporter.level = run.level
            self.reporter.heartbeat()
            self._at_rest(run)
