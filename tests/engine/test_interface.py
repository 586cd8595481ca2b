"""The engine's interface is small, and every engine has all of it."""

from __future__ import annotations

import inspect
from typing import Any, get_args, get_type_hints

import pytest

from emdiam.engine import interface
from emdiam.engine.cpu import CpuEngine, LocalEngine
from emdiam.gpu.engine import GpuEngine
from emdiam.journal.engine import JournalEngine
from emdiam.traverse.columns import Column
from emdiam.traverse.components import Components
from emdiam.traverse.distance_table import DistanceTable
from emdiam.traverse.pivot_bounds import PivotBounds
from emdiam.traverse.tally import DistanceSums
from emdiam.trees.refinement import TreeBounds

CAPABILITIES = [one for one in interface.Engine.__mro__ if one.__module__ == interface.__name__]
# Types that are imported for type checkers alone.
TYPES = {one.__name__: one for one in (Components, DistanceTable, PivotBounds, DistanceSums, TreeBounds)}
VERBS = {name for one in CAPABILITIES for name, member in vars(one).items()
         if inspect.isfunction(member) and not name.startswith("_")}


def test_the_interface_has_at_most_20_verbs_in_small_capabilities() -> None:
    assert len(VERBS) <= 20
    assert all(sum(name in VERBS for name in vars(one)) <= 8 for one in CAPABILITIES)


def named(hint: Any) -> set[type]:
    """The classes that a type names, those of its parts too."""
    parts = [part for one in get_args(hint) for part in (one if isinstance(one, list) else [one])]
    return set().union(*map(named, parts)) if parts else {hint} if isinstance(hint, type) else set()


def test_verbs_name_no_class_of_the_kernels_but_abstract_ones() -> None:
    hints = [hint for verb in VERBS for hint in get_type_hints(getattr(interface.Engine, verb), None, TYPES).values()]
    names = set().union(*map(named, hints))
    assert {Column, PivotBounds} <= names
    assert [one for one in names if one.__module__.startswith("emdiam.traverse") and not inspect.isabstract(one)] == []


def test_an_engine_on_a_device_is_no_engine_of_the_cpu() -> None:
    assert not issubclass(GpuEngine, CpuEngine) and issubclass(GpuEngine, LocalEngine)


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
