"""How large the package may be, and what it may call things: figures and lists here only ever become smaller."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from emdiam.runs import options
from tests.helpers.source import nodes_below
from tests.test_imports import PACKAGE, trees

MOST_FILES, MOST_LINES_IN_ALL = 546, 65_693
# Lines of code of each room at most: the folders of the package, and "top" for the modules beside them.
MOST_LINES = {
    "batch": 1258, "certificates": 3044, "checkpoint": 432, "cli": 2007, "conversion": 3366, "dask": 3025,
    "distribution": 1209, "engine": 756, "external": 2590, "formats": 10976, "generators": 1360, "gpu": 4425,
    "journal": 563, "methods": 6781, "networkx": 1213, "paths": 3979, "report": 1885, "runs": 2494, "sorting": 934,
    "store": 2469, "stream": 972, "top": 2971, "traverse": 6176, "trees": 808,
}
# Names that say nothing of what they are for, and how many functions, classes, parameters and variables have each.
EMPTY_NAMES = {"told": 0, "held": 2, "given": 4, "here": 103, "there": 75, "left": 138, "lent": 0,
               "begun": 0, "looked": 1}


def n_code_lines(text: str, tree: ast.Module) -> int:
    """Lines of a file that are not blank, nor of a comment, a docstring or an import."""
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"}
    for node in nodes_below(tree):
        left_out: ast.stmt | None = node if isinstance(node, ast.Import | ast.ImportFrom) else None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            left_out = node.body[0]
        if left_out is not None:
            lines.difference_update(range(left_out.lineno, (left_out.end_lineno or 0) + 1))
    return len(lines)


def room(path: Path) -> str:
    """The folder of the package that a file is in."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else "top"


def names(tree: ast.Module) -> Iterator[str]:
    """What a file names: functions, classes, parameters, variables and attributes that it sets."""
    for node in nodes_below(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def over(counts: Counter[str], most: dict[str, int]) -> dict[str, int]:
    """Counts above what is allowed; 0 for names that are not."""
    return {name: count for name, count in counts.items() if count > most.get(name, 0)}


def lines_of_rooms() -> Counter[str]:
    """Lines of code of every room."""
    found: Counter[str] = Counter()
    for path, tree in trees().values():
        found[room(path)] += n_code_lines(path.read_text(encoding="utf-8"), tree)
    return found


def shared_names() -> set[str]:
    """Public classes at the top of a file whose name another one has."""
    found = Counter(node.name for _, tree in trees().values() for node in tree.body
                    if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    return {name for name, count in found.items() if count > 1}


def empty_names() -> Counter[str]:
    """How often each of the empty names is given."""
    return Counter(bare for _, tree in trees().values() for name in names(tree)
                   if (bare := name.strip("_").lower()) in EMPTY_NAMES)


def test_no_room_is_larger_than_it_was() -> None:
    lines = lines_of_rooms()
    assert over(lines, MOST_LINES) == {} and lines.total() <= MOST_LINES_IN_ALL


def test_there_are_no_more_files() -> None:
    assert len(trees()) <= MOST_FILES


def test_no_two_public_classes_have_one_name() -> None:
    assert shared_names() == set()


def test_no_more_names_say_nothing() -> None:
    assert over(empty_names(), EMPTY_NAMES) == {}


def test_an_option_is_declared_in_one_place() -> None:
    """In the table of runs/options.py, once for a command; click is asked for options where they are made of rows."""
    rows = [(row.of, row.name) for row in options._ROWS]
    assert len(rows) > 100 and len(rows) == len(set(rows))
    makers = {path.relative_to(PACKAGE).as_posix() for path, _ in trees().values()
              if re.search(r"click\.[oO]ption\(", path.read_text(encoding="utf-8"))}
    # generate has one for every parameter of a class of graphs, outcome --help-all.
    assert makers == {"cli/options.py", "cli/generate.py", "cli/outcome.py"}


def test_the_rules_see_what_they_look_for() -> None:
    text = ('"""A."""\nimport os\n\n\n# b\ndef told(given):\n    """C.\n\n    D."""\n    held = (given +\n'
            '            os.x)\n')
    tree = ast.parse(text)
    assert n_code_lines(text, tree) == 3
    assert list(names(tree)) == ["told", "given", "held"]
    assert over(Counter(a=3, b=1), {"a": 2, "b": 1}) == {"a": 3} and over(Counter(c=1), {}) == {"c": 1}
