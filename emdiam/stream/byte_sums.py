"""Sums over the first bytes of 64, for the numba kernels: LLVM makes one to a few vector instructions of it."""

from __future__ import annotations

from typing import Any

from ..jit import emitting, intrinsic, ir, types

LANES, FULL = 64, 255


def _splat(builder: Any, number: Any) -> Any:
    """The byte in all lanes."""
    index, lanes = ir.IntType(32), ir.VectorType(number.type, LANES)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))


@intrinsic
def sum_first(typingctx: Any, row: Any, index: Any, count: Any) -> Any:
    """(sum of row[index : index + count], how many of them are FULL), int64 each; count < 64.

    row : uint8[:], of which the 64 bytes from `index` on are read."""
    signature = types.UniTuple(types.int64, 2)(row, types.intp, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, two = ir.IntType(8), ir.IntType(16)
        bytes_, sums = ir.VectorType(byte, LANES), ir.VectorType(two, LANES)
        array = context.make_array(sig.args[0])(context, builder, args[0])
        at = emitting.item_pointer(context, builder, sig.args[0], array, [args[1]], wraparound=False)
        values = builder.load(builder.bitcast(at, bytes_.as_pointer()), align=1)
        before = builder.icmp_unsigned("<", ir.Constant(bytes_, list(range(LANES))),
                                       _splat(builder, builder.trunc(args[2], byte)))
        values = builder.select(before, values, ir.Constant(bytes_, [0] * LANES))
        add = emitting.library_function(
            builder.module, ir.FunctionType(two, [sums]), f"llvm.vector.reduce.add.v{LANES}i16")
        total = builder.call(add, [builder.zext(values, sums)])
        full = builder.icmp_unsigned("==", values, ir.Constant(bytes_, [FULL] * LANES))
        number = builder.ctpop(builder.bitcast(full, ir.IntType(LANES)))
        wide = context.get_value_type(types.int64)
        return context.make_tuple(builder, sig.return_type, [builder.zext(total, wide), number])

    return signature, codegen
