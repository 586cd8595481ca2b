"""Kernels are compiled once, by one process at a time, and what fails leaves no stamp."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from emdiam.errors import EmdiamError
from emdiam.traverse import compiled
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


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Parts in the order in which a process was started for them: one that compiles nothing, and fails where
    "fail" is put before the part."""
    parts: list[str] = []
    popen = subprocess.Popen

    def instead(command: list[str], **options: Any) -> Any:
        code = "raise SystemExit('no such instruction')" if f"fail {command[-1]}" in parts else "pass"
        parts.append(command[-1])
        return popen([sys.executable, "-c", code], **options)

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", instead)
    return parts


def test_parts_are_compiled_once(begun: list[str]) -> None:
    assert compiled.ensure_compiled(family="exact") > 0
    assert begun == ["graph", "boxes"]
    assert compiled.ensure_compiled(family="exact") == 0
    assert compiled.ensure_compiled(workers=True) > 0
    assert begun == ["graph", "boxes", "approx", "workers"]
    assert compiled.ensure_compiled(np.dtype(np.uint64), family="exact") > 0
    assert begun[4:] == ["graph", "boxes"]
    assert compiled.ensure_compiled(workers=True) == 0


def test_a_part_that_fails_has_no_stamp(begun: list[str]) -> None:
    begun.append("fail boxes")
    with pytest.raises(EmdiamError, match="compiling the kernels failed: no such instruction"):
        compiled.ensure_compiled(family="exact")
    begun.clear()
    assert compiled.ensure_compiled(family="exact") > 0
    assert "boxes" in begun


def test_one_process_at_a_time(begun: list[str], tmp_path: Path) -> None:
    """While another has the lock, this one waits and ticks; what the other has compiled it does not."""
    ticks = 0
    with open(tmp_path / "emdiam-kernels.lock", "a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        def tick() -> None:
            nonlocal ticks
            ticks += 1
            if ticks == 2:
                for part in ("graph", "boxes"):
                    compiled._stamp(np.dtype(np.uint32), part).touch()
                fcntl.flock(other, fcntl.LOCK_UN)

        assert compiled.ensure_compiled(tick=tick, family="exact") > 0
    assert ticks >= 2 and begun == []


def test_a_tick_that_raises_ends_the_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[Any] = []
    popen = subprocess.Popen

    def instead(command: list[str], **options: Any) -> Any:
        children.append(popen([sys.executable, "-c", "import time; time.sleep(600)"], **options))
        return children[-1]

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", instead)
    with pytest.raises(KeyboardInterrupt):
        compiled.ensure_compiled(tick=interrupt)
    assert len(children) == 2 and all(child.returncode is not None for child in children)


def test_saves_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    """Four processes that compile the same signatures in other orders leave each of them in a file of its own."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", COMPILE, str(tmp_path)]
    children = [subprocess.Popen([*command, str(seed)], env=environment) for seed in range(4)]
    assert [child.wait(PATIENCE) for child in children] == [0] * 4
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 30
