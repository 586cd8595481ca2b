"""The vertex state of the engine over workers: the checkpoint is the client's, its journal the same.

Columns travel through the client in pieces, so that it holds none. Labels of components and clusters stay on the
workers: a run that goes on makes them again. A run may go on with another number of workers, or with none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dask import column_verbs as verbs
from ..dask.column_verbs import Reached
from ..dask.columns import WorkerColumn
from ..dask.engine import DaskEngine
from ..engine.cpu import CpuEngine
from ..errors import InputError
from ..traverse.columns import PIECE_ITEMS, Column
from .records import PIECE_BYTES, Record, RecordWriter
from .vertex_state import VertexState


class WorkerState(VertexState):
    """See VertexState."""

    def __init__(self, engine: DaskEngine) -> None:
        self.engine, self.group = engine, engine.group
        self._core_facts: list[Any] = [1.0, False]

    def keep_core(self) -> list[Any]:
        """See VertexState."""
        return self._core_facts

    def take_core(self, facts: list[Any]) -> None:
        """See VertexState."""
        self._core_facts = facts

    def is_thin(self) -> bool:
        """See VertexState."""
        return bool(self._core_facts[1])

    def keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        """See VertexState."""
        writer.add(name, np.empty(0, column.dtype))
        step = PIECE_BYTES // column.dtype.itemsize
        for start in range(0, len(column), step):
            writer.add(name, column.part(start, start + step))

    def take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        """See VertexState."""
        dtype, length = record.shape(name)
        column = into
        if column is None:
            column = self.engine.columns.make(dtype, int(np.iinfo(dtype).max))
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

    def keep_reached(self, writer: RecordWriter) -> None:
        """See VertexState."""
        writer.add("visited", np.empty(0, np.uint64))
        n_words, step = (self.engine.facts.n_vertices + 63) // 64, PIECE_BYTES // 8
        for start in range(0, n_words, step):
            args = {rank: (low, high) for rank, low, high in self._word_ranges(start, min(n_words, start + step))}
            writer.add("visited", np.concatenate(self.group.some(verbs.reached_words, args)))

    def take_reached(self, record: Record) -> None:
        """See VertexState."""
        start = 0
        for piece in record.pieces("visited"):
            self.group.some(verbs.set_reached, {
                rank: (low, piece[low - start : high - start])
                for rank, low, high in self._word_ranges(start, start + len(piece))})
            start += len(piece)

    def digests(self, column: Column) -> list[dict[int, bytes]]:
        """See VertexState."""
        assert isinstance(column, WorkerColumn)
        return self.group.everyone(verbs.piece_digests, column.key)

    def keep_changes(self, writer: RecordWriter, column: Column, before: list[dict[int, bytes]]) -> list[int]:
        """See VertexState."""
        now = self.digests(column)
        pieces = sorted({i for old, new in zip(before, now, strict=True) for i in new if old[i] != new[i]})
        for i in pieces:
            writer.add("changed", column.part(i * PIECE_ITEMS, (i + 1) * PIECE_ITEMS))
        return pieces

    def take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        """See VertexState."""
        assert isinstance(column, WorkerColumn)
        for i, piece in zip(pieces, record.pieces("changed") if pieces else (), strict=True):
            column.set_part(i * PIECE_ITEMS, piece)

    def engine_of_trees(self) -> CpuEngine:
        """See VertexState."""
        return self.engine.local

    def reached(self) -> Reached:
        """See VertexState."""
        return Reached()
