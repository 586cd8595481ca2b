"""Section events: what progress and events cost of a run, by account and by pairs of runs.

Account: seconds inside everything that exists for progress and events alone (signs of life, notes on
traversals with their counters and frontier profiles, lines of a log each second, the file of --events)
over the seconds of the run. It leaves out an addition a level within kernels, and counts the clock that
measures. Pairs of runs: CPU seconds of a run that is listened to over those of a quiet one, on the same engine,
in turns; the median of the pairs, and an interval that holds the true one in 95 of 100 cases, whatever the
distribution is. Pairs of blocks: the same of BFS for a quarter of a second, once the burst at the start is over, so
that what others do to the machine meets both of a pair; the course of a long run.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from math import exp, lgamma, log
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from emdiam.cli.listener import Heartbeat
from emdiam.cli.outcome import EventLog
from emdiam.engine.reporter import TURN_RATE, Reporter, TraversalEvents
from emdiam.progress import Allowance, Listener, shared, silent
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.traverse import bfs, dense

from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .runs import OWN, solve, traversals_of
from .setting import Setting

TITLE = "Progress and events: their share of a run"
LEAST_PAIRS, MOST_PAIRS, PAIRS_SECONDS = 6, 40, 60.0
_CONFIDENCE = 0.95
_LOG_INTERVAL = 1.0
BFS_SECONDS, _BLOCK_SECONDS, _BURST, _SEED = 30.0, 0.25, 150, 1


class Account:
    """Wall and CPU seconds inside functions that it made `timed`, of all threads; where one calls another the
    outer one counts. calls : of outer ones."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = 0.0
        self.calls = 0
        self._lock, self._inside = threading.Lock(), threading.local()

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, put to account."""
        @wraps(function)
        def counted(*args: Any, **more: Any) -> Any:
            if getattr(self._inside, "yes", False):
                return function(*args, **more)
            self._inside.yes = True
            begin, cpu = time.perf_counter(), time.thread_time()
            try:
                return function(*args, **more)
            finally:
                cpu, seconds = time.thread_time() - cpu, time.perf_counter() - begin
                self._inside.yes = False
                with self._lock:
                    self.seconds += seconds
                    self.cpu_seconds += cpu
                    self.calls += 1
        return counted


@contextmanager
def accounted(engine: Any) -> Iterator[Account]:
    """The account of what the engine does for progress and events, and of the thread that writes lines."""
    account = Account()
    with ExitStack() as stack:
        reporter = engine.reporter
        for owner, name in ((reporter, "tick"), (reporter, "heartbeat"), (reporter, "stats"),
                            (TraversalEvents, "begin"), (TraversalEvents, "end"), (dense, "count_level"),
                            (bfs.BfsRun, "frontier_profile"), (Heartbeat, "tick")):
            stack.enter_context(patch.object(owner, name, account.timed(getattr(owner, name))))
        yield account


@contextmanager
def listening(folder: Path) -> Iterator[Listener]:
    """What a command listens with: lines of a log each second, and the file of --events in `folder`."""
    log = EventLog(folder / "events.jsonl")
    with open(os.devnull, "w", encoding="utf-8") as sink, Heartbeat(
            lambda line: sink.writelines((line, "\n")), _LOG_INTERVAL) as lines:
        yield shared(lines, log)
    log.end(0, None)


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph and method."""
    return [_measure(setting, graph, method) for graph in graphs_of("events", setting.quick, setting.names)
            for method in OWN]


def _measure(setting: Setting, graph: Graph, method: str) -> dict[str, Any]:
    with open_store(setting.cache.store(graph)) as store, open_engine(
            store, threads=setting.threads, method=method) as engine, tempfile.TemporaryDirectory() as folder:
        once = _Runs(engine, method, Path(folder))
        once.cpu_seconds(silent)
        watch = ForeignWatch()
        row = {"graph": graph.name, "method": method, **once.account()}
        pairs = once.pairs(2 if setting.quick else LEAST_PAIRS, 0.0 if setting.quick else PAIRS_SECONDS)
        row |= {"ratios": pairs, "median": statistics.median(pairs), "interval": median_interval(pairs)}
        ratios = once.traversals(0.2 if setting.quick else BFS_SECONDS)
        row |= {"blocks": ratios, "bfs_median": statistics.median(ratios), "bfs_interval": median_interval(ratios),
                "foreign_cores": watch.cores}
    return row


class _Runs:
    """Runs of one method on one engine, each as if it were the first."""

    def __init__(self, engine: Any, method: str, folder: Path) -> None:
        self._engine, self._method, self._folder = engine, method, folder

    def _once(self, listener: Listener) -> Any:
        engine = self._engine
        engine.reporter.listener, engine.reporter.traversals = listener, TraversalEvents()
        engine.learned = bfs.Learned()
        return solve(engine, self._method)

    def cpu_seconds(self, listener: Listener) -> float:
        """CPU seconds of all threads in one run."""
        begin = time.process_time()
        self._once(listener)
        return time.process_time() - begin

    def account(self) -> dict[str, Any]:
        """Shares of a run that is listened to."""
        with listening(self._folder) as listener, accounted(self._engine) as account:
            begin, cpu = time.perf_counter(), time.process_time()
            result = self._once(listener)
            seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu
        return {"seconds": seconds, "cpu_seconds": cpu_seconds, "calls": account.calls,
                "traversals": traversals_of(result) + result.traversals.partial,
                "share": account.seconds / seconds, "cpu_share": account.cpu_seconds / cpu_seconds}

    def pairs(self, least: int, seconds: float) -> list[float]:
        """CPU seconds listened to / quiet, of pairs in turns: at least so many, for about so long."""
        ratios: list[float] = []
        begin = time.perf_counter()
        while len(ratios) < least or (time.perf_counter() - begin < seconds and len(ratios) < MOST_PAIRS):
            found = {}
            for told in (True, False) if len(ratios) % 2 else (False, True):
                if told:
                    with listening(self._folder) as listener:
                        found[told] = self.cpu_seconds(listener)
                else:
                    found[told] = self.cpu_seconds(silent)
            ratios.append(found[True] / found[False])
        return ratios


    def traversals(self, seconds: float) -> list[float]:
        """CPU seconds of a block of BFS that are listened to / of quiet ones from the same sources, in turns."""
        random, n = np.random.default_rng(_SEED), self._engine.facts.n_vertices
        with listening(self._folder) as listener:
            told, quiet = _Side(self._engine, listener), _Side(self._engine, silent)
            burst = told.cpu_seconds(random.integers(n, size=_BURST))
            size = max(1, round(_BLOCK_SECONDS * _BURST / burst))
            ratios: list[float] = []
            begin = time.perf_counter()
            while not ratios or time.perf_counter() - begin < seconds:
                block = random.integers(n, size=size)
                if len(ratios) % 2:
                    one, two = told.cpu_seconds(block), quiet.cpu_seconds(block)
                else:
                    two, one = quiet.cpu_seconds(block), told.cpu_seconds(block)
                ratios.append(one / two)
        return ratios


class _Side:
    """One of two runs that take turns on an engine, with a reporter of its own."""

    def __init__(self, engine: Any, listener: Listener) -> None:
        self._engine = engine
        core = engine.core
        self._reporter = Reporter(listener, core.counters.snapshot, core.counters.add, core.position)
        self._reporter.turns = Allowance(1.0, TURN_RATE)

    def cpu_seconds(self, sources: np.ndarray) -> float:
        """CPU seconds of BFS between signs of life, as methods do it."""
        engine = self._engine
        engine.reporter = self._reporter
        begin = time.process_time()
        for source in sources.tolist():
            engine.reporter.tick("bfs", lower=1, upper=2)
            engine.bfs(source, distances=False)
            engine.reporter.tick("eliminate", lower=1, upper=2)
        return time.process_time() - begin


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The narrowest pair of order statistics, as many from either end, between which the median of the
    distribution lies with a probability of 95 %; of few values the least and the largest."""
    ordered, n = sorted(values), len(values)
    outside, taken = 2 * _below(n, 0), 0
    while 2 * (taken + 1) < n and outside + 2 * _below(n, taken + 1) <= 1 - _CONFIDENCE:
        taken += 1
        outside += 2 * _below(n, taken)
    return ordered[taken], ordered[n - 1 - taken]


def _below(n: int, k: int) -> float:
    """The probability that exactly k of n values are below the median."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "method", "run s", "traversals", "account", "of CPU", "pairs", "median", "95 %",
              "blocks", "median", "95 %", "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    low, high = row["interval"]
    least, most = row["bfs_interval"]
    return [row["graph"], row["method"], f"{row['seconds']:.2f}", f"{row['traversals']:,}",
            f"{100 * row['share']:.2f} %", f"{100 * row['cpu_share']:.2f} %", str(len(row["ratios"])),
            f"{row['median']:.3f}", f"{low:.3f} to {high:.3f}",
            str(len(row["blocks"])), f"{row['bfs_median']:.4f}", f"{least:.4f} to {most:.4f}",
            f"{row['foreign_cores']:.2f}"]
