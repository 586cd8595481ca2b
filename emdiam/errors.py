"""The package's exceptions.

Every message is one sentence that a user can act on: the fault, its place (file, line or byte) and the remedy. The
command line prints it and exits with `exit_code`; the library only raises.

Also here: how addresses of stores, and values that contain addresses, are shown without secrets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

# Results, with the name of the command and the function that compute them.
_MEANT = {**dict.fromkeys(("center", "centre", "periphery", "radius"), "eccentricities"),
          **dict.fromkeys(("closeness", "harmonic"), "distances"), **dict.fromkeys(("stats", "summary"), "info")}
# Parts of an address that may be secret: user and password before the host, and a signed query after the path.
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
    """`value` as JSON can hold it: paths and other objects as text (addresses without secrets), NaN and infinity as
    null."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "item"):  # a numpy scalar
        return plain(value.item())
    return redacted(str(value))


Error = TypeVar("Error", bound=BaseException)


class EmdiamError(Exception):
    """Base of all errors raised on purpose. `exit_code` is what the command line returns."""

    exit_code = 1


class InputError(EmdiamError):
    """The input or an option is wrong. The message contains no secrets of addresses (see redacted).

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
        place = ("" if path is None else str(path)) + ("" if line is None else f", line {line}")
        place += "" if byte is None else f", byte {byte}"
        message = f"{place}: {what}" if place else what
        message += "" if text is None else f": {(text if len(text) <= 80 else text[:77] + '...')!r}"
        message += f"; {remedy}" if remedy else ""
        super().__init__(redacted(message if self.lines else one_line(message)))


def one_line(text: str) -> str:
    """`text` with unprintable characters escaped (line ends, terminal codes, bytes that are not UTF-8), which names of
    files may contain."""
    return text if text.isprintable() else "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def no_such(kind: str, name: object, known: Iterable[str]) -> InputError:
    """The error for a name that is not among the `known` ones; it suggests the most similar name, if one is close.

    kind : the kind of thing named, as in "there is no such KIND".
    """
    names, text = list(known), str(name)
    close = closest(text, names)
    remedy = f"choose from: {', '.join(names)}" if names else "there are none"
    return InputError(f"there is no such {kind}", text=text,
                      remedy=remedy if close is None else f"did you mean {close!r}? {remedy}")


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that has the meaning of `name`, or is most like it, if one is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(_MEANT.get(name, name), list(known), n=1)), None)


def clause(message: str) -> str:
    """A click message as a clause: its last sentences are in brackets or follow a semicolon."""
    text = " ".join(message.split()).rstrip(".").replace(". (Did you", " (did you").replace("'. Choose", "'; choose")
    text = re.sub(r"\. Did you mean (.*\?)$", r" (did you mean \1)", text).replace("integer range", "integer")
    return text[:1].lower() + text[1:]


def without_frames(error: Error) -> Error:
    """The error without its tracebacks and the tracebacks of its causes, whose frames keep memory or device memory
    alive that another attempt needs."""
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
    """The run needs more memory than was planned, for example because of a large number of components.

    missing_bytes : the memory that is missing. without_arena : whether it is still missing after the arena has freed
    every block that it can. reserve_bytes : the part of the reserve that all arrays would need, this one included; None
    if the pool, not the reserve, is too small. known : facts about the graph for another attempt (engine/attempts.py),
    or None.
    """

    known: Any = None

    def __init__(self, what: str, missing_bytes: int, without_arena: bool = False,
                 reserve_bytes: int | None = None) -> None:
        self.missing_bytes, self.without_arena, self.reserve_bytes = missing_bytes, without_arena, reserve_bytes
        super().__init__(what, remedy=f"give at least {-(-missing_bytes // 2**20)} MiB more with --memory")


class DeviceRoomError(BudgetError):
    """A device has too little memory for the arrays planned; the message has the numbers."""


class DeviceFullError(DeviceRoomError):
    """An allocation failed although the plan had room for it: other processes use the device too."""


class DeviceUnfitError(InputError):
    """A device that cannot run the kernels, for example because it is too old."""


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
    """Stopped by Ctrl-C or a limit; `result` has the bounds so far, if any."""

    exit_code = 3

    def __init__(self, message: str, result: object | None = None) -> None:
        super().__init__(message)
        self.result = result


class StateLost(StoppedEarly):
    """Stopped because the run's state was lost, for example with its workers. With a checkpoint, a run resumes after
    the last completed verb."""
