"""Many random graphs of every kind on devices: shortest paths by every search on every layout, and distances between
all pairs by every method, beside scipy.

The shim takes 5 ms for a search in a graph of a dozen vertices. A graph meets every search, on every layout that takes
its weights, under one of seven orders of threads; and every method of all pairs but those that take long, which every
tenth graph meets. Most fill a tile of 32 x 32 at most, every seventh has up to four of them."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.gpu.paths.all_pairs import ALL_PAIRS
from emdiam.gpu.paths.registry import SEARCHES, device_paths
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import unreached
from tests.helpers.device_paths import solved
from tests.helpers.many_graphs import EVERY_KIND, Drawn, by_scipy, campaign, drawn
from tests.simt.devices import open_device

# Vertices: of most graphs, and of every so many.
SMALL, LARGE, _EVERY = 24, 60, 7
# A search from every vertex, and tiles of 64 x 64, take long on the shim.
_RARE = 10


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
    source, delta = number * 11 % rows.n_vertices, (None, 0.3, 17.0, np.inf)[number // 7 % 4]
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
    searched, wide = np.random.default_rng([number, 1]).integers(_RARE, size=2) == (0, 0)
    small = rows.n_vertices <= SMALL
    for name in ALL_PAIRS:
        if name == "harish" and not (searched and small):
            continue
        tile = 64 if wide and small else 32
        if want is None:
            with pytest.raises(InputError, match="negative"):
                solved(rows, device, name, tile)
        else:
            assert right(solved(rows, device, name, tile), want), (name, number)


@pytest.mark.slow
def test_searches_of_a_graph_of_every_kind() -> None:
    """Each kind of weights, with directions and without."""
    for number in EVERY_KIND:
        check_searches(drawn(number), number)


@pytest.mark.slow
@campaign(10)
def test_searches_of_many_graphs(numbers: range) -> None:
    for number in numbers:
        check_searches(drawn(number, SMALL), number)


@pytest.mark.slow
@campaign(10)
def test_all_pairs_of_many_graphs(numbers: range) -> None:
    for number in numbers:
        check_pairs(drawn(number, SMALL if number % _EVERY else LARGE), number)
