"""Kernels as objects: what they take and give, and a cache of them that processes, versions and faults share."""

from __future__ import annotations

import errno
import logging
import os
import pickle
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam import jit, kernel_objects, numba_private
from emdiam.jit import inlined, kernel
from emdiam.kernel_code import DTYPES
from emdiam.traverse.atomics import yield_core
from emdiam.units import current_rss_bytes
from tests.helpers.waiting import PATIENCE

KERNELS = """
from emdiam.jit import kernel

@kernel
def rank(values):
    return values.ndim
"""
# A function with 12 kinds of arguments, in an order of its own; how many were compiled, and whether numba was loaded.
CALL = """
import random, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernels
from emdiam.jit import compiled_kernels
ranks = list(range(1, 13))
random.Random(int(sys.argv[2])).shuffle(ranks)
for rank in ranks:
    assert kernels.rank(np.zeros((1,) * rank)) == rank
print(compiled_kernels(), "numba" in sys.modules)
"""
# Says so where what a kernel's function points to goes while the process ends: the function may go later.
END = """
import os, sys
from emdiam import kernel_objects

class Method(kernel_objects._Method):
    def __del__(self, write=os.write):
        write(1, b"it goes")

kernel_objects._Method = Method
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernels
from emdiam.jit import all_compiled
with all_compiled():
    assert kernels.rank(np.zeros(1)) == 1
print("the end")
"""
# What two of these kinds give, and how many were compiled.
TWO_RANKS = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernels
from emdiam.jit import compiled_kernels
print(kernels.rank(np.zeros(1)), kernels.rank(np.zeros((1, 1))), compiled_kernels())
"""


@kernel
def same(value):
    return value


@inlined
def _total(rows):
    total = 0.0
    for i in range(len(rows)):
        total += rows[i]
    return total


@kernel
def weigh(grid, state, scale):
    """Rows of a grid, by what is in a tuple within a tuple."""
    rows, (weights, use) = state
    total = 0.0
    for i in range(len(rows)):
        total += _total(grid[rows[i]]) * (weights[i] if use else scale)
    return total


@kernel
def put(values, number):
    values[0] = number


@kernel
def fill(n):
    return np.full(n, 3, np.int64)[n - 1]


@kernel
def refuse(number):
    if number > 2:
        raise MemoryError("no room")
    return number


@kernel
def wait_for(flag, most):
    """Turns until another thread sets the flag."""
    for turn in range(most):
        if flag[0]:
            return turn
        yield_core()
    return most


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and kernels of this module that are not loaded."""
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "cache")
    for one in (same, weigh, put, fill, refuse, wait_for):
        monkeypatch.setattr(one, "callers", [])
        monkeypatch.setattr(one, "_by_kinds", {})
    return tmp_path / "cache"


def objects(folder: Path) -> list[Path]:
    """Files of kernels."""
    return sorted(folder.rglob("*.o"))


def compiled(call: Any) -> int:
    """How many kernels a call compiles."""
    before = jit.compiled_kernels()
    call()
    return jit.compiled_kernels() - before


# -- what they take and give ----------------------------------------------------------------------
def test_scalars_come_back_as_they_are() -> None:
    """Numbers of Python and of numpy share a kernel where they have the same width."""
    values = (3, -3, (1 << 63) - 1, -(1 << 63), 1 << 63, (1 << 64) - 1, 2.5, True, False, np.int64(-7), np.uint64(7),
              np.float64(0.25), np.True_)
    for _ in range(2):
        for value in values:
            result = same(value)
            assert result == value and type(result) is type(value.item() if isinstance(value, np.generic) else value)
    for name in DTYPES:
        assert same(np.dtype(name).type(1)) == 1
    assert same((1, (2.5, np.uint8(200)), False)) == (1, (2.5, 200), False)
    assert len(same.callers) <= len(DTYPES) + 1
    with pytest.raises(OverflowError):
        same(1 << 64)


def test_arrays_of_every_order_and_dtype() -> None:
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 100, (8, 6))
    rows, weights = np.array([0, 2, 1]), np.array([0.5, 2.0, 1.0])
    for name in DTYPES:
        grid = (whole > 50 if name == "bool" else whole).astype(name)
        parts = (grid, grid[::2, ::3], np.asfortranarray(grid), grid[:4], grid[:, :1], grid.T)
        # An order is a function of its own, whatever the dtype.
        for part in parts if name in ("bool", "int64", "float32") else parts[:2]:
            for use in (True, False):
                want = sum(part[r].astype(float).sum() * (w if use else 3) for r, w in zip(rows, weights, strict=True))
                assert weigh(part, (rows, (weights, use)), 3) == pytest.approx(want)


def test_an_array_of_a_subclass_or_of_another_name_of_a_dtype(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "file", np.int64, "w+", shape=4)
    put(mapped, 5)
    other = np.zeros(4, np.dtype(np.longlong if np.dtype(np.longlong) is not np.dtype(np.int64) else np.int64))
    put(other, 6)
    pickled = pickle.loads(pickle.dumps(np.zeros(4, np.int64)))
    callers = put.callers
    put(pickled, 8)
    assert pickled[0] == 8 and pickled.dtype is not np.dtype(np.int64) and put.callers is callers
    described = np.zeros(4, np.dtype(np.int64, metadata={"unit": "edges"}))
    put(described, 7)
    assert (mapped[0], other[0], described[0]) == (5, 6, 7)


def test_what_cannot_be_given_is_refused() -> None:
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    with pytest.raises(Exception, match="(?i)readonly"):
        put(read_only, 1.0)
    kinds: list[Any] = ["text", np.zeros(2, ">i8"), np.zeros(2, "U3"), {}]
    for wrong in kinds:
        with pytest.raises(TypeError, match="it takes arrays and numbers of"):
            same(wrong)
    with pytest.raises(TypeError, match=r"put\(\) takes 2 arguments, not 1"):
        put(np.zeros(2))


def test_what_a_kernel_raises() -> None:
    assert refuse(2) == 2
    for _ in range(2):
        with pytest.raises(MemoryError, match="^no room$"):
            refuse(3)


@pytest.mark.usefixtures("whole_resident_set")
def test_arrays_of_a_kernel_are_freed() -> None:
    fill(1 << 20)
    before = current_rss_bytes()
    assert [fill(1 << 20) for _ in range(100)] == [3] * 100
    assert current_rss_bytes() - before < 64 << 20


def test_other_threads_go_on_meanwhile() -> None:
    """The interpreter's lock is given back: else nobody could set the flag."""
    flag, most = np.zeros(1, np.int64), 1 << 40
    assert wait_for(np.ones(1, np.int64), 1) == 0
    thread = threading.Thread(target=lambda: put(flag, 1))
    put(np.zeros(1, np.int64), 1)
    starter = threading.Timer(0.05, thread.start)
    starter.start()
    assert wait_for(flag, most) < most
    starter.join()
    thread.join()


def test_threads_that_call_a_kernel_at_once_compile_it_once(cache: Path) -> None:
    results = list[float]()
    threads = [threading.Thread(target=lambda: results.append(same(2.5))) for _ in range(8)]
    before = jit.compiled_kernels()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.5] * 8 and jit.compiled_kernels() == before + 1 and len(objects(cache)) == 1


# -- where they are kept --------------------------------------------------------------------------
def test_processes_that_start_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    """Each has the right answers; what they leave is whole, and the next loads it without numba."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", CALL, str(tmp_path)]
    children = [subprocess.Popen([*command, str(seed)], env=environment, stdout=subprocess.DEVNULL)
                for seed in range(8)]
    assert [child.wait(PATIENCE) for child in children] == [0] * 8
    again = subprocess.run([*command, "9"], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert again.stdout == "0 False\n", again.stderr
    assert len(objects(tmp_path / "cache")) == len([*(tmp_path / "cache").rglob("*.*")]) == 12


def test_two_versions_side_by_side(tmp_path: Path) -> None:
    """Each has its own answers and its own objects in one folder, at once and by turns."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    versions = {"old": "values.ndim", "new": "values.ndim + 70"}
    for name, result in versions.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernels.py").write_text(KERNELS.replace("values.ndim", result))

    def begun(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", TWO_RANKS, str(tmp_path / name)], env=environment, text=True,
                                stdout=subprocess.PIPE)

    for n_compiled in (2, 0):
        running = {name: begun(name) for name in versions}
        found = {name: child.communicate(timeout=PATIENCE)[0] for name, child in running.items()}
        assert found == {"old": f"1 2 {n_compiled}\n", "new": f"71 72 {n_compiled}\n"}
    folders = {file.parent for file in objects(tmp_path / "cache")}
    assert len(folders) == 2 and len(objects(tmp_path / "cache")) == 4


def test_a_kernel_may_outlive_what_has_loaded_it(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    done = subprocess.run([sys.executable, "-c", END, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")})
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


def test_a_process_that_is_killed_while_it_saves(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    die = "import os, pathlib\npathlib.Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
    run = [sys.executable, "-c"]
    killed = subprocess.run([*run, die + CALL, str(tmp_path), "1"], env=environment, timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL and objects(tmp_path / "cache") == []
    for want in ("12 True\n", "0 False\n"):
        done = subprocess.run([*run, CALL, str(tmp_path), "2"], env=environment, capture_output=True, text=True,
                              timeout=PATIENCE)
        assert done.stdout == want, done.stderr


@pytest.mark.parametrize("damage", ["empty", "short", "foreign", "changed"])
def test_a_file_that_is_damaged_is_made_anew(damage: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(lambda: same(3)) == 1
    file, = objects(cache)
    whole = file.read_bytes()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    file.write_bytes({"empty": b"", "short": whole[:-9], "foreign": os.urandom(999), "changed": bytes(changed)}[damage])
    for want in (1, 0):
        monkeypatch.setattr(same, "callers", [])
        monkeypatch.setattr(same, "_by_kinds", {})
        assert compiled(lambda: same(3)) == want and same(5) == 5
    assert file.read_bytes()[:32] == whole[:32] and objects(cache) == [file]


def test_a_disk_that_is_full(cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The kernel runs; nothing is left there."""
    def write_bytes(file: Path, content: bytes) -> int:
        with open(file, "wb") as target:
            target.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with caplog.at_level(logging.WARNING, "emdiam"):
        assert compiled(lambda: same(3)) == 1 and same(4) == 4
    assert [*cache.rglob("*.*")] == []
    assert len(caplog.messages) == 1 and "No space left on device" in caplog.messages[0]


def test_a_home_that_nothing_can_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    environment = dict(os.environ)
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-c", CALL, str(tmp_path), "1"], capture_output=True, text=True,
                          env={**environment, "HOME": "/proc/nowhere"}, timeout=PATIENCE)
    assert done.stdout == "12 True\n" and "compiled kernels cannot be kept in ~/.cache" in done.stderr


def test_another_processor_has_objects_of_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So have other releases of what makes them: both are in one name."""
    assert compiled(lambda: same(3)) == 1
    here = kernel_objects.processor()
    assert "numba 0." in here and "llvmlite 0." in here
    for name, want in (("another", 1), ("another", 0), (here, 0)):
        monkeypatch.setattr(kernel_objects, "processor", lambda name=name: name)
        monkeypatch.setattr(same, "callers", [])
        monkeypatch.setattr(same, "_by_kinds", {})
        assert compiled(lambda: same(3)) == want
    assert len(objects(cache)) == 2


def test_an_object_that_calls_what_is_not_there_is_made_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that the process that made it had loaded."""
    assert compiled(lambda: same(3)) == 1
    file, = objects(cache)
    whole = kernel_objects.read(file)
    assert whole is not None
    kernel_objects.write(file, b"function_of_nothing " + whole)
    monkeypatch.setattr(same, "callers", [])
    monkeypatch.setattr(same, "_by_kinds", {})
    assert compiled(lambda: same(3)) == 1 and kernel_objects.read(file) == whole
    with pytest.raises(RuntimeError, match="calls function_of_nothing, which this process does not have"):
        kernel_objects.load(b"function_of_nothing\n" + whole, "x")


# -- shipped with the package ---------------------------------------------------------------------
@pytest.fixture
def ship(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Put an object of `same` for an int64 into an empty folder of shipped ones: ship(level) gives its file."""
    monkeypatch.setattr(kernel_objects, "SHIPPED", tmp_path / "objects")
    kernel_objects.levels.cache_clear()

    def made(level: str) -> Path:
        symbol, place = same.name_of(("int64",), kernel_objects.interface(level))
        file = tmp_path / "objects" / level / place
        kernel_objects.write(file, numba_private.compile_object(
            same, symbol, (3,), ("int64",), kernel_objects.machine(level)))
        return file

    yield made
    kernel_objects.levels.cache_clear()


def has_levels(monkeypatch: pytest.MonkeyPatch, *levels: str) -> None:
    """This processor has the features of these levels alone."""
    features = {name: level in levels for level, names in kernel_objects.LEVELS.items() for name in names.split()}
    monkeypatch.setattr(kernel_objects.binding, "get_host_cpu_features", lambda: features)


def answers() -> int:
    """How many kernels are compiled for a call that gives the right answer."""
    return compiled(lambda: [same(number) for number in (3, -5)] == [3, -5] or pytest.fail("a wrong answer"))


on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="levels are of x86-64")


@on_x86
def test_a_shipped_object_is_loaded(ship: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever made it: no other release of numba is asked for, nothing is compiled, and nothing written."""
    ship("x86-64-v2")
    has_levels(monkeypatch, *kernel_objects.LEVELS)
    monkeypatch.setattr(kernel_objects, "processor", lambda: "another, numba 9.9")
    assert answers() == 0 and objects(cache) == []


@on_x86
def test_levels_that_a_processor_has(ship: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The highest first; each needs those below it."""
    for level in kernel_objects.LEVELS:
        (kernel_objects.SHIPPED / level).mkdir(parents=True)
    two, three, four = kernel_objects.LEVELS
    for has, want in (((), ()), ((two,), (two,)), ((two, three), (three, two)), ((two, four), (two,)), ((four,), ()),
                      ((two, three, four), (four, three, two))):
        has_levels(monkeypatch, *has)
        kernel_objects.levels.cache_clear()
        assert kernel_objects.levels() == want
    (kernel_objects.SHIPPED / four).rmdir()
    kernel_objects.levels.cache_clear()
    assert kernel_objects.levels() == (three, two)


@on_x86
def test_a_processor_that_lacks_what_was_shipped(
        ship: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship("x86-64-v4")
    machine = kernel_objects.machine()
    monkeypatch.setattr(kernel_objects, "machine", lambda: machine)
    monkeypatch.setattr(kernel_objects, "processor", lambda: "an old one")
    has_levels(monkeypatch, "x86-64-v2", "x86-64-v3")
    assert answers() == 1 and len(objects(cache)) == 1


@on_x86
@pytest.mark.parametrize("fault", ["damaged", "empty", "changed sources", "another head of objects"])
def test_a_shipped_object_that_does_not_fit(
        fault: str, ship: Callable[..., Path], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is compiled as where nothing is shipped; the file of the installation is not touched."""
    file = ship("x86-64-v2")
    whole = file.read_bytes()
    if fault in ("damaged", "empty"):
        file.write_bytes(b"" if fault == "empty" else whole[:-5] + b"wrong")
    elif fault == "changed sources":
        monkeypatch.setattr(jit, "source_digest", lambda module: "0123456789abcdef")
    else:
        monkeypatch.setattr(kernel_objects, "interface", lambda level: f"{level} 32 numpy 2")
    before = file.read_bytes()
    assert answers() == 1 and len(objects(cache)) == 1 and file.read_bytes() == before
