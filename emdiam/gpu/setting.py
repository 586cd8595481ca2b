"""Which device a run computes on: the CPU, GPUs, or a GPU where there is one; and how an engine uses it."""

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
    """device : what traversals run on. bfs : a name of gpu.variants. mapping : the load balancing of a variant that
    takes one, a name of gpu.mappings (None: the variant's own choice). Both with knobs or not.
    vram_bytes : device memory to use at most (None: what is free). others : further devices, which get copies of the
    graph and share the work of many sources. model : what ways of paging cost (None: measured when a graph is
    opened); ways : those that may be taken where edges do not fit, of ALL_WAYS of paging_model.py (None: all); paged :
    page them even where they would."""

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
    """device : the GPU, None for the CPU. note : why it is the CPU where a GPU was welcome, else "". others :
    further GPUs that share the work of many sources. or_cpu : whether the CPU is to do what the GPU cannot."""

    device: Device | None
    note: str = ""
    others: tuple[Device, ...] = ()
    or_cpu: bool = False

    @property
    def name(self) -> str:
        """For results: "cpu", with the reason where a GPU was welcome, or the names of the GPUs."""
        if self.device is not None:
            return " + ".join(one.name for one in (self.device, *self.others))
        return f"{CPU} ({self.note})" if self.note else CPU

    def without_gpu(self, error: DeviceError | InputError) -> Selection:
        """The CPU instead, since the GPU failed by `error`."""
        return Selection(None, error.what)


def select_device(device: str | Selection) -> Selection:
    """The device that a text asks for: cpu, gpu, gpu:N, gpu:N,M,... for several, or auto for the first GPU and else
    the CPU; one that is selected already stays.

    Raises InputError for any other text, for a GPU that cannot be used, and DeviceError for one that fails.
    """
    def found(named: str) -> Selection:
        # Only here, so that nothing of a GPU is looked for where none is asked for.
        from .cupy_device import find_devices

        first, *others = find_devices(named)
        return Selection(first, others=tuple(others))

    return device if isinstance(device, Selection) else _selected(device, found)


def share_device(text: str, place: int) -> Selection:
    """The device of process number `place` (from 0) of several on this machine, that `text` asks for as in
    select_device, but that they take turns at GPUs, at all of them where none is named. Raises as that does."""
    def found(named: str) -> Selection:
        from .cupy_device import find_share

        return Selection(find_share(named, place))

    return _selected(text, found)


def _selected(text: str, found: Callable[[str], Selection]) -> Selection:
    """What is found by the name of a GPU, or the CPU. Raises what `found` raises, but for auto."""
    if text == CPU:
        return Selection(None)
    if text != AUTO:
        return found(text)
    try:
        return replace(found("gpu"), or_cpu=True)
    except (InputError, DeviceError) as error:
        return Selection(None, error.what)


def check_device_text(text: str) -> None:
    """Raise InputError for a text that names no device; whether there is one is not looked at."""
    if text not in (CPU, AUTO):
        from .cupy_device import gpu_numbers

        gpu_numbers(text)
