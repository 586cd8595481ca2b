#!/usr/bin/env python3
"""draw_rooms.py [FILE]: the rooms of the package and what each imports, drawn from the imports, as docs/rooms.svg.

A room is a folder of emdiam/ (the parts of methods/ are rooms of their own). A room stands above all that it imports.
An arrow that other arrows imply is left out; the modules at the top of the package, which every room may import, are
one room at the bottom.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "emdiam"
TOP = "errors, units, ..."
SPLIT = {"methods"}
WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 148, 46, 22, 44, 16
# These use all rooms, so that their arrows would say nothing.
FRONT = {"__init__", "__main__", "api"}

PAGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The rooms of emdiam; each imports only rooms below it</title>
<style>
rect {{ fill: #eef3f8; stroke: #44617b }}
path {{ fill: none; stroke: #8296a8; marker-end: url(#tip) }}
text {{ text-anchor: middle; font-family: Helvetica, Arial, sans-serif; fill: #14202b }}
.name {{ font-size: 14px; font-weight: bold }}
.size {{ font-size: 11px }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" style="fill: #8296a8; stroke: none; marker-end: none"/></marker></defs>
<rect x="0" y="0" width="{width}" height="{height}" style="fill: #fff; stroke: none"/>
{parts}
</svg>
"""


def room_of(module: str) -> str:
    """The room of a dotted module."""
    parts = module.split(".")[1:]
    if not parts or not (PACKAGE / parts[0]).is_dir():
        return TOP
    if parts[0] in SPLIT and len(parts) > 1 and (PACKAGE / parts[0] / parts[1]).is_dir():
        return "/".join(parts[:2])
    return parts[0]


def module_of(file: Path) -> str:
    """The dotted module of a file."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path) -> Iterator[str]:
    """Modules of the package that a file imports, those for types alone left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for_types = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If)
                 and "TYPE_CHECKING" in ast.unparse(node.test) for inner in ast.walk(node)}
    package = module_of(file) if file.name == "__init__.py" else module_of(file).rpartition(".")[0]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in for_types:
            continue
        base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
        source = ".".join(part for part in (base, node.module or "") if part)
        if source.split(".")[0] == "emdiam":
            for name in node.names:
                inner = f"{source}.{name.name}"
                path = ROOT / inner.replace(".", "/")
                yield inner if path.is_dir() or path.with_suffix(".py").exists() else source


def room_imports() -> dict[str, set[str]]:
    """For every room the other rooms that it imports."""
    uses: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        room = room_of(module_of(file))
        if room == TOP and file.stem in FRONT:
            continue
        reached = {room_of(module) for module in imported(file)}
        uses.setdefault(room, set()).update(reached - {room})
    uses.get(TOP, set()).clear()
    return uses


def floors(uses: dict[str, set[str]]) -> dict[str, int]:
    """How far above the bottom each room stands: one above all that it imports. Raises ValueError in a circle."""
    heights: dict[str, int] = {}

    def height(room: str, way: tuple[str, ...]) -> int:
        if room in way:
            raise ValueError(f"a circle: {' -> '.join((*way, room))}")
        if room not in heights:
            heights[room] = 1 + max((height(other, (*way, room)) for other in uses[room]), default=-1)
        return heights[room]

    for room in uses:
        height(room, ())
    return heights


def plain_arrows(uses: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Arrows that no way over other arrows implies."""
    def below(room: str) -> set[str]:
        return uses[room].union(*(below(other) for other in uses[room])) if uses[room] else set()

    return [(room, other) for room in sorted(uses) for other in sorted(uses[room])
            if not any(other in below(third) for third in uses[room] - {other})]


def size_of(room: str) -> str:
    """Files and lines of a room, for people."""
    folder = PACKAGE / room
    files = [file for file in (folder.rglob("*") if room != TOP else PACKAGE.glob("*.py"))
             if file.suffix in (".py", ".cu", ".cuh") and (room == TOP or room_of(module_of(file)) == room)]
    lines = sum(file.read_text(encoding="utf-8").count("\n") for file in files)
    return f"{len(files)} files, {lines:,} lines"


def drawing() -> str:
    """The picture as SVG."""
    uses = room_imports()
    heights = floors(uses)
    rows = [sorted(room for room in uses if heights[room] == at) for at in range(max(heights.values()), -1, -1)]
    width = max(map(len, rows)) * (WIDTH + ACROSS) + 2 * MARGIN
    place = {}
    for y, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + ACROSS) + ACROSS) / 2
        for x, room in enumerate(row):
            place[room] = (left + x * (WIDTH + ACROSS), MARGIN + y * (HEIGHT + DOWN))
    arrows = [_arrow(*place[above], *place[below]) for above, below in plain_arrows(uses)]
    boxes = [_box(room, *at) for room, at in place.items()]
    height = 2 * MARGIN + len(rows) * (HEIGHT + DOWN) - DOWN
    return PAGE.format(width=round(width), height=height, parts="\n".join((*arrows, *boxes)))


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """From the lower edge of one box to the upper edge of another."""
    begin, end = x + WIDTH / 2, to_x + WIDTH / 2
    return (f'<path d="M{begin:.0f} {y + HEIGHT} C{begin:.0f} {y + HEIGHT + DOWN} {end:.0f} {to_y - DOWN}'
            f' {end:.0f} {to_y - 5}"/>')


def _box(room: str, x: float, y: float) -> str:
    """A room with its size."""
    middle = x + WIDTH / 2
    return (f'<g><rect x="{x:.0f}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
            f'<text x="{middle:.0f}" y="{y + 20}" class="name">{room}</text>'
            f'<text x="{middle:.0f}" y="{y + 36}" class="size">{size_of(room)}</text></g>')


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "rooms.svg").write_text(drawing(), encoding="utf-8")
