"""The pages of the papers: cells that are kept, rendering, and a tiny run of each."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from bench.cache import Cache
from bench.machine import facts
from bench.papers import paper_002, published_001, published_002
from bench.papers.__main__ import PAPERS, main, named, with_facts
from bench.papers.cases import SAME, STAND_IN, Case, chosen, fetched
from bench.papers.gpu import recorded
from bench.papers.html import html
from bench.papers.kept import FILE, Kept
from bench.papers.markdown import markdown
from bench.papers.numbers import ratio, short
from bench.papers.page import Figure, Page, Section, Series, Table
from bench.papers.paper_003 import masters_of, median_cell
from bench.papers.paper_004 import drawn_weights
from bench.papers.recorded import growth, recorded_runs
from bench.papers.setting import SMALL, Setting
from bench.programs import (
    ABSENT,
    AKIBA,
    FDIAM,
    TEEXGRAPH,
    VIENNOT,
    Programs,
    rows_of,
    write_ecl,
    write_gapbs,
    write_pairs,
)
from bench.published import PAPER
from emdiam.conversion.convert import convert
from emdiam.errors import InputError
from emdiam.generators import generate
from tests.helpers.stores import write_store

RUN = {"paper": "002", "scale": "tiny"}


def unmeasured() -> dict[str, Any]:
    raise AssertionError("measured again")


# -- cells -------------------------------------------------------------------------------------------------------
def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    first = Kept(tmp_path, RUN)
    assert first.cell(lambda: {"bfs": 3}, graph="a", run="x") == {"bfs": 3}
    with pytest.raises(KeyboardInterrupt):
        first.cell(lambda: (_ for _ in ()).throw(KeyboardInterrupt), graph="b", run="x")
    with open(tmp_path / FILE, "a") as file:
        file.write('{"cell": {"graph": "c"}, "fo')  # killed while it wrote
    second = Kept(tmp_path, RUN)
    assert second.cell(unmeasured, run="x", graph="a") == {"bfs": 3}
    assert second.cell(lambda: {"bfs": 4}, graph="b", run="x") == {"bfs": 4}
    assert second.cell(lambda: {"bfs": 5}, graph="c") == {"bfs": 5}
    third = Kept(tmp_path, RUN)
    assert [line["found"]["bfs"] for line in third.lines()] == [3, 4, 5] and len(third.sessions) == 3


def test_a_cell_that_failed_is_measured_again_and_one_that_was_stopped_is_not(tmp_path: Path) -> None:
    def refuse() -> dict[str, Any]:
        raise InputError("there is no such file")

    kept = Kept(tmp_path, RUN)
    assert kept.cell(refuse, graph="a")["failure"] == "there is no such file"
    kept.cell(lambda: {"failure": "> 8 s"}, graph="b")
    kept = Kept(tmp_path, RUN)
    assert kept.cell(lambda: {"bfs": 1}, graph="a") == {"bfs": 1}
    assert kept.cell(unmeasured, graph="b") == {"failure": "> 8 s"}


def test_cells_of_another_run_are_refused(tmp_path: Path) -> None:
    Kept(tmp_path, RUN)
    with pytest.raises(InputError, match="another run"):
        Kept(tmp_path, {**RUN, "scale": "full"})
    (tmp_path / FILE).write_text("no JSON\n")
    with pytest.raises(InputError, match="line 1: a line is no JSON"):
        Kept(tmp_path, RUN)


# -- rendering ---------------------------------------------------------------------------------------------------
def page() -> Page:
    figure = Figure("Bars", "bars", "graph", "seconds", [
        Series("ours", ["a", "b"], [1.0, None]), Series("theirs, paper", ["a", "b"], [2.0, 0.5], True)], "y",
                    ["a note"])
    curve = Figure("Curve", "lines", "n", "seconds", [Series("ours", [1, 10], [1.0, 3.0])], "xy")
    table = Table("Numbers", ["graph", "paper", "ours"], [["<b>|", "1", ""]], ["more & less"])
    return Page("x", "A <title>", ["Intro."], [("machine", "this")], [
        Section("First", [table, figure]), Section("Second", [curve], ["text"]),
        Section("Third", [Table("None", ["a"], [])])])


def test_markdown_has_all_and_escapes_bars() -> None:
    text = markdown(page(), "python -m x")
    assert text.startswith("# A <title>\n")
    assert "`python -m x` draws the figures in `build/reproduction/x-figures.html`" in text
    assert "| <b>\\| | 1 | - |" in text and "| a | 1 | 2 |\n| b | - | 0.5 |" in text
    assert "Nothing was measured." in text and "more & less" in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert all(len({line.count("|") - line.count("\\|") for line in table.splitlines()}) == 1 for table in tables)


class Tags(HTMLParser):
    """Counts start tags and refuses addresses of other files."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        assert tag not in ("script", "link", "img", "iframe")
        assert all(name != "src" for name, _ in attrs)


@pytest.mark.parametrize("drawn", [True, False])
def test_html_is_one_file_with_drawings_and_escapes(drawn: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not drawn:
        monkeypatch.setattr("bench.papers.html.importlib.util.find_spec", lambda name: None)
    text = html(page())
    tags = Tags()
    tags.feed(text)
    assert tags.counts.get("svg", 0) == (2 if drawn else 0) and tags.counts["table"] == (3 if drawn else 5)
    assert "&lt;b&gt;|" in text and "A &lt;title&gt;" in text and "more &amp; less" in text and "a note" in text


def test_a_table_with_a_wrong_row_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        Table("t", ["a", "b"], [["1"]])
    assert short(None) == ratio(None, 2) == ratio(1, 0) == "-" and ratio(3, 2) == "1.50"


# -- which graphs ------------------------------------------------------------------------------------------------
def setting(folder: Path, scale: str = SMALL) -> Setting:
    cache = Cache(folder / "cache", folder / "data")
    return Setting(scale, 1.0, 1, cache, Programs(None, folder / "foreign"), Kept(None, RUN), folder / "real",
                   folder / "recorded")


def test_a_graph_that_was_fetched_comes_in_place_of_its_stand_in(tmp_path: Path) -> None:
    made = setting(tmp_path)
    there = paper_002.CASES[-1].graph
    cases = (fetched("internet", "internet.egr"), Case("internet", there, STAND_IN),
             Case("uk-2002", there, STAND_IN, "full"))
    assert [case.how for case in chosen(made, cases, ())] == [STAND_IN]
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "internet.egr").touch()
    (only,) = chosen(made, cases, ())
    assert only.how == SAME and Path(only.graph.file).is_file() and made.cache.input_of(only.graph).is_file()
    assert len(chosen(setting(tmp_path, "full"), cases, ())) == 2 and chosen(made, cases, ("uk-2002",)) == []


def test_tables_of_the_papers_belong_together() -> None:
    names = set(published_002.TABLE_1)
    tables = (published_002.TABLE_2, published_002.TABLE_3, published_002.TABLE_4, published_002.TABLE_5)
    assert len(names) == 17 and all(set(table) == names for table in tables)
    for name, one in published_002.TABLE_1.items():
        assert abs(one.arcs / one.vertices - one.average) <= 0.06, name
        assert 90 < sum(published_002.TABLE_4[name]) <= 100.01, name
    # What the page says of the paper's column C.
    for described in published_001.GRAPHS.values():
        assert abs(described.triangles / described.edges - described.clustering) < 2e-4
    assert {one.paper for one in paper_002.CASES} <= names


def test_a_count_that_is_off_is_said_with_those_in_random_order() -> None:
    ny = next(case for case in paper_002.CASES if case.paper == "USA-road-d.NY" and case.how == SAME)
    row = {"case": ny, "paper": ny.paper, "no_winnow": {"exact": True, "bfs": 27}, "fdiam parallel": {
        "exact": True, "bfs": 14}, "no_u": {"exact": False, "bfs": 1}, "random": {"fdiam parallel": {
            "counts": [14, None, 19]}}}
    assert [paper_002.is_off(row, name) for name in ("no_winnow", "fdiam parallel", "no_u")] == [False, True, False]
    (said,) = [text for text in paper_002._explained([{**row, "authors serial": {"bfs": 15}, "graph-diameter": {}}])
               if "in place of" in text]
    assert said == ("USA-road-d.NY, F-Diam: 14 in place of 17 (-18%). `exact --method fdiam --direction paper --order"
                    " random --seed S` takes 14 to 19 for S from 1 to 5. Their own program takes 15 here.")


def test_runs_that_no_limit_of_minutes_ends_get_seconds(tmp_path: Path) -> None:
    made = replace(setting(tmp_path), seconds=200.0)
    assert paper_002._limit(made, "USA-road-d.NY", "ifub serial") == paper_002.SHORT < 200
    assert paper_002._limit(made, "USA-road-d.NY", "no_winnow") == 200
    assert paper_002._limit(replace(made, seconds=300.0), "USA-road-d.NY", "ifub serial") == 300
    graphs = {case.graph.name for case in paper_002.CASES}
    assert all(graph in graphs and set(names) <= set(paper_002.RUNS) for graph, names in paper_002.LONG.items())


def test_masters_are_as_many_a_vertex_as_in_the_paper() -> None:
    assert masters_of(PAPER["levels-sqrt"], 1 << 22) == [64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]
    assert min(masters_of(PAPER["cnr-2000"], 325_557)) >= 4


def test_of_several_roots_the_middle_estimate_counts() -> None:
    stopped: dict[str, Any] = {"status": "stopped", "estimate": None, "lower": 1, "upper": 9}
    cells: list[dict[str, Any]] = [{"estimate": estimate, "seconds": estimate / 2} for estimate in (7, 3, 5)]
    assert median_cell([*cells, stopped]) == {"estimate": 5, "seconds": 2.5, "range": (3, 7)}
    assert median_cell(cells[:1]) == {**cells[0], "range": (7, 7)}
    assert median_cell([cells[0], stopped]) == stopped


def test_weights_are_the_same_in_both_directions(tmp_path: Path) -> None:
    generate("grid", tmp_path / "g.zarr", parameters={"sides": "4x5"})
    rows = drawn_weights(*rows_of(tmp_path / "g.zarr"))
    weights = {}
    for tail in range(rows.n_vertices):
        for arc in range(rows.offsets[tail], rows.offsets[tail + 1]):
            weights[tail, int(rows.heads[arc])] = int(rows.costs[arc])
    assert len(set(weights.values())) > 5 and all(1 <= w <= 255 and weights[v, u] == w for (u, v), w in weights.items())


# -- runs that were recorded, programs ---------------------------------------------------------------------------
def result(n: int, seconds: float, **more: Any) -> dict[str, Any]:
    return {"n_vertices": n, "n_edges": 4 * n, "method": "clusters", "lower": 5, "upper": 9, "estimate": 8,
            "masters": n >> 4,
            "seconds": {"total": seconds}, "bytes_read": int(100 * seconds), "peak_rss_bytes": 1 << 30, **more}


def test_recorded_runs_and_their_growth(tmp_path: Path) -> None:
    for power in (22, 24, 26):
        runs = [{"command": "emdiam approx", "result": result(1 << power, 2.0 ** (1.5 * (power - 22)))}]
        (tmp_path / f"2026-01-01-worst-case-2-{power}.json").write_text(json.dumps({"kind": "worst-case",
                                                                                    "runs": runs}))
    plain = result(1 << 28, 3600.0, method="pivots", lower=7, upper=7, estimate=None, masters=None)
    (tmp_path / "2026-01-01-levels-2-28.json").write_text(json.dumps(plain))
    (tmp_path / "2026-01-01-others.json").write_text("[]")
    found = recorded_runs(tmp_path)
    assert [(run.kind, run.vertices.bit_length() - 1) for run in found] == [
        ("levels-sqrt", 28), ("worst-case", 22), ("worst-case", 24), ("worst-case", 26)]
    assert found[0].answer == "D = 7" and found[1].answer == "5 <= D <= 9, estimate 8"
    assert found[1].what == "clusters, 16"
    ((kind, what, sizes, seconds, read, last),) = growth(found)
    assert (kind, what, len(sizes), last) == ("worst-case", "clusters, 16", 3, 64.0)
    assert seconds == pytest.approx(1.5) and read == pytest.approx(1.5, abs=0.01)


def test_without_a_gpu_a_sentence_says_so(tmp_path: Path) -> None:
    section = recorded(tmp_path, "On a GPU", "dal", "regimes")
    assert section.parts == [] and "--only dal,regimes" in section.text[0]


def test_parts_of_a_gpu_that_are_not_kept_are_named() -> None:
    section = recorded(Path("bench/results"), "On a GPU", "exact", "nosuch")
    assert section.parts and "--only nosuch` measures" in section.text[1]
    assert len(recorded(Path("bench/results"), "On a GPU", "exact").text) == 1


def test_cells_that_are_not_kept_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the page cannot do without them, and on the page where it can."""
    words = ["--scale", "tiny", "--resume", str(tmp_path), "--out", str(tmp_path), "--html", str(tmp_path)]
    for paper in PAPERS:
        assert main([paper, "--kept", *words, "--cache", str(tmp_path / paper)]) == 2
        assert "cells are not measured: " + paper in capsys.readouterr().err
    kept = Kept(None, RUN, measure=False)
    kept.sessions.append({"machine": facts(), "at": "2026-01-01"})
    assert "failure" in kept.cell(unmeasured, graph="a", run="x")
    assert ("not measured", "a x") in with_facts(page(), "python -m x", 1, kept).facts
    assert named([str(i) for i in range(30)]).endswith("; 19; and 10 more")


PATH = [[1], [0, 2], [1, 3], [2]]


def test_files_for_other_programs(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", PATH)
    for name, write in (("g.egr", write_ecl), ("g.tsv", write_pairs), ("g.sg", write_gapbs)):
        assert write(store, tmp_path / name) is None
    convert([tmp_path / "g.egr"], tmp_path / "again.zarr")
    for ours, theirs in zip(rows_of(store), rows_of(tmp_path / "again.zarr"), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert (tmp_path / "g.tsv").read_text().split() == "0 1 1 0 1 2 2 1 2 3 3 2".split()
    assert len((tmp_path / "g.sg").read_bytes()) == 1 + 16 + 5 * 8 + 6 * 4


SAYS = {"F-Diam/fdiam": "iterations: 3\nfinal diameter: 3\nruntime: 0.5 s", "graph-diameter/bin/test":
        "Diameter : 3\n#BFS : 4 -> 6\nTime : 0.25 sec", "gapbs/bfs": "Trial Time: 0.5\nTrial Time:   0.7\nTrial Time:"
                                                                     " 0.6",
        "teexgraph/teexgraph": "Time passed: 0.7 sec.\nIterations: \t7\n    WCC diameter: 3\nTime passed: 1.5e-05 sec.",
        "weighted-diameter/mdiam": "-- diam 1e-05s 6m\nD=3 nbfs=23 time=1.1\n-- diam 0.0011s 6m\n#,diam:3,n:4"}


def test_programs_are_run_where_they_are_built(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", PATH)
    assert Programs(tmp_path / "none", tmp_path / "f").diameter(FDIAM, store, 1, 5.0) == ABSENT
    for name, says in SAYS.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\n")
        program.chmod(0o755)
    programs = Programs(tmp_path, tmp_path / "f")
    found = programs.diameter(FDIAM, store, 2, 30.0)
    assert (found["bfs"], found["diameter"], found["solve"]) == (3, 3,
                                                                 0.5) and found["seconds"] > 0 < found["peak_bytes"]
    found = programs.diameter(AKIBA, store, 2, 30.0)
    assert (found["bfs"], found["diameter"], found["solve"]) == (6, 3, 0.25)
    for program, traversals, seconds in ((TEEXGRAPH, 7, 1.5e-05), (VIENNOT, 23, 0.0011)):
        found = programs.diameter(program, store, 2, 30.0)
        assert (found["bfs"], found["diameter"], found["solve"]) == (traversals, 3, seconds)
    assert (tmp_path / "f" / "g.edges").read_text().split() == "0 1 1 2 2 3".split()
    assert programs.gapbs_bfs(store, [0], 1, 30.0)["solve"] == 0.6
    (tmp_path / "F-Diam" / "fdiam").write_text("#!/bin/sh\nexec sleep 60\n")
    assert programs.diameter(FDIAM, store, 1, 0.2)["failure"].startswith("> ")
    (tmp_path / "F-Diam" / "fdiam").write_text("#!/bin/sh\necho broken >&2; exit 3\n")
    assert programs.diameter(FDIAM, store, 1, 30.0)["failure"] == "failed (3): broken"


# -- tiny runs ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("paper", [paper if paper == "003" else pytest.param(paper, marks=pytest.mark.slow)
                                   for paper in PAPERS])
def test_a_tiny_run_of_each_paper(paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    words = [paper, "--scale", "tiny", "--threads", "2", "--resume", str(tmp_path / "cells"), "--out",
             str(tmp_path / "out"), "--html", str(tmp_path / "drawn"),
             "--cache", str(tmp_path / "cache"), "--programs", str(tmp_path), "--recorded", str(tmp_path),
             *(("--graph", "levels-sqrt") if paper == "003" else ())]
    assert main(words) == 0
    text = (tmp_path / "out" / f"{paper}.md").read_text()
    assert text.count("\n## ") >= 6 and "paper" in text and "machine" in text
    assert (tmp_path / "drawn" / f"{paper}-figures.html").read_text().startswith("<!DOCTYPE html>")
    told = capsys.readouterr()
    n_cells = told.err.count(" s\n")
    assert n_cells >= 3 and told.out.count("\n") == 2
    assert main(words) == 0  # only what is not built or installed is asked again
    assert capsys.readouterr().err.count(" s\n") <= n_cells // 3
    assert main([*words, "--seconds", "99"]) == 2 and "another run" in capsys.readouterr().err
