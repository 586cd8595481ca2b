"""Shortest paths that a device cannot find: the processors find them where any will do."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.gpu.paths.registry import searcher_on
from emdiam.gpu.setting import Selection
from emdiam.paths.paths import SearchOptions
from tests.helpers.device_paths import bellman_ford, dijkstra, odd_rows, rows_of_arcs
from tests.simt.devices import open_device
from tests.simt.shim_device import Failures


def test_what_a_device_cannot_the_processors_do_where_any_will_do() -> None:
    rows, small = odd_rows()["random directed"], open_device("shim-0", total=100)
    searcher = searcher_on(Selection(small, or_cpu=True))
    assert searcher is not None and searcher.name == small.name
    found = searcher(rows, 0, "auto", SearchOptions())
    assert found.distances.tolist() == dijkstra(rows, 0).tolist() and found.method == "dijkstra"
    assert searcher.name.startswith("cpu (near-far on 60 vertices")
    with pytest.raises(InputError, match="harish on 60 vertices and 200 arcs takes"):
        searcher(rows, 0, "harish", SearchOptions())
    gone = searcher_on(Selection(open_device("shim-0", failures=Failures(gone_at=3)), or_cpu=True))
    assert gone is not None
    assert gone(rows, 0, "near-far", SearchOptions()).distances.tolist() == found.distances.tolist()
    negative = rows_of_arcs(3, [(0, 1, -2.0), (1, 2, 1.0)], np.float64)
    want = bellman_ford(negative, 0)
    searcher = searcher_on(Selection(open_device("shim-0"), or_cpu=True))
    assert want is not None and searcher is not None
    assert searcher(negative, 0, "auto", SearchOptions()).distances.tolist() == want.tolist()
