"""A second check of a diameter's witness before it is reported, independent of the traversals that found it.

The labels are distances from the target: those of the traversal that met the pair, if they were stored, or those of
another BFS. Then two checks follow that do not depend on the origin of the labels. Across no arc of the graph do labels
differ by more than one (a scan over all edges, parts of which may have been done during a later traversal that read the
same blocks), so that d(source, target) >= label(source). And there is a path of exactly that many edges, each looked up
in the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..durable import whole_file
from ..engine.interface import Engine
from ..errors import EmdiamError, InputError
from ..store.store import Store
from ..traverse.columns import PIECE, Column
from ..traverse.ram_column import RamColumn, StoredColumn
from ..units import scratch_folder
from .result import Witness

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

LONGEST_KEPT_PATH = 10_000
# Distances of at most _FEW_BYTES stay in memory: they are less than the accuracy of memory figures, and a file costs
# more than a BFS of this number of vertices. They may take 1 / _SPARE_SHARE of the memory that the plan leaves, up to
# _MOST_BYTES.
_FEW_BYTES, _MOST_BYTES, _SPARE_SHARE = 1 << 16, 4 << 20, 4
REPORT = "this is a fault of emdiam: please report it with the store"


class KeptLabels:
    """Distances from one vertex, stored until the witness is checked, so that no traversal has to be repeated. They are
    on disk, so that they take no memory, unless they are few; or on the device where the columns are.

    scratch : folder for temporary files (None: the system's). spare_bytes : memory that the plan leaves. source : the
    vertex of the distances, -1: there are no distances.
    """

    def __init__(self, scratch: Path | None, spare_bytes: int = 0) -> None:
        self._scratch, self._most = scratch, max(_FEW_BYTES, min(_MOST_BYTES, spare_bytes // _SPARE_SHARE))
        self._folder: TemporaryDirectory[str] | None = None
        self._labels: Column | StoredColumn | None = None
        self.source = -1

    def put_away(self, source: int, column: Column) -> None:
        """Store the distances from `source` in place of earlier ones. Distances in memory go to disk if there is room,
        or stay in memory if they are few; those on a device stay there."""
        if not isinstance(column, RamColumn):
            copy = column.duplicate(self._labels if isinstance(self._labels, Column) else None)
            if copy is not None:
                self.hold(source, copy)
            return
        self.source = -1
        if len(column) * column.dtype.itemsize <= self._most:
            self.hold(source, RamColumn(column.raw().copy()))
            return
        try:
            if self._folder is None:
                from tempfile import TemporaryDirectory

                self._folder = TemporaryDirectory(prefix="emdiam-", dir=scratch_folder(self._scratch))
            place = Path(self._folder.name) / "labels.column"
            place.unlink(missing_ok=True)  # distances from another source
            self._labels = StoredColumn(column, place)
        except OSError:  # without room on disk, a BFS computes them again
            return
        self.source = source

    def hold(self, source: int, column: Column | None) -> None:
        """Take over the distances from `source`."""
        self.source, self._labels = source, column

    def labels(self, source: int) -> Column | None:
        """The distances from `source`, in memory, or None if they were not stored. Removes them from the store."""
        labels = self._labels if source == self.source else None
        if isinstance(labels, StoredColumn):
            column = RamColumn(np.empty(len(labels), labels.dtype))
            for start in range(0, len(labels), PIECE):
                column.set_part(start, labels.part(start, start + PIECE))
            labels = column
        self.source, self._labels = -1, None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        return labels


def check_witness(
    engine: Engine, source: int, target: int, length: int, path_file: Path | None = None,
    not_written: list[str] | None = None, labels: Column | None = None,
) -> Witness:
    """The witness of distance `length` between two vertices, proved.

    labels : distances from `target`; None: from a new BFS. path_file : gets the path, one user id a line. Paths
    of more than 10,000 vertices are not put into the result. not_written : gets a sentence if the file cannot be
    written; None: an InputError is raised.
    Raises EmdiamError if a check fails (a fault of emdiam).
    """
    engine.reporter.tick("verify")
    if labels is None:
        labels = engine.bfs(target).distances
    if labels is None or labels.gather([source, target]).tolist() != [length, 0]:
        raise EmdiamError(f"the second traversal does not find distance {length}: {REPORT}")
    if engine.scan("steep-arcs", labels) != 0:
        raise EmdiamError(f"the distances from the witness are not distances: {REPORT}")
    vertices: list[int] | None = []
    walked = 0
    for piece in _checked_pieces(engine, labels, source):
        walked += len(piece)
        if vertices is not None and walked <= LONGEST_KEPT_PATH:
            vertices.extend(piece.tolist())
        else:
            vertices = None
    if walked != length + 1:
        raise EmdiamError(f"the witness path has {walked - 1} edges instead of {length}: {REPORT}")
    path = None if vertices is None else engine.store.user_ids(np.array(vertices))
    ends = engine.store.user_ids(np.array([source, target])) if path is None else path
    witness = Witness(ends[0], ends[-1], length, path)
    if path_file is not None:
        try:
            write_path(engine.store, engine.path_pieces(labels, source), path_file)
            witness.path_file = str(path_file)
        except InputError as error:
            if not_written is None:
                raise
            not_written.append(str(error))
    return witness


def _checked_pieces(engine: Engine, labels: Column, source: int) -> Iterator[np.ndarray]:
    """Pieces of the path, each edge (also between pieces) looked up in the store."""
    last = np.empty(0, np.int64)
    for piece in engine.path_pieces(labels, source):
        joined = np.concatenate((last, piece))
        if not engine.all_edges_exist(joined[:-1], joined[1:]):
            raise EmdiamError(f"an edge of the witness path is not in the store: {REPORT}")
        last = piece[-1:]
        yield piece


def write_path(store: Store, pieces: Iterable[np.ndarray], path_file: Path) -> None:
    """Write the ids of the vertices of a path, int64[k] each, one a line. Raises InputError if it cannot write."""
    try:
        with whole_file(path_file) as file:
            for piece in pieces:
                file.writelines(f"{name}\n".encode() for name in store.user_ids(piece))
    except OSError as error:
        raise InputError(f"the path cannot be written ({error.strerror})", path=path_file) from None
