"""The first kernel that a device runs: whether it can be used at all, found out before a run depends on it.

CuPy compiles at run time. What that takes (the compiler NVRTC, its headers, a folder for what is compiled, a
driver that loads it) is looked for when it is first needed, so that a machine without it seems to have a GPU.
"""

from __future__ import annotations

import numpy as np

from ..errors import DeviceError
from . import column_ops
from .device import Device
from .failures import ON_CPU

_ITEMS = 256


def check_device(device: Device) -> None:
    """Compile a kernel, run it on 1 KiB, and look at what it has done; also a fill, for which CuPy compiles its own.

    Raises the errors of failures.py, DeviceError if the result is wrong, and whatever CuPy raises that those do
    not know. A fraction of a second where the kernels lie compiled on disk.
    """
    want = np.arange(_ITEMS, dtype=np.uint32)
    values = device.array(want)
    want[:3] = 7
    device.fill(values[:3], 7)
    if not np.array_equal(device.to_host(column_ops.narrow(device, values, np.uint16)), want):
        raise DeviceError(f"the device {device.name} computes wrong: a first kernel of {_ITEMS} numbers",
                          remedy=f"use another GPU, or {ON_CPU}")
