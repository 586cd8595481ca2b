"""Which device a run computes on: the CPU, a GPU, or a GPU where there is one."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from .device import Device

CPU, AUTO = "cpu", "auto"


@dataclass(frozen=True)
class Selection:
    """device : the GPU, None for the CPU. note : why it is the CPU where a GPU was welcome, else ""."""

    device: Device | None
    note: str = ""

    @property
    def name(self) -> str:
        """For results: "cpu", with the reason where a GPU was welcome, or the name of the GPU."""
        if self.device is not None:
            return self.device.name
        return f"{CPU} ({self.note})" if self.note else CPU


def select_device(text: str) -> Selection:
    """The device that `text` asks for: cpu, gpu, gpu:N, or auto for the first GPU and else the CPU.

    Raises InputError for any other text, and for a GPU that cannot be used.
    """
    if text == CPU:
        return Selection(None)
    # Only here, so that nothing of a GPU is looked for where none is asked for.
    from .cupy_device import find_device

    if text != AUTO:
        return Selection(find_device(text))
    try:
        return Selection(find_device())
    except InputError as error:
        return Selection(None, error.what)
