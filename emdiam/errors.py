"""What can go wrong, as one small hierarchy.

Every error carries one sentence a user can act on: what happened, where (file, line or byte) and
the remedy. The command line prints it and leaves with `exit_code`; the library only raises.

Addresses of stores, and how they, and values that have some, are shown: without what lets somebody in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

# What may hide a secret: user and password before the host, and a signed query behind the path.
_USER = re.compile(r"(?<=://)[^/?#\s'\"<>]*@")
_QUERY = re.compile(r"(?<![\w+.-])([A-Za-z][\w+.-]*://[^\s?#'\"<>]*)[?#][^\s'\"<>]*")


def is_url(text: str) -> bool:
    """Whether `text` is an address rather than a local path (file:// counts as local)."""
    return "://" in text and not text.startswith("file://")


def redacted(text: str) -> str:
    """`text` with every address in it cut down to scheme, host and path.

    User names, passwords, queries and fragments are left out: a query may be a signature. Texts
    without an address come back as they are.
    """
    if "://" not in text:
        return text
    return _QUERY.sub(r"\1", _USER.sub("", text))


def plain(value: Any) -> Any:
    """`value` as JSON has it: paths and other things as texts (addresses without their secrets), numbers
    that are none as null."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return redacted(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "item"):  # a number of numpy
        return plain(value.item())
    return redacted(str(value))


Error = TypeVar("Error", bound=BaseException)


class EmdiamError(Exception):
    """Base of all errors raised on purpose. `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(EmdiamError):
    """The input or an option is at fault. The message has no secrets of addresses (see redacted).

    Parameters
    ----------
    what : str
        The fault, a clause without a full stop.
    path : str or Path, optional
        The file or store.
    line : int, optional
        Line number in it, from 1.
    byte : int, optional
        Byte in it, from 0.
    text : str, optional
        The wrong text; the message shows 80 characters.
    remedy : str, optional
        A clause: how to correct it.
    """

    exit_code = 2
    lines = False
    """Whether the message may have several lines."""

    def __init__(self, what: str, *, path: str | Path | None = None, line: int | None = None, byte: int | None = None,
                 text: str | None = None, remedy: str | None = None) -> None:
        self.what, self.path, self.line, self.byte = what, path, line, byte
        self.text, self.remedy = text, remedy
        place = "" if path is None else str(path)
        if line is not None:
            place += f", line {line}"
        if byte is not None:
            place += f", byte {byte}"
        message = f"{place}: {what}" if place else what
        if text is not None:
            shown = text if len(text) <= 80 else text[:77] + "..."
            message += f": {shown!r}"
        if remedy:
            message += f"; {remedy}"
        super().__init__(redacted(message if self.lines else one_line(message)))


def one_line(text: str) -> str:
    """`text` with what does not print (ends of lines, codes for terminals, bytes that are no UTF-8) written out, as
    names of files may have it."""
    return text if text.isprintable() else "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def no_such(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is none of the `known` ones; it names the closest of them, if one is close.

    kind : what the name is of, as in "there is no such KIND"."""
    names = list(known)
    close = closest(name, names)
    remedy = f"choose from: {', '.join(names)}" if names else "there are none"
    return InputError(f"there is no such {kind}", text=name,
                      remedy=remedy if close is None else f"did you mean {close!r}? {remedy}")


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, if one is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), None)


def clause(message: str) -> str:
    """What click says of a command line, as a clause: its last sentences are in brackets or behind a semicolon."""
    text = " ".join(message.split()).rstrip(".").replace(". (Did you", " (did you").replace("'. Choose", "'; choose")
    return text[:1].lower() + text[1:]


def without_frames(error: Error) -> Error:
    """The error without the frames that it, and those that it came from, passed through: they hold what was in memory,
    or on a device, which is needed for another attempt."""
    cause: BaseException | None = error
    while cause is not None:
        cause.__traceback__ = None
        cause = cause.__context__
    return error


class DisconnectedError(InputError):
    """The graph has several components, and one was required."""


class StoreError(InputError):
    """A store that is missing, foreign, unfinished, damaged or of a newer version."""


class BudgetError(InputError):
    """Memory or disk is too small; the message has the numbers.

    Attributes
    ----------
    least_bytes : int
        Memory that works; 0 if unknown.
    """

    least_bytes = 0


class MoreMemoryError(BudgetError):
    """A graph that takes more than was planned, as one of very many components; missing_bytes : how much more.
    without_arena : whether it is missing though the arena has given up all blocks that it can. reserve_bytes : of the
    reserve, what all that is there takes with that; None: it is missing in the pool. known : of the graph,
    for another attempt (engine/attempts.py); None: there is none."""

    known: Any = None

    def __init__(self, what: str, missing_bytes: int, without_arena: bool = False,
                 reserve_bytes: int | None = None) -> None:
        self.missing_bytes, self.without_arena, self.reserve_bytes = missing_bytes, without_arena, reserve_bytes
        super().__init__(what, remedy=f"give at least {-(-missing_bytes // 2**20)} MiB more with --memory")


class DeviceRoomError(BudgetError):
    """A device has no room for what it was to hold; the message has the numbers."""


class DeviceFullError(DeviceRoomError):
    """An allocation that failed though the plan had room for it: others use the device too."""


class DeviceUnfitError(InputError):
    """A device that cannot run the kernels, as one that is too old for them."""


class NotWritten(InputError):
    """The work is done, but a file cannot be written.

    Parameters
    ----------
    what : str
        A clause for each file.
    result : object
        The answer.
    """

    def __init__(self, what: str, result: object) -> None:
        super().__init__(what)
        self.result = result


class DeviceError(EmdiamError):
    """A GPU failed during a run, and the run is lost.

    Parameters
    ----------
    what : str
        A clause without a full stop.
    remedy : str, optional
        How to continue.
    """

    def __init__(self, what: str, *, remedy: str | None = None) -> None:
        self.what = what
        super().__init__(f"{what}; {remedy}" if remedy else what)


class StoppedEarly(EmdiamError):
    """Stopped by Ctrl-C or a limit; `result` has the bounds so far, if there are any."""

    exit_code = 3

    def __init__(self, message: str, result: object | None = None) -> None:
        super().__init__(message)
        self.result = result


class StateLost(StoppedEarly):
    """Stopped because what the run had found so far is gone with those that held it, as with lost workers; a
    checkpoint, if one was kept, goes on from the last verb that was done."""
