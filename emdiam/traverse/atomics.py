"""Machine words: atomic updates, bit counts and bit scans for the numba kernels.

numba has no atomics for CPU arrays; these few intrinsics emit the LLVM instructions. Orders are
monotonic: the thread join at the end of a level is the barrier that publishes the words.
"""

from __future__ import annotations

from typing import Any

from ..jit import emitting, intrinsic, ir, types


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    struct = context.make_array(array_type)(context, builder, array)
    return emitting.item_pointer(context, builder, array_type, struct, [index], wraparound=False)


def _atomic(operation: str, order: str) -> Any:
    """f(array, index, value): array[index] = operation(array[index], value), atomically; returns the entry before.

    array : integers [:], and value of its dtype. operation, order : names of LLVM's atomicrmw. With sequentially
    consistent order, a thread that sees an update also sees all that the other thread wrote before it."""
    @intrinsic
    def update(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
            return builder.atomic_rmw(operation, pointer, args[2], order)

        return array.dtype(array, types.intp, array.dtype), codegen

    return update


atomic_add, atomic_or = _atomic("add", "monotonic"), _atomic("or", "monotonic")
# For unsigned words. atomic_raise is atomic_or and atomic_count is atomic_add, but sequentially consistent; atomic_put
# stores.
atomic_and, atomic_min, atomic_raise = _atomic("and", "seq_cst"), _atomic("umin", "seq_cst"), _atomic("or", "seq_cst")
atomic_count, atomic_put = _atomic("add", "seq_cst"), _atomic("xchg", "seq_cst")


@intrinsic
def atomic_lower(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = min(array[index], value), atomically; returns the entry before. array : integers or float64 [:],
    without NaN; value : is cast to its dtype. Order: monotonic."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        item = sig.args[0].dtype
        operation = "fmin" if isinstance(item, types.Float) else "min" if item.signed else "umin"
        return builder.atomic_rmw(operation, pointer, context.cast(builder, args[2], sig.args[2], item), "monotonic")

    return array.dtype(array, types.intp, value), codegen


def _scan(operation: str) -> Any:
    """f(word): number of zeros of a nonzero uint64 below its lowest set bit (cttz) or above its highest (ctlz), as
    int64."""
    @intrinsic
    def scan(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return getattr(builder, operation)(args[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), codegen

    return scan


count_trailing_zeros, count_leading_zeros = _scan("cttz"), _scan("ctlz")


@intrinsic
def count_ones(typingctx: Any, word: Any) -> Any:
    """Number of set bits of a uint64, as int64."""
    signature = types.int64(types.uint64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return signature, codegen


@intrinsic
def store_unsigned(typingctx: Any, address: Any, index: Any, value: Any, item_bytes: Any) -> Any:
    """Write `value` as entry `index` of the unsigned array at `address`, with items of 1, 2 or 4
    bytes. So one kernel can fill many columns, with their addresses as data. All arguments are int64."""
    signature = types.void(types.int64, types.int64, types.int64, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        where, at, number, size = args
        for item, bits in ((1, 8), (2, 16), (4, 32)):
            width = ir.IntType(bits)
            with builder.if_then(builder.icmp_signed("==", size, ir.Constant(size.type, item))):
                pointer = builder.inttoptr(where, width.as_pointer())
                builder.store(builder.trunc(number, width), builder.gep(pointer, [at]))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def atomic_replace(typingctx: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """If array[index] == old, replace it by `new`, atomically; returns the entry before. array :
    unsigned[:]. Sequentially consistent."""
    signature = array.dtype(array, types.intp, array.dtype, array.dtype)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "seq_cst", "seq_cst"), 0)

    return signature, codegen


@intrinsic
def yield_core(typingctx: Any) -> Any:
    """Let another thread of the machine have the core, if one waits for it (sched_yield). Afterwards this thread sees
    what other threads have written."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.IntType(32)
        function = emitting.library_function(builder.module, ir.FunctionType(number, []), "sched_yield")
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Prefetch the cache line of array[index], without waiting. Any index is allowed."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number, text = ir.IntType(32), ir.IntType(8).as_pointer()
        function = emitting.library_function(
            builder.module, ir.FunctionType(ir.VoidType(), [text, number, number, number]), "llvm.prefetch.p0")
        pointer = builder.bitcast(_pointer(context, builder, sig.args[0], args[0], args[1]), text)
        builder.call(function, [pointer, *(ir.Constant(number, value) for value in (0, 3, 1))])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen
