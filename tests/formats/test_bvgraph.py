"""BVGraph: random graphs in every code as an encoder of its own writes them, odd ones, and every way to be wrong."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.errors import BudgetError
from emdiam.formats import bvgraph, open_source
from emdiam.formats import bvgraph_kernels as bits
from emdiam.formats.inputs import Input
from emdiam.formats.source import Wishes
from tests.helpers.bvgraph import (
    CODES,
    FIELDS,
    Choices,
    Rows,
    Twin,
    drawn_choices,
    drawn_rows,
    to_bytes,
    write_bvgraph,
)
from tests.helpers.formats_naive import fault_of, read_pairs

MANY, PART = 10_000, 1_000


def pairs_of(rows: Rows) -> list[tuple[int, int]]:
    return [(v, w) for v, row in enumerate(rows) for w in row]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a file, spans and what is looked at before one are so small that small graphs have several."""
    monkeypatch.setattr(bvgraph, "_BLOCK_BYTES", 16)
    monkeypatch.setattr(bvgraph, "_SPAN_NODES", 8)
    monkeypatch.setattr(bvgraph, "_BACK", (2, 12))


def written_and_read(number: int, folder: Path) -> None:
    """A graph at random, by its number."""
    rng = random.Random(number)
    rows, choices = drawn_rows(rng), drawn_choices(rng)
    for file in folder.glob("g.*"):
        file.unlink()
    path = write_bvgraph(folder / "g.graph", rows, choices, rng if number % 2 else None)
    found = read_pairs(path, batch_bytes=rng.choice((16, 256, 1 << 16)), threads=rng.choice((1, 2, 3)))
    assert found == pairs_of(rows), choices
    if number % 4 == 0:
        assert Twin(path.read_bytes(), len(rows), len(found), choices).rows() == rows


@pytest.mark.usefixtures("small")
def test_random_graphs(tmp_path: Path) -> None:
    for number in range(300):
        written_and_read(number, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("part", range(MANY // PART))
def test_many_random_graphs(part: int, tmp_path: Path) -> None:
    for number in range(part * PART, (part + 1) * PART):
        written_and_read(number, tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sets=st.lists(st.sets(st.integers(0, 19), max_size=12), min_size=20, max_size=20), window=st.integers(0, 7),
       least=st.sampled_from([0, 2, 4]), chain=st.sampled_from([0, 1, 3, None]), little=st.booleans())
def test_any_graph(sets, window, least, chain, little, tmp_path):
    rows = [sorted(row) for row in sets]
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(window, chain, least, little=little))
    assert read_pairs(path, batch_bytes=128, threads=2) == pairs_of(rows)


N = 3_000
ODD = {
    "no arcs": [[]] * 5, "one node": [[]], "a loop": [[0]], "full": [list(range(40))] * 40,
    "a very long row": [[], list(range(0, N, 3)), *[[]] * (N - 2)],
    "long rows alike": [list(range(v % 3, N)) for v in range(12)] + [[]] * (N - 12),
    "gaps at both ends": [[0, N - 1]] * N,
    "first residual far below": [*[[]] * (N - 1), [0, N - 1]],
    "a long chain of copies": [[3, 5, 8, 13, N - 1 - v % 2] for v in range(N)],
    "intervals only": [list(range(v, min(N, v + 9))) for v in range(N)],
}


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("choices", [Choices(), Choices(1, None), Choices(0, least_interval=0), Choices(7, None, 2),
                                     Choices(offsets=False)])
def test_odd_graphs(name: str, choices: Choices, tmp_path: Path) -> None:
    rows = ODD[name]
    path = write_bvgraph(tmp_path / "g.graph", rows, choices)
    for threads, size in ((1, 1 << 16), (2, 4096)):
        assert read_pairs(path, batch_bytes=size, threads=threads) == pairs_of(rows)


@pytest.mark.usefixtures("small")
def test_a_span_goes_on_where_it_cannot_be_begun_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are copied from so far back that no thread begins in the middle."""
    rows = ODD["a long chain of copies"][:400]
    rows = [[w for w in row if w < 400] for row in rows]
    gone_on, follow = [], bvgraph._Rows.follow

    def counted(decoding: bvgraph._Rows, span: bvgraph._Span) -> None:
        gone_on.append(span)
        follow(decoding, span)

    monkeypatch.setattr(bvgraph._Rows, "follow", counted)
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(2, None))
    assert read_pairs(path, batch_bytes=256, threads=2) == pairs_of(rows)
    assert gone_on


def test_rows_before_a_span_may_be_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they copy from is found all the same, and nothing is read behind the block."""
    rng = random.Random(3)
    rows = [sorted(rng.sample(range(3000), 200)) for _ in range(100)]
    for v in range(0, 100, 3):
        rows[v] = rows[max(0, v - 1)][:150]
    rows += [[]] * 2900  # ids are nodes
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(), None)
    facts, graph = bvgraph.BvGraphSource(Input(str(path)), Wishes()).facts()
    found = []
    for room in (1 << 18, 64):
        monkeypatch.setattr(bvgraph, "_BLOCK_BYTES", room)
        with open(path, "rb", buffering=0) as file, open(path.with_suffix(".offsets"), "rb", buffering=0) as offsets:
            of_offsets = bvgraph._Block(offsets, Input(str(path.with_suffix(".offsets")), headerless=True))
            span = next(bvgraph._spans(facts, of_offsets, "offsets", 1 << 40, 1 << 40))
            span = replace(span, first=90)
            decoded = bvgraph._Rows(facts, bvgraph._Block(file, graph), "g", span, 100, 1 << 20)
            found.append(decoded._references(0).tolist())
    assert found[0] == found[1] and any(copied < v for v, copied in enumerate(found[0])) and -1 not in found[0]
    positions = np.array([0, 64, 1 << 40, -5], np.int64)
    settings = np.zeros(11, np.int64)
    settings[bits.LIMIT], settings[bits.OUTDEGREES], settings[bits.WINDOW] = 64, bits.GAMMA, 7
    bits.references(np.full(8 + bits.PADDING, 255, np.uint8), positions, 0, settings)
    assert positions.tolist() == [0, -1, -1, -1]


@pytest.mark.parametrize("little", [False, True])
@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("code", CODES)
def test_every_code_of_every_field(code: str, name: str, little: bool, tmp_path: Path) -> None:
    rows = drawn_rows(random.Random(5), 60)
    codes = {name: code, **({"BLOCK_COUNT": code} if name == "BLOCKS" else {})}
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(codes=codes, k=3, little=little))
    assert read_pairs(path, threads=2) == pairs_of(rows)


@pytest.mark.parametrize("far", [40, 56, 60])
@pytest.mark.parametrize("code", ["GAMMA", "DELTA", "ZETA", "NIBBLE"])
@pytest.mark.parametrize("little", [False, True])
def test_ids_of_many_bits(far: int, code: str, little: bool, tmp_path: Path) -> None:
    """Of a first row alone, since each node takes a bit: the properties say more nodes than there are rows, which is
    refused behind it."""
    n, row = 1 << far, [1, 1 << 30, (1 << far - 1) + 1, (1 << far) - 1]
    choices = Choices(codes={"RESIDUALS": code}, little=little)
    path = write_bvgraph(tmp_path / "g.graph", [row], choices, nodes=str(n))
    facts = bvgraph.find_properties(path)
    with open(path, "rb") as file:
        block = bvgraph._Block(file, bvgraph.Input(str(path), headerless=True), little)
        rows = bvgraph._Rows(facts, block, "g", bvgraph._Span(0, 1, 0, np.zeros(1, np.int64)), 100, 1 << 20)
        assert [batch.dst.tolist() for batch in rows.step()] == [row] and rows.done
    assert "a bit each" in fault_of(path).what


# -- stores ----------------------------------------------------------------------------------------
def test_a_store_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[1, 2], [0], [2, 3], []]
    path = write_bvgraph(tmp_path / "g.graph", rows)
    report = emdiam.convert(path, tmp_path / "g.zarr", memory="2GiB")
    assert (report.record.n_vertices, report.record.n_edges, report.record.loops_dropped) == (4, 3, 1)
    assert emdiam.exact(path, memory="2GiB").diameter == 3 == emdiam.exact(tmp_path / "g.properties").diameter
    emdiam.convert(path, tmp_path / "d.zarr", directed=True)
    with emdiam.open(tmp_path / "d.zarr") as store:
        assert store.directed and (store.n_arcs, store.record.loops_dropped) == (4, 1)
    assert run(group, ["info", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"{path}: bvgraph, 4 vertices, 5 arcs", "size: 6 B, 9.600 bits each"]


def test_metis_graphs_are_read_as_before(tmp_path: Path) -> None:
    """Both formats have files called .graph; a file of other properties says nothing."""
    (tmp_path / "m.graph").write_text("2 1\n2\n1\n")
    (tmp_path / "m.properties").write_text("colour=blue\n")
    assert open_source([tmp_path / "m.graph"]).info().format == "metis"
    path = write_bvgraph(tmp_path / "g.graph", [[1], [0]])
    assert open_source([path]).info().format == "bvgraph"
    assert "METIS" in fault_of(path, fmt="metis").what


def test_properties_of_labels_lead_to_the_graph_beneath(tmp_path: Path) -> None:
    rows = [[1, 2], [2], []]
    write_bvgraph(tmp_path / "g.graph", rows)
    (tmp_path / "l.properties").write_text(
        "#BitStreamArcLabelledImmutableGraph properties\ngraphclass = "
        "it.unimi.dsi.webgraph.labelling.BitStreamArcLabelledImmutableGraph\n"
        "labelspec=it.unimi.dsi.webgraph.labelling.GammaCodedIntLabel(FOO)\nunderlyinggraph=g\n")
    source = open_source([tmp_path / "l.properties"])
    assert [batch.dst.tolist() for batch in source.batches(1 << 16)] == [[1, 2, 2]]
    assert source.info().dropped == {"labels": 3}
    (tmp_path / "l.properties").write_text("graphclass=x.labelling.ArcLabelled\nunderlyinggraph=l\n")
    assert "circle" in fault_of(tmp_path / "l.properties").what
    (tmp_path / "l.properties").write_text("graphclass=it.unimi.dsi.webgraph.EFGraph\n")
    error = fault_of(tmp_path / "l.properties")
    assert "class it.unimi.dsi.webgraph.EFGraph" in error.what and "ArcListASCIIGraph" in error.remedy
    (tmp_path / "l.properties").write_text("graphclass=a.labelling.ArcLabelled\nunderlyinggraph=nothing\n")
    assert "nothing.properties" in str(fault_of(tmp_path / "l.properties"))
    os.mkfifo(tmp_path / "nothing.properties")  # which nothing is waited for from
    assert "nothing.properties" in str(fault_of(tmp_path / "l.properties"))


# -- what is refused -------------------------------------------------------------------------------
@pytest.mark.parametrize(("changed", "what"), [
    ({"nodes": None}, "nodes is missing"), ({"nodes": "-1"}, "nodes is no number"), ({"nodes": "9" * 30}, "nodes"),
    ({"nodes": "99"}, "99 nodes"), ({"nodes": "5"}, "5 nodes in"),
    ({"arcs": "4"}, "more"), ({"arcs": "6"}, "6 arcs"), ({"windowsize": "9999"}, "windowsize"),
    ({"windowsize": None}, "windowsize is missing"), ({"version": "2"}, "version"), ({"zetak": "0"}, "zetak"),
    ({"minintervallength": "x"}, "minintervallength"), ({"endianness": "middle"}, "endianness"),
    ({"compressionflags": "RESIDUALS_PI2", "version": "1"}, "PI2 for RESIDUALS"),
    ({"compressionflags": "COLOURS_GAMMA"}, "COLOURS_GAMMA"),
    ({"compressionflags": "RESIDUALS_SKEWED_GOLOMB"}, "SKEWED"),
    ({"graphclass": None}, "class"),
])
def test_properties_that_make_no_sense(changed: dict[str, str | None], what: str, tmp_path: Path) -> None:
    path = write_bvgraph(tmp_path / "g.graph", [[1, 2], [0], [2, 3], []], **changed)
    error = fault_of(path)
    assert error.path is not None and "g." in str(error.path)
    assert any(part in str(error) for part in what.split("|")), str(error)


def test_codes_that_name_their_parameter(tmp_path: Path) -> None:
    rows = drawn_rows(random.Random(3))
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(k=5), version="1", compressionflags="RESIDUALS_ZETA5",
                         zetak=None)
    assert read_pairs(path) == pairs_of(rows)


def test_blocks_are_counted_by_their_code_where_the_order_of_bytes_is_named(tmp_path: Path) -> None:
    """So writes the library in Rust, and the one in Java does not."""
    rows = drawn_rows(random.Random(3))
    path = write_bvgraph(tmp_path / "g.graph", rows, Choices(codes={"BLOCKS": "DELTA", "BLOCK_COUNT": "DELTA"}),
                         compressionflags="BLOCKS_DELTA", endianness="big")
    assert read_pairs(path) == pairs_of(rows)
    write_bvgraph(path, rows, Choices(codes={"BLOCKS": "DELTA"}))
    assert read_pairs(path) == pairs_of(rows)


def test_files_that_are_missing(tmp_path: Path) -> None:
    path = write_bvgraph(tmp_path / "g.graph", [[v, v + 1] for v in range(299)] + [[]])
    assert "g.graph" in fault_of(tmp_path / "g.offsets").remedy
    (tmp_path / "g.properties").unlink()
    error = fault_of(path)
    assert "no METIS graph" in error.what and "g.properties" in error.what
    error = fault_of(path, fmt="bvgraph")
    assert "not there" in error.what and str(error.path).endswith("g.properties")


def test_what_is_cut_or_longer_or_has_other_offsets(tmp_path: Path) -> None:
    rows = drawn_rows(random.Random(1), 200)
    path = write_bvgraph(tmp_path / "g.graph", rows)
    data, offsets = path.read_bytes(), (tmp_path / "g.offsets").read_bytes()
    path.write_bytes(data[:-3])
    assert "ends within its row" in fault_of(path, threads=1).what
    path.write_bytes(data + bytes(8))
    assert read_pairs(path) == pairs_of(rows)  # filled up to a word
    path.write_bytes(data + b"\1" * 8)
    assert "follow the row of the last node" in fault_of(path).what
    path.write_bytes(data)
    for other, what in ((offsets[:-9], "no offsets"), (to_bytes("0" + "1" * 999), "no offsets"),
                        (b"\xff" * 99, "by the offsets"), (bytes(len(offsets)), "no offsets")):
        (tmp_path / "g.offsets").write_bytes(other)
        assert what in fault_of(path, threads=2).what
        assert read_pairs(path, threads=1) == pairs_of(rows)


@pytest.mark.parametrize(("bits", "what"), [
    ("00100" + "01", "copies from is outside"), ("0" * 63 + "1" * 80, "degree"), ("0001000" + "1" * 40, "degree"),
    ("010" + "1" + "1" + "1110" * 9, "no node"), ("00100" + "1" + "010" + "1" + "00000100000", "intervals"),
    ("00100" + "1" + "00100" + "1" * 60, "intervals"),
    ("00110" + "1" + "010" + "11" + "100" + "1" * 20, "twice"),  # 0 to 3, and 0 again
])
def test_rows_that_make_no_sense(bits: str, what: str, tmp_path: Path) -> None:
    path = write_bvgraph(tmp_path / "g.graph", [[1, 2], [0], [2, 3], [], [], []], Choices(offsets=False))
    path.write_bytes(to_bytes(bits))
    error = fault_of(path)
    assert what in error.what and error.what.startswith("node 0, bit "), str(error)


def test_rows_without_room_are_refused_with_the_memory_that_they_take(tmp_path: Path) -> None:
    n = 150_000
    rows = [list(range(v, n)) for v in range(3)] + [[]] * (n - 3)
    path = write_bvgraph(tmp_path / "g.graph", rows)
    memory = 0
    while True:  # a longer row may follow
        try:
            found = read_pairs(path, memory_bytes=memory or 1 << 20)
        except BudgetError as error:
            remedy = str(error.remedy)
        else:
            break
        more = int(remedy.removeprefix("give --memory ").removesuffix("MiB or more")) << 20
        assert more > memory
        memory = more
    assert 512 << 20 < memory < 1 << 30 and found == pairs_of(rows)


def test_a_checkpoint_knows_the_graph_by_its_bits(tmp_path: Path) -> None:
    write_bvgraph(tmp_path / "g.graph", [[1], [0]])
    source = open_source([tmp_path / "g.properties"])
    assert source.paths == [tmp_path / "g.properties", tmp_path / "g.graph"]


# -- cnr-2000 --------------------------------------------------------------------------------------
@pytest.mark.parametrize("offsets", [True, False])
def test_the_real_graph(data_folder: Path, tmp_path: Path, offsets: bool) -> None:
    """The store is that of the same graph as Parquet, to the digest; directed it has all arcs but loops."""
    for suffix in ("graph", "properties", *(["offsets"] if offsets else [])):
        shutil.copy(data_folder / f"cnr-2000.{suffix}", tmp_path / f"g.{suffix}")
    path = tmp_path / "g.graph"
    record = emdiam.convert(path, tmp_path / "g.zarr", threads=2).record
    table = emdiam.convert(data_folder / "cnr-2000.parquet", tmp_path / "p.zarr").record
    assert (record.n_vertices, record.n_edges, record.chunk_digest) == (325_557, 2_738_969, table.chunk_digest)
    assert record.pairs_read == 3_216_152
    assert emdiam.exact(tmp_path / "g.zarr").diameter == 34
    arcs = emdiam.convert(path, tmp_path / "d.zarr", directed=True).record
    assert arcs.n_edges + arcs.loops_dropped == 3_216_152 and not arcs.duplicates_dropped
