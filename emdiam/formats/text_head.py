"""The first lines of a text input: comments, and whether its ids look like integers.

Kept apart from the readers, so that looking at an input loads no compiled kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_INTEGERS = re.compile(rb"[ \t]*-?\d+(?:[ \t]*,[ \t]*|[ \t]+)-?\d+(?:[ \t,]|$)")
_BLANKS = re.compile(rb"[ \t\r\n]*")
_MOST_COMMENTS = 1 << 10
_LONG_LINE = 1 << 16  # a second line that does not end this soon need not be waited for
_ONE_INTEGER = re.compile(rb"[ \t]*-?\d+[ \t,]*$")


@dataclass(frozen=True)
class Head:
    """comments : lines before the first data line, at most 1,024. lines : the first data lines, at most two."""

    comments: tuple[bytes, ...]
    lines: tuple[bytes, ...]


def lines_with_text(head: bytes, mark: bytes = b"\n") -> Iterator[tuple[int, int]]:
    """(offset of its first byte, 1-based number) of every line of `head` that is not blank. Lines end in
    `mark`; blank ones are passed over by the million, as none of them is looked at alone."""
    at, number = 0, 1
    while True:
        blanks = _BLANKS.match(head, at)
        text = blanks.end() if blanks else at
        if text == len(head):
            return
        number += head.count(mark, at, text)
        yield head.rfind(mark, at, text) + 1 or at, number
        at, number = head.find(mark, text) + 1, number + 1
        if not at:
            return


def read_head(head: bytes, complete: bool) -> Head | None:
    """Leading comments and the first two data lines of `head`, None if they are not all there."""
    comments: list[bytes] = []
    data: list[bytes] = []
    text, behind_first = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), 0
    for start, _ in lines_with_text(text):
        end = text.find(b"\n", start)
        if end < 0 and not complete:
            break
        line = text[start : len(text) if end < 0 else end].strip(b" \t")
        if line[:1] not in (b"#", b"%"):
            data.append(line)
            behind_first = behind_first or len(text) - end
            if len(data) == 2:
                break
        elif not data and len(comments) < _MOST_COMMENTS:
            comments.append(line)
    enough = len(data) == 2 or (data and (complete or behind_first > _LONG_LINE))
    return Head(tuple(comments), tuple(data)) if enough else None


def is_integer_line(line: bytes) -> bool:
    """Whether a data line starts with two whole numbers (or is a single one)."""
    return bool(_INTEGERS.match(line) or _ONE_INTEGER.match(line))
