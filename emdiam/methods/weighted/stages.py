"""What all runs on weighted graphs share: their options, the memory plan, the arcs, events, and what they tell.

Bytes: the rows, or an arena of blocks; a vertex: what a search holds (sssp/plan.py), 28 for bounds, and what the run
holds beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..._version import __version__
from ...errors import InputError, MoreMemoryError, NotWritten
from ...progress import Event, Listener, Meter, silent, timed, until
from ...sssp.arcs import Arcs, ArcsInRam, ArcsOnDisk
from ...sssp.loading import load_rows
from ...sssp.paths import SearchOptions
from ...sssp.plan import plan_arcs
from ...store.store import Store, check_weighted, open_store
from ...stream.plan import BASE_JITTER, MARGIN, most_parts, program_bytes, too_small
from ...units import available_cores, default_memory_bytes, format_size, parse_duration, parse_size, peak_rss_bytes
from ..exact.method import stopping
from ..exact.result import Result, Traversals, Witness
from ..exact.witness import LONGEST_KEPT_PATH
from .search import COMPONENT_BYTES, STATE_BYTES, WeightedSearch
from .units import SumsTooLongError, round_down, units_of
from .witness import checked_path

_Answer = TypeVar("_Answer")
_Search = TypeVar("_Search", bound=WeightedSearch)
Parsers = Mapping[str, tuple[str, Callable[[Any], Any]]]
_COMMON: Parsers = {"memory": ("memory_bytes", parse_size), "arena": ("arena_bytes", parse_size),
                    "time_limit": ("seconds", parse_duration), "threads": ("threads", int),
                    "evict_page_cache": ("evict_page_cache", bool)}


@dataclass(frozen=True)
class RunOptions:
    """Of every run. seconds : wall time, None: no limit. memory_bytes : None: what the machine leaves. arena_bytes : of
    blocks in RAM, where the arcs stay on disk; None: as it fits."""

    seconds: float | None = None
    memory_bytes: int | None = None
    arena_bytes: int | None = None
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
            has = ", ".join(f"--{one.replace('_', '-')}" for one in ("memory", "arena", "threads", "time_limit", *own))
            raise InputError("a run on a weighted graph has no option", text=name, remedy=f"it has {has}")
        field, parse = parsers[name]
        fields[field] = parse(value)
    return {"threads": available_cores(), **fields}


@contextmanager
def opened(store: Store | str | Path, asked: RunOptions) -> Iterator[Store]:
    """The store, opened and closed again if it is a path. Raises StoreError, and InputError without vertices, and
    without weights."""
    if not isinstance(store, Store):
        with open_store(store, evict_page_cache=asked.evict_page_cache) as place, opened(place, asked):
            yield place
        return
    check_weighted(store)
    if not store.n_vertices:
        raise InputError("the graph has no vertices, so its diameter is undefined", path=store.path)
    yield store


@dataclass(frozen=True)
class Found:
    """components : of the graph, as many as are planned for. program : bytes of the process before anything was
    read."""

    components: int
    program: int


class Stages:
    """Of one run. vertex_bytes : that it holds beside searches and bounds. least_room : bytes beside without which it
    does not run. room : those that there are. held_bytes : of what is planned beside. found : by an attempt that was
    planned for fewer components. seconds : wall seconds of each stage. Raises BudgetError with the numbers."""

    def __init__(self, store: Store, asked: RunOptions, progress: Listener | None, vertex_bytes: int,
                 least_room: int = 0, held_bytes: int = 0, found: Found | None = None) -> None:
        self.store, self.threads, self._begin = store, asked.threads, time.perf_counter()
        deadline = None if asked.seconds is None else time.monotonic() + asked.seconds
        self._listener, self._limited = progress or silent, until(deadline, progress) or silent
        self.seconds: dict[str, float] = {}
        self.memory = default_memory_bytes() if asked.memory_bytes is None else asked.memory_bytes
        self._found = Found(1, program_bytes()) if found is None else found
        base = self._found.program + MARGIN + store.ahead_bytes + held_bytes
        beside = (STATE_BYTES + vertex_bytes) * store.n_vertices + COMPONENT_BYTES * (self._found.components - 1)
        plan = plan_arcs(store, asked.threads, self.memory - base, beside, least_room, asked.arena_bytes)
        need = base + plan.need + least_room
        if need > self.memory:
            most = most_parts(store) + store.record.n_isolated if found is None else found.components
            more = COMPONENT_BYTES * (most - self._found.components)
            several = "" if more <= 0 else f", and with very many components {format_size(need + more + BASE_JITTER)}"
            raise too_small(self.memory, need + BASE_JITTER, several, need + more + BASE_JITTER)
        self._arena, self.planned = plan.arena_bytes, base + plan.need
        self.room = self._whole_room = self.memory - base - plan.need
        self.arcs: Arcs | None = None
        self.search: WeightedSearch | None = None

    def with_room(self, search: _Search) -> _Search:
        """The search, once what its components take beyond what was planned is out of the room. Raises MoreMemoryError
        where there is too little."""
        count = len(search.parts.roots)
        beyond = COMPONENT_BYTES * max(0, count - self._found.components)
        if beyond > self._whole_room:
            error = MoreMemoryError(f"{count:,} components take {format_size(beyond)} more than the memory that was"
                                    " planned", beyond - self._whole_room)
            error.known = replace(self._found, components=count)
            raise error
        self.room = self._whole_room - beyond
        return search

    @contextmanager
    def opened_arcs(self) -> Iterator[Arcs]:
        """The arcs, in RAM or where they are. Raises InputError for weights below 0, OverflowError where distances may
        not fit 64 bits."""
        options = SearchOptions(self.threads, tick=self.tick)
        meter = Meter(self._listener)
        meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            if self._arena is None:
                rows, read = load_rows(self.store, self.threads, lambda: meter.update(0))
                self.arcs = ArcsInRam(rows, options, read)
            else:
                self.arcs = ArcsOnDisk(self.store, self._arena, options)
            weights = self.store.record.weights
            self.units = units_of(self.arcs, 0 if weights is None else weights.decimals)
        meter.end()
        try:
            yield self.arcs
        finally:
            self.arcs.close()

    def proved(self, run: Callable[[], _Answer]) -> _Answer:
        """What `run` gives, which begins again along weights that are rounded down where sums of them are not exact."""
        try:
            return run()
        except SumsTooLongError:
            assert self.arcs is not None
            with timed(self.seconds, "round"):
                self.units = round_down(self.arcs)
            return run()

    @contextmanager
    def solving(self, search: WeightedSearch, answer: Callable[[], Result]) -> Iterator[None]:
        """What the time limit and Ctrl-C end by StoppedEarly, with the answer so far; before and after it the limit
        ends nothing."""
        self.search, free = search, self._listener
        self._listener = self._limited
        try:
            with stopping(answer), timed(self.seconds, "solve"):
                yield
        finally:
            self._listener = free

    def tick(self) -> None:
        """An event with the bounds of the search at hand."""
        facts: dict[str, Any] = {}
        if self.search is not None:
            lower, upper = self._widened(self.search.bounds(), self.search.parts.sizes.max())
            facts = {"lower": self.units.length(lower), "upper": self.units.length(upper),
                     "searches": self.search.work.searches}
        self._listener(Event("search", facts=facts))

    def told(self, search: WeightedSearch) -> dict[str, Any]:
        """The fields of a Result by what is proved so far, without a witness."""
        store, length, parts = self.store, self.units.length, search.parts
        size = int(parts.sizes.max())
        lower, upper = self._widened(search.bounds(), size)
        of_largest = self._widened(search.bounds_of_largest(), size)
        connected, exact, n = len(parts.roots) == 1, lower == upper, store.n_vertices
        reachable = sum(size * (size - 1) // 2 for size in parts.sizes.tolist())
        return {
            "n_vertices": n, "n_edges": store.record.n_edges, "connected": connected, "n_components": len(parts.roots),
            "diameter": length(lower) if exact and connected else None,
            "diameter_largest_component": length(of_largest[0]) if of_largest[0] == of_largest[1] else None,
            "diameter_max_component": length(lower) if exact else None, "lower": length(lower), "upper": length(upper),
            "exact": exact, "witness": None, "traversals": Traversals(search.work.searches),
            "edges_scanned": search.work.relaxations, "bytes_read": search.arcs.bytes_read,
            "memory_limit_bytes": self.memory, "planned_rss_bytes": self.planned, "peak_rss_bytes": peak_rss_bytes(),
            "seconds": {"solve": 0.0, "verify": 0.0, **self.seconds, "total": time.perf_counter() - self._begin},
            "version": __version__, "store_digest": store.digest, "store_path": store.path, "store_name": store.name,
            "details": {"interval_largest_component": [length(one) for one in of_largest],
                        "vertices_largest_component": size,
                        "unreachable_pairs": n * (n - 1) // 2 - reachable,
                        **({"rounded_to": 2.0**self.units.exponent} if self.units.rounded else {}),
                        **store.record.rounded_weights},
            "weights": None if store.record.weights is None else store.record.weights.dtype,
            "weight": store.record.weight_name}

    def _widened(self, bounds: tuple[int, int], size: int) -> tuple[int, int]:
        """Bounds on lengths of the graph, from those on lengths of rounded weights. size : vertices of a component at
        most, whose paths have fewer edges."""
        lower, upper = bounds
        return lower, upper + (int(size) - 1 if self.units.rounded else 0)

    def checked(self, search: WeightedSearch) -> list[int]:
        """The vertices of a longest shortest path, see checked_path."""
        with timed(self.seconds, "verify"):
            return checked_path(search.arcs, self.units, search.longest)

    def witness(self, search: WeightedSearch, path: list[int]) -> Witness:
        """The pair with that path, which is left out where it is long."""
        kept = len(path) <= LONGEST_KEPT_PATH
        names = self.store.user_ids(np.array(path if kept else [path[0], path[-1]]))
        return Witness(names[0], names[-1], self.units.length(search.longest.length), list(names) if kept else None)

    def certify(self, result: Any, file: Path, write: Callable[[Path], object]) -> None:
        """Write the certificate of a result; where that cannot be, it says so."""
        try:
            with timed(result.seconds, "certificate"):
                write(file)
            result.certificate = str(file)
        except InputError as error:
            result.not_written.append(str(error))

    def end(self, result: Any) -> Any:
        """The result, with what the whole run took. Raises NotWritten."""
        result.seconds["total"] = time.perf_counter() - self._begin
        result.peak_rss_bytes = peak_rss_bytes()
        if result.not_written:
            raise NotWritten("; ".join(result.not_written), result)
        return result
