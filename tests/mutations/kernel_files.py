"""Which files hold compiled functions that another file's compiled functions call.

Numba notices a change of the file that a kernel is in, not of the files whose functions are compiled into it. So
after a change the kernels of every file that takes compiled functions from the changed one, directly or by way of
others, have to be compiled again.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = "emdiam"
# What the decorators of compiled functions have in their names.
_COMPILERS = ("njit", "kernel", "visitor", "walk", "intrinsic")


def forget_compiled(root: Path, file: str) -> None:
    """Remove the compiled forms of the kernels of `file` (relative to `root`), and of all kernels that use them."""
    for name in {file, *users_of(root, file)}:
        path = root / name
        for kept in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
            kept.unlink()


def users_of(root: Path, file: str) -> set[str]:
    """Files below `root` whose compiled functions may use compiled functions of `file`."""
    users: defaultdict[str, set[str]] = defaultdict(set)
    paths = sorted((root / PACKAGE).rglob("*.py"))
    trees = {path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    compiled = {name: _compiled_functions(tree) for name, tree in trees.items()}
    for name, tree in trees.items():
        for source, names in _imports(root, name, tree):
            if names & compiled.get(source, set()):
                users[source].add(name)
    reached, waiting = set[str](), [file]
    while waiting:
        for user in users[waiting.pop()] - reached:
            reached.add(user)
            waiting.append(user)
    return reached


def _compiled_functions(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)
            and any(word in ast.unparse(item) for inner in ast.walk(node) if isinstance(inner, ast.FunctionDef)
                    for item in inner.decorator_list for word in _COMPILERS)}


def _imports(root: Path, name: str, tree: ast.Module) -> list[tuple[str, set[str]]]:
    """(file, names taken from it) of the relative imports of a module."""
    result = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = (root / name).parents[node.level - 1]
            path = folder.joinpath(*(node.module or "").split(".")).with_suffix(".py") if node.module else folder
            if path.is_file():
                result.append((path.relative_to(root).as_posix(), {alias.name for alias in node.names}))
    return result
