"""The small things that exact methods are made of: what a BFS gave, counts, the middle of a path."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from ...engine.interface import Engine
from ...errors import InputError
from ...progress import timed
from ...traverse.columns import Column
from .result import Traversals

UNKNOWN = -1
# Sources of a batch, at most: lists of so many take no memory that a plan would have to know of.
MOST_BATCH = 1 << 16


@dataclass
class Best:
    """The longest distance so far, over all components, and its pair; target may be UNKNOWN."""

    length: int = 0
    source: int = 0
    target: int = 0


@dataclass
class Eccentricity:
    """A complete BFS. farthest : smallest vertex at the largest distance. distances : Column, if it
    was asked for and not taken."""

    source: int
    eccentricity: int
    farthest: int
    n_reached: int
    distances: Column | None = None

    def take_distances(self) -> Column:
        """The distances, which are then no longer kept here."""
        column, self.distances = self.distances, None
        if column is None:
            raise ValueError("this BFS has no distances")
        return column


@dataclass
class Stages:
    """Counts for Result.traversals, and wall seconds by stage."""

    bfs: int = 0
    multi_source: int = 0
    multi_source_sources: int = 0
    partial: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the block to `stage`."""
        return timed(self.seconds, stage)

    def traversals(self) -> Traversals:
        """The counts as the result tells them."""
        return Traversals(self.bfs, self.multi_source, self.multi_source_sources, self.partial)


class Enough(Exception):
    """The component's interval is what was asked for; args[0] says why. Caught by ExactMethod."""


def path_middle(engine: Engine, distances: Column, target: int, length: int, *, by_rank: bool = False) -> int:
    """The vertex floor(length / 2) steps from `target` on a shortest path to the source of
    `distances`, which is `length` away. by_rank : see Engine.path_pieces."""
    steps = length // 2
    for piece in engine.path_pieces(distances, target, by_rank=by_rank):
        if steps < len(piece):
            return int(piece[steps])
        steps -= len(piece)
    raise AssertionError("the path is shorter than the distance")


def check_batch(batch: int) -> None:
    """Raises InputError for a batch without a source, and for one of too many."""
    if not 1 <= batch <= MOST_BATCH:
        raise InputError(f"a batch has 1 to {MOST_BATCH} sources", text=str(batch))
