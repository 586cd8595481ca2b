"""The vertex state of the CPU engine, in RAM and streamed alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..engine.cpu import CpuEngine
from ..traverse.clusters import Labels
from ..traverse.columns import Column, digests
from ..traverse.components import Components
from ..traverse.ram_column import RamColumn
from .changes import add_changes, take_changes
from .records import Record, RecordWriter
from .vertex_state import VertexState


class RamState(VertexState):
    """See VertexState."""

    keeps_labels = True

    def __init__(self, engine: CpuEngine) -> None:
        self.engine, self.core = engine, engine.core

    def keep_core(self) -> list[Any]:
        """See VertexState."""
        return [self.core.bias, self.core.thin]

    def take_core(self, facts: list[Any]) -> None:
        """See VertexState."""
        self.core.bias, self.core.thin = facts

    def is_thin(self) -> bool:
        """See VertexState."""
        return self.core.thin

    def keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        """See VertexState."""
        writer.add(name, column.raw())

    def take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        """See VertexState."""
        if into is None:
            return RamColumn(record.read(name))
        record.read(name, into.raw())
        return RamColumn(into.raw())

    def keep_reached(self, writer: RecordWriter) -> None:
        """See VertexState."""
        writer.add("visited", self.core.work.visited)

    def take_reached(self, record: Record) -> None:
        """See VertexState."""
        record.read("visited", self.core.work.visited)

    def digests(self, column: Column) -> list[bytes]:
        """See VertexState."""
        return digests(column.raw())

    def keep_changes(self, writer: RecordWriter, column: Column, before: list[bytes]) -> list[int]:
        """See VertexState."""
        return add_changes(writer, column.raw(), before)

    def take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        """See VertexState."""
        take_changes(record, pieces, column.raw())

    def engine_of_trees(self) -> CpuEngine:
        """See VertexState."""
        return self.engine

    def reached(self) -> np.ndarray:
        """See VertexState."""
        return self.core.work.visited

    def components(self, labels: np.ndarray, sizes: np.ndarray, reached: int) -> Components:
        """See VertexState."""
        return Components(self.core, labels, sizes, reached)

    def clusters(self, values: np.ndarray, masters: np.ndarray, passes: int) -> Labels:
        """See VertexState."""
        labels = Labels(self.core, values, masters, self.engine.rank_array)
        labels.passes = passes
        return labels

    @contextmanager
    def resting(self, at_rest: Callable[[Any], None]) -> Iterator[None]:
        """See VertexState."""
        self.core.at_rest = at_rest
        try:
            yield
        finally:
            self.core.at_rest = None
