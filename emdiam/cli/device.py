"""What --device asks for, opened, and what there is to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import complain

if TYPE_CHECKING:
    from ..gpu.select import Selection


def chosen_device(text: str) -> Selection:
    """The device; where auto finds no GPU, a line on standard error says why. Raises InputError."""
    from ..gpu.select import select_device

    selected = select_device(text)
    if selected.note:
        complain(f"emdiam: computing on the CPU: {selected.note}")
    return selected
