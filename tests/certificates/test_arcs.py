"""Certificates along arcs: made and proved again for random graphs; claims that do not hold are refused, whatever
sources they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.certificates.arcs import number_components, turned
from emdiam.certificates.documents import ArcCertificate, read_certificate
from emdiam.certificates.run import verify
from emdiam.errors import BudgetError, EmdiamError, InputError
from emdiam.paths.arcs import ArcsInRam
from emdiam.paths.rows import WeightedRows
from emdiam.runs.task import execute, task_of
from emdiam.store.edge_digest import edge_digest
from emdiam.store.store import Store
from tests.helpers.many_graphs import by_scipy, campaign
from tests.helpers.weighted_arcs import rows_of, stored, streets


def made(store: Store, command: str, file: Path, **options: Any) -> tuple[Any, Any]:
    """The result of a run, and its certificate."""
    result = execute(store, task_of(command, {"directed": "out", "certificate": file, **options}))
    return result, read_certificate(file)


def check(store: Store, rows: WeightedRows, number: int, file: Path) -> int:
    """Certificates of a graph, and bent ones; how many of these there were."""
    random, refused = np.random.default_rng([number, 2]), 0
    for weighted in (False, True):
        distances = by_scipy(rows if weighted else WeightedRows(rows.offsets, rows.heads))
        assert distances is not None
        result, said = made(store, "exact", file, weighted=weighted)
        report: Any = verify(file, store)
        assert report.verified and report.weighted == weighted, (number, report.reason)
        assert (report.lower, report.upper, report.diameter) == (result.lower, result.upper, result.diameter)
        assert report.n_strong_components == result.n_strong_components
        for bent in bent_claims(said, distances, random):
            assert not verify(bent, store).verified, (number, bent)
            refused += 1
        if result.details.get("rounded_to"):
            with pytest.raises(InputError, match="no intervals"):
                made(store, "ecc", file, weighted=True)
            return refused
    for direction in ("out", "in"):
        result, said = made(store, "ecc", file, weighted=True, directed=direction)
        report = verify(file, store)
        assert report.verified and (report.lower, report.radius) == (result.largest_distance, result.radius), number
        assert report.center_size == (None if result.center is None else result.center.size)
        for bent in bent_eccentricities(said, random):
            assert not verify(bent, store).verified, (number, bent)
            refused += 1
    return refused


def some(ids: list[Any], random: np.random.Generator) -> list[Any]:
    """About two thirds of them, in order."""
    return [one for one in ids if random.random() < 2 / 3]


def bent_claims(said: Any, distances: np.ndarray, random: np.random.Generator) -> Iterator[Any]:
    """Claims that do not hold, with the sources of one that does, or with some of them; among them shorter distances,
    each with a witness of its own."""
    claims = said.claims
    for name in ("n_components", "n_strong_components"):
        yield replace(said, claims=replace(claims, **{name: getattr(claims, name) + 1}))
    yield replace(said, claims=replace(claims, length=claims.length + 1))
    yield replace(said, graph=replace(said.graph, digest="0" * 32))
    shorter = np.argwhere(np.isfinite(distances) & (distances < distances[np.isfinite(distances)].max()))
    unit = getattr(said, "unit", None)
    if unit is not None or claims.witness[0] not in range(len(distances)):
        return
    for source, target in random.permutation(shorter)[:3].tolist():
        length = distances[source, target].item()
        length = int(length) if isinstance(claims.length, int) else length
        yield replace(said, claims=replace(claims, length=length, witness=(source, target)),
                      along=some(said.along, random), against=some(said.against, random),
                      pairs=some(said.pairs, random))


def bent_eccentricities(said: Any, random: np.random.Generator) -> Iterator[Any]:
    """The same of all eccentricities."""
    claims = said.claims
    for name in ("n_components", "n_strong_components", "length", "periphery_size"):
        yield replace(said, claims=replace(claims, **{name: getattr(claims, name) + 1}),
                      along=some(said.along, random))
    yield replace(said, claims=replace(claims, radius=None if claims.radius is not None else 0))
    yield replace(said, claims=replace(claims, center_size=None if claims.center_size is not None else 1))


def test_certificates_of_random_graphs(tmp_path: Path) -> None:
    counts = 0
    for number in (1_000_000, 1_000_002, 1_000_005, 1_000_006):
        with stored(tmp_path, rows_of(number)) as store:
            counts += check(store, rows_of(number), number, tmp_path / "c.json")
    assert counts >= 60


@pytest.mark.slow
@campaign(10)
def test_certificates_of_many_graphs(numbers: range, tmp_path: Path) -> None:
    for number in numbers:
        with stored(tmp_path, rows_of(number)) as store:
            check(store, rows_of(number), number, tmp_path / "c.json")


def test_paths_through_all_vertices_need_no_sources(tmp_path: Path) -> None:
    """A run ends at once where a distance has an arc for every other vertex."""
    rows = rows_of(2290)
    with stored(tmp_path, rows) as store:
        check(store, rows, 2290, tmp_path / "c.json")
        _, said = made(store, "exact", tmp_path / "c.json")
        assert said.claims.length == store.n_vertices - 1 and verify(said, store).verified
        assert not verify(replace(said, claims=replace(said.claims, length=4, witness=(0, 4))), store).verified


def test_few_sources_prove_streets(tmp_path: Path) -> None:
    """What is left out of the sources leaves something open; vertices that there are not are named."""
    with stored(tmp_path, streets(9)) as store:
        result, said = made(store, "exact", tmp_path / "c.json", weighted=True)
        assert verify(said, store).verified and len(said.along) <= result.traversals.bfs < 81
        report = verify(replace(said, along=[], against=[], pairs=said.pairs[:1]), store)
        assert not report.verified and "not proved to be within" in str(report.reason)
        assert verify(replace(said, along=[1000]), store).reason == "the graph has no vertex 1000"
        everything = verify(replace(said, along=list(range(81)), against=[], pairs=[]), store)
        assert everything.verified and everything.traversals == 82
        _, said = made(store, "ecc", tmp_path / "e.json", weighted=True)
        report = verify(replace(said, along=said.along[:-1]), store)
        assert not report.verified and "leave the eccentricity of vertex" in str(report.reason)
        turned_round = verify(replace(said, claims=replace(said.claims, direction="in")), store)
        assert not turned_round.verified


def test_other_graphs_are_refused(tmp_path: Path) -> None:
    """One with an arc turned round, of which only the digest knows, and one without directions."""
    arcs = [(0, 1, 3), (1, 2, 3), (2, 0, 3)]
    emdiam.convert([(a, b) for a, b, _ in arcs], tmp_path / "g.zarr", directed=True)
    emdiam.convert([(0, 1), (1, 2), (0, 2)], tmp_path / "h.zarr", directed=True)
    emdiam.convert([(a, b) for a, b, _ in arcs], tmp_path / "edges.zarr")
    emdiam.exact(tmp_path / "g.zarr", directed=True, certificate=tmp_path / "c.json")
    assert isinstance(read_certificate(tmp_path / "c.json"), ArcCertificate)
    assert emdiam.verify(tmp_path / "c.json", tmp_path / "g.zarr").diameter == 2
    assert "another graph" in str(emdiam.verify(tmp_path / "c.json", tmp_path / "h.zarr").reason)
    with pytest.raises(InputError, match="about arcs with directions"):
        emdiam.verify(tmp_path / "c.json", tmp_path / "edges.zarr")
    emdiam.exact(tmp_path / "edges.zarr", certificate=tmp_path / "d.json")
    with pytest.raises(InputError, match="about edges without directions"):
        emdiam.verify(tmp_path / "d.json", tmp_path / "g.zarr")
    with emdiam.open(tmp_path / "g.zarr") as store:
        assert edge_digest(store) != edge_digest(store.reverse)
    assert emdiam.verify(tmp_path / "c.json", [(a, b) for a, b, _ in arcs]).verified
    with pytest.raises(BudgetError, match="too small"):
        emdiam.verify(tmp_path / "c.json", tmp_path / "g.zarr", memory="1MiB")


def test_what_a_search_proposes_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances that are too small, or too large, or of a vertex that is not reached, are no distances."""
    with stored(tmp_path, streets(4)) as store:
        _, said = made(store, "exact", tmp_path / "c.json", weighted=True)
        nearest = ArcsInRam.nearest
        for by in (-1, 1):
            def bent(self, sources, *, by=by, narrow=False):  # type: ignore[no-untyped-def]
                found, relaxed = nearest(self, sources)
                place = (sources[0] + 7) % len(found)
                found[place] = int(found[place]) + by
                return found, relaxed

            monkeypatch.setattr(ArcsInRam, "nearest", bent)
            with pytest.raises(EmdiamError, match="proposes wrong distances"):
                verify(said, store)


@pytest.mark.parametrize(("arcs", "witness", "sources", "pairs"), [
    # Vertex 1 reaches nothing, and 0 reaches it: that is no bound on what else 0 reaches, which is vertex 4 by 3 arcs.
    ([(0, 1), (0, 2), (2, 3), (3, 4)], (2, 4), [1], []),
    # Vertex 4 does not reach vertex 3: that does not say that 0 does not reach it, which it does by 3 arcs.
    ([(0, 1), (1, 2), (2, 3), (0, 4)], (0, 2), [], [4]),
], ids=["a bound", "a pivot"])
def test_another_component_proves_nothing(
    tmp_path: Path, arcs: list[tuple[int, int]], witness: tuple[int, int], sources: list[int], pairs: list[int]
) -> None:
    """The largest distance is 3, and a certificate says 2, with a source that is in no component of others."""
    emdiam.convert(arcs, tmp_path / "g.zarr", directed=True)
    with emdiam.open(tmp_path / "g.zarr") as store:
        result, said = made(store, "exact", tmp_path / "c.json")
        assert result.upper == 3 and verify(said, store).verified
        forged = replace(said, claims=replace(said.claims, length=2, witness=witness), along=sources, against=sources,
                         pairs=pairs)
        report = verify(forged, store)
        assert not report.verified and "not proved to be within 2" in str(report.reason)


def test_components_and_turned_rows() -> None:
    for number in range(1_000_000, 1_000_008):
        rows = rows_of(number)
        n = rows.n_vertices
        numbers = np.full(n, n, np.int64)
        count = number_components(rows.offsets, rows.heads, numbers, *np.empty((4, n), np.int64))
        distances = by_scipy(rows)
        assert distances is not None
        mutual = np.isfinite(distances) & np.isfinite(distances.T)
        assert ((numbers[:, None] == numbers) == mutual).all() and count == len(np.unique(numbers))
        tails = np.repeat(np.arange(n), np.diff(rows.offsets))
        assert (numbers[rows.heads] <= numbers[tails]).all()
        back = turned(rows)
        heads = np.repeat(np.arange(n), np.diff(back.offsets))
        found = sorted(zip(back.heads.tolist(), heads.tolist(), back.costs.tolist(), strict=True))
        assert found == list(zip(tails.tolist(), rows.heads.tolist(), rows.costs.tolist(), strict=True))
