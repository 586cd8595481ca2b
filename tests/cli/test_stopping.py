"""Stopping in every phase: a signal or the time limit, and what a second signal does."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import click
import pytest

from emdiam.cli import process
from emdiam.cli.outcome import EmdiamCommand, run
from emdiam.cli.process import SAME_SECONDS, stop_asked, stopping_on_signals
from tests.cli.test_signals import start
from tests.helpers.stopped import stopped_everywhere
from tests.helpers.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.thin(6, sampled=("case", "options"))


@pytest.fixture(scope="module")
def hard_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random graph of 2^18 vertices and degree 8, which takes each method minutes, streamed below."""
    from emdiam.generators import generate

    store = tmp_path_factory.mktemp("hard") / "hard.zarr"
    generate("erdos-renyi", store, vertices=1 << 18, parameters={"average_degree": 8})
    return str(store)


# What is run, and the phase in which it is stopped.
PHASES = [
    ("exact", "--method", "pivots", "bfs"), ("exact", "--method", "pivots", "components"),
    ("exact", "--method", "pivots", "multi-source"), ("exact", "--method", "fdiam", "winnow"),
    ("exact", "--method", "bounding", "bfs"), ("approx", "--masters", "2^14", "grow clusters"),
    ("approx", "--masters", "2^14", "condense"), ("approx", "--method", "spanning", "spanning tree"),
    ("approx", "--method", "sweep", "bfs"),
]


@pytest.mark.parametrize("case", PHASES, ids=" ".join)
def test_sigterm_is_heard_in_every_phase(hard_store: str, tmp_path: Path, case: tuple[str, ...]):
    command, *options, phase = case
    process = start(tmp_path, command, hard_store, *options, "--arena", "2MiB", "--json", "--events", "e.jsonl")
    events = tmp_path / "e.jsonl"
    wait_until(lambda: events.exists() and f'"phase": "{phase}"' in events.read_text())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, err
    assert "stopped by the user" in err and "Traceback" not in err
    if out:
        result = json.loads(out)
        assert 0 <= result["lower"] <= result["upper"] < 1 << 18
    last = json.loads((tmp_path / "e.jsonl").read_text().splitlines()[-1])
    assert (last["record"], last["exit_code"]) == ("end", 3)


@pytest.mark.parametrize(("options", "limit"), [
    (("exact",), "1.5s"), (("exact", "--method", "apsp"), "1.5s"),  # these take minutes anywhere
    (("approx", "--method", "spanning"), "0.01s"),  # which even loading takes
])
def test_the_time_limit_ends_a_run(hard_store: str, tmp_path: Path, options: tuple[str, ...], limit: str):
    command, *more = options
    process = start(tmp_path, command, hard_store, *more, "--arena", "2MiB", "--time-limit", limit, "--json")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, err
    assert "the time limit is over" in err


class Clock:
    """Stands for the module time: it goes on when it is told to. reads : how often it was looked at."""

    def __init__(self) -> None:
        self.now, self.reads = 0.0, 0

    def monotonic(self) -> float:
        self.reads += 1
        return self.now

    def wait_for_reads(self, count: int) -> None:
        wait_until(lambda: self.reads == count)


def test_the_first_signal_interrupts_and_the_next_one_ends(monkeypatch: pytest.MonkeyPatch):
    clock = Clock()
    monkeypatch.setattr(process, "time", clock)
    codes: list[int] = []
    ended = threading.Event()

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stopping_on_signals(end):
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(PATIENCE)
        clock.wait_for_reads(1)
        clock.now += SAME_SECONDS / 2
        os.kill(os.getpid(), signal.SIGTERM)  # the same one again, as `timeout` sends it
        clock.wait_for_reads(2)
        assert codes == []
        clock.now += SAME_SECONDS
        os.kill(os.getpid(), signal.SIGINT)
        assert ended.wait(PATIENCE)
    assert codes == [128 + signal.SIGINT]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def terminate() -> None:
    """SIGTERM, and a moment in which its handler runs."""
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass


def by_callback() -> None:
    """In a function that C calls back."""
    ctypes.CFUNCTYPE(None)(terminate)()


def by_finalizer() -> None:
    """In a __del__."""
    type("Ending", (), {"__del__": lambda _self: terminate()})()


def by_compiler(passed: list[bool]) -> None:
    """In a function of llvmlite that C calls back; `passed` grows when it comes to its end."""
    names = {"__name__": "llvmlite.binding.object_file", "terminate": terminate, "passed": passed}
    exec("def compiled():\n    terminate()\n    passed.append(True)", names)
    ctypes.CFUNCTYPE(None)(names["compiled"])()


@pytest.mark.parametrize("where", [by_callback, by_finalizer])
def test_a_signal_in_a_place_where_exceptions_are_lost_stops_all_the_same(
    where: Callable[[], None], capsys: pytest.CaptureFixture[str]
):
    after = []
    with stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        where()
        after.append("the exception was lost there")
        assert stop_asked()
        threading.Event().wait(PATIENCE)
    assert after and not stop_asked()
    assert capsys.readouterr().err == ""


def test_a_main_thread_that_waits_is_woken():
    """A signal may come just before the main thread waits for a lock, or meet another thread: then it wakes nobody."""
    lock, met = threading.Lock(), threading.Event()
    in_time: list[bool] = []

    def signal_myself() -> None:
        time.sleep(0.05)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        in_time.append(met.wait(PATIENCE / 4))
        lock.release()

    lock.acquire()
    other = threading.Thread(target=signal_myself)
    with stopping_on_signals():
        other.start()
        with pytest.raises(KeyboardInterrupt):
            lock.acquire()
        met.set()
        other.join()
    assert in_time == [True]


@pytest.mark.parametrize("wait", ["event", pytest.param("future", marks=pytest.mark.slow)])
def test_a_stop_while_threads_are_awaited_is_no_other_error(wait: str, monkeypatch: pytest.MonkeyPatch):
    """Condition.wait gives a lock back before it waits: an exception just then would be one about the lock."""
    monkeypatch.setattr(process, "AGAIN_SECONDS", 0.001)

    def body() -> None:
        if wait == "event":
            threading.Event().wait(0.001)
        else:
            with pytest.raises(TimeoutError):
                Future[None]().result(0.001)

    assert sum(place.interrupted for place in stopped_everywhere(body)) > 3


def test_a_compiler_at_work_is_not_interrupted():
    passed: list[bool] = []
    with stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        by_compiler(passed)
        threading.Event().wait(PATIENCE)
    assert passed == [True]


def test_a_module_that_is_being_imported_is_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An extension in Rust would make a panic of the exception."""
    (tmp_path / "being_imported.py").write_text(
        "from tests.cli.test_stopping import terminate\nterminate()\nwhole = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        importlib.import_module("being_imported")
        threading.Event().wait(PATIENCE)
    assert sys.modules.pop("being_imported").whole


@pytest.mark.parametrize("module", ["threading", "concurrent.futures._base", "queue", "logging", "contextlib"])
def test_locks_of_libraries_are_not_left_locked(module: str):
    """Python's wait(futures) takes the locks of all futures one by one: between two it is not interrupted."""
    passed: list[bool] = []
    names = {"__name__": module, "kill": os.kill, "who": (os.getpid(), signal.SIGTERM), "passed": passed}
    exec("def take_locks():\n    kill(*who)\n    for _ in range(1000):\n        pass\n    passed.append(True)", names)
    with stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        names["take_locks"]()  # type: ignore[operator]
        threading.Event().wait(PATIENCE)
    assert passed == [True]


def test_other_exceptions_that_are_lost_are_shown_as_ever(capsys: pytest.CaptureFixture[str]):
    with stopping_on_signals():
        type("Faulty", (), {"__del__": lambda _self: 1 // 0})()
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_what_fails_after_a_signal_is_not_a_fault_of_emdiam(capsys: pytest.CaptureFixture[str]):
    """As the import of a library does that meets KeyboardInterrupt in C."""
    def body() -> int:
        try:
            terminate()
        except KeyboardInterrupt:
            raise ImportError("numpy.core.multiarray failed to import") from None
        return 0

    with stopping_on_signals():
        assert run(click.Group("emdiam", commands=[EmdiamCommand("act", callback=body)]), ["act"]) == 2
    assert capsys.readouterr().err == "emdiam: stopped by the user\n"


def test_an_ignored_interrupt_stays_ignored():
    """As in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stopping_on_signals():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
