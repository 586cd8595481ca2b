"""Keys of the random choices: one for every purpose and seed, so that no two choices share a stream."""

from __future__ import annotations

import hashlib


def stream_key(seed: int, purpose: str) -> int:
    """A 64-bit key of a stream of hashes."""
    text = f"emdiam/{purpose}/{seed}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
