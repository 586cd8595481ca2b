"""A naive twin of the conversion, made of Python sets, and a source over a list of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import zarr

from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.formats.source import EdgeBatch, SourceInfo
from emdiam.sorting.plan import SortPlan
from emdiam.store.store import open_store

# Buffers of a few keys: many runs on disk, several merge passes, many pieces of every table.
TINY = SortPlan(
    batch_bytes=64, run_keys=16, least_run_keys=16, n_buffers=2, block_keys=2, merge_keys=16,
    merge_keys_alone=16, index_bytes=64, presence_ids=1 << 12, table_ids=3, join_ids=8,
    string_bytes=64, string_block_bytes=16,
)
ROOMY = SortPlan(
    run_keys=1 << 12, least_run_keys=1 << 10, merge_keys=1 << 15, merge_keys_alone=1 << 15,
    presence_ids=1 << 12,
)

Pairs = Sequence[tuple[Any, Any]]


class ListSource:
    """An EdgeSource over a list of pairs. per_batch: pairs of a batch, default by batch_bytes."""

    name = "list"

    def __init__(
        self, pairs: Pairs, info: SourceInfo, *, rewindable: bool = True, per_batch: int | None = None
    ) -> None:
        self.pairs, self._info, self.rewindable = list(pairs), info, rewindable
        self.per_batch = per_batch
        self.times_read = 0

    def info(self) -> SourceInfo:
        return self._info

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        assert self.rewindable or not self.times_read, "read again though it cannot start over"
        self.times_read += 1
        step = self.per_batch or max(1, batch_bytes // 16)
        for start in range(0, len(self.pairs), step):
            columns = [[pair[side] for pair in self.pairs[start : start + step]] for side in (0, 1)]
            yield EdgeBatch(*(self._column(column) for column in columns))

    def _column(self, values: list[Any]) -> Any:
        if self._info.id_kind == "string":
            return pa.array(values, pa.string())
        wide = any(value >= 1 << 63 for value in values)
        return np.array(values, np.uint64 if wide else np.int64)

    def position_bytes(self) -> int:
        return 0


def twin(pairs: Pairs, n: int | None = None, first: int = 0) -> tuple[list[Any], dict[Any, list[Any]]]:
    """Vertices in order and the sorted neighbours of each, by the definition."""
    vertices = set(range(first, first + n)) if n is not None else {v for pair in pairs for v in pair}
    near: dict[Any, set[Any]] = {v: set() for v in vertices}
    for a, b in pairs:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    key = (lambda v: v.encode()) if vertices and isinstance(next(iter(vertices)), str) else None
    return sorted(vertices, key=key), {v: sorted(others, key=key) for v, others in near.items()}


def counts_of(pairs: Pairs) -> tuple[int, int, int, int]:
    """Edges, loops, duplicates in the same direction, and edges in both directions, by the definition."""
    arcs = {(a, b) for a, b in pairs if a != b}
    edges = len({frozenset(arc) for arc in arcs})
    loops = sum(a == b for a, b in pairs)
    return edges, loops, len(pairs) - loops - len(arcs), len(arcs) - edges


def rows_of(path: Path) -> tuple[list[Any], dict[Any, list[Any]]]:
    """The same from a store, read by plain zarr and translated to the user's ids."""
    group = zarr.open_group(str(path), mode="r")
    indptr, indices = group["indptr"][:], group["indices"][:]
    with open_store(str(path)) as store:
        names = store.user_ids(np.arange(store.n_vertices))
    rows = {name: indices[indptr[v] : indptr[v + 1]] for v, name in enumerate(names)}
    return names, {name: [names[u] for u in row] for name, row in rows.items()}


def convert_pairs(pairs: Pairs, folder: Path, plan: SortPlan = TINY, **about: Any) -> ConvertReport:
    """Convert into folder/g.zarr (replaced) and compare with the twin, counts included."""
    info = SourceInfo(**about)
    source = ListSource(pairs, info)
    target = folder / "g.zarr"
    report = write_graph(source, target, options=ConvertOptions(plan=plan, scratch=folder, force=True))
    vertices, near = twin(pairs, info.n_vertices, info.first_id)
    assert rows_of(target) == (vertices, near)
    m = sum(map(len, near.values())) // 2
    record, counts = report.record, counts_of(pairs)
    assert (record.n_vertices, record.n_edges, record.n_arcs) == (len(vertices), m, 2 * m)
    assert (record.n_edges, record.loops_dropped, record.duplicates_dropped, record.reverse_dropped) == counts
    assert record.pairs_read == len(pairs) == sum(counts)
    assert (report.pairs_read, report.min_id, report.max_id) == (len(pairs), vertices[0], vertices[-1])
    assert record.n_isolated == sum(not others for others in near.values())
    assert source.times_read == 1
    return report
