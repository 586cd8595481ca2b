"""What is private in zarr and has no public name: one function that waits for a coroutine of its stores.

A store of zarr hands out bytes by coroutines alone, which have to run on zarr's own event loop: connections of fsspec
belong to the loop that opened them. tests/store/test_private.py fails in words where a release of zarr has it no more.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine of a store of zarr."""
    from zarr.core.sync import sync

    return sync(work)
