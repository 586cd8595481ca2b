"""What is compiled is counted, compiled anew where its sources have changed, and kept where nobody else writes.

tests/test_kernel_objects.py has the objects of kernels."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

from emdiam import jit, kernel_progress, numba_private
from emdiam.units import current_rss_bytes
from tests.helpers.others import OTHER, needs_root, planted, shared_folder
from tests.helpers.waiting import PATIENCE

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
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "cache")

    def call() -> tuple[float, list[str]]:
        caplog.clear()
        monkeypatch.setattr(jit._Spent, "kernels", 0)
        monkeypatch.setattr(kernel_progress.Spent, "compiling", 0.0)
        with caplog.at_level(logging.INFO, "emdiam"):
            kernels = loaded(tmp_path / "kernels.py", monkeypatch)
            assert [kernels.rank(np.zeros((1,) * rank)) for rank in (1, 2)] == [1, 2]
        return jit.compile_seconds(), caplog.messages

    before, elsewhere = jit.kernel_seconds(), time.perf_counter() - jit.working_seconds()
    seconds, told = call()
    compiled = jit.kernel_seconds()
    assert time.perf_counter() - jit.working_seconds() - elsewhere >= seconds / 2  # a method's choices leave it out
    assert len(told) == 2 and all(re.match(r"compiling kernel \d.* for this machine, once", text) for text in told)
    assert seconds > 0 and compiled - before >= seconds
    assert call() == (0, []) and jit.kernel_seconds() > compiled  # loading takes time too


@pytest.mark.parametrize(("done", "left"), [(1, None), (3, None), (4, 48.0)])
def test_time_left_is_not_foretold_from_the_first_kernels(
        done: int, left: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(kernel_progress, "shown", lambda *facts: told.append(facts) or nullcontext())
    for name, value in (("kernels", done), ("expected", 20), ("pace", None)):
        monkeypatch.setattr(jit._Spent, name, value)
    monkeypatch.setattr(kernel_progress.Spent, "compiling", 12.0)
    with jit._compiling():
        pass
    assert told == [(done, 20, left)]


def test_scipy_is_not_imported_for_blas() -> None:
    """Where numba is loaded; and can be afterwards."""
    code = ("import sys, emdiam.numba_private\nprint('scipy.linalg' in sys.modules)\n"
            "import scipy.linalg.cython_blas\nprint(scipy.linalg.cython_blas.__name__)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["False", "scipy.linalg.cython_blas"], done.stderr


def loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of a file, loaded anew."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # which is not renewed for a file of equal size and second
    jit.source_digest.cache_clear()
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("file", "old", "new"), [
    ("visits", "return x + STEP", "return x - STEP"), ("visits", "STEP = 1", "STEP = 2"),
    ("values", "SIZE = 5", "SIZE = 6"), ("users", "SIZE * visit", "SIZE + visit"),
    ("values", "OTHER = 7", "OTHER = 8")])
def test_a_kernel_is_compiled_again_where_anything_that_it_is_made_of_has_changed(
    file: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file, a function of another file that is compiled into it, a constant of another; nothing else."""
    texts = {"visits": "from emdiam.jit import inlined\nSTEP = 1\n@inlined\ndef visit(x):\n    return x + STEP\n",
             "values": "SIZE = 5\nOTHER = 7\n",
             "users": "from emdiam.jit import kernel\nfrom values import SIZE\nfrom visits import visit\n"
                      "@kernel\ndef use(x):\n    return SIZE * visit(x)\n"}
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "cache")

    def result() -> tuple[int, bool, str]:
        """What the kernel gives, whether it was compiled, and the folder of its object."""
        before = jit.compiled_kernels()
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            users = loaded(tmp_path / f"{name}.py", monkeypatch)
        value = users.use(3)
        return value, jit.compiled_kernels() > before, jit.source_digest("users")

    before, _, folder = result()
    assert result() == (before, False, folder)
    texts[file] = texts[file].replace(old, new)
    after, compiled, other = result()
    if "OTHER" in old:
        assert (after, compiled, other) == (before, False, folder)
    else:
        assert after != before and compiled and other != folder
    assert {place.name for place in (tmp_path / "cache").iterdir()} == {folder, other}


def folder_of(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path | None:
    """cache_folder() with NUMBA_CACHE_DIR."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    jit.cache_folder.cache_clear()
    try:
        return jit.cache_folder()
    finally:
        jit.cache_folder.cache_clear()


def test_a_new_folder_of_kernels_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for mask in (0o000, 0o002, 0o022):
        before = os.umask(mask)
        try:
            place = folder_of(tmp_path / f"{mask}", monkeypatch)
        finally:
            os.umask(before)
        assert place is not None and place.stat().st_mode & 0o077 == 0
    (tmp_path / "link").symlink_to(f"{0o022}")
    assert folder_of(tmp_path / "link", monkeypatch) == tmp_path.resolve() / f"{0o022}"


def test_kernels_are_not_run_from_where_any_user_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """There, or above, where the folder could be exchanged."""
    with shared_folder() as shared:
        (shared / "cache").mkdir()
        assert folder_of(shared / "cache", monkeypatch) == shared / "cache"  # the sticky bit keeps it
        shared.chmod(0o777)
        assert folder_of(shared / "cache", monkeypatch) is None
        shared.chmod(0o755)
        (shared / "cache").chmod(0o1777)
        assert folder_of(shared / "cache", monkeypatch) is None
    assert len(caplog.messages) == 2 and all(
        "any user may write there, and so could give this process code to run: set NUMBA_CACHE_DIR" in message
        for message in caplog.messages)


@needs_root
def test_kernels_of_another_user_are_not_run(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with shared_folder() as shared:
        for name in ("cache", "own"):
            (shared / name).mkdir()
        os.chown(shared / "cache", OTHER, OTHER)
        planted(shared / "link", shared / "cache")
        assert folder_of(shared / "cache", monkeypatch) is folder_of(shared / "link", monkeypatch) is None
    assert len(caplog.messages) == 2 and all("it belongs to another user" in message for message in caplog.messages)


@pytest.mark.usefixtures("whole_resident_set")
def test_what_the_compiler_made_to_optimise_a_function_is_freed_with_it() -> None:
    """A pass manager of LLVM takes 0.1 MiB or more, and numba makes one for each function."""
    numba_private.free_pass_managers()
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
