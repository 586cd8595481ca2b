"""What a report is about: runs, each with how it ended, its result and what its events say.

Which command printed a result, and whether it has answered what was asked: by the fields of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# How a run ended. "answered": with all that was asked; "stopped": with an interval; "failed": without a
# result; "open": not run (yet).
ANSWERED, STOPPED, FAILED, OPEN = "answered", "stopped", "failed", "open"


def number(value: Any) -> float | None:
    """The value, if it is a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class TraversalRecord:
    """One finished traversal. number : its place among those of the run, from 1. at, seconds : when it
    ended, of the run, and how long it took. bytes_read, levels : of it alone; None where not known."""

    number: int
    at: float
    kind: str = "bfs"
    seconds: float | None = None
    bytes_read: int | None = None
    levels: int | None = None


@dataclass(frozen=True)
class Bound:
    """The proved interval at a moment: `at` seconds into the run, `search` seconds into its search (start-up left out),
    after `traversals` of them."""

    at: float
    search: float
    traversals: int | None
    lower: float | None
    upper: float | None


# Phases in which a run does not search yet: its modules are imported, the graph is loaded, workers come up. KERNELS is
# taken out of every phase: the time in which kernels are compiled, or loaded.
START, KERNELS = "start", "kernels"
STARTUP = (START, "load", "workers", KERNELS)


@dataclass
class Spell:
    """One phase of the run, all its spells together, or one of STARTUP. bytes_read : None where not known."""

    phase: str
    seconds: float = 0.0
    bytes_read: int | None = None


@dataclass
class Track:
    """What the events of a run say. command, arguments : what was asked, by names of options. bounds : in order of
    time, changes only. profiles : (label, [(level, vertices), ...]) of some traversals. spells : phases in the order
    in which they began. seconds : at the last event; search : of them, without start-up. n_events : read;
    n_skipped : lines that were no events, such as one that was cut off when the machine stopped."""

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
    """One run. name : of the job, or of the file. graph : what it ran on. sentence : why it has no answer, or
    only an interval. result : what the command printed with --json. family : "exact", "approx", or what
    else the job was ("convert", "tradeoff", ...). began, ended : ISO 8601, where that is known."""

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
        """What the result says under these keys, one inside the other; None where it says nothing."""
        at: Any = self.result
        for key in path:
            at = at.get(key) if isinstance(at, dict) else None
        return at

    def number(self, *path: str) -> float | None:
        """The same, if it is a number."""
        return number(self.value(*path))

    @property
    def peak(self) -> float | None:
        """Measured peak of resident memory, bytes."""
        return self.number("peak_rss_bytes") or self.peak_rss_bytes

    @property
    def wall(self) -> float | None:
        """Wall seconds of the run, as its result says, or else its process."""
        seconds = self.number("seconds", "total")
        return self.seconds if seconds is None else seconds

    @property
    def startup(self) -> float | None:
        """Seconds of the run that were no search: it was loaded, kernels were compiled. As its result says, else its
        events, which have imports too; so has the time of a job whose result has none."""
        said, load, compiling, total = (
            self.number("seconds", name) for name in ("startup", "load", "compile", "total"))
        if said is not None:
            return said
        if load is not None and compiling is not None and total is not None:
            return min(load + compiling, total)  # of earlier versions
        if self.track is None or self.wall is None or self.family == "tradeoff":  # each of its cells has one
            return None
        return min(self.wall, sum(spell.seconds for spell in self.track.spells if spell.phase in STARTUP and not (
            spell.phase == START and total is not None)))

    @property
    def search(self) -> float | None:
        """Wall seconds of the run without its start-up; None where that is not known."""
        return None if self.wall is None or self.startup is None else max(self.wall - self.startup, 0.0)

    @property
    def traversals(self) -> float | None:
        """BFS and multi-source BFS that an exact run or approximation took."""
        bfs = self.number("traversals", "bfs")
        return None if bfs is None else bfs + (self.number("traversals", "multi_source") or 0)


@dataclass
class Report:
    """source : what was read, as given. runs : in the order of the source. notes : sentences on what was left out.
    at, host : when and on which machine the report was made."""

    source: str
    runs: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    at: str = ""
    host: str = ""

    def count(self, status: str) -> int:
        """How many runs ended so."""
        return sum(run.status == status for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON."""
        return asdict(self)


# Commands by fields that no result of a command behind them has together.
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
# Of which the answer is a diameter, or bounds on it.
BOUNDED = ("exact", "approx", "ecc")


def kind_of(result: Mapping[str, Any]) -> str:
    """The command that printed a result; "" for what none of them prints."""
    return next((name for name, fields in _FIELDS if fields <= result.keys()), "")


def outcome(kind: str, result: Mapping[str, Any]) -> tuple[str, str | None]:
    """How a command has ended by its result, and a sentence on what has no answer."""
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
