"""A page: what Markdown and HTML are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Series:
    """Points of a figure. x : numbers, or names of categories. y : numbers, None where there is nothing."""

    name: str
    x: list[Any]
    y: list[float | None]
    paper: bool = False


@dataclass(frozen=True)
class Figure:
    """kind : "bars" (categories), "lines" or "points". logarithmic : axes with logarithmic scales, of "x", "y".
    tabled : whether a table of the page has the points, so that Markdown leaves them out."""

    title: str
    kind: str
    x: str
    y: str
    series: list[Series]
    logarithmic: str = ""
    notes: list[str] = field(default_factory=list)
    tabled: bool = False


@dataclass(frozen=True)
class Table:
    """header : names of columns; rows : texts, a row as long as the header; the first column to the left."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.header)]
        if wrong:
            raise ValueError(f"{self.title}: {len(self.header)} columns, but {wrong[0]}")


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs, and tables and figures below them."""

    title: str
    parts: list[Table | Figure]
    text: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """name : of its files. title; intro : paragraphs; facts : (what, value) of the run; sections in order."""

    name: str
    title: str
    intro: list[str]
    facts: list[tuple[str, str]]
    sections: list[Section]
