"""Launches of entries that have no macros, with a thread for every item of a vector."""

from __future__ import annotations

from typing import Any

from .device import Device, blocks_for
from .registry import find_entry


def launch_over(device: Device, file: str, entry: str, items: int, *args: Any) -> None:
    """Run an entry of `file` over `items`, of which there is at least one to do anything."""
    if items == 0:
        return
    known = find_entry(file, entry)
    device.launch(device.kernel(file, entry), blocks_for(items, known.block, device), known.block, args)
