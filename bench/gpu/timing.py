"""Seconds of calls and of kernels."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from emdiam.gpu.device import Device


def wall_seconds(device: Device, call: Callable[[], Any]) -> float:
    """Seconds until the device is done with what `call` asks for."""
    device.synchronize()
    start = time.perf_counter()
    call()
    device.synchronize()
    return time.perf_counter() - start


def device_seconds(device: Device, call: Callable[[], Any]) -> float:
    """Seconds on the device between an event before the call and one after it."""
    start = device.record()
    call()
    return device.elapsed(start, device.record())


def median_seconds(device: Device, call: Callable[[], Any], repeats: int,
                   before: Callable[[], Any] | None = None) -> float:
    """Median over `repeats` of the seconds on the device, after one call to warm up. `before` runs before each
    call and is not counted."""
    found = []
    for _ in range(repeats + 1):
        if before is not None:
            before()
        found.append(device_seconds(device, call))
    return statistics.median(found[1:])
