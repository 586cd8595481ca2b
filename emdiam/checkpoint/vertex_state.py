"""What a checkpoint asks of an engine beside its verbs: how its vertex state is written and taken back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..engine.cpu import CpuEngine
from ..traverse.clusters import Labels
from ..traverse.columns import Column
from ..traverse.components import Components
from .records import Record, RecordWriter


class VertexState(ABC):
    """The vertex state of one engine. keeps_labels : whether labels of components and clusters are kept, which are
    in RAM then, or their verbs done again."""

    keeps_labels = False

    @abstractmethod
    def keep_core(self) -> list[Any]:
        """[bias, thin] of the engine's core: what later verbs choose by."""

    @abstractmethod
    def take_core(self, facts: list[Any]) -> None:
        """Take over what keep_core gave."""

    @abstractmethod
    def is_thin(self) -> bool:
        """Whether frontiers are thin; see traverse.core.Core."""

    @abstractmethod
    def keep_column(self, writer: RecordWriter, name: str, column: Column) -> None:
        """Write all values of a column to the array `name`."""

    @abstractmethod
    def take_column(self, record: Record, name: str, into: Column | None = None) -> Column:
        """The column that keep_column wrote: `into`, or a new one. Raises InputError if it does not fit."""

    @abstractmethod
    def keep_reached(self, writer: RecordWriter) -> None:
        """Write the bitmap of what the last BFS reached, uint64[ceil(n/64)], to the array "visited"."""

    @abstractmethod
    def take_reached(self, record: Record) -> None:
        """Take over what keep_reached wrote."""

    @abstractmethod
    def digests(self, column: Column) -> Any:
        """What tells later which pieces of a column have changed."""

    @abstractmethod
    def keep_changes(self, writer: RecordWriter, column: Column, before: Any) -> list[int]:
        """Write the pieces that changed since `digests` to the array "changed"; their numbers (changes.py)."""

    @abstractmethod
    def take_changes(self, record: Record, pieces: list[int], column: Column) -> None:
        """Take over what keep_changes wrote."""

    @abstractmethod
    def engine_of_trees(self) -> CpuEngine:
        """The engine that trees are refined with."""

    @abstractmethod
    def reached(self) -> Any:
        """What the last BFS reached; see Traversal.reached."""

    def components(self, labels: np.ndarray, sizes: np.ndarray, reached: int) -> Components:
        """What components gave. Only where labels are kept."""
        raise TypeError("these labels are not kept")

    def clusters(self, values: np.ndarray, masters: np.ndarray, passes: int) -> Labels:
        """What grow_clusters gave. Only where labels are kept."""
        raise TypeError("these labels are not kept")

    def resting(self, at_rest: Callable[[Any], None]) -> AbstractContextManager[None]:
        """Around a verb: at_rest is called with a traversal between its steps, where it can be put down."""
        return nullcontext()
