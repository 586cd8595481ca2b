"""A first line of counts: read as what the edges prove it to be, or asked about; never a vertex that is none."""

from __future__ import annotations

import numpy as np
import pytest

import emdiam
from emdiam.errors import BudgetError, InputError
from tests.helpers.formats_naive import fault_of, read_pairs


def graph_of(folder, text: str, name: str = "g.txt", **options):
    (folder / name).write_text(text)
    report = emdiam.convert(folder / name, folder / "s.zarr", force=True, **options)
    return report.record.n_vertices, report.record.n_edges, report.record.reading


@pytest.mark.parametrize("text, vertices, edges", [
    ("6 5\n0 1 3\n1 2 3\n2 3 3\n3 4 3\n4 5 3\n", 6, 5), ("6 6 5\n0 1\n1 2\n2 3\n3 4\n4 5\n", 6, 5),
    ("5 4\n1 2\n2 3\n2 5\n1 4\n", 5, 4), ("7 4\n1 2\n2 3\n2 5\n1 4\n", 7, 4), ("9\n0 1 5\n1 2 5\n", 9, 2),
    ("2 1\n1 2\n", 2, 1), ("3 2\n1 2\n3 2\n", 3, 2), ("4 3 7\n1 2 9\n2 3 7\n3 4 2\n", 4, 3),
    ("6;4\n1;2\n2;3\n2;5\n1;4\n", 6, 4), ("5,3\n0,1\n1,2\n2,3\n", 5, 3)])
def test_counts_that_the_edges_prove(tmp_path, text, vertices, edges):
    n, m, reading = graph_of(tmp_path, text)
    assert (n, m) == (vertices, edges) and "vertices" in reading and text.split("\n")[0].split()[0][0] in reading


@pytest.mark.parametrize("text, vertices, edges", [
    ("8\n14\n0 1 4\n1 2 8\n", 3, 2), ("5 7\nA B 5\nA C 9\nB D 2\n", 4, 3), ("9 9\n0 1 5\n1 2 5\n", 3, 2)])
def test_counts_that_the_edges_do_not_prove_add_no_vertex(tmp_path, text, vertices, edges):
    n, m, reading = graph_of(tmp_path, text)
    assert (n, m) == (vertices, edges) and "counts add no vertices" in reading


@pytest.mark.parametrize("text, vertices", [
    ("10 20\n" + "".join(f"{i} {i + 1}\n" for i in range(9)), 10), ("6, 4, 0\n1, 3, 37\n2, 3, 9\n0, 2, 6\n", 4),
    ("9 9\n1 2\n2 3\n", 3), ("2 1\n2 2\n", 2), ("3 2\n1 2\n1 3\n", 3), ("4 3 25\n1 2 9\n2 3 7\n1 4 2\n", 4),
    ("4 3\n1 2\n2 2\n1 4\n", 4), ("12 4\n1 8\n9 4\n12 4\n12 4\n", 12), ("4 3\n1 2\n2 3\n3 1\n1 3\n2 1\n3 2\n", 3)])
def test_a_first_line_that_may_be_either_is_asked_about(tmp_path, text, vertices):
    (tmp_path / "g.txt").write_text(text)
    error = fault_of(tmp_path / "g.txt")
    assert "--header counts" in error.remedy and "--header none" in error.remedy
    assert graph_of(tmp_path, text, header="counts")[0] == vertices
    first = text.split("\n")[0].replace(",", "").split()[:2]
    assert tuple(map(int, first)) in read_pairs(tmp_path / "g.txt", header="none")


@pytest.mark.parametrize("text", ["2 1\n1 5\n", "5 1\n1 2\n2 3\n3 4\n4 5\n", "3 4\n1 2\n2 3\n4 1\n", "1 1\n", "7 3\n",
                                  "4 9\n1 2\n2 9\n3 4\n"])
def test_a_first_edge_stays_one(tmp_path, text):
    (tmp_path / "g.txt").write_text(text)
    expected = sorted(tuple(map(int, line.split())) for line in text.splitlines())
    for batch_bytes in (16, 1 << 16):
        assert sorted(read_pairs(tmp_path / "g.txt", batch_bytes=batch_bytes)) == expected


def test_counts_are_read_in_any_batches(tmp_path):
    text = "3000 2999\n" + "".join(f"{i} {i + 1}\n" for i in range(2999))
    (tmp_path / "g.txt").write_text(text)
    for batch_bytes in (16, 256, 1 << 20):
        source = emdiam.formats.open_source([tmp_path / "g.txt"])
        assert sum(len(batch.src) for batch in source.batches(batch_bytes)) == 2999
        assert source.info().more_ids == (0, 2999)


def test_declared_vertices_beyond_the_bitmap_are_there_too(tmp_path):
    n = 70_000
    assert graph_of(tmp_path, f"{n} 3\n1 2\n2 3\n3 4\n", memory="4GiB")[:2] == (n, 3)


def test_vertices_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(BudgetError, match="vertices are declared"):
        graph_of(tmp_path, f"{10**12} 3\n1 2\n2 3\n3 4\n", memory="4GiB")


def test_counts_above_names_are_asked_about(tmp_path):
    text = "4 3\na b\nb c\nc d\n"
    (tmp_path / "g.txt").write_text(text)
    assert "--header counts" in fault_of(tmp_path / "g.txt").remedy
    assert graph_of(tmp_path, text, header="counts")[:2] == (4, 3)


def test_random_lists_of_edges_are_themselves_or_asked_about(tmp_path):
    """A list whose first pair is no counts is read as it is, and asked about where the pair could be counts."""
    rng = np.random.default_rng(5)
    asked = 0
    for _ in range(300):
        n = int(rng.integers(2, 30))
        pairs = rng.integers(0, n, (int(rng.integers(2, 40)), 2)).tolist()
        (tmp_path / "g.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))
        if pairs[0][1] == len(pairs) - 1 and pairs[0][0] >= max(map(max, pairs[1:])):
            continue
        try:
            found = read_pairs(tmp_path / "g.txt")
        except InputError as error:
            asked += n > 2  # ends 0 and 1 alone may be a matrix
            assert "--header" in error.remedy or n == 2
            continue
        assert sorted(found) == sorted(map(tuple, pairs))
    assert asked < 15
