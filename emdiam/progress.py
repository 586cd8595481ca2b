"""Progress events: what a long operation tells its listener.

A long function takes `progress: Listener | None` and calls it with an Event now and then (a few
times a second at most, and once when a phase starts and ends). The library never prints: the
command line turns events into bars on a terminal and heartbeat lines in a log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One sign of life.

    phase : short name of the phase, e.g. "read", "merge", "bfs", "winnow".
    done, total : progress in `unit`s; total is None when nobody can know it.
    unit : "B", "edges", "arcs", "blocks", "vertices", ...
    facts : further figures to show, e.g. {"lower": 12, "upper": 24, "active": 1031}.
    finished : True in the last event of a phase.
    """

    phase: str
    done: int | None = None
    total: int | None = None
    unit: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    finished: bool = False


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """The listener that drops every event."""
