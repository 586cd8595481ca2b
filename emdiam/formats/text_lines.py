"""Lines of text in the hands of Python, for formats whose lines change their meaning from section to section."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..errors import InputError
from .base import FileSource
from .blocks import block_bytes_for, text_blocks


class TextLines:
    """The lines of the input of `source`, stripped, one after another; empty ones and comments are passed over.

    comments : what a line that is one begins with. number : of the line that was handed out last. Raises InputError
    where a line is no UTF-8.
    """

    def __init__(self, source: FileSource, batch_bytes: int, comments: tuple[str, ...]) -> None:
        self._source, self._batch_bytes, self._comments = source, batch_bytes, comments
        self.number = 0
        self._lines = self._all()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def _all(self) -> Iterator[str]:
        with self._source.input.text() as stream:
            for block in text_blocks(stream, block_bytes_for(self._batch_bytes)):
                for raw in block.tobytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]:
                    self.number += 1
                    try:
                        line = raw.decode().strip()
                    except UnicodeDecodeError as error:
                        raise self.error("the line is not UTF-8 text", raw.decode("latin-1"),
                                         "name its encoding with --encoding") from error
                    if line and not line.startswith(self._comments):
                        yield line

    def words(self) -> Iterator[str]:
        """The words of the lines that are left."""
        for line in self._lines:
            yield from line.split()

    def first(self, count: int) -> list[str]:
        """The next lines, at most so many."""
        return list(islice(self._lines, count))

    def error(self, what: str, text: str | None = None, remedy: str = "fix the line") -> InputError:
        """An InputError about the line that was handed out last."""
        return self._source.error(what, line=self.number, text=text, remedy=remedy)
