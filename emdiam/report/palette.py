"""Colours of plots, distinct for colour-blind people too, and what they are called on the page.

On paper and in PNG they are as written. On a page svg.py puts variables of the style sheet in their place,
so that they suit light and dark.
"""

from __future__ import annotations

INK, GRID = "#1a1b1c", "#dcdcdd"
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0a72b2", "#d55e01", "#019e73", "#b54c96", "#76777a"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
VARIABLES = {INK: "currentColor", GRID: "var(--grid)", BLUE: "var(--blue)", ORANGE: "var(--orange)",
             GREEN: "var(--green)", PURPLE: "var(--purple)", GREY: "var(--grey)"}
