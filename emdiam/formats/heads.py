"""The first bytes of an input: its lines, and its header.

Kept apart from the readers, so that looking at an input loads no compiled kernel. No pattern here may repeat what can
be empty, or match the same blanks in two ways: on a file of blank lines that takes for ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..errors import InputError
from .inputs import Input

HEAD_BYTES = 1 << 16
_HEAD_BYTES = (HEAD_BYTES, 1 << 20, 1 << 24)
_BLANKS = re.compile(rb"[ \t\r\n]*")
T = TypeVar("T")


def text_head(source: Input, parse: Callable[[bytes, bool], T | None]) -> T:
    """What `parse(head, complete)` returns for the first bytes of `source`.

    `parse` returns None to ask for more; `complete` says that there is no more. Raises InputError
    when 16 MiB do not suffice.
    """
    for size in _HEAD_BYTES:
        head = source.peek(size, text=True)
        complete = len(head) < size
        result = parse(head, complete)
        if result is not None:
            return result
        if complete:
            break
    raise InputError("no edge and no header is found", path=source.name,
                     remedy="check that this is a graph, or name its format with --format")


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


@dataclass(frozen=True)
class HeaderLine:
    """The line that ends a header. name : the input; text : that line; number : its 1-based number; offset : first
    byte behind it; first : the first line of the file."""

    name: str
    text: str
    number: int
    offset: int
    first: str

    def error(self, what: str, remedy: str) -> InputError:
        """An InputError about this line."""
        return InputError(what, path=self.name, line=self.number, text=self.text, remedy=remedy)

    def counts(self, words: list[str]) -> list[int]:
        """`words` as counts. Raises InputError for anything but whole numbers >= 0 below 2^63."""
        counts = []
        for word in words:
            # Python refuses to read thousands of digits, so their number is looked at first.
            digits = word.lstrip("0") if word.isascii() and word.isdigit() else ""
            if not word.isascii() or not word.isdigit() or len(digits) > 19 or int(digits or 0) >= 2**63:
                raise self.error("the header's counts must be whole numbers", "fix the header")
            counts.append(int(digits or 0))
        return counts


def header_line(source: Input, is_comment: Callable[[bytes], bool]) -> HeaderLine:
    """The first line that is neither blank nor a comment. Raises InputError where there is none."""
    return text_head(source, lambda head, complete: find_header(source.name, head, complete, is_comment))


def find_header(name: str, head: bytes, complete: bool, is_comment: Callable[[bytes], bool]) -> HeaderLine | None:
    """The line of `header_line` in the first bytes of the input `name`, or None if it is not (wholly) there."""
    for start, number in lines_with_text(head):
        end = head.find(b"\n", start)
        if end < 0 and not complete:
            return None
        line = (head[start:] if end < 0 else head[start:end]).strip()
        if line and not is_comment(line):
            first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
            return HeaderLine(name, line.decode("utf-8", "replace"), number, len(head) if end < 0 else end + 1, first)
    return None
