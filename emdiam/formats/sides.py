"""Two sides of a bipartite graph that are numbered apart: the same id on both is two vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .source import EdgeBatch, EdgeSource, SourceInfo

SAID = "two sides numbered apart: ids are those of the file behind l and r, for left and right"


def matrix_note(rows: int, columns: int) -> str:
    """How the vertices of a matrix of two sides are called."""
    return f"rows are vertices 0 to {rows - 1:,}, columns {rows:,} to {rows + columns - 1:,}"


def two_sides(batch: EdgeBatch) -> EdgeBatch:
    """The pairs with ids that say of which side they are. Vertices that a batch declares are those of the left."""
    import pyarrow as pa
    import pyarrow.compute as pc  # which takes long to load

    src, dst = (pc.binary_join_element_wise(pa.scalar(side), pa.array(ids).cast(pa.string()), "")
                for side, ids in (("l", batch.src), ("l" if batch.declares else "r", batch.dst)))
    return replace(batch, src=src, dst=dst)


class TwoSides:
    """A source of edges whose sources are one side, and targets the other one. source : of edges, whose fields it has
    else."""

    more_ids = None

    def __init__(self, source: Any) -> None:
        self._source: Any = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    @property
    def said(self) -> str:
        """How the input was read, in one sentence."""
        return "; ".join(filter(None, (getattr(self._source, "said", ""), SAID)))

    def info(self) -> SourceInfo:
        """As of the source."""
        return replace(self._source.info(), id_kind="string", more_ids=None, reading=self.said)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """As of the source."""
        yield from map(two_sides, self._source.batches(batch_bytes))


def with_two_sides(source: Any) -> EdgeSource:
    """A source of edges as one of two sides."""
    found: EdgeSource = TwoSides(source)
    return found
