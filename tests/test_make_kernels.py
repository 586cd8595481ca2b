"""Kernels that are compiled ahead, for levels of x86-64 and for the processor at hand."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from emdiam import kernel_objects
from emdiam.cli.main import COMMANDS
from tests.conftest import ROOT
from tests.helpers.waiting import PATIENCE

SCRIPT = ROOT / "scripts" / "make_kernels.py"
# What a process answers that has these objects, the highest level it may load, and no cache: (diameter, how many
# kernels were compiled, whether numba was loaded).
EXACT = """
import sys
from pathlib import Path
from emdiam import kernel_objects
kernel_objects.SHIPPED = Path(sys.argv[1])
kernel_objects.LEVELS = {level: names for level, names in kernel_objects.LEVELS.items() if level <= sys.argv[2]}
import emdiam
from emdiam.jit import compiled_kernels
emdiam.convert("text.txt", "text.zarr", force=True)
print(emdiam.diameter("text.zarr").diameter_max_component, compiled_kernels(), "numba" in sys.modules)
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("make_kernels", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_that_calls_kernels_is_in_a_part(script: ModuleType) -> None:
    """Of the others, tradeoff and batch start commands; report reads and warmup compiles."""
    named = {line.split()[0] for text in script.PARTS.values() for line in text.strip().split("\n")}
    assert named - {"library"} == set(COMMANDS) - {"tradeoff", "batch", "report", "warmup"}


def test_progress_counts_each_kernel_once(script: ModuleType) -> None:
    progress = script.Progress(3)
    for line in ("a/x.o", "a/y.o", "", "a/x.o", ""):
        progress.hear(Path("there"), line)
    assert re.fullmatch(r"kernels: 2 ready after 2 of 3 commands, \d+ s", str(progress))


def test_objects_that_nothing_calls_are_stale(script: ModuleType, tmp_path: Path) -> None:
    files = [tmp_path / level / "0123" / name for level in ("x86-64-v2", "x86-64-v3") for name in ("a.o", "b.o")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    assert list(script.stale(tmp_path, ["x86-64-v3"], {files[2]})) == [files[3]]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="levels are of x86-64")
def test_what_is_made_is_loaded_without_a_compiler(script: ModuleType, tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """On each level that this processor has, with the same answer; a level that is not there is compiled. A second
    run of the script makes nothing again."""
    objects = tmp_path / "objects"
    command = [sys.executable, SCRIPT, "--only", "second", "-o", objects]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * PATIENCE)  # of three levels
    made = {file: file.stat().st_mtime_ns for file in objects.rglob("*.o")}
    assert done.returncode == 0 and f"kernels: {len(made)} ready after 9 of 9 commands" in done.stdout, done.stderr
    assert {file.relative_to(objects).parts[0] for file in made} == set(kernel_objects.LEVELS)
    assert len(made) % 3 == 0 and len(made) > 60
    assert subprocess.run(command, capture_output=True, timeout=10 * PATIENCE).returncode == 0
    assert {file: file.stat().st_mtime_ns for file in objects.rglob("*.o")} == made
    monkeypatch.setattr(kernel_objects, "SHIPPED", objects)
    kernel_objects.levels.cache_clear()
    levels = kernel_objects.levels()
    kernel_objects.levels.cache_clear()
    monkeypatch.chdir(tmp_path)
    script.write_inputs()
    answers = set[str]()
    for number, level in enumerate(levels):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / f"cache{number}")}
        run = subprocess.run([sys.executable, "-c", EXACT, objects, level], env=environment, capture_output=True,
                             text=True, timeout=PATIENCE)
        answers.add(run.stdout)
        assert run.stdout.endswith(" 0 False\n"), run.stderr
    shutil.rmtree(objects)
    compiled = subprocess.run([sys.executable, "-c", EXACT, objects, "x86-64-v4"], env=environment,
                              capture_output=True, text=True, timeout=PATIENCE)
    assert {text.split()[0] for text in answers} == {compiled.stdout.split()[0]} and "True" in compiled.stdout
