"""What the host code of the GPU half may ask of a device.

Two things implement it: CupyDevice (cupy_device.py), a GPU, and a device of the tests that runs the same
kernels on the CPU. Host code never touches an item of a device array; it asks for a copy on the host.
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
        """Most threads of a block that it can be launched with."""


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes of a device's memory: free now, and in all."""

    free: int
    total: int


class Device(Protocol):
    """A machine for kernels. Launches and copies happen in the order in which they are asked for.

    name : for people; n_sms : multiprocessors; max_threads : most threads of a block; warp : lanes of a warp (32).
    capability : major and minor compute capability.
    """

    name: str
    n_sms: int
    max_threads: int
    warp: int
    capability: tuple[int, int]

    def versions(self) -> dict[str, str]:
        """driver : the newest CUDA that the driver knows; cupy : release of CuPy."""

    def empty(self, n: int, dtype: DTypeLike) -> DeviceArray:
        """A vector of n items with any content. Raises BudgetError if the device has no room."""

    def array(self, host: np.ndarray) -> DeviceArray:
        """A copy of a vector of the host. Raises BudgetError if the device has no room."""

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """A copy on the host, once all that was asked for before is done."""

    def address(self, array: DeviceArray) -> int:
        """Where in the device's memory a vector begins, for kernels that are told it as a number. The vector has to
        be kept as long as they are."""

    def fill(self, array: DeviceArray, value: int | float | np.generic) -> None:
        """Set all items."""

    def copy(self, src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
        """Copy a vector of the device or the host into one of the device, of equal type and size.
        Raises ValueError otherwise."""

    def kernel(self, file: str | Path, entry: str, defines: Mapping[str, Define] | None = None) -> Kernel:
        """An entry of a kernel file (a name in emdiam/gpu/kernels), compiled with these macros on its first
        use. Raises InputError if it cannot be had."""

    def launch(self, kernel: Kernel, grid: int, block: int, args: Sequence[Any], shared: int = 0,
               cooperative: bool = False) -> None:
        """Run a kernel on `grid` blocks of `block` threads.

        args : device arrays and numpy scalars of exactly the types of the kernel's parameters; nothing converts them.
        shared : bytes of dynamic shared memory a block. cooperative : all blocks are resident at once, so that they may
        wait for each other (grid_barrier); grid is then at most resident_blocks(). Raises TypeError for arguments that
        are neither, ValueError for an empty or too large grid or block.
        """

    def resident_blocks(self, kernel: Kernel, block: int, shared: int = 0) -> int:
        """How many blocks of `block` threads and `shared` bytes the device can run at once."""

    def synchronize(self) -> None:
        """Wait until all that was asked for is done."""

    def record(self, stream: Any = None) -> Any:
        """An event: a mark in the order of what the device does, in a stream of copies or (None) in the order
        of launches."""

    def register(self, host: np.ndarray) -> DeviceArray:
        """Lock a vector of the host into its memory, for copy_behind, until `release`; gives the device's view
        of it, through which kernels read it where it is. Raises BudgetError if the system refuses."""

    def release(self, host: np.ndarray) -> None:
        """Undo `register`; copies of it must have ended."""

    def stream(self) -> Any:
        """A new order of copies beside the order of launches."""

    def copy_behind(self, src: np.ndarray, dst: DeviceArray, stream: Any) -> None:
        """Copy a part of a registered vector to the device, in the order of `stream`; comes back at once."""

    def wait(self, event: Any, stream: Any = None) -> None:
        """What is asked for from now on in `stream` (None: launches) waits for `event`; the host does not."""

    def wait_here(self, event: Any) -> None:
        """The host waits for `event`."""

    def elapsed(self, start: Any, end: Any) -> float:
        """Seconds on the device between two events; waits for the second."""

    def memory(self) -> DeviceMemory:
        """Bytes free and in all, within the limit."""

    def limit_memory(self, nbytes: int | None) -> None:
        """Hold no more than so many bytes from now on (None: what there is); then `empty` raises BudgetError."""

    def peak_bytes(self) -> int:
        """Most bytes held at a time so far, with what is kept for reuse."""


def blocks_for(items: int, block: int, device: Device, per_sm: int = 8) -> int:
    """Blocks of a launch that gives every item a thread, at least 1 and at most `per_sm` for every
    multiprocessor; kernels stride over what is left."""
    return max(1, min(-(-items // block), device.n_sms * per_sm))


def check_launch(device: Device, grid: int, block: int, args: Sequence[Any]) -> None:
    """Raise what `launch` promises for a grid, a block or arguments that no device takes."""
    if not 1 <= grid < 1 << 31 or not 1 <= block <= device.max_threads:
        raise ValueError(f"no launch of {grid} blocks of {block} threads (at most {device.max_threads})")
    for position, arg in enumerate(args):
        if isinstance(arg, np.ndarray) or not (isinstance(arg, np.generic) or hasattr(arg, "nbytes")):
            raise TypeError(
                f"argument {position} is a {type(arg).__name__}; kernels take device arrays and numpy scalars"
            )


def check_copy(src: DeviceArray | np.ndarray, dst: DeviceArray) -> None:
    """Raise what `copy` promises for vectors that do not match."""
    if src.dtype != dst.dtype or src.size != dst.size:
        raise ValueError(f"cannot copy {src.dtype}[{src.size}] to {dst.dtype}[{dst.size}]")
