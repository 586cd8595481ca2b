"""The private functions of other packages that the store uses: one of zarr, and one of Python.

Zarr's stores return bytes only through coroutines, which have to run on zarr's own event loop, as connections of fsspec
belong to the loop that opened them. The module hashlib loads OpenSSL for digests that the store does not use, which
takes 2 ms of a command. tests/store/test_private.py fails with an explanation if a release lacks one of the functions.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it from OpenSSL alone
    from hashlib import blake2b

__all__ = ("blake2b", "wait_for")


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine of a zarr store."""
    from zarr.core.sync import sync

    return sync(work)
