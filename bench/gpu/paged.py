"""Part paged: BFS on a graph whose ids are eight times the device's memory, by way and level.

Limit: an eighth of the bytes of the ids; where the vertices alone take more than that (grids), what they and the
smallest ring take, and an eighth of the ids beside. Ways: each alone, where the rule of MOST_WASTE lets it (else
copy), and the model's choice, which may go up. Arcs come from an arena that holds the whole graph, and, on the class
STORED, from a store on disk through an arena of a quarter of it. `rate` is bytes that came / seconds; `share` that by
the measured rate of copies from locked memory. A level is dense if at least half of all bytes came in it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.gpu.device import DeviceArray

from . import inputs
from .host_engine import HostGraph, engine_over, memory_engine, n_threads, need_engine
from .lazy import Lazy
from .paged_levels import Levels, opened_pages, pinned_rate, room_for
from .setting import Row, Setting, Skipped
from .timing import wall_seconds
from .twins import UNREACHED

SHARE = 1 / 8
STORED = "kronecker"
AUTO = "model"
ALONE = ("copy", "gather", "in-place")
# A level is dense if it brings this share of all ids.
DENSE = 0.5
MOST_LEVELS = 200
LEAST_SLOTS = 4
UP = "up"
BYTES = ("bytes_copied", "bytes_gathered", "bytes_in_place", "bytes_up")


class Case:
    """A graph of the host with an engine over it: distances and seconds of the CPU, and the rate of copies."""

    def __init__(self, setting: Setting, graph: HostGraph, engine: Any) -> None:
        self.setting, self.graph, self.engine, self.source = setting, graph, engine, graph.hub
        seconds = []
        for _ in range(1 + setting.sizes.repeats):  # the first compiles and warms up
            begin = time.perf_counter()
            run = engine.bfs(self.source)
            seconds.append(time.perf_counter() - begin)
        self.cpu_seconds = min(seconds[1:])
        found = run.distances.gather(np.arange(graph.n))
        self.expected = np.where(found < 0, UNREACHED, found).astype(np.uint32)
        self.rate = pinned_rate(setting.device, setting.sizes.copy_bytes)
        setting.forget()

    def measure(self, ways: tuple[str, ...]) -> dict[str, Any]:
        """A BFS by these ways: figures of the whole, and of each level."""
        setting, core = self.setting, self.engine.core
        items, n_slots = core.pager.arena.block_ids, core.pager.arena.n_slots
        room = room_for(self.graph.n, len(self.graph.neighbours), SHARE, items)
        setting.device.limit_memory(room.limit)
        try:
            # Two pages must fit the arena, one on its way and one that is read.
            shift = min(room.page_shift, max(0, (n_slots // 2).bit_length() - 1))
            levels, model, first = self._by_level(partial(opened_pages, setting.device, core, shift, room.kept, ways))
            setting.forget()
            seconds, second = self._whole(partial(opened_pages, setting.device, core, shift, room.kept, ways, model))
            peak = setting.device.peak_bytes()
        finally:
            setting.device.limit_memory(None)
            setting.forget()
        return {"limit_bytes": room.limit, "peak_bytes": peak, "page_bytes": 4 * items << shift,
                "kept_pages": room.kept, "wrong": first + second, "model": vars(model),
                **self._figures(levels, seconds)}

    def _by_level(self, opened: Callable[[], Any]) -> tuple[list[dict[str, Any]], Any, int]:
        """Rows of levels, the model, and 1 if a distance is wrong. Holds nothing afterwards."""
        device = self.setting.device
        with opened() as paged:
            found, levels = Levels(device, paged, self.setting.sizes.paged_seconds).run(self.source)
            return levels, paged.model, self._wrong(found)

    def _whole(self, opened: Callable[[], Any]) -> tuple[float, int]:
        """Seconds of a BFS that is not stopped after its levels, as an engine does it, and 1 if it is wrong."""
        from emdiam.gpu.paged import PagedBfs

        device, found = self.setting.device, list[Any]()
        with opened() as paged:
            search = PagedBfs(device, paged)
            seconds = wall_seconds(device, lambda: found.append(search.run(self.source)))
            return seconds, self._wrong(found[0][0])

    def _wrong(self, distances: DeviceArray) -> int:
        return int(not np.array_equal(self.setting.device.to_host(distances), self.expected))

    def _figures(self, levels: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
        """Of the whole and of each level."""
        ids = self.graph.id_bytes
        for level in levels:
            came = sum(level[what] for what in BYTES)
            level.update(bytes=came, rate_gb_s=came / level["seconds"] / 1e9, dense=came >= DENSE * ids,
                         share=came / level["seconds"] / self.rate)
        dense = [level for level in levels if level["dense"]]
        spent = sum(level["seconds"] for level in dense)
        total = sum(level["seconds"] for level in levels)
        predicted = sum(level["predicted_seconds"] for level in levels)
        return {
            "seconds": seconds, "cpu_seconds": self.cpu_seconds, "speedup": self.cpu_seconds / seconds,
            "cpu_threads": n_threads(), "pinned_gb_s": self.rate / 1e9, "n_levels": len(levels),
            "dense_levels": len(dense),
            "dense_share": sum(level["bytes"] for level in dense) / spent / self.rate if spent else None,
            "level_seconds": total, "predicted_seconds": predicted, "predicted_share": predicted / total,
            **{what: sum(level[what] for level in levels) for what in BYTES}, "levels": levels[:MOST_LEVELS]}


def run(setting: Setting, names: Sequence[str] = ()) -> Iterator[Row]:
    """Rows by class, where the arcs come from, and way."""
    for name in names or tuple(setting.sizes.paged):
        yield from _cells(setting, name, "arena", partial(_in_ram, setting, name))
    yield from _cells(setting, STORED, "store", partial(_from_store, setting))


def _cells(setting: Setting, name: str, source: str, opened: Callable[[], Any]) -> Iterator[Row]:
    """One graph: each way alone, then the choice of the model."""
    stack: list[Any] = []

    def made() -> Case:
        need_engine()
        manager = opened()
        case: Case = manager.__enter__()
        stack.append(manager)
        return case

    lazy = Lazy(made)
    try:
        for way in (AUTO, *ALONE):
            key = {"class": name, "from": source, "way": way}
            yield from setting.cell(key, lambda way=way: {  # type: ignore[misc]
                **lazy.get().graph.key, **lazy.get().measure((*ALONE, UP) if way == AUTO else (way,))})
    finally:
        for manager in stack:
            manager.__exit__(None, None, None)


@contextmanager
def _in_ram(setting: Setting, name: str) -> Iterator[Case]:
    graph = inputs.host_graph(setting, name, setting.sizes.paged[name])
    with memory_engine(graph, setting.sizes.block_items) as engine:
        yield Case(setting, graph, engine)


@contextmanager
def _from_store(setting: Setting) -> Iterator[Case]:
    """A store in a folder for temporary files, and an engine with an arena of a quarter of its blocks."""
    from emdiam.store.layout import StoreRecord
    from emdiam.store.store import open_store
    from emdiam.store.writer import StoreWriter

    graph = inputs.host_graph(setting, STORED, setting.sizes.paged[STORED] - setting.sizes.stored_less)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.zarr"
        writer = StoreWriter(path, n_vertices=graph.n, chunk_ids=setting.sizes.block_items)
        writer.append_degrees(np.diff(graph.offsets))
        writer.append_neighbours(graph.neighbours.astype(writer.id_dtype))
        writer.finish(StoreRecord())
        with open_store(path) as store:
            n_slots = max(LEAST_SLOTS, store.indices.n_chunks // 4)
            if n_slots >= store.indices.n_chunks:
                raise Skipped("the graph has too few blocks for an arena that is smaller")
            with engine_over(store, n_slots) as engine:
                yield Case(setting, graph, engine)
