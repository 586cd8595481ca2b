"""What an engine says while it works, and that nothing is made for nobody."""

from __future__ import annotations

import pytest

from emdiam.engine.reporter import Reporter
from emdiam.progress import Event
from emdiam.stream.counters import SharedCounters


@pytest.mark.parametrize("heard", [True, False])
def test_profiles_and_events_are_made_for_a_listener_only(heard: bool) -> None:
    events, profiles, counters = list[Event](), [0], SharedCounters()

    def profile() -> list[int]:
        profiles[0] += 1
        return [1, 2]

    reporter = Reporter(events.append if heard else None, counters.snapshot, counters.add, dict)
    for source in range(3):
        reporter.tick("bfs", lower=source)
        reporter.begin()
        counters.add(traversals=1, levels=2)
        reporter.end("bfs", source=source, profile=profile)
        reporter.heartbeat(force=True)
    reporter.tick("verify")
    told = [(event.facts["source"], event.facts["levels"]) for event in events if event.kind == "traversal"]
    assert told == ([(0, 2), (1, 2), (2, 2)] if heard else [])
    assert (profiles[0] > 0) == heard
