"""What glibc's malloc is asked for, so that less of what is freed stays resident; other C libraries do as they do.

Decoding a block takes memory for a moment, from an address that is a multiple of 32 (posix_memalign). Before version
2.39 (bug 30723) glibc cuts a remnant of 48, 64 or 80 bytes off before or behind it, which the thread keeps for its next
request of that size, up to seven of each. So what is freed then does not become one with what is around it, nothing of
its size fits in there again, and the next block gets other memory: holes as large as a block, up to seven for each
size in every thread that decodes.
"""

from __future__ import annotations

import ctypes

# Requests for which glibc takes 48, 64 and 80 bytes.
_REMNANTS = (40, 56, 72)
_KEPT = 7


def keep_remnants() -> None:
    """Give the calling thread as many pieces of these sizes as it keeps, so that remnants of blocks go back at once.
    They take 1,344 bytes."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    library.free.restype, library.free.argtypes = None, (ctypes.c_void_p,)
    for piece in [library.malloc(size) for size in _REMNANTS for _ in range(_KEPT)]:
        library.free(piece)


def return_freed_memory() -> None:
    """Give the freed vectors back to the system: malloc keeps those below 32 MiB, and a plan that is made next would
    count them as taken."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # other C libraries give back at once, or never
        trim(0)
