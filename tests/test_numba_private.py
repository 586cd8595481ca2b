"""What is private of numba and llvmlite and used here works as it is expected to; else a test says what has changed.

Tests of what is private of zarr and distributed are in tests/store/test_private.py and tests/dask/test_private.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import newpassmanagers
from numba import njit

from emdiam import numba_private
from emdiam.numba_private import COMPILE, LOCK, UNCOUNTED, Event, Listener, cached_in, listen, saved_in
from emdiam.paths.pairs.min_plus import EDGE, shorten_row
from emdiam.stream.byte_sums import sum_first
from emdiam.traverse import atomics
from emdiam.traverse.multi_wide import aligned_words, pull_wide


@contextmanager
def changed(what: str) -> Iterator[None]:
    """Within it whatever fails means that this is no longer as it was."""
    try:
        yield
    except Exception as error:
        pytest.fail(f"{what}: see emdiam/numba_private.py ({type(error).__name__}: {error})")


class Heard(Listener):
    """Notes events."""

    def __init__(self) -> None:
        self.begun, self.ended = list[str](), list[Event]()

    def on_start(self, event: Event) -> None:
        """See numba."""
        self.begun.append(event.kind)

    def on_end(self, event: Event) -> None:
        """See numba."""
        self.ended.append(event)


def test_numba_says_what_it_compiles_and_where_it_is_kept(tmp_path: Path) -> None:
    heard = Heard()
    with changed("numba.core.event, or numba.config.CACHE_DIR, has changed"):
        for kind in (COMPILE, LOCK):
            listen(kind, heard)
        before = numba_private.cache_setting()
        with cached_in(tmp_path):
            function = njit(cache=True)(_double)
        assert numba_private.cache_setting() == before, "the setting is not as before"
        assert function(4) == 8
    assert heard.begun[0] == LOCK and COMPILE in heard.begun, "numba tells of its lock, and then of a compilation"
    folders = [saved_in(event) for event in heard.ended if event.kind == COMPILE]
    assert folders and folders[-1] is not None, "a compilation has no dispatcher with stats.cache_path any more"
    assert folders[-1].is_relative_to(tmp_path), "numba.config.CACHE_DIR is not read where a function is decorated"
    assert list(folders[-1].glob("*.nbi")), "numba keeps kernels under other names"
    assert numba_private.is_compiled(function) and not numba_private.is_compiled(_double)


def _double(x: int) -> int:
    return 2 * x


def test_functions_may_count_no_references() -> None:
    with changed("the option _nrt of numba.njit has changed"):
        assert njit(**UNCOUNTED)(lambda values: values[0])(np.arange(3)) == 0
    with pytest.raises(Exception, match="NRT"):
        njit(**UNCOUNTED)(lambda n: np.zeros(n))(3)


def _emitted() -> dict[str, Callable[[], Any]]:
    """What intrinsics emit by numba.core.cgutils: name -> what fails where that has changed."""
    def item_pointer() -> bool:
        words = np.zeros(3, np.uint64)
        njit(lambda array: atomics.atomic_or(array, 1, np.uint64(6)))(words)
        return words.tolist() == [0, 6, 0]

    def library_function() -> bool:
        row = np.arange(128, dtype=np.uint8)
        return tuple(njit(lambda array: sum_first(array, 0, 5))(row)) == (10, 0)

    def loops() -> bool:
        row, other = np.full(EDGE, 9, np.int32), np.arange(EDGE, dtype=np.int32)
        njit(lambda a, b: shorten_row((a, b), (0, 0), np.int32(1), EDGE))(row, other)
        return row.tolist() == [min(9, 1 + j) for j in range(EDGE)]

    def slots() -> bool:
        words, full, total = aligned_words(2, 2, 8), np.zeros(1, np.uint64), aligned_words(8)
        words[0, 0, 0], words[0, 1, 0] = 1, 2
        mask = aligned_words(8)
        mask[0] = 3
        piece = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), 1, np.array([1, 0], np.uint32)
        degrees = np.zeros(128, np.uint8)
        degrees[:2] = 1
        layout = 1, np.array([0, 2]), np.zeros(2, np.int64), degrees, np.zeros(0, np.int64)
        pull_wide(piece, layout, words, full, mask, total, 0, False, aligned_words(8))
        return words[1, :, 0].tolist() == [3, 3]

    return {"get_item_pointer": item_pointer, "get_or_insert_function": library_function,
            "for_range_slice": loops, "alloca_once, alloca_once_value": slots}


@pytest.mark.parametrize("name", _emitted())
def test_code_is_emitted_by_cgutils(name: str) -> None:
    with changed(f"numba.core.cgutils.{name} has changed"):
        assert _emitted()[name](), "the code does something else"


def test_pass_managers_of_llvmlite_are_freed() -> None:
    """tests/test_jit.py sees their memory."""
    for manager in (newpassmanagers.FunctionPassManager, newpassmanagers.ModulePassManager):
        assert manager._dispose is not newpassmanagers.ffi.ObjectRef._dispose, (
            "llvmlite's pass managers have no _dispose of their own: see numba_private.free_pass_managers")
