"""The engine's interface is small, and every engine has all of it."""

from __future__ import annotations

import inspect

import pytest

from emdiam.engine import interface
from emdiam.engine.cpu import CpuEngine
from emdiam.gpu.engine import GpuEngine
from emdiam.journal.engine import JournalEngine

CAPABILITIES = [one for one in interface.Engine.__mro__ if one.__module__ == interface.__name__]
VERBS = {name for one in CAPABILITIES for name, member in vars(one).items()
         if inspect.isfunction(member) and not name.startswith("_")}


def test_the_interface_has_at_most_20_verbs_in_small_capabilities() -> None:
    assert len(VERBS) <= 20
    assert all(sum(name in VERBS for name in vars(one)) <= 8 for one in CAPABILITIES)


@pytest.mark.parametrize("kind", [CpuEngine, GpuEngine])
def test_an_engine_has_every_verb_with_its_arguments(kind: type) -> None:
    for name in VERBS:
        wanted = inspect.signature(getattr(interface.Engine, name)).parameters
        assert list(inspect.signature(getattr(kind, name)).parameters) == list(wanted), name


def test_an_engine_over_workers_has_them_too() -> None:
    pytest.importorskip("distributed")
    from emdiam.dask.engine import DaskEngine

    test_an_engine_has_every_verb_with_its_arguments(DaskEngine)


def test_a_checkpoint_has_those_that_pass_over_edges() -> None:
    assert {name for name in VERBS if hasattr(JournalEngine, name)} >= {
        "bfs", "eccentricities", "spread", "components", "scan", "grow_clusters", "restart", "condense",
        "spanning_forest"}
