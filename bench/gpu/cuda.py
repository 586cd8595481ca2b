"""What only CUDA can give, through CuPy: pinned and mapped memory of the host, versions. All of the benchmark
that imports CuPy itself."""

from __future__ import annotations

import gc
from types import ModuleType
from typing import Any

import numpy as np

from emdiam.gpu.device import DeviceArray


class Cuda:
    """number : of the GPU."""

    def __init__(self, number: int = 0) -> None:
        import cupy
        import cupyx

        self.xp: ModuleType = cupy
        self._pinned: Any = cupyx.empty_pinned
        self._number = number

    def versions(self) -> dict[str, Any]:
        """Versions as CUDA writes them (13000: 13.0), compute capability, bytes of the second cache."""
        facts = self.xp.cuda.runtime.getDeviceProperties(self._number)
        return {
            "cupy": self.xp.__version__, "driver_api": self.xp.cuda.runtime.driverGetVersion(),
            "runtime": self.xp.cuda.runtime.runtimeGetVersion(),
            "capability": f"{facts['major']}.{facts['minor']}", "l2_bytes": int(facts["l2CacheSize"]),
        }

    def pinned(self, n: int) -> np.ndarray:
        """A vector uint64[n] of the host that the device can copy from directly."""
        array: np.ndarray = self._pinned(n, np.uint64)
        array[:] = 1
        return array

    def to_pinned(self, array: Any, host: np.ndarray) -> None:
        """Copy a device array to a pinned vector."""
        array.get(out=host)

    def mapped(self, n: int) -> DeviceArray:
        """A vector uint64[n] of ones in memory of the host that kernels read in place. It is never given back:
        one process measures once."""
        runtime, nbytes = self.xp.cuda.runtime, n * 8
        pointer = runtime.hostAlloc(nbytes, runtime.hostAllocMapped)
        memory = self.xp.cuda.UnownedMemory(pointer, nbytes, self, self._number)
        array: DeviceArray = self.xp.ndarray((n,), np.uint64, self.xp.cuda.MemoryPointer(memory, 0))
        array.fill(1)  # type: ignore[attr-defined]
        return array

    def without_pool(self) -> None:
        """Give every array memory of its own from now on, so that tools see where it ends."""
        self.xp.cuda.set_allocator(None)

    def forget(self) -> None:
        """Give back the memory of the device that CuPy keeps for reuse."""
        gc.collect()
        self.xp.get_default_memory_pool().free_all_blocks()

    def use(self) -> None:
        """Make the GPU the current one of the calling thread."""
        self.xp.cuda.Device(self._number).use()
