"""What imports what: no circle and no arrow upwards between rooms, and other libraries by their public names.

All imports of the package are read, those inside functions too; those under TYPE_CHECKING count as none, since they
are not there when it runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import emdiam
from tests.helpers.source import nodes_below, tree_of

PACKAGE = Path(emdiam.__file__).parent

# Rooms, each a whole folder, from below to above: a module imports from its own room and from those before it, so that
# there is no circle.
ROOMS: tuple[str, ...] = (
    "top",  # errors, units, progress, hashing, the compiler of kernels: what everyone imports
    "checkpoint",  # the folder of a run that goes on: whose it is, records that last
    "sorting",  # sorting more than fits in memory
    "store",  # the Zarr layout of a graph
    "formats",  # readers of files
    "stream",  # blocks of arcs within a memory plan
    "traverse",  # kernels over arcs, and what drives them
    "trees",  # spanning trees: made, hung from a root, refined, measured
    "paths",  # paths along weights: from one source, between all pairs, on condensed graphs
    "engine",  # what methods may ask of a graph, answered on the CPU
    "external",  # the same with vertex state on disk
    "gpu",  # the same on a device
    "dask",  # the same over workers
    "methods",  # diameters, eccentricities, bounds and estimates
    "certificates",  # proofs as files, and their check by traversals of its own
    "journal",  # what the verbs of an engine gave, so that a run goes on
    "conversion",  # stores are written: from edges, or from a store in another order
    "generators",  # graphs that are made
    "distribution",  # how distances are distributed
    "runs",  # a run from its options to its result
    "front",  # functions of the package for Python
    "networkx",  # networkx's functions on distances, answered by those
    "batch",  # many runs
    "report",  # pages about them, and answers of one graph by several methods
    "cli",  # the command line
)
# Modules at the top of the package that are not what everyone imports.
PLACED = {**dict.fromkeys(("__init__", "api", "api_stores", "caller", "compiling", "docstrings", "terms"), "front"),
          "__main__": "cli"}
# What is not in order yet: (module, module that it imports). To be emptied, never to be longer.
NOT_YET: set[tuple[str, str]] = set()
# Files that may use what a library keeps to itself, one for each: test_private.py and its like say what has changed.
PRIVATE = {"numba_private.py": ("numba", "llvmlite"), "store/private.py": ("zarr",)}
# Where Dask is imported: its room, and Dask arrays of a store, for readers that have Dask themselves.
DASK = ("dask/", "store/dask_arrays.py")


@dataclass(frozen=True)
class Import:
    """module imports target, both without the package's name; inner : inside a function."""

    module: str
    target: str
    line: int
    inner: bool


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    """Every module of the package, by its name without the package's."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = (path, tree_of(path))
    return found


def statements(node: ast.AST, inner: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Import statements that run, and whether they are inside a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from statements(other, inner)
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inner
        elif not isinstance(child, ast.expr):
            yield from statements(child, inner or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def named(module: str, path: Path, node: ast.Import | ast.ImportFrom) -> list[str]:
    """Absolute names of what a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = ["emdiam", *module.split(".")] if module != "__init__" else ["emdiam"]
        package = package[: len(package) - node.level + (path.name == "__init__.py")]
        base = ".".join([*package, *([node.module] if node.module else [])])
    return [f"{base}.{alias.name}" for alias in node.names]


@cache
def imports() -> tuple[Import, ...]:
    """All imports of modules of the package by others of it."""
    found = []
    for module, (path, tree) in trees().items():
        for node, inner in statements(tree):
            for name in named(module, path, node):
                first, _, target = name.partition(".")
                if first == "emdiam":
                    while target and target not in trees():
                        target = target.rpartition(".")[0]
                    found.append(Import(module, target or "__init__", node.lineno, inner))
    return tuple(found)


def room(module: str) -> str:
    """The room of a module: the folder at the top of the package."""
    folder = module.split(".")[0]
    return folder if folder in ROOMS else PLACED.get(folder, "top")


def test_every_room_is_in_the_list() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(ROOMS)
    assert set(ROOMS) == {room(module) for module in trees()}


def test_no_arrow_points_upwards() -> None:
    """Nor is there a circle, since rooms stand in one line. What is in order now leaves the list."""
    upwards = [one for one in imports() if ROOMS.index(room(one.module)) < ROOMS.index(room(one.target))]
    wrong = [f"{one.module}:{one.line} imports {one.target}" for one in upwards
             if (one.module, one.target) not in NOT_YET]
    assert wrong == []
    assert NOT_YET <= {(one.module, one.target) for one in upwards}, "this is in order now: take it from NOT_YET"


def test_variants_load_only_where_one_is_named() -> None:
    """By design, and inside functions only: a variant is loaded where the user has named it."""
    assert [f"{one.module}:{one.line}" for one in imports() if one.target.startswith("gpu.variants.")
            and not one.module.startswith("gpu.variants.") and not one.inner] == []


def test_dask_is_imported_in_its_room_only() -> None:
    wrong = []
    for module, (path, tree) in trees().items():
        if not path.relative_to(PACKAGE).as_posix().startswith(DASK):
            wrong += [f"{module}:{node.lineno}" for node, _ in statements(tree)
                      if any(name.split(".")[0] in ("dask", "distributed") for name in named(module, path, node))]
    assert wrong == []


def is_private(name: str) -> bool:
    """Whether a part of a package, or a name, is not for others."""
    return name == "core" or (name.startswith("_") and not name.startswith("__"))


def private_names(path: Path, module: str, tree: ast.Module) -> Iterator[str]:
    """Where a private name of another library is imported or looked up on what was imported from one, but for those of
    libraries whose private names belong in this file."""
    own = PRIVATE.get(path.relative_to(PACKAGE).as_posix(), ())
    foreign = set()
    for node, _ in statements(tree):
        for alias, name in zip(node.names, named(module, path, node), strict=True):
            if name.split(".")[0] not in {*sys.stdlib_module_names, "emdiam", *own}:
                foreign.add(alias.asname or alias.name.split(".")[0])
                if any(map(is_private, name.split(".")[1:])):
                    yield f"{module}:{node.lineno} {name}"
    for node in nodes_below(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner: ast.expr = node.value
            while isinstance(owner, ast.Attribute | ast.Call | ast.Subscript):
                owner = owner.func if isinstance(owner, ast.Call) else owner.value
            if isinstance(owner, ast.Name) and owner.id in foreign:
                yield f"{module}:{node.lineno} {ast.unparse(node)}"


def test_other_libraries_are_used_by_their_public_names() -> None:
    assert [name for module, (path, tree) in trees().items() for name in private_names(path, module, tree)] == []


def test_the_checks_see_what_they_look_for() -> None:
    """An upward import inside a function, one under TYPE_CHECKING, private names of another library."""
    text = ("import numpy as np\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..cli import main\n"
            "def f():\n    from ..engine.cpu import CpuEngine\n    from numba.core import types\n"
            "    return np.core._multiarray, np.zeros(3)._flags\n")
    tree, path = ast.parse(text), PACKAGE / "store" / "x.py"
    inner = [named("store.x", path, node) for node, inside in statements(tree) if inside]
    assert inner == [["emdiam.engine.cpu.CpuEngine"], ["numba.core.types"]] and room("store.x") == "store"
    assert sorted(private_names(path, "store.x", tree)) == [
        "store.x:7 numba.core.types", "store.x:8 np.core", "store.x:8 np.core._multiarray",
        "store.x:8 np.zeros(3)._flags"]
