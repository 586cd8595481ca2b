"""Fault codes of the kernels as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from . import kernels
from .base import MAX_ID

_USE_STRINGS = "mend the line, or keep such ids as names with --ids string"


@dataclass(frozen=True)
class Wording:
    """What a format calls its things.

    name : the input. letter : letter its edge lines start with, if any. least, largest : ids its
    header allows. fields : fewest fields on a line. strings : whether string ids are an option.
    """

    name: str
    letter: str = ""
    least: int = 0
    largest: int = MAX_ID
    fields: int = 2
    strings: bool = False

    def sentence(self, fault: int) -> tuple[str, str]:
        """(what, remedy) for a fault code of the kernels."""
        number = _USE_STRINGS if self.strings else "mend the line"
        return {
            kernels.ONE_FIELD: ("a line with fewer than two ids", "every line needs two ids"),
            kernels.NOT_INTEGER: ("an id is not a whole number", number),
            kernels.NEGATIVE: ("an id is negative", number),
            kernels.TOO_LARGE: ("an id is larger than 2^63 - 1", number),
            kernels.OUT_OF_RANGE: (
                f"an id is outside {self.least}..{self.largest}, the ids that the header declares",
                "mend the id or the header",
            ),
            kernels.EMPTY_FIELD: ("an id is missing before a comma", "mend the line"),
            kernels.WRONG_LETTER: (
                f"a line of no known kind where an edge ({self.letter} U V) is expected",
                "mend the line",
            ),
            kernels.FEW_FIELDS: (
                f"a line with fewer than {self.fields} fields",
                "mend the line or the header",
            ),
            kernels.OPEN_ROW: (
                "a row ends before the numbers that the header's flags demand",
                "mend the row or the flags",
            ),
            kernels.EXTRA_ROW: (
                f"a row after the {self.largest} rows that the header declares",
                "mend the header",
            ),
        }[fault]


def line_text(block: Any, start: int) -> str:
    """The line of uint8[k] `block` from byte `start` on, at most 200 bytes of it."""
    piece = block[start : start + 200].tobytes()
    return piece.replace(b"\r", b"\n").partition(b"\n")[0].decode("utf-8", "replace").rstrip()


def word_text(block: Any, start: int) -> str:
    """The word of uint8[k] `block` from byte `start` on, or "" at a line end."""
    words = line_text(block, start).split()
    return words[0] if words else ""


def fault_error(wording: Wording, state: Any, block: Any, *, words: bool = False) -> InputError:
    """The InputError for a fault that a kernel left in `state` for `block`."""
    what, remedy = wording.sentence(int(state[kernels.FAULT]))
    start = int(state[kernels.START])
    text = word_text(block, start) if words else line_text(block, start)
    return InputError(what, path=wording.name, line=int(state[kernels.LINE]), text=text or None, remedy=remedy)
