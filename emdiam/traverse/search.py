"""Binary search within kernels. np.searchsorted does the same, and takes a quarter of a second to be compiled."""

from __future__ import annotations

from ..jit import inlined


@inlined
def lower_bound(values, value, low, high):
    """The first place of low..high-1 whose value is not below this one, else `high`. values : ascending there."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
