"""Batches out of core come only where they are cheaper than single traversals, by what those have cost."""

from __future__ import annotations

import math

import pytest

from emdiam.methods.exact.candidates import Verdict
from emdiam.methods.exact.strategy import Costs
from emdiam.stream.counters import Counters
from emdiam.traverse.side_by_side import pays

BLOCKS = 100


def costs(seconds: float, stores: float, kernel: float, levels: int, dense: int = 0, rounds: int = 5,
          n_arcs: int = 1 << 22) -> Costs:
    """After five single traversals that took so much each, and read so many stores."""
    made = Costs(threads=2, n_arcs=n_arcs)
    for _ in range(rounds):
        used = Counters(blocks_read=int(stores * BLOCKS), dense_levels=dense, kernel_cpu_seconds=kernel)
        made.single(seconds, used, BLOCKS, levels)
    return made


# One traversal of a Delaunay triangulation of 2^20 points: 3.6 stores at a tenth of the edges.
MESH = {"stores": 3.6, "kernel": 0.04, "levels": 440}


@pytest.mark.parametrize(("seconds", "stores", "pairs"), [
    (0.045, 3.6, 1), (0.085, 3.6, 1), (1.0, 3.6, 1), (0.3, 18.0, 1), (1.0, 18.0, 32), (1.0, 0, 1)])
def test_pairs_share_what_they_read_where_that_is_most_of_it(seconds: float, stores: float, pairs: int) -> None:
    """Not where their own windows would read less, nor where they mostly compute, nor in memory."""
    mesh = costs(seconds, **MESH | {"stores": stores})
    assert [mesh.pairs_at_once(28_884, room) for room in (32, 7)] == [pairs, 1]


def test_thick_traversals_share_their_sweeps() -> None:
    assert costs(1.0, 3.0, 0.05, 8, dense=3).pairs_at_once(10_000, 32) == 32
    assert costs(1.0, 3.0, 1.9, 8, dense=3).pairs_at_once(10_000, 32) == 1


def test_few_thick_sources_are_traversed_together() -> None:
    """Where reading is most of a traversal; not thin ones, nor in memory."""
    assert costs(1.0, 0.9, 0.2, 9, dense=1, rounds=1).together(7)
    assert not costs(1.0, 0.9, 1.9, 9, dense=1, rounds=1).together(7)
    assert not costs(1.0, 3.6, 0.04, 440).together(7)
    assert not costs(1.0, 0.0, 0.2, 9, dense=1, rounds=1).together(7)


def test_a_few_thin_sources_are_traversed_one_by_one() -> None:
    mesh = costs(0.085, **MESH)
    assert [mesh.one_by_one(k) for k in (1, 2, 4, 20, 512)] == [True, True, True, True, False]
    in_memory = costs(0.085, **MESH | {"stores": 0})
    assert [in_memory.one_by_one(k) for k in (1, 6, 7, 64)] == [True, True, False, False]
    small = costs(0.085, **MESH | {"stores": 0}, n_arcs=1 << 16)
    assert [small.one_by_one(k) for k in (1, 64, 65)] == [True, True, False]
    in_memory._apart = lambda levels: levels == 440
    assert [in_memory.one_by_one(k) for k in (1, 64, 65)] == [True, True, False]
    assert not costs(1.0, 3.0, 0.05, 8, dense=3).one_by_one(3)


def test_searches_side_by_side_pay_over_long_distances_unless_rows_are_long() -> None:
    sizes = {"mesh": (4_000, 24_000), "hubs": (4_000, 400_000)}
    assert [levels for levels in (5, 28, 29, 65) if pays(levels, *sizes["mesh"])] == [29, 65]
    assert [levels for levels in (29, 64, 65) if pays(levels, *sizes["hubs"])] == [65]


def test_few_vertices_are_covered_at_once() -> None:
    """They end the run, with no more traversals than a round."""
    begun = Costs(threads=2)
    assert [begun.covering_pays(Verdict(40, cover, 9, (0, 1)), 1.0) for cover in (1, 2, 3)] == [True, True, False]


def test_over_long_distances_a_certificate_may_cost_as_much_as_a_batch() -> None:
    mesh = costs(0.085, **MESH | {"stores": 0})
    mesh.certified(0.9, Verdict(9, 9, 0, (0, 1)))
    mesh.covered(1.0, 64)
    assert not mesh.pairs_are_cheap()
    mesh._apart = lambda levels: levels == 440
    assert mesh.pairs_are_cheap()


def test_batches_side_by_side_are_small() -> None:
    """They visit the cover, or the sources that its gain asks for; and are certified once they have cost as much. The
    first one waits for up to 16 rounds."""
    mesh = costs(0.085, **MESH | {"stores": 0})
    assert mesh.batch_size(4401, 1.0) == 64 and mesh.visits(43, 31.6)
    mesh._apart = lambda levels: levels == 440
    assert mesh.batch_size(4401, 1.0) == 16 and mesh.batch_size(43, 31.6) == 2 and not mesh.visits(43, 31.6)
    for n_open in (900, 890, 880, 870, 865, 860, 859):
        mesh.certified(0.01, Verdict(n_open, 400, 0, (0, 1)))
        mesh.round_done(0.17)
    assert not mesh.covering_pays(Verdict(859, 400, 0, (0, 1)), 1.0)
    mesh.certified(0.9, Verdict(859, 400, 0, (0, 1)))
    for cheap in (False, False, True):
        mesh.covered(0.4, 16)
        assert mesh.pairs_are_cheap() == cheap and len(mesh._left) == 8
    assert mesh.visits(80, 1.6) and mesh.batch_size(80, 1.6) == 16


def test_covering_waits_for_what_it_costs_level_by_level() -> None:
    """A cover of 9 takes 9 traversals at most, whatever a batch would read."""
    mesh = costs(0.085, **MESH)
    for n_open in (900, 90, 9):
        mesh.certified(0.01, Verdict(n_open, n_open, 0, (0, 1)))
        mesh.round_done(0.17)
    assert not mesh.covering_pays(Verdict(9, 9, 0, (0, 1)), 1.0)
    assert mesh.covering_pays(Verdict(9, 1, 0, (0, 1)), 1.0)


def test_a_first_batch_in_memory_costs_as_much_as_its_fewest_sources() -> None:
    """Where batches are not measured yet: a cover of k takes k traversals up to 6, then as many until k^0.65 is more.
    The last two rounds, of two traversals each, have halved what is open."""
    made = costs(1.0, 0.0, 0.9, 9)
    for n_open in (800, 400, 200):
        made.certified(0.0, Verdict(n_open, n_open, 0, (0, 1)))
        made.round_done(2.0)
    expected = 2.0 * 2 * math.log(201) / math.log(801 / 201)  # seconds of certificates
    assert 15.0 < expected < 16.0
    pays = {cover: made.covering_pays(Verdict(200, cover, 0, (0, 1)), 1.0) for cover in (4, 6, 15, 60, 80)}
    assert pays == {4: True, 6: True, 15: True, 60: True, 80: False}
    assert not costs(1.0, 0.0, 0.9, 9).covering_pays(Verdict(9, 4, 0, (0, 1)), 1.0), "without rounds it waits"


@pytest.mark.parametrize(("levels", "waits"), [(32, False), (33, True)])
def test_in_memory_covering_waits_longer_where_levels_are_many(levels: int, waits: bool) -> None:
    """After two rounds of a tenth of what covering 200 vertices takes, as far as is known, which brought little."""
    made = costs(1.0, 0.0, 0.9, levels)
    covering = made._covering_seconds(200, 1.0)
    for n_open in (999, 998):
        made.certified(0.0, Verdict(n_open, n_open, 0, (0, 1)))
        made.round_done(covering / 10)
    assert made.covering_pays(Verdict(998, 200, 0, (0, 1)), 1.0) != waits


def test_wide_batches_come_for_very_many_sources_and_stay_while_they_are_cheaper() -> None:
    made = Costs(threads=2, n_arcs=1_500_000)
    made.single(0.01, Counters(), BLOCKS, 22)
    made.allow_wide(2048, 22)
    assert made.wide_bits(500_000, 1.0) == 0  # nothing is measured
    made.covered(0.5, 64)
    assert [made.wide_bits(cover, 2.0) for cover in (60, 1_000, 4_000, 500_000)] == [0, 0, 2048, 2048]
    assert made.expected_seconds(500_000, 2.0) < 500_000 / 2 / 64 * 0.5 / 10
    made.covered(0.3, 2048, 2048)
    assert [made.expected_seconds(20_480, gain) for gain in (1.0, 2.0)] == pytest.approx([10 * 0.3, 9 * 0.3])
    assert [made.wide_bits(cover, 2.0) for cover in (60, 1_000, 4_000)] == [0, 2048, 2048]
    made.covered(30.0, 2048, 2048)
    assert made.wide_bits(1_000, 2.0) == 0  # 500 take less without
    made.allow_wide(0, 22)
    assert made.wide_bits(500_000, 2.0) == 0


@pytest.mark.parametrize(("rate", "bits"), [(0.0, 0), (1e12, 2048)])
def test_wide_batches_of_a_device_come_by_its_own_rate(rate: float, bits: int) -> None:
    made = Costs(threads=2, n_arcs=1_500_000, wide_rate=rate)
    made.single(1e-4, Counters(), BLOCKS, 22)
    made.allow_wide(2048, 22)
    made.covered(5e-3, 64)
    assert made.wide_bits(4_000, 2.0) == bits


def test_wide_batches_do_not_come_where_levels_are_many() -> None:
    road = Costs(threads=2, n_arcs=50_000_000)
    road.single(1.0, Counters(), BLOCKS, 5_000)
    road.allow_wide(2048, 5_000)
    road.covered(5.0, 64)
    assert road.wide_bits(4_000, 1.0) == 0
