"""Header lines of text formats: where the header ends and what its numbers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InputError


@dataclass(frozen=True)
class HeaderEnd:
    """The line that ends a header. text : that line; number : its 1-based number; offset : first
    byte behind it; start : the first line of the file."""

    text: str
    number: int
    offset: int
    start: str


def find_line(head: bytes, complete: bool, wanted: Callable[[bytes], bool]) -> HeaderEnd | None:
    """The first line of `head` for which `wanted` holds, or None if it is not (wholly) there."""
    offset = number = 0
    start = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    while offset < len(head):
        end = head.find(b"\n", offset)
        if end < 0 and not complete:
            return None
        line = head[offset:] if end < 0 else head[offset:end]
        offset = len(head) if end < 0 else end + 1
        number += 1
        if wanted(line.strip()):
            return HeaderEnd(line.decode("utf-8", "replace").strip(), number, offset, start)
    return None


def header_counts(words: list[str], end: HeaderEnd, name: str) -> list[int]:
    """`words` as counts. Raises InputError with the line for anything but whole numbers >= 0 below 2^63."""
    counts = []
    for word in words:
        if not (word.isascii() and word.isdigit()) or int(word) >= 2**63:
            raise InputError(
                "the header's counts must be whole numbers",
                path=name,
                line=end.number,
                text=end.text,
                remedy="mend the header",
            )
        counts.append(int(word))
    return counts
