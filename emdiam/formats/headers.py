"""Header lines of text formats: where the header ends and what its numbers are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InputError
from .text_head import lines_with_text


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
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    for start, number in lines_with_text(head):
        end = head.find(b"\n", start)
        if end < 0 and not complete:
            return None
        line = (head[start:] if end < 0 else head[start:end]).strip()
        if wanted(line):
            offset = len(head) if end < 0 else end + 1
            return HeaderEnd(line.decode("utf-8", "replace"), number, offset, first)
    return None


def header_counts(words: list[str], end: HeaderEnd, name: str) -> list[int]:
    """`words` as counts. Raises InputError with the line for anything but whole numbers >= 0 below 2^63."""
    counts = []
    for word in words:
        # Python refuses to read thousands of digits, so their number is looked at first.
        digits = word.lstrip("0") if word.isascii() and word.isdigit() else ""
        if not word.isascii() or not word.isdigit() or len(digits) > 19 or int(digits or 0) >= 2**63:
            raise InputError("the header's counts must be whole numbers", path=name, line=end.number, text=end.text,
                             remedy="mend the header")
        counts.append(int(digits or 0))
    return counts
