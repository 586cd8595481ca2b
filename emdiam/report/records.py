"""The runs of a report: the end of each, its result and its events.

The fields of a result show which command printed it, and whether it is a complete answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# The end of a run. "answered": with a complete answer; "stopped": with an interval; "failed": without a result;
# "open": not run (yet).
ANSWERED, STOPPED, FAILED, OPEN = "answered", "stopped", "failed", "open"


def number(value: Any) -> float | None:
    """The value, or None if it is not a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class TraversalRecord:
    """A finished traversal. number : its position in the run, from 1. at : its end, in seconds of the run. seconds :
    its duration. bytes_read, levels : of this traversal; None if unknown."""

    number: int
    at: float
    kind: str = "bfs"
    seconds: float | None = None
    bytes_read: int | None = None
    levels: int | None = None


@dataclass(frozen=True)
class Bound:
    """The proved interval at a moment: `at` seconds into the run, `search` seconds into its search (without start-up),
    after `traversals` traversals."""

    at: float
    search: float
    traversals: int | None
    lower: float | None
    upper: float | None


# Phases before the search: imports, loading of the graph, start of workers. KERNELS, the time in which kernels are
# compiled or loaded, is subtracted from every phase.
START, KERNELS = "start", "kernels"
STARTUP = (START, "load", "workers", KERNELS)


@dataclass
class Spell:
    """The total of a phase of the run, or of one of STARTUP. bytes_read : None if unknown."""

    phase: str
    seconds: float = 0.0
    bytes_read: int | None = None


@dataclass
class Track:
    """The content of a run's events. command, arguments : of the command line, by option name. bounds : changes, in
    order of time. profiles : (label, [(level, vertices), ...]) of some traversals. spells : phases by their start.
    seconds : until the last event. search : seconds without start-up. n_events : number of events read. n_skipped :
    number of invalid lines, such as one cut off when the machine stopped."""

    command: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    traversals: list[TraversalRecord] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    profiles: list[tuple[str, list[tuple[int, int]]]] = field(default_factory=list)
    spells: list[Spell] = field(default_factory=list)
    seconds: float = 0.0
    search: float = 0.0
    n_events: int = 0
    n_skipped: int = 0


@dataclass
class Run:
    """One run. name : of the job, or of the file. graph : its input. sentence : why it has no answer, or only an
    interval. result : output of the command with --json. family : "exact", "approx", or the name of another command
    ("convert", "tradeoff", ...). began, ended : ISO 8601, if known."""

    name: str
    status: str
    family: str = ""
    method: str = ""
    graph: str = ""
    command: str = ""
    exit_code: int | None = None
    sentence: str | None = None
    seconds: float | None = None
    peak_rss_bytes: int | None = None
    result: dict[str, Any] | None = None
    track: Track | None = None
    began: str = ""
    ended: str = ""

    def value(self, *path: str) -> Any:
        """The value of the result under nested keys; None if missing."""
        at: Any = self.result
        for key in path:
            at = at.get(key) if isinstance(at, dict) else None
        return at

    def number(self, *path: str) -> float | None:
        """The value of the result under nested keys, or None if it is not a number."""
        return number(self.value(*path))

    @property
    def peak(self) -> float | None:
        """Measured peak of resident memory, bytes."""
        return self.number("peak_rss_bytes") or self.peak_rss_bytes

    @property
    def wall(self) -> float | None:
        """Wall seconds of the run, from its result, or else of its process."""
        seconds = self.number("seconds", "total")
        return self.seconds if seconds is None else seconds

    @property
    def startup(self) -> float | None:
        """Seconds of the run before its search: loading of the graph, compilation of kernels. From its result, else
        from its events, which also include imports, like the time of a job without a result."""
        said, load, compiling, total = (
            self.number("seconds", name) for name in ("startup", "load", "compile", "total"))
        if said is not None:
            return said
        if load is not None and compiling is not None and total is not None:
            return min(load + compiling, total)  # result of an earlier version
        if self.track is None or self.wall is None or self.family == "tradeoff":  # each of its cells has a start-up
            return None
        return min(self.wall, sum(spell.seconds for spell in self.track.spells if spell.phase in STARTUP and not (
            spell.phase == START and total is not None)))

    @property
    def search(self) -> float | None:
        """Wall seconds of the run without its start-up; None if unknown."""
        return None if self.wall is None or self.startup is None else max(self.wall - self.startup, 0.0)

    @property
    def traversals(self) -> float | None:
        """The number of BFS and multi-source BFS of an exact run or approximation."""
        bfs = self.number("traversals", "bfs")
        return None if bfs is None else bfs + (self.number("traversals", "multi_source") or 0)


@dataclass
class Report:
    """source : the sources as named by the user. runs : in their order. notes : sentences on omissions. at, host : time
    and machine of the report."""

    source: str
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    at: str = ""
    host: str = ""

    def count(self, status: str) -> int:
        """The number of runs with this status."""
        return sum(run.status == status for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON."""
        return asdict(self)


# Commands with fields that identify their results: no result of a later command in the table has all of them.
_FIELDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("tradeoff", frozenset({"rows"})), ("verify", frozenset({"verified"})),
    ("generate", frozenset({"record", "description"})), ("convert", frozenset({"record", "pairs_read"})),
    ("apply", frozenset({"record", "new_vertices"})), ("reorder", frozenset({"record", "sort"})),
    ("ecc", frozenset({"lower", "radius"})),
    ("approx", frozenset({"lower", "estimate"})), ("distances", frozenset({"pairs", "samples", "complete"})),
    ("sssp", frozenset({"reached", "farthest"})), ("apsp", frozenset({"tile_edge"})),
    ("exact", frozenset({"lower", "traversals"})),
)
COMMANDS = tuple(name for name, _ in reversed(_FIELDS))
# Commands that answer with a diameter, or bounds on it.
BOUNDED = ("exact", "approx", "ecc")


def kind_of(result: Mapping[str, Any]) -> str:
    """The command that printed a result; "" if unknown."""
    return next((name for name, fields in _FIELDS if fields <= result.keys()), "")


def outcome(kind: str, result: Mapping[str, Any]) -> tuple[str, str | None]:
    """The status of a command from its result, and a sentence on a missing answer."""
    if kind == "tradeoff":
        rows = result["rows"]
        ended = len(rows) == result.get("n_cells", len(rows)) and all(row.get("status") == "ended" for row in rows)
        return (ANSWERED, None) if ended else (STOPPED, "some cells failed, were stopped or have not been run")
    if kind == "verify" and result["verified"] is not True:
        return FAILED, f"not proved: {result.get('reason')}"
    if kind == "distances" and result["complete"] is False:
        return STOPPED, "stopped before all sources were counted"
    if kind not in BOUNDED:
        return ANSWERED, None
    details = result.get("details")
    answered = (result.get("exact") is True or result.get("estimate") is not None
                or (isinstance(details, dict) and details.get("enough") is not None))
    what = "all that was asked for" if kind == "ecc" else "the diameter"
    return (ANSWERED, None) if answered else (STOPPED, f"stopped before {what} was proved")
