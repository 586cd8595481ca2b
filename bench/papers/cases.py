"""Which graph of ours stands beside which one of a paper, and how far it is the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..graphs import Graph, known
from .setting import FULL, SMALL, Setting

SAME, SAME_CLASS, STAND_IN = "the same", "same class", "stand-in"


@dataclass(frozen=True)
class Case:
    """paper : its name there. graph : ours. how : SAME (the same edges), SAME_CLASS (made anew by the same rule, or of
    the same family) or STAND_IN (another graph of the kind). scale : the least one at which it is measured. why :
    what differs."""

    paper: str
    graph: Graph
    how: str
    scale: str = SMALL
    why: str = ""

    @property
    def exact(self) -> bool:
        """Whether counts can be held against the paper's."""
        return self.how == SAME


def fetched(paper: str, file: str, scale: str = FULL) -> Case:
    """The paper's own graph, as fetch.py brings it."""
    return Case(paper, Graph(f"real-{paper}", file=file), SAME, scale)


def label(row: dict[Any, Any]) -> str:
    """What a row is called: the paper's graph, with ours behind it where that is another one. row : has "case"."""
    case = row["case"]
    return case.paper if case.exact else f"{case.paper} ({case.graph.name})"


def chosen(setting: Setting, cases: Iterable[Case], names: tuple[str, ...]) -> list[Case]:
    """The cases that can be measured here at this scale; a real graph that was fetched comes in place of its
    stand-ins, whatever the scale is. names : of the paper, if only some are wanted."""
    there: list[Case] = []
    real: set[str] = set()
    for case in cases:
        if names and case.paper not in names:
            continue
        if case.graph.name.startswith("real-"):
            if (setting.real / case.graph.file).is_file():
                there.append(replace(case,
                                     graph=replace(case.graph, file=str((setting.real / case.graph.file).resolve()))))
                real.add(case.paper)
        elif setting.cache.has(case.graph) and (case.scale == SMALL or setting.scale == FULL):
            there.append(case)
    return [case for case in there if case.graph.name.startswith("real-") or case.paper not in real]


def graph_named(name: str) -> Graph:
    """One of bench/graphs.py."""
    return known()[name]
