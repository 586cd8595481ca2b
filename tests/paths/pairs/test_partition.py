"""Parts of a graph: arcs in both directions, and what finding them takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from emdiam.errors import MoreMemoryError
from emdiam.paths.pairs.arcs import lengths_for
from emdiam.paths.pairs.separators import Separators, undirected
from emdiam.paths.rows import WeightedRows
from emdiam.stream.threads import Threads
from tests.helpers.many_graphs import EVERY_KIND, drawn


@pytest.mark.parametrize("number", EVERY_KIND)
def test_arcs_and_their_reverse(number: int) -> None:
    rows = drawn(number).rows
    offsets, heads = undirected(rows, 1 << 30)
    arcs = [(v, int(w)) for v in range(rows.n_vertices) for w in rows.heads[rows.offsets[v] : rows.offsets[v + 1]]]
    both = sorted([*arcs, *((w, v) for v, w in arcs)])
    symmetric = set(arcs) == {(w, v) for v, w in arcs}
    found = [(v, int(w)) for v in range(rows.n_vertices) for w in heads[offsets[v] : offsets[v + 1]]]
    assert sorted(found) == (arcs if symmetric else both)
    assert (heads is rows.heads) == symmetric
    need = 0 if symmetric else offsets.nbytes + heads.nbytes
    assert np.array_equal(undirected(rows, need)[1], heads)
    if not symmetric:
        with pytest.raises(MoreMemoryError) as error:
            undirected(rows, need - 1)
        assert error.value.missing_bytes == 1


@pytest.mark.parametrize("directed", [False, True])
def test_a_dense_graph_takes_no_arrays_of_its_arcs(directed: bool) -> None:
    """A clique of 1,000, half of a million arcs with directions: refused before anything of their number is made."""
    tails, heads = np.triu_indices(1000, 1)
    rows = WeightedRows.from_edges(1000, tails, heads, directed=directed)
    lengths, threads = lengths_for(999, floats=False, negative=False), Threads(1)

    def solve() -> None:
        with pytest.raises(MoreMemoryError, match="separators need"):
            Separators(rows, lengths, threads, lambda: None, 1 << 20)

    try:
        solve()  # compiled
        tracemalloc.start()
        solve()
        assert tracemalloc.get_traced_memory()[1] < rows.n_arcs // 2
    finally:
        tracemalloc.stop()
        threads.close()
