"""Machine words: atomic updates, bit counts and bit scans for the numba kernels.

numba has no atomics for CPU arrays; these few intrinsics emit the LLVM instructions. Orders are
monotonic: the thread join at the end of a level is the barrier that publishes the words.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)


@intrinsic
def atomic_or(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """words[index] |= value, atomically; returns the word before. array : uint64[:]."""
    signature = types.uint64(array, types.intp, types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        return builder.atomic_rmw("or", pointer, args[2], "monotonic")

    return signature, codegen


@intrinsic
def atomic_add(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] += value, atomically; returns the value before. array : int64[:]."""
    signature = types.int64(array, types.intp, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        return builder.atomic_rmw("add", pointer, args[2], "monotonic")

    return signature, codegen


@intrinsic
def count_trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Index of the lowest set bit of a uint64 that is not zero, as int64."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, codegen


@intrinsic
def count_ones(typingctx: Any, word: Any) -> Any:
    """Number of set bits of a uint64, as int64."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return signature, codegen
