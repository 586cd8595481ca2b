"""From what the user names to an EdgeSource."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import InputError
from .registry import READERS, check_format, format_of_file
from .source import EdgeSource

if TYPE_CHECKING:
    from .base import FileSource
    from .inputs import Input
    from .look import Reading
    from .wishes import Wishes


def open_source(inputs: Sequence[str | Path], *, fmt: str | None = None, **options: Any) -> EdgeSource:
    """The edges of one or several inputs.

    Parameters
    ----------
    inputs : files, globs (expanded here, sorted) and "-" for standard input. All are parts of one
        graph: same kind of ids, same declared n.
    fmt : name in FORMATS, for all inputs; None: by content and suffix. options : the other fields of Wishes.

    Raises InputError for inputs that are missing, empty, unreadable, of no known format, or that
    contradict each other. Headers are checked here, edges while they are read.
    """
    from .base import IDS, ChainedSource
    from .inputs import Input, expand
    from .sides import TwoSides
    from .wishes import Wishes, check_header, two_columns

    fmt = None if fmt is None else check_format(fmt)
    wishes = Wishes(fmt, **{**options, "columns": two_columns(options.get("columns"))})
    check_header(wishes.header)
    if wishes.ids not in IDS:
        raise InputError("unknown kind of ids", text=wishes.ids, remedy="choose one of " + ", ".join(IDS))
    sources: list[FileSource] = []
    for name in expand(inputs):
        suffix = format_of_file(name)
        source = Input(name, headerless=_is_headerless(fmt or suffix), encoding=wishes.encoding)
        found, reading = (fmt, None) if fmt else _found_format(source, wishes)
        reader = _reader_class(found)(source, wishes, reading)
        sources.append(cast("FileSource", TwoSides(reader)) if wishes.bipartite and reader.sides_by_ids else reader)
    chained = ChainedSource(sources)
    chained.info()
    return chained


def _is_headerless(named: str | None) -> bool:
    return named is not None and READERS[named].headerless


def _reader_class(named: str) -> type[FileSource]:
    """The class of readers of this format."""
    module, reader = READERS[named].reader.split(":")
    source_class: type[FileSource] = getattr(importlib.import_module("." + module, __package__), reader)
    return source_class


def _found_format(source: Input, wishes: Wishes) -> tuple[str, Reading | None]:
    """The format of an input that the user does not name: by its mark, else by its suffix, else by a look at its lines,
    which is returned too."""
    from .heads import HEAD_BYTES
    from .look import reading_of
    from .marks import ZIP, find_mark

    head, suffix = source.peek(HEAD_BYTES, text=True), format_of_file(source.name)
    if not head:
        raise InputError("the input is empty", path=source.name, remedy="fetch or write it again")
    if _is_headerless(suffix):
        return str(suffix), None
    mark = find_mark(head)
    if mark is not None:
        found = "npz" if mark.format == ZIP else mark.format
        if found not in READERS:
            raise mark.refusal(source.name)
        return found, None
    if b"\0" in head and not (suffix and READERS[suffix].binary):
        raise _unknown_binary(source, head)
    if suffix is None or READERS[suffix].look or (suffix == "matrix-market" and not head.startswith(b"%%")):
        reading = reading_of(source, wishes)
        return reading.format, reading
    return suffix, None


def _unknown_binary(source: Input, head: bytes) -> InputError:
    """The error of binary data without a mark."""
    if source.path is not None and any(source.path.with_suffix(more).exists() for more in (".properties", ".offsets")):
        return InputError("this is a BVGraph of WebGraph, for which there is no reader", path=source.name,
                          remedy="write it as arcs with WebGraph's ArcListASCIIGraph, and convert that")
    if not any(head[1:1000:2]) or not any(head[:1000:2]):
        order = "le" if not any(head[1:1000:2]) else "be"
        return InputError("this looks like UTF-16 without a byte order mark", path=source.name, byte=0,
                          remedy=f"name it with --encoding utf-16-{order}")
    return InputError("binary data of no known format", path=source.name, byte=head.index(b"\0"),
                      remedy="name the format with --format")
