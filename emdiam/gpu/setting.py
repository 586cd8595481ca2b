"""How an engine uses a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .device import Device
from .paging_model import WAYS, PagingModel

AUTO = "auto"


@dataclass(frozen=True)
class OnDevice:
    """device : what traversals run on. bfs : a name of gpu.variants. mapping, tuning : the load balancing of a
    variant that takes one, a name of gpu.mappings and its macros (None: the variant's own choice).
    vram_bytes : device memory to use at most (None: what is free). others : further devices, which get copies of the
    graph and share the work of many sources. model : what ways of paging cost (None: measured when a graph is
    opened); ways : those that may be taken, where edges do not fit; paged : page them even where they would."""

    device: Device
    bfs: str = AUTO
    mapping: str | None = None
    tuning: Mapping[str, int] | None = None
    vram_bytes: int | None = None
    others: tuple[Device, ...] = ()
    model: PagingModel | None = None
    ways: tuple[str, ...] = WAYS
    paged: bool = False
