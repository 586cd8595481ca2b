"""Runs over a journal that stop at a planted place, on an engine that is opened once."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from emdiam.checkpoint.folder import Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.journal.engine import JournalEngine
from emdiam.journal.journal import Journal
from emdiam.journal.run import run_facts
from emdiam.journal.vertex_state import RamState
from emdiam.runs.registry import METHODS, method_options
from emdiam.traverse.bfs import Learned

# name -> method, options, chosen so that every verb is used by some.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in ("pivots", "fdiam", "bounding", "ifub", "graph-diameter", "sweep-k")},
    "eccentricities": ("eccentricities", {}),
    "korf": ("korf", {"batch": 4}), "apsp": ("apsp", {"batch": 16}), "pivots-single": ("pivots", {"batches": False}),
    "clusters": ("clusters", {"masters": "10%"}), "clusters-auto": ("clusters", {}),
    "clusters-euler": ("clusters", {"masters": "5%", "euler": True}),
    "clusters-levels": ("clusters", {"masters": "40%", "levels": 2}),
    "sweep": ("sweep", {"iterations": 2}), "spanning": ("spanning", {}), "fringe": ("fringe", {}),
}
_MEASURED = ("seconds", "bytes_read", "peak_rss_bytes", "proof")
_MEASURED_DETAILS = ("stage_seconds", "counters", "expected_seconds", "scratch_bytes_written")


class Planted(Exception):
    """The planted end of a run."""


class CountingJournal(Journal):
    """A journal that ends the run before, or after, its record number `stop` of this run is written."""

    def __init__(self, folder: Folder, stop: int | None = None, before: bool = True) -> None:
        super().__init__(folder)
        self.stop, self.before, self.written = stop, before, 0

    def finish(self, writer: Any, head: dict[str, Any]) -> None:
        self.written += 1
        if self.written == self.stop and self.before:
            raise Planted
        super().finish(writer, head)
        if self.written == self.stop:
            raise Planted


class CountingFolder(Folder):
    """A folder that ends the run after its state number `stop` was saved."""

    stop: int | None = None
    n_saved = 0

    def save(self, *arguments: Any) -> int:
        number = super().save(*arguments)
        self.n_saved += 1
        if self.n_saved == self.stop:
            raise Planted
        return number


def comparable(result: Any, in_ram: bool = True) -> dict[str, Any]:
    """All of a result that is the same in every run."""
    found = {name: value for name, value in asdict(result).items() if name not in _MEASURED}
    if result.method == "clusters":  # labels that threads lower while others read them: arcs looked at again vary
        for name in ("edges_scanned", "levels"):
            del found[name]
        found["details"].pop("passes", None)
    elif not in_ram:  # how a level is done depends on the blocks at hand, of which a new process has none
        del found["edges_scanned"]
    found["details"] = {name: value for name, value in found["details"].items() if name not in _MEASURED_DETAILS}
    return found


class Kept:
    """A folder of a checkpoint, and runs of one method on `engine` over it.

    journal, damage, engine : those of the last run."""

    def __init__(self, engine: Any, path: Path, run: str, every: float = 1e9) -> None:
        self._bare, self._path, self._every = engine, path, every
        self._method, self._switches = RUNS[run]

    def plain(self) -> dict[str, Any]:
        """The result without a checkpoint."""
        self._bare.reporter.use_clock(time.perf_counter)
        return self._on(self._bare)

    def run(self, stop: int | None = None, before: bool = True, half: int | None = None) -> dict[str, Any]:
        """The result over the journal; Planted where it is told to stop."""
        self._bare.learned = Learned()  # as in a new process
        every = self._every if half is not None else 1e9
        folder = CountingFolder(self._path, options=CheckpointOptions(every=every, resume=True))
        folder.stop = half
        try:
            self.journal, self.damage = CountingJournal(folder, stop, before), folder.damage
            self.engine = JournalEngine(self._bare, RamState(self._bare), self.journal, folder, run_facts(self._bare))
            try:
                return self._on(self.engine)
            finally:
                self.journal.close()
        finally:
            folder.close()

    def _on(self, engine: Any) -> dict[str, Any]:
        options = method_options(self._method, self._switches)
        return comparable(METHODS[self._method].definition().solve(engine, options), self._bare.facts.in_ram)
