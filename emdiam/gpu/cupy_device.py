"""A GPU through CuPy, which is the optional extra emdiam[cuda] and is imported only when a GPU is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import BudgetError, InputError
from .device import Device, DeviceArray, DeviceMemory, Kernel, check_copy, check_launch
from .source import Define, define_options, kernel_source

EXTRA = "install the extra emdiam[cuda] on a machine with an NVIDIA GPU, or compute on the CPU with --device cpu"
OPTIONS = ("-std=c++17",)
# More dynamic shared memory than this a kernel has to be allowed first (CUDA C++ Programming Guide).
USUAL_SHARED_BYTES = 48 << 10
# cudaHostRegisterPortable and cudaHostRegisterMapped.
_PORTABLE, _MAPPED = 1, 2


def find_device(text: str = "gpu") -> Device:
    """The GPU named "gpu" (the first) or "gpu:N" (number N, from 0).

    Raises InputError, with what was found and the extra to install, if CuPy or the GPU is absent.
    """
    match = re.fullmatch(r"gpu(?::(\d+))?", text)
    if match is None:
        raise InputError("a device is gpu or gpu:N", text=text, remedy="give for example gpu:0")
    number, count = int(match[1] or 0), _count_gpus(_import_cupy())
    if number >= count:
        raise InputError(f"there is no GPU {number}: this machine has {count}", remedy=EXTRA)
    return CupyDevice(number)


def _import_cupy() -> Any:
    """The module cupy; InputError if it cannot be imported."""
    try:
        import cupy
    except ImportError as error:
        found = "is not installed" if error.name == "cupy" else f"cannot be imported ({_first_line(error)})"
        raise InputError(f"no GPU can be used: the package cupy {found}", remedy=EXTRA) from error
    return cupy


def _count_gpus(cupy: Any) -> int:
    """Number of GPUs, at least 1; InputError if CUDA cannot be used."""
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise InputError(
            f"no GPU can be used: CuPy {cupy.__version__} finds none ({_first_line(error)})", remedy=EXTRA
        ) from error
    if count == 0:
        raise InputError(f"no GPU can be used: CuPy {cupy.__version__} finds none", remedy=EXTRA)
    return count


def _first_line(error: BaseException) -> str:
    """What an error says, in one line. CuPy frames the text of a failed import and keeps its cause."""
    text = str(error.__cause__ or error)
    return next((line.strip() for line in text.splitlines() if any(map(str.isalnum, line))), type(error).__name__)


class CupyKernel:
    """An entry of a module that CuPy has compiled (`raw`: its RawKernel)."""

    def __init__(self, raw: Any, entry: str) -> None:
        self.raw, self.entry = raw, entry
        self.shared_allowed = USUAL_SHARED_BYTES

    def allow_shared(self, nbytes: int) -> None:
        """Let launches have this much dynamic shared memory a block."""
        if nbytes > self.shared_allowed:
            self.raw.max_dynamic_shared_size_bytes = nbytes
            self.shared_allowed = nbytes


class CupyDevice:
    """One GPU; see Device for what the methods promise. Everything goes to CuPy's current stream.

    number : of the GPU, from 0. It becomes CuPy's current device.
    """

    def __init__(self, number: int = 0) -> None:
        self._cupy = _import_cupy()
        self._device = self._cupy.cuda.Device(number)
        self._device.use()
        facts = self._cupy.cuda.runtime.getDeviceProperties(number)
        self.name = facts["name"].decode()
        self.n_sms = int(facts["multiProcessorCount"])
        self.max_threads = int(facts["maxThreadsPerBlock"])
        self.warp = int(facts["warpSize"])
        self._modules: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._kernels: dict[tuple[str, tuple[str, ...], str], CupyKernel] = {}

    def _allocate(self, n: int, dtype: np.dtype[Any]) -> Any:
        try:
            return self._cupy.empty(n, dtype)
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            free = self.memory().free
            raise BudgetError(
                f"the device has no room for {n * dtype.itemsize} bytes, {free} are free",
                remedy="use a smaller graph or --device cpu",
            ) from error

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        """See Device.empty."""
        array: DeviceArray = self._allocate(n, np.dtype(dtype))
        return array

    def array(self, host: np.ndarray) -> DeviceArray:
        """See Device.array."""
        array = self._allocate(host.size, host.dtype)
        array.set(np.ascontiguousarray(host))
        result: DeviceArray = array
        return result

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """See Device.to_host."""
        return np.asarray(self._cupy.asnumpy(array))

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        """See Device.fill."""
        target: Any = array
        target.fill(value)

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        """See Device.copy."""
        check_copy(src, dst)
        target: Any = dst
        if isinstance(src, np.ndarray):
            target.set(np.ascontiguousarray(src))
        else:
            target[:] = src

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        """See Device.kernel. What CuPy compiles it keeps on disk, by the text and the options."""
        options = (*OPTIONS, *define_options(defines or {}))
        key = (str(file), options)
        if key not in self._modules:
            self._modules[key] = self._cupy.RawModule(code=kernel_source(file), options=options)
        if (*key, entry) not in self._kernels:
            try:
                raw = self._modules[key].get_function(entry)
            except self._cupy.cuda.driver.CUDADriverError as error:
                raise InputError(f"the kernel file has no entry {entry}", path=file) from error
            self._kernels[*key, entry] = CupyKernel(raw, entry)
        return self._kernels[*key, entry]

    def launch(
        self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """See Device.launch."""
        assert isinstance(kernel, CupyKernel)
        check_launch(self, grid, block, args)
        kernel.allow_shared(shared)
        # RawKernel would compile a module anew for cooperative launches; the function behind it need not.
        kernel.raw.kernel((grid,), (block,), tuple(args), shared_mem=shared,
                          enable_cooperative_groups=cooperative)

    def resident_blocks(self, kernel: Kernel, block: int, shared: int = 0) -> int:
        """See Device.resident_blocks."""
        assert isinstance(kernel, CupyKernel)
        kernel.allow_shared(shared)
        driver = self._cupy.cuda.driver
        per_sm = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.raw.kernel.ptr, block, shared)
        return int(per_sm) * self.n_sms

    def synchronize(self) -> None:
        """See Device.synchronize."""
        self._cupy.cuda.get_current_stream().synchronize()

    def record(self, stream: Any = None) -> Any:
        """See Device.record."""
        event = self._cupy.cuda.Event()
        event.record(stream)
        return event

    def register(self, host: np.ndarray) -> DeviceArray:
        """See Device.register."""
        runtime = self._cupy.cuda.runtime
        if host.nbytes == 0:
            return self.empty(0, host.dtype)
        try:
            runtime.hostRegister(host.ctypes.data, host.nbytes, _PORTABLE | _MAPPED)
        except runtime.CUDARuntimeError as error:
            raise BudgetError(f"{host.nbytes} bytes of the host cannot be locked into memory ({_first_line(error)})",
                              remedy="give a smaller --memory") from error
        memory = self._cupy.cuda.UnownedMemory(host.ctypes.data, host.nbytes, host)
        view: DeviceArray = self._cupy.ndarray(
            host.size, host.dtype, memptr=self._cupy.cuda.MemoryPointer(memory, 0))
        return view

    def release(self, host: np.ndarray) -> None:
        """See Device.release."""
        if host.nbytes:
            self._cupy.cuda.runtime.hostUnregister(host.ctypes.data)

    def stream(self) -> Any:
        """See Device.stream."""
        return self._cupy.cuda.Stream(non_blocking=True)

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        """See Device.copy_behind."""
        check_copy(src, dst)
        target: Any = dst
        runtime = self._cupy.cuda.runtime
        runtime.memcpyAsync(target.data.ptr, src.ctypes.data, src.nbytes, runtime.memcpyHostToDevice, stream.ptr)

    def wait(self, event: Any, stream: Any = None) -> None:
        """See Device.wait."""
        (stream or self._cupy.cuda.get_current_stream()).wait_event(event)

    def wait_here(self, event: Any) -> None:
        """See Device.wait_here."""
        event.synchronize()

    def elapsed(self, start: Any, end: Any) -> float:
        """See Device.elapsed."""
        end.synchronize()
        return float(self._cupy.cuda.get_elapsed_time(start, end)) / 1000

    def memory(self) -> DeviceMemory:
        """See Device.memory. What CuPy keeps for reuse counts as free."""
        free, total = self._cupy.cuda.runtime.memGetInfo()
        return DeviceMemory(free + self._cupy.get_default_memory_pool().free_bytes(), total)
