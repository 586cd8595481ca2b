"""A GPU through CuPy, which is the optional extra emdiam[cuda] and is imported only if a GPU is used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import DeviceError, DeviceRoomError, DeviceUnfitError, EmdiamError, InputError
from .device import Device, DeviceArray, DeviceMemory, Kernel, check_copy, check_launch
from .failures import ON_CPU, Guard, cannot_compile, first_line, is_cuda_error, sentence
from .source import OPTIONS, Define, define_options, find_cubin, kernel_source
from .vector import DeviceVector

EXTRA = f"install the extra emdiam[cuda] on a machine with an NVIDIA GPU, or {ON_CPU}"
DRIVER = f"install NVIDIA's driver for CUDA 13 or newer, or {ON_CPU}"
# A kernel needs a permission for more dynamic shared memory than this (CUDA C++ Programming Guide).
USUAL_SHARED_BYTES = 48 << 10
# CUDA_ERROR_NOT_FOUND of get_function: the module has no such entry.
_NOT_FOUND = "CUDA_ERROR_NOT_FOUND"
# cudaHostRegisterPortable and cudaHostRegisterMapped.
_PORTABLE, _MAPPED = 1, 2
_CHECKED_ITEMS = 256


def find_device(text: str = "gpu") -> Device:
    """The GPU named "gpu" (the first) or "gpu:N" (number N, from 0), which has compiled and run a kernel.

    Raises InputError, with the reason and the extra to install, if CuPy or the GPU is missing, and the errors of
    failures.py for a GPU that fails.
    """
    return find_devices(text)[0]


def find_devices(text: str) -> tuple[Device, ...]:
    """The GPUs named "gpu" (the first), "gpu:N" (number N, from 0), or "gpu:N,M,...": at least one, in that order.

    Raises as find_device does, and InputError for a GPU that is named twice.
    """
    numbers = gpu_numbers(text) or [0]
    _check_numbers(numbers)
    return tuple(_opened(number) for number in numbers)


def find_share(text: str, place: int) -> Device:
    """The GPU of process number `place` (from 0) on this machine; processes take the GPUs that `text` names, or all of
    them ("gpu"), in turn. Raises as find_devices does."""
    numbers = gpu_numbers(text)
    count = _check_numbers(numbers)
    numbers = numbers or list(range(count))
    return _opened(numbers[place % len(numbers)])


def gpu_numbers(text: str) -> list[int]:
    """The numbers of GPUs in "gpu:N,M,..."; none for "gpu". Raises InputError for another text, and for a GPU that is
    named twice."""
    match = re.fullmatch(r"gpu(?::(\d+(?:,\d+)*))?", text)
    if match is None:
        raise InputError("a device is gpu or gpu:N", text=text, remedy="give for example gpu:0, or gpu:0,1 for two")
    numbers = [int(number) for number in match[1].split(",")] if match[1] else []
    if len(set(numbers)) < len(numbers):
        raise InputError("a GPU is named twice", text=text, remedy="name each once")
    return numbers


def _check_numbers(numbers: list[int]) -> int:
    """The number of GPUs. Raises InputError if it is 0, or if one of `numbers` does not exist."""
    count = _count_gpus(_import_cupy())
    for number in numbers:
        if number >= count:
            raise InputError(f"there is no GPU {number}: this machine has {count}", remedy=EXTRA)
    return count


def _opened(number: int) -> CupyDevice:
    """The GPU of a number, after it has compiled and run a kernel, so that missing software is found now, not in the
    middle of a run."""
    try:
        device = CupyDevice(number)
        check_device(device)
    except EmdiamError:
        raise
    except Exception as error:  # of CuPy or its late imports: with any of them the GPU is unusable
        raise cannot_compile(error, f"gpu:{number}") from error
    return device


def check_device(device: Device) -> None:
    """Compile a kernel, run it on 1 KiB, and check its result; and run a fill, for which CuPy compiles a kernel.

    CuPy compiles at run time, and looks for the requirements (the compiler NVRTC, its headers, a cache folder, a
    driver) only then; a machine without them seems to have a GPU.

    Raises the errors of failures.py, DeviceError for a wrong result, and other errors of CuPy. Takes a fraction of a
    second if the kernels are in CuPy's cache.
    """
    items = np.arange(_CHECKED_ITEMS)
    values = device.array(items.astype(np.uint32)[::-1])
    device.fill(values[:3], 7)
    want = items[::-1].copy()
    want[:3] = 7
    if not np.array_equal(DeviceVector(device, values).take(items[::-1]), want[::-1]):
        raise DeviceError(f"the device {device.name} computes wrong: a first kernel of {_CHECKED_ITEMS} numbers",
                          remedy=f"use another GPU, or {ON_CPU}")


def _import_cupy() -> Any:
    """The module cupy; InputError if it cannot be imported."""
    try:
        import cupy
    except Exception as error:  # a build for another numpy or Python may raise any error
        absent = isinstance(error, ImportError) and error.name == "cupy"
        why = "is not installed" if absent else f"cannot be imported ({first_line(error)})"
        raise InputError(f"no GPU can be used: the package cupy {why}", remedy=EXTRA) from error
    return cupy


def _count_gpus(cupy: Any) -> int:
    """Number of GPUs, at least 1; InputError if CUDA cannot be used."""
    name = f"CuPy {getattr(cupy, '__version__', 'of no version')}"
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # CUDA's errors, or a folder named cupy without this function
        old = "cudaErrorInsufficientDriver" in str(error)
        why = f"NVIDIA's driver is absent, or older than {name} needs" if old else f"{name} finds none"
        raise InputError(f"no GPU can be used: {why} ({first_line(error)})", remedy=DRIVER if old else EXTRA) from error
    if count == 0:
        raise InputError(f"no GPU can be used: {name} finds none", remedy=EXTRA)
    return count


class CupyKernel:
    """An entry of a module that CuPy has compiled (`raw`: its RawKernel)."""

    def __init__(self, raw: Any, entry: str) -> None:
        self.raw, self.entry = raw, entry
        self.shared_allowed = USUAL_SHARED_BYTES
        # Cached answers of the driver, by threads of a block and shared bytes.
        self.resident: dict[tuple[int, int], int] = {}

    @property
    def most_threads(self) -> int:
        """See Kernel.most_threads."""
        return int(self.raw.max_threads_per_block)

    def allow_shared(self, nbytes: int) -> None:
        """Allow launches with `nbytes` of dynamic shared memory a block."""
        if nbytes > self.shared_allowed:
            self.raw.max_dynamic_shared_size_bytes = nbytes
            self.shared_allowed = nbytes


class CupyDevice:
    """One GPU; see Device for the methods. All work goes to CuPy's current stream.

    number : of the GPU, from 0. Every method makes it CuPy's current device in the calling thread, so that threads may
    use several GPUs. Failures of CUDA are raised as errors of failures.py: DeviceRoomError, DeviceUnfitError,
    DeviceError.
    """

    def __init__(self, number: int = 0) -> None:
        self._cupy = _import_cupy()
        self._device = self._cupy.cuda.Device(number)
        self._guard = Guard(self._device.use, f"gpu:{number}")
        with self._guard:
            facts = self._cupy.cuda.runtime.getDeviceProperties(number)
        self.name = facts["name"].decode()
        self._guard = Guard(self._device.use, self.name)
        self.n_sms = int(facts["multiProcessorCount"])
        self.max_threads = int(facts["maxThreadsPerBlock"])
        self.warp = int(facts["warpSize"])
        self.capability = (int(facts["major"]), int(facts["minor"]))
        self._modules: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._kernels: dict[tuple[str, tuple[str, ...], str], CupyKernel] = {}

    def versions(self) -> dict[str, str]:
        """See Device.versions."""
        with self._guard:
            driver = int(self._cupy.cuda.runtime.driverGetVersion())
        return {"driver": f"{driver // 1000}.{driver % 1000 // 10}", "cupy": str(self._cupy.__version__)}

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        """See Device.empty."""
        with self._guard:
            try:
                array: DeviceArray = self._cupy.empty(n, np.dtype(dtype))
            except self._cupy.cuda.memory.OutOfMemoryError as error:
                room = f"{n * np.dtype(dtype).itemsize} bytes, {self.memory().free} are free"
                raise sentence(error, self.name, room) from error
        return array

    def array(self, host: np.ndarray) -> DeviceArray:
        """See Device.array."""
        array = self.empty(host.size, host.dtype)
        self.copy(host, array)
        return array

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """See Device.to_host."""
        with self._guard:
            return np.asarray(self._cupy.asnumpy(array))

    def address(self, array: DeviceArray) -> int:
        """See Device.address."""
        owner: Any = array
        return int(owner.data.ptr)

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        """See Device.fill."""
        target: Any = array
        with self._guard:
            target.fill(value)

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        """See Device.copy."""
        check_copy(src, dst)
        target: Any = dst
        with self._guard:
            if isinstance(src, np.ndarray):
                target.set(np.ascontiguousarray(src))
            else:
                target[:] = src

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        """See Device.kernel. Loads a fitting cubin of the package, if there is one; else CuPy compiles, and caches the
        result on disk by text and options. Modules belong to this device, since CuPy compiles again for another one."""
        options = define_options(defines or {})
        key = (str(file), options)
        if (*key, entry) not in self._kernels:
            with self._guard:
                self._kernels[*key, entry] = self._compile(file, entry, options)
        return self._kernels[*key, entry]

    def _compile(self, file: str | Path, entry: str, options: tuple[str, ...]) -> CupyKernel:
        """An entry of a file, compiled with these options. Raises InputError for an unknown entry."""
        key = (str(file), options)
        if key not in self._modules:
            self._modules[key] = self._module(kernel_source(file), entry, options)
        try:
            return CupyKernel(self._modules[key].get_function(entry), entry)
        except self._cupy.cuda.driver.CUDADriverError as error:
            if _NOT_FOUND not in str(error):
                raise
            raise InputError(f"the kernel file has no entry {entry}", path=file) from error
        except (RuntimeError, OSError, ImportError) as error:
            if is_cuda_error(error):
                raise  # the guard translates it
            raise cannot_compile(error, self.name) from error

    def _module(self, source: str, entry: str, options: tuple[str, ...]) -> Any:
        """The module of this text: a cubin, if one exists that the device loads; else compiled by NVRTC."""
        cubin = find_cubin(self.capability, source, options)
        if cubin is not None:
            module = self._cupy.RawModule(path=str(cubin))
            try:
                module.get_function(entry)
            except (self._cupy.cuda.driver.CUDADriverError, OSError):
                pass  # truncated, or for another driver: NVRTC compiles, or reports the reason
            else:
                return module
        return self._cupy.RawModule(code=source, options=(*OPTIONS, *options))

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        """See Device.launch."""
        assert isinstance(kernel, CupyKernel)
        check_launch(self, grid, block, args)
        with self._guard:
            kernel.allow_shared(shared)
            # RawKernel would compile a module anew for cooperative launches; the function behind it need not.
            kernel.raw.kernel((grid,), (block,), tuple(args), shared_mem=shared, enable_cooperative_groups=cooperative)

    def resident_blocks(self, kernel: Kernel, block: int, shared: int = 0) -> int:
        """See Device.resident_blocks."""
        assert isinstance(kernel, CupyKernel)
        if (block, shared) not in kernel.resident:
            driver = self._cupy.cuda.driver
            with self._guard:
                kernel.allow_shared(shared)
                per_sm = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.raw.kernel.ptr, block, shared)
            kernel.resident[block, shared] = int(per_sm) * self.n_sms
        return kernel.resident[block, shared]

    def synchronize(self) -> None:
        """See Device.synchronize."""
        with self._guard:
            self._cupy.cuda.get_current_stream().synchronize()

    def record(self, stream: Any = None) -> Any:
        """See Device.record."""
        with self._guard:
            event = self._cupy.cuda.Event()
            event.record(stream)
        return event

    def register(self, host: np.ndarray) -> DeviceArray:
        """See Device.register."""
        if host.nbytes == 0:
            return self.empty(0, host.dtype)
        runtime = self._cupy.cuda.runtime
        with self._guard:
            try:
                runtime.hostRegister(host.ctypes.data, host.nbytes, _PORTABLE | _MAPPED)
            except runtime.CUDARuntimeError as error:
                if "cudaErrorMemoryAllocation" not in str(error):
                    raise
                raise DeviceRoomError(
                    f"{host.nbytes} bytes of the host cannot be locked into memory ({first_line(error)})",
                    remedy=f"give a smaller --memory, or {ON_CPU}") from error
            # The address for kernels may differ from the host's (cudaDevAttrCanUseHostPointerForRegisteredMem), or be
            # 0.
            pointer = runtime.pointerGetAttributes(host.ctypes.data).devicePointer
            if not pointer:
                runtime.hostUnregister(host.ctypes.data)
                raise DeviceUnfitError(f"the device {self.name} cannot read memory of the host", remedy=ON_CPU)
            memory = self._cupy.cuda.UnownedMemory(pointer, host.nbytes, host, self._device.id)
            view: DeviceArray = self._cupy.ndarray(
                host.size, host.dtype, memptr=self._cupy.cuda.MemoryPointer(memory, 0))
        return view

    def release(self, host: np.ndarray) -> None:
        """See Device.release."""
        if host.nbytes:
            with self._guard:
                self._cupy.cuda.runtime.hostUnregister(host.ctypes.data)

    def stream(self) -> Any:
        """See Device.stream."""
        with self._guard:
            return self._cupy.cuda.Stream(non_blocking=True)

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        """See Device.copy_behind."""
        check_copy(src, dst)
        target: Any = dst
        runtime = self._cupy.cuda.runtime
        with self._guard:
            runtime.memcpyAsync(target.data.ptr, src.ctypes.data, src.nbytes, runtime.memcpyHostToDevice, stream.ptr)

    def wait(self, event: Any, stream: Any = None) -> None:
        """See Device.wait."""
        with self._guard:
            (stream or self._cupy.cuda.get_current_stream()).wait_event(event)

    def wait_here(self, event: Any) -> None:
        """See Device.wait_here."""
        with self._guard:
            event.synchronize()

    def elapsed(self, start: Any, end: Any) -> float:
        """See Device.elapsed."""
        with self._guard:
            end.synchronize()
            return float(self._cupy.cuda.get_elapsed_time(start, end)) / 1000

    def memory(self) -> DeviceMemory:
        """See Device.memory. Memory that CuPy caches for reuse counts as free."""
        with self._guard:
            free, total = self._cupy.cuda.runtime.memGetInfo()
            pool = self._cupy.get_default_memory_pool()
            free, limit = free + pool.free_bytes(), pool.get_limit()
            # A limit of 0 means no limit.
            return DeviceMemory(min(free, limit - pool.used_bytes()), min(total, limit)) if limit else (
                DeviceMemory(free, total))

    def limit_memory(self, nbytes: int | None) -> None:
        """See Device.limit_memory."""
        with self._guard:
            self._cupy.get_default_memory_pool().set_limit(size=nbytes or 0)

    def peak_bytes(self) -> int:
        """See Device.peak_bytes. The pool never frees memory by itself."""
        with self._guard:
            return int(self._cupy.get_default_memory_pool().total_bytes())
