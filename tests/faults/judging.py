"""What becomes of a command that met a fault, and of what it has left."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from emdiam.cli.outcome import describe
from tests.faults.commands import Command
from tests.fuzz.outcome import BAD, FAULT, REFUSED, RIGHT, Outcome

_REFUSED = 2


def fresh(place: Path, command: Command) -> None:
    """The folder as it is before the command."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    command.prepare(place)


def afterwards(place: Path, command: Command, first: Outcome, told: str) -> Outcome:
    """`first`, if all that was left is right and the command then ends well."""
    left = said(partial(command.judge, place))
    if left.word != RIGHT:
        return Outcome(left.word if left.word in BAD else FAULT, f"{told}left: {left.text} (first: {first.text})")
    if first.word == RIGHT and not command.is_whole(place):
        return Outcome(FAULT, f"{told}it ended well, and left {sorted(path.name for path in place.iterdir())}")
    if first.word == RIGHT:
        return first
    second = said(partial(command.run, place, True))
    if second.word != RIGHT or not command.is_whole(place):
        return Outcome(FAULT, f"{told}the second run: {second.text or second.word} (first: {first.text})")
    last = said(partial(command.judge, place))
    return first if last.word == RIGHT else Outcome(last.word, f"{told}after the second run: {last.text}")


def said(do: Callable[[], object]) -> Outcome:
    """What the command line would say: right, a refusal in a sentence (of jobs, a list of them), or a fault. What `do`
    returns counts, if it is an Outcome."""
    try:
        answer = do()
    except Exception as error:
        code, sentence = describe(error)
        if code == _REFUSED and sentence and ("\n" not in sentence or getattr(error, "lines", False)):
            return Outcome(REFUSED, sentence)
        return Outcome(FAULT, f"exit code {code}: {sentence}\n{traceback.format_exc()[-1800:]}")
    return answer if isinstance(answer, Outcome) else Outcome(RIGHT)
