"""The house rules that a program can check: ruff, mypy, and the size and manners of the code."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.source import nodes_of, tree_of

PACKAGE = ROOT / "emdiam"
FORBIDDEN_CALLS = ("print", "exit", "quit", "sys.exit", "os._exit")
FILE_LINES, BODY_LINES, WHOLE_LINES, PARAMETERS = 500, 40, 60, 7
# A compiled kernel takes bare arrays, no dataclass, and its loop has to stay in one function to stay
# resumable; so it gets more room, but a limit too.
KERNEL_LINES, KERNEL_PARAMETERS = 100, 14
UNCOMPILED = "uncompiled.py"  # functions there take what kernels take
# Words of what is left undone that say something else: by this error networkx knows that it has to answer itself.
ASKED_FOR = {"NotImplementedError": {"emdiam/networkx/weights.py"}}


def python_files(*folders: str) -> list[Path]:
    """All Python files below the given folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods of a file, nested ones too."""
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lengths(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    """Lines of the whole function, and of its body without the docstring."""
    assert function.end_lineno is not None
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    body_lines = function.end_lineno - body[0].lineno + 1 if body else 0
    return function.end_lineno - function.lineno + 1, body_lines


def n_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Parameters without self and cls."""
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


@cache
def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether numba compiles the function, or one that it makes."""
    return any(name in ast.unparse(decorator) for inner in ast.walk(function)
               if isinstance(inner, ast.FunctionDef) for decorator in inner.decorator_list
               for name in ("njit", "kernel", "inlined"))


def untyped(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions without all annotations that are no kernels, nor in one or in a function that makes one."""
    found: list[ast.AST] = [tree]
    while found:
        for node in ast.iter_child_nodes(found.pop()):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append(node)
            elif not is_kernel(node):
                found.append(node)
                arguments = node.args
                named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
                if (node.returns is None and node.name != "__init__") or any(
                        one.annotation is None and one.arg not in ("self", "cls") for one in named):
                    yield node


def place(path: Path, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Where a definition is, for a message."""
    return f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


# A program that ends soon needs no collection of garbage, a seventh of mypy's time. mypy sets thresholds of its own.
UNCOLLECTED = """import gc, runpy, sys
gc.disable()
gc.enable = gc.set_threshold = lambda *_: None
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)"""


def run_tool(*arguments: str) -> None:
    """Run a module as a program in the repository; its findings are the failure."""
    done = subprocess.run([sys.executable, "-c", UNCOLLECTED, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff():
    run_tool("ruff", "check", "--no-cache", "emdiam", "tests", "bench", "scripts")


def test_mypy():
    # Libraries that are installed for a newer Python have stubs in its grammar.
    run_tool("mypy", "--python-version", "{}.{}".format(*sys.version_info), "emdiam")


def test_all_but_kernels_have_types():
    bare = [place(path, function) for path in python_files("emdiam")
            for function in untyped(tree_of(path))]
    assert bare == []


def test_files_are_short():
    long = {str(path.relative_to(ROOT)): lines
            for path in python_files("emdiam", "tests", "bench", "scripts")
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > FILE_LINES}
    assert long == {}


def test_functions_are_short():
    long = [f"{place(path, function)}: {whole} lines, {body} without docstring"
            for path in python_files("emdiam", "bench") for function in functions(path)
            for whole, body in [lengths(function)]
            if whole > (KERNEL_LINES if is_kernel(function) else WHOLE_LINES)
            or body > (KERNEL_LINES if is_kernel(function) else BODY_LINES)]
    assert long == []


def test_functions_have_few_parameters():
    many = [f"{place(path, function)}: {n_parameters(function)} parameters"
            for path in python_files("emdiam") for function in functions(path)
            if n_parameters(function) > (KERNEL_PARAMETERS if is_kernel(function) or path.name == UNCOMPILED
                                             else PARAMETERS)]
    assert many == []


def test_the_library_neither_prints_nor_exits():
    calls = [f"{path.relative_to(ROOT)}:{node.lineno}"
             for path in python_files("emdiam") if PACKAGE / "cli" not in path.parents
             for node in nodes_of(path)
             if isinstance(node, ast.Call) and ast.unparse(node.func) in FORBIDDEN_CALLS]
    assert calls == []


def test_modules_have_docstrings():
    bare = [str(path.relative_to(ROOT)) for path in python_files("emdiam", "bench")
            if not ast.get_docstring(tree_of(path))]
    assert bare == []


def test_public_functions_and_classes_have_docstrings():
    bare = [place(path, node)
            for path in python_files("emdiam")
            for node in tree_of(path).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            and not ast.get_docstring(node)]
    assert bare == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "NotImplementedError"])
def test_nothing_is_left_undone(word: str):
    places = [f"{path.relative_to(ROOT)}" for path in python_files("emdiam", "bench", "scripts")
              if word in path.read_text(encoding="utf-8")]
    assert set(places) == ASKED_FOR.get(word, set())


def test_the_rules_notice_what_they_look_for(tmp_path: Path):
    """A long function, and one with many parameters, would not pass."""
    file = tmp_path / "long.py"
    file.write_text("def f(a, b, c, d, e, f, g, h):\n" + '    """One.\n\n    Two."""\n' + "    a += 1\n" * 41)
    (function,) = functions(file)
    assert lengths(function) == (45, 41)
    assert n_parameters(function) == 8
    assert not is_kernel(function)
    assert list(untyped(tree_of(file))) != []
    file = tmp_path / "kernel.py"
    file.write_text("@njit(cache=True)\ndef f():\n    pass\n")
    assert is_kernel(next(functions(file)))
    assert list(untyped(tree_of(file))) == []
