"""Requests to glibc's malloc so that less freed memory stays resident; other C libraries are not changed.

Decoding a block allocates memory briefly at an address that is a multiple of 32 (posix_memalign). Before version 2.39
(bug 30723) glibc cuts a remnant of 48, 64 or 80 bytes off before or after it, and the thread keeps the remnant for its
next request of that size, up to seven of each size. So the freed block is not merged with its surroundings, no block
fits into its place again, and the next one gets other memory. This leaves holes as large as a block, up to seven for
each size in every thread that decodes.
"""

from __future__ import annotations

import ctypes

# Requests that glibc serves with 48, 64 and 80 bytes.
_REMNANTS = (40, 56, 72)
_KEPT = 7


def keep_remnants() -> None:
    """Fill the calling thread's cache with pieces of these sizes, so that remnants of blocks are returned at once. The
    pieces take 1,344 bytes."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    library.free.restype, library.free.argtypes = None, (ctypes.c_void_p,)
    for piece in [library.malloc(size) for size in _REMNANTS for _ in range(_KEPT)]:
        library.free(piece)


def return_freed_memory() -> None:
    """Return the memory of freed vectors to the system: malloc keeps those below 32 MiB, and the next plan would count
    them as used."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # other C libraries return memory at once, or never
        trim(0)
