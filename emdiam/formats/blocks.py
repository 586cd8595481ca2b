"""Text in blocks that never cut a line (or a word): what the parsing kernels run over.

One buffer is filled, handed out up to the last place where it may be cut, and filled again behind what was left over.
It grows only when a single line does not fit. RAM: one block, at most MAX_LINE_BYTES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from .streams import ByteStream

MAX_LINE_BYTES = 16 << 20
_BLOCK_BYTES = 1 << 20
_LF, _CR = 10, 13

Cut = Callable[[bytearray, int], int]
"""(buffer, filled) -> length of the part that can be handed out, 0 if there is no place to cut."""


def block_bytes_for(batch_bytes: int) -> int:
    """Size of text blocks for a batch size: a quarter of it, at most 1 MiB, at least 64 bytes."""
    return max(64, min(_BLOCK_BYTES, batch_bytes // 4))


def after_line(buffer: bytearray, filled: int) -> int:
    """Cut behind the last line end. A carriage return alone counts only where no line feed is, and
    not as the last byte, where a line feed may follow."""
    cut = buffer.rfind(b"\n", 0, filled) + 1
    return cut or buffer.rfind(b"\r", 0, max(filled - 1, 0)) + 1


def after_word(buffer: bytearray, filled: int) -> int:
    """Cut behind the last blank or line end, for formats whose lines may be of any length."""
    return 1 + max(buffer.rfind(blank, 0, filled) for blank in (b" ", b"\t", b"\r", b"\n"))


def count_lines(block: Any) -> int:
    """Line ends in uint8[k]: line feeds, or carriage returns where there are none."""
    return int(np.count_nonzero(block == _LF) or np.count_nonzero(block == _CR))


def line_text(block: Any, start: int) -> str:
    """The line of uint8[k] `block` from byte `start` on, at most 200 bytes of it."""
    piece = block[start : start + 200].tobytes()
    return piece.replace(b"\r", b"\n").partition(b"\n")[0].decode("utf-8", "replace").rstrip()


def text_blocks(stream: ByteStream, block_bytes: int, cut: Cut = after_line) -> Iterator[Any]:
    """Blocks of the rest of `stream`.

    Yields uint8[k] views that are overwritten by the next step. A line end is added to the last one
    if it lacks it. Raises InputError for a line (word, record) longer than MAX_LINE_BYTES.
    """
    buffer, left = bytearray(block_bytes), 0
    while True:
        got = stream.readinto(memoryview(buffer)[left:])
        filled, at_end = left + got, left + got < len(buffer)
        ready = filled if at_end else cut(buffer, filled)
        if at_end and filled and buffer[filled - 1] not in b"\r\n":
            buffer[filled] = _LF
            ready += 1
        if ready:
            yield np.frombuffer(buffer, np.uint8, ready)
        if at_end:
            return
        left = filled - ready
        if ready:
            buffer[:left] = buffer[ready:filled]
        elif len(buffer) < MAX_LINE_BYTES:
            buffer = buffer + bytearray(len(buffer))
        else:
            raise InputError(f"no line end in {MAX_LINE_BYTES:,} bytes: this is no text edge list",
                             path=stream.raw.name, byte=stream.raw.consumed, remedy="name the format with --format")
