"""The quick tests meet every kind of engine, device and method, in every file that has them as a parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from emdiam.gpu import direction_table
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.paging_model import WAYS
from emdiam.gpu.variants.registry import VARIANTS
from emdiam.runs import registry
from tests.conftest import COLLECTED, ROOT
from tests.engine import test_methods as test_engine_methods
from tests.helpers.selection import Function, parameters, select
from tests.helpers.stores import ENGINES, EXTERNAL
from tests.simt.devices import DEVICES

EXACT, APPROXIMATE = set(registry.EXACT), set(registry.APPROXIMATIONS)
KINDS = {"engines": {*ENGINES, *EXTERNAL},
         "devices": set(DEVICES), "variants of BFS": set(VARIANTS), "mappings": set(MAPPINGS),
         "ways of a level": set(direction_table.WAYS),
         "ways to page": {repr((way,)) for way in WAYS}, "exact methods": EXACT, "approximations": APPROXIMATE}
NAMES = set().union(*KINDS.values())
# Parameters of which the quick tests have a sample or none, since each value takes seconds and processes of its own, or
# a build of kernels; engine/test_methods.py has all of them on small graphs, gpu/test_mapping.py all mappings.
SLOW = {("dask/test_checkpoint.py", "run"), ("dask/test_command.py", "method"), ("dask/test_values.py", "method"),
        ("runs/test_forecast.py", "method"), ("runs/test_cold.py", "method"), ("runs/test_least.py", "name"),
        ("external/test_allocations.py", "method"), ("journal/test_device.py", "run"),
        ("gpu/test_engine.py", "kind"), ("gpu/test_mapping.py", "entry"), ("gpu/test_offsets.py", "search"),
        *((f"gpu/{file}", "mapping") for file in ("test_multi.py", "test_spread.py", "test_busato.py", "test_paged.py",
                                                 "test_offsets.py", "paths/test_searches.py"))}

# A file and the parameters of one of its tests; a file, a parameter, and one of its values as text.
Test = tuple[str, dict[str, Any]]
Value = tuple[str, str, str]


@dataclass
class Collected:
    """What pytest collects: a plugin for it. quick, slow : the parameters of all tests, with their files."""

    quick: list[Test] = field(default_factory=list)
    slow: list[Test] = field(default_factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            tests = self.quick if item.get_closest_marker("slow") is None else self.slow
            tests.append((str(item.path.relative_to(ROOT / "tests")), dict(parameters(item))))


@pytest.fixture(scope="module")
def collected(pytestconfig: pytest.Config) -> Collected:
    """All tests of the repository, as pytest itself selects them: in this session, or for this if it has not all."""
    found = Collected()
    items = pytestconfig.stash[COLLECTED]
    if {item.path for item in items} >= {*(ROOT / "tests").rglob("test_*.py")}:
        found.pytest_collection_modifyitems(items)
        return found
    without = [f"-pno:{plugin}" for plugin in ("terminal", "faulthandler", "xdist", "cacheprovider")]
    code = pytest.main(["--collect-only", "--override-ini=addopts=", *without, f"--rootdir={ROOT}",
                        str(ROOT / "tests")], plugins=[found])
    assert code == pytest.ExitCode.OK
    return found


def values(tests: Iterable[Test]) -> set[Value]:
    """All values of parameters."""
    return {(file, name, value) for file, case in tests for name, value in case.items()}


def unmet(quick: Iterable[Test], everything: Iterable[Test]) -> list[Value]:
    """Of all values that are one of NAMES, those that no quick test of their file has."""
    return sorted(one for one in values(everything) - values(quick) if plain(one[2]) in NAMES)


def plain(value: str) -> str:
    """A string's text; a function's name."""
    return value.removeprefix("<function ").partition(" at 0x")[0].strip("'").replace("_", "-")


def test_every_file_meets_all_values_of_what_matters(collected: Collected) -> None:
    left_out = unmet(collected.quick, collected.quick + collected.slow)
    assert [one for one in left_out if one[:2] not in SLOW] == []
    assert {one[:2] for one in left_out} == SLOW


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_a_kind_are_met(collected: Collected, kind: str) -> None:
    assert KINDS[kind] - {plain(value) for _, _, value in values(collected.quick)} == set()


def test_every_engine_solves_with_every_method(collected: Collected) -> None:
    file_name = str(Path(test_engine_methods.__file__).relative_to(ROOT / "tests"))
    pairs = {(plain(case["kind"]), plain(case["method"])) for file, case in collected.quick if file == file_name}
    assert pairs == set(product([*ENGINES, *EXTERNAL, "shim", "shim-paged", "workers"], set(registry.METHODS)))


# A made-up file: the engine varies fastest, and there are as many engines as one case in so many is taken.
SHAPES, MADE_UP = [f"shape-{i}" for i in range(19)], [f"engine-{i}" for i in range(8)]
ODD = [{"name": name, "kind": kind} for name, kind in product(SHAPES, MADE_UP)]


def taken(cases: Sequence[dict[str, str]], indices: Iterable[int]) -> list[Test]:
    return [("test_made_up.py", cases[i]) for i in indices]


def test_every_kth_case_meets_one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells that values are left out sees what the rule before this one left out."""
    monkeypatch.setattr("tests.test_quick_selection.NAMES", set(MADE_UP))
    everything = taken(ODD, range(len(ODD)))
    assert len(unmet(taken(ODD, range(0, len(ODD), 8)), everything)) == 7
    assert unmet(taken(ODD, *select([Function(ODD, 8)])), everything) == []


def test_a_selection_is_a_latin_square() -> None:
    chosen = [ODD[i] for i in select([Function(ODD, 8)])[0]]
    assert len(chosen) == 19 and {case["name"] for case in chosen} == set(SHAPES)
    assert sorted(Counter(case["kind"] for case in chosen).values()) == [2] * 5 + [3] * 3


def test_functions_with_the_same_parameters_take_other_pairs() -> None:
    first, second = ({(ODD[i]["name"], ODD[i]["kind"]) for i in one}
                     for one in select([Function(ODD, 8), Function(ODD, 8)]))
    assert len(first) == len(second) == 19 and not first & second


def test_files_with_the_same_parameters_take_other_pairs() -> None:
    """As far as the checksums of their names have it, which are all that decides among equals."""
    first, second, third = ({(ODD[i]["name"], ODD[i]["kind"]) for i in select([Function(
        [{name: f"{value} at {address}" for name, value in case.items()} for case in ODD], 8,
        names=[f"{file}::test[{i}]" for i in range(len(ODD))])])[0]}
        for file, address in (("test_a.py", "0x1"), ("test_b.py", "0x1"), ("test_a.py", "0x2")))
    assert len(first & second) < 10 and first == third


def test_every_value_is_met_however_few_cases_are_wanted() -> None:
    assert {ODD[i]["name"] for i in select([Function(ODD, 1000)])[0]} == set(SHAPES)
    sampled = select([Function(ODD, 1000, ("name",))])[0]
    assert len(sampled) == 8 and {ODD[i]["kind"] for i in sampled} == set(MADE_UP)
    assert len(select([Function(ODD, 1000, ("name", "kind"))])[0]) == 1


def test_values_that_other_tests_meet_need_no_case() -> None:
    ones = [{"kind": kind} for kind in MADE_UP]
    assert [len(one) for one in select([Function(ODD, 8), Function(ones, 8)])] == [19, 1]
    assert [len(one) for one in select([Function(ones, 8)], ones[2:])] == [2]
    assert select([Function(ones, 8)], ones[:3] + ones[4:]) == [[3]]
    assert select([]) == [] and select([Function(ones, 1)]) == [list(range(8))]
