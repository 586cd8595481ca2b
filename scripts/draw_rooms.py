#!/usr/bin/env python3
"""draw_rooms.py [FILE]: the rooms of the package and what each imports, drawn from the imports, as docs/rooms.svg.

Rooms and imports are those of tests/test_imports.py. A room stands above all that it imports. An arrow that other
arrows imply is left out.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.test_imports import imports, room, trees  # noqa: E402 - from the root

# What is drawn in place of a name; the functions of the package use nearly all rooms, so that their arrows say nothing.
NAMES = {"top": "errors, units, ..."}
FRONT = "front"
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 148, 32, 22, 40, 16
PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The rooms of emdiam; each imports only rooms below it</title>
<style>
rect {{ fill: #eef3f8; stroke: #44617b }}
path {{ fill: none; stroke: #8296a8; marker-end: url(#tip) }}
text {{ text-anchor: middle; font-family: Helvetica, Arial, sans-serif; font-size: 14px; fill: #14202b }}
@media (prefers-color-scheme: dark) {{ svg {{ filter: invert(.88) hue-rotate(180deg) }} }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" style="fill: #8296a8; stroke: none; marker-end: none"/></marker></defs>
<rect x="0" y="0" width="{width}" height="{height}" style="fill: #fff; stroke: none"/>
{parts}
</svg>
"""


@cache
def uses() -> dict[str, frozenset[str]]:
    """For every room the other rooms that it imports."""
    pairs = {(room(one.module), room(one.target)) for one in imports()}
    rooms = {room(module) for module in trees()} - {FRONT}
    return {one: frozenset(other for here, other in pairs if here == one != other and other != FRONT) for one in rooms}


@cache
def below(one: str) -> frozenset[str]:
    """All rooms that a way of arrows leads to from a room."""
    return uses()[one].union(*(below(other) for other in uses()[one]))


@cache
def height_of(one: str) -> int:
    """How far above the bottom a room stands: one above all that it imports."""
    return 1 + max(map(height_of, uses()[one]), default=-1)


def arrows() -> list[tuple[str, str]]:
    """Those that no way over other arrows implies."""
    return [(one, other) for one in sorted(uses()) for other in sorted(uses()[one])
            if not any(other in below(third) for third in uses()[one])]


def drawing() -> str:
    """The picture as SVG."""
    rows = [sorted(one for one in uses() if height_of(one) == at)
            for at in range(max(map(height_of, uses())), -1, -1)]
    width = max(map(len, rows)) * (WIDTH + ACROSS) + 2 * MARGIN
    place = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + ACROSS) + ACROSS) / 2
        for x, one in enumerate(row):
            place[one] = (left + x * (WIDTH + ACROSS), MARGIN + y * (HEIGHT + DOWN))
    parts = [_arrow(*place[one], *place[other]) for one, other in arrows()] + [_box(one, *place[one]) for one in place]
    height = 2 * MARGIN + len(rows) * (HEIGHT + DOWN) - DOWN
    return PAGE.format(width=round(width), height=height, parts="\n".join(parts))


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """From the lower edge of one box to the upper edge of another."""
    begin, end = x + WIDTH / 2, to_x + WIDTH / 2
    return (f'<path d="M{begin:.0f} {y + HEIGHT} C{begin:.0f} {y + HEIGHT + DOWN} {end:.0f} {to_y - DOWN}'
            f' {end:.0f} {to_y - 5}"/>')


def _box(one: str, x: float, y: float) -> str:
    """A room."""
    return (f'<g><rect x="{x:.0f}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
            f'<text x="{x + WIDTH / 2:.0f}" y="{y + 21}">{NAMES.get(one, one)}</text></g>')


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "rooms.svg").write_text(drawing(), encoding="utf-8")
