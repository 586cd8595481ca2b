"""Copies of a rank's state on the worker of the rank before it, so that a lost worker takes nothing with it.

The holder of rank r is rank r - 1 (of rank 0: the last). A copy round sends the pieces of columns whose digest is
another one than in the round before, packed by blosc, straight from worker to worker; they wait beside the older ones
until the next round, so that a round which a loss cuts short undoes nothing. Columns that a verb changes in place are
packed before it where they are, so that it can be done again. Memory: the packed columns of the neighbour, at worst
as much as they take there, and 16 bytes for PIECE_ITEMS entries.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numcodecs import blosc

from .ranges import virtual_column, virtual_zeros

if TYPE_CHECKING:
    from .rank import Part

PIECE_ITEMS = 1 << 16
REACHED = "reached"  # stands for the bitmap of what the last BFS reached
_ROUND_BYTES = 4 << 20
# Objects of a part that are state between verbs (labels.Objects.new_name); others are of a verb under way.
_STATE = re.compile(r"[a-z]+-\d+")
# A column, the bitmap, or an array of an object: "name:field".
Key = int | str
# A piece of state: key, number of the piece, dtype, packed values.
Piece = tuple[Key, int, str, bytes]


@dataclass(frozen=True)
class Shape:
    """An object of a part, without its values. kind : its dataclass. arrays : field, dtype, and whether it is as long
    as the graph (else as long as the range)."""

    kind: type
    arrays: tuple[tuple[str, str, bool], ...]


def digest(values: np.ndarray) -> bytes:
    """16 bytes that tell contents apart (BLAKE2b)."""
    return hashlib.blake2b(values.view(np.uint8).data, digest_size=16).digest()


def packed(values: np.ndarray) -> bytes:
    """Values, packed."""
    return bytes(blosc.compress(np.ascontiguousarray(values), b"lz4", 1, blosc.SHUFFLE, 0))


def unpacked(data: bytes, dtype: str) -> np.ndarray:
    """What `packed` took."""
    return np.frombuffer(blosc.decompress(data), dtype)


class Copies:
    """What one rank keeps of its neighbour's state, and knows of its own copies.

    sent : digests of the pieces of each key as the holder has them. held : packed pieces of the neighbour, by key and
    number; shapes : of its objects, by name. flight : packed pieces of the neighbour's distances in a BFS under way.
    undo : packed columns as they were before verb number `undo_of`.
    """

    def __init__(self) -> None:
        self.sent: dict[Key, list[bytes]] = {}
        self.held: dict[Key, dict[int, tuple[str, bytes]]] = {}
        self.shapes: dict[str, Shape] = {}
        self.flight: dict[int, tuple[str, bytes]] = {}
        self.undo: dict[Key, list[bytes]] = {}
        self.undo_of = -1
        self._staged: list[Piece] = []
        self._keys: set[Key] = set()
        self._shapes: dict[str, Shape] = {}
        self._serial, self._fresh = 0, False

    def stage(
        self, serial: int, fresh: bool, told: tuple[Iterable[Key], dict[str, Shape]], pieces: list[Piece]
    ) -> None:
        """Note round `serial`. fresh : it has all pieces. told : keys and objects that the neighbour has."""
        self._serial, self._fresh, self._staged = serial, fresh, pieces
        self._keys, self._shapes = set(told[0]), told[1]

    def settle(self, serial: int) -> None:
        """Take over what is staged, if it belongs to round `serial` or one before, and let go of it otherwise."""
        if self._staged_counts(serial):
            if self._fresh:
                self.held = {}
            for key, number, dtype, data in self._staged:
                self.held.setdefault(key, {})[number] = dtype, data
            self.held = {key: pieces for key, pieces in self.held.items() if key in self._keys}
            self.shapes = self._shapes
        self._staged, self._serial, self._fresh = [], 0, False

    def _staged_counts(self, serial: int) -> bool:
        return 0 < self._serial <= serial


def copy_state(part: Part, serial: int, fresh: bool, alive: list[int]) -> int:
    """Verb of all together: copy round `serial`; the bytes that this rank sent. fresh : all pieces, whatever the holder
    has. alive : keys of the columns that are still wanted."""
    copies = part.copies
    copies.settle(serial - 1)
    if fresh:
        copies.sent = {}
    states = dict(_states(part, alive))
    for key in set(copies.sent) - set(states):
        del copies.sent[key]
    if not fresh:  # else a BFS may be to go on from it
        copies.flight = {}
    size = len(part.spec.addresses)
    holder, neighbour = (part.rank - 1) % size, (part.rank + 1) % size
    told = list(states), _shapes(part)

    def all_pieces() -> Iterator[Any]:
        yield told, b""
        for key, values in states.items():
            yield from changed_pieces(copies, key, values)

    found, total = exchange(part, holder, neighbour, all_pieces())
    copies.stage(serial, fresh, found[0][0], found[1:])
    return total


def hand_back(part: Part, lost: list[int], serial: int, alive: dict[int, str]) -> None:
    """Verb of all together: the holders of the ranks `lost` give them what they had after round `serial`. What ranks
    have learned of the graph, and choose by together, they forget.

    alive : dtypes of the columns that are still wanted, by key."""
    copies, size = part.copies, len(part.spec.addresses)
    copies.settle(serial)
    part.core.bias, part.core.thin = 1.0, False
    behind = (part.rank + 1) % size

    def all_pieces() -> Iterator[Any]:
        yield copies.shapes, b""
        for key, some in copies.held.items():
            for number, (dtype, data) in some.items():
                yield key, number, dtype, data

    wanted = behind in lost and part.rank not in lost
    found, _ = exchange(part, behind, (part.rank - 1) % size, all_pieces() if wanted else iter(()))
    if part.rank in lost and found:
        n = part.core.table.n_vertices
        for key, dtype in alive.items():
            part.values[key] = virtual_column(n, dtype, part.first, part.stop, int(np.iinfo(dtype).max))
        for name, shape in found[0][0].items():
            part.objects[name] = shape.kind(**{
                field: virtual_zeros(n if whole else part.stop - part.first, dtype)
                for field, dtype, whole in shape.arrays})
        _install(part, found[1:])


def keep_undo(part: Part, number: int, names: list[Key]) -> None:
    """Verb: pack columns (by key) and objects (by name) that verb `number` is to change in place."""
    own = {key: values for key, values in _states(part, [name for name in names if isinstance(name, int)])
           if key in names or str(key).partition(":")[0] in names}
    part.copies.undo = {key: [packed(piece) for piece in _pieces(values)] for key, values in own.items()}
    part.copies.undo_of = number


def undo(part: Part, number: int) -> None:
    """Verb: they become what they were before verb `number`, if it has begun here."""
    copies = part.copies
    if copies.undo_of != number:
        return
    for key, pieces in copies.undo.items():
        values = _own_values(part, key)
        for i, data in enumerate(pieces):
            blosc.decompress(data, values[i * PIECE_ITEMS : (i + 1) * PIECE_ITEMS])


def forget_undo(part: Part) -> None:
    """Let go of what keep_undo packed."""
    part.copies.undo, part.copies.undo_of = {}, -1


def exchange(
    part: Part, to: int, source: int, pieces: Iterator[Any]
) -> tuple[list[Any], int]:
    """Verb's part of all together: give `pieces` (each as small as PIECE_ITEMS entries) to rank `to` and take those of
    rank `source`, in rounds of bounded size; (theirs, bytes sent). They are counted apart from frontiers."""
    counts, found, total, left = part.mail.counts, [], 0, True
    while True:
        batch, size = [], 0
        while left and size < _ROUND_BYTES:
            piece = next(pieces, None)
            left = piece is not None
            if piece is not None:
                batch.append(piece)
                size += len(piece[-1])
        data = np.frombuffer(pickle.dumps(batch), np.uint8) if batch else np.empty(0, np.uint8)
        before = counts.payload_bytes
        theirs, facts = part.mail.swap({to: data}, np.array([int(left)], np.int64))
        counts.copy_bytes += counts.payload_bytes - before
        counts.payload_bytes = before
        total += len(data)
        if len(theirs.get(source, ())):
            found += pickle.loads(theirs[source].tobytes())
        if not facts.any():
            return found, total


def changed_pieces(copies: Copies, key: Key, values: np.ndarray) -> Iterator[Piece]:
    """The pieces that the holder has otherwise, which are noted as sent."""
    known = copies.sent.setdefault(key, [])
    dtype = values.dtype.str
    for i, piece in enumerate(_pieces(values)):
        mark = digest(piece) + dtype.encode()
        if i >= len(known):
            known.append(b"")
        if known[i] != mark:
            known[i] = mark
            yield key, i, dtype, packed(piece)


def _objects(part: Part) -> Iterator[tuple[str, Any, str, np.ndarray]]:
    """(name, object, field, array) of all objects that are state."""
    for name, kept in part.objects.items():
        if _STATE.fullmatch(name) and is_dataclass(kept):
            for field in fields(kept):
                if isinstance(getattr(kept, field.name), np.ndarray):
                    yield name, kept, field.name, getattr(kept, field.name)


def _shapes(part: Part) -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for name, kept, field, values in _objects(part):
        arrays = found[name].arrays if name in found else ()
        whole = len(values) == part.core.table.n_vertices
        found[name] = Shape(type(kept), (*arrays, (field, values.dtype.str, whole)))
    return found


def _own_values(part: Part, key: Key) -> np.ndarray:
    """This range's values of a key, which may be written to."""
    if key == REACHED:
        return part.core.work.visited[part.own_words]
    if isinstance(key, int):
        return part.values[key][part.own]
    name, _, field = key.partition(":")
    values: np.ndarray = getattr(part.objects[name], field)
    return values[part.own] if len(values) == part.core.table.n_vertices else values


def _states(part: Part, alive: Iterable[int]) -> Iterator[tuple[Key, np.ndarray]]:
    """What there is to copy, by key."""
    keys: list[Key] = [key for key in alive if key in part.values]
    for key in (*keys, REACHED, *(f"{name}:{field}" for name, _, field, _ in _objects(part))):
        yield key, _own_values(part, key)


def _pieces(values: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(values), PIECE_ITEMS):
        yield values[start : start + PIECE_ITEMS]


def _install(part: Part, pieces: list[Piece]) -> None:
    """Put pieces of a lost rank in their places."""
    for key, number, _, data in pieces:
        if not isinstance(key, int) or key in part.values:
            blosc.decompress(data, _own_values(part, key)[number * PIECE_ITEMS : (number + 1) * PIECE_ITEMS])
