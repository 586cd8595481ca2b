"""Products of parts of matrices by several threads: panels are made, then tiles relaxed, each by whoever takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...stream.threads import Threads
from .min_plus import EDGE, pack_columns, pack_rows, relax_lazily, relax_tiles

# Of k at a time: a panel of so many columns of B stays in the cache while all rows go past it.
DEPTH = 256
# Without panels: parts that threads take, and k at a time, so that what they read of B stays in a cache.
_LAZY_HEIGHT, _LAZY_WIDTH, _LAZY_DEPTH = 32, 1024, 128


def padded(number: int) -> int:
    """The next multiple of EDGE."""
    return -(-number // EDGE) * EDGE


def tile_edge(size: int) -> int:
    """Rows of the tiles that threads take, of a matrix of so many: several tiles a thread, of DEPTH rows at most."""
    return max(EDGE, min(DEPTH, padded(size // 16)))


def all_tiles(shape: tuple[int, ...], edge: int) -> np.ndarray:
    """(row, column) of all tiles of a matrix, int64[m, 2]."""
    counts = tuple(-(-side // edge) for side in shape)
    return np.argwhere(np.ones(counts, np.bool_))


class Product:
    """C = min(C, A x B) on threads, for matrices of one dtype of at most `size` rows and columns.

    Bytes: see panel_bytes."""

    def __init__(self, threads: Threads, dtype: np.dtype[Any], size: int) -> None:
        self.threads = threads
        self._rows, self._columns = (np.empty(size * DEPTH, dtype) for _ in range(2))

    @staticmethod
    def panel_bytes(size: int, item: int) -> int:
        """Bytes that one takes."""
        return 2 * size * DEPTH * item

    def relax(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, tiles: np.ndarray, edge: int,
              span: tuple[int, int]) -> bool:
        """Relax the tiles (int64[m, 2], of `edge` rows and columns) of `matrix` by left[:, k] + right[k, :] for the k
        of `span` (begin, end); whether an entry fell. The factors may be the matrix itself: entries that fall meanwhile
        are lengths of paths all the same, and no longer than those before."""
        fell = False
        row_bands, column_bands = (np.unique(tiles[:, axis]) for axis in (0, 1))
        for begin in range(span[0], span[1], DEPTH):
            end = min(begin + DEPTH, span[1])
            self._share(pack_rows, left, row_bands, edge, begin, end, self._rows)
            self._share(pack_columns, right, column_bands, edge, begin, end, self._columns)
            fell |= self._share(relax_tiles, matrix, tiles, edge, self._rows, self._columns, end - begin)
        return fell

    def relax_lazily(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, infinity: int | float) -> bool:
        """The same on the whole matrix, without sums of what is infinite in the left factor, and without panels."""
        fell = False
        for begin in range(0, left.shape[1], _LAZY_DEPTH):
            span = begin, min(begin + _LAZY_DEPTH, left.shape[1])
            fell |= self._share(relax_lazily, matrix, left, right, _LAZY_HEIGHT, _LAZY_WIDTH, span,
                                matrix.dtype.type(infinity))
        return fell

    def _share(self, task: Any, *arguments: Any) -> bool:
        """The kernel on all threads; whether it was true on one."""
        turn = np.zeros(1, np.int64)
        return any(self.threads.everywhere(lambda: task(*arguments, turn)))
