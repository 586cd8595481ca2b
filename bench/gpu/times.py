"""Parts variants and persistent: seconds of a BFS by variant, mapping and class of graph.

Seconds are the median over sources of the largest component, from the call until the device is done, the
host's loop included. GTEPS are undirected edges of that component / seconds / 10**9.
All distances are compared with those of the variant frontier; `wrong` counts the runs that differ.
"""

from __future__ import annotations

import statistics
import time
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from emdiam.gpu.device import DeviceArray

from . import catalogue, inputs
from .lazy import Lazy
from .setting import Row, Setting
from .timing import wall_seconds
from .twins import UNREACHED
from .watch import Watched

REFERENCE = ("frontier", "two-phase")


class Case:
    """A graph that is timed: sources, and for each the edges of its component and a digest of its distances."""

    def __init__(self, setting: Setting, name: str) -> None:
        self.setting = setting
        self.input = inputs.graph_of(setting, name, inputs.TIMED[name](setting))
        self.graph = self.input.graph
        search = catalogue.search_on(setting.device, self.graph, *REFERENCE)
        reached = setting.device.to_host(search(int(np.argmax(self.input.degrees)))[0]) != UNREACHED
        self.edges = int(self.input.degrees[reached].sum()) // 2
        self.sources = self.input.sources(reached, setting.sizes.sources)
        self.known = {source: self.digest(search(source)) for source in self.sources}

    def digest(self, found: tuple[DeviceArray, int]) -> tuple[int, int]:
        """Eccentricity, and a checksum of all distances."""
        return found[1], zlib.crc32(self.setting.device.to_host(found[0]).tobytes())


def run(setting: Setting, names: Sequence[str] = tuple(inputs.TIMED)) -> Iterator[Row]:
    """Rows by class, variant and mapping."""
    for name in names:
        case = Lazy(partial(Case, setting, name))
        for variant, mapping in catalogue.cells():
            key = {"class": name, "variant": variant, "mapping": mapping}
            yield from setting.cell(key, partial(_measure, setting, case, variant, mapping), (variant, mapping))


def run_persistent(setting: Setting) -> Iterator[Row]:
    """The variants for graphs of many levels, on a grid: microseconds a level too."""
    case = Lazy(partial(Case, setting, "grid"))
    for variant in ("persistent", "auto", "luo"):
        key = {"class": "grid", "variant": variant, "mapping": catalogue.NO_MAPPING}
        yield from setting.cell(key, partial(_measure, setting, case, variant, catalogue.NO_MAPPING), (variant, ""))


def _measure(setting: Setting, lazy: Lazy[Case], variant: str, mapping: str) -> dict[str, Any]:
    """One cell. The first run has to end within the limit, or TooSlow is raised; further ones are made while
    there is time."""
    case, limit = lazy.get(), min(setting.sizes.cell_seconds, max(setting.left(), 0.1))
    catalogue.warm(setting, case.graph, variant, mapping)
    watched = Watched(setting.device, limit)
    search = catalogue.search_on(watched, case.graph, variant, mapping)
    watched.restart()
    start, seconds, levels, wrong = time.monotonic(), [], [], 0
    for source in (case.sources[0], *case.sources):
        found: list[tuple[DeviceArray, int]] = []
        seconds.append(wall_seconds(setting.device, lambda s=source, f=found: f.append(search(s))))
        levels.append(found[0][1] + 1)
        wrong += case.digest(found[0]) != case.known[source]
        if time.monotonic() - start > limit:
            break
        watched.restart()
    # The first run is a warm one too, and counts only where there is no other.
    kept = seconds[1:] or seconds
    median = statistics.median(kept)
    return {"n": case.graph.n_vertices, "m": case.graph.neighbours.size // 2, "seconds": median, "runs": len(kept),
            "gteps": case.edges / median / 1e9, "levels": statistics.median(levels),
            "us_per_level": statistics.median(s / k for s, k in zip(seconds, levels, strict=True)) * 1e6,
            "launches": watched.n_launches, "wrong": wrong}
