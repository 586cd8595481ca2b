"""Reports on what each command prints: its section, its figures, how it ended, and what distances are."""

from __future__ import annotations

import json
import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import click
import networkx as nx
import pytest
from click.testing import CliRunner

import emdiam
from emdiam.cli.main import COMMANDS, group
from emdiam.report import answers, draw_figures, make_report, read_report
from emdiam.report.page import document
from emdiam.report.records import COMMANDS as KINDS
from emdiam.report.records import Run, kind_of, outcome

# What a command asks, by a name for it.
CALLS = {
    "exact": "exact plain.zarr --certificate plain.cert", "exact weighted": "exact roads.zarr --weighted",
    "exact directed": "exact arcs.zarr --directed", "approx": "approx plain.zarr --method sweep",
    "ecc": "ecc plain.zarr", "ecc weighted": "ecc roads.zarr --weighted",
    "ecc directed": "ecc arcs.zarr --directed out",
    "radius": "ecc plain.zarr --radius", "distances": "distances plain.zarr",
    "distances directed": "distances arcs.zarr --directed", "sssp": "sssp roads.zarr --source a --target c",
    "sssp apart": "sssp roads.zarr --source a --target y", "apsp": "apsp arcs.zarr --out m.zarr",
    "verify": "verify plain.cert plain.zarr", "convert": "convert edges.txt e.zarr",
    "apply": "apply plain.zarr more.zarr --add edges.txt", "generate": "generate grid grid.zarr --sides 3x4",
    "reorder": "reorder plain.zarr d.zarr --order degree",
}
# Commands without a result that is for a report.
WITHOUT = {"info", "plan", "batch", "report", "warmup", "tradeoff"}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file for each call, with what it printed."""
    folder = tmp_path_factory.mktemp("kinds")
    roads = nx.Graph()
    roads.add_weighted_edges_from([("a", "b", 30245.25), ("b", "c", 30245.25), ("x", "y", 0.5)], weight="km")
    (folder / "edges.txt").write_text("1 2\n2 3\n3 3\n")
    emdiam.convert(nx.lollipop_graph(4, 5), folder / "plain.zarr")
    emdiam.convert(roads, folder / "roads.zarr", weight="km")
    emdiam.convert(nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)]), folder / "arcs.zarr", directed=True)
    files = {}
    with chdir(folder):
        for name, words in CALLS.items():
            done = CliRunner().invoke(group, [*words.split(), "--json", "--quiet"], standalone_mode=False)
            assert done.exception is None, (name, done.output, done.exception)
            files[name] = folder / f"{name.replace(' ', '-')}.json"
            files[name].write_text(done.stdout)
    return files


def test_every_command_is_met():
    commands = {words.split()[0] for words in CALLS.values()}
    assert commands | WITHOUT == set(COMMANDS) and commands | {"tradeoff"} == set(KINDS)
    assert isinstance(group, click.Group)


@pytest.mark.parametrize("name", CALLS)
def test_a_finished_run_is_answered(name: str, results: dict[str, Path]):
    """By itself, and as the result of a job."""
    report, text = make_report([results[name]], "md")
    (run,) = report.runs
    assert (run.family, run.status, run.sentence) == (CALLS[name].split()[0], "answered", None)
    assert "stopped" not in text and "Runs without an answer" not in text
    sections = {section.title: section for section in document(report).sections}
    title = {"ecc": "Eccentricities", "distances": "Distances", "sssp": "Shortest paths", "apsp": "All pairs",
             "verify": "Certificates", **dict.fromkeys(("convert", "apply", "generate", "reorder"), "Stores")}.get(
        run.family)
    assert (title or "Answers") in sections
    assert ("Answers" in sections) == (run.family in ("exact", "approx", "ecc"))
    make_report([results[name]], "html")


def lead(path: Path) -> tuple[str, str, dict[str, str]]:
    """The sentence of a report on one run, what it says of distances, and its tiles, what by figure."""
    page = document(read_report([path]))
    plain = {what: figure.replace("\N{NO-BREAK SPACE}", " ") for figure, what in page.tiles}
    return page.lead.replace("\N{NO-BREAK SPACE}", " "), page.foot.rsplit(". ", 1)[1], plain


EDGES = "Distances are numbers of edges."


@pytest.mark.parametrize(("name", "said", "unit"), [
    ("exact", "plain: D = 6 is proved.", EDGES),
    ("exact weighted", "roads: D = 60,490.5 is proved.", "Distances are sums of km."),
    ("exact directed", "arcs: D = 3 is proved.", "Distances are numbers of edges, along arcs."),
    ("ecc", "plain: radius 3, D = 6 is proved.", EDGES),
    ("radius", "plain: radius 3, ", EDGES),
    ("ecc weighted", "roads: radius 30,245.25, D = 60,490.5 is proved.", "Distances are sums of km."),
    ("distances", "plain: mean distance 2.80556, effective diameter ", EDGES),
    ("sssp", "roads: largest distance 60,490.5, vertices reached 3.", "Distances are sums of km."),
    ("apsp", "arcs: largest distance 3, pairs without a path 3.", "Distances are numbers of edges, along arcs."),
    ("verify", "proved certificate", EDGES), ("convert", "vertices 3, edges 2", EDGES),
])
def test_a_single_answer_is_in_the_first_sentence(name: str, said: str, unit: str, results: dict[str, Path]):
    sentence, last, tiles = lead(results[name])
    words = said.replace("proved certificate", "certificate proved")
    assert words in sentence and last == unit, (sentence, last)
    for figure in re.findall(r"\d[\d,.]*\d", words):
        assert any(figure in value for value in tiles.values()), tiles


def test_eccentricities_have_radius_centre_and_histogram(results: dict[str, Path], tmp_path: Path):
    report, text = make_report([results["ecc"], results["ecc weighted"]], "md")
    whole, _, section, *_ = document(report).sections
    assert (whole.title, section.title, section.closed) == ("Graphs", "Eccentricities", True)
    (table,) = section.tables
    row = dict(zip(table.head, table.rows[0], strict=True))
    assert (row["radius"], row["centre"], row["periphery"], row["diameter"]) == ("3", "1: 5", "4: 0, 1, 2, 8", "6")
    assert dict(zip(table.head, table.rows[1], strict=True))["radius"] == "30,245.25"
    assert section.folded[0][1][0] == ("ecc", "3: 1, 4: 2, 5: 2, 6: 4")
    assert [(plot.name, plot.title) for plot in whole.plots] == [
        ("eccentricities-1", "plain: eccentricities"), ("eccentricities-2", "roads: eccentricities")]
    names = {path.name for path in draw_figures(report, tmp_path / "figures")}
    assert {"eccentricities-1.png", "eccentricities-2.png"} <= names
    assert "| numbers of edges" in text and "| sums of km" in text  # which differ


def test_runs_with_different_distances_say_so_in_tables(results: dict[str, Path]):
    report, text = make_report([results["exact"], results["exact weighted"], results["exact directed"]], "md")
    (table,) = next(one for one in document(report).sections if one.title == "Answers").tables
    at = table.head.index("distances")
    assert [row[at] for row in table.rows] == ["numbers of edges", "sums of km", "numbers of edges, along arcs"]
    assert "The tables say whether distances count edges or sum weights." in text and "largest finite distance" in text


def test_a_store_that_was_written_names_its_graph(results: dict[str, Path]) -> None:
    (section,) = (one for one in document(read_report([results[name] for name in ("convert", "apply")])).sections
                  if one.title == "Stores")
    (table,) = section.tables
    names = [row[table.head.index("graph")] for row in table.rows]
    assert names == ["edges.txt", "networkx"]  # what the stores were made of


def test_the_mean_is_that_of_networkx():
    assert nx.average_shortest_path_length(nx.lollipop_graph(4, 5)) == 2.8055555555555554


def test_distances_and_paths_have_their_figures(results: dict[str, Path]):
    page = document(read_report([results[name] for name in ("distances", "sssp", "sssp apart", "distances directed")]))
    tables = {section.title: section.tables[0] for section in page.sections if section.tables}
    spread = dict(zip(tables["Distances"].head, tables["Distances"].rows[0], strict=True))
    assert spread["mean"] == "2.80556" and spread["pairs with a path"] == "36"
    assert spread["counted"] == "from all vertices" and spread["pairs without"] == "0"
    heads = tables["Shortest paths"].head
    rows = [dict(zip(heads, row, strict=True)) for row in tables["Shortest paths"].rows]
    assert [row["distance to the target"] for row in rows] == ["60,490.5", "infinite"]
    assert [row["largest distance"] for row in rows] == ["60,490.5"] * 2


@pytest.mark.parametrize(("name", "change", "status", "said"), [
    ("exact", {"exact": False, "upper": 9, "diameter": None}, "stopped", "stopped with bounds"),
    ("ecc", {"exact": False, "unresolved": 3, "upper": 9}, "stopped", "stopped with bounds"),
    ("distances", {"complete": False}, "stopped", "stopped early"),
    ("verify", {"verified": False, "reason": "a distance is wrong"}, "failed", "not proved: a distance is wrong"),
])
def test_what_has_no_answer_is_said(name: str, change: dict[str, Any], status: str, said: str,
                                    results: dict[str, Path], tmp_path: Path):
    changed = tmp_path / "run.json"
    changed.write_text(json.dumps({**json.loads(results[name].read_text()), **change}))
    report, text = make_report([changed], "md")
    assert report.runs[0].status == status and "Runs without an answer" in text and said in text


def test_a_result_is_of_one_command():
    assert kind_of({}) == kind_of({"method": "x"}) == ""
    for name in KINDS:
        assert outcome(name, {"rows": [], "verified": True, "complete": True, "exact": True}) == ("answered", None)


def test_a_histogram_of_one_bar_is_no_plot():
    """Its table says all of it; one of two bars is drawn."""
    for histogram, drawn in (({"45": 2000}, 0), ({"44": 3, "45": 1997}, 1)):
        section = answers._eccentricities([Run("a", "done", "ecc", result={"histogram": histogram, "radius": 45})], {})
        assert section is not None and len(section.plots) == drawn
