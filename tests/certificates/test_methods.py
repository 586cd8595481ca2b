"""What a method hands over is verified: prover and verifier share no code and must agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from emdiam.certificates.documents import VerifyReport
from emdiam.certificates.run import verify
from emdiam.certificates.writing import claims_of, write_certificate
from emdiam.methods.exact.pivots import PivotOptions, pivots
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()
# Tails of 4 edges at the vertices of a clique: the tips are 9 apart, and 5 away from any other vertex of the clique.
TAILS = naive.graph_of(50, [*((v, w) for v in range(10) for w in range(v)), *((v, v + 10) for v in range(40))])
SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def proved_again(folder: Path, graph: naive.Graph) -> VerifyReport:
    """The report on a certificate of the pivots method. Walks take the place of traversals."""
    store = write_store(folder / "g.zarr", graph)
    with engine_on(store) as engine:
        result = pivots(engine, PivotOptions(certified=True))
        write_certificate(folder / "c.json", result.proof, claims_of(result), engine.store)
    return verify(folder / "c.json", store, memory_bytes=2 << 30)


def check(report: VerifyReport, graph: naive.Graph) -> None:
    largest, most, parts = naive.diameters(graph)
    assert report.verified, report.reason
    assert report.lower == report.upper == most and report.n_components == parts
    assert report.diameter_largest_component in largest


@pytest.mark.parametrize("name", ODD)
def test_pivots_on_odd_graphs(tmp_path: Path, name: str) -> None:
    check(proved_again(tmp_path, ODD[name]), ODD[name])


def test_walks_take_the_place_of_traversals(tmp_path: Path) -> None:
    check(proved_again(tmp_path, TAILS), TAILS)
    document = json.loads((tmp_path / "c.json").read_text())
    with engine_on(tmp_path / "g.zarr") as engine:
        proof = pivots(engine).proof
    assert document["format"] == "emdiam certificate with walks" and not proof.walks
    assert len(document["components"][0]["pivots"]) < len(proof.components[0].pivots)
    assert max(map(len, document["walks"])) == 10


@SETTINGS
@given(graph=graphs())
def test_pivots_on_random_graphs(tmp_path: Path, graph: naive.Graph) -> None:
    check(proved_again(tmp_path, graph), graph)


@pytest.mark.slow
@settings(SETTINGS, max_examples=300)
@given(graph=graphs(most=60))
def test_pivots_on_many_random_graphs(tmp_path: Path, graph: naive.Graph) -> None:
    check(proved_again(tmp_path, graph), graph)
