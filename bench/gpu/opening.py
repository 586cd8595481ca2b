"""The device that is measured: a GPU, or the machine of fibres of the tests, which stands for one in a rehearsal."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import numpy as np

from emdiam.gpu.cupy_device import find_device
from emdiam.gpu.device import Device, DeviceArray

SHIM = "shim-"


class PretendedCuda:
    """Stands for what only CUDA has (cuda.Cuda), on a device that is not CUDA's."""

    xp: ModuleType = np

    def __init__(self, device: Device) -> None:
        self.device = device

    def versions(self) -> dict[str, Any]:
        """See Cuda.versions."""
        return {"runtime": 13000}

    def pinned(self, n: int) -> np.ndarray:
        """See Cuda.pinned."""
        return np.ones(n, np.uint64)

    def to_pinned(self, array: Any, host: np.ndarray) -> None:
        """See Cuda.to_pinned."""
        host[:] = self.device.to_host(array)

    def mapped(self, n: int) -> DeviceArray:
        """See Cuda.mapped."""
        return self.device.array(np.ones(n, np.uint64))

    def without_pool(self) -> None:
        """Every array has memory of its own."""

    def forget(self) -> None:
        """Nothing is kept for reuse."""

    def use(self) -> None:
        """There is one device."""


def opened(text: str) -> tuple[Device, Any]:
    """The device that `text` names, and what only CUDA can tell of it. "shim-SEED" is the machine of fibres, which
    comes with the tests and needs g++; all else as find_device has it, whose errors these are."""
    if text.startswith(SHIM):
        from tests.simt.devices import open_device  # a development tool

        device = open_device(text)
        return device, PretendedCuda(device)
    device = find_device(text)
    from .cuda import Cuda

    return device, Cuda(int(re.sub(r"\D", "", text) or 0))
