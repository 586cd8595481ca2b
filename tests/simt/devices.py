"""The devices that tests of kernels run on: the shim under several orders of threads, and a GPU if there is one."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from emdiam.errors import InputError
from emdiam.gpu.cupy_device import find_device
from emdiam.gpu.device import Device
from emdiam.gpu.graph import DeviceGraph, offsets_dtype
from tests.helpers import naive
from tests.simt import runner

SEEDS = (0, 1, 2, 3)
DEVICES = (*(f"shim-{seed}" for seed in SEEDS), "gpu")


@cache
def _gpu() -> Device | None:
    try:
        return find_device("gpu")
    except InputError:
        return None


def open_device(name: str, **options: Any) -> Device:
    """The device of that name: "shim-SEED" (options go to ShimDevice) or "gpu"; skips the test if it is not here, or is
    a shim where only a GPU's cases are asked for."""
    if name != "gpu" and os.environ.get("EMDIAM_ONLY_GPU"):
        pytest.skip("only the cases of a GPU are asked for")
    if name == "gpu":
        device = _gpu()
        if device is None:
            pytest.skip("no GPU here")
        return device
    if not runner.have_compiler():
        pytest.skip(f"the shim needs the C++ compiler {runner.CXX}")
    from tests.simt.shim_device import ShimDevice

    return ShimDevice(int(name.removeprefix("shim-")), **options)


def device_graph(device: Device, graph: naive.Graph, dtype: DTypeLike = np.uint32,
                 offsets: DTypeLike = None) -> DeviceGraph:
    """A graph on the device: neighbours dtype[m], and offsets of the type that goes with them, or of `offsets`."""
    indptr, indices = naive.csr(graph)
    narrowest = offsets_dtype(len(indices), np.dtype(dtype).itemsize)
    return DeviceGraph(device.array(indptr.astype(offsets or narrowest)), device.array(indices.astype(dtype)))


def plain_distances(values: np.ndarray) -> list[int]:
    """Distances as naive.distances gives them: -1 where all bits are set."""
    unreached = np.iinfo(values.dtype).max
    return [-1 if d == unreached else int(d) for d in values]
