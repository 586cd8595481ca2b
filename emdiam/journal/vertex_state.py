"""The vertex state of an engine: how a checkpoint writes and restores it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..checkpoint.records import PIECE_BYTES, Record, RecordWriter
from ..engine.cpu import LocalEngine
from ..errors import InputError
from ..traverse.clusters import RamLabels
from ..traverse.columns import PIECE_ITEMS, Column, digests
from ..traverse.components import Components
from ..traverse.hidden import HiddenComponents
from ..traverse.labels import LabelVector

# Digest of each piece of a column, by its number, and by a further key that distinguishes parts of the column.
Digests = Mapping[tuple[Hashable, int], bytes]
_CHANGED, _REACHED = "changed", "visited"


class VertexState(ABC):
    """The vertex state of `engine`, of the CPU or over workers. Arrays are written in pieces of PIECE_BYTES.

    keeps_labels : whether labels of components and clusters, which are then in RAM, are written; otherwise their verbs
    are executed again.
    """

    keeps_labels: ClassVar[bool] = False

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self._n_words = (engine.facts.n_vertices + 63) // 64

    # -- differences of engines -----------------------------------------------------------------
    @abstractmethod
    def core(self) -> list[Any]:
        """[bias, thin] of the engine's core (traverse/core.py), on which decisions of later verbs depend."""

    @abstractmethod
    def set_core(self, facts: list[Any]) -> None:
        """Restore a result of `core`."""

    @abstractmethod
    def words(self, start: int, stop: int) -> np.ndarray:
        """Words start..stop-1 of the bitmap of vertices that the last BFS reached, uint64[k]."""

    @abstractmethod
    def set_words(self, start: int, words: np.ndarray) -> None:
        """Overwrite words of that bitmap, from `start`."""

    @abstractmethod
    def digests(self, column: Column) -> Digests:
        """Digests to find later which pieces of PIECE_ITEMS entries have changed."""

    @abstractmethod
    def engine_of_trees(self) -> LocalEngine:
        """The engine for refining trees."""

    @abstractmethod
    def reached(self) -> Any:
        """The vertices that the last BFS reached; see Traversal.reached."""

    def watch(self, column: Column | None) -> None:
        """See SharedScans; does nothing without them."""
        return

    def find_components(self, reached: int) -> Any:
        """The result of the verb components; with writable labels, if labels are written."""
        return self.engine.components(reached)

    def components(self, words: np.ndarray, entries: np.ndarray, reached: int) -> Components:
        """The restored result of components; see HiddenComponents. Only if labels are written."""
        raise TypeError("these labels are not written")

    def clusters(self, masters: np.ndarray, passes: int) -> RamLabels:
        """The restored result of grow_clusters, whose labels are then read. Only if labels are written."""
        raise TypeError("these labels are not written")

    def resting(self, at_rest: Callable[[Any], None]) -> AbstractContextManager[None]:
        """Context of a verb: at_rest is called with a traversal between its steps, when it can be saved."""
        return nullcontext()

    # -- writing and restoring ------------------------------------------------------------------
    def write_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        """Write all values of a column to the array `name`."""
        writer.add(name, np.empty(0, column.dtype))
        step = PIECE_BYTES // column.dtype.itemsize
        for start in range(0, len(column), step):
            writer.add(name, column.part(start, start + step))

    def read_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        """The column written by write_column, read into `into` or a new one. Raises InputError if dtype or length
        differ."""
        dtype, length = record.shape(name)
        column: Any = into if into is not None else self.engine.new_column(int(np.iinfo(dtype).max) - 2)
        if column.dtype != dtype or len(column) != length:
            raise InputError(f"the checkpoint has {length:,} values of {dtype} in place of {len(column):,} of "
                             f"{column.dtype}", remedy="begin again without it")
        start = 0
        for piece in record.pieces(name):
            column.set_part(start, piece)
            start += len(piece)
        return column

    def write_reached(self, writer: RecordWriter) -> None:
        """Write the bitmap of vertices that the last BFS reached."""
        writer.add(_REACHED, np.empty(0, np.uint64))
        step = PIECE_BYTES // 8
        for start in range(0, self._n_words, step):
            writer.add(_REACHED, self.words(start, min(self._n_words, start + step)))

    def read_reached(self, record: Record) -> None:
        """Restore the bitmap from write_reached."""
        start = 0
        for piece in record.pieces(_REACHED):
            self.set_words(start, piece)
            start += len(piece)

    def write_changes(self, writer: RecordWriter, column: Column, before: Digests) -> list[int]:
        """Write the pieces that changed since `digests`; returns their numbers."""
        pieces = sorted({key[1] for key, digest in self.digests(column).items() if before[key] != digest})
        for i in pieces:
            writer.add(_CHANGED, column.part(i * PIECE_ITEMS, (i + 1) * PIECE_ITEMS))
        return pieces

    def read_changes(self, record: Record, pieces: list[int], column: Any) -> None:
        """Restore the pieces from write_changes."""
        for i, piece in zip(pieces, record.pieces(_CHANGED) if pieces else (), strict=True):
            column.set_part(i * PIECE_ITEMS, piece)


class RamState(VertexState):
    """The state of an engine in this process: in RAM, streamed, or on a device, whose columns are copied to the host
    for writing."""

    keeps_labels = True
    engine: LocalEngine

    def core(self) -> list[Any]:
        return [self.engine.learned.bias, self.engine.learned.window_levels]

    def set_core(self, facts: list[Any]) -> None:
        self.engine.learned = replace(self.engine.learned, bias=facts[0], window_levels=facts[1])

    def words(self, start: int, stop: int) -> np.ndarray:
        return self.engine.reached_words(start, stop)

    def set_words(self, start: int, words: np.ndarray) -> None:
        self.engine.set_reached_words(start, words)

    def digests(self, column: Column) -> Digests:
        return {(0, i): digest for i, digest in enumerate(digests(column.raw()))}

    def engine_of_trees(self) -> LocalEngine:
        return self.engine

    def reached(self) -> Any:
        return self.engine.reached

    def watch(self, column: Column | None) -> None:
        self.engine.watch(column)  # type: ignore[attr-defined]

    def find_components(self, reached: int) -> HiddenComponents | None:
        return self.engine.components_here(reached)

    def components(self, words: np.ndarray, entries: np.ndarray, reached: int) -> Components:
        return HiddenComponents(self.engine.core, words, entries, reached)

    def clusters(self, masters: np.ndarray, passes: int) -> RamLabels:
        labels = RamLabels(self.engine.core, LabelVector.narrow(self.engine.core, 0), masters, self.engine.rank_array)
        labels.passes = passes
        return labels

    @contextmanager
    def resting(self, at_rest: Callable[[Any], None]) -> Iterator[None]:
        self.engine.core.at_rest = at_rest
        try:
            yield
        finally:
            self.engine.core.at_rest = None
