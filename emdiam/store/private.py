"""The one private function of zarr that is used: it waits for a coroutine of a zarr store.

Zarr's stores return bytes only through coroutines, which have to run on zarr's own event loop, as connections of fsspec
belong to the loop that opened them. tests/store/test_private.py fails with an explanation if a release of zarr lacks
the function.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any


def wait_for(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine of a zarr store."""
    from zarr.core.sync import sync

    return sync(work)
