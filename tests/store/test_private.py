"""What emdiam uses of zarr that is private there: fails in words where a release has it no more."""

from __future__ import annotations

import asyncio
import importlib
import threading

import pytest
import zarr

from emdiam.store.private import wait_for


def test_zarr_waits_for_a_coroutine_on_its_own_loop() -> None:
    try:
        importlib.import_module("zarr.core.sync")
    except ImportError:
        pytest.fail(f"zarr {zarr.__version__} has no zarr.core.sync any more: see what waits for a store there now, and"
                    " change emdiam/store/private.py")
    loops = []

    async def work() -> int:
        loops.append((asyncio.get_running_loop(), threading.get_ident()))
        return 7

    assert [wait_for(work()), wait_for(work())] == [7, 7], "zarr.core.sync.sync gives another result than its coroutine"
    assert loops[0] == loops[1], "zarr runs two coroutines on two event loops, and connections of fsspec have one"
    assert loops[0][1] != threading.get_ident(), "zarr runs coroutines on the caller's thread, which may have a loop"
