"""The interface of a device for host code.

Two classes implement it: CupyDevice (cupy_device.py), a GPU, and a device of the tests that runs the same kernels on
the CPU. Host code never reads an item of a device array; it makes a copy on the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from .source import Define


class DeviceArray(Protocol):
    """A vector in the memory of a device. Slices are views; items cannot be read."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an item."""

    @property
    def size(self) -> int:
        """Number of items."""

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""

    def __getitem__(self, part: slice, /) -> DeviceArray:
        """A view of consecutive items (step 1)."""


class Kernel(Protocol):
    """A compiled entry of a kernel file."""

    @property
    def entry(self) -> str:
        """Name of the function."""

    @property
    def most_threads(self) -> int:
        """Largest number of threads a block."""


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of device memory: free now, and total."""

    free: int
    total: int


class Device(Protocol):
    """A device that runs kernels. Launches and copies are executed in the order of the calls.

    name : for messages; n_sms : multiprocessors; max_threads : most threads of a block; warp : lanes of a warp (32).
    capability : major and minor compute capability.
    """

    name: str
    n_sms: int
    max_threads: int
    warp: int
    capability: tuple[int, int]

    def versions(self) -> dict[str, str]:
        """driver : the newest CUDA version that the driver supports; cupy : release of CuPy."""

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        """An uninitialised vector of n items. Raises BudgetError if device memory is too small."""

    def array(self, host: np.ndarray) -> DeviceArray:
        """A copy of a host vector. Raises BudgetError if device memory is too small."""

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """A copy on the host, after all earlier work is done."""

    def address(self, array: DeviceArray) -> int:
        """The device address of a vector, for kernels that take it as a number. The vector must stay alive until they
        are done."""

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        """Set all items."""

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        """Copy a device or host vector into a device vector of equal type and size. Raises ValueError otherwise."""

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        """An entry of a kernel file (a name in emdiam/gpu/kernels), compiled with these macros at its first use. Raises
        InputError if that fails."""

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        """Run a kernel on `grid` blocks of `block` threads.

        args : device arrays and numpy scalars of exactly the types of the kernel's parameters, without conversion.
        shared : bytes of dynamic shared memory a block. cooperative : all blocks are resident at once, so that they may
        wait for each other (grid_barrier); grid is then at most resident_blocks(). Raises TypeError for other
        arguments, ValueError for an empty or too large grid or block.
        """

    def resident_blocks(self, kernel: Kernel, block: int, shared: int = 0) -> int:
        """The number of blocks of `block` threads and `shared` bytes that the device can run at once."""

    def synchronize(self) -> None:
        """Wait until all work is done."""

    def record(self, stream: Any = None) -> Any:
        """An event: a mark in the device's order of work, in a stream of copies or (None) in the order of launches."""

    def register(self, host: np.ndarray) -> DeviceArray:
        """Lock a host vector in memory, for copy_behind, until `release`; return the device's view, through which
        kernels read it in place. Raises BudgetError if the system refuses."""

    def release(self, host: np.ndarray) -> None:
        """Unlock a host vector; its copies must have ended."""

    def stream(self) -> Any:
        """A new stream of copies, parallel to launches."""

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        """Copy a part of a registered vector to the device in `stream`, asynchronously."""

    def wait(self, event: Any, stream: Any = None) -> None:
        """Make later work in `stream` (None: launches) wait for `event`; the host does not wait."""

    def wait_here(self, event: Any) -> None:
        """Make the host wait for `event`."""

    def elapsed(self, start: Any, end: Any) -> float:
        """Seconds on the device between two events; waits for the second."""

    def memory(self) -> DeviceMemory:
        """Free and total bytes, within the limit."""

    def limit_memory(self, nbytes: int | None) -> None:
        """Limit the allocated memory (None: no limit); beyond it, `empty` raises BudgetError."""

    def peak_bytes(self) -> int:
        """Peak of allocated bytes so far, with memory cached for reuse."""


def blocks_for(items: int, block: int, device: Device, per_sm: int = 8) -> int:
    """The number of blocks of a launch with a thread for every item, at least 1 and at most `per_sm` a multiprocessor;
    kernels stride over further items."""
    return max(1, min(-(-items // block), device.n_sms * per_sm))


def check_launch(device: Device, grid: int, block: int, args: Sequence[Any]) -> None:
    """Raise the errors of `launch` for a grid, a block or arguments that are invalid on every device."""
    if not 1 <= grid < 1 << 31 or not 1 <= block <= device.max_threads:
        raise ValueError(f"no launch of {grid} blocks of {block} threads (at most {device.max_threads})")
    for position, arg in enumerate(args):
        if isinstance(arg, np.ndarray) or not (isinstance(arg, np.generic) or hasattr(arg, "nbytes")):
            raise TypeError(
                f"argument {position} is a {type(arg).__name__}; kernels take device arrays and numpy scalars"
            )


def check_copy(src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
    """Raise the error of `copy` for vectors that do not match."""
    if src.dtype != dst.dtype or src.size != dst.size:
        raise ValueError(f"cannot copy {src.dtype}[{src.size}] to {dst.dtype}[{dst.size}]")
