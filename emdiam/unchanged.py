"""Checks that files did not change during a long reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import InputError


class Watched:
    """The present state of files.

    Parameters
    ----------
    paths : of the files. A missing file raises OSError.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._before: dict[Path, os.stat_result] = {}
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Watch this file too. Raises OSError."""
        self._before.setdefault(path, os.stat(path))

    def check(self) -> None:
        """Compare all files with their earlier state.

        Raises
        ------
        InputError : for a file with another size, time of change or inode, or a missing one.
        """
        for path, before in self._before.items():
            try:
                what = _difference(before, os.stat(path))
            except OSError as error:
                what = f"it no longer exists, or cannot be read: {error.strerror}"
            if what is not None:
                raise InputError(f"this changed while it was read ({what})", path=path,
                                 remedy="run the command again once nothing writes to it, or on a copy")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Context for reading the files: if the reader finds a fault and a file has changed, the change becomes the
        error. Raises InputError."""
        try:
            yield
        except InputError:
            self.check()
            raise


def _difference(before: os.stat_result, now: os.stat_result) -> str | None:
    """The difference from the earlier state, as a clause."""
    if now.st_size != before.st_size:
        return f"it had {before.st_size:,} bytes and has {now.st_size:,}"
    if now.st_mtime_ns != before.st_mtime_ns:
        return "it was written to"
    # Some network file systems change the number of a file after a while.
    if (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino) and now.st_ctime_ns != before.st_ctime_ns:
        return "another file has its name"
    return None
