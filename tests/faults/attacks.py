"""Faults of files under one command, by the layer: a call that fails, from some moment on or for a while.

An attack runs the command with the fault, then without it over what was left. It is right if the command ended well,
refused if it ended with a sentence; in either case all that was left has to be right where it is there, and the second
run has to end well.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.faults.commands import BATCH, HERE, Command, Commands, jobs_plan
from tests.faults.judging import afterwards, fresh, said
from tests.faults.layer import OPEN, READ, SYNC, WRITE, Layer
from tests.faults.power import PowerFailures
from tests.fuzz.kinds import Attack
from tests.fuzz.outcome import BAD, FAULT, RIGHT, Outcome

# A fault that needs no call that fails (power.py).
POWER = "power"
ANY = "any"


@dataclass(frozen=True)
class Fault:
    """call : the number of which counts; None: it is there all the time. harmless : what a command has to bear."""

    call: int | None
    harmless: bool = False


FAULTS = {
    "eio-read": Fault(READ), "eio-write": Fault(WRITE), "eio-sync": Fault(SYNC), "full": Fault(WRITE),
    "files": Fault(OPEN), "short-read": Fault(None, True), "short-write": Fault(None, True),
    "eintr": Fault(READ, True), "slow": Fault(None, True), "clock": Fault(None, True),
}


def attacks(folder: Path, fault: str, command: str) -> Attack:
    """One fault under one command an attack; ANY : any of those that start no process."""
    faults = Faults(folder)

    def attack(rng: random.Random) -> Outcome:
        one = rng.choice((*FAULTS, POWER)) if fault == ANY else fault
        return faults.attack(one, rng.choice(HERE) if command == ANY else command, rng)

    return attack


class Faults:
    """Attacks by fault and command, on files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._layer, self._place = Layer(), folder / "work"
        self._commands = Commands(folder).by_name
        self._counts: dict[str, list[int]] = {}
        self._power: dict[str, PowerFailures] = {}

    def attack(self, fault: str, name: str, rng: random.Random) -> Outcome:
        """One attack."""
        command = self._commands[name]
        if fault == POWER:
            if name not in self._power:
                self._power[name] = PowerFailures(self._layer, self._place, command)
            outcome = self._power[name].attack(rng)
        else:
            if name not in self._counts:
                self._counts[name] = _counts(self._layer, command, self._place)
            outcome = _attack(self._layer, self._place, command, fault, self._counts[name], rng)
        return Outcome(outcome.word, f"{fault} under {name}: {outcome.text}")


def _counts(layer: Layer, command: Command, place: Path) -> list[int]:
    """Calls of each kind when nothing fails."""
    fresh(place, command)
    with layer.counts(place) as counts:
        command.run(place, False)
    assert command.is_whole(place) and command.judge(place).word == RIGHT
    return counts.by_call


def _attack(layer: Layer, place: Path, command: Command, fault: str, counts: list[int], rng: random.Random) -> Outcome:
    kind = FAULTS[fault]
    at, span = 1, 0
    if kind.call is not None:
        at = rng.randint(1, max(1, counts[kind.call]))
        span = rng.choice((1, 3) if kind.harmless else (1, 3, 0))
    fresh(place, command)
    here = command.name != BATCH or rng.random() < 0.4
    if command.name == BATCH:  # a job has calls of its own
        at = rng.randint(1, 60) if kind.call is not None else at
        jobs_plan(f"{fault} {at} {span} {place}")
    told = f"{fault} at {at} for {span}: "
    try:
        with layer.plan(fault if here else "none", place, at, span):
            first = said(partial(command.run, place, False))
    finally:
        jobs_plan(None)
    if first.word in BAD or (kind.harmless and first.word != RIGHT):
        return Outcome(FAULT, told + first.text)
    return afterwards(place, command, first, told)
