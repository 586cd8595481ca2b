"""Safe writing to standard output and standard error, with closed pipes and full disks handled."""

from __future__ import annotations

import fcntl
import io
import json
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

import click

from ..durable import write_all
from ..errors import InputError

_NAME = "emdiam: "
_NARROWEST = 16  # least width of a folded table column
_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_SENTENCE, _ANSWERED = "emdiam.sentence", "emdiam.answered"


def silence(stream: TextIO) -> None:
    """Redirect a stream without a reader to /dev/null; otherwise the interpreter would report its buffered text again
    at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)


def check_stdout() -> None:
    """Raise InputError if standard output is closed (`emdiam ... >&-`) or open only for reading, since an answer could
    not be written."""
    if sys.stdout is not None:
        try:
            number = sys.stdout.fileno()
        except OSError:  # not a file, as in tests
            return
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
            return
    raise InputError("standard output is closed, so there is no place for the answer",
                     remedy="send it to a file, or to /dev/null")


def _write(stream: TextIO, text: str) -> None:
    """Write and flush the whole text. Under PYTHONUNBUFFERED, a text stream drops the rest of a partial write."""
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        stream.write(text)
        stream.flush()
        return
    write_all(raw.write, text.encode(stream.encoding, stream.errors or "strict"))


def emit(text: str) -> None:
    """Print the answer on standard output and flush it.

    A pipe closed by its reader is no error. Raises InputError if the answer cannot be written (disk full).
    """
    check_stdout()
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_ANSWERED] = True
    try:
        _write(sys.stdout, text + "\n")
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise InputError(f"the answer could not be written to standard output ({error.strerror})") from error


def answer(data: dict[str, Any], text: Callable[[dict[str, Any]], str], as_json: bool) -> None:
    """Print the answer of a command: a JSON object on one line (NaN and infinity are refused, since JSON lacks them),
    or the result of `text`."""
    shown = json.dumps(data, allow_nan=False, default=_exact) if as_json else text(data)
    emit(_for_terminal(shown) if sys.stdout.isatty() and not as_json else shown)


def _for_terminal(text: str) -> str:
    """A text folded for the terminal of this process."""
    from shutil import get_terminal_size  # takes 2 ms

    return by_words(text, get_terminal_size().columns)


def by_words(text: str, width: int) -> str:
    """A text folded for a terminal of this width: long lines break between words, and lines of tables inside their last
    column. Lines of Markdown tables remain unchanged."""
    return "\n".join(line if len(line) <= width or line.startswith("|") else _folded(line, width)
                     for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    """A folded long line."""
    from textwrap import fill

    before, gap, last = line.rpartition("  ")
    if " " in last and before and width - len(before + gap) < _NARROWEST:  # the last column on separate lines
        return before.rstrip() + "\n" + fill(last, width, initial_indent="    ", subsequent_indent="    ", **_WHOLE)
    return fill(last, width, initial_indent=before + gap, subsequent_indent=" " * (len(before + gap) or 2), **_WHOLE)


def _exact(value: Any) -> str:
    """All digits of a Decimal as a text. Raises TypeError for other types."""
    if type(value).__name__ == "Decimal":  # importing its module takes time
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def has_answered(context: click.Context | None = None) -> bool:
    """Whether a command has started to print its answer. context : of the command; by default of the running one."""
    context = context or click.get_current_context(silent=True)
    return context is not None and context.meta.get(_ANSWERED, False)


def complain(text: str) -> None:
    """Print a message on standard error, folded between words on a terminal; failures are ignored. The last message
    that starts with "emdiam: " is the command's sentence, see `last_sentence`."""
    context = click.get_current_context(silent=True)
    if context is not None and text.startswith(_NAME):
        context.meta[_SENTENCE] = text.removeprefix(_NAME)
    try:
        if text.startswith(_NAME) and sys.stderr.isatty():
            text = _for_terminal(text)
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:  # the reader or the terminal is closed, or the disk is full
        silence(sys.stderr)


def last_sentence() -> str | None:
    """The last error sentence of the running command, without "emdiam: "; None if it printed none."""
    context = click.get_current_context(silent=True)
    sentence: str | None = None if context is None else context.meta.get(_SENTENCE)
    return sentence
