"""What all runs on weighted graphs share: the memory plan, the arcs, events, and what they tell.

Bytes: the rows, or an arena of blocks; a vertex: what a search holds (paths/plan.py), 28 for bounds, and what the run
holds beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...engine.attempts import attempted
from ...errors import MoreMemoryError
from ...paths.arcs import Arcs, ArcsInRam, ArcsOnDisk
from ...paths.blocks import StoreBlocks
from ...paths.loading import load_rows
from ...paths.paths import SearchOptions
from ...paths.plan import plan_arcs
from ...progress import Event, Meter, silent, timed
from ...stream.plan import base_bytes, most_parts, program_bytes, too_small
from ...units import BASE_JITTER, format_size, peak_rss_bytes
from ..exact.method import stopping
from ..result import Result, Traversals, Witness
from ..witness import LONGEST_KEPT_PATH
from .search import COMPONENT_BYTES, STATE_BYTES, WeightedSearch
from .units import SumsTooLongError, Units, round_down, units_of
from .witness import checked_path

if TYPE_CHECKING:
    from ...runs.task import Session

_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result", bound=Result)
_Search = TypeVar("_Search", bound=WeightedSearch)


@dataclass(frozen=True)
class Found:
    """components : of the graph, as many as are planned for. program : bytes of the process before anything was
    read."""

    components: int
    program: int


class Stages:
    """Of one run. vertex_bytes : that it holds beside searches and bounds. least_room : bytes beside without which it
    does not run. room : those that there are. found : by an attempt that was planned for fewer components. seconds :
    wall seconds of each stage. Raises BudgetError with the numbers."""

    def __init__(self, session: Session, vertex_bytes: int, least_room: int = 0, found: Found | None = None) -> None:
        self.session, self.store, self.task = session, session.store, session.task
        store, asked = self.store, self.task
        self._listener, self._limited = session.progress or silent, session.listener or silent
        self.seconds: dict[str, float] = {}
        self.memory, held = session.memory_bytes, asked.writing_bytes
        self._found = Found(1, program_bytes()) if found is None else found
        base = base_bytes(store, self._found.program) + held
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
        options = SearchOptions(self.task.threads, tick=self.tick)
        meter = Meter(self._listener)
        meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            if self._arena is None:
                rows, read = load_rows(self.store, self.task.threads, lambda: meter.update(0))
                self.arcs = ArcsInRam(rows, options, read)
            else:
                self.arcs = ArcsOnDisk(StoreBlocks(self.store), self._arena, options)
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

    def answer(self, kind: Callable[..., _Result], search: WeightedSearch, **more: Any) -> _Result:
        """A result of this class by what is proved so far, without a witness. more : fields of it, or others."""
        result = kind(method=search.name, **{**self._told(search), **more})
        self.session.tell(result, self.memory, self.planned)
        return result

    def _told(self, search: WeightedSearch) -> dict[str, Any]:
        """The fields of a Result."""
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
            "seconds": {"solve": 0.0, "verify": 0.0, **self.seconds, "total": self.session.elapsed},
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

    def end(self, result: _Result) -> _Result:
        """The result, with what the whole run took."""
        result.seconds["total"], result.peak_rss_bytes = self.session.elapsed, peak_rss_bytes()
        return result


def solved(session: Session, vertex_bytes: int, search: Callable[[Arcs, Units], _Search],
           answer: Callable[[Stages, _Search], _Result], least_room: int = 0) -> _Result:
    """The answer of a search, which begins again where the graph has more components than was planned for. Raises
    StoppedEarly."""
    def one(found: Found | None) -> _Result:
        stages = Stages(session, vertex_bytes, least_room, found)
        with stages.opened_arcs() as arcs:
            return stages.proved(lambda: answer(stages, stages.with_room(search(arcs, stages.units))))
    return attempted(one)
