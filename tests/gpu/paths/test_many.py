"""Ten thousand random graphs of every kind on devices: shortest paths by every search on every layout, and distances
between all pairs by every method, beside scipy."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.gpu.paths.all_pairs import ALL_PAIRS, device_all_pairs
from emdiam.gpu.paths.entries import TILES
from emdiam.gpu.paths.registry import SEARCHES, device_paths
from emdiam.sssp.paths import SearchOptions
from emdiam.sssp.rows import unreached
from tests.helpers.many_graphs import MANY, WEIGHTS, Drawn, by_scipy, drawn
from tests.simt.devices import open_device

# A search from every vertex, and a step for every vertex, take long on the shim: every so many graphs have them.
_RARE = {"harish": 50, "floyd-warshall": 10}


def takes(search: str, graph: Drawn) -> bool:
    """Whether a search takes weights of this dtype."""
    return "pair" not in search or graph.weights in ("unit", "uint8", "uint16", "uint32", "float32")


def right(found: np.ndarray, want: np.ndarray) -> bool:
    """Whether distances are those; float sums may be rounded another way."""
    shown = np.where(found == unreached(found.dtype), np.inf, found.astype(float))
    return np.allclose(shown, want, rtol=1e-12, atol=1e-9) if found.dtype.kind == "f" else np.array_equal(shown, want)


def check_searches(graph: Drawn, number: int) -> None:
    """From one source."""
    rows, device = graph.rows, open_device(f"shim-{number % 7}")
    source, delta = number * 11 % rows.n_vertices, (None, 0.3, 17.0, np.inf)[number % 4]
    want = by_scipy(rows, source)
    for name, search in SEARCHES.items():
        if not takes(name, graph):
            continue
        options = SearchOptions(delta=delta)
        if want is None or (rows.least_weight < 0 and not search.negative):
            with pytest.raises(InputError, match="negative"):
                device_paths(rows, source, device, name, options)
        else:
            assert right(device_paths(rows, source, device, name, options).distances, want), (name, number)


def check_pairs(graph: Drawn, number: int) -> None:
    """Between all pairs."""
    rows, device, want = graph.rows, open_device(f"shim-{number % 7}"), by_scipy(graph.rows)
    for name in ALL_PAIRS:
        if number % _RARE.get(name, 1):
            continue
        tile = TILES[number % len(TILES)]
        if want is None:
            with pytest.raises(InputError, match="negative"):
                device_all_pairs(rows, device, name, tile=tile)
        else:
            assert right(device_all_pairs(rows, device, name, tile=tile).distances, want), (name, number)


def test_searches_of_a_graph_of_every_kind() -> None:
    """Each kind of weights, with directions and without."""
    for number in range(MANY, MANY + 2 * len(WEIGHTS)):
        check_searches(drawn(number), number)


@pytest.mark.slow
@pytest.mark.parametrize("what", [check_searches, check_pairs])
@pytest.mark.parametrize("part", range(20))
def test_ten_thousand_graphs(what: type, part: int) -> None:
    for number in range(part * MANY // 20, (part + 1) * MANY // 20):
        what(drawn(number), number)
