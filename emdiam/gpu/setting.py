"""The device of a run (the CPU, GPUs, or a GPU if there is one), and the settings of an engine on a device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import DeviceError, InputError
from .failures import DEVICE_FAULTS as DEVICE_FAULTS

if TYPE_CHECKING:
    from .device import Device
    from .paging_model import PagingModel

CPU, AUTO = "cpu", "auto"


@dataclass(frozen=True)
class OnDevice:
    """device : runs the traversals. bfs : a name of gpu.variants. mapping : a load balancing for variants that have
    one, a name of gpu.mappings (None: the variant's default). Both may have knobs. vram_bytes : limit of device memory
    (None: the free memory). others : further devices with copies of the graph, which share multi-source BFS. model :
    costs of paging (None: measured when a graph is opened). ways : allowed ways of paging, of ALL_WAYS of
    paging_model.py (None: all). paged : page the edges even if they fit."""

    device: Device
    bfs: str = AUTO
    mapping: str | None = None
    vram_bytes: int | None = None
    others: tuple[Device, ...] = ()
    model: PagingModel | None = None
    ways: tuple[str, ...] | None = None
    paged: bool = False


@dataclass(frozen=True)
class Selection:
    """device : the GPU, None for the CPU. note : for "auto" on a CPU, the reason; else "". others : further GPUs that
    share multi-source BFS. or_cpu : whether the CPU replaces a failing GPU."""

    device: Device | None
    note: str = ""
    others: tuple[Device, ...] = ()
    or_cpu: bool = False

    @property
    def name(self) -> str:
        """For results: "cpu", for "auto" with the reason, or the names of the GPUs."""
        if self.device is not None:
            return " + ".join(one.name for one in (self.device, *self.others))
        return f"{CPU} ({self.note})" if self.note else CPU

    def check_single(self, search: str) -> None:
        """Raise InputError for several devices. search : what runs on one alone, for the message."""
        if self.others:
            raise InputError(f"{search} runs on one GPU", text=self.name, remedy="name one, as gpu:0")

    def without_gpu(self, error: DeviceError | InputError) -> Selection:
        """The CPU instead of the GPU, which failed with `error`."""
        return Selection(None, error.what)


def select_device(device: str | Selection) -> Selection:
    """The device of a text: cpu, gpu, gpu:N, gpu:N,M,... for several, or auto for the first GPU, else the CPU. A
    Selection is returned unchanged.

    Raises InputError for any other text and for an unusable GPU, and DeviceError for a GPU that fails.
    """
    def found(named: str) -> Selection:
        # Imported here, so that runs on the CPU do not look for a GPU.
        from .cupy_device import find_devices

        first, *others = find_devices(named)
        return Selection(first, others=tuple(others))

    return device if isinstance(device, Selection) else _selected(device, found)


def share_device(text: str, place: int) -> Selection:
    """The device of process number `place` (from 0) on this machine. text : as in select_device, but processes take the
    named GPUs (or all) in turn. Raises as select_device does."""
    def found(named: str) -> Selection:
        from .cupy_device import find_share

        return Selection(find_share(named, place))

    return _selected(text, found)


def _selected(text: str, found: Callable[[str], Selection]) -> Selection:
    """The result of `found` for GPUs, or the CPU. Raises its errors, except for auto."""
    if text == CPU:
        return Selection(None)
    if text != AUTO:
        return found(text)
    try:
        return replace(found("gpu"), or_cpu=True)
    except (InputError, DeviceError) as error:
        return Selection(None, error.what)


def check_device_text(text: str) -> None:
    """Raise InputError for an invalid name of a device; does not check that the device exists."""
    if text not in (CPU, AUTO):
        from .cupy_device import gpu_numbers

        gpu_numbers(text)
