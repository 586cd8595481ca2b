"""Taking in pairs whose ids the format declares, and what all ways of taking in share.

An intake turns the batches of a source into sorted runs of arcs among vertices 0..n-1 and knows
how the vertices are numbered:

    DeclaredIntake    ids in [first_id, first_id + n)            this file
    IntIntake         the vertices are the integers that occur   intake_ints.py
    StringIntake      the vertices are the strings that occur    intake_strings.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.source import EdgeBatch, SourceInfo
from ..sorting.runs import Keys
from ..sorting.sort import SortContext
from ..store.writer import StoreWriter
from .arc_keys import BLOCK
from .pack import ArcSorter


@dataclass
class Tally:
    """pairs : taken in so far. loops : of these, pairs of a vertex with itself."""

    pairs: int = 0
    loops: int = 0

    @classmethod
    def of(cls, resumed: State | None) -> Tally:
        """The tally in the state of an intake, or one that begins."""
        return cls() if resumed is None else cls(*resumed["tally"])


@dataclass(frozen=True)
class Numbering:
    """How vertices got their numbers: see StoreRecord for id_kind and first_id.

    min_id, max_id : the smallest and largest id of the user (None without vertices). gaps : how
    many integers between them are no vertex.
    """

    n_vertices: int
    id_kind: str
    first_id: int = 0
    min_id: int | str | None = None
    max_id: int | str | None = None
    gaps: int = 0


class Intake(Protocol):
    """`add` every batch, `finish`, `write`; or `abort` at any time.

    `state` may be told between two calls and at the safe points inside them; an intake made with it as
    `resumed` goes on from there, so that `add` continues, `finish` may be called again, and after it
    `write`.
    """

    tally: Tally

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for an id that cannot be."""
        ...

    def finish(self) -> Numbering:
        """After the last batch: sort what is left and number the vertices."""
        ...

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        """Append the map of ids, if there is one, and all rows; returns the number of arcs, and of edges that
        came in both directions."""
        ...

    def state(self) -> State:
        """All that was taken in and done, as a state."""
        ...

    def abort(self) -> None:
        """Stop all threads."""
        ...


@dataclass(frozen=True)
class IdBlock:
    """Ids of some pairs, uint64[k]. signed : which of src and dst came as signed integers, so that
    values of 2^63 and more are in fact negative."""

    src: Keys
    dst: Keys
    signed: tuple[bool, bool]

    @property
    def largest(self) -> int:
        """The largest id, negative ones counting as 2^63 and more."""
        return max(int(self.src.max()), int(self.dst.max()))

    def first_user_id(self, wrong: Callable[[Keys], npt.NDArray[np.bool_]]) -> int | None:
        """The first id for which `wrong` holds, as the user wrote it; None if there is none."""
        for ids, signed in zip((self.src, self.dst), self.signed, strict=True):
            found = np.flatnonzero(wrong(ids))
            if len(found):
                return int(ids.view(np.int64)[found[0]]) if signed else int(ids[found[0]])
        return None


def id_blocks(batch: EdgeBatch) -> Iterator[IdBlock]:
    """The batch in blocks that stay in cache. Raises TypeError unless ids are integers."""
    src, dst = np.asarray(batch.src), np.asarray(batch.dst)
    if src.dtype.kind not in "iu" or dst.dtype.kind not in "iu" or src.shape != dst.shape or src.ndim != 1:
        raise TypeError(f"batches of integer ids of equal length expected, not {src.dtype}{src.shape}"
                        f" and {dst.dtype}{dst.shape}")
    signed = (src.dtype.kind == "i", dst.dtype.kind == "i")
    for start in range(0, len(src), BLOCK):
        yield IdBlock(_as_uint64(src[start : start + BLOCK]), _as_uint64(dst[start : start + BLOCK]), signed)


def _as_uint64(values: np.ndarray[Any, np.dtype[Any]]) -> Keys:
    """The same bits as uint64, sign-extended."""
    if values.dtype.itemsize < 8:
        values = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64)
    return np.ascontiguousarray(values).view(np.uint64)


def refuse_negative(block: IdBlock, name: str) -> None:
    """Of a block with an id of 2^63 or more: raise InputError if one is in fact negative."""
    for ids, signed in zip((block.src, block.dst), block.signed, strict=True):
        if signed and ids.max() >= 1 << 63:
            raise InputError(
                "a negative vertex id", path=name, text=str(int(ids.view(np.int64).min())),
                remedy="ids are integers from 0 up, or convert them as strings with --ids string",
            )


def without_loops(src: Keys, dst: Keys, tally: Tally) -> tuple[Keys, Keys, Keys | None]:
    """Count pairs and loops; returns the pairs left and the ids of loops (None without any)."""
    keep = src != dst
    n_loops = len(src) - int(np.count_nonzero(keep))
    tally.pairs += len(src)
    tally.loops += n_loops
    if not n_loops:
        return src, dst, None
    return src[keep], dst[keep], src[~keep]


class DeclaredIntake:
    """Ids lie in [first_id, first_id + n_vertices), and every id there is a vertex.

    info : with n_vertices. name : of the source, for errors. resumed : see Intake.
    """

    def __init__(
        self, info: SourceInfo, name: str, context: SortContext, resumed: State | None = None
    ) -> None:
        if info.n_vertices is None:
            raise ValueError("the number of vertices is not declared")
        self._n, self._first, self._name = info.n_vertices, info.first_id, name
        self._arcs = ArcSorter(self._n, context, resumed and resumed["arcs"])
        self.tally = Tally.of(resumed)

    def add(self, batch: EdgeBatch) -> None:
        """Take in a batch. Raises InputError for an id outside the declared range."""
        for block in id_blocks(batch):
            # An id below first_id wraps to a huge one and fails the same test.
            src, dst = self._from_first(block.src), self._from_first(block.dst)
            if max(int(src.max()), int(dst.max())) >= self._n:
                raise InputError(
                    f"a vertex id outside the declared {self._first}..{self._first + self._n - 1}",
                    path=self._name,
                    text=str(block.first_user_id(lambda ids: self._from_first(ids) >= np.uint64(self._n))),
                    remedy="correct the id or the declared number of vertices",
                )
            src, dst, _ = without_loops(src, dst, self.tally)
            self._arcs.add(src, dst)

    def _from_first(self, ids: Keys) -> Keys:
        return ids - np.uint64(self._first) if self._first else ids

    def finish(self) -> Numbering:
        """Sort what is left."""
        self._arcs.finish()
        last = self._first + self._n - 1
        return Numbering(self._n, "offset" if self._first else "identity", self._first,
                         self._first if self._n else None, last if self._n else None)

    def write(self, writer: StoreWriter) -> tuple[int, int]:
        """See Intake."""
        return self._arcs.write_rows(writer), self._arcs.n_reverse

    def state(self) -> State:
        """See Intake."""
        return {"tally": [self.tally.pairs, self.tally.loops], "arcs": self._arcs.state()}

    def abort(self) -> None:
        """Stop all threads."""
        self._arcs.abort()
