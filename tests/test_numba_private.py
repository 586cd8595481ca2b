"""What is private of numba and llvmlite and used here works as it is expected to; else a test says what has changed.

Tests of what is private of zarr and distributed are in tests/store/test_private.py and tests/dask/test_private.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import newpassmanagers

from emdiam import kernel_objects, numba_private
from emdiam.jit import NumbaFunction
from emdiam.paths.pairs.min_plus import EDGE, shorten_row
from emdiam.stream.offsets import sum_first
from emdiam.traverse.atomics import atomic_or
from emdiam.traverse.multi_wide import aligned_words, pull_wide

_NUMBERS = itertools.count()


@contextmanager
def changed(what: str) -> Iterator[None]:
    """Within it whatever fails means that this is no longer as it was."""
    try:
        yield
    except Exception as error:
        pytest.fail(f"{what}: see emdiam/numba_private.py ({type(error).__name__}: {error})")


def called(function: Any, *arguments: Any) -> Any:
    """What a kernel of this function gives, compiled now."""
    kinds, symbol = kernel_objects.kind_of(arguments), f"canary.{next(_NUMBERS)}"
    assert isinstance(kinds, tuple)
    code = numba_private.compile_object(NumbaFunction(function, "kernel"), symbol, arguments, kinds,
                                        kernel_objects.machine())
    return kernel_objects.load(code, symbol)(arguments)


def test_compiled_functions_are_called_as_numba_calls_them() -> None:
    """The result and the exception are written through the first two arguments; an array is seven numbers or more."""
    def take(matrix: Any, row: Any, number: Any, flag: Any) -> Any:
        return matrix[1, 2], row[0][3], len(matrix), number, flag

    with changed("numba's calling convention has changed (numba.core.callconv, its models of arguments)"):
        matrix = np.arange(6.0).reshape(2, 3)
        want = 5.0, 3, 2, 7, True
        assert called(take, matrix, (np.arange(4),), 7, True) == want, "arguments are in other places"
        assert called(take, np.asfortranarray(matrix), (np.arange(8)[::2] // 2,), 7, np.True_) == want


def test_what_a_function_raises_is_pickled() -> None:
    def fail(number: Any) -> Any:
        if number > 3:
            raise OverflowError("too large", 3)
        return number

    assert called(fail, 3) == 3
    with pytest.raises(OverflowError) as failed:
        called(fail, 4)
    assert failed.value.args == ("too large", 3), "numba keeps exceptions in another way: see kernel_objects._fail"


def test_arrays_are_made_by_functions_of_the_runtime() -> None:
    """And lists, which sorting uses."""
    def make(n: Any) -> Any:
        row = np.zeros(n, np.int64)
        for i in range(n):
            row[i] = (n - i) * 7 % n
        part = np.argsort(row[n // 2 :])
        row.sort()
        return row[0], row[n - 1], len(part)

    with changed("numba's runtime (NRT) has changed: numba_private has its own in place of it"):
        assert called(make, 101) == (0, 100, 51)


def test_what_numbas_library_has_is_here_too() -> None:
    """Other shapes of arrays, empty ones among them; numbers in two parts."""
    def reshaped(cube: Any) -> Any:
        flat = cube.reshape(-1)
        table = flat.reshape((len(flat) // 2, 2))
        return len(flat), table.shape[0], table.strides[0], flat.sum()

    def parts(number: Any) -> Any:
        part, power = math.frexp(number)
        return part, power, math.ldexp(part, power)

    with changed("numba's library (numba_attempt_nocopy_reshape, numba_frexp, numba_ldexp) has changed"):
        assert called(reshaped, np.arange(24).reshape(2, 3, 4)) == (24, 12, 16, 276)
        assert called(reshaped, np.zeros((2, 0, 4), np.int64)) == (0, 0, 16, 0)
        for number in (0.0, -3.75, 5e-324, 1e300, math.inf, -math.inf):
            assert called(parts, number) == (*math.frexp(number), number), number
        assert math.isnan(called(parts, math.nan)[2])
    with pytest.raises(NotImplementedError, match="incompatible shape for array"):
        called(lambda part: len(part.reshape(-1)), np.asfortranarray(np.zeros((4, 6))))


def test_functions_may_count_no_references() -> None:
    with changed("the option _nrt of numba.njit has changed"):
        assert called(lambda values: values[0], np.arange(3)) == 0
    with pytest.raises(Exception, match="NRT"):
        called(lambda values: len(values * 2), np.arange(3))  # without a name of numba_private


def _emitted() -> dict[str, Callable[[], Any]]:
    """What intrinsics emit by numba.core.cgutils: name -> what fails where that has changed."""
    def item_pointer() -> bool:
        words = np.zeros(3, np.uint64)
        called(lambda array: atomic_or(array, 1, np.uint64(6)), words)
        return words.tolist() == [0, 6, 0]

    def library_function() -> bool:
        row = np.arange(128, dtype=np.uint8)
        return bool(called(lambda array: sum_first(array, 0, 5), row) == (10, 0))

    def loops() -> bool:
        row, other = np.full(EDGE, 9, np.int32), np.arange(EDGE, dtype=np.int32)
        called(lambda a, b: shorten_row((a, b), (0, 0), np.int32(1), EDGE), row, other)
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
