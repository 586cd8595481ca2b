"""HyperBall along arcs: counters against their definition in both directions, and centralities beside exact ones."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.errors import InputError, StoppedEarly
from emdiam.progress import TimeOver
from emdiam.traverse.hyperball import BallSums, HyperBallRun, relative_error
from tests.distribution.test_hyperball import growth
from tests.helpers.directed_twins import odd_digraphs, random_arcs, write_arcs
from tests.methods.directed.test_methods import opened

Arcs = list[tuple[int, int]]


def check(folder: Path, n: int, arcs: Arcs, bits: int, arena: int | None = None) -> None:
    """Balls of what is reached by the rows out, of what reaches by those of the reverse."""
    with opened(folder, n, arcs, arena) as engine:
        for back in (False, True):
            rows: list[list[int]] = [[] for _ in range(n)]
            for a, b in {(b, a) if back else (a, b) for a, b in arcs if a != b}:
                rows[a].append(b)
            want, sums = growth(rows, bits, 7)
            given = BallSums(n)
            found = engine.grow_balls(bits, 7, given, back=back).counts
            assert len(found) <= len(want) and not want[len(found) :].any()
            assert found == pytest.approx(want[: len(found)], abs=1e-3, rel=1e-9)
            assert given.values == pytest.approx(sums, abs=1e-6) and given.runs == 1


def test_balls_of_odd_digraphs(tmp_path: Path) -> None:
    for _, n, arcs in odd_digraphs():
        if n <= 10:
            check(tmp_path, n, list(arcs), 4)


@pytest.mark.parametrize("arena", [None, 4 * 64 * 4])
def test_balls_of_random_digraphs(tmp_path: Path, arena: int | None) -> None:
    for seed in range(3):
        n, arcs = random_arcs(random.Random(seed), 24)
        check(tmp_path, n, list(arcs), 4 + seed % 2, arena)


def a_web(folder: Path) -> tuple[Path, int]:
    """250 pages, of which some reach no other and some are reached from none."""
    draws = np.random.default_rng(3)
    arcs = [(a, b) for a, b in (draws.random((900, 2)) ** 2 * [250, 220]).astype(int).tolist() if a != b]
    write_arcs(arcs, folder / "web.zarr", 250)
    return folder / "web.zarr", 250


def test_centralities_beside_exact_ones(tmp_path: Path) -> None:
    """Within four times the error that is told, and a run with fewer registers again and again the same."""
    store, n = a_web(tmp_path)
    out = {way: tmp_path / f"{way}.parquet" for way in ("exact", "balls")}
    exact = emdiam.distances(store, directed=True, exact=True, out=out["exact"], keep=True)
    found = emdiam.distances(store, directed=True, hyperball=10, seed=4, out=out["balls"], keep=True)
    assert (found.method, found.registers, found.runs, found.samples) == ("hyperball", 1024, 1, 0)
    error = found.details["relative_error"]
    assert error == relative_error(10) == 1.04 / 32 and found.confidence is None and found.complete
    assert found.standard_error is not None
    assert abs(found.mean - exact.mean) < 4 * found.standard_error.mean
    assert sum(found.pairs.values()) == pytest.approx(sum(exact.pairs.values()), rel=4 * error)
    assert found.unreachable_pairs == pytest.approx(n * (n - 1) - sum(found.pairs.values()), abs=len(found.pairs))
    assert found.n_strong_components == exact.n_strong_components and found.directed
    tables = {way: pq.read_table(file) for way, file in out.items()}
    for name in ("harmonic_in", "harmonic_out", "closeness_in", "closeness_out"):
        one, other = (tables[way][name].to_numpy() for way in ("exact", "balls"))
        assert np.abs(other - one).max() <= 8 * error * one.max()
        assert np.sqrt(np.square(other - one).mean()) <= 2 * error * np.sqrt(np.square(one).mean())
    assert found.harmonic == pytest.approx(tables["balls"]["harmonic_in"].to_numpy())
    assert found.closeness == pytest.approx(tables["balls"]["closeness_in"].to_numpy())


def test_runs_with_less_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several runs with fewer registers in place of one, by hashes of their own."""
    from emdiam.distribution import directed

    store, _ = a_web(tmp_path)
    monkeypatch.setattr(directed, "_registers", lambda session: 6)
    several = emdiam.distances(store, directed=True, hyperball=8, keep=True)
    assert (several.registers, several.runs) == (64, 4)
    assert several.details["relative_error"] == relative_error(6) / 2
    one = emdiam.distances(store, directed=True, hyperball=6, keep=True)
    assert one.runs == 1 and sum(several.pairs.values()) == pytest.approx(sum(one.pairs.values()), rel=0.3)
    assert np.abs(several.harmonic - one.harmonic).max() <= 8 * relative_error(6) * one.harmonic.max()
    assert not np.array_equal(several.harmonic, one.harmonic)


def test_refusals_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = a_web(tmp_path)
    with pytest.raises(InputError, match="HyperBall counts edges, not weights"):
        emdiam.distances([(0, 1, 2.5)], directed=True, weighted=True, hyperball=6)
    step, done = HyperBallRun.step, [0]

    def stopped(self, *arguments):  # type: ignore[no-untyped-def]
        done[0] += 1
        if done[0] > 40:
            raise TimeOver
        return step(self, *arguments)

    monkeypatch.setattr(HyperBallRun, "step", stopped)
    monkeypatch.setattr("emdiam.distribution.directed._registers", lambda session: 4)
    with pytest.raises(StoppedEarly, match="the answer is that of [0-9] run") as early:
        emdiam.distances(store, directed=True, hyperball=8, out=tmp_path / "none.csv")
    assert not early.value.result.complete and not (tmp_path / "none.csv").exists()
    done[0] = 40
    with pytest.raises(StoppedEarly, match="before anything was counted"):
        emdiam.distances(store, directed=True, hyperball=8)


def test_exact_centralities_are_those_of_a_search_from_each(tmp_path: Path) -> None:
    """Batches of sources in both directions, more than one, beside single searches."""
    for seed in range(3):
        n, arcs = random_arcs(random.Random(100 + seed), 700)
        write_arcs(list(arcs), tmp_path / "g.zarr", n)
        how = {"directed": True, "keep": True}
        exact = emdiam.distances(tmp_path / "g.zarr", exact=True, out=tmp_path / "a.parquet", **how)
        single = emdiam.distances(tmp_path / "g.zarr", sample=n, out=tmp_path / "b.parquet", **how)
        assert exact.pairs == single.pairs and exact.mean == pytest.approx(single.mean)
        assert exact.unreachable_pairs == single.unreachable_pairs and single.method == exact.method == "exact"
        one, other = (pq.read_table(tmp_path / name) for name in ("a.parquet", "b.parquet"))
        assert one.column_names == other.column_names and one["id"].equals(other["id"])
        for name in one.column_names[1:]:
            assert one[name].to_numpy() == pytest.approx(other[name].to_numpy(), rel=1e-9)
        assert exact.closeness == pytest.approx(single.closeness) and exact.harmonic == pytest.approx(single.harmonic)
