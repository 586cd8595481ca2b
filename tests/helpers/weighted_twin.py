"""A naive twin of conversions that keep weights, made of dicts, and a source over a list of weighted pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.decimals import Number, number
from emdiam.formats.source import EdgeBatch, SourceInfo
from emdiam.sorting.plan import SortPlan
from emdiam.store.check import check_store
from emdiam.store.store import Store, open_store
from tests.helpers.convert_twin import TINY, ListSource, rows_of
from tests.helpers.damage import read_array

Weighted = Sequence[tuple[Any, Any, float]]


class WeightedSource(ListSource):
    """A ListSource over (a, b, weight)."""

    def __init__(self, triples: Weighted, info: SourceInfo, **about: Any) -> None:
        super().__init__([(a, b) for a, b, _ in triples], replace(info, weights=info.weights or "int"), **about)
        self._weights = np.array([weight for _, _, weight in triples], np.float64)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        done = 0
        for batch in super().batches(batch_bytes):
            yield EdgeBatch(batch.src, batch.dst, self._weights[done : done + len(batch.src)])
            done += len(batch.src)


def least_weights(triples: Weighted, directed: bool = False) -> tuple[dict[tuple[Any, Any], float], int]:
    """The least weight of every arc, and how many edges (or arcs) came with several, by the definition."""
    given: dict[tuple[Any, Any], set[float]] = {}
    for a, b, weight in triples:
        for arc in [(a, b)] if directed else [(a, b), (b, a)]:
            if a != b:
                given.setdefault(arc, set()).add(weight)
    several = sum(len(weights) > 1 for weights in given.values())
    return {arc: min(weights) for arc, weights in given.items()}, several if directed else several // 2


def arcs_of(store: Store) -> dict[tuple[Any, Any], Number]:
    """The weight of every arc of a store, in the user's ids."""
    record = store.record.weights
    assert store.weights is not None and record is not None
    names = store.user_ids(np.arange(store.n_vertices))
    offsets, heads, weights = (read_array(array) for array in (store.indptr, store.indices, store.weights))
    tails = np.repeat(np.arange(store.n_vertices), np.diff(offsets))
    return {(names[a], names[b]): weight if isinstance(weight, float) else number(weight, record.decimals)
            for a, b, weight in zip(tails, heads, weights.tolist(), strict=True)}


def convert_weighted(triples: Weighted, folder: Path, plan: SortPlan = TINY, directed: bool = False,
                     **about: Any) -> ConvertReport:
    """Convert into folder/g.zarr (replaced) and compare with the twin, records and checks included."""
    target = folder / "g.zarr"
    options = ConvertOptions(plan=plan, scratch=folder, force=True, directed=directed, chunk_ids=64)
    report = write_graph(WeightedSource(triples, SourceInfo(**about)), target, options=options)
    want, several = least_weights(triples, directed)
    with open_store(str(target), directed=directed) as store:
        assert arcs_of(store) == want
        if directed:
            assert arcs_of(store.reverse) == {(b, a): weight for (a, b), weight in want.items()}
        record = store.record.weights
        assert record is not None and record.edges_with_several == several
        assert record.ends == (min(want.values(), default=0), max(want.values(), default=0))
        check_store(store)
    if not directed:
        assert rows_of(target)[1] == {v: sorted(b for a, b in want if a == v) for v in rows_of(target)[0]}
    return report
