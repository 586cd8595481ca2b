"""Addresses of stores, and how they, and values that have some, are shown: without what lets somebody in."""

from __future__ import annotations

import math
import re
from typing import Any

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
