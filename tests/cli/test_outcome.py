"""Exit codes and messages: what happened becomes one sentence and a number."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from emdiam.cli.outcome import EmdiamCommand, Interrupted, run
from emdiam.cli.output import answer, emit
from emdiam.errors import BudgetError, InputError, StoppedEarly, StoreError


def outcome(body: Callable[[], int | None], *arguments: str) -> int:
    """The exit code of a group whose one command `act` runs `body`."""
    group = click.Group("emdiam", commands=[EmdiamCommand("act", callback=body)])
    return run(group, ["act", *arguments])


def raising(error: BaseException) -> Callable[[], int]:
    """A body that raises `error`."""
    def body() -> int:
        raise error
    return body


@pytest.mark.parametrize(("error", "code", "text"), [
    (InputError("not an edge", path="e.txt", line=3, text="a"), 2, "e.txt, line 3: not an edge: 'a'"),
    (StoreError("there is no such store", path="g.zarr"), 2, "g.zarr: there is no such store"),
    (BudgetError("needs 3 GiB, has 1 GiB"), 2, "needs 3 GiB, has 1 GiB"),
    (Interrupted("stopped by the user; g.zarr was not written"), 2, "g.zarr was not written"),
    (StoppedEarly("stopped"), 3, "emdiam: stopped"),
    (KeyboardInterrupt(), 2, "stopped by the user"),
    (PermissionError(errno.EACCES, "Permission denied", "g.zarr"), 2, "g.zarr: Permission denied"),
    (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on device"),
    (OSError(errno.EIO, "Input/output error", "g.zarr"), 2, "g.zarr: Input/output error"),
    (OSError(errno.EBADF, "Bad file descriptor"), 1, "please report"),
    (ValueError("two\nlines"), 1, "internal error, ValueError: two lines; this is a fault of emdiam"),
    (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, "helper process"),
    (MemoryError(), 1, "MemoryError"),
])
def test_errors_become_a_code_and_one_line(
    error: BaseException, code: int, text: str, capsys: pytest.CaptureFixture[str]
):
    assert outcome(raising(error)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert text in err
    assert err.count("\n") == 1
    assert err.startswith("emdiam: ")


def test_a_traceback_comes_only_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EMDIAM_DEBUG", "1")
    assert outcome(raising(ValueError("odd"))) == 1
    assert "Traceback" in capsys.readouterr().err


def test_the_code_of_the_command_is_the_code(capsys: pytest.CaptureFixture[str]):
    assert outcome(lambda: 3) == 3
    assert outcome(lambda: None) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["--nonsense"], ["superfluous"]])
def test_usage_errors_are_the_users(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert outcome(lambda: 0, *arguments) == 2
    assert capsys.readouterr().err.endswith("; see emdiam act --help\n")


def test_help_is_an_answer(capsys: pytest.CaptureFixture[str]):
    assert outcome(lambda: 1, "--help") == 0
    assert "Usage: emdiam act" in capsys.readouterr().out


def test_json_is_one_line_and_strict(capsys: pytest.CaptureFixture[str]):
    answer({"diameter": None, "path": [1, 2]}, str, as_json=True)
    assert capsys.readouterr().out == '{"diameter": null, "path": [1, 2]}\n'
    with pytest.raises(ValueError):
        answer({"seconds": float("nan")}, str, as_json=True)


def in_a_shell(command: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run `command` in bash, in which $PY runs Python and $SCRIPT is the code."""
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                          env={**os.environ, "PY": sys.executable, "SCRIPT": script})


def test_a_reader_who_leaves_is_no_error():
    """The code stays 0 (`head` shows what it wants) and nothing is said."""
    script = "from emdiam.cli.output import emit\nfor i in range(100000): emit(str(i))"
    done = in_a_shell('"$PY" -c "$SCRIPT" | head -n 1; echo "code ${PIPESTATUS[0]}"', script)
    assert done.stdout == "0\ncode 0\n"
    assert done.stderr == ""


def test_help_into_a_closed_pipe_is_no_error():
    done = in_a_shell('"$PY" -m emdiam exact --help | true; echo "code ${PIPESTATUS[0]}"', "")
    assert done.stdout == "code 0\n"
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_an_answer_that_cannot_be_written_is_an_error():
    script = ("import sys, click\nfrom emdiam.cli.outcome import EmdiamCommand, run\n"
              "from emdiam.cli.output import emit\n"
              "group = click.Group('emdiam', commands=[EmdiamCommand('act', callback=lambda: emit('42'))])\n"
              "sys.exit(run(group, ['act']))")
    done = in_a_shell('"$PY" -c "$SCRIPT" > /dev/full', script)
    assert done.returncode == 2
    assert "could not be written to standard output (No space left on device)" in done.stderr


def test_emit_prints_text(capsys: pytest.CaptureFixture[str]):
    emit("42")
    assert capsys.readouterr().out == "42\n"


@pytest.mark.parametrize(("environment", "shown"), [
    ({}, False), ({"PYTHONWARNINGS": "default"}, True), ({"EMDIAM_DEBUG": "1"}, True)])
def test_warnings_of_other_packages_stay_off_the_terminal(environment: dict[str, str], shown: bool):
    script = ("import warnings\nfrom emdiam.cli.process import hide_warnings_of_libraries\n"
              "hide_warnings_of_libraries()\nwarnings.warn('old codec', UserWarning)")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **environment},
                          capture_output=True, text=True, check=True)
    assert ("old codec" in done.stderr) == shown


def test_an_answer_is_written_whole_where_nothing_buffers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under PYTHONUNBUFFERED, where a write may take a part alone."""
    taken = bytearray()

    class Few(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            taken.extend(bytes(data[:3]))
            return min(3, len(data))

    monkeypatch.setattr("emdiam.cli.output.check_stdout", lambda: None)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Few(), "utf-8", write_through=True))  # type: ignore[type-var]
    emit("größter Abstand: 31")
    assert taken.decode() == "größter Abstand: 31\n"
