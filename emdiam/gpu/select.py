"""Which device a run computes on: the CPU, a GPU or several, or a GPU where there is one."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DeviceError, InputError
from .device import Device
from .failures import DEVICE_FAULTS as DEVICE_FAULTS

CPU, AUTO = "cpu", "auto"


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


def select_device(text: str) -> Selection:
    """The device that `text` asks for: cpu, gpu, gpu:N, gpu:N,M,... for several, or auto for the first GPU and else
    the CPU.

    Raises InputError for any other text, for a GPU that cannot be used, and DeviceError for one that fails.
    """
    if text == CPU:
        return Selection(None)
    # Only here, so that nothing of a GPU is looked for where none is asked for.
    from .cupy_device import find_device, find_devices

    if text != AUTO:
        first, *others = find_devices(text)
        return Selection(first, others=tuple(others))
    try:
        return Selection(find_device(), or_cpu=True)
    except (InputError, DeviceError) as error:
        return Selection(None, error.what)
