"""What becomes of one attack, as a word and what there is to tell."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass

from emdiam.errors import EmdiamError, InputError, StoppedEarly

# Accepted, and the answer is right; refused in a sentence; accepted, though the plain twin cannot read it; an answer
# that is wrong; an error that is none of ours, or that calls itself a fault of the program; no end; a dead process.
RIGHT, REFUSED, LOOSE, WRONG, FAULT, HANG, CRASH = "right", "refused", "loose", "wrong", "fault", "hang", "crash"
BAD = (WRONG, FAULT, HANG, CRASH)
_MOST_TEXT = 2000


@dataclass(frozen=True)
class Outcome:
    """word : one of the above. text : what there is to tell of it."""

    word: str
    text: str = ""


def judged(attack: Callable[[], Outcome]) -> Outcome:
    """What `attack` returns; an error of it is a refusal if users would see it as one sentence, else a fault."""
    try:
        return attack()
    except (InputError, StoppedEarly) as error:
        return _sentence(error)
    except EmdiamError as error:
        return Outcome(FAULT, f"{type(error).__name__}: {error}"[:_MOST_TEXT])
    except Exception:
        return Outcome(FAULT, traceback.format_exc()[-_MOST_TEXT:])


def _sentence(error: EmdiamError) -> Outcome:
    text = str(error)
    if not text or "\n" in text or "fault of emdiam" in text or "Traceback" in text:
        return Outcome(FAULT, f"no sentence for users: {text!r}"[:_MOST_TEXT])
    return Outcome(REFUSED, text[:_MOST_TEXT])
