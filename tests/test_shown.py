"""What results, reports, stores and events look like in Python and in a notebook."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.runs.tradeoff import Tradeoff
from emdiam.shown import _ESTIMATED, Shown, _words


class Cells(HTMLParser):
    """The texts between tags, which are all closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Whatever a function of the package gives, about a long path, a small graph with weights, and one with
    directions."""
    folder = tmp_path_factory.mktemp("shown")
    graph, certificate, matrix = nx.path_graph(7701), folder / "c.json", folder / "m.zarr"
    roads = nx.Graph()
    roads.add_weighted_edges_from([("a", "b", 30245.25), ("b", "c", 30245.25), ("x", "y", 0.5)])
    arcs = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)])
    streets = nx.DiGraph()
    streets.add_weighted_edges_from([(0, 1, 2.5), (1, 0, 30245.25), (1, 2, 1)])
    ecc = emdiam.eccentricities(graph, certificate=folder / "e.json")
    made = {"generate": emdiam.generate("path", folder / "p.zarr", vertices=50),
            "convert": emdiam.convert(graph, folder / "g.zarr"),
            "apply": emdiam.apply(folder / "g.zarr", folder / "n.zarr", add=[(0, 99)]),
            "reorder": emdiam.reorder(folder / "g.zarr", folder / "d.zarr", "degree"),
            "exact": emdiam.exact(folder / "g.zarr", certificate=certificate),
            "approximate": emdiam.approximate(graph, method="sweep", iterations=2),
            "eccentricities": ecc, "center": ecc.center, "by vertex": ecc.by_vertex(),
            "distances": emdiam.distances(graph, sample=3), "profile": emdiam.profile(roads),
            "verify": emdiam.verify(certificate, graph), "verify ecc": emdiam.verify(folder / "e.json", graph),
            "distances with a proof": emdiam.distances(graph, sample=3, certificate=folder / "d.json"),
            "verify distances": emdiam.verify(folder / "d.json", graph),
            "plan": emdiam.plan(folder / "g.zarr", method="pivots", memory="2GiB", probe=None)[0],
            "refused": emdiam.plan(folder / "g.zarr", memory="8MiB", probe=None)[0],
            "weighted exact": emdiam.exact(roads, weighted=True),
            "weighted approximate": emdiam.approximate(roads, weighted=True),
            "weighted eccentricities": emdiam.eccentricities(roads, weighted=True),
            "directed exact": emdiam.exact(arcs, directed=True),
            "directed approximate": emdiam.approximate(arcs, directed=True),
            "approximate streets": emdiam.approximate(streets, directed=True, weighted=True),
            "directed eccentricities": emdiam.eccentricities(arcs, directed="out"),
            "directed distances": emdiam.distances(arcs, directed=True),
            "weighted distances": emdiam.distances(roads, weighted=True),
            "distances of streets": emdiam.distances(streets, directed=True, weighted=True),
            "exact of streets": emdiam.exact(streets, directed=True, weighted=True, certificate=folder / "s.json"),
            "eccentricities of streets": emdiam.eccentricities(streets, directed="in", weighted=True),
            "verify streets": emdiam.verify(folder / "s.json", streets),
            "table": emdiam.distances(folder / "g.zarr", sources=[0], targets=[1, 2], out=folder / "t.csv"),
            "shortest paths": emdiam.shortest_paths(roads, "a", weighted=True, target="x"),
            "all pairs": emdiam.all_pairs(arcs, directed=True, out=matrix)}
    made["tradeoff"] = Tradeoff("p.zarr", "a digest", 50, 49, {}, 49, "proved", 49, 49, store_name="p")
    made["witness"], made["matrix"] = made["exact"].witness, made["all pairs"].open()
    with emdiam.open(folder / "g.zarr") as store:
        made["store"] = store
    return made


NAMES = ("generate", "convert", "apply", "reorder", "exact", "approximate", "eccentricities", "center", "by vertex",
         "distances", "profile", "verify", "verify ecc",
         "distances with a proof", "verify distances", "plan", "refused", "weighted exact", "weighted approximate",
         "weighted eccentricities", "directed exact", "directed approximate", "approximate streets",
         "directed eccentricities", "directed distances",
         "weighted distances", "distances of streets", "exact of streets", "eccentricities of streets",
         "verify streets", "table", "shortest paths", "all pairs", "tradeoff", "witness", "matrix", "store")
# Bases without an object of their own.
BASES = {"WritingReport"}


def classes(base: type = Shown) -> set[type]:
    """All that show themselves, in all modules of the package."""
    for module in walk_packages(emdiam.__path__, "emdiam."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found = set(base.__subclasses__())
    return found.union(*(classes_of(one) for one in found))


def classes_of(base: type) -> set[type]:
    """Those below one."""
    return set().union(*({one} | classes_of(one) for one in base.__subclasses__()))


def test_every_class_that_shows_itself_is_looked_at(shown: dict[str, Any]):
    assert set(shown) == set(NAMES)
    expected = {one.__name__ for one in classes() if one.__module__.startswith("emdiam.")} - BASES
    assert {type(one).__name__ for one in shown.values()} == expected


@pytest.mark.parametrize("name", NAMES)
def test_all_have_a_line_and_a_table(name: str, shown: dict[str, Any]):
    it = shown[name]
    assert isinstance(it, Shown)
    text, cells = repr(it), Cells(it._repr_html_()).texts
    assert text.startswith(type(it).__name__ + "(") and "\n" not in text and len(text) < 1200
    assert cells[0] == type(it).__name__ and len(cells) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_unique_and_name_what_they_show(name: str, shown: dict[str, Any]):
    """Each label is the end of a name of an attribute that there is, and of no other one that is shown."""
    it = shown[name]
    labels = list(it._shown())
    assert len(set(labels)) == len(labels) == len(set(map(_words, labels)))
    assert len(set(it.shown)) == len(it.shown)
    for label in labels:
        names = [*it.shown, *it._IF_TRUE]
        (of,) = {label} if label in names else {one for one in names if one.endswith("." + label)}
        value: Any = it
        for part in of.split("."):
            value = value[part] if isinstance(value, dict) else getattr(value, part)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"witness", "center", "matrix"}))
def test_all_have_a_dict(name: str, shown: dict[str, Any]):
    assert json.loads(json.dumps(shown[name].to_dict(), default=str))


def test_every_number_has_all_of_its_digits(shown: dict[str, Any]):
    """But seconds, and in a table means."""
    for name, it in shown.items():
        text, cells = repr(it), Cells(it._repr_html_()).texts
        for label, value in it._shown().items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                assert f"{label}={value!r}" in text, (name, label)
                assert label.endswith(_ESTIMATED) or f"{value:,}" in cells, (name, label)
    assert "lower=60490.5, upper=60490.5, " in repr(shown["weighted exact"])
    assert "60,490.5" in shown["weighted exact"]._repr_html_()


def test_what_an_answer_is_about_is_said(shown: dict[str, Any]):
    for name in ("weighted exact", "weighted approximate", "weighted eccentricities"):
        text = repr(shown[name])
        assert "diameter=infinite (2 components)" in text and "weighted=True" in text, text
        assert "weight='weight'" in text and "directed" not in text
        cells = Cells(shown[name]._repr_html_()).texts
        assert cells[cells.index("diameter") + 1] == "infinite (2 components)"
        assert cells[cells.index("weighted") + 1] == "yes"
    for name in ("directed exact", "directed eccentricities"):
        assert "diameter=infinite (2 strong components)" in repr(shown[name])
    for name in ("directed exact", "directed eccentricities", "directed distances", "all pairs"):
        assert "directed=True" in repr(shown[name]) and "weighted" not in repr(shown[name])
    assert "distance=infinite (there is no path)" in repr(shown["shortest paths"])
    for name in ("exact", "eccentricities", "distances"):
        assert "directed" not in repr(shown[name]) and "weighted" not in repr(shown[name])


def test_parts_of_a_result_are_not_taken_for_the_whole(shown: dict[str, Any]):
    """The error of the mean is not the mean, and the periphery is not the centre."""
    found = shown["distances"]
    assert found.standard_error.mean != found.mean
    assert f"(mean={found.mean!r}, " in repr(found)
    assert f"standard_error.mean={found.standard_error.mean!r}" in repr(found)
    cells = Cells(found._repr_html_()).texts
    assert cells[cells.index("mean") + 1] == f"{found.mean:,.4f}".rstrip("0").rstrip(".")
    error = cells[cells.index("standard error mean") + 1].replace(",", "")
    assert float(error) == pytest.approx(found.standard_error.mean, abs=5e-5) and len(error.partition(".")[2]) <= 4
    ecc = shown["eccentricities"]
    assert "center.size=1, periphery.size=2" in repr(ecc) and repr(ecc.center) == "VertexSet(size=1, ids=[3850])"


def test_exact_numbers_are_shown_as_they_are():
    class Answer(Shown):
        shown = ("decimal", "fraction", "large", "seconds")
        decimal, fraction, large, seconds = Decimal("0.30"), Fraction(1, 3), 10**50, {"total": 1.23456}

    assert repr(Answer()) == f"Answer(decimal=0.30, fraction=1/3, large={10**50}, seconds={{'total': 1.23}})"
    assert {"0.30", "1/3", f"{10**50:,}", "total 1.23"} <= set(Cells(Answer()._repr_html_()).texts)


def test_a_path_of_7701_vertices_is_not_printed(shown: dict[str, Any]):
    result = shown["exact"]
    assert len(result.witness.path) == 7701
    assert repr(result).startswith("Result(diameter=7700, diameter_largest_component=7700, lower=7700, upper=7700, ")
    assert "n_vertices=7701, n_edges=7700, n_components=1, witness=Witness(source=" in repr(result)
    assert len(repr(result.witness)) < 100 and ", ...]" in repr(result.witness)
    cells = Cells(result._repr_html_()).texts
    assert cells[cells.index("diameter") + 1] == "7,700" and cells[cells.index("exact") + 1] == "yes"
    assert repr(shown["store"]).count("n_edges=7700") == repr(shown["convert"]).count("n_edges=7700") == 1
    assert "Witness" in repr(shown["approximate"]) and repr(shown["approximate"]).startswith("Approximation(estimate=")


def test_names_are_texts_in_a_table_and_not_html():
    graph = nx.path_graph(["<b>a", "x & y"])
    assert {"<b>a", "x & y"} <= set(emdiam.diameter(graph).witness.path)
    cells = Cells(emdiam.diameter(nx.path_graph("abcdefghijk"))._repr_html_()).texts
    path = ", ".join("abcdefgh" if cells[cells.index("witness") + 1].startswith("source a") else "kjihgfed")
    assert cells[cells.index("witness") + 1].endswith(f"; length 10; path {path}, ...")
    html = emdiam.diameter(graph)._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;a" in html and "x &amp; y" in html
    Cells(html)


def test_a_table_does_not_repeat_the_diameter():
    path, two = nx.path_graph(4), nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    rows = Cells(emdiam.diameter(path)._repr_html_()).texts
    assert rows[1:3] == ["diameter", "3"] and not {"lower", "upper", "diameter largest component"} & set(rows)
    rows = Cells(emdiam.diameter(two)._repr_html_()).texts
    assert rows[rows.index("diameter largest component") + 1] == rows[rows.index("upper") + 1] == "2"


def test_what_is_not_known_is_left_out():
    two = emdiam.diameter(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)))
    assert repr(two).startswith("Result(diameter=infinite (2 components), diameter_largest_component=2, lower=2")
    assert "certificate" not in repr(two)


def test_an_event_is_a_line_of_text():
    event = emdiam.Event("read", 3 << 20, 12 << 20, "B", {"lower": 3, "upper": 4_000})
    assert str(event) == "reading edges, 3.0 MiB of 12.0 MiB (25 %), 3 <= D <= 4,000"
    assert str(emdiam.Event("bfs", 1200, None, "arcs", {"lower": 7})) == (
        "BFS from one vertex at a time, 1,200 arcs, 7 <= D")
    assert str(emdiam.Event("load", 0, None, "arcs")) == str(emdiam.Event("load")) == "opening the graph"


def test_tqdm_and_rich_show_what_happens():
    """As docs/python-api.md has it, which the tests of documents run too."""
    from rich.console import Console
    from tqdm.auto import tqdm

    out = StringIO()
    with tqdm(bar_format="{elapsed} {desc}", file=out) as bar:
        emdiam.diameter(nx.path_graph(99), progress=lambda event: bar.set_description_str(str(event)))
    assert "checking the longest path, " in out.getvalue() and "D = 98" in out.getvalue()
    texts: list[str] = []
    with Console(file=StringIO(), force_terminal=True).status("") as status:
        emdiam.diameter(nx.path_graph(99), progress=lambda event: (
            status.update(str(event)), texts.append(str(status.status))))
    assert texts[-1].endswith("D = 98")


def test_a_file_that_is_made_of_a_store_is_said_of_it(shown: dict[str, Any], tmp_path: Path):
    record = shown["store"].to_dict()
    assert record["n_vertices"] == 7701 and record["path"].endswith("g.zarr")


def test_what_the_witness_has_is_not_looked_for_in_vain():
    found = emdiam.diameter(nx.path_graph(3))
    for name in ("path", "source"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'; it has witness\.{name}$"):
            getattr(found, name)
    assert not hasattr(found, "nothing") and copy.copy(found).diameter == 2


def test_means_are_rounded_in_a_table_and_not_in_a_line():
    class Answer(Shown):
        shown = ("mean", "ratio", "effective_diameter", "upper")
        mean, ratio, effective_diameter, upper = 1234.567891, 0.000123456, 0.0, 1.23456789

    assert {"1,234.5679", "0.0001235", "0.0", "1.23456789"} <= set(Cells(Answer()._repr_html_()).texts)
    assert "mean=1234.567891, ratio=0.000123456" in repr(Answer())
