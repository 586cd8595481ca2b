"""What all runs on weighted graphs share: their options, the memory plan, the rows, events, and what they tell.

Bytes: the rows; a vertex: what a search holds (sssp/plan.py), 28 for bounds, and what the run holds beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._version import __version__
from ...errors import InputError, NotWritten
from ...progress import Event, Listener, Meter, silent, timed, until
from ...sssp.loading import in_rows, load_rows, loading_buffers, rows_bytes
from ...sssp.methods import check_lengths
from ...sssp.paths import SearchOptions
from ...sssp.plan import search_bytes
from ...sssp.rows import WeightedRows
from ...store.store import Store, open_store
from ...stream.plan import BASE_JITTER, MARGIN, program_bytes, too_small
from ...units import available_cores, default_memory_bytes, parse_duration, parse_size, peak_rss_bytes
from ..exact.result import Traversals, Witness
from ..exact.witness import LONGEST_KEPT_PATH
from .search import STATE_BYTES, WeightedSearch
from .units import units_of
from .witness import checked_path

Parsers = Mapping[str, tuple[str, Callable[[Any], Any]]]
_COMMON: Parsers = {"memory": ("memory_bytes", parse_size), "time_limit": ("seconds", parse_duration),
                    "threads": ("threads", int), "evict_page_cache": ("evict_page_cache", bool)}


@dataclass(frozen=True)
class RunOptions:
    """Of every run. seconds : wall time, None: no limit. memory_bytes : None: what the machine leaves."""

    seconds: float | None = None
    memory_bytes: int | None = None
    threads: int = 1
    evict_page_cache: bool = False


def given_fields(given: Mapping[str, Any], own: Parsers) -> dict[str, Any]:
    """The fields of a run's options by what was given, in the names of the command line; None counts as not given.
    own : option to field and parser, beside those of every run. Raises InputError for those that a run on a weighted
    graph has not."""
    known = {name: value for name, value in given.items()
             if value is not None and value is not False and value != "auto"}
    if known.get("device") == "cpu":
        del known["device"]
    parsers, fields = {**_COMMON, **own}, dict[str, Any]()
    for name, value in known.items():
        if name not in parsers:
            has = ", ".join(f"--{one.replace('_', '-')}" for one in ("memory", "threads", "time_limit", *own))
            raise InputError("a run on a weighted graph has no option", text=name, remedy=f"it has {has}")
        field, parse = parsers[name]
        fields[field] = parse(value)
    return {"threads": available_cores(), **fields}


@contextmanager
def opened(store: Store | str | Path, asked: RunOptions) -> Iterator[Store]:
    """The store, opened and closed again if it is a path. Raises StoreError, and InputError without vertices."""
    if not isinstance(store, Store):
        with open_store(store, evict_page_cache=asked.evict_page_cache) as place, opened(place, asked):
            yield place
        return
    if not store.n_vertices:
        raise InputError("the graph has no vertices, so its diameter is undefined", path=store.path)
    yield store


def planned_bytes(store: Store, threads: int, vertex_bytes: int) -> int:
    """Peak of a run that holds so many bytes a vertex beside a search and the bounds."""
    state = search_bytes(store, "delta-stepping", threads, tree=True) + (STATE_BYTES + vertex_bytes) * store.n_vertices
    return (program_bytes() + MARGIN + store.ahead_bytes + rows_bytes(store)
            + max(loading_buffers(store, threads), state))


class Stages:
    """Of one run. vertex_bytes : see planned_bytes. least_room : bytes beside without which it does not run. room :
    those that there are. seconds : wall seconds of each stage. Raises BudgetError with the numbers."""

    def __init__(self, store: Store, asked: RunOptions, progress: Listener | None, vertex_bytes: int,
                 least_room: int = 0) -> None:
        self.store, self.threads, self._begin = store, asked.threads, time.perf_counter()
        deadline = None if asked.seconds is None else time.monotonic() + asked.seconds
        self._loading, self._listener = progress or silent, until(deadline, progress) or silent
        self.seconds: dict[str, float] = {}
        self.memory = default_memory_bytes() if asked.memory_bytes is None else asked.memory_bytes
        self.planned = planned_bytes(store, asked.threads, vertex_bytes)
        least = self.planned + least_room + BASE_JITTER
        if least > self.memory:
            raise too_small(self.memory, least, in_rows(store))
        self.room = self.memory - self.planned - BASE_JITTER
        self.search: WeightedSearch | None = None
        self._read = 0

    def load(self) -> WeightedRows:
        """The rows in RAM. Raises InputError for weights below 0, OverflowError where distances may not fit 64 bits."""
        meter = Meter(self._loading)
        meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            rows, self._read = load_rows(self.store, self.threads, lambda: meter.update(0))
        meter.end()
        self.units = units_of(rows)
        check_lengths(rows)
        return rows

    @property
    def options(self) -> SearchOptions:
        """Of searches, which tell the bounds."""
        return SearchOptions(self.threads, tick=self.tick)

    def tick(self) -> None:
        """An event with the bounds of the search at hand."""
        facts: dict[str, Any] = {}
        if self.search is not None:
            lower, upper = self.search.bounds()
            facts = {"lower": self.units.length(lower), "upper": self.units.length(upper),
                     "searches": self.search.work.searches}
        self._listener(Event("search", facts=facts))

    def told(self, search: WeightedSearch) -> dict[str, Any]:
        """The fields of a Result by what is proved so far, without a witness."""
        store, length, parts = self.store, self.units.length, search.parts
        (lower, upper), of_largest = search.bounds(), search.bounds_of_largest()
        connected, exact, n = len(parts.roots) == 1, lower == upper, store.n_vertices
        reachable = sum(size * (size - 1) // 2 for size in parts.sizes.tolist())
        return {
            "n_vertices": n, "n_edges": store.record.n_edges, "connected": connected, "n_components": len(parts.roots),
            "diameter": length(lower) if exact and connected else None,
            "diameter_largest_component": length(of_largest[0]) if of_largest[0] == of_largest[1] else None,
            "diameter_max_component": length(lower) if exact else None, "lower": length(lower), "upper": length(upper),
            "exact": exact, "witness": None, "traversals": Traversals(search.work.searches),
            "edges_scanned": search.work.relaxations, "bytes_read": self._read, "memory_limit_bytes": self.memory,
            "planned_rss_bytes": self.planned, "peak_rss_bytes": peak_rss_bytes(),
            "seconds": {"solve": 0.0, "verify": 0.0, **self.seconds, "total": time.perf_counter() - self._begin},
            "version": __version__, "store_digest": store.digest, "store_path": store.path, "store_name": store.name,
            "details": {"interval_largest_component": [length(one) for one in of_largest],
                        "vertices_largest_component": int(parts.sizes.max()),
                        "unreachable_pairs": n * (n - 1) // 2 - reachable},
            "weights": None if store.record.weights is None else store.record.weights.dtype}

    def checked(self, search: WeightedSearch) -> list[int]:
        """The vertices of a longest shortest path, see checked_path."""
        with timed(self.seconds, "verify"):
            return checked_path(search.rows, self.units, search.longest,
                                SearchOptions(tick=lambda: self._listener(Event("verify"))))

    def witness(self, search: WeightedSearch, path: list[int]) -> Witness:
        """The pair with that path, which is left out where it is long."""
        kept = len(path) <= LONGEST_KEPT_PATH
        names = self.store.user_ids(np.array(path if kept else [path[0], path[-1]]))
        return Witness(names[0], names[-1], self.units.length(search.longest.length), list(names) if kept else None)

    def end(self, result: Any) -> Any:
        """The result, with what the whole run took. Raises NotWritten."""
        result.seconds["total"] = time.perf_counter() - self._begin
        result.peak_rss_bytes = peak_rss_bytes()
        if result.not_written:
            raise NotWritten("; ".join(result.not_written), result)
        return result
