"""What all readers of one input share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from ..errors import InputError
from .inputs import Input
from .source import EdgeBatch, SourceInfo

FURTHER_FIELDS = "lines with further fields"
IDS = ("auto", "int", "string")
MAX_ID = 2**63 - 1
_PAIR_BYTES = 16
_HEAD_BYTES = (1 << 16, 1 << 20, 1 << 24)
T = TypeVar("T")


def pairs_per_batch(batch_bytes: int) -> int:
    """Pairs of int64 ids that take `batch_bytes`; at least one."""
    return max(1, batch_bytes // _PAIR_BYTES)


def in_slices(src: Any, dst: Any, batch_bytes: int) -> Iterator[EdgeBatch]:
    """Two int64 or string arrays of one length as batches of about `batch_bytes` (by their mean size)."""
    pieces = max(1, -(-(src.nbytes + dst.nbytes) // batch_bytes))
    step = max(1, -(-len(src) // pieces))
    for start in range(0, len(src), step):
        yield EdgeBatch(src[start : start + step], dst[start : start + step])


class FileSource(ABC):
    """An EdgeSource over one input. Subclasses read the header once and yield the batches."""

    format: ClassVar[str]
    takes_strings: ClassVar[bool] = False

    def __init__(self, source: Input, ids: str = "auto") -> None:
        if ids == "string" and not self.takes_strings:
            raise InputError(f"ids of format {self.format} are integers", path=source.name,
                             remedy="leave out --ids string")
        self.input, self.ids = source, ids
        self.name, self.rewindable = source.name, source.rewindable
        self._info: SourceInfo | None = None
        self.dropped: dict[str, int] = {}
        """What a complete pass of `batches` met beside the edges; see SourceInfo."""

    def info(self) -> SourceInfo:
        """Header facts, read once. Raises InputError."""
        if self._info is None:
            self._info = self._read_info()
        return self._info

    @abstractmethod
    def _read_info(self) -> SourceInfo:
        """Reads the header."""

    @abstractmethod
    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource."""

    def position_bytes(self) -> int:
        """Compressed bytes of input consumed so far."""
        return self.input.position_bytes()

    def error(self, what: str, **where: object) -> InputError:
        """An InputError about this input."""
        return InputError(what, path=self.name, **where)  # type: ignore[arg-type]


def text_head(source: Input, parse: Callable[[bytes, bool], T | None]) -> T:
    """What `parse(head, complete)` finds in the first bytes of `source`.

    `parse` returns None to ask for more; `complete` says that there is no more. Raises InputError
    when 16 MiB do not suffice.
    """
    for size in _HEAD_BYTES:
        head = source.peek(size, text=True)
        complete = len(head) < size
        found = parse(head, complete)
        if found is not None:
            return found
        if complete:
            break
    raise InputError("no edge and no header is found", path=source.name,
                     remedy="check that this is a graph, or name its format with --format")
