"""The repository's own Python files, parsed once for all tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """A file as Python reads it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file, in the order of ast.walk."""
    return nodes_below(tree_of(path))


@cache
def nodes_below(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree, in the order of ast.walk."""
    return tuple(ast.walk(tree))
