"""Conversion against a naive twin: every numbering and every kind of input, with buffers so small
that every stage of the external sort has work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.errors import InputError
from emdiam.formats.source import SourceInfo
from emdiam.sorting.plan import SortPlan
from tests.helpers.convert_twin import ROOMY, TINY, ListSource, Pairs, convert_pairs

pytestmark = pytest.mark.thin(4)


def pairs_of(ids: st.SearchStrategy[Any], most: int = 60) -> st.SearchStrategy[list[tuple[Any, Any]]]:
    return st.lists(st.tuples(ids, ids), min_size=1, max_size=most)


many = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(pairs=pairs_of(st.integers(0, 12)), plan=st.sampled_from([TINY, ROOMY]))
def test_small_ids(tmp_path: Path, pairs: Pairs, plan: SortPlan) -> None:
    convert_pairs(pairs, tmp_path, plan)


@many
@given(pairs=pairs_of(st.integers(0, (1 << 12) - 1)), plan=st.sampled_from([TINY, ROOMY]))
def test_ids_with_gaps(tmp_path: Path, pairs: Pairs, plan: SortPlan) -> None:
    report = convert_pairs(pairs, tmp_path, plan)
    ids = {v for pair in pairs for v in pair}
    assert report.gaps == max(ids) - min(ids) + 1 - len(ids)
    assert (report.record.id_kind == "int") == (report.gaps > 0)


@many
@given(
    pairs=pairs_of(
        st.integers(0, 40) | st.integers(1 << 62, (1 << 62) + 40) | st.integers(0, (1 << 64) - 1)
    ),
    plan=st.sampled_from([TINY, ROOMY]),
)
def test_huge_ids_after_small_ones(tmp_path: Path, pairs: Pairs, plan: SortPlan) -> None:
    convert_pairs(pairs, tmp_path, plan)


@many
@given(
    pairs=pairs_of(st.text(st.characters(codec="utf-8"), max_size=12)), plan=st.sampled_from([TINY, ROOMY])
)
def test_strings(tmp_path: Path, pairs: Pairs, plan: SortPlan) -> None:
    assert convert_pairs(pairs, tmp_path, plan, id_kind="string").record.id_kind == "string"


@many
@given(data=st.data(), n=st.integers(1, 40), first=st.sampled_from([0, 1]))
def test_declared_vertices(tmp_path: Path, data: st.DataObject, n: int, first: int) -> None:
    pairs = data.draw(st.lists(st.tuples(*[st.integers(first, first + n - 1)] * 2), max_size=60))
    report = convert_pairs(pairs, tmp_path, n_vertices=n, first_id=first)
    assert (report.record.id_kind, report.record.first_id) == (("identity", "offset")[first], first)


def test_one_vertex_with_a_loop(tmp_path: Path) -> None:
    report = convert_pairs([(7, 7), (7, 7)], tmp_path)
    assert (report.record.n_vertices, report.record.id_kind, report.record.first_id) == (1, "offset", 7)


def test_one_huge_vertex_with_a_loop(tmp_path: Path) -> None:
    assert convert_pairs([(1 << 62, 1 << 62)], tmp_path).record.n_vertices == 1


def test_huge_ids_without_gaps_need_no_map(tmp_path: Path) -> None:
    first = 1 << 40
    report = convert_pairs([(first + i, first + i + 1) for i in range(50)], tmp_path)
    assert (report.record.id_kind, report.record.first_id, report.gaps) == ("offset", first, 0)
    assert not (tmp_path / "g.zarr" / "vertex_id").exists()


@pytest.mark.parametrize("id_kind", ["int", "string"])
def test_no_edges_and_nothing_declared(tmp_path: Path, id_kind: str) -> None:
    with pytest.raises(InputError, match="no vertices"):
        write_graph(ListSource([], SourceInfo(id_kind=id_kind)), tmp_path / "g.zarr",
                    options=ConvertOptions(plan=TINY, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_declared_vertices_without_edges(tmp_path: Path) -> None:
    report = convert_pairs([], tmp_path, n_vertices=1000)
    assert (report.record.n_isolated, report.record.n_arcs) == (1000, 0)


@pytest.mark.parametrize(
    ("pairs", "text"), [([(1, 2), (3, -4)], "-4"), ([(1 << 63, 5), (6, -1 << 63)], "-92")]
)
def test_negative_ids_are_refused(tmp_path: Path, pairs: Pairs, text: str) -> None:
    with pytest.raises(InputError, match=f"negative vertex id.*{text}"):
        write_graph(ListSource(pairs, SourceInfo(), per_batch=1), tmp_path / "g.zarr",
                    options=ConvertOptions(plan=TINY, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("first", "wrong"), [(0, 10), (0, -1), (1, 0), (1, 11)])
def test_ids_outside_the_declared_range_are_refused(tmp_path: Path, first: int, wrong: int) -> None:
    source = ListSource([(1, 2), (3, wrong)], SourceInfo(n_vertices=10, first_id=first))
    with pytest.raises(InputError, match=f"outside the declared {first}..{first + 9}: '{wrong}'"):
        write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=TINY, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_string_is_refused(tmp_path: Path) -> None:
    source = ListSource([("a", "b"), ("c", None)], SourceInfo(id_kind="string"))
    with pytest.raises(InputError, match="id is missing"):
        write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=TINY, scratch=tmp_path))


def test_the_report_says_what_was_done(tmp_path: Path) -> None:
    report = convert_pairs([(3, 4), (4, 3), (9, 9)], tmp_path)
    assert not report.record.directed_input and report.to_dict()["directions"] == "both"
    assert report.notes[0] == "ids from 3 to 9 that do not occur, and are no vertices: 4" and report.gaps == 4
    assert set(report.seconds) == {"read", "sort", "merge", "write"}
    assert report.to_dict()["record"]["source"] == ["list"]
