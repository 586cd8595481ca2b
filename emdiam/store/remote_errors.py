"""What went wrong with a request to a server, as a sentence.

The texts of obstore hold the whole address, the answer of the server and more; an answer of S3 may
hold the signed text. So they are looked at and never shown: what is shown is made here. Its exceptions have a type
and that text alone, so the status and the code of an answer can be had from nowhere else.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..addresses import redacted
from ..errors import StoreError

_STATUS = re.compile(r"status code: (\d{3} ?[A-Za-z' -]*)")
_RETRIES = re.compile(r"after (\d+) retries")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_ADDRESS = "check the address, and the server's copy of the store"
_SERVER = "check the server and the network, and run it again"
_COPY = "check the server's copy of the store"
_ACCESS = "check the credentials and what they allow (docs/remote.md tells where they are looked for)"
_LONGEST = 200


def broke_off(error: Exception) -> bool:
    """Whether the answer began and then ended too early, which obstore does not try again."""
    text = str(error)
    return "response body" in text and "status code" not in text


def failure(error: Exception, place: str | Path) -> StoreError:
    """The StoreError for `error`, raised by a request for the object at `place`."""
    what, remedy = _sentence(error)
    return StoreError(what, path=place, remedy=remedy)


def _sentence(error: Exception) -> tuple[str, str]:
    """(what happened, remedy) of an exception of obstore."""
    text = str(error)
    name = type(error).__name__
    if isinstance(error, FileNotFoundError):
        return f"the object is missing{_named(text)}", _ADDRESS
    if name in ("PermissionDeniedError", "UnauthenticatedError"):
        return f"the server refuses the request{_named(text)}", _ACCESS
    if name == "NotSupportedError":
        return "the server does not answer range requests", "serve the store with one that does, or copy it here"
    return _general(text)


def _named(text: str) -> str:
    """The status of an answer and the code of its error, in brackets."""
    found = [match[1].strip() for match in (_STATUS.search(text), _CODE.search(text)) if match]
    return f" ({', '.join(found)})" if found else ""


def _general(text: str) -> tuple[str, str]:
    """(what happened, remedy) of an error that has no type of its own."""
    retries = _RETRIES.search(text)
    tried = f" (tried {int(retries[1]) + 1} times)" if retries else ""
    status = _STATUS.search(text)
    if status and status[1].startswith("416"):
        return "the object ends before the bytes that were asked for", _COPY
    if status:
        return f"the server answers with an error{_named(text)}{tried}", _SERVER
    if "Requested" in text and "got" in text:
        return "the server sent other bytes than were asked for, or the object is too short", _COPY
    if "response body" in text:
        return "the answer of the server breaks off before its end", _COPY
    if "TimedOut" in text or "timed out" in text:
        return f"the server does not answer in time{tried}", _SERVER
    if "error sending request" in text:
        return f"the server cannot be reached{tried}", _SERVER
    return f"the request fails: {redacted(text.partition(chr(10))[0])[:_LONGEST]}", _SERVER
