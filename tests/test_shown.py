"""What results, reports, stores and events look like in Python and in a notebook."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.shown import Shown


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
    """Whatever a function of the package gives, about a long path."""
    folder = tmp_path_factory.mktemp("shown")
    graph, certificate = nx.path_graph(7701), folder / "c.json"
    made = {"generate": emdiam.generate("path", folder / "p.zarr", vertices=50),
            "convert": emdiam.convert(graph, folder / "g.zarr"),
            "reorder": emdiam.reorder(folder / "g.zarr", folder / "d.zarr", "degree"),
            "exact": emdiam.exact(folder / "g.zarr", certificate=certificate),
            "approximate": emdiam.approximate(graph, method="sweep", iterations=2),
            "verify": emdiam.verify(certificate, graph),
            "plan": emdiam.plan(folder / "g.zarr", method="pivots", memory="2GiB", probe=None)[0],
            "refused": emdiam.plan(folder / "g.zarr", memory="8MiB", probe=None)[0]}
    with emdiam.open(folder / "g.zarr") as store:
        made["store"] = store
    return made


NAMES = ("generate", "convert", "reorder", "exact", "approximate", "verify", "plan", "refused", "store")


@pytest.mark.parametrize("name", NAMES)
def test_all_have_a_line_a_table_and_a_dict(name: str, shown: dict[str, Any]):
    it = shown[name]
    assert isinstance(it, Shown) and set(shown) == set(NAMES)
    text, cells = repr(it), Cells(it._repr_html_()).texts
    assert text.startswith(type(it).__name__ + "(") and "\n" not in text and len(text) < 900
    assert cells[0] == type(it).__name__ and len(cells) >= 5
    assert len(it.to_dict()) >= len(cells) // 2 - 2 and json.loads(json.dumps(it.to_dict(), default=str))


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
    html = emdiam.diameter(graph)._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;a" in html and "x &amp; y" in html
    Cells(html)


def test_what_is_not_known_is_left_out():
    two = emdiam.diameter(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)))
    assert repr(two).startswith("Result(diameter_largest_component=2, lower=2") and "certificate" not in repr(two)


def test_an_event_is_a_line_of_text():
    event = emdiam.Event("read", 3 << 20, 12 << 20, "B", {"lower": 3, "upper": 4_000})
    assert str(event) == "read, 3.0 MiB of 12.0 MiB (25 %), 3 <= D <= 4,000"
    assert str(emdiam.Event("bfs", 1200, None, "arcs", {"lower": 7})) == "bfs, 1,200 arcs, 7 <= D"
    assert str(emdiam.Event("load", 0, None, "arcs")) == str(emdiam.Event("load")) == "load"


def test_tqdm_and_rich_show_what_happens():
    """As docs/python-api.md has it, which the tests of documents run too."""
    from rich.console import Console
    from tqdm.auto import tqdm

    out = StringIO()
    with tqdm(bar_format="{elapsed} {desc}", file=out) as bar:
        emdiam.diameter(nx.path_graph(99), progress=lambda event: bar.set_description_str(str(event)))
    assert "00:00 verify, " in out.getvalue() and "D = 98" in out.getvalue()
    texts: list[str] = []
    with Console(file=StringIO(), force_terminal=True).status("") as status:
        emdiam.diameter(nx.path_graph(99), progress=lambda event: (
            status.update(str(event)), texts.append(str(status.status))))
    assert texts[-1].endswith("D = 98")


def test_a_file_that_is_made_of_a_store_is_said_of_it(shown: dict[str, Any], tmp_path: Path):
    record = shown["store"].to_dict()
    assert record["n_vertices"] == 7701 and record["path"].endswith("g.zarr")
