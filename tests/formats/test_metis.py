"""METIS graphs: flags, empty rows, comments, and every way to be wrong."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.formats import open_source
from tests.helpers.formats_naive import fault_of, naive_metis, read_pairs, symmetric_rows


def write(folder, text, name="g.graph"):
    file = folder / name
    file.write_bytes(text.encode())
    return file


graphs = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60)
    )
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    graph=graphs,
    flags=st.sampled_from(["", "0", "1", "10", "11", "100", "111", "010 3", "111 2"]),
    end=st.sampled_from(["\n", "\r\n", " \n"]),
    last=st.booleans(),
    comment=st.booleans(),
    batch_pairs=st.integers(1, 50),
)
def test_agrees_with_the_twin(tmp_path, graph, flags, end, last, comment, batch_pairs):
    n, edges = graph
    rows = symmetric_rows(n, edges)
    digits = (flags.split() or ["0"])[0].zfill(3)
    n_weights = int(digits[1]) * int([*flags.split(), "1", "1"][1] if " " in flags else 1)
    lead = ["9"] * (int(digits[0]) + n_weights)
    lines = ["% note"] * comment + [f"{n} {sum(map(len, rows)) // 2} {flags}"]
    for row in rows:
        lines += ["% 1 2 3"] * comment
        lines.append(" ".join(lead + [f"{v + 1} 5" if digits[2] == "1" else str(v + 1) for v in row]))
    text = end.join(lines) + (end if last else "")
    file = write(tmp_path, text)
    info = open_source([file]).info()
    expected = [(u + 1, v + 1) for u, row in enumerate(rows) for v in row]
    assert naive_metis(text.replace("\r", "")) == (n, expected)
    assert (info.n_vertices, info.first_id, info.n_entries, info.directed) == (n, 1, len(expected), False)
    assert info.both_directions
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("3 1\n2\n1\n", [(1, 2), (2, 1)]),
        ("3 1\n2\n1\n\n", [(1, 2), (2, 1)]),
        ("3 1\n2\n1\n\n\n \n%\n", [(1, 2), (2, 1)]),
        ("3 1\n\n3\n2", [(2, 3), (3, 2)]),
        ("2 0\n\n\n", []),
        ("1 0", []),
    ],
)
def test_empty_rows_are_isolated_vertices(tmp_path, text, expected):
    assert read_pairs(write(tmp_path, text)) == expected


@pytest.mark.parametrize(
    "text, what, line",
    [
        ("3\n2\n1\n\n", "no METIS header", 1),
        ("3 1 2\n2\n1\n\n", "no METIS header", 1),
        ("3 1 0 1 1\n2\n1\n\n", "no METIS header", 1),
        ("x 1\n", "whole numbers", 1),
        ("% only\n", "no header", None),
        ("3 1\n2\n", "3 rows but there are 2", 1),
        ("% c\n2 1\n2\n1\n1\n", "after the 2 rows", 5),
        ("3 2\n2\n1\n\n", "2 edges, so 4 neighbours, but the rows list 2", 1),
        ("3 2\n2\n1\n\n", "list 2", 1),
        ("3 1\n2 3\n1\n1\n", "list 4", 1),
        ("3 1\n4\n1\n\n", "outside 1..3", 2),
        ("3 1\n0\n1\n\n", "outside 1..3", 2),
        ("3 1\n2\n-1\n\n", "negative", 3),
        ("3 1\n2\nx\n\n", "not an integer", 3),
        ("3 1\n2,\n1\n\n", "comma", 2),
        ("2 1 1\n2\n1 5\n", "flags demand", 2),
        ("2 1 10\n7 2\n\n", "flags demand", 3),
        ("0 0\n", "without vertices", None),
    ],
)
def test_bad_files(tmp_path, text, what, line):
    for batch_bytes in (16, 1 << 16):
        error = fault_of(write(tmp_path, text), batch_bytes=batch_bytes)
        assert what in error.what and error.line == line and error.remedy


def test_a_count_of_entries_for_edges_gets_a_fitting_remedy(tmp_path):
    """Edges listed at one end only: the header's count equals the number of neighbours."""
    error = fault_of(write(tmp_path, "3 2\n2 3\n\n\n"))
    assert "list 2" in error.what and "both its ends" in error.remedy


@pytest.mark.parametrize(
    "text, one_way",
    [
        ("4 2\n2\n1\n4 1\n\n", {"vertex 3 lists 4", "vertex 3 lists 1"}),
        ("3 1\n2 2\n\n\n", {"vertex 1 lists 2"}),
        ("4 2\n2\n3\n4\n1\n", {f"vertex {i} lists {i % 4 + 1}" for i in range(1, 5)}),
    ],
)
def test_an_asymmetric_graph_is_refused_with_a_culprit(tmp_path, text, one_way):
    error = fault_of(write(tmp_path, text), batch_bytes=32)
    assert "not symmetric" in error.what and any(culprit in error.what for culprit in one_way)


def test_rows_longer_than_a_block(tmp_path):
    """A star: its first row spans many blocks and batches."""
    n = 3000
    text = f"{n} {n - 1}\n" + " ".join(map(str, range(2, n + 1))) + "\n" + "1\n" * (n - 1)
    expected = [(1, v) for v in range(2, n + 1)] + [(v, 1) for v in range(2, n + 1)]
    assert read_pairs(write(tmp_path, text), batch_bytes=256) == expected
