"""Every search of the catalogue, on every layout, gives the distances of the textbook under every order of threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import DeviceRoomError, InputError
from emdiam.gpu.device import Device
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.paths import hbf as hbf_module
from emdiam.gpu.paths.delta_stepping import delta_stepping
from emdiam.gpu.paths.harish import LAYOUTS, harish
from emdiam.gpu.paths.hbf import classify_arcs, hbf
from emdiam.gpu.paths.near_far import near_far, ortega, sorted_buckets, workfront_sweep
from emdiam.gpu.paths.registry import SEARCHES, device_paths
from emdiam.gpu.paths.weighted_graph import float_words, upload_rows, words_as_floats
from emdiam.gpu.registry import HBF_MAPPINGS
from emdiam.paths.paths import Paths, SearchOptions
from emdiam.paths.rows import WeightedRows
from tests.gpu.test_mapping import SMALL
from tests.helpers.device_paths import arcs_of, bellman_ford, dijkstra, drawn_rows, odd_rows, random_arcs, rows_of_arcs
from tests.simt.devices import open_device

FEW_DEVICES = ("shim-0", "shim-1", "shim-2", "gpu")
MORE_DEVICES = (*FEW_DEVICES, "shim-6", "shim-9")
NEGATIVE = [name for name, one in SEARCHES.items() if one.negative]
NOT_NEGATIVE = [name for name in SEARCHES if name not in NEGATIVE]
# Words of 32 bits and of 64.
TYPES = (np.uint32, np.float32, np.float64)
FEW = ("one", "no-edges", "star", "clique-and-path", "loops and parallel", "zero cycle", "detours", "random directed")


@cache
def odd(dtype: type | None) -> dict[str, tuple[WeightedRows, int, np.ndarray]]:
    """The odd graphs, each with a source and the distances from it."""
    found = {}
    for number, (name, rows) in enumerate(odd_rows(dtype).items()):
        source = 0 if name in FEW else number * 7 % rows.n_vertices
        found[name] = rows, source, dijkstra(rows, source)
    return found


def takes(name: str, rows: WeightedRows) -> bool:
    """Whether a search takes rows of these types."""
    return "pair" not in name or (rows.heads.itemsize == 4 and rows.costs.dtype != np.float64)


def check(rows: WeightedRows, found: Paths, want: np.ndarray) -> None:
    """Distances to the bit, and predecessors, if there are any, that lead to the source by tight arcs."""
    assert found.distances.dtype == want.dtype and found.distances.tolist() == want.tolist()
    before = found.predecessors
    if before is None:
        return
    lightest: dict[tuple[int, int], float] = {}
    for a, b, w in arcs_of(rows):
        lightest[a, b] = min(w, lightest.get((a, b), w))
    for v in np.flatnonzero(found.has_path).tolist():
        steps = 0
        while v != found.source:
            u = int(before[v])
            assert int(want[u]) + lightest[u, v] == int(want[v])
            v, steps = u, steps + 1
            assert steps < rows.n_vertices, "the predecessors go round in a circle"
    assert before[found.source] == -1 and not np.any(before[~found.has_path] != -1)


@pytest.mark.thin(9)
@pytest.mark.parametrize("name", FEW_DEVICES)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("dtype", TYPES)
def test_every_search(dtype: type, search: str, name: str) -> None:
    device = open_device(name)
    for rows, source, want in (odd(dtype)[one] for one in FEW):
        if takes(search, rows):
            check(rows, device_paths(rows, source, device, search), want)


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_DEVICES)
@pytest.mark.parametrize("search", SEARCHES)
def test_the_full_product(search: str, name: str) -> None:
    device = open_device(name)
    for dtype in (None, np.uint8, np.uint16, *TYPES):
        for rows, source, want in odd(dtype).values():
            if takes(search, rows):
                check(rows, device_paths(rows, source, device, search), want)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(SEARCHES)), drawn_rows((None, np.uint8, np.uint32), ids=(np.uint32,)), st.integers(0, 3),
       st.data())
def test_random_graphs(search: str, rows: WeightedRows, seed: int, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, rows.n_vertices - 1))
    delta = data.draw(st.sampled_from([None, None, 1.0, 0.3, 17.0, np.inf]))
    if takes(search, rows):
        found = device_paths(rows, source, open_device(f"shim-{seed}"), search, SearchOptions(delta=delta))
        check(rows, found, dijkstra(rows, source))


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(NEGATIVE), drawn_rows((np.float32, np.int64), True, (np.uint32,)), st.integers(0, 3))
def test_negative_weights_and_negative_cycles(search: str, rows: WeightedRows, seed: int) -> None:
    want = bellman_ford(rows, 0)
    if not takes(search, rows) or ("pair" in search and rows.costs.dtype.kind == "i"):
        return
    if want is None:
        with pytest.raises(InputError, match="a cycle of negative length"):
            device_paths(rows, 0, open_device(f"shim-{seed}"), search)
    else:
        check(rows, device_paths(rows, 0, open_device(f"shim-{seed}"), search), want)


def test_a_negative_cycle_is_told_from_a_long_negative_path() -> None:
    path = [(v, v + 1, -1.0) for v in range(30)]
    for search in NEGATIVE:
        straight, circle = (rows_of_arcs(31, arcs, np.float32) for arcs in (path, [*path, (30, 29, 0.5)]))
        check(straight, device_paths(straight, 0, open_device("shim-1"), search), -np.arange(31.0))
        with pytest.raises(InputError, match="a cycle of negative length"):
            device_paths(circle, 0, open_device("shim-1"), search)


def test_negative_weights_are_refused_where_they_cannot_be() -> None:
    rows = rows_of_arcs(2, [(0, 1, -1.0)], np.float32)
    for search in NOT_NEGATIVE:
        with pytest.raises(InputError, match=f"{search} needs weights that are not negative; use"):
            device_paths(rows, 0, open_device("shim-0"), search)
    for run in (near_far, hbf, delta_stepping):
        with pytest.raises(InputError, match="needs weights that are not negative; use"):
            run(open_device("shim-0"), upload_rows(open_device("shim-0"), rows), 0)
    assert device_paths(rows, 0, open_device("shim-0")).method == "workfront-sweep"


# -- What a search can be told ---------------------------------------------------------------------------------
@pytest.mark.thin(9, sampled=("mapping",))
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_workfront_sweep_takes_every_mapping(mapping: str) -> None:
    for seed, (name, dtype) in enumerate((("random directed", np.uint32), ("star", np.uint32))):
        rows, source, want = odd(dtype)[name]
        device = open_device(f"shim-{seed + 1}")
        found = workfront_sweep(device, upload_rows(device, rows), source,
                                mapping=SMALL[mapping] if seed else mapping, block=64)
        check(rows, found, want)


@pytest.mark.parametrize("mapping", HBF_MAPPINGS)
def test_hbf_takes_its_mappings(mapping: str) -> None:
    for name in ("random zeros", "random directed", "star"):
        rows, source, want = odd(np.uint32)[name]
        device = open_device("shim-3")
        check(rows, hbf(device, upload_rows(device, rows), source, mapping=mapping, block=96), want)


@pytest.mark.thin(4)
@pytest.mark.parametrize("n_buckets", [1, 2, 5, 8])
@pytest.mark.parametrize("delta", [1.0, 2.0, 6.0, np.inf])
def test_delta_stepping_with_any_buckets(delta: float, n_buckets: int) -> None:
    device = open_device("shim-2")
    for name in ("random directed", "detours"):
        rows, source, want = odd(np.uint32)[name]
        found = delta_stepping(device, upload_rows(device, rows), source, SearchOptions(delta=delta), n_buckets)
        check(rows, found, want)


def test_narrow_buckets_relax_as_dijkstra_does() -> None:
    """With delta 1 and positive weights every vertex is relaxed once; with one bucket as workfront sweep does."""
    rows, source, want = odd(np.uint32)["detours"]
    device = open_device("shim-0")
    weighted, once = upload_rows(device, rows), rows.n_arcs
    for run in (near_far, delta_stepping):
        narrow = run(device, weighted, source, SearchOptions(delta=1))
        wide = run(device, weighted, source, SearchOptions(delta=np.inf))
        assert wide.relaxations > narrow.relaxations
        # Delta-stepping looks at light arcs and at heavy ones.
        assert narrow.relaxations == once if run is near_far else once <= narrow.relaxations <= 2 * once
    assert wide.rounds == workfront_sweep(device, weighted, source).rounds
    settled = ortega(device, weighted, source)
    assert settled.relaxations == once == sorted_buckets(device, weighted, source, SearchOptions(delta=1)).relaxations
    arcs = random_arcs(1, 150, 450, range(1, 60))
    many, source = upload_rows(device, rows_of_arcs(150, arcs, np.uint32)), arcs[0][0]
    settled = ortega(device, many, source)
    assert settled.relaxations == sum(bool(settled.has_path[tail]) for tail, _, _ in arcs)
    assert 5 < settled.rounds < near_far(device, many, source, SearchOptions(delta=1)).rounds


@pytest.mark.parametrize("run", [near_far, delta_stepping, sorted_buckets])
def test_a_delta_that_is_lost_in_rounding(run: Callable[..., Paths]) -> None:
    """Each split and each bucket then has one length; without end where the next one is not above the last."""
    rows, device = rows_of_arcs(20, random_arcs(9, 20, 60, (0.1, 1e6, 3.0)), np.float64), open_device("shim-1")
    found = run(device, upload_rows(device, rows), 0, SearchOptions(delta=1e-30))
    check(rows, found, dijkstra(rows, 0))


@pytest.mark.parametrize("run", [near_far, delta_stepping, sorted_buckets])
def test_a_delta_that_is_none_is_refused(run: Callable[..., Paths]) -> None:
    device, rows = open_device("shim-0"), odd(np.float32)["star"][0]
    for delta in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="delta is a distance above 0"):
            run(device, upload_rows(device, rows), 0, SearchOptions(delta=delta))


def test_ticks_come_between_rounds_and_may_stop_a_search() -> None:
    rows, source, _ = odd(np.uint32)["random sparse"]
    for search in SEARCHES:
        ticks = count()
        found = device_paths(rows, source, open_device("shim-0"), search, SearchOptions(tick=lambda t=ticks: next(t)))
        assert 0 < next(ticks) <= found.rounds

        def stop() -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            device_paths(rows, source, open_device("shim-0"), search, SearchOptions(tick=stop))


# -- H-BF ------------------------------------------------------------------------------------------------------
def test_arcs_are_told_apart() -> None:
    rows = rows_of_arcs(6, [(0, 0, 1), (0, 1, 1), (0, 1, 2), (1, 2, 1), (2, 1, 1), (1, 3, 1), (3, 3, 1), (2, 4, 1),
                            (4, 5, 1), (4, 2, 1)])
    for pairs in (False, True):
        device = open_device("shim-2")
        found = device.to_host(classify_arcs(device, upload_rows(device, rows, pairs))).tolist()
        # Loops are no way in; 3 has none but its loop, 5 has no arc, and from 3 none leads on.
        want = {(0, 0): 1, (0, 1): 0, (1, 2): 0, (2, 1): 0, (1, 3): 2 | 4, (3, 3): 1 | 2 | 4, (2, 4): 2, (4, 5): 2 | 4,
                (4, 2): 0}
        assert found == [want[a, b] for a, b, _ in arcs_of(rows)]


def test_dead_ends_are_not_queued() -> None:
    star = rows_of_arcs(40, [arc for v in range(1, 40) for arc in ((0, v, 3), (v, 0, 3))])
    device = open_device("shim-1")
    assert hbf(device, upload_rows(device, star), 0).rounds == 1
    assert workfront_sweep(device, upload_rows(device, star), 0).rounds == 2


def test_predecessors_do_not_depend_on_the_order_where_weights_are_positive() -> None:
    rows = rows_of_arcs(50, random_arcs(5, 50, 400, (1, 2, 3)))
    found = [hbf(device, upload_rows(device, rows), 0).predecessors
             for device in (open_device(f"shim-{seed}") for seed in range(4))]
    assert all(one is not None and one.tolist() == found[0].tolist() for one in found)  # type: ignore[union-attr]


def test_zero_weights_make_no_circle_of_predecessors() -> None:
    """Vertices of one distance, joined both ways, numbered so that smaller predecessors would close circles."""
    for seed in range(8):
        arcs = [(19, 18, 2.0)] + [(a, b, 0.0) for a, b, _ in random_arcs(seed, 19, 90, (0,), directed=False)]
        rows = rows_of_arcs(20, arcs)
        device = open_device(f"shim-{seed % 4}")
        check(rows, hbf(device, upload_rows(device, rows), 19), dijkstra(rows, 19))


def test_a_length_of_more_than_32_bits_is_found_all_the_same() -> None:
    long = (1 << 32) - 1
    for last in (long, 1):
        rows = rows_of_arcs(4, [(0, 1, long), (1, 2, last), (2, 3, 5), (0, 3, 7)])
        device = open_device("shim-0")
        found = hbf(device, upload_rows(device, rows), 0)
        check(rows, found, dijkstra(rows, 0))
        assert found.predecessors is None
    # The longest that fits is one less than what stands for all others.
    rows = rows_of_arcs(3, [(0, 1, long - 2), (1, 2, 0)])
    found = hbf(device, upload_rows(device, rows), 0)
    check(rows, found, dijkstra(rows, 0))
    assert found.predecessors is not None and int(found.distances[1]) == hbf_module.LONGEST - 1


# -- What a device takes ---------------------------------------------------------------------------------------
def test_words_are_in_the_order_of_the_lengths() -> None:
    lengths = np.array([-np.inf, -1e300, -2.5, -1.0, -5e-324, 0.0, 5e-324, 1.0, 2.5, 1e300, np.inf])
    words = float_words(lengths)
    assert np.all(words[1:] > words[:-1]) and words[-1] < np.iinfo(np.uint64).max
    assert words_as_floats(words).tolist() == lengths.tolist()


@pytest.mark.thin(16)
@pytest.mark.parametrize("dtype", [np.uint32, np.float64, np.int64, np.int32, None])
@pytest.mark.parametrize("search", ["harish", "harish-lists", "harish-reverse", "workfront-sweep", "near-far", "h-bf",
                                    "delta-stepping", "sorted-buckets", "ortega"])
def test_wide_ids_and_signed_integers(search: str, dtype: type | None) -> None:
    rows = rows_of_arcs(50, random_arcs(7, 50, 160, (0, 1, 6, 9)), dtype, np.uint64)
    check(rows, device_paths(rows, 3, open_device("shim-2"), search), dijkstra(rows, 3))


def test_what_does_not_fit_is_refused() -> None:
    device = open_device("shim-0")
    with pytest.raises(InputError, match="a device takes integer weights from 0 to 2\\^32 - 1"):
        device_paths(rows_of_arcs(3, [(0, 1, -(1 << 60))], np.int64), 0, device)
    with pytest.raises(OverflowError, match="do not fit float64"):
        device_paths(rows_of_arcs(3, [(0, 1, 1e308)], np.float64), 0, device)
    with pytest.raises(InputError, match="ids and weights of 32 bits can be pairs"):
        device_paths(rows_of_arcs(3, [(0, 1, 1.0)], np.float64), 0, device, "near-far-pairs")
    with pytest.raises(InputError, match=r"no such method.*harrish|did you mean harish"):
        device_paths(rows_of_arcs(3, []), 0, device, "harrish")
    with pytest.raises(InputError, match="no such layout"):
        harish(device, upload_rows(device, rows_of_arcs(3, [])), 0, layout="colums")
    with pytest.raises(ValueError, match="the source must be a vertex, 0 to 2"):
        device_paths(rows_of_arcs(3, []), 3, device)


@pytest.mark.thin(3)
@pytest.mark.parametrize("search", SEARCHES)
def test_the_device_holds_what_was_planned_and_no_more(search: str) -> None:
    rows = rows_of_arcs(3000, [(v, (v * 7 + 1) % 3000, v % 5) for v in range(3000)])
    planned = SEARCHES[search].bytes(rows)
    with pytest.raises(DeviceRoomError, match="takes .*are free on"):
        device_paths(rows, 0, open_device("shim-0", total=planned - 1), search)
    if SEARCHES[search].state is not None:
        device: Device = open_device("shim-0", total=planned)
        device_paths(rows, 0, device, search)
        assert planned - (1 << 17) <= device.peak_bytes() <= planned


def test_the_catalogue_says_what_each_is() -> None:
    for name, one in SEARCHES.items():
        assert one.title and one.section.startswith("papers/"), name
    assert len({one.title for one in SEARCHES.values()}) == len(SEARCHES)
    assert all(layout.title and layout.section and layout.bytes for layout in LAYOUTS.values())
