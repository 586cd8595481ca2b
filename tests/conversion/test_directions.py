"""In which directions the input listed its edges, and what else it had: both are counted and said, and

    pairs = edges + loops + duplicates (same direction) + reverse (the second direction of an edge)

however the pairs are sorted."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from emdiam import open as open_store
from emdiam import reorder
from emdiam.cli.answer_lines import directions_text
from emdiam.cli.convert import report_text
from emdiam.cli.info import info_text
from emdiam.conversion.convert import ConvertOptions, ConvertReport, convert, write_graph
from emdiam.conversion.keys import pairs_of, put_both_directions, without_flags
from emdiam.errors import InputError
from emdiam.formats.in_memory import ArraySource, MatrixSource
from emdiam.formats.objects import as_source
from emdiam.formats.source import SourceInfo
from emdiam.sorting.runs import RamRun
from emdiam.sorting.sort import KeySorter, SortContext, cut_keys
from emdiam.store.arc_runs import store_info
from emdiam.store.layout import StoreRecord
from tests.helpers.convert_twin import TINY, ListSource, convert_pairs, counts_of
from tests.helpers.formats_naive import pack_egr, pack_sg

OPTIONS = ConvertOptions(memory_bytes=4 << 30)


def converted(folder: Path, name: str, data: str | bytes, **options: Any) -> ConvertReport:
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return convert([folder / name], folder / "g.zarr", options=replace(OPTIONS, force=True, **options))


def figures(report: ConvertReport) -> tuple[int, int, int, int, int]:
    """Pairs, and what became of them."""
    record = report.record
    return (report.pairs_read, record.n_edges, record.loops_dropped, record.duplicates_dropped,
            record.reverse_dropped or 0)


# Counts.


@pytest.mark.parametrize("symmetric", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ids", ["declared", "partitions", "compact", "widened", "wide", "strings"])
def test_the_counts_add_up_whatever_way_the_ids_take(tmp_path: Path, ids: str, symmetric: float) -> None:
    """The twin of convert_pairs counts by the definition."""
    rng = random.Random(f"{ids}{symmetric}")
    pairs: list[tuple[Any, Any]] = []
    while len(pairs) < 150:
        pair = rng.randrange(30), rng.randrange(30)
        pairs += [pair, pair[::-1]] if rng.random() < symmetric else [pair]
    rng.shuffle(pairs)
    plan, about = TINY, {}
    if ids in ("declared", "partitions"):
        about, plan = {"n_vertices": 2000}, replace(TINY, key_bits=20 if ids == "partitions" else 64)
    if ids == "wide":
        pairs = [(a << 40, b << 40) for a, b in pairs]
    if ids == "widened":
        pairs.append((3, 1 << 40))
    if ids == "strings":
        pairs, about = [(f"v{a}", f"v{b}") for a, b in pairs], {"id_kind": "string"}
    report = convert_pairs(pairs, tmp_path, plan, **about)
    edges, _, _, reverse = counts_of(pairs)
    want = "both" if reverse == edges else "mixed" if reverse else "one"
    assert report.record.directions == want == report.to_dict()["directions"]


def test_both_keys_of_an_arc_stay_together() -> None:
    """Cuts between ranges are even, so that no range has one key of an arc and the next the other."""
    runs = [RamRun(np.arange(first, 400, 3, dtype=np.uint64), 2) for first in (0, 1, 2)]
    cuts = cut_keys(list(runs), 18)
    assert len(cuts) > 10 and not any(cut & 1 for cut in cuts)
    for low, high in zip([0, *cuts], [*cuts, 400], strict=True):
        assert sum(run.read(low, high, np.empty(400, np.uint64)) for run in runs) <= 18


def test_keys_and_pairs_are_the_same(tmp_path: Path) -> None:
    from emdiam.sorting.scratch import Scratch

    pairs = [(2, 7), (7, 2), (2, 7), (0, 1), (6, 5)]
    sorter = KeySorter(SortContext(TINY, Scratch(tmp_path, tmp_path / "g")))
    put_both_directions(sorter, *np.array(pairs, np.uint64).T.copy(), 3)
    (run,) = sorter.finish().runs
    out = np.empty(run.n_keys, np.uint64)
    run.read(0, None, out)
    assert sorted(zip(*(ends.tolist() for ends in pairs_of(out, 3)), strict=True)) == sorted(set(pairs))
    arcs, reverse = without_flags(out)
    both = {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}
    assert arcs.tolist() == sorted(a << 3 | b for a, b in both) and reverse == 1


BOTH = "p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 1\na 3 2 1\n"
ONE_WAY = "p sp 3 2\na 1 2 5\na 2 3 1\n"
TWICE = "p sp 3 6\na 1 2 5\na 2 1 5\na 2 3 1\na 3 2 1\na 1 2 7\na 2 1 7\n"
MIXED = "p sp 3 3\na 1 2 5\na 2 1 5\na 2 3 1\n"


@pytest.mark.parametrize(
    ("text", "directed", "directions", "counts"),
    [
        (BOTH, False, "both", (4, 2, 0, 0, 2)),
        (ONE_WAY, True, "one", (2, 2, 0, 0, 0)),
        (TWICE, False, "both", (6, 2, 0, 2, 2)),
        (MIXED, True, "mixed", (3, 2, 0, 0, 1)),
    ],
)
def test_dimacs(
    tmp_path: Path, text: str, directed: bool, directions: str, counts: tuple[int, ...]
) -> None:
    report = converted(tmp_path, "g.gr", text)
    assert (report.record.directed_input, report.record.directions) == (directed, directions)
    assert figures(report) == counts
    plain = "".join(line[2:-1].rsplit(" ", 1)[0] + "\n" for line in text.splitlines(True)[1:])
    report = converted(tmp_path, "g.txt", plain)
    assert (report.record.directed_input, report.record.directions) == (directed, directions)
    assert figures(report) == counts
    assert any("one direction only" in note for note in report.notes) == directed


MTX = "%%%%MatrixMarket matrix coordinate pattern %s\n3 3 3\n%s"


@pytest.mark.parametrize(
    ("name", "data", "directed", "directions"),
    [
        ("g.mtx", MTX % ("symmetric", "2 1\n3 1\n3 3\n"), False, "one"),
        ("g.mtx", MTX % ("general", "2 1\n1 2\n3 3\n"), False, "both"),
        ("g.mtx", MTX % ("general", "2 1\n1 2\n1 3\n"), True, "mixed"),
        ("g.mtx", MTX % ("general", "1 1\n1 1\n3 3\n"), False, "none"),
        ("g.graph", "3 2\n2 3\n1\n1\n", False, "both"),
        ("g.egr", pack_egr(3, [[1], [0, 2], [1]]), False, "both"),
        ("g.egr", pack_egr(3, [[1], [2], []]), True, "one"),
        ("g.sg", pack_sg([[1], [0]]), False, "both"),
        ("g.txt", "# Undirected graph\n1 2\n2 3\n", False, "one"),
        ("g.txt", "1 2\n2 1\n", False, "both"),
        ("g.col", "p edge 3 2\ne 1 2\ne 2 3\n", False, "one"),
    ],
)
def test_what_formats_say_of_themselves(
    tmp_path: Path, name: str, data: str | bytes, directed: bool, directions: str
) -> None:
    report = converted(tmp_path, name, data)
    assert (report.record.directed_input, report.record.directions) == (directed, directions)


def test_directions_are_compared_across_files(tmp_path: Path) -> None:
    for name, text in (("a.gr", "p sp 3 1\na 1 2 1\n"), ("b.gr", "p sp 3 1\na 2 1 1\n")):
        (tmp_path / name).write_text(text)
    report = convert([tmp_path / "a.gr", tmp_path / "b.gr"], tmp_path / "g.zarr", options=OPTIONS)
    assert figures(report) == (2, 1, 0, 0, 1) and report.record.values_dropped == {"weights": 2}


# What is said.


def test_it_is_said_in_words(tmp_path: Path) -> None:
    report = converted(tmp_path, "g.gr", MIXED)
    text = report_text(report.to_dict(), "g.zarr").splitlines()
    assert "input: dimacs, 3 pairs; dropped 0 loops, 0 duplicates and 1 reverse pair" in text
    assert "directions: mixed: 1 edge in both directions, 1 in one only" in text
    assert any(line.startswith("note: dropped") and line.endswith(": weights (3)") for line in text)
    assert report.to_dict()["record"]["values_dropped"] == {"weights": 3}
    with open_store(tmp_path / "g.zarr") as store:
        info = store_info(store)
        lines = info_text(info)
    assert (info["directions"], info["pairs_read"], info["reverse_dropped"]) == ("mixed", 3, 1)
    assert "\ndirections: mixed: 1 edge in both directions, 1 in one only\n" in lines
    assert "g.gr; 3 pairs; dropped 0 loops, 0 duplicates and 1 reverse pair\ndropped values: weights (3)\n" in lines


@pytest.mark.parametrize(
    ("edges", "reverse", "directed", "text"),
    [
        (5, 5, False, "every edge in both directions (symmetric)"),
        (5, 0, True, "one direction only"),
        (5, 0, False, "undirected by its format"),
        (5, 2, False, "undirected by its format"),
        (5, 2, True, "mixed: 2 edges in both directions, 3 in one only"),
        (0, 0, False, None),
    ],
)
def test_the_sentence_on_directions(edges: int, reverse: int, directed: bool, text: str | None) -> None:
    record = StoreRecord(n_edges=edges, reverse_dropped=reverse, directed_input=directed)
    assert directions_text({**record.to_dict(), "directions": record.directions}) == text


def test_a_store_without_these_counts_opens_and_says_what_it_has(tmp_path: Path) -> None:
    """Format 1: the record has no such fields, and its digest is over those that it has."""
    record = StoreRecord(format_version=1, directed_input=True, duplicates_dropped=4, n_vertices=3)
    names = ("pairs_read", "reverse_dropped", "values_dropped")
    assert not set(names) & record.to_dict().keys()
    again = StoreRecord.from_dict(record.to_dict())
    assert again.digest() == record.digest() and again.directions is again.fault() is None
    assert replace(record, format_version=2, reverse_dropped=0).digest() != replace(record, format_version=2).digest()
    with pytest.raises(KeyError, match="missing.*loops_dropped"):
        StoreRecord.from_dict({name: value for name, value in record.to_dict().items() if name != "loops_dropped"})
    report = converted(tmp_path, "g.txt", "0 1\n")
    assert directions_text({**report.record.to_dict(), "directions": None}) is None
    assert report.record.fault() is None


@pytest.mark.parametrize("false", [
    {"pairs_read": None}, {"pairs_read": 3}, {"pairs_read": "4"}, {"reverse_dropped": 3, "pairs_read": 5},
    {"reverse_dropped": -1, "pairs_read": 1}, {"reverse_dropped": True, "pairs_read": 3}, {"values_dropped": None},
    {"values_dropped": {"w": "x"}}, {"values_dropped": {"w": -1}}, {"values_dropped": {"\ud800": 1}},
    {"values_dropped": [1]},
])
def test_a_record_whose_counts_do_not_add_up_is_no_record(false: dict[str, Any]) -> None:
    good = StoreRecord(n_vertices=3, n_arcs=4, n_edges=2, max_degree=2, pairs_read=4, reverse_dropped=2,
                       values_dropped={"w": 4})
    assert good.fault() is None
    assert replace(good, **false).fault() is not None


def test_a_reordered_store_keeps_the_counts(tmp_path: Path) -> None:
    report = converted(tmp_path, "g.gr", MIXED)
    placed = reorder(tmp_path / "g.zarr", tmp_path / "h.zarr", "degree", memory=4 << 30).record
    for name in ("pairs_read", "reverse_dropped", "values_dropped", "directions"):
        assert getattr(placed, name) == getattr(report.record, name) is not None


# What else the input had.


@pytest.mark.parametrize(
    ("name", "data", "dropped"),
    [
        ("g.gr", BOTH, {"weights": 4}),
        ("g.gr", "p max 3 2\nn 1 s\na 1 2 5\na 2 3 1\n", {"capacities": 2}),
        ("g.gr", "p tw 3 1\n1 2\n", {}),
        ("g.col", "p edge 3 2\ne 1 2\ne 2 3 7\n", {"lines with further fields": 1}),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 1\n", {"values": 2}),
        ("g.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 0.5 1\n", {"values": 1}),
        ("g.mtx", MTX % ("general", "2 1\n1 2\n3 3\n"), {}),
        ("g.graph", "3 2 001\n2 7 3 8\n1 7\n1 8\n", {"edge weights": 4}),
        ("g.graph", "2 1 111 2\n9 1 1 2 7\n9 1 1 1 7\n", {"vertex sizes": 2, "vertex weights": 4, "edge weights": 2}),
        ("g.graph", "3 2\n2 3\n1\n1\n", {}),
        ("g.egr", pack_egr(3, [[1], [0, 2], [1]]), {}),
        ("g.egr", pack_egr(3, [[1], [0, 2], [1]]) + struct.pack("<4i", 1, 2, 3, 4), {"weights": 4}),
        ("g.sg", pack_sg([[1], [0]]), {}),
        ("g.wsg", pack_sg([[1], [0]], weights=True), {"weights": 2}),
        ("g.txt", "1 2\n2 3 \n3,4\n4\t5\t\n", {}),
        ("g.wel", "1 2 0.5\n2 3\n3, 4, 7\n# 1 2 3\n", {"lines with further fields": 2}),
        ("g.csv", "src,dst,w,\n1,2,3,4\n2,3,4,5\n", {"column w": 2, "column 4": 2}),
        ("g.csv", "src,dst\n1,2\n", {}),
        ("g.csv", "src,dst" + ",x" * 9 + "\n1,2" + ",0" * 9 + "\n", {"9 further columns": 1}),
    ],
)
@pytest.mark.parametrize("batch_bytes", [64, 1 << 20])
def test_what_is_dropped_is_counted(
    tmp_path: Path, name: str, data: str | bytes, dropped: dict[str, int], batch_bytes: int
) -> None:
    report = converted(tmp_path, name, data, plan=replace(TINY, batch_bytes=batch_bytes), scratch=tmp_path)
    assert report.record.values_dropped == dropped
    notes = [note for note in report.notes if note.startswith("dropped")]
    assert len(notes) == bool(dropped) and all(name in notes[0] for name in dropped)


def test_further_fields_on_some_lines_are_dropped_where_the_format_is_named(tmp_path: Path) -> None:
    """Else they may be lists of neighbours."""
    data = "a b 0.5\nb c\nc\td\tx\n"
    with pytest.raises(InputError, match="say which with --format adjlist, or --format edgelist"):
        converted(tmp_path, "g.txt", data)
    report = converted(tmp_path, "g.txt", data, fmt="edgelist")
    assert report.record.values_dropped == {"lines with further fields": 2}
    assert (report.record.n_vertices, report.record.n_edges) == (4, 3)


def test_columns_of_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"w": [0.5, 1], "src": [1, 2], "dst": [2, 3], "t": ["x", "y"]}), tmp_path / "g.parquet")
    report = convert([tmp_path / "g.parquet"], tmp_path / "g.zarr", options=OPTIONS)
    assert report.record.values_dropped == {"column w": 2, "column t": 2}


@pytest.mark.parametrize(("kind", "dropped"), [(float, {"values": 2}), (bool, {})])
def test_values_of_matrices(tmp_path: Path, kind: type, dropped: dict[str, int]) -> None:
    matrix = scipy.sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], kind))
    scipy.sparse.save_npz(tmp_path / "g.npz", matrix)
    assert convert([tmp_path / "g.npz"], tmp_path / "g.zarr", options=OPTIONS).record.values_dropped == dropped
    report = write_graph(MatrixSource(matrix), tmp_path / "h.zarr", options=OPTIONS)
    assert (report.record.values_dropped, report.record.directions) == (dropped, "one")


def test_attributes_of_networkx_edges(tmp_path: Path) -> None:
    for made, kind in enumerate((nx.Graph, nx.MultiDiGraph)):
        graph = kind([(0, 1), (1, 2)])
        graph.add_edge(2, 3, weight=4)
        report = write_graph(as_source(graph), tmp_path / f"{made}.zarr", options=OPTIONS)
        assert report.record.values_dropped == {"edges with attributes": 1}
        assert report.record.directed_input == graph.is_directed()
    report = write_graph(ArraySource([0, 1], [1, 2]), tmp_path / "g.zarr", options=OPTIONS)
    assert report.record.values_dropped == {}


def test_what_was_dropped_is_known_after_one_whole_pass_only(tmp_path: Path) -> None:
    source = ListSource([(0, 1)], SourceInfo(dropped={"weights": 7}))
    report = write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=TINY, scratch=tmp_path))
    assert report.record.values_dropped == {"weights": 7}
