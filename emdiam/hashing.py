"""Counter-based random numbers: a draw is a hash of (key, counter), so that any edge can be generated separately.

The hash is the splitmix64 output function (Steele, Lea, Flood 2014) over a Weyl sequence that starts at the key:
draw(key, 0), draw(key, 1), ... is exactly a splitmix64 stream.
"""

from __future__ import annotations

import numpy as np

from .jit import inlined, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_S11 = np.uint64(11)
_INVERSE_2_53 = 2.0**-53


@inlined
def mix64(x):
    """A bijection of uint64, or of arrays of them, that spreads every bit over all (the finaliser of splitmix64)."""
    x = x + _GOLDEN
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def draw(key, counter):
    """uint64 from a key and a counter (both uint64): number `counter` of the stream `key`."""
    return mix64(key + counter * _GOLDEN)


@kernel
def below(number, bound):
    """uint64 in [0, bound) from a uniform uint64: the high word of number * bound.

    No rejection: probabilities differ by at most bound / 2^64 of their value.
    """
    a, b = number >> _S32, number & _LOW_32
    c, d = bound >> _S32, bound & _LOW_32
    ad, bc = a * d, b * c
    middle = ((b * d) >> _S32) + (ad & _LOW_32) + (bc & _LOW_32)
    return a * c + (ad >> _S32) + (bc >> _S32) + (middle >> _S32)


@kernel
def unit(number):
    """float64 in [0, 1) from a uniform uint64 (its upper 53 bits)."""
    return np.float64(number >> _S11) * _INVERSE_2_53
