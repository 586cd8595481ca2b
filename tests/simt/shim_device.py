"""A Device (emdiam/gpu/device.py) on the CPU: kernels as fibres, arrays between guard pages."""

from __future__ import annotations

import ctypes
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from emdiam.errors import DeviceError, DeviceFullError, DeviceRoomError, DeviceUnfitError, InputError
from emdiam.gpu.device import DeviceArray, DeviceMemory, Kernel, check_copy, check_launch
from emdiam.gpu.source import Define
from tests.simt import runner
from tests.simt.shim_streams import Mark, Order

SHARED_BYTES = 227 << 10  # most of a block of sm_90, and what all blocks of a multiprocessor share


class ShimArray:
    """A vector of the device. Its items can be had only by to_host, as on a GPU."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    @cached_property
    def address(self) -> int:
        return int(self._values.ctypes.data)

    @property
    def dtype(self) -> np.dtype:
        return self._values.dtype

    @property
    def size(self) -> int:
        return self._values.size

    @property
    def nbytes(self) -> int:
        return self._values.nbytes

    def __getitem__(self, part: slice) -> ShimArray:
        if not isinstance(part, slice) or part.step not in (None, 1):
            raise TypeError("only slices of step 1 of a device array can be had; items only by to_host")
        return ShimArray(self._values[part])


@dataclass(frozen=True)
class ShimKernel:
    """An entry of a compiled kernel file."""

    entry: str
    module: runner.Module
    most_threads: int = 1024


@dataclass(frozen=True)
class Failures:
    """What a device does wrong. no_array : the allocation from which on there is no room, or, if once, the only one;
    gone_at : the launch at which it goes away for good (both counted from 1). no_kernels : that it can load none."""

    no_array: int | None = None
    once: bool = False
    gone_at: int | None = None
    no_kernels: bool = False

    def has_no_room(self, number: int) -> bool:
        """Whether this allocation is to fail."""
        return self.no_array is not None and (number == self.no_array if self.once else number >= self.no_array)


class ShimDevice:
    """The device of the tests.

    seed : the order of threads (0: ascending, 1: descending, else random, with threads taken off in the
    middle and blocks interleaved), and the rubbish in memory that was not written. n_sms : as stated, for
    the host's choice of grids. resident : threads that each of them has room for, fewer than a GPU's 2,048, since a
    launch of the whole grid takes as long as there are threads. total : bytes of memory that it pretends to have.
    steps, launches : basic blocks of code and launches so far. late : whether launches, and copies behind them, are
    done only when somebody waits (shim_streams.py): bit 0 for launches, bit 1 for copies. peak : most bytes in use at
    a time.
    copied : bytes that copies behind have brought.

    failures : what goes wrong, as errors of a GPU would be told (emdiam/gpu/failures.py).
    """

    def __init__(self, seed: int = 0, n_sms: int = 2, total: int = 1 << 30,
                 step_limit: int = runner.DEFAULT_STEP_LIMIT, late: int = 0, failures: Failures | None = None,
                 resident: int = 512) -> None:
        self.name, self.n_sms, self.max_threads, self.warp = f"shim, seed {seed}", n_sms, 1024, 32
        self.capability = 9, 0
        self.seed, self.step_limit, self.total, self._resident = seed, step_limit, total, resident
        self.limit: int | None = None
        self.steps = self.launches = self.used = self.peak = self.copied = 0
        self._launches, self._late_copies = Order(bool(late & 1)), bool(late & 2)
        self._registered: dict[int, int] = {}
        self.failures, self.asked_arrays, self.asked_launches, self.lost = failures or Failures(), 0, 0, False
        self.poison = (0xA5, 0x5A, 0xFF, 0x01)[seed % 4]
        self._runtime = runner.runtime()
        self.traffic: runner.Traffic | None = None

    def versions(self) -> dict[str, str]:
        return {"driver": "13.0", "cupy": "none"}

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        self._check()
        dtype = np.dtype(dtype)
        nbytes = n * dtype.itemsize
        with runner.one_at_a_time:
            self.asked_arrays += 1
            if nbytes > self.memory().free or self.failures.has_no_room(self.asked_arrays):
                raise DeviceFullError(f"the device has no room for {nbytes} bytes", remedy="use a smaller graph")
            base = self._runtime.simt_allocate(nbytes, self.poison)
            if not base:
                raise DeviceRoomError(f"no address space for {nbytes} bytes", remedy="raise the limit of memory")
            self.used += nbytes
            self.peak = max(self.peak, self.used)
        memory = (ctypes.c_char * nbytes).from_address(base)
        weakref.finalize(memory, self._release, base, nbytes)
        return ShimArray(np.frombuffer(memory, dtype))

    def _release(self, base: int, nbytes: int) -> None:
        with runner.one_at_a_time:
            self._runtime.simt_release(base)
            self.used -= nbytes

    def _check(self) -> None:
        """Raise what every call of a device raises that has gone away."""
        if self.lost:
            raise DeviceError(f"the device {self.name} failed in the middle: it is gone", remedy="use --device cpu")

    def array(self, host: np.ndarray) -> DeviceArray:
        array = self.empty(host.size, host.dtype)
        self.copy(host, array)
        return array

    def to_host(self, array: DeviceArray) -> np.ndarray:
        assert isinstance(array, ShimArray)
        self._check()
        self._launches.settle()
        return array._values.copy()

    def address(self, array: DeviceArray) -> int:
        assert isinstance(array, ShimArray)
        return array.address

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        assert isinstance(array, ShimArray)
        self._check()
        values = array._values

        def work() -> None:
            values[:] = value

        self._launches.add(work)

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        assert isinstance(dst, ShimArray)
        self._check()
        check_copy(src, dst)
        target, values = dst._values, src._values if isinstance(src, ShimArray) else src.copy()

        def work() -> None:
            target[:] = values

        self._launches.add(work)

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        self._check()
        if self.failures.no_kernels:
            raise DeviceUnfitError(f"the device {self.name} cannot run these kernels", remedy="use --device cpu")
        module = runner.load(file, defines)
        if entry not in module.signatures:
            raise InputError(f"the kernel file has no entry {entry}", path=file)
        return ShimKernel(entry, module)

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        assert isinstance(kernel, ShimKernel)
        self.asked_launches += 1
        self.lost |= self.asked_launches == self.failures.gone_at
        self._check()
        check_launch(self, grid, block, args)
        if shared > SHARED_BYTES:
            raise ValueError(f"{shared} bytes of shared memory are more than a block can have")
        if cooperative and grid > self.resident_blocks(kernel, block, shared):
            raise ValueError(f"{grid} blocks of {block} threads cannot all be resident")
        runner.check_arguments(kernel.module.signatures[kernel.entry], [
            runner.code_of(arg.dtype, "*" if isinstance(arg, ShimArray) else "") for arg in args])
        words = b"".join([arg.address.to_bytes(8, sys.byteorder) if isinstance(arg, ShimArray)
                          else arg.tobytes().ljust(8, b"\0") for arg in args])
        request = runner.Request(
            grid=grid, block=block, shared=shared, cooperative=int(cooperative), seed=self.seed, poison=self.poison,
            step_limit=self.step_limit, arguments=words,
            traffic=None if self.traffic is None else ctypes.addressof(self.traffic))
        self._launches.add(partial(self._run, kernel, request, args))

    def _run(self, kernel: ShimKernel, request: runner.Request, _alive: Any) -> None:
        """A launch whose time has come. _alive : the arrays that it is given."""
        runner.launch(kernel.module, kernel.entry, request)
        self.steps += request.steps
        self.launches += 1

    def resident_blocks(self, kernel: Kernel, block: int, shared: int = 0) -> int:
        return self.n_sms * max(1, min(self._resident // block, SHARED_BYTES // max(shared, 1)))

    def synchronize(self) -> None:
        self._check()
        self._launches.settle()

    def record(self, stream: Any = None) -> Any:
        self._check()
        order = self._launches if stream is None else stream
        return Mark(order, order.asked, time.perf_counter())

    def elapsed(self, start: Any, end: Any) -> float:
        end.settle()
        return float(end.seconds - start.seconds)

    def register(self, host: np.ndarray) -> DeviceArray:
        self._check()
        assert host.ctypes.data not in self._registered, "registered already"
        self._registered[host.ctypes.data] = host.nbytes
        return ShimArray(host)

    def release(self, host: np.ndarray) -> None:
        del self._registered[host.ctypes.data]
        self._check()

    def stream(self) -> Any:
        return Order(self._late_copies)

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        assert isinstance(dst, ShimArray)
        check_copy(src, dst)
        begin = src.ctypes.data
        assert any(at <= begin and begin + src.nbytes <= at + size for at, size in self._registered.items()), \
            "a copy behind from memory that is not registered"
        target = dst._values

        def work() -> None:
            target[:] = src
            self.copied += src.nbytes

        stream.add(work)

    def wait(self, event: Any, stream: Any = None) -> None:
        order = self._launches if stream is None else stream
        if order is not event.order:
            order.add(event.settle)

    def wait_here(self, event: Any) -> None:
        self._check()
        event.settle()

    def memory(self) -> DeviceMemory:
        self._check()
        total = self.total if self.limit is None else min(self.total, self.limit)
        return DeviceMemory(total - self.used, total)

    def limit_memory(self, nbytes: int | None) -> None:
        self._check()
        self.limit = nbytes

    def peak_bytes(self) -> int:
        return self.peak
