"""`progress=True` in Python: a view in terminals and notebooks, lines elsewhere."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.live import LiveView
from emdiam.phases import steps_of
from emdiam.progress import Event, by_parts
from emdiam.progress_view import LineView, NotebookView, _view, watching


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


class Display(ModuleType):
    """What IPython.display has, and all that was shown."""

    def __init__(self) -> None:
        super().__init__("IPython.display")
        self.shown: list[str] = []
        self.HTML = str

    def display(self, html: str, display_id: bool) -> Any:
        assert display_id
        self.shown.append(html)
        return SimpleNamespace(update=self.shown.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Display:
    """As if a notebook ran the test."""
    display, shell = Display(), ModuleType("IPython")
    monkeypatch.setattr(shell, "get_ipython", lambda: SimpleNamespace(kernel=object()), raising=False)
    monkeypatch.setattr(shell, "display", display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return display


def test_lines_where_nobody_looks(capsys: pytest.CaptureFixture[str]):
    """A graph of networkx comes in rows, so that nothing is sorted, which would be the second step."""
    graph = nx.path_graph(5)
    emdiam.diameter(graph, progress=True)
    lines = capsys.readouterr().err.splitlines()
    steps = [f"step {k} of 7" for k in (1, 3, 4, 5, 6, 7)]
    assert [line.partition("Z ")[2].partition(":")[0] for line in lines] == steps
    for silent in (None, False):
        emdiam.diameter(graph, progress=silent)
        assert capsys.readouterr() == ("", "")


def test_every_function_takes_true(tmp_path, capsys: pytest.CaptureFixture[str]):
    store = tmp_path / "g.zarr"
    emdiam.generate("path", store, vertices=9, progress=True)
    emdiam.reorder(store, tmp_path / "r.zarr", "bfs", progress=True)
    emdiam.exact(store, certificate=tmp_path / "c.json", progress=True)
    emdiam.verify(tmp_path / "c.json", store, progress=True)
    emdiam.shortest_paths(store, 0, progress=True)
    said = capsys.readouterr().err
    for number in (4, 5, 4, 2):
        assert f"Z step {number} of {number}: " in said


def test_a_terminal_has_a_view_by_rich_or_a_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert isinstance(_view((), None, 0.0), LiveView)
    monkeypatch.setattr("emdiam.progress_view.find_spec", lambda name: None)
    with watching(True, "exact", {}) as view:
        assert isinstance(view, LineView)
        view(Event("load", 0, 100, "blocks"))
        view._next = 0.0
        view(Event("bfs", 7, None, "arcs", facts={"lower": 1, "upper": 4, "verb": "x" * 100}))
    first, second, *end = terminal.getvalue().split("\r")[1:]
    assert first.endswith("step 1 of 3: opening the graph, 0 of 100 blocks (0 %)")
    assert "step 2 of 3: BFS from one vertex at a time" in second and len(second) <= 79
    assert end == [" " * len(second.rstrip(" ")), ""] or end[0].isspace()


def test_a_line_has_no_half_of_a_figure():
    now = [0.0]
    with LineView(screen := io.StringIO(), steps_of("convert", {}), lambda: now[0]) as view:
        for second in (0, 20):
            now[0] = float(second)
            view(Event("read", second << 20, 58_096_801, "edges"))
    assert screen.getvalue().split("\r")[2].endswith("20,971,520 of 58,096,801 edges (36 %)")


def test_lines_break_between_facts_alone():
    """Also where a fact is longer than a line."""
    assert by_parts("3 <= D <= 6, 22 searches, 8 read", 23) == ["3 <= D <= 6,", "22 searches, 8 read"]
    assert by_parts("1,593 <= D <= 1,626, 227 traversals", 8) == ["1,593 <= D <= 1,626,", "227 traversals"]


def test_a_notebook_has_a_bar_that_goes(notebook: Display):
    now = [0.0]
    view = NotebookView(notebook, steps_of("exact", {}), 2.0, lambda: now[0])
    with view:
        view(Event("load", 0, 100, "blocks"))
        assert notebook.shown == []  # no sign of what is over within two seconds
        now[0] = 2.5
        view(Event("load", 50, 100, "blocks"))
        now[0] = 3.0
        view(Event("bfs", 7, None, "arcs", facts={"lower": 1, "upper": 4}))
        view(Event("bfs", 8, None, "arcs"))
    first, second, last = notebook.shown
    assert "<progress value='50' max='100'>" in first and "step 1 of 3: opening the graph" in first
    assert "<progress></progress> 7 arcs" in second and "1 &lt;= D &lt;= 4" in second and last == ""


def test_a_notebook_is_asked_for_nothing(notebook: Display, monkeypatch: pytest.MonkeyPatch):
    emdiam.diameter(nx.path_graph(5))
    assert notebook.shown == []
    emdiam.diameter(nx.path_graph(5), progress=False)
    assert notebook.shown == []
    monkeypatch.setattr("emdiam.progress_view.PATIENCE_SECONDS", 0.0)
    emdiam.diameter(nx.path_graph(5))
    assert "step 1 of 7: reading edges" in notebook.shown[0] and notebook.shown[-1] == ""


def test_a_listener_is_called_as_before():
    phases: list[str] = []
    emdiam.diameter(nx.path_graph(5), progress=lambda event: phases.append(event.phase))
    assert {"read", "load", "bfs"} <= set(phases)
    assert str(Event("bfs", 5, 10, "arcs")) == "BFS from one vertex at a time, 5 of 10 arcs (50 %)"
