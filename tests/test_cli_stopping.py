"""Stopping in every phase: a signal or the time limit, and what a second signal does."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from emdiam.cli.signals import SAME_SECONDS, stopping_on_signals
from tests.test_cli_signals import PATIENCE, start, wait_for

pytestmark = pytest.mark.thin(6)

# On a machine that others use too; alone it is a few tenths.
SOON = 5.0


@pytest.fixture(scope="module")
def hard_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random graph of 2^18 vertices and degree 8, which no method solves in seconds, streamed below."""
    from emdiam.graph.generate import generate
    from emdiam.traverse.compiled import ensure_compiled

    ensure_compiled()
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
    wait_for(process, f"{phase}: started")
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    out, err = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < SOON
    assert process.returncode == 3, err
    assert "stopped by the user" in err and "Traceback" not in err
    if out:
        result = json.loads(out)
        assert 0 <= result["lower"] <= result["upper"] < 1 << 18
    last = json.loads((tmp_path / "e.jsonl").read_text().splitlines()[-1])
    assert (last["record"], last["exit_code"]) == ("end", 3)


@pytest.mark.parametrize("options", [("exact",), ("exact", "--method", "apsp"), ("approx", "--method", "spanning")],
                         ids=" ".join)
def test_the_time_limit_is_kept_within_seconds(hard_store: str, tmp_path: Path, options: tuple[str, ...]):
    command, *more = options
    began = time.monotonic()
    process = start(tmp_path, command, hard_store, *more, "--arena", "2MiB", "--time-limit", "1.5s", "--json")
    _, err = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < 1.5 + 3 * SOON  # the program has to start and to end, too
    assert process.returncode == 3, err
    assert "the time limit is over" in err


def test_the_first_signal_interrupts_and_the_next_one_ends():
    codes: list[int] = []
    ended = threading.Event()

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stopping_on_signals(end):
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        os.kill(os.getpid(), signal.SIGTERM)  # the same one again, as `timeout` sends it
        time.sleep(SAME_SECONDS / 3)
        assert codes == []
        time.sleep(SAME_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)
        assert ended.wait(5)
    assert codes == [128 + signal.SIGINT]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


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
