"""Plant faults in a copy of the tree, one at a time, and see which quick test fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutations.fault import Fault

ROOT = Path(__file__).resolve().parent.parent.parent
_LEFT_OUT = (".git", ".venv*", "*.zarr", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
# Seconds for all the tests of a fault: one that makes them hang is caught as well.
LIMIT_SECONDS = 1500


@dataclass(frozen=True)
class Outcome:
    """What became of a fault. caught_by : the test that failed; None if none did. seconds : of the tests."""

    fault: Fault
    caught_by: str | None
    seconds: float


def check_faults(
    faults: Sequence[Fault], folder: Path, report: Callable[[Outcome], None], *, named_only: bool = False
) -> list[Outcome]:
    """Plant each fault in a copy of the tree in `folder`, run the quick tests until one fails, and report.

    named_only : ask only the tests that a fault names, not all others after them."""
    tree = copy_tree(folder)
    clean = folder / "clean"
    shutil.copytree(tree / "emdiam", clean, symlinks=True)
    outcomes = []
    for fault in faults:
        restore(clean, tree / "emdiam")
        fault.plant(tree)
        outcomes.append(try_fault(tree, fault, named_only))
        report(outcomes[-1])
    return outcomes


def copy_tree(folder: Path) -> Path:
    """The repository as it is on disk below `folder`, and the real graphs beside it."""
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared.resolve())
    return tree


def restore(clean: Path, package: Path) -> None:
    """Make the package what it was."""
    shutil.rmtree(package)
    shutil.copytree(clean, package, symlinks=True)


def try_fault(tree: Path, fault: Fault, named_only: bool) -> Outcome:
    """The first quick test that fails: of the fault's own files, else of all."""
    begin = time.monotonic()
    name = failing_test(tree, fault.tests)
    if name is None and not named_only:
        name = failing_test(tree, ("tests", "-n", str(os.cpu_count())))
    return Outcome(fault, name, time.monotonic() - begin)


def failing_test(tree: Path, arguments: Sequence[str]) -> str | None:
    """The first test that fails in pytest with these arguments; None if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=no", "-rfE", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(tree.parent / "kernels")}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return "(the tests hang)"
    if done.returncode == 0:
        return None
    failed = _FAILED.search(done.stdout)
    if failed:
        return failed[1]
    if done.returncode < 0 or done.returncode > 128:
        return f"(the tests die of signal {abs(done.returncode)})"
    raise RuntimeError(f"pytest left with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def table(outcomes: Sequence[Outcome]) -> str:
    """Markdown: a row a fault."""
    rows = ["| room | fault | file | caught by | s |", "|---|---|---|---|---|"]
    rows += [f"| {o.fault.room} | {o.fault.name} | {o.fault.file} | {o.caught_by or '**nothing**'} | {o.seconds:.0f} |"
             for o in outcomes]
    caught = sum(o.caught_by is not None for o in outcomes)
    return "\n".join([*rows, "", f"{caught} of {len(outcomes)} caught by the quick tests"])
