"""Reports: what is read, what is said, and that nothing of it can bite."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest

from emdiam.errors import InputError
from emdiam.report import draw_figures, make_report, read_report, report_text
from emdiam.report.page import document
from emdiam.report.parts import Point, points
from emdiam.report.read import track_of
from emdiam.report.records import Run
from tests.helpers.report_runs import (
    NASTY,
    approximation,
    events,
    exact_result,
    interval,
    job,
    tradeoff_result,
    write_batch,
    write_lines,
    write_long_night,
)

SECTIONS = ["Graphs", "Runs without an answer", "Answers", "Approximations: quality and price", "Cost", "Bounds",
            "Frontiers", "Where time went", "Planned and measured", "Runs and their options"]
VOID = {"meta", "link", "br", "use"}


class Outline(HTMLParser):
    """Tags, texts of headings, ids and links of a page; every element must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name and value is not None]


def single(folder: Path, result: dict, name: str = "run") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(result))
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_report([write_batch(tmp_path_factory.mktemp("night"))], "html")[1]


# -- the page -------------------------------------------------------------------------------------
def test_a_night_has_every_section(page: str):
    outline = Outline(page)
    assert outline.headings == SECTIONS
    assert {"table", "svg", "figure", "figcaption", "details", "nav"} <= set(outline.tags)
    text = " ".join(outline.texts)
    for said in ("there is no such store; make one with", "the least is 231.4 MiB", "missing has failed",
                 "the time limit is over", "D\xa0=\xa040", "40\xa0≤\xa0D\xa0≤\xa060", "a to z",
                 "--method clusters", "several 2", "clusters-4", "search (seconds)", "traversals, spreads included"):
        assert said in text, said


def test_a_page_needs_nothing_and_runs_nothing(page: str):
    outline = Outline(page)
    assert not {"script", "iframe", "img", "object", "embed", "base", "form"} & set(outline.tags)
    assert "default-src 'none'" in page
    links = outline.values("href") + outline.values("xlink:href") + outline.values("src")
    assert all(link.startswith(("#", "data:,")) for link in links)
    assert not any(name.startswith("on") for name, _ in outline.attributes)
    styles = [*outline.values("style"), *re.findall(r"<style.*?</style>", page, re.DOTALL)]
    assert all("@import" not in style and "url(http" not in style for style in styles)


def test_names_are_unique_and_links_lead_somewhere(page: str):
    outline = Outline(page)
    names = outline.values("id")
    assert len(names) == len(set(names))
    for link in outline.values("href") + outline.values("xlink:href"):
        assert link == "data:," or link[1:] in names
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(names)


def test_what_users_wrote_is_text(page: str):
    assert "<script>alert" not in page
    assert NASTY in " ".join(Outline(page).texts)  # as a parser reads it, unchanged
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("result", [exact_result(), interval(), approximation(), tradeoff_result()],
                         ids=["exact", "interval", "approx", "tradeoff"])
def test_a_single_result_is_a_report(tmp_path: Path, result: dict):
    report, text = make_report([single(tmp_path, result)], "html")
    assert len(report.runs) == 1
    headings = Outline(text).headings
    assert headings[-1] == SECTIONS[-1]
    if "rows" in result:
        assert headings[:-1] == ["Quality against cost", "All runs", "Cost"]
    else:
        assert headings == [title for title in SECTIONS if title in headings] and "Answers" in headings
        assert "Bounds" not in headings and "would show how its bounds closed" in text
    assert report.runs[0].status == ("stopped" if result is not None and result.get("upper") == 60 else "answered")


def test_results_are_put_side_by_side(tmp_path: Path):
    paths = [single(tmp_path, exact_result(), "one"), single(tmp_path, approximation(store_digest="d1"), "two")]
    report = read_report(paths)
    assert [run.name for run in report.runs] == ["one", "two"]
    (point,) = points(report.runs)
    assert point.quality == 50 / 40  # the other run has proved the diameter of this store
    assert point.width == (55 - 40) / 40


def test_an_unknown_diameter_gives_no_quality(tmp_path: Path):
    (point,) = points(read_report([single(tmp_path, approximation(store_digest="other"))]).runs)
    assert point.quality is None


def test_an_empty_night_says_so(tmp_path: Path):
    (tmp_path / "results.jsonl").write_text("")
    for format in ("html", "md"):
        text = make_report([tmp_path], format)[1]
        assert "There are no runs in it yet" in text and "Runs and their options" not in text
    assert json.loads(make_report([tmp_path], "json")[1])["runs"] == []


def test_what_says_nothing_is_left_out(tmp_path: Path):
    """Columns of dashes, plots of one mark, bounds that never moved; and a run has no section of its own twice."""
    (tmp_path / "run.events.jsonl").write_text("".join(json.dumps(record) + "\n" for record in events()[:3]))
    report = read_report([single(tmp_path, approximation(store_name="web", witness=None))])
    parts = {section.title: section for section in document(report).sections}
    assert list(parts) == ["Answers", "Approximations: quality and price", "Cost", "Bounds", "Where time went",
                           "Planned and measured", "Runs and their options"]
    assert parts["Answers"].tables[0].head == [
        "run", "graph", "proved", "method's estimate", "components", "vertices", "edges"]
    assert not parts["Cost"].plots and not parts["Approximations: quality and price"].plots
    assert parts["Bounds"].plots[0].caption.startswith("web: 40 ≤ D ≤ 55 after 0 s of search; start-up")
    report.runs[0].result = None
    assert [section.title for section in document(report).sections] == ["Where time went", "Runs and their options"]


def test_a_disconnected_graph_is_told(tmp_path: Path):
    text = make_report([single(tmp_path, exact_result(connected=False, n_components=12, diameter=None))], "md")[1]
    assert "graph of several components is infinite; D is then" in text and "D = 40" in text


def test_ties_of_components_are_shown(tmp_path: Path):
    tied = exact_result(connected=False, n_components=12, diameter=None, details={"several_largest_components": True})
    assert "12, several of the largest size" in make_report([single(tmp_path, tied)], "md")[1]


def test_runs_of_one_name_are_told_apart(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tradeoff.json").write_text(json.dumps(tradeoff_result()))
    sources = [tmp_path / "a", tmp_path / "b", *(single(tmp_path / at, exact_result(), "x") for at in ("a", "b"))]
    report = read_report(sources)
    assert [run.name for run in report.runs] == ["a", "b", "x", "x (2)"]
    assert [point.name for point in points(report.runs)][::3] == ["a: clusters-1", "b: clusters-1"]


def test_many_runs_have_the_plots_of_the_longest(tmp_path: Path):
    """And the page says so."""
    paths = [single(tmp_path, exact_result(seconds={**exact_result()["seconds"], "total": 2.0 + i}), f"r{i}")
             for i in range(14)]
    for path in paths:
        write_lines(path.with_suffix(".events.jsonl"), events())
    parts = {section.title: section for section in document(read_report(paths)).sections}
    bounds = parts["Bounds"]
    assert [parts[title].tables[0].folded for title in ("Answers", "Cost")] == [None, "All 14 as a table"]
    assert [plot.title for plot in bounds.plots] == [f"r{i}" for i in range(2, 14)]
    assert bounds.legend.endswith("These are the 12 of 14 runs that took longest.")


def test_graphs_have_the_best_bounds_of_all_their_runs(tmp_path: Path):
    """Of two graphs of one name and size whose bounds contradict each other, none."""
    of = {"store_name": "web", "n_vertices": 1000}
    runs = [exact_result(**of | {"lower": 30, "upper": 60}), approximation(**of | {"lower": 35, "upper": 55}),
            exact_result(store_name="road", lower=5, upper=5), exact_result(store_name="road", lower=9, upper=9)]
    paths = [single(tmp_path, one, f"r{place}") for place, one in enumerate(runs)]
    whole = document(read_report(paths)).sections[0]
    assert whole.tables[0].head[:2] == ["graph", "diameter"]
    assert [row[:2] for row in whole.tables[0].rows] == [["web", "35\xa0≤\xa0D\xa0≤\xa055"], ["road", "–"]]


def test_when_where_and_how_it_was_made(tmp_path: Path):
    job_file = write_batch(tmp_path / "night") / "results.jsonl"
    lines = [json.loads(line) for line in job_file.read_text().splitlines()]
    for place, line in enumerate(lines):
        line["began"] = f"2026-01-01T0{place}:00:00+00:00"
    write_lines(job_file, lines)
    report = read_report([tmp_path / "night"])
    made = document(replace(report, at="2026-02-03T04:05+01:00", host="node7")).made
    assert made == ("Run 2026-01-01 00:00 UTC to 2026-01-01 08:00 UTC by emdiam 0.1.0. Page of 2026-02-03 03:05 UTC on"
                    f" node7, by: emdiam report {tmp_path / 'night'}")


def test_costs_are_folded_where_answers_are_not(page: str):
    closed = re.findall(r'<details class="whole"><summary><h2>([^<]+)', page)
    assert closed == ["Answers", "Cost", "Bounds", "Frontiers", "Where time went", "Planned and measured",
                      "Runs and their options"]


def test_a_long_night_begins_short(tmp_path: Path):
    """With the first graphs, plots and failures; the others are one click away, and links open what is folded."""
    report, text = make_report([write_long_night(tmp_path)], "html")
    whole, missing = document(report).sections[:2]
    assert (whole.title, missing.title) == ("Graphs", "Runs without an answer") and len(report.runs) == 22
    assert [(len(table.rows), table.folded) for table in (*whole.tables, *missing.tables)] == [
        (8, None), (4, "More graphs: 4"), (8, None), (2, "More runs: 2")]
    opened = re.sub(r"<details.*?</details>", "", text.replace("</section>", "</details>"), flags=re.DOTALL)
    assert (opened.count("<figure"), text.count("<figure")) == (4, 14) and "More plots: 8" in text
    assert {plot.caption for plot in whole.plots} == {""} and whole.legend.startswith("Vertices by ecc")
    assert [plot.title.partition(":")[0] for plot in whole.plots] == [row[0] for table in whole.tables for row in
                                                                      table.rows]
    assert '<details class="whole"><summary><h2>Cost</h2></summary><div id="cost">' in text


def test_a_trade_off_has_a_page_of_its_own(tmp_path: Path):
    """With the front, what more masters do, and what the paper finds."""
    result = tradeoff_result()
    for k, row in zip((1, 2, 4), result["rows"], strict=True):
        row |= {"seconds_search": 8.0 / k, "masters": k, "masters_label": f"~{k}", "on_front_seconds": k != 2,
                "condensed_vertices": k, "condensed_edges": k, "max_master_gap": 9 - k, "max_master_distance": 7 - k}
    page = document(read_report([single(tmp_path, result)]))
    assert page.title == "Trade-off: g" and page.lead.startswith("3 runs on a graph of 1,000 vertices and 2,000 edges")
    quality = page.sections[0]
    assert [row[0] for row in quality.tables[0].rows] == ["clusters-4", "clusters-1"]  # cheapest first
    assert [plot.name for plot in quality.plots] == ["quality-seconds-search", "masters"]
    said = " ".join(quality.paragraphs)
    assert "clusters-4 is cheapest (2 s, 1.1 times D), clusters-1 is closest (8 s, 1.025 times D)" in said
    assert "More masters made the estimate no closer: 1.025 times D with 1 (8 s), 1.1 times D with 4" in said
    assert "The paper finds both trends" in said and all(plot.draw() is not None for plot in quality.plots)


def test_labels_of_points_cover_no_other():
    from emdiam.report.drawing import draw_quality

    points = [Point(f"p{i}", "g", "clusters", 0.1 + 0.004 * i, None, 10.0 + i % 3, 10.0, 9.0, 12.0, f"~2^{i}")
              for i in range(7)]
    figure = draw_quality(points)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 7 and not any(one.overlaps(other) for one, other in combinations(boxes, 2))


# -- other formats --------------------------------------------------------------------------------
def test_markdown_has_the_tables_and_no_markup_of_users(tmp_path: Path):
    text = make_report([write_batch(tmp_path / "night")], "md")[1]
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [
        title for title in SECTIONS if title not in ("Bounds", "Frontiers")]  # which have plots alone
    assert "orange" not in text and "Commands of 10 runs:\n\n- good: emdiam exact" in text
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if "script" in line and line[0] == "|"}
    assert widths == {5, 6, 11}  # the cells' own bars are escaped
    assert "<script>" not in text and r"\<script\>" in text


def test_json_is_json_even_with_infinity(tmp_path: Path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(exact_result(details={"x": float("inf"), "y": float("nan")})))
    data = json.loads(make_report([path], "json")[1], parse_constant=lambda name: pytest.fail(name))
    assert data["runs"][0]["result"]["details"] == {"x": None, "y": None}


def test_figures_are_files(tmp_path: Path):
    report = read_report([write_batch(tmp_path / "night")])
    files = draw_figures(report, tmp_path / "figures")
    names = {path.stem for path in files}
    assert {"times", "bounds-1", "frontier-1", "phases-1", "memory", "quality-2"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in files)


def test_without_matplotlib_a_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("emdiam.report.page.find_spec", lambda name: None)
    night = write_batch(tmp_path / "night")
    with pytest.raises(InputError, match=r"emdiam\[plots\]"):
        make_report([night], "html")
    with pytest.raises(InputError, match=r"emdiam\[plots\]"):
        draw_figures(read_report([night]), tmp_path / "figures")
    assert "## Answers" in make_report([night], "md")[1]


def test_the_same_source_gives_the_same_page(tmp_path: Path):
    report = read_report([write_batch(tmp_path / "night")])
    assert report_text(report, "html") == report_text(report, "html")


# -- events ---------------------------------------------------------------------------------------
def test_events_are_bounds_traversals_profiles_and_phases():
    track = track_of([json.dumps(record) for record in events()])
    assert track.command == "exact" and track.arguments["store"] == "g.zarr"
    assert [(b.at, b.search, b.traversals, b.lower, b.upper) for b in track.bounds] == [
        (0.5, 0, 0, 0, 999), (1.25, 0.25, 1, 20, 60), (1.5, 0.5, 2, 40, 60), (2.25, 1.25, 3, 40, 40)]
    assert [(t.number, t.at, t.seconds, t.levels) for t in track.traversals] == [
        (1, 1.25, 0.25, 20), (2, 1.5, 0.25, 20), (3, 2.25, 0.25, 20)]
    assert track.profiles[0] == ("traversal 1 (bfs)", [(0, 1), (1, 30), (2, 5)])
    assert [(s.phase, s.seconds, s.bytes_read) for s in track.spells] == [
        ("start", 0.5, 0), ("load", 0.5, 1000), ("bfs", 1.0, 2000), ("certify", 0.5, None)]
    assert (track.seconds, track.search) == (2.5, 1.5)


def test_the_time_of_kernels_is_no_search():
    """An eighth of a second of them while the graph is loaded, a quarter in the first traversal."""
    records = [{**record, "kernel_seconds": 0.125 * (record["at"] > 0.5) + 0.25 * (record["at"] > 1.0)}
               for record in events()]
    track = track_of([json.dumps(record) for record in records])
    assert [(b.at, b.search) for b in track.bounds] == [(0.5, 0), (1.25, 0), (1.5, 0.25), (2.25, 1)]
    assert {spell.phase: spell.seconds for spell in track.spells} == {
        "start": 0.5, "load": 0.375, "kernels": 0.375, "bfs": 0.75, "certify": 0.5}
    again = [*records, *({**record, "run": "bb"} for record in records)]  # counted from 0 again
    assert track_of([json.dumps(record) for record in again]).search == 2 * track.search == 2 * 1.25


def test_runs_are_compared_by_the_search():
    """With the start-up that a result tells, or as results of earlier versions had it."""
    for seconds, startup in (({"startup": 1.25}, 1.25), ({"compile": 0.25}, 0.75), ({"compile": 9.0}, 2.5)):
        run = Run("r", "answered", result=exact_result(seconds={**exact_result()["seconds"], **seconds}))
        assert (run.startup, run.search) == (startup, 2.5 - startup)
    assert (Run("r", "failed", seconds=3.0).startup, Run("r", "failed", seconds=3.0).search) == (None, None)
    track = track_of([json.dumps(record) for record in events()])  # of a job whose result says less, or nothing
    other = Run("r", "answered", result={"seconds": {"total": 2.0}}, track=track)
    assert (other.startup, other.search) == (0.5, 1.5)
    assert Run("r", "answered", seconds=3.0, track=track).startup == 1.0


def test_a_run_that_went_on_is_laid_behind_the_one_before():
    lines = [json.dumps(record) for record in [*events("aa")[:5], *events("bb")]]
    track = track_of([*lines[:5], '{"record": "prog', *lines[5:]])
    assert track.n_skipped == 1 and track.n_events == 13
    assert [t.at for t in track.traversals] == [1.25, 1.5, 2.75, 3.0, 3.75]
    assert [(b.lower, b.upper) for b in track.bounds] == [(0, 999), (20, 60), (40, 60), (40, 40)]  # what holds, holds
    assert sum(s.seconds for s in track.spells) == pytest.approx(1.5 + 2.5) and track.search == 0.5 + 1.5


@pytest.mark.parametrize("line", ["[1]", "7", '{"at": "x"}', '{"at": NaN}', '{"at": -1}', "{}", '{"at": true}'])
def test_lines_that_are_no_events_are_counted(line: str):
    track = track_of([line, "", json.dumps(events()[1])])
    assert (track.n_skipped, track.n_events) == (1, 1)


def test_odd_records_do_no_harm():
    odd = [{"at": 1, "record": "traversal", "profile": [[1, "x"], 7], "seconds": "y", "number": None},
           {"at": 2, "record": "progress", "phase": None, "facts": 7}, {"at": 3, "record": "begin", "arguments": 1}]
    track = track_of([json.dumps(record) for record in odd])
    assert track.n_events == 3 and track.profiles == [] and track.traversals[0].seconds is None


# -- sources --------------------------------------------------------------------------------------
def test_the_last_line_of_a_job_counts_and_a_torn_one_is_told(tmp_path: Path):
    path = write_lines(tmp_path / "results.jsonl", [job("a", "failed"), job("b"), job("a", result=exact_result())])
    with open(path, "a") as file:
        file.write('{"job": "c", "sta')
    report = read_report([path])
    assert {run.name: run.status for run in report.runs} == {"a": "answered", "b": "answered"}
    assert report.notes == ["the last line of results.jsonl is cut off, and is left out"]


def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path):
    write_lines(tmp_path / "outside" / "events.jsonl", events())
    folder = tmp_path / "night"
    write_lines(folder / "results.jsonl", [job("../../outside", result=exact_result())])
    (folder / "jobs").mkdir()
    assert read_report([folder]).runs[0].track is None


def test_events_beside_a_result_are_found(tmp_path: Path):
    path = single(tmp_path, exact_result())
    write_lines(tmp_path / "run.events.jsonl", events())
    (run,) = read_report([path]).runs
    assert run.graph == "g.zarr" and run.command == "emdiam exact g.zarr with memory 1073741824"
    assert run.track is not None and len(run.track.traversals) == 3


def test_trade_off_folders_are_read(tmp_path: Path):
    (tmp_path / "tradeoff.json").write_text(json.dumps(tradeoff_result(n_cells=5)))
    (run,) = read_report([tmp_path]).runs
    assert (run.family, run.status) == ("tradeoff", "stopped")
    assert len(points([run])) == 3


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.json", "{", "not JSON"), ("a.json", "[]", "not the result of exact"), ("a.json", '{"rows": 7}', "trade-off"),
    ("a.jsonl", "7\n", "line 1: this is not the result of a job"), ("a.jsonl", "{\n{}\n", "line 1"),
    ("a.json", "[" * 100_000, "not JSON"), ("a.jsonl", '{"any": 1}\n', "not the result of exact"),
    ("a.json", '{"record": "begin"}', "not the result of exact"),
    ("a.jsonl", '{"record": "begin", "run": "00000000", "at": 0.1}\n', "line 1: these are events.*--json > NAME.json"),
])
def test_what_is_no_result_is_refused_with_a_sentence(tmp_path: Path, name: str, text: str, said: str):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_report([path])


def test_absent_binary_and_foreign_sources_are_refused(tmp_path: Path):
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    for source, said in ((tmp_path / "absent.json", "No such file"), (tmp_path / "b.json", "UTF-8"),
                         (tmp_path, "neither results.jsonl nor tradeoff.json")):
        with pytest.raises(InputError, match=said):
            read_report([source])
    with pytest.raises(InputError, match="nothing to report"):
        read_report([])
