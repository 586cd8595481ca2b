"""Addresses of stores, and how they are shown: without what lets somebody in."""

from __future__ import annotations

import re

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
