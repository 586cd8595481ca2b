"""Lengths along decimal weights are exact, and of floats whose sums are not an interval is proved: beside Fractions."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates.run import verify
from emdiam.certificates.sealed import sealed
from emdiam.cli.main import group
from emdiam.decimal_kernels import most_places
from emdiam.errors import InputError
from emdiam.store.layout import FORMAT_VERSION
from emdiam.store.store import open_store
from tests.helpers.lengths import random_edges

Edges = dict[tuple[int, int], float]


def fraction(value: Any) -> Fraction:
    """A number as people read it: floats by the digits that Python prints."""
    return Fraction(repr(value) if isinstance(value, float) else value)


def by_fractions(n: int, edges: Edges, *, binary: bool = False) -> list[list[Fraction | None]]:
    """All distances by Floyd and Warshall, None without a path. binary : weights are what floats are, not their
    decimals."""
    found: list[list[Fraction | None]] = [[Fraction(0) if v == u else None for u in range(n)] for v in range(n)]
    for (a, b), weight in edges.items():
        value, before = Fraction(weight) if binary else fraction(weight), found[a][b]
        if a != b and (before is None or value < before):
            found[a][b] = found[b][a] = value
    for k in range(n):
        for v in range(n):
            for u in range(n):
                one, other, now = found[v][k], found[k][u], found[v][u]
                if one is not None and other is not None and (now is None or one + other < now):
                    found[v][u] = one + other
    return found


def arrays(n: int, edges: Edges, dtype: Any = float) -> Any:
    """As a tuple of arrays; every vertex has a loop, so that none is missing."""
    ends = [*edges, *((v, v) for v in range(n))]
    return ([a for a, _ in ends], [b for _, b in ends], np.array([*edges.values(), *([0.0] * n)], dtype))


DECIMALS = st.sampled_from([0.1, 0.2, 0.3, 1e-9, 231.361, 144.061, 0.5, 3.0, 1e6, 4294967.296, 123456789.12345679,
                            1e15 + 0.1, 0.0])


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 1 << 30), few=st.lists(DECIMALS, min_size=1, max_size=4))
@example(seed=3, few=[1e-9, 1e8])
@example(seed=4, few=[1e15 + 0.1])
@example(seed=5, few=[123456789.12345679, 0.1])
@example(seed=18395, few=[3.0, 0.1])  # only a loop has a decimal
def test_decimals_are_exact(seed: int, few: list[float]) -> None:
    """All answers along weights, to the last digit; certificates hold."""
    generator = random.Random(seed)
    n = generator.randint(2, 12)
    edges = {pair: generator.choice(few) for pair in random_edges(generator, n, "uint8")}
    edges[0, 1] = few[0]
    places = int(most_places(np.array([*edges.values()]), 0))  # of those that the store has
    assume(max(few) * 10**places * n < 2**61)
    want = by_fractions(n, edges)
    longest = max(one for row in want for one in row if one is not None)
    graph = arrays(n, edges)
    found = emdiam.exact(graph, weighted=True)
    assert found.exact and fraction(found.diameter_max_component) == longest
    assert found.witness is not None and fraction(found.witness.length) == longest
    of_all: Any = emdiam.eccentricities(graph, weighted=True)
    for v in range(n):
        far = max(one for one in want[v] if one is not None)
        assert of_all.lower_bounds[v] == of_all.upper_bounds[v] == float(far)
    near: Any = emdiam.approximate(graph, weighted=True)
    assert fraction(near.lower) <= longest <= fraction(near.upper)
    pairs = emdiam.all_pairs(graph, weighted=True)
    assert pairs.distances is not None and fraction(pairs.largest_distance) == longest
    paths = emdiam.shortest_paths(graph, 0, weighted=True, target=1)
    assert paths.distances is not None and fraction(paths.distance) == want[0][1]
    for u in range(n):
        one = want[0][u]
        if one is not None:
            assert pairs.distances[0, u] == paths.distances[u] == float(one)
        elif any(fraction(weight).denominator > 1 for (v, w), weight in edges.items() if v != w):
            assert pairs.distances[0, u] == paths.distances[u] == np.inf


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 1 << 30))
def test_narrow_floats_count_by_their_own_decimals(seed: int) -> None:
    generator = random.Random(seed)
    n = generator.randint(2, 10)
    edges: Edges = {(v, v + 1): generator.randrange(1, 1000) / 10 ** generator.randint(0, 3) for v in range(n - 1)}
    found = emdiam.exact(arrays(n, edges, np.float32), weighted=True)
    assert fraction(found.diameter) == sum(map(fraction, edges.values())) and found.exact


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 1 << 30), spread=st.sampled_from([1.0, 1e9, 1e-300, 1e300]))
@example(seed=1, spread=5e-324)
def test_floats_with_random_bits_give_an_interval_that_is_proved(seed: int, spread: float) -> None:
    """The diameter of the floats themselves is in it; it is narrow, and its certificate says the unit."""
    generator = random.Random(seed)
    n = generator.randint(3, 12)
    edges = {pair: generator.choice([generator.random(), spread, generator.random() * spread])
             for pair in random_edges(generator, n, "uint8")}
    edges |= {(0, 1): 0.1234567890123456, (1, 2): generator.random() / 3, (0, 2): 5e-324}
    if max(edges.values()) > 1e299:
        edges = {pair: weight / 1e3 for pair, weight in edges.items()}
    longest = max(one for row in by_fractions(n, edges, binary=True) for one in row if one is not None)
    found: Any = emdiam.exact(arrays(n, edges), weighted=True)
    assert Fraction(found.lower) <= longest <= Fraction(found.upper)
    assert found.exact == (found.lower == found.upper)
    assert Fraction(found.upper) - Fraction(found.lower) <= longest * n / 2**49
    for method in ("sweep", "clusters"):
        near: Any = emdiam.approximate(arrays(n, edges), weighted=True, method=method)
        assert Fraction(near.lower) <= longest <= Fraction(near.upper)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Fraction]:
    """A store of two components with weights whose sums are not exact, of several blocks, and its largest distance."""
    generator = random.Random(5)
    edges: Edges = {(v, v + 1): generator.random() for v in range(60) if v != 40}
    edges |= {(v, v + 7): 3 * generator.random() for v in range(30)} | {(3, 20): 1e-290}
    place = tmp_path_factory.mktemp("uneven") / "g.zarr"
    emdiam.convert(arrays(61, edges), place, weights=True, chunk=64)
    return place, max(one for row in by_fractions(61, edges, binary=True) for one in row if one is not None)


@pytest.mark.parametrize("arena", [None, 3 * 64 * 12])
@pytest.mark.parametrize("method", ["pivots", "bounding"])
def test_an_interval_and_its_certificate(uneven: tuple[Path, Fraction], tmp_path: Path, method: str,
                                         arena: int | None) -> None:
    place, longest = uneven
    file = tmp_path / "c.json"
    found: Any = emdiam.exact(place, weighted=True, method=method, certificate=file, arena=arena)
    assert Fraction(found.lower) <= longest <= Fraction(found.upper) and not found.exact
    assert found.details["rounded_to"] > 0 and found.diameter_max_component is None
    report = verify(file, place)
    assert report.verified and (report.lower, report.upper) == (found.lower, found.upper) and report.diameter is None
    said = json.loads(file.read_text())
    assert said["unit"][0] == 2 and said["claims"]["length"] == found.lower / found.details["rounded_to"]
    for change in ({"claims": {**said["claims"], "length": said["claims"]["length"] - 1}},
                   {"unit": [2, said["unit"][1] - 1]}, {"unit": [2, -1074]}, {"unit": [10, -1]}, {"unit": [2, 500]}):
        forged = {name: part for name, part in {**said, **change}.items() if name != "digest"}
        file.write_bytes(sealed(forged))
        assert not verify(file, place).verified
    for unit in ([3, 1], [10, 0], [2, 1.5], [2], "2^-3"):
        forged = {name: part for name, part in {**said, "unit": unit}.items() if name != "digest"}
        file.write_bytes(sealed(forged))
        with pytest.raises(InputError, match="does not say what one says"):
            verify(file, place)


def test_the_certificate_of_decimals_says_their_unit(tmp_path: Path) -> None:
    place, file = tmp_path / "g.zarr", tmp_path / "c.json"
    emdiam.convert(arrays(4, {(0, 1): 0.1, (1, 2): 0.2, (2, 3): 0.3}), place, weights=True)
    with open_store(place) as store:
        record = store.record.weights
        assert record is not None and (record.dtype, record.decimals, record.ends) == ("uint8", 1, (0.1, 0.3))
        assert store.record.format_version == FORMAT_VERSION
    for run, claims in ((emdiam.exact, {"length": 6, "diameter_largest_component": 6}),
                        (emdiam.eccentricities, {"radius": 3, "diameter_max_component": 6})):
        run(place, weighted=True, certificate=file)
        said = json.loads(file.read_text())
        assert said["unit"] == [10, -1] and claims.items() <= said["claims"].items()
        report = verify(file, place)
        assert report.verified and report.diameter == 0.6
        forged = {name: part for name, part in {**said, "unit": [10, -2]}.items() if name != "digest"}
        file.write_bytes(sealed(forged))
        reason = verify(file, place).reason
        assert reason == "its lengths are whole numbers of 10^-2, and the weights of the store are not"


def test_sums_beyond_the_largest_float_are_refused(tmp_path: Path) -> None:
    """Not infinite, and no vertex is lost."""
    graph = [(0, 1, 1e308), (1, 2, 1e308)]
    for run in (emdiam.exact, emdiam.eccentricities, emdiam.approximate, emdiam.all_pairs,
                lambda edges, **asked: emdiam.shortest_paths(edges, 0, **asked)):
        with pytest.raises(InputError, match="largest float|may not fit 64 bits"):
            run(graph, weighted=True)
    assert emdiam.exact([(0, 1, 1e308)], weighted=True).diameter == 1e308
    place = tmp_path / "g.zarr"
    emdiam.convert([(v, v + 1, 1e308) for v in range(200)], place, weights=True, chunk=64)
    for run in (emdiam.exact, lambda store, **asked: emdiam.shortest_paths(store, 0, **asked)):
        with pytest.raises(InputError, match="largest float.* divide all weights"):
            run(place, weighted=True, arena=2 * 64 * 12)


def test_denormal_weights() -> None:
    found = emdiam.exact([(0, 1, 5e-324), (1, 2, 1.0)], weighted=True)
    assert found.lower == 1.0 < found.upper < 1 + 1e-14 and found.connected
    assert emdiam.exact([(0, 1, 5e-324), (1, 2, 1.5e-323)], weighted=True).diameter == 2e-323
    bounds = emdiam.eccentricities([(0, 1, 5e-324), (1, 2, 1.0)], weighted=True, keep=True)
    assert not bounds.exact and bounds.lower_bounds is not None and bounds.upper_bounds is not None
    assert (bounds.lower_bounds <= [1, 1, 1]).all() and (bounds.upper_bounds < 1 + 1e-14).all()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1 << 30), scale=st.sampled_from([1.0, 1e-300, 1 / 32]))
def test_eccentricities_of_random_floats_are_intervals(seed: int, scale: float) -> None:
    generator = random.Random(seed)
    n = generator.randint(2, 14)
    pairs = {(generator.randrange(n), generator.randrange(n)) for _ in range(generator.randint(1, 3 * n))}
    edges = {(a, b): generator.random() * scale for a, b in sorted(pairs) if a < b}
    rows = by_fractions(n, edges, binary=True)
    want = [max(one for one in row if one is not None) for row in rows]
    parts = [[u for u in range(n) if row[u] is not None] for row in rows]
    largest = max(parts, key=lambda part: (len(part), -part[0]))
    for what in ("all", "radius", "center"):
        found = emdiam.eccentricities(arrays(n, edges), weighted=True, keep=True, what=what)
        assert found.lower_bounds is not None and found.upper_bounds is not None
        bounds = zip(found.lower_bounds.tolist(), want, found.upper_bounds.tolist(), strict=True)
        assert all(Fraction(lower) <= middle <= Fraction(upper) for lower, middle, upper in bounds)
        radius = min(want[v] for v in largest)
        lower, upper = found.details["interval_radius"]
        assert Fraction(lower) <= radius <= Fraction(upper) and upper <= lower * (1 + 1e-12)
        rounded = "rounded_to" in found.details
        assert found.exact is not rounded and (found.radius is None or found.radius == lower == upper)
        if what == "all":
            assert Fraction(found.lower) <= max(want) <= Fraction(found.upper) <= Fraction(found.lower) * (1 + Fraction(
                1, 10**12))
            assert found.unresolved == sum(len(part) > 1 for part in parts) * rounded


def test_intervals_of_eccentricities_are_shown(tmp_path: Path) -> None:
    place = tmp_path / "g.zarr"
    emdiam.convert([(0, 1, 231.3612345678901), (1, 2, 0.123456789012345678), (2, 3, 17.77777777777777)], place,
                   weights=True)
    done = CliRunner().invoke(group, ["ecc", str(place), "--weighted", "--quiet", "--out", str(tmp_path / "e.csv")])
    lines = done.stdout.splitlines()
    assert done.exit_code == 0 and "(proved bounds; sums of these weights" in lines[0]
    assert lines[0].startswith("radius: 231.361234567890..., 231.3612345678901 to 231.36")
    assert lines[1].startswith("diameter: 249.262469134680...") and "more digits than 64 bits" in lines[1]
    assert "4 vertices the bounds differ" in done.stdout
    assert (tmp_path / "e.csv").read_text().startswith('"id","lower","upper","component"\n0,249.26246913468')
    done = CliRunner().invoke(group, ["ecc", str(place), "--weighted", "--quiet", "--certificate",
                                      str(tmp_path / "c.json"), "--out", str(tmp_path / "f.csv")])
    assert isinstance(done.exception, InputError) and "a certificate has no intervals" in str(done.exception)
    assert not (tmp_path / "f.csv").exists()  # it is refused before the work
    assert not (tmp_path / "c.json").exists()


def test_more_digits_than_floats_have_are_told_in_full(tmp_path: Path) -> None:
    place = tmp_path / "g.zarr"
    emdiam.convert([(0, 1, 1e15 + 0.1), (1, 2, 9e15), (2, 3, 0.7)], place, weights=True)
    want = Decimal("10000000000000000.8")
    found = emdiam.exact(place, weighted=True)
    assert found.diameter == want and found.witness is not None and found.witness.length == want
    done = CliRunner().invoke(group, ["exact", str(place), "--weighted", "--json", "--quiet"])
    assert json.loads(done.stdout)["diameter"] == str(want)
    done = CliRunner().invoke(group, ["exact", str(place), "--weighted", "--quiet"])
    assert done.stdout.startswith("diameter: 10,000,000,000,000,000.8 (proved)")


@pytest.mark.parametrize("few", [[0.1, 2.35], pytest.param([1e7 + 0.1, 1e-8], marks=pytest.mark.slow), [1e15 + 0.1]])
def test_decimals_in_blocks_that_are_read_as_they_are_needed(tmp_path: Path, few: list[float]) -> None:
    """Of 8 to 64 bits, with buckets of a width in lengths and without."""
    generator, place = random.Random(7), tmp_path / "g.zarr"
    edges: Edges = {(v, v + 1): generator.choice(few) for v in range(90)}
    edges |= {(v, v + 9): generator.choice(few) for v in range(0, 80, 2)}
    want = by_fractions(91, edges)
    longest = max(one for row in want for one in row if one is not None)
    emdiam.convert(arrays(91, edges), place, weights=True, chunk=64)
    with open_store(place) as store:
        assert store.record.weights is not None and store.record.weights.decimals > 0 and store.weights is not None
        arena = 3 * 64 * (4 + store.weights.dtype.itemsize)
        found: Any = emdiam.exact(store, weighted=True, arena=arena, certificate=tmp_path / "c.json")
        assert fraction(found.diameter) == longest and verify(tmp_path / "c.json", store).verified
        for asked in ({}, {"arena": arena}, {"delta": 0.5, "method": "delta-stepping"}, {"delta": 3.0, "arena": arena}):
            paths: Any = emdiam.shortest_paths(store, 0, **asked)
            assert paths.distances.tolist() == [float(one) for one in want[0] if one is not None]
            assert fraction(paths.largest_distance) == max(one for one in want[0] if one is not None)
    near: Any = emdiam.approximate(place, weighted=True, known_diameter=float(longest))
    assert near.ratio >= 1 and fraction(near.upper) >= longest


def test_the_command_shows_the_digits_on_which_both_ends_agree(uneven: tuple[Path, Fraction]) -> None:
    done = CliRunner().invoke(group, ["exact", str(uneven[0]), "--weighted", "--quiet"])
    line = next(line for line in done.stdout.splitlines() if line.startswith("largest diameter"))
    digits = line.split(": ")[1].split("...")[0]
    assert line.endswith("(proved bounds; sums of these weights have more digits than 64 bits)")
    assert len(digits) > 12 and str(float(uneven[1])).startswith(digits[:12])
    assert "are at least" in done.stdout
