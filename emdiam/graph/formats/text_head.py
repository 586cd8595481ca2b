"""The first lines of a text input: comments, and whether its ids look like integers.

Kept apart from the readers, so that looking at an input loads no compiled kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_INTEGERS = re.compile(rb"[ \t]*-?\d+(?:[ \t]*,[ \t]*|[ \t]+)-?\d+(?:[ \t,]|$)")
_LONG_LINE = 1 << 16  # a second line this long need not be waited for
_ONE_INTEGER = re.compile(rb"[ \t]*-?\d+[ \t,]*$")


@dataclass(frozen=True)
class Head:
    """comments : lines before the first data line. lines : the first data lines, at most two."""

    comments: tuple[bytes, ...]
    lines: tuple[bytes, ...]


def read_head(head: bytes, complete: bool) -> Head | None:
    """Leading comments and the first two data lines of `head`, None if they are not all there."""
    comments: list[bytes] = []
    data: list[bytes] = []
    lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for line in lines if complete else lines[:-1]:
        text = line.strip(b" \t")
        if not text:
            continue
        if text[:1] in (b"#", b"%"):
            if not data:
                comments.append(text)
        else:
            data.append(text)
            if len(data) == 2:
                break
    enough = len(data) == 2 or (data and (complete or len(lines[-1]) > _LONG_LINE))
    return Head(tuple(comments), tuple(data)) if enough else None


def is_integer_line(line: bytes) -> bool:
    """Whether a data line starts with two whole numbers (or is a single one)."""
    return bool(_INTEGERS.match(line) or _ONE_INTEGER.match(line))
