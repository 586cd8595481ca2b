"""A report as sections of sentences, tables and plots, before it is HTML or Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Table:
    """Cells as texts. words : how many columns from the left hold words; all others hold figures, which are
    aligned to the right."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1
    caption: str = ""


@dataclass
class Plot:
    """A figure. name : of its file. title : what it shows. caption : what one sees in it, and how to read it.
    draw : makes the matplotlib Figure when it is wanted."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]


@dataclass
class Section:
    """One part of a report. paragraphs : plain text. folded : (summary, text) of long texts."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    folded: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Document:
    """title, lead : one line and one sentence. tiles : (figure, what it is) at the top. foot : last line."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    sections: list[Section]
    foot: str

    def plots(self) -> list[Plot]:
        """All plots, in order."""
        return [plot for section in self.sections for plot in section.plots]
