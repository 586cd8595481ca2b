"""Section small: the diameter of graphs of 4,000 to 100,000 vertices, generated twins of usual kinds (twins.py), by own
methods and other libraries as in the section exact. The searches take milliseconds: what a traversal costs beside its
kernel shows here."""

from __future__ import annotations

from typing import Any

from .exact import measured, more, notes, table
from .graphs import graphs_of
from .setting import Setting

__all__ = ["TITLE", "more", "notes", "run", "table"]

TITLE = "Exact diameter of small graphs in RAM: traversals, seconds to solve, million arcs scanned"


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [measured(setting, graph) for graph in graphs_of("small", setting.quick, setting.names)]
