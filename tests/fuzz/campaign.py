"""Many attacks in child processes: which of them gave a wrong answer, a fault, a crash, or no end."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.fuzz.kinds import environment_of
from tests.fuzz.outcome import BAD, CRASH, HANG, Outcome

ROOT = Path(__file__).resolve().parent.parent.parent
# Seconds without a word from a child: far more than any attack takes on a busy machine.
PATIENCE = 120.0
_SHARE = 2000


@dataclass
class Tally:
    """counts : attacks by the word of their outcome. told : number and outcome of the first ones that succeeded."""

    counts: Counter[str] = field(default_factory=Counter)
    told: list[tuple[int, Outcome]] = field(default_factory=list)
    most_told: int = 50

    @property
    def n_bad(self) -> int:
        """Attacks that succeeded."""
        return sum(self.counts[word] for word in BAD)

    def add(self, number: int, outcome: Outcome) -> None:
        """Count one more."""
        self.counts[outcome.word] += 1
        if outcome.word in BAD and self.n_bad <= self.most_told:
            self.told.append((number, outcome))


def campaign(
    kind: str, count: int, *, seed: int = 0, first: int = 0, jobs: int = 1, patience: float = PATIENCE,
    tell: Callable[[Tally], None] | None = None,
) -> Tally:
    """Run the attacks first..first+count-1 of a kind in `jobs` processes at a time.

    patience : seconds without a word from a child, after which its attack counts as one without end. tell : called
    after every share of attacks."""
    tally, lock = Tally(), threading.Lock()

    def share(begin: int) -> None:
        for number, outcome in attacks(kind, seed, begin, min(begin + _SHARE, first + count), patience):
            with lock:
                tally.add(number, outcome)
        if tell is not None:
            with lock:
                tell(tally)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(share, range(first, first + count, _SHARE)))
    return tally


def attacks(kind: str, seed: int, begin: int, stop: int, patience: float) -> Iterator[tuple[int, Outcome]]:
    """(number, outcome) of the attacks begin..stop-1; a child that dies or hangs is followed by another one."""
    while begin < stop:
        with tempfile.TemporaryDirectory(prefix="emdiam-fuzz-", dir=_folder()) as folder:
            for number, outcome in _of_one_child([kind, str(seed)], (begin, stop), folder, patience):
                yield number, outcome
                begin = number + 1


def _folder() -> str | None:
    """Memory, where there is some to put files into: attacks write many and wait for each to last."""
    shm = Path("/dev/shm")
    return str(shm) if os.access(shm, os.W_OK) and "TMPDIR" not in os.environ else None


def _of_one_child(
    kind: list[str], span: tuple[int, int], folder: str, patience: float
) -> Iterator[tuple[int, Outcome]]:
    begin, stop = span
    command = [sys.executable, "-m", "tests.fuzz.worker", *kind, str(begin), str(stop - begin), folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", **environment_of(kind[0])}
    with tempfile.TemporaryFile() as complaint, subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaint,
    ) as child:
        assert child.stdout is not None
        number: int | None = None
        try:
            for line in _lines(child.stdout, patience):
                if line is None:
                    yield (begin if number is None else number), Outcome(
                        HANG, f"no word for {patience:.0f} s: {_where(child, complaint)}")
                    return
                if line.startswith("{"):
                    assert number is not None
                    yield number, Outcome(**json.loads(line))
                    number = None
                else:
                    number = int(line)
            code = child.wait(patience)
            if code or number is not None:
                complaint.seek(0)
                said = complaint.read().decode(errors="replace")[:1500]
                if number is None:
                    raise RuntimeError(f"the child left with {code} between two attacks: {said}")
                yield number, Outcome(CRASH, f"left with {code}: {said}")
        finally:
            child.kill()


def _where(child: subprocess.Popen[bytes], complaint: IO[bytes]) -> str:
    """Where the threads of a child are that says nothing, as faulthandler tells it; the child ends."""
    child.send_signal(signal.SIGABRT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(10)
    complaint.seek(0)
    return complaint.read().decode(errors="replace")[-3000:]


def _lines(stream: IO[bytes], patience: float) -> Iterator[str | None]:
    """Lines as they come; None, and no more, once none came for `patience` seconds."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while selector.select(patience):
            data = os.read(stream.fileno(), 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode() for line in lines)
        yield None
