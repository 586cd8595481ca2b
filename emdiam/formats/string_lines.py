"""Batches from lines that hold two names: edge lists with string ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError
from . import kernels
from .blocks import block_bytes_for, text_blocks
from .faults import Wording, fault_error, line_text
from .pair_lines import comment_table
from .source import EdgeBatch
from .streams import ByteStream

_PAIRS = 1 << 17  # 4 MiB of spans; a block yields several batches if it has more pairs


def string_batches(stream: ByteStream, comments: str, wording: Wording, batch_bytes: int,
                   state: Any) -> Iterator[EdgeBatch]:
    """UTF-8 string pairs of the rest of `stream` as pyarrow string arrays. state : as in pair_batches.

    Raises InputError with line number and text at a line with one field or invalid UTF-8.
    """
    table = comment_table(comments)
    spans = np.empty((max(1, min(_PAIRS, batch_bytes // 32)), 4), np.int64)
    for block in text_blocks(stream, block_bytes_for(batch_bytes)):
        first_line = int(state[kernels.LINE])
        state[kernels.POS], state[kernels.END] = 0, len(block)
        while state[kernels.POS] < state[kernels.END]:
            state[kernels.COUNT] = 0
            kernels.find_fields(block, state, table, spans)
            if state[kernels.FAULT]:
                raise fault_error(wording, state, block)
            found = spans[: state[kernels.COUNT]]
            if len(found):
                yield _batch(block, found, wording.name, first_line)


def _batch(block: Any, spans: Any, name: str, first_line: int) -> EdgeBatch:
    src, dst = _strings(block, spans, 0), _strings(block, spans, 1)
    try:
        src.validate(full=True)
        dst.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _encoding_error(block, spans, name, first_line) from error
    return EdgeBatch(src, dst)


def _strings(block: Any, spans: Any, field: int) -> pa.StringArray:
    offsets = np.empty(len(spans) + 1, np.int32)
    data = np.empty(int((spans[:, 2 * field + 1] - spans[:, 2 * field]).sum()), np.uint8)
    kernels.gather_fields(block, spans, field, offsets, data)
    return pa.StringArray.from_buffers(len(spans), pa.py_buffer(offsets), pa.py_buffer(data))


def _encoding_error(block: Any, spans: Any, name: str, first_line: int) -> InputError:
    """Finds the first field that is not UTF-8 and says where it is."""
    for begin_a, end_a, begin_b, end_b in spans.tolist():
        try:
            block[begin_a:end_a].tobytes().decode()
            block[begin_b:end_b].tobytes().decode()
        except UnicodeDecodeError:
            before = block[:begin_a].tobytes()
            ends = before.count(b"\n") + before.replace(b"\r\n", b"\n").count(b"\r")
            return InputError("an id is not UTF-8 text", path=name, line=first_line + ends,
                              text=line_text(block, begin_a), remedy="convert the file to UTF-8")
    raise AssertionError("pyarrow refuses strings that Python decodes")
