"""The cells that variants of BFS come in, and one run of a variant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.variants.registry import VARIANTS, find_variant

from . import inputs, twins
from .setting import Setting

NO_MAPPING = ""
Search = Callable[[int], tuple[DeviceArray, int]]


def cells() -> Iterator[tuple[str, str]]:
    """(variant, mapping): every variant as it is by itself (NO_MAPPING), then with each mapping if it takes one."""
    for name, variant in VARIANTS.items():
        for mapping in (NO_MAPPING, *(MAPPINGS if variant.mapped else ())):
            yield name, mapping


def search_on(device: Device, graph: DeviceGraph, name: str, mapping: str) -> Search:
    """A function of the source, with what sources can share made once."""
    variant, options = find_variant(name)
    options = variant.prepared(device, graph, options)
    if mapping:
        options["mapping"] = mapping
    return lambda source: variant.run(device, graph, source, **options)


def warm(setting: Setting, graph: DeviceGraph, name: str, mapping: str) -> None:
    """Compile and load what a variant needs: one run on a short path with ids of the same type."""
    small = inputs.graph_of(setting, "path", inputs.path(setting.xp, 5), graph.neighbours.dtype).graph
    search_on(setting.device, small, name, mapping)(0)


def agrees(setting: Setting, found: tuple[DeviceArray, int], expected: np.ndarray) -> bool:
    """Whether distances and eccentricity of a run are those of the twin, uint32[n]."""
    return found[1] == twins.eccentricity(expected) and bool(
        np.array_equal(setting.device.to_host(found[0]), expected))
