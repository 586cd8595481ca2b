"""Fixtures that several test files share."""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain, count
from pathlib import Path
from typing import TextIO, TypeVar

import pytest
from hypothesis import settings

from emdiam import units
from emdiam.jit import all_compiled
from emdiam.store import layout
from emdiam.stream import pager
from tests.helpers.selection import unselected
from tests.helpers.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent

Run = Callable[..., subprocess.CompletedProcess[str]]
Item = TypeVar("Item")


# A loaded machine takes seconds for what takes milliseconds. Examples are the same in every run, so that a run
# fails by what was changed alone; --hypothesis-profile=random draws others.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("same")
# Seconds after which a test is ended as hanging. Nothing is expected to come near them.
QUICK_SECONDS, SLOW_SECONDS = 900, 4 * 3600
_MOST_RESIDENT = 512 << 20  # bytes, see young
_MEASURED = units.system_text
STDERR = pytest.StashKey[TextIO]()
# All tests of this session, those too that -m leaves out.
COLLECTED = pytest.StashKey[list[pytest.Item]]()
_FOLDERS = count()  # see tmp_path


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C is heard by the tests' processes. A shell without job control starts its background processes with SIGINT
    ignored; children would inherit that, and those that tests interrupt would run on."""
    config.stash[STDERR] = open(os.dup(2), "w")
    # Hypothesis and pytest make many permanent objects. To search them for garbage after every 700 new ones takes a
    # fiftieth of the time, and a tenth of the time of tests on a device.
    gc.set_threshold(20_000, 20, 20)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that hangs, in compiled code too, ends its process with a traceback: pytest-xdist names the test and goes
    on in a new process. No alarm is used, which belongs to the commands under test."""
    seconds = SLOW_SECONDS if item.get_closest_marker("slow") else QUICK_SECONDS
    faulthandler.dump_traceback_later(seconds, exit=True, file=item.config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Without collections of garbage: modules and tests stay, and looking through them again and again took a fifth of
    the time."""
    gc.disable()
    try:
        _import_tests(session)
        return (yield)
    finally:
        gc.enable()


def _import_tests(session: pytest.Session) -> None:
    """Each process of pytest-xdist begins to import the tests at another file, so that what Python compiles at a first
    import is compiled by one of them and not by all: 18 s of a core in a clone. So with the constants that hypothesis
    looks for in the sources, and keeps in files: 4 s a process."""
    if "PYTEST_XDIST_WORKER" not in os.environ or session.config.args_source != pytest.Config.ArgsSource.TESTPATHS:
        return
    for file in _from_another_place(sorted((ROOT / "tests").rglob("test_*.py"))):
        with suppress(Exception, pytest.skip.Exception):  # pytest imports it again, and reports what it meets
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    with suppress(ImportError):  # private: without it hypothesis does the same later
        from hypothesis.internal.constants_ast import constants_from_module, is_local_module_file

        for module in _from_another_place(list(sys.modules.values())):
            file_name = getattr(module, "__file__", None)
            if file_name is not None and is_local_module_file(file_name):
                constants_from_module(module)


def _from_another_place(items: Sequence[Item]) -> Iterator[Item]:
    """All of them, in another order for each process of pytest-xdist."""
    number, count = (int(os.environ[f"PYTEST_XDIST_{name}"].removeprefix("gw")) for name in ("WORKER", "WORKER_COUNT"))
    first = len(items) * number // count
    return chain(items[first:], items[:first])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The marker thin(k, sampled=...): the cases that tests/helpers/selection.py does not choose are slow."""
    for item in unselected(items):
        item.add_marker(pytest.mark.slow)
    if items:
        items[0].config.stash[COLLECTED] = list(items)


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end. Runs collect garbage, and would look through all of them each time."""
    _keep_what_there_is()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """So do kernels that the tests of a file have compiled, some hundred thousand objects. Clusters end with the tests
    of a folder."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            workers = sys.modules.get("tests.helpers.workers")
            if workers is not None:
                workers.close_clusters()
        if nextitem is None or nextitem.path != item.path:
            _keep_what_there_is()


def _keep_what_there_is() -> None:
    """Garbage goes; no later collection looks at what stays."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def no_sync() -> Iterator[None]:
    """Nothing waits for the disk: a small conversion syncs a score of files, a fifth of its time. Tests of what is
    synced put a function of their own in this place; commands in processes of their own sync."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def shared_sweeps() -> Iterator[None]:
    """Threads share sweeps over the small blocks of tests too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pager, "SHARE_IDS", 1)
        yield


@pytest.fixture(autouse=True, scope="session")
def young() -> Iterator[None]:
    """Budgets in tests are those of a process that has just begun. One that runs thousands of tests grows to 2 GiB,
    mostly by kernels that it compiles, and plans count what a process has."""
    def text(path: str) -> str:
        found = _MEASURED(path)
        if path != "/proc/self/statm":
            return found
        whole, resident, *others = found.split()
        return " ".join([whole, str(min(int(resident), _MOST_RESIDENT // os.sysconf("SC_PAGE_SIZE"))), *others])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "system_text", text)
        yield


@pytest.fixture
def whole_resident_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of memory that is taken or freed: the resident set as it is, in place of that of a process that has
    just begun."""
    monkeypatch.setattr(units, "system_text", _MEASURED)


@pytest.fixture(autouse=True, scope="session")
def compiled() -> Iterator[None]:
    """Kernels are compiled for the smallest graph: tests are to meet them. tests/test_uncompiled.py has what answers
    without."""
    with all_compiled():
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real graphs beside the repository; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder of real graphs (../shared/data) is absent")
    return folder


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test, with a number that no other has. pytest's own fixture looks for the next number among the
    folders of all tests before it, which takes a millisecond for each thousand."""
    path = tmp_path_factory.getbasetemp() / f"{re.sub(r'[^0-9A-Za-z_]', '_', request.node.name)[:30]}-{next(_FOLDERS)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def emdiam(tmp_path: Path) -> Run:
    """Run the command line in a process of its own, in the folder tmp_path; returns the completed
    process with stdout and stderr as text."""

    def run(
        *arguments: str | Path, timeout: float = PATIENCE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "emdiam", *map(str, arguments)], cwd=tmp_path, text=True,
            capture_output=True, timeout=timeout, env={**os.environ, **environment},
        )

    return run


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same in this process, where a process of its own is not the point: a start takes a CPU second and more."""
    from tests.helpers.handed_in import typed

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        return subprocess.CompletedProcess(arguments, *typed(*arguments))

    return run


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores may have blocks of fewer ids than users can ask for, so that graphs of a few dozen arcs have many."""
    monkeypatch.setattr(layout, "LEAST_CHUNK_IDS", 4)


@pytest.fixture
def two_components(tmp_path: Path) -> Path:
    """An edge list with ids 10..: a path of 5 vertices (diameter 4) and a triangle (diameter 1)."""
    file = tmp_path / "edges.txt"
    file.write_text("10 11\n11 12\n12 13\n13 14\n20 21\n21 22\n22 20\n")
    return file
