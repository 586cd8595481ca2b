"""All pairs from arcs by a method, in one of three ways: a matrix in memory, tiles on disk, or rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...decimals import numbers
from ...progress import Tick
from ...stream.threads import Threads
from ..rows import WeightedRows
from .arcs import Lengths, MatrixArcs
from .disk_tiles import DiskTiles
from .matrix import CHUNK, MatrixWriter
from .methods import PairsMethod
from .min_plus import Product, padded
from .tiles import RamTiles, matrix_in_ram

# Rows of a part that is examined at once, so that numpy's temporaries stay small.
_ROWS_AT_ONCE = 64


@dataclass
class MatrixFigures:
    """Figures of the distances. largest : of pairs with a path, in the numbers of the computation. unreachable : number
    of ordered pairs without a path."""

    largest: int | float = 0
    unreachable: int = 0

    def conclude(self, part: np.ndarray, place: tuple[int, int], lengths: Lengths) -> None:
        """Convert a part of the matrix that starts at `place` to output values, and add its figures."""
        for top in range(0, len(part), _ROWS_AT_ONCE):
            rows = part[top : top + _ROWS_AT_ONCE]
            first = place[0] + top - place[1]
            at = np.arange(max(0, -first), min(len(rows), rows.shape[1] - first))
            rows[at, at + first] = 0  # rounded sums of floats around a cycle may be slightly negative
            far = rows > lengths.bound
            self.unreachable += int(np.count_nonzero(far))
            self.largest = max(self.largest, rows.max(initial=0, where=~far).item())
            if lengths.decimals:
                rows[far], output = 0, rows.view(lengths.output_dtype)
                output[...] = numbers(rows, lengths.decimals)
                output[far] = lengths.unreachable
            else:
                rows[far] = lengths.unreachable


class Solver(Protocol):
    """A device that computes a matrix in memory, or searches from every vertex. name : for results. methods : the names
    of its methods."""

    name: str
    methods: tuple[str, ...]

    def usual(self, matrix_bytes: int) -> str:
        """The default method."""

    def host_bytes(self, method: str, p: int, item: int) -> int:
        """Host memory of a method in addition to a matrix of p rows and columns."""

    def solve(self, matrix: np.ndarray, method: str, tick: Tick) -> int:
        """Replace weights by distances, dtype[p, p] as in RamTiles; return the number of rounds."""

    def searches(self, method: str, rows: WeightedRows, infinity: float, tick: Tick) -> Any:
        """As for methods of kind ROWS: an object with `fill` (harish.py)."""


@dataclass(frozen=True)
class PairsWork:
    """The common inputs. arcs, lengths : of the graph. tick : called between pieces of the work. solver : a device that
    computes a matrix in memory; None: the CPU."""

    method: PairsMethod
    arcs: MatrixArcs
    lengths: Lengths
    threads: Threads
    tick: Tick
    solver: Solver | None = None


def in_ram(work: PairsWork) -> tuple[np.ndarray, MatrixFigures]:
    """The matrix, dtype[n, n], and its figures, by a method of kind MATRIX or TILES."""
    n, found = work.arcs.n_vertices, MatrixFigures()
    matrix = matrix_in_ram(work.arcs, work.lengths)
    if work.solver is None:
        product = Product(work.threads, matrix.dtype, len(matrix))
        work.method.work(RamTiles(matrix, work.lengths, product, work.tick))
    else:
        work.solver.solve(matrix, work.method.name, work.tick)
    found.conclude(matrix[:n, :n], (0, 0), work.lengths)
    return matrix[:n, :n].view(work.lengths.output_dtype), found


def on_disk(work: PairsWork, writer: MatrixWriter) -> tuple[MatrixFigures, DiskTiles]:
    """Compute the matrix in the array of `writer`, whose chunks are the tiles, by a method of kind TILES."""
    product = Product(work.threads, work.lengths.dtype, padded(writer.chunk[0]))
    tiles, found = DiskTiles(writer, work.lengths, product, work.tick), MatrixFigures()
    tiles.fill(work.arcs)
    work.method.work(tiles)
    tiles.change(lambda part, place: found.conclude(part, place, work.lengths))
    return found, tiles


def by_rows(work: PairsWork, height: int, room_bytes: int, put: Callable[[int, np.ndarray], None]) -> MatrixFigures:
    """Compute the rows of the matrix by a method of kind ROWS, `height` at a time, and call put(first row, dtype[k,
    n]). room_bytes : memory for the method's state. Raises MoreMemoryError if it is too small."""
    n, found = work.arcs.n_vertices, MatrixFigures()
    if work.solver is None:
        searches = work.method.work(work.arcs.rows(), work.lengths, work.threads, work.tick, room_bytes)
    else:
        searches = work.solver.searches(work.method.name, work.arcs.rows(), work.lengths.infinity, work.tick)
    strip = np.empty((min(height, n), n), work.lengths.dtype)
    for first in range(0, n, height):
        rows = strip[: min(height, n - first)]
        searches.fill(first, rows)
        found.conclude(rows, (first, 0), work.lengths)
        put(first, rows.view(work.lengths.output_dtype))
    return found


def write_rows(writer: MatrixWriter, first: int, rows: np.ndarray) -> None:
    """Write rows from `first` on into the array of `writer`, a chunk at a time."""
    height, width = writer.chunk
    for top in range(0, len(rows), height):
        part = rows[top : top + height]
        for left in range(0, part.shape[1], width):
            columns = left, min(left + width, part.shape[1])
            writer.write((first + top, first + top + len(part)), columns, part[:, slice(*columns)])


def chunk_of(n_vertices: int, height: int = CHUNK) -> tuple[int, int]:
    """Rows and columns of the chunks of a matrix that is written `height` rows at a time."""
    return min(height, n_vertices), min(CHUNK, n_vertices)
