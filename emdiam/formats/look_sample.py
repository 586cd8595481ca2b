"""The lines of a text that a look is taken at, and what kind of value a field of them is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LINE, _BLANKS = re.compile(rb"[^\r\n]+"), re.compile(rb"[ \t\r\n]+")
_MOST_LINES = 1000
_MOST_LINE_BYTES = 1 << 16
_WORD_C = re.compile(r"c(?:[ \t]|$)")

_INTEGER = re.compile(r"\d+", re.ASCII)
_WHOLE_FLOAT = re.compile(r"(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DIGITS_OF_FLOATS, _MOST_DIGITS = 16, 30


@dataclass(frozen=True)
class Line:
    """A line that is neither blank nor a comment. text : with blanks before it, not behind it. offset : of its first
    byte. number : from 1 on."""

    text: str
    offset: int
    number: int


@dataclass(frozen=True)
class Sample:
    """The first lines of a text.

    lines : at most 1,000, none of them cut, but for a first one that is long. comments : the first lines that are
    comments. later : comments behind them. rewrite : "" or what makes comments of others than # and %:
    "//" or "c". whole : whether there are no other lines.
    """

    lines: tuple[Line, ...]
    comments: tuple[str, ...]
    later: tuple[str, ...] = ()
    rewrite: str = ""
    whole: bool = False

    @property
    def texts(self) -> list[str]:
        """The lines without their places."""
        return [line.text for line in self.lines]


def sample_of(head: bytes, complete: bool, most: int = _MOST_LINES) -> Sample:
    """The lines of the first bytes of a text, at most so many that are no comments. complete : whether these bytes are
    all."""
    found: list[Line] = []
    comments: list[str] = []
    later: list[str] = []
    number, counted, whole = 1, 0, complete
    mark = b"\n" if b"\n" in head else b"\r"
    for begin, end in _lines(head):
        cut = end == len(head) and not complete
        if (cut and found) or len(found) == most:
            whole = False
            break
        text = head[begin : min(end, begin + _MOST_LINE_BYTES)].decode("utf-8", "replace").rstrip(" \t")
        if not text:  # of a line that begins with more blanks than are looked at
            continue
        number += head.count(mark, counted, begin)
        counted = begin
        if text.lstrip(" \t").startswith(("#", "%", "//")):
            those = later if found else comments
            those += [text.lstrip(" \t")] if len(those) < _MOST_LINES else []
        else:
            found.append(Line(text, begin, number))
    slashes = any(comment.startswith("//") for comment in (*comments, *later))
    lines, letter = _without_c(found)
    return Sample(lines, tuple(comments), tuple(later), "c" if letter else "//" if slashes else "", whole)


def _lines(head: bytes) -> Iterator[tuple[int, int]]:
    """The first byte, and the one behind the last, of every line that is not blank; blank ones are passed over by the
    million."""
    at = 0
    while True:
        blanks = _BLANKS.match(head, at)
        text = blanks.end() if blanks else at
        begin = max(head.rfind(b"\n", at, text), head.rfind(b"\r", at, text)) + 1 or at
        line = _LINE.match(head, text)
        if line is None:
            return
        yield begin, line.end()
        at = line.end()


def _without_c(lines: Sequence[Line]) -> tuple[tuple[Line, ...], bool]:
    """The lines without those that begin with the word c, where all others begin with integers; and whether there are
    any such."""
    others = [line for line in lines if not _WORD_C.match(line.text)]
    if not others or len(others) == len(lines) or not all(_INTEGER.match(line.text.lstrip(" \t")) for line in others):
        return tuple(lines), False
    return tuple(others), True


def is_integer(text: str) -> bool:
    """Whether it is a whole number from 0 up, as digits."""
    return bool(_INTEGER.fullmatch(text))


def value_of(digits: str) -> int:
    """The number that digits stand for, or 10^30 for more of them than Python reads."""
    plain = digits.lstrip("0")
    return int(plain or 0) if len(plain) <= _MOST_DIGITS else 10**_MOST_DIGITS


def has_leading_zero(text: str) -> bool:
    """Whether it is digits of which the first is a zero in vain, as in 007."""
    return len(text) > 1 and text[0] == "0" and is_integer(text)


def is_number(text: str) -> bool:
    """Whether it is a decimal number, with a point or a comma."""
    return bool(_NUMBER.fullmatch(text))


def whole_number(text: str) -> int | None:
    """The whole number from 0 up that a text stands for, be it as digits, or as a float that is exact, as in 1.0 and
    1e+05; None for other texts.

    Floats with more than 16 digits before their exponent, or beyond 2^53, are None, since programs that write floats
    have rounded them.
    """
    if is_integer(text):
        return value_of(text) if value_of(text) < 1 << 64 else None
    match = _WHOLE_FLOAT.fullmatch(text)
    if match is None:
        return None
    digits, behind, power = match[1], (match[2] or "").rstrip("0"), int(match[3] or 0)
    if len(digits.lstrip("0")) + len(behind) > _DIGITS_OF_FLOATS:
        return None
    power -= len(behind)
    value = value_of(digits + behind)
    if power < 0:
        whole, rest = divmod(value, 10**-power)
        return None if rest else whole if whole <= 1 << 53 else None
    value *= 10**power
    return value if value <= 1 << 53 else None


def is_id_number(text: str) -> bool:
    """Whether an id looks like a number rather than a name: digits of any number, a float that is whole, or such a
    negative one."""
    return is_integer(text.removeprefix("-")) or whole_number(text) is not None
