"""Signals, pipes and terminals: processes that are stopped, watched or not listened to."""

from __future__ import annotations

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.helpers.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.thin(4)

def start(folder: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """A command in a process of its own, with pipes."""
    return subprocess.Popen([sys.executable, "-m", "emdiam", *arguments], cwd=folder, text=True, stdin=stdin,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read standard error until a line that has `text`."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"{text!r} never came; the process left with {process.wait(PATIENCE)}")


@pytest.fixture(scope="module")
def slow_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A torus, on which F-Diam needs a BFS from almost every vertex: minutes."""
    from emdiam.generators import generate

    store = tmp_path_factory.mktemp("slow") / "slow.zarr"
    generate("torus", store, parameters={"sides": "400x400"})
    return str(store)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_gives_its_interval(slow_store: str, tmp_path: Path, number: int):
    process = start(tmp_path, "exact", slow_store, "--method", "fdiam", "--json", "--log-interval", "0.2")
    wait_for(process, "step 2 of 3: ")
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, err
    result = json.loads(out)
    assert (result["exact"], result["diameter"], result["connected"]) == (False, None, True)
    assert result["lower"] <= 400 <= result["upper"]
    assert result["lower"] > 0
    assert "stopped by the user" in err and "Traceback" not in err


def test_a_stopped_run_tells_people_the_same(slow_store: str, tmp_path: Path):
    process = start(tmp_path, "exact", slow_store, "--method", "fdiam")
    wait_for(process, "step 2 of 3: ")
    time.sleep(0.5)  # the graph is known to be connected by then
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert out.startswith("diameter: ") and "(proved bounds; stopped early)\n" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_conversion_leaves_nothing(tmp_path: Path, number: int):
    """Standard input stays open, so that the conversion is certainly still reading."""
    process = start(tmp_path, "convert", "-", "g.zarr", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write("".join(f"{i} {i + 1}\n" for i in range(200_000)))
    process.stdin.flush()
    wait_for(process, "reading edges")
    time.sleep(0.3)
    process.send_signal(number)
    assert process.stderr is not None
    err = process.stderr.read()
    assert process.wait(timeout=PATIENCE) == 2, err
    assert "stopped by the user; g.zarr was not written" in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_generator_leaves_nothing(tmp_path: Path):
    process = start(tmp_path, "generate", "rmat", "g.zarr", "--vertices", "2^22")
    wait_for(process, "reading edges")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, err
    assert "g.zarr was not written" in err
    assert list(tmp_path.iterdir()) == []


def test_progress_that_nobody_reads_does_not_stop_the_work(tmp_path: Path, two_components: Path):
    process = start(tmp_path, "convert", str(two_components), "g.zarr", "--json", "--log-interval", "0.05")
    assert process.stderr is not None and process.stdout is not None
    process.stderr.close()
    assert json.loads(process.stdout.read())["record"]["n_edges"] == 7
    assert process.wait(timeout=PATIENCE) == 0
    process.stdout.close()


def test_an_answer_that_nobody_reads_is_no_error(tmp_path: Path, two_components: Path, command):
    assert command("convert", two_components, "g.zarr").returncode == 0
    line = f'"{sys.executable}" -m emdiam exact g.zarr --json --quiet | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("0\n", "")


def drain(terminal: int, shown: bytearray) -> None:
    """Read what a terminal shows until its last writer has gone, and close it."""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError as error:
            assert error.errno == errno.EIO  # how Linux says that nobody writes any more
            os.close(terminal)
            return


def test_a_terminal_gets_a_live_view_and_the_answer_stays_clean(slow_store: str, tmp_path: Path):
    """Standard error is a terminal, standard output a pipe."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "emdiam", "exact", slow_store, "--method", "fdiam", "--json"], cwd=tmp_path,
        stderr=theirs,
        stdout=subprocess.PIPE, text=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    shown = bytearray()
    reader = threading.Thread(target=drain, args=(mine, shown))
    reader.start()
    wait_until(lambda: b"<= D <=" in shown)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    reader.join()
    assert process.returncode == 3
    assert b"\x1b[" in shown and b"<= D <=" in shown and b"vertices with open bounds" in shown
    assert json.loads(out)["exact"] is False
