"""That kernels are compiled is told wherever somebody hears it, with how many there will be where that is known."""

from __future__ import annotations

import importlib
import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emdiam import jit, kernel_progress
from emdiam.cli.listener import _messages
from emdiam.cli.main import COMMANDS
from emdiam.heartbeat import Heartbeat
from emdiam.progress import Event
from tests.helpers.waiting import PATIENCE
from tests.test_jit import loaded

# A program of its own purpose that calls a kernel with arrays of some dimensions; what it logs goes to standard output.
PROGRAM = """
import logging, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import kernels
from emdiam import kernel_progress
kernel_progress.purpose = "program"
for rank in map(int, sys.argv[2:]):
    assert kernels.rank(np.zeros((1,) * rank)) == rank
"""
KERNELS = "from emdiam.jit import kernel\n\n@kernel\ndef rank(values):\n    return values.ndim\n"


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """As ipykernel has it for the output of a cell, which is no terminal."""


Notebook.__module__ = "ipykernel.iostream"


@pytest.fixture(autouse=True)
def _of_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in the process of the tests leave their names."""
    monkeypatch.setattr(kernel_progress, "purpose", "python")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> logging.Logger:
    """The logger as a program finds it that has said nothing of logging: those of tests have handlers."""
    logger = logging.Logger("emdiam")
    logger.parent = logging.RootLogger(logging.WARNING)
    monkeypatch.setattr(kernel_progress, "_log", lambda: logger)
    return logger


@pytest.mark.parametrize(("known", "text"), [
    ((6, 12, 4.2), "compiling kernel 7 of 12 for this machine, once, about 4.2 s left"),
    ((0, 12, None), "compiling kernel 1 of 12 for this machine, once"),
    ((0, None, None), "compiling kernel 1 for this machine, once")])
def test_what_is_said(known: tuple[int, int | None, float | None], text: str) -> None:
    assert kernel_progress.sentence(*known) == text


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_a_line_is_there_while_a_kernel_is_compiled(
        kind: type[io.StringIO], library: logging.Logger, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    with kernel_progress.shown(0, 3, 2.0):
        assert stream.getvalue() == "\rcompiling kernel 1 of 3 for this machine, once, about 2 s left"
    assert stream.getvalue().endswith(" \r")
    before = stream.getvalue()
    with pytest.raises(ZeroDivisionError), kernel_progress.shown(0, 3, 2.0):
        raise ZeroDivisionError
    assert stream.getvalue() == 2 * before
    with kernel_progress.shown(1, 3, 2.0):  # a notebook keeps all lines
        assert (stream.getvalue() == 2 * before) == (kind is Notebook)


@pytest.mark.parametrize("heard", ["a log file", "nothing", "a level", "a handler"])
def test_nothing_is_written_where_that_is_not_asked_for(
        heard: str, library: logging.Logger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error that is no terminal, or is closed; a program that has said what becomes of messages."""
    streams = {"a log file": io.StringIO(), "nothing": None}
    stream = streams[heard] if heard in streams else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    if heard == "a level":
        monkeypatch.setattr(library, "level", logging.WARNING)
    if heard == "a handler":
        monkeypatch.setattr(library, "handlers", [logging.NullHandler()])
    with kernel_progress.shown(0, None, None):
        pass
    assert stream is None or stream.getvalue() == ""


def test_what_was_used_is_kept_by_purpose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = [("b", "2/f.o"), ("a", "1/g.o")]
    kernel_progress.keep(tmp_path, used, 0.5)
    monkeypatch.setattr(kernel_progress, "purpose", "exact")
    assert kernel_progress.last(tmp_path) == ([], None)
    kernel_progress.keep(tmp_path, used[:1], 2.0)
    assert kernel_progress.last(tmp_path) == (used[:1], 2.0)
    monkeypatch.setattr(kernel_progress, "purpose", "python")
    assert kernel_progress.last(tmp_path) == (sorted(used), 0.5)
    assert [file.name for file in tmp_path.iterdir()] == [kernel_progress.LAST]


@pytest.mark.parametrize("text", ["", "[]", "{\"python\": 3}", "{\"python\": {\"kernels\": [1], \"seconds\": 1}}", "{"])
def test_a_damaged_file_says_nothing_and_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / kernel_progress.LAST).write_text(text)
    assert kernel_progress.last(tmp_path) == ([], None)
    kernel_progress.keep(tmp_path, [("a", "1/g.o")], 1.0)
    assert kernel_progress.last(tmp_path) == ([("a", "1/g.o")], 1.0)
    assert kernel_progress.last(None) == ([], None)
    kernel_progress.keep(tmp_path / "nowhere", [], 1.0)
    kernel_progress.keep(None, [], 1.0)


def test_a_program_knows_how_many_kernels_the_last_one_compiled(tmp_path: Path) -> None:
    """Those that are there, or have been made again, do not count; after a change of the sources all do."""
    (tmp_path / "kernels.py").write_text(KERNELS)

    def said(*ranks: int) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path), *map(str, ranks)], capture_output=True, text=True,
            check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}, timeout=PATIENCE)
        return [line.removeprefix("compiling kernel ").partition(" for ")[0]
                for line in done.stdout.splitlines()]

    assert said(1, 2, 3) == ["1", "2", "3"]
    assert said(3, 2, 1) == []
    for file in list((tmp_path / "cache").rglob("*.o"))[:2]:
        file.unlink()
    assert said(1, 2, 3) == ["1 of 2", "2 of 2"]
    (tmp_path / "kernels.py").write_text(KERNELS + "\nBEHIND = 3\n")
    assert said(1, 2, 3, 4) == ["1 of 3", "2 of 3", "3 of 3", "4"]
    kept = json.loads((tmp_path / "cache" / kernel_progress.LAST).read_text())
    assert list(kept) == ["program"] and len(kept["program"]["kernels"]) == 4 and kept["program"]["seconds"] > 0


def test_kernels_of_another_main_module(tmp_path: Path) -> None:
    """The last process was a script with kernels of its own; this one has its code from a string, and so no file."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    program = PROGRAM.replace("import kernels", "import __main__, kernels\nassert not hasattr(__main__, '__file__')")
    kept = {"program": {"kernels": [["__main__", "0123456789abcdef/rank.0123.o"]], "seconds": 0.5}}
    (tmp_path / kernel_progress.LAST).write_text(json.dumps(kept))
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    out = subprocess.run([sys.executable, "-c", program, tmp_path, "1"], env=env, capture_output=True, text=True,
                         timeout=PATIENCE, check=True)
    assert out.stdout == "compiling kernel 1 of 1 for this machine, once, about 0.5 s left\n"


def test_a_first_run_counts_those_of_a_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But those that are there; the file of the package names kernels that there are."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "usual.json").write_text(json.dumps({"python": {"kernels": ["rank"], "nowhere": ["one", "two"]}}))
    before = jit._Spent.expected
    monkeypatch.setattr(kernel_progress, "USUAL", tmp_path / "usual.json")
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(jit.atexit, "register", lambda work: None)
    monkeypatch.setattr(jit._Spent, "expected", before)
    kernels = loaded(tmp_path / "kernels.py", monkeypatch)
    jit._expect()
    assert jit._Spent.expected == 3
    assert kernels.rank(np.zeros(1)) == 1
    jit._expect()
    assert jit._Spent.expected == 2
    monkeypatch.undo()
    commands = json.loads(kernel_progress.USUAL.read_text())
    for command, modules in commands.items():
        monkeypatch.setattr(kernel_progress, "purpose", f"{command} grid")
        assert len(kernel_progress.usual()) == sum(map(len, modules.values()))
        for module, name in kernel_progress.usual():
            assert isinstance(getattr(importlib.import_module(module), name), jit.CompiledKernel), (module, name)
    assert set(COMMANDS) - commands.keys() == {"tradeoff", "batch", "report", "warmup"}
    monkeypatch.setattr(kernel_progress, "purpose", "report")
    assert kernel_progress.usual() == []


def test_a_command_says_it_of_the_first_kernel_and_shows_all(capsys: pytest.CaptureFixture[str]) -> None:
    """A view on a terminal has a phase of them; in a log there is another line after the interval."""
    events: list[Event] = []
    for quiet, view, interval, lines in (
            (False, events.append, 9.0, 1), (False, Heartbeat(print, 9.0), 0.0, 2), (True, events.append, 0.0, 0)):
        with _messages(quiet, view, interval):
            for done in range(2):
                with kernel_progress.shown(done, 2, None):
                    pass
        err = capsys.readouterr().err.splitlines()
        assert err == [f"emdiam: compiling kernel {i + 1} of 2 for this machine, once" for i in range(lines)]
    assert [(event.phase, event.amount()) for event in events] == [
        ("compile", "0 of 2 kernels (0 %)"), ("compile", "1 of 2 kernels (50 %)")]
