"""A device of the tests with a clock of its own: copies and reads in place take what their rates say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from emdiam.gpu.device import DeviceArray, Kernel
from emdiam.gpu.paging_model import SECTOR_BYTES
from tests.simt.shim_device import ShimDevice
from tests.simt.shim_streams import Mark


class TimedDevice(ShimDevice):
    """copy_rate : bytes a second of copies behind; place_rate : of sectors that are read in place; latency :
    seconds of each copy and launch beside that. Launches other than of read_sectors take no time."""

    def __init__(self, copy_rate: float, place_rate: float, latency: float, **options: Any) -> None:
        super().__init__(**options)
        self._copy_rate, self._place_rate, self._latency = copy_rate, place_rate, latency
        self._clocks: Counter[int] = Counter()

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        super().copy_behind(src, dst, stream)
        self._clocks[id(stream)] += self._latency + src.nbytes / self._copy_rate  # type: ignore[assignment]

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        super().launch(kernel, grid, block, args, shared, cooperative)
        if kernel.entry == "read_sectors":
            seconds = self._latency + int(args[1]) * SECTOR_BYTES / self._place_rate
            self._clocks[id(self._launches)] += seconds  # type: ignore[assignment]

    def record(self, stream: Any = None) -> Any:
        mark = super().record(stream)
        return Mark(mark.order, mark.place, self._clocks[id(mark.order)])
