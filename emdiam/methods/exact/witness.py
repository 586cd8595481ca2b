"""Re-checking a diameter's witness before it is told, without trusting the traversals that found it.

One BFS from the target gives labels; then two things are checked that do not depend on how the labels came about:
across no arc of the graph do labels differ by more than one (a scan over all edges), so that d(source, target) >=
label(source); and a path of exactly that many edges exists, each edge looked up in the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...durable import whole_file
from ...engine.interface import Engine
from ...errors import EmdiamError, InputError
from .result import Witness

LONGEST_KEPT_PATH = 10_000
_REPORT = "this is a fault of emdiam: please report it with the store"


def check_witness(
    engine: Engine, source: int, target: int, length: int, path_file: Path | None = None,
    not_written: list[str] | None = None,
) -> Witness:
    """The witness of distance `length` between two vertices, proved.

    path_file : write the path there, one user id a line. Paths of more than 10,000 vertices are
    not kept in the result. not_written : takes a sentence if it cannot be written; None: an InputError says it.
    Raises EmdiamError if anything does not hold (a fault of ours).
    """
    engine.reporter.tick("verify")
    labels = engine.bfs(target).distances  # from the target, so that the walk down starts at the source
    if labels is None or labels.gather([source, target]).tolist() != [length, 0]:
        raise EmdiamError(f"the second traversal does not find distance {length}: {_REPORT}")
    if engine.scan("steep-arcs", labels) != 0:
        raise EmdiamError(f"the distances from the witness are not distances: {_REPORT}")
    vertices: list[int] | None = []
    walked = 0
    for piece in _checked_pieces(engine, labels, source):
        walked += len(piece)
        if vertices is not None and walked <= LONGEST_KEPT_PATH:
            vertices.extend(piece.tolist())
        else:
            vertices = None
    if walked != length + 1:
        raise EmdiamError(f"the witness path has {walked - 1} edges instead of {length}: {_REPORT}")
    ends = engine.store.user_ids(np.array([source, target]))
    path = None if vertices is None else engine.store.user_ids(np.array(vertices))
    witness = Witness(ends[0], ends[1], length, path)
    if path_file is not None:
        try:
            _write_path(engine, engine.path_pieces(labels, source), path_file)
            witness.path_file = str(path_file)
        except InputError as error:
            if not_written is None:
                raise
            not_written.append(str(error))
    return witness


def _checked_pieces(engine: Engine, labels: object, source: int) -> Iterator[np.ndarray]:
    """Pieces of the path, each edge (also between pieces) looked up in the store."""
    last = np.empty(0, np.int64)
    for piece in engine.path_pieces(labels, source):  # type: ignore[arg-type]
        joined = np.concatenate((last, piece))
        if not engine.all_edges_exist(joined[:-1], joined[1:]):
            raise EmdiamError(f"an edge of the witness path is not in the store: {_REPORT}")
        last = piece[-1:]
        yield piece


def _write_path(engine: Engine, pieces: Iterator[np.ndarray], path_file: Path) -> None:
    try:
        with whole_file(path_file) as file:
            for piece in pieces:
                file.writelines(f"{name}\n".encode() for name in engine.store.user_ids(piece))
    except OSError as error:
        raise InputError(f"the path cannot be written ({error.strerror})", path=path_file) from None
