"""The private functions of other packages that the store uses: fails in words if a release lacks one."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import threading

import pytest
import zarr

from emdiam.store.private import blake2b, wait_for


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


def test_blake2b_is_that_of_hashlib() -> None:
    words = "this interpreter has another blake2b: see what hashlib.blake2b is now, and change emdiam/store/private.py"
    assert blake2b(b"emdiam", digest_size=16).hexdigest() == "0ab4c6613b42cb3411a833096ad90aa5", words
    assert blake2b(b"emdiam" * 99, digest_size=16).digest() == hashlib.blake2b(b"emdiam" * 99, digest_size=16).digest()
