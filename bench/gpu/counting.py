"""A device that counts what the host asks another one for: launches, times it waits, bytes between the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from emdiam.gpu.device import Device, DeviceArray, Kernel
from emdiam.gpu.source import Define
from emdiam.stream.counters import Tally


@dataclass
class Counts(Tally):
    """launches : of kernels. fills : of vectors, and copies on the device, which are launches or memsets of their own.
    reads, sends : copies to the host, and from it but behind. waits : for the device otherwise. bytes_down, bytes_up :
    of reads and sends. bytes_behind : of copies behind launches, which the host does not wait for."""

    launches: int = 0
    fills: int = 0
    reads: int = 0
    sends: int = 0
    waits: int = 0
    bytes_down: int = 0
    bytes_up: int = 0
    bytes_behind: int = 0

    @property
    def round_trips(self) -> int:
        """How often the host waited until the device had done what came before: CUDA copies to and from memory that is
        not locked in the order of launches, and comes back after it."""
        return self.reads + self.sends + self.waits

    @property
    def host_bytes(self) -> int:
        """Bytes between host and device."""
        return self.bytes_down + self.bytes_up + self.bytes_behind


class CountingDevice:
    """The Device `inner`, whose calls are counted in `counts`."""

    def __init__(self, inner: Device) -> None:
        self.inner, self.counts = inner, Counts()

    def __getattr__(self, name: str) -> Any:
        """What is not counted."""
        return getattr(self.inner, name)

    def array(self, host: np.ndarray) -> DeviceArray:
        """See Device.array."""
        made = self.inner.empty(host.size, host.dtype)
        self.copy(host, made)
        return made

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        """See Device.empty."""
        return self.inner.empty(n, dtype)

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """See Device.to_host."""
        self.counts.reads += 1
        self.counts.bytes_down += array.nbytes
        return self.inner.to_host(array)

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        """See Device.fill."""
        self.counts.fills += 1
        self.inner.fill(array, value)

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        """See Device.copy."""
        if isinstance(src, np.ndarray):
            self.counts.sends += 1
            self.counts.bytes_up += src.nbytes
        else:
            self.counts.fills += 1
        self.inner.copy(src, dst)

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        """See Device.kernel."""
        return self.inner.kernel(file, entry, defines)

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        """See Device.launch."""
        self.counts.launches += 1
        self.inner.launch(kernel, grid, block, args, shared, cooperative)

    def synchronize(self) -> None:
        """See Device.synchronize."""
        self.counts.waits += 1
        self.inner.synchronize()

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        """See Device.copy_behind."""
        self.counts.bytes_behind += src.nbytes
        self.inner.copy_behind(src, dst, stream)

    def wait_here(self, event: Any) -> None:
        """See Device.wait_here."""
        self.counts.waits += 1
        self.inner.wait_here(event)

    def elapsed(self, start: Any, end: Any) -> float:
        """See Device.elapsed."""
        self.counts.waits += 1
        return self.inner.elapsed(start, end)
