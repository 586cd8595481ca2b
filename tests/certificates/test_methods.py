"""What a method hands over is verified: prover and verifier share no code and must agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from emdiam.certificates.documents import VerifyReport
from emdiam.certificates.run import verify
from emdiam.certificates.writing import claims_of, write_certificate
from emdiam.methods.exact.pivots import pivots
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()
SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def proved_again(folder: Path, graph: naive.Graph) -> VerifyReport:
    """The report on a certificate of the pivots method."""
    store = write_store(folder / "g.zarr", graph)
    with engine_on(store) as engine:
        result = pivots(engine)
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


@SETTINGS
@given(graph=graphs())
def test_pivots_on_random_graphs(tmp_path: Path, graph: naive.Graph) -> None:
    check(proved_again(tmp_path, graph), graph)


@pytest.mark.slow
@settings(SETTINGS, max_examples=300)
@given(graph=graphs(most=60))
def test_pivots_on_many_random_graphs(tmp_path: Path, graph: naive.Graph) -> None:
    check(proved_again(tmp_path, graph), graph)
