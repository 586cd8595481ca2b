"""Checking and decoding a run of blosc chunks in one call without the GIL.

numcodecs decodes one chunk a call, and every call gives the GIL up and asks for it again; a
thread that waits for it cannot order its next read, and disk and cores stand idle by turns. So
the decoder of numcodecs' own extension module is called from a compiled loop, with the checksum
by the processor's own instruction. Where either is missing there is no loop, and callers go
chunk by chunk.
"""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic
from numcodecs import blosc

from ..jit import kernel


@functools.cache
def decoder_address() -> int | None:
    """Address of blosc_decompress_ctx in numcodecs' extension module, or None."""
    if not platform.machine() == "x86_64" or not binding.get_host_cpu_features().get("sse4.2"):
        return None
    try:
        function = ctypes.CDLL(blosc.__file__).blosc_decompress_ctx
    except (AttributeError, OSError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


@intrinsic
def _decompress(typingctx: Any, address: Any, source: Any, target: Any, size: Any) -> Any:
    """int blosc_decompress_ctx(source, target, size, 1 thread), by address."""
    signature = types.int32(types.int64, types.int64, types.int64, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer, size_t, integer = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
        function = ir.FunctionType(integer, [pointer, pointer, size_t, integer]).as_pointer()
        return builder.call(builder.inttoptr(args[0], function), [
            builder.inttoptr(args[1], pointer), builder.inttoptr(args[2], pointer), args[3],
            ir.Constant(integer, 1)])

    return signature, codegen


@intrinsic
def _crc_of_eight(typingctx: Any, crc: Any, address: Any) -> Any:
    """crc32c over the eight bytes at `address`, by the SSE 4.2 instruction."""
    signature = types.int64(types.int64, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = ir.IntType(64)
        step = builder.module.declare_intrinsic("llvm.x86.sse42.crc32.64.64", (), ir.FunctionType(word, [word, word]))
        return builder.call(step, [args[0], _load(builder, args[1], word)])

    return signature, codegen


@intrinsic
def _crc_of_one(typingctx: Any, crc: Any, address: Any) -> Any:
    """crc32c over the byte at `address`."""
    signature = types.int64(types.int64, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, half = ir.IntType(8), ir.IntType(32)
        step = builder.module.declare_intrinsic("llvm.x86.sse42.crc32.32.8", (), ir.FunctionType(half, [half, byte]))
        crc = builder.call(step, [builder.trunc(args[0], half), _load(builder, args[1], byte)])
        return builder.zext(crc, ir.IntType(64))

    return signature, codegen


@intrinsic
def _word_at(typingctx: Any, address: Any) -> Any:
    """The uint32 at `address` (any alignment), as int64."""
    signature = types.int64(types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.zext(_load(builder, args[0], ir.IntType(32)), ir.IntType(64))

    return signature, codegen


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = 1
    return value


@kernel
def checksum_at(address, size):  # type: ignore[no-untyped-def]
    """crc32c of `size` bytes at `address`."""
    crc = np.int64(0xFFFFFFFF)
    end = address + size
    while address + 8 <= end:
        crc = _crc_of_eight(crc, address)
        address += 8
    while address < end:
        crc = _crc_of_one(crc, address)
        address += 1
    return crc ^ np.int64(0xFFFFFFFF)


@kernel
def decode_run_at(decoder, sources, sizes, targets, target_size):  # type: ignore[no-untyped-def]
    """Check and decode the chunks at sources[i], sizes[i] bytes with their checksum at the end, to
    targets[i], `target_size` bytes each; int64[k]. Returns the first i that is damaged, or -1."""
    for i in range(len(sources)):
        body = sizes[i] - 4
        if body < 16 or checksum_at(sources[i], body) != _word_at(sources[i] + body):
            return i
        if _word_at(sources[i] + 4) != target_size or _word_at(sources[i] + 12) != body:
            return i  # blosc trusts its header
        if _decompress(decoder, sources[i], targets[i], target_size) != target_size:
            return i
    return -1


def decode_run(pieces: Sequence[memoryview], rows: Sequence[np.ndarray]) -> bool:
    """Check and decode each piece (blosc and its crc32c) into its row.

    False if there is no decoder to call or one of them fails: nothing is known of rows then.
    """
    decoder = decoder_address()
    if decoder is None:
        return False
    sources = np.array([_address(np.frombuffer(piece, np.uint8)) for piece in pieces], np.int64)
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    targets = np.array([_address(row) for row in rows], np.int64)
    failed: int = decode_run_at(decoder, sources, sizes, targets, rows[0].nbytes)
    return failed < 0


def _address(array: np.ndarray) -> int:
    data: int = array.__array_interface__["data"][0]
    return data
