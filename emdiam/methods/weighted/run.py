"""One exact run on a weighted graph, from its options to its result: memory is planned, rows are read into RAM, the
diameter is proved, its path added up again, files are written.

Bytes: the rows; a vertex: what a search holds (sssp/plan.py), 28 for bounds, 24 for columns of the sweeps;
the points of candidates take what is left of the memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._version import __version__
from ...durable import check_file, whole_file
from ...errors import InputError, NotWritten, no_such
from ...progress import Event, Listener, Meter, silent, timed, until
from ...sssp.loading import in_rows, load_rows, loading_buffers, rows_bytes
from ...sssp.paths import SearchOptions
from ...sssp.plan import search_bytes
from ...sssp.rows import WeightedRows
from ...store.store import Store, open_store
from ...stream.plan import BASE_JITTER, MARGIN, program_bytes, too_small
from ...units import available_cores, default_memory_bytes, parse_duration, parse_size, peak_rss_bytes
from ..exact.method import stopping
from ..exact.result import Traversals, Witness
from ..exact.witness import LONGEST_KEPT_PATH
from .bounding import WeightedBounding
from .certificate import write_certificate
from .pivots import SWEEPS, WeightedPivots
from .result import WeightedResult
from .search import STATE_BYTES, WeightedSearch
from .units import units_of
from .witness import checked_path

METHODS: dict[str, type[WeightedSearch]] = {"pivots": WeightedPivots, "bounding": WeightedBounding}
# Points of candidates below this are not worth a plan.
_LEAST_ROOM = 16 << 20


@dataclass(frozen=True)
class WeightedOptions:
    """method : of METHODS. path_file, certificate : files to write, None: none. seconds : wall time, None: no limit."""

    method: str = "pivots"
    path_file: Path | None = None
    certificate: Path | None = None
    seconds: float | None = None
    memory_bytes: int | None = None
    threads: int = 1
    evict_page_cache: bool = False


def options_of(given: Mapping[str, Any]) -> WeightedOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError for those that a run on
    a weighted graph has not."""
    known = {name: value for name, value in given.items()
             if value is not None and value is not False and value != "auto"}
    if known.get("device") == "cpu":
        del known["device"]
    method = known.pop("method", "pivots")
    if method == "fdiam":
        raise InputError("F-Diam is for graphs without weights: it counts edges", remedy="use --method pivots")
    if method not in METHODS:
        raise no_such("method for weighted graphs", method, METHODS)
    fields: dict[str, Any] = {"threads": known.pop("threads", None) or available_cores()}
    for name, field, parse in (("memory", "memory_bytes", parse_size), ("time_limit", "seconds", parse_duration),
                               ("path", "path_file", Path), ("certificate", "certificate", Path),
                               ("evict_page_cache", "evict_page_cache", bool)):
        if name in known:
            fields[field] = parse(known.pop(name))
    if known:
        raise InputError("a run on a weighted graph has no option", text=next(iter(known)),
                         remedy="it has --method, --memory, --threads, --path, --certificate and --time-limit")
    return WeightedOptions(method, **fields)


def solve(store: Store | str | Path, asked: WeightedOptions, progress: Listener | None = None) -> WeightedResult:
    """The largest length of a shortest path between two vertices that are joined by one.

    Raises InputError (StoreError; BudgetError with the numbers; NotWritten with `result`), StoppedEarly with `result`
    on Ctrl-C and at the end of the time, OverflowError where distances may not fit 64 bits."""
    for file in (asked.path_file, asked.certificate):
        if file is not None:
            check_file(file)
    opening = (nullcontext(store) if isinstance(store, Store)
               else open_store(store, evict_page_cache=asked.evict_page_cache))
    with opening as opened:
        return _Run(opened, asked, progress).result()


def planned_bytes(store: Store, threads: int) -> int:
    """Peak of a run, but for the points of candidates."""
    state = search_bytes(store, "delta-stepping", threads, tree=True) + (STATE_BYTES + 8 * SWEEPS) * store.n_vertices
    return (program_bytes() + MARGIN + store.ahead_bytes + rows_bytes(store)
            + max(loading_buffers(store, threads), state))


class _Run:
    """The stages of one run. seconds : wall seconds of each."""

    def __init__(self, store: Store, asked: WeightedOptions, progress: Listener | None) -> None:
        if not store.n_vertices:
            raise InputError("the graph has no vertices, so its diameter is undefined", path=store.path)
        self._store, self._asked = store, asked
        self._begin = time.perf_counter()
        deadline = None if asked.seconds is None else time.monotonic() + asked.seconds
        self._loading, self._listener = progress or silent, until(deadline, progress) or silent
        self.seconds: dict[str, float] = {}
        self._memory = default_memory_bytes() if asked.memory_bytes is None else asked.memory_bytes
        self._planned = planned_bytes(store, asked.threads)
        least = self._planned + _LEAST_ROOM + BASE_JITTER
        if least > self._memory:
            raise too_small(self._memory, least, in_rows(store))

    def result(self) -> WeightedResult:
        """The answer, checked. Raises StoppedEarly, NotWritten."""
        rows, read = self._loaded()
        units = units_of(rows)
        search = METHODS[self._asked.method](rows, units, SearchOptions(self._asked.threads, tick=self._tick))
        if isinstance(search, WeightedPivots):
            search.room = self._memory - self._planned - BASE_JITTER
        self._search = search
        with stopping(lambda: self._answer(search, read)), timed(self.seconds, "solve"):
            search.solve()
        with timed(self.seconds, "verify"):
            path = checked_path(rows, units, search.longest,
                                SearchOptions(tick=lambda: self._listener(Event("verify"))))
        result = self._answer(search, read)
        self._add_path(result, search, path)
        if self._asked.certificate is not None:
            self._certify(result, search)
        result.seconds["total"] = time.perf_counter() - self._begin
        result.peak_rss_bytes = peak_rss_bytes()
        if result.not_written:
            raise NotWritten("; ".join(result.not_written), result)
        return result

    def _loaded(self) -> tuple[WeightedRows, int]:
        meter = Meter(self._loading)
        meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            rows, read = load_rows(self._store, self._asked.threads, lambda: meter.update(0))
        meter.end()
        return rows, read

    def _tick(self) -> None:
        lower, upper = self._search.bounds()
        length = self._search.units.length
        self._listener(Event("search", facts={"lower": length(lower), "upper": length(upper),
                                              "searches": self._search.work.searches}))

    def _answer(self, search: WeightedSearch, read: int) -> WeightedResult:
        """What is proved so far, without a witness."""
        store, length, parts = self._store, search.units.length, search.parts
        (lower, upper), of_largest = search.bounds(), search.bounds_of_largest()
        connected, exact = len(parts.roots) == 1, lower == upper
        reachable = sum(size * (size - 1) // 2 for size in parts.sizes.tolist())
        n = store.n_vertices
        return WeightedResult(
            method=search.name, n_vertices=n, n_edges=store.record.n_edges, connected=connected,
            n_components=len(parts.roots), diameter=length(lower) if exact and connected else None,
            diameter_largest_component=length(of_largest[0]) if of_largest[0] == of_largest[1] else None,
            diameter_max_component=length(lower) if exact else None, lower=length(lower), upper=length(upper),
            exact=exact, witness=None, traversals=Traversals(search.work.searches),
            edges_scanned=search.work.relaxations, bytes_read=read, memory_limit_bytes=self._memory,
            planned_rss_bytes=self._memory if isinstance(search, WeightedPivots) else self._planned,
            peak_rss_bytes=peak_rss_bytes(),
            seconds={"solve": 0.0, "verify": 0.0, **self.seconds, "total": time.perf_counter() - self._begin},
            version=__version__, store_digest=store.digest, store_path=store.path, store_name=store.name,
            details={"interval_largest_component": [length(one) for one in of_largest],
                     "vertices_largest_component": int(parts.sizes.max()),
                     "unreachable_pairs": n * (n - 1) // 2 - reachable},
            weights=None if store.record.weights is None else store.record.weights.dtype)

    def _add_path(self, result: WeightedResult, search: WeightedSearch, path: list[int]) -> None:
        """The witness, and its file."""
        store, ends = self._store, [path[0], path[-1]]
        names = store.user_ids(np.array(path if len(path) <= LONGEST_KEPT_PATH else ends))
        result.witness = Witness(names[0], names[-1], search.units.length(search.longest.length),
                                 list(names) if len(path) <= LONGEST_KEPT_PATH else None)
        file = self._asked.path_file
        if file is None:
            return
        try:
            with whole_file(file) as out:
                out.writelines(f"{name}\n".encode() for name in store.user_ids(np.array(path)))
            result.witness.path_file = str(file)
        except OSError as error:
            result.not_written.append(str(InputError(f"the path cannot be written ({error.strerror})", path=file)))

    def _certify(self, result: WeightedResult, search: WeightedSearch) -> None:
        assert self._asked.certificate is not None
        try:
            with timed(result.seconds, "certificate"):
                write_certificate(self._asked.certificate, result, search, self._store)
            result.certificate = str(self._asked.certificate)
        except InputError as error:
            result.not_written.append(str(error))
