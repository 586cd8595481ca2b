"""Sources that cut a component, so that distances across them are known.

Let no edge join two *parts* but at a source. Then every path from v to a w of another part meets a source p, so that
d(v, w) = min over sources of d(v, p) + d(p, w): a lower bound on ecc(v) that needs no source at v or w, or beyond them.
In a mesh a cut of about sqrt(n) vertices lies between nearly all vertices and what is far from them.

A cut is made of a level of a BFS, within one part: those of its vertices that have a neighbour in the next level. The
BFS and the level are those that end the most pairs of a sample for a source.
Passes: none, but the rows of a level. Bytes a vertex: 4, and 12 while a level is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...engine.interface import Engine
from .pairs import OpenPairs

# Distances that are looked at for a level.
_LOOKED_AT = 64
# A source of later cuts is thought to end a pair where one of the best level of now ends so many.
_LATER = 2


@dataclass(frozen=True)
class Level:
    """Vertices of a part at a distance from a source. column : number of that source's distances. size : how many, but
    for sources. pairs : of the given ones so many have an end nearer to that source, and one that is farther than
    these vertices, or among them."""

    part: int
    column: int
    distance: int
    size: int
    pairs: int


class Parts:
    """The parts of the vertices first..first+m-1. of : int32[m], the part of every vertex; that of a source, and of
    vertices of other components, says nothing."""

    def __init__(self, first: int, size: int) -> None:
        self._first = first
        self.of = np.zeros(size, np.int32)
        self._count = 1

    def best_level(self, pairs: OpenPairs, columns: Sequence[np.ndarray], is_source: np.ndarray) -> Level | None:
        """The level that is the best to cut at, in the part with the most of these pairs, whose ends are in one part;
        None where no level is between any. columns : distances, unsigned[m] each. is_source : bool[m].

        Pairs that a level leaves are ended later, by more sources than those that it ends: so the smallest levels for
        a pair are not the best ones."""
        if not len(pairs):
            return None
        near, far = pairs.near - self._first, pairs.far - self._first
        part = int(np.bincount(self.of[near]).argmax())
        here = self.of[near] == part
        near, far = near[here], far[here]
        inside = np.flatnonzero((self.of == part) & ~is_source)
        some = np.unique(np.linspace(0, len(columns) - 1, _LOOKED_AT).astype(np.int64))
        levels = np.concatenate([_levels(at, columns[at], near, far, inside) for at in some.tolist()])
        if not len(levels):
            return None
        _, _, sizes, ended = levels.T
        sources_a_pair = (sizes / ended).min()
        best = int((sizes - _LATER * sources_a_pair * ended).argmin())
        return Level(part, *levels[best].tolist())

    def cut(self, level: Level, column: np.ndarray, is_source: np.ndarray, engine: Engine) -> np.ndarray:
        """The vertices of a level that, once they are sources, cut its part in two, int64[k]: to be traversed before
        parts are asked for. column : the distances that the level is one of. is_source : bool[m], of those sources
        alone whose distances are kept."""
        inside = (self.of == level.part) & ~is_source
        vertices = np.flatnonzero(inside & (column == level.distance))
        beyond = inside & (column == level.distance + 1)
        cut = [vertex for vertex, row in zip(vertices.tolist(), engine.rows(vertices + self._first), strict=True)
               if beyond[self._places(row)].any()]
        self.of[(self.of == level.part) & (column > level.distance)] = self._count
        self._count += 1
        return np.array(cut, np.int64) + self._first

    def _places(self, row: np.ndarray) -> np.ndarray:
        return row.astype(np.int64) - self._first


def _levels(at: int, column: np.ndarray, near: np.ndarray, far: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The levels of these distances that are between ends of pairs, int64[k, 4]: column, distance, size, pairs."""
    one, other = column[near].astype(np.int64), column[far].astype(np.int64)
    last = int(max(one.max(), other.max()))
    sizes = np.bincount(column[inside], minlength=last + 1)[:last]
    begun, ended = (np.bincount(ends, minlength=last + 1)[:last]
                    for ends in (np.minimum(one, other), np.maximum(one, other)))
    across = np.cumsum(begun - ended)
    distances = np.flatnonzero((sizes > 0) & (across > 0))
    return np.stack((np.full(len(distances), at), distances, sizes[distances], across[distances]), axis=1)
