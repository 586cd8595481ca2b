"""The verifier shares no passage of code with what it verifies: else a fault would be in both."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

import emdiam

PACKAGE = Path(emdiam.__file__).parent
# So many lines in a row are a passage.
PASSAGE = 4


def code_lines(source: str) -> list[str]:
    """The lines of code as Python itself would write them, without docstrings, comments, imports and indents."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [line for line in body if not isinstance(line, ast.Import | ast.ImportFrom)]
            if ast.get_docstring(node) is not None if isinstance(
                    node, ast.Module | ast.ClassDef | ast.FunctionDef) else False:
                kept = kept[1:]
            node.body = kept or [ast.Pass()]
    return [line.strip() for line in ast.unparse(tree).splitlines() if line.strip()]


def passages(source: str) -> set[tuple[str, ...]]:
    """All runs of PASSAGE lines."""
    lines = code_lines(source)
    return set(zip(*(itertools.islice(lines, first, None) for first in range(PASSAGE)), strict=False))


@pytest.fixture(scope="module")
def methods() -> dict[tuple[str, ...], str]:
    """The passages of exact/ and eccentricity/, and the file of each."""
    files = sorted(file for room in ("exact", "eccentricity") for file in (PACKAGE / "methods" / room).glob("*.py"))
    return {passage: file.name for file in files for passage in passages(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", sorted(file.name for file in (PACKAGE / "certificates").glob("*.py")))
def test_no_passage_is_shared_with_the_methods(name: str, methods: dict[tuple[str, ...], str]) -> None:
    here = passages((PACKAGE / "certificates" / name).read_text(encoding="utf-8"))
    assert {passage: methods[passage] for passage in here & methods.keys()} == {}


def test_a_copied_passage_would_be_seen(methods: dict[tuple[str, ...], str]) -> None:
    """Other comments, blanks, line breaks and indents do not hide a copy."""
    source = (PACKAGE / "methods" / "exact" / "boxes.py").read_text(encoding="utf-8")
    start = source.index("                left = first\n")
    loop = source[start : source.index("                child[node] = n_nodes", start)]
    copy = "def another(points):\n    if points:\n" + "\n".join(
        line.replace("    ", "  ", 1) + "  # copied\n" for line in loop.splitlines())
    shared = passages(copy) & methods.keys()
    assert {methods[passage] for passage in shared} == {"boxes.py"} and len(shared) >= 5


def test_the_verifier_takes_no_code_from_the_methods() -> None:
    """But what floats count in, which a claim of lengths is read by, and which components are computed anew. Only
    writing.py knows their results, and earlier.py begins a run with a certificate."""
    taken = {node.module for file in (PACKAGE / "certificates").glob("*.py")
             if file.name not in ("writing.py", "earlier.py")
             for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
             if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("methods")}
    assert taken == {"methods.weighted.units", "methods.eccentricity.result"}
