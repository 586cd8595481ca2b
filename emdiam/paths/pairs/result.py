"""The result of a run of all pairs: the stable contract of the command line and the Python interface."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ...decimals import Number
from ...errors import InputError
from ...shown import Shown
from ...units import MemoryFigures
from .matrix import DistanceMatrix, open_matrix


@dataclass(repr=False)
class AllPairs(Shown, MemoryFigures):
    """What is known of the distances between all pairs of vertices, in order (from, to).

    largest_distance : of pairs with a path; 0 where there is none but from each vertex to itself. unreachable_pairs :
    without a path. dtype : of the distances. unreachable : what stands for no path; None: infinity. tiles : that the
    matrix was worked on in: 1 in memory, else tiles of tile_edge rows and columns on disk, or strips of tile_edge rows.
    where : "memory", "disk" or "strips". out : the Zarr group of the matrix, None: `distances` is there, dtype[n, n].
    device : what solved, cpu or a GPU's name. ids : the user's ids of rows and columns, where the matrix is in memory.
    weight : the name of the column or attribute of the weights. directions_dropped : as of an exact Result.
    seconds : wall seconds {total, load, solve}.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "method", "n_vertices", "largest_distance", "unreachable_pairs", "dtype", "weight", "tiles", "where",
        "out")

    method: str
    n_vertices: int
    largest_distance: Number
    tiles: int
    out: str | None
    n_arcs: int
    unreachable_pairs: int
    dtype: str
    unreachable: int | None
    weighted: bool
    directed: bool
    where: str
    device: str
    tile_edge: int
    matrix_bytes: int
    disk_bytes: int
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    directions_dropped: bool = False
    weight: str | None = None
    distances: np.ndarray | None = None
    ids: list[Any] | None = None

    def open(self) -> DistanceMatrix:
        """The matrix that was written. Raises InputError where none was, StoreError where it is not there any more."""
        if self.out is None:
            raise InputError("no matrix was written", remedy="it is in `distances`, or give out=")
        return open_matrix(self.out)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with these names but distances and ids, and memory_limit_exceeded; ready for JSON."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("distances", "ids")}
        return {**plain, "memory_limit_exceeded": self.memory_limit_exceeded}
