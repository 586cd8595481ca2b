"""The engine that keeps what its verbs give, over workers: the checkpoint is the client's, its journal the same.

Columns travel through the client in pieces, so that it holds none. Labels of components and clusters stay on the
workers: a run that goes on makes them again. A run may go on with another number of workers, or with none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checkpoint.changes import PIECE_ITEMS
from ..checkpoint.journal import Journal
from ..checkpoint.journaling_engine import JournalVerbs
from ..checkpoint.partial_traversal import Halves
from ..checkpoint.records import PIECE_BYTES, Record, RecordWriter
from ..errors import InputError
from ..traverse.columns import Column
from ..traverse.core import Core
from . import journal_verbs as verbs
from .columns import WorkerColumn
from .engine import DaskEngine


class WorkersJournalEngine(JournalVerbs, DaskEngine):  # type: ignore[misc]
    """The verbs of `engine`, answered from `journal` as far as it goes; see JournalVerbs. It shares all of `engine`,
    which is to be closed as before."""

    keeps_labels = False

    def __init__(
        self, engine: DaskEngine, journal: Journal, halves: Halves, every: float, facts: dict[str, Any]
    ) -> None:
        vars(self).update(vars(engine))
        self._core_facts: list[Any] = [1.0, False]
        self.group.heartbeat, self.recovery.told = self.reporter.heartbeat, self._tell_loss
        self.begin_journal(journal, halves, every, facts)

    def _keep_core(self) -> list[Any]:
        return self._core_facts

    def _take_core(self, facts: list[Any]) -> None:
        self._core_facts = facts

    def _is_thin(self) -> bool:
        return bool(self._core_facts[1])

    def _keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        writer.add(name, np.empty(0, column.dtype))
        step = PIECE_BYTES // column.dtype.itemsize
        for start in range(0, len(column), step):
            writer.add(name, column.part(start, start + step))

    def _take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        dtype, length = record.shape(name)
        column = into
        if column is None:
            column = self.columns.make(dtype, int(np.iinfo(dtype).max))
        if column.dtype != dtype or len(column) != length:
            raise InputError(f"the checkpoint has {length:,} values of {dtype} in place of {len(column):,} of "
                             f"{column.dtype}", remedy="begin again without it")
        assert isinstance(column, WorkerColumn)
        start = 0
        for piece in record.pieces(name):
            column.set_part(start, piece)
            start += len(piece)
        return column

    def _word_ranges(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """(rank, first, last + 1) of the parts of words start..stop-1."""
        bounds = ((self.group.ranges + 63) >> 6).tolist()
        for rank, (low, high) in enumerate(itertools.pairwise(bounds)):
            if max(low, start) < min(high, stop):
                yield rank, max(low, start), min(high, stop)

    def _keep_reached(self, writer: RecordWriter) -> None:
        writer.add("visited", np.empty(0, np.uint64))
        n_words, step = (self.facts.n_vertices + 63) // 64, PIECE_BYTES // 8
        for start in range(0, n_words, step):
            args = {rank: (low, high) for rank, low, high in self._word_ranges(start, min(n_words, start + step))}
            writer.add("visited", np.concatenate(self.group.some(verbs.reached_words, args)))

    def _take_reached(self, record: Record) -> None:
        start = 0
        for piece in record.pieces("visited"):
            self.group.some(verbs.set_reached, {
                rank: (low, piece[low - start : high - start])
                for rank, low, high in self._word_ranges(start, start + len(piece))})
            start += len(piece)

    def _digests(self, column: Column) -> list[dict[int, bytes]]:
        assert isinstance(column, WorkerColumn)
        return self.group.everyone(verbs.piece_digests, column.key)

    def _keep_changes(self, writer: RecordWriter, column: Column, before: list[dict[int, bytes]]) -> list[int]:
        now = self._digests(column)
        pieces = sorted({i for old, new in zip(before, now, strict=True) for i in new if old[i] != new[i]})
        for i in pieces:
            writer.add("changed", column.part(i * PIECE_ITEMS, (i + 1) * PIECE_ITEMS))
        return pieces

    def _take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        assert isinstance(column, WorkerColumn)
        for i, piece in zip(pieces, record.pieces("changed") if pieces else (), strict=True):
            column.set_part(i * PIECE_ITEMS, piece)

    def _core_of_trees(self) -> tuple[Core, np.ndarray]:
        return self.local.core, self.local.rank_array
