"""What numba compiles is kept safely where several processes compile at once, and is counted."""

from __future__ import annotations

import importlib.util
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
import pytest

from emdiam import jit
from emdiam.units import current_rss_bytes
from tests.helpers.waiting import PATIENCE

# Two functions with 30 signatures each, in an order of its own, saved in the cache of this folder.
COMPILE = """
import random, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernels
ranks = list(range(1, 31))
random.Random(int(sys.argv[2])).shuffle(ranks)
for rank in ranks:
    assert kernels.rank(np.zeros((1,) * rank)) == rank
"""
KERNELS = """
from emdiam.jit import kernel

@kernel
def rank(values):
    return values.ndim
"""


def test_compiling_is_counted_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two signatures, which are loaded the second time."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))

    def call() -> tuple[float, list[str]]:
        caplog.clear()
        monkeypatch.setattr(jit._COMPILATIONS, "seconds", 0.0)
        with caplog.at_level(logging.INFO, "emdiam"):
            kernels = loaded(tmp_path / "kernels.py")
            assert [kernels.rank(np.zeros((1,) * rank)) for rank in (1, 2)] == [1, 2]
        return jit.compile_seconds(), caplog.messages

    seconds, told = call()
    assert seconds > 0 and told == ["compiling kernels, which later runs on this machine will load"]
    assert call() == (0, [])


def test_scipy_is_not_imported_for_blas() -> None:
    """And can be afterwards."""
    code = ("import sys, emdiam.jit\nprint('scipy.linalg' in sys.modules)\n"
            "import scipy.linalg.cython_blas\nprint(scipy.linalg.cython_blas.__name__)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["False", "scipy.linalg.cython_blas"], done.stderr


def loaded(file: Path) -> Any:
    """The module of a file, loaded anew."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_saves_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    """Four processes that compile the same signatures in other orders leave each of them in a file of its own."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", COMPILE, str(tmp_path)]
    children = [subprocess.Popen([*command, str(seed)], env=environment) for seed in range(4)]
    assert [child.wait(PATIENCE) for child in children] == [0] * 4
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 30


def test_what_the_compiler_made_to_optimise_a_function_is_freed_with_it() -> None:
    """A pass manager of LLVM takes 0.1 MiB or more, and numba makes one for each function."""
    llvmlite.binding.initialize_native_target()
    machine = llvmlite.binding.Target.from_default_triple().create_target_machine()
    builder = llvmlite.binding.create_pass_builder(machine, llvmlite.binding.create_pipeline_tuning_options(3))

    def make(number: int) -> int:
        before = current_rss_bytes()
        for _ in range(number):
            builder.getFunctionPassManager()
            builder.getModulePassManager()
        return current_rss_bytes() - before

    make(20)
    assert make(200) < 8 << 20
