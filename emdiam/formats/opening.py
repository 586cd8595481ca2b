"""From what the user names to an EdgeSource."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .registry import READERS, check_format, format_of_file
from .source import EdgeSource

if TYPE_CHECKING:
    from .base import FileSource
    from .inputs import Input


def open_source(inputs: Sequence[str | Path], **options: Any) -> EdgeSource:
    """The edges of one or several inputs.

    Parameters
    ----------
    inputs : files, globs (expanded here, sorted) and "-" for standard input. All are parts of one
        graph: same kind of ids, same declared n.
    options : the fields of Reading, by name.

    Raises InputError for inputs that are missing, empty, unreadable, of no known format, or that
    contradict each other. Headers are checked here, edges while they are read.
    """
    from .base import IDS, ChainedSource
    from .inputs import Input, expand
    from .reading import Reading

    reading = Reading(**options)
    fmt = None if reading.fmt is None else check_format(reading.fmt)
    if reading.ids not in IDS:
        raise InputError("unknown kind of ids", text=reading.ids, remedy="choose one of " + ", ".join(IDS))
    sources = []
    for name in expand(inputs):
        named = fmt or format_of_file(name)
        source = Input(name, headerless=named is not None and READERS[named].headerless)
        sources.append(_reader(named, fmt is None, source)(source, reading))
    chained = ChainedSource(sources)
    chained.info()
    return chained


def _reader(named: str | None, guessing: bool, source: Input) -> type[FileSource]:
    """The class of readers for an input whose format is `named` by the user or, if `guessing`, by a suffix."""
    from .heads import HEAD_BYTES, is_integer_line, read_head, sniff

    if not source.peek(HEAD_BYTES):
        raise InputError("the input is empty", path=source.name, remedy="fetch or write it again")
    if named is None:
        named = sniff(source.peek(HEAD_BYTES, text=True), source.name)
    elif named == "csv" and guessing:
        first = read_head(source.peek(HEAD_BYTES, text=True), True)
        if first is not None and is_integer_line(first.lines[0]):
            named = "edgelist"
    module, reader = READERS[named].reader.split(":")
    source_class: type[FileSource] = getattr(importlib.import_module("." + module, __package__), reader)
    return source_class
