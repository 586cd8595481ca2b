"""Vertices with names from a separate list: the names, in byte order, are the ids of the store.

Pairs wait in the spool as the integers of the edges. The list is sorted by name, out of core, each name followed by its
integer; the integers in that order are the table for the join. A missing entry of the list is found there too: it is an
endpoint that no piece of the table has replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..checkpoint.records import State
from ..errors import InputError
from ..formats.source import EdgeBatch
from ..formats.vertex_lists import VertexList
from ..sorting.runs import Keys
from ..sorting.sort import KeySorter, SortContext, fewer_runs, merged
from .intake import id_blocks, refuse_negative, without_loops
from .relabel import IdTable
from .strings import TOP_BIT, StringIntake

_BINARY = pa.large_binary()
_TOP = np.uint64(TOP_BIT)
_BEHIND = 9  # a zero byte, and the integer, high byte first
_REMEDY = "fix the list, or convert without --vertices"


class NamedIntake(StringIntake):
    """Ids are integers that `vertices` has names for. n_declared : the number of vertices in the header of the edges.
    resumed : see Intake."""

    def __init__(self, name: str, context: SortContext, vertices: VertexList, n_declared: int | None,
                 resumed: State | None = None) -> None:
        super().__init__(name, context, resumed=resumed)
        self._vertices, self._n_declared = vertices, n_declared

    def add(self, batch: EdgeBatch) -> None:
        """Add a batch of integers. Raises InputError for a negative one."""
        assert self._spool is not None
        for block in id_blocks(batch):
            if block.largest >= TOP_BIT:
                refuse_negative(block, self._name)
                raise InputError("an id is larger than 2^63 - 1", path=self._name, text=str(block.largest),
                                 remedy=_REMEDY)
            pairs = without_loops(block.src, block.dst, block.numbers, self.tally)
            self._spool.add(pairs.src | _TOP, pairs.dst | _TOP, pairs.numbers)

    def _new_table(self) -> IdTable:
        """The integer of every name in byte order, with the top bit set, which no vertex has. Raises InputError for a
        name, or an integer, that occurs twice."""
        context = self._context
        for ids, names in self._vertices.names(context.plan.batch_bytes):
            self._sorter.add(_with_ids(names, ids, self._vertices))
        table, keys, last = IdTable(context.scratch.file(), increasing=False), KeySorter(context), None
        for entries in self._sorter.sorted():
            names, ids = pc.binary_slice(entries, 0, -_BEHIND), _ids_behind(entries)
            last = self._check_different(names, last)
            self._name_blocks += self._names.append(names)
            table.append(ids | _TOP)
            keys.add(ids)
        self._sorter.abort()
        runs = fewer_runs(keys.finish(), context)
        n_distinct = sum(merged(runs, context, len))
        runs.close()
        self._check_count(table.n, n_distinct)
        return table

    def _check_different(self, names: Any, last: Any) -> Any:
        """The last of these names. Raises InputError if a name occurs twice, or is `last`."""
        twice = names[0].as_py() if names[0] == last else None
        if twice is None and len(names) > 1:
            same = pc.index(pc.equal(names.slice(1), names.slice(0, len(names) - 1)), True).as_py()
            twice = names[same].as_py() if same >= 0 else None
        if twice is not None:
            raise self._vertices.error("two ids have one name", text=twice.decode(), remedy=_REMEDY)
        return names[-1]

    def _check_count(self, n: int, n_distinct: int) -> None:
        if n != n_distinct:
            raise self._vertices.error(f"{n:,} names have {n_distinct:,} ids: an id has two names", remedy=_REMEDY)
        if self._n_declared is not None and n != self._n_declared:
            raise self._vertices.error(f"it lists {n:,} vertices, and {self._name} has {self._n_declared:,}",
                                       remedy=_REMEDY)

    def _take_joined(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        for ids in (src, dst):
            if ids.max() >= TOP_BIT:
                missing = int(ids[np.argmax(ids >= TOP_BIT)]) - TOP_BIT
                raise InputError(f"an edge has a vertex that {self._vertices.name} does not list", path=self._name,
                                 text=str(missing), remedy=_REMEDY)
        super()._take_joined(src, dst, numbers)


def _with_ids(names: Any, ids: Any, vertices: VertexList) -> Any:
    """Every name followed by its integer, as large_binary, which sorts by name. Raises InputError for a name with a
    zero byte, as names would become ambiguous."""
    names = pc.cast(names, _BINARY)
    behind = np.zeros((len(ids), _BEHIND), np.uint8)
    behind[:, 1:] = ids.astype(">u8").view(np.uint8).reshape(-1, 8)
    if pc.any(pc.match_substring(names.cast(pa.large_string()), "\0"), min_count=0).as_py():
        raise vertices.error("a name has a byte of 0", remedy=_REMEDY)
    offsets = np.arange(len(ids) + 1, dtype=np.int64) * _BEHIND
    ends = pa.Array.from_buffers(_BINARY, len(ids), [None, pa.py_buffer(offsets), pa.py_buffer(behind)])
    return pc.binary_join_element_wise(names, ends, pa.scalar(b"", _BINARY))


def _ids_behind(entries: Any) -> Keys:
    """The integers after the names, uint64[k]."""
    ends = pc.cast(pc.binary_slice(entries, -8), pa.binary(8))
    return np.frombuffer(ends.buffers()[1], ">u8", len(ends), 8 * ends.offset).astype(np.uint64)
