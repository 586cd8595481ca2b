"""Part facts: the device, its bandwidths and its latencies.

Bandwidths are bytes moved / seconds; a copy within the device counts each byte twice, read and written. A
latency is the time of many repetitions by their number.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.gpu.cupy_device import CupyDevice
from emdiam.gpu.device import DeviceArray, blocks_for

from ..machine import facts as machine_facts
from .setting import NOT_CUDA, Row, Setting
from .timing import median_seconds, wall_seconds

HERE = Path(__file__).resolve().parent
KERNELS, CHILDREN = HERE / "latency.cu", HERE / "child_launch.cu"
QUERY = ("driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit", "pcie.link.gen.max",
         "pcie.link.width.max")
BLOCK = 256
COMPILE_SECONDS, RUN_SECONDS = 120, 60


def run(setting: Setting) -> Iterator[Row]:
    """Rows of `what` with a value and its unit."""
    tests: list[tuple[str, Callable[[Setting], dict[str, Any]]]] = [
        ("device", _device), ("machine", lambda s: {"value": machine_facts(), "unit": ""}), ("clocks", _clocks),
        ("copy on the device", copy_rate), ("pageable host to device", _pageable_up),
        ("device to pageable host", _pageable_down), ("pinned host to device", _pinned_up),
        ("device to pinned host", _pinned_down), ("read of device memory", _device_read),
        ("read of mapped host memory", _mapped_read), ("launch", _launch), ("launch and wait", _launch_and_wait),
        ("read of a small array", _small_read)]
    for what, test in tests:
        yield from setting.cell({"what": what}, partial(test, setting))
    for blocks in _grids(setting):
        yield from setting.cell({"what": f"grid barrier of {blocks} blocks"}, partial(_barrier, setting, blocks))
    yield from setting.cell({"what": "child launches"}, partial(_children, setting))


def _device(setting: Setting) -> dict[str, Any]:
    device, memory = setting.device, setting.device.memory()
    return {"unit": "", "value": {
        "name": device.name, "n_sms": device.n_sms, "free_bytes": memory.free, "total_bytes": memory.total,
        **(setting.cuda.versions() if setting.cuda else {})}}


def _clocks(setting: Setting) -> dict[str, Any]:
    """What the driver's own tool says."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return {"skipped": "nvidia-smi is not on this machine"}
    done = subprocess.run([tool, f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"], text=True,
                          capture_output=True, check=True, timeout=RUN_SECONDS)
    values = [value.strip() for value in done.stdout.splitlines()[0].split(",")]
    return {"value": dict(zip(QUERY, values, strict=True)), "unit": ""}


def _rate(nbytes: int, seconds: float, how: str) -> dict[str, Any]:
    return {"value": nbytes / seconds / 1e9, "unit": "GB/s", "how": how}


def _words(setting: Setting) -> DeviceArray:
    """Ones, uint64, of as many bytes as a bandwidth is measured with."""
    words = setting.device.empty(setting.sizes.copy_bytes // 8, np.uint64)
    setting.device.fill(words, 1)
    return words


def copy_rate(setting: Setting) -> dict[str, Any]:
    """GB/s of a copy within the device, bytes read and written."""
    source, target = _words(setting), _words(setting)
    seconds = median_seconds(setting.device, lambda: setting.device.copy(source, target), setting.sizes.repeats)
    return _rate(2 * source.nbytes, seconds, "read and written")


def _pageable_up(setting: Setting) -> dict[str, Any]:
    host, target = np.ones(setting.sizes.copy_bytes // 8, np.uint64), _words(setting)
    setting.device.copy(host, target)
    return _rate(host.nbytes, wall_seconds(setting.device, lambda: setting.device.copy(host, target)), "")


def _pageable_down(setting: Setting) -> dict[str, Any]:
    words = _words(setting)
    setting.device.to_host(words)
    return _rate(words.nbytes, wall_seconds(setting.device, lambda: setting.device.to_host(words)), "")


def _pinned_up(setting: Setting) -> dict[str, Any]:
    if setting.cuda is None:
        return {"skipped": setting.no_cuda}
    target = _words(setting)
    host = setting.cuda.pinned(target.size)
    setting.device.copy(host, target)
    return _rate(host.nbytes, wall_seconds(setting.device, lambda: setting.device.copy(host, target)), "")


def _pinned_down(setting: Setting) -> dict[str, Any]:
    if setting.cuda is None:
        return {"skipped": setting.no_cuda}
    words = _words(setting)
    host = setting.cuda.pinned(words.size)
    setting.cuda.to_pinned(words, host)
    return _rate(host.nbytes, wall_seconds(setting.device, lambda: setting.cuda.to_pinned(words, host)), "")


def _read_rate(setting: Setting, words: DeviceArray) -> dict[str, Any]:
    """Rate of a kernel that reads all words. Raises ValueError if their sum is wrong."""
    device, total = setting.device, setting.device.empty(1, np.uint64)
    kernel = device.kernel(KERNELS, "read_words")
    seconds = median_seconds(
        device, lambda: device.launch(kernel, blocks_for(words.size, BLOCK, device), BLOCK,
                                      (words, np.uint64(words.size), total)),
        setting.sizes.repeats, lambda: device.fill(total, 0))
    if int(device.to_host(total)[0]) != words.size:
        raise ValueError(f"the sum of {words.size} ones came out as {int(device.to_host(total)[0])}")
    return _rate(words.nbytes, seconds, "8 bytes a lane")


def _device_read(setting: Setting) -> dict[str, Any]:
    return _read_rate(setting, _words(setting))


def _mapped_read(setting: Setting) -> dict[str, Any]:
    if setting.cuda is None:
        return {"skipped": setting.no_cuda}
    return _read_rate(setting, setting.cuda.mapped(setting.sizes.copy_bytes // 8))


def _micro(seconds: float, times: int, how: str) -> dict[str, Any]:
    return {"value": seconds / times * 1e6, "unit": "us", "how": how}


def _launch(setting: Setting) -> dict[str, Any]:
    device, out, times = setting.device, setting.device.empty(1, np.uint32), setting.sizes.launches
    kernel = device.kernel(KERNELS, "launch_nothing")

    def launches() -> None:
        for _ in range(times):
            device.launch(kernel, 1, BLOCK, (out,))

    launches()
    return _micro(wall_seconds(device, launches), times, "one after the other, no waiting in between")


def _launch_and_wait(setting: Setting) -> dict[str, Any]:
    device, out, times = setting.device, setting.device.empty(1, np.uint32), setting.sizes.launches
    kernel = device.kernel(KERNELS, "launch_nothing")

    def launches() -> None:
        for _ in range(times):
            device.launch(kernel, 1, BLOCK, (out,))
            device.synchronize()

    launches()
    return _micro(wall_seconds(device, launches), times, "waiting after each")


def _small_read(setting: Setting) -> dict[str, Any]:
    device, small, times = setting.device, setting.device.array(np.zeros(4, np.uint64)), setting.sizes.launches

    def reads() -> None:
        for _ in range(times):
            device.to_host(small)

    reads()
    return _micro(wall_seconds(device, reads), times, "32 bytes to the host, device idle")


def _grids(setting: Setting) -> list[int]:
    """Numbers of blocks that a barrier is measured with."""
    n_sms = setting.device.n_sms
    most = setting.device.resident_blocks(setting.device.kernel(KERNELS, "cross_barriers"), BLOCK)
    return sorted({blocks for blocks in (1, max(1, n_sms // 4), n_sms, 2 * n_sms, most) if blocks <= most})


def _barrier(setting: Setting, blocks: int) -> dict[str, Any]:
    device, rounds = setting.device, setting.sizes.barriers
    kernel, state, count = (device.kernel(KERNELS, "cross_barriers"), device.empty(1, np.uint32),
                            device.empty(1, np.uint32))

    def seconds(n: int) -> float:
        return median_seconds(
            device, lambda: device.launch(kernel, blocks, BLOCK, (state, np.uint32(n), count), cooperative=True),
            setting.sizes.repeats, lambda: device.fill(state, 0))

    empty, full = seconds(0), seconds(rounds)
    if int(device.to_host(count)[0]) != rounds:
        raise ValueError(f"{rounds} barriers were asked for, {int(device.to_host(count)[0])} made")
    return _micro(max(0.0, full - empty), rounds, f"{BLOCK} threads a block, less a launch without barriers")


def _children(setting: Setting) -> dict[str, Any]:
    """Dynamic parallelism against one deferred launch (papers/004, 5.2.1), by a program of its own."""
    if setting.cuda is None:
        return {"skipped": setting.no_cuda}
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        return {"skipped": "nvcc, which links the device's run-time library, is not on this machine"}
    if not isinstance(setting.device, CupyDevice):
        return {"skipped": NOT_CUDA}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "child_launch"
        _finish([nvcc, "-rdc=true", "-arch=native", "-std=c++17", CHILDREN, "-lcudadevrt", "-o", program],
                COMPILE_SECONDS)
        value = json.loads(_finish([program], RUN_SECONDS))
    return {"value": value, "unit": "us", "how": "median of 7; children: a child launch a row"}


def _finish(command: list[Any], seconds: float) -> str:
    """What a program prints. Raises RuntimeError with its messages if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} leaves with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout
