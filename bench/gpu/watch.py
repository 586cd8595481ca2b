"""Devices around a device: one that stops a cell in time, and one that notes what is launched."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from emdiam.gpu.device import Device, Kernel

from .setting import TooSlow


class Watched:
    """A Device that raises TooSlow at the first launch after `seconds`.

    The host's loops read the device once a level, so a BFS of many slow levels is left after one of them; a
    single launch cannot be stopped. entries : (file, entry) of every launch so far.
    """

    def __init__(self, device: Device, seconds: float = float("inf")) -> None:
        self._device, self._seconds = device, seconds
        self._started = time.monotonic()
        self._files: dict[int, tuple[str, Kernel]] = {}
        self.entries: set[tuple[str, str]] = set()
        self.n_launches = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def restart(self) -> None:
        """Count the seconds from now."""
        self._started = time.monotonic()

    def kernel(self, file: Any, entry: str, defines: Any = None) -> Kernel:
        """See Device.kernel."""
        kernel = self._device.kernel(file, entry, defines)
        self._files[id(kernel)] = (str(file), kernel)  # the kernel is kept, so that its id stays its own
        return kernel

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        """See Device.launch. Raises TooSlow if the time is over."""
        taken = time.monotonic() - self._started
        if taken > self._seconds:
            raise TooSlow(f"stopped after {taken:.1f} s and {self.n_launches} launches; limit {self._seconds:g} s")
        self.n_launches += 1
        if id(kernel) in self._files:
            self.entries.add((self._files[id(kernel)][0], kernel.entry))
        self._device.launch(kernel, grid, block, args, shared, cooperative)
