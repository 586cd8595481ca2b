"""Progress: what the listeners make of events."""

from __future__ import annotations

import io
import json
import re
import threading
from pathlib import Path

import pytest
from rich.console import Console

from emdiam.batch.jobline import JobLine
from emdiam.cli.listener import listening
from emdiam.heartbeat import Heartbeat
from emdiam.live import LiveView, NightView
from emdiam.phases import WORDS, PhaseBook, Step, steps_of
from emdiam.progress import ANSWER, LINES, OUTCOME, PEAK, SECONDS, Event, bounds_text, silent
from tests.helpers.waiting import PATIENCE


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def lines_of(events: list[tuple[float, Event]], interval: float = 10, steps: tuple[Step, ...] = ()) -> list[str]:
    """What a heartbeat writes for events at the given seconds (its thread is not started), without date and time."""
    clock, lines = Clock(), []
    beat = Heartbeat(lines.append, interval, steps, clock)
    for seconds, event in events:
        clock.now = 100 + seconds
        beat(event)
    beat.tick()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S", line) for line in lines)
    return [line.partition(" ")[2] for line in lines]


def test_a_phase_announces_its_start_and_if_it_was_long_its_end():
    events = [(0, Event("read", 0, 4 << 20, "B")), (20, Event("read", 4 << 20, 4 << 20, "B", finished=True))]
    assert lines_of(events) == [
        "reading edges", "reading edges, done in 20 s, 4.0 MiB of 4.0 MiB (100 %), 205.1 KiB/s"]
    assert lines_of(events, 30) == ["reading edges"]


def test_a_line_has_nothing_of_what_has_not_begun_and_the_diameter_where_bounds_meet():
    facts = {"traversals": 0, "bytes_read": 0, "levels": 0, "open": 0}
    lines = lines_of([(0, Event("bfs", 0, None, "arcs", facts=facts)),
                      (1, Event("verify", 35_340, None, "arcs", facts={"lower": 108, "upper": 108, "levels": 3}))])
    assert lines == ["BFS from one vertex at a time", "checking the longest path",
                     "checking the longest path, 1 s since the start, 35,340 arcs, diameter: 108, 0 vertices"
                     " that may be farther apart"]


def test_facts_say_what_they_mean_and_others_are_for_programs():
    facts = {"lower": 3, "upper": 9, "active": 1, "level": 7, "levels": 12, "traversals": 1, "bytes_read": 1 << 20,
             "verb": "bfs", "expected_seconds": 61.0}
    assert lines_of([(0, Event("bfs")), (1, Event("bfs", facts=facts))])[-1] == (
        "BFS from one vertex at a time, 1 s since the start, diameter: 3 <= D <= 9, 1 vertex with open bounds,"
        " 1 traversal, 1.0 MiB read, at distance 7, about 1 min 01 s left")
    assert lines_of([(0, Event("job-1", facts={"share": 0.25, "peak_bytes": 1 << 20}))])[-1] == (
        "job-1, 0 s since the start, share 0.25, peak bytes 1.0 MiB")


def test_steps_are_counted_and_go_forward_alone():
    phases = ["load", "bfs", "compile", "components", "load", "bfs", "verify", "bfs", "digest"]
    steps = steps_of("exact", {"certificate": "c.json"})
    texts = []
    book = PhaseBook(steps)
    for number, phase in enumerate(phases):
        book.take(Event(phase), float(number))
        texts.append(book.title().partition(":")[0])
    assert texts == [f"step {k} of 4" for k in (1, 2, 2, 2, 2, 2, 3, 3, 4)]
    lines = lines_of([(number, Event(phase)) for number, phase in enumerate(phases)], steps=steps)
    assert lines[:4] == ["step 1 of 4: opening the graph", "step 2 of 4: BFS from one vertex at a time",
                         "step 3 of 4: checking the longest path", "step 4 of 4: writing the certificate"]


@pytest.mark.parametrize(("command", "options", "of_file", "number"), [
    ("exact", {}, False, 3), ("exact", {}, True, 7), ("convert", {}, False, 4), ("convert", {"order": "bfs"}, False, 9),
    ("approx", {}, False, 7), ("approx", {"method": "sweep"}, False, 3), ("approx", {"weighted": True}, False, 3),
    ("distances", {"out": "d.csv"}, False, 4), ("info", {}, True, 0), ("batch", {}, False, 0)])
def test_steps_of_commands(command: str, options: dict[str, object], of_file: bool, number: int):
    assert len(steps_of(command, options, of_file)) == number


@pytest.mark.parametrize("line", [
    "convert edges.txt g.zarr", "exact g.zarr --certificate c.json", "ecc g.zarr", "approx g.zarr",
    "verify c.json g.zarr", "approx g.zarr --method sweep", "distances g.zarr --out d.csv", "sssp g.zarr --source 1",
    "apsp g.zarr --out m.zarr", "reorder g.zarr r.zarr --order bfs", "exact edges.txt"])
def test_every_phase_of_a_command_has_words_and_a_step(command, tmp_path: Path, line: str):
    """All steps come, in their order, and no phase is said by its name for programs."""
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n3 4\n4 5\n5 1\n5 6\n")
    if not line.startswith("convert"):
        command("convert", "edges.txt", "g.zarr", "-q")
    if line.startswith("verify"):
        command("exact", "g.zarr", "--certificate", "c.json", "-q")
    done = command(*line.split(), "--events", "run.jsonl")
    assert done.returncode == 0, done.stderr
    found = [re.search(r"Z step (\d+) of (\d+): ", one) for one in done.stderr.splitlines() if "Z step" in one]
    numbers = [int(one[1]) for one in found if one is not None]
    assert numbers == list(range(1, int(found[0][2]) + 1)), done.stderr
    events = [json.loads(one) for one in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert {one["phase"] for one in events if one["record"] == "progress"} <= WORDS.keys()


def test_a_rate_has_three_digits():
    lines = lines_of([(0, Event("bfs", 0, None, "arcs")), (1, Event("bfs", 234_794_817, None, "arcs"))])
    assert lines[-1] == "BFS from one vertex at a time, 1 s since the start, 234,794,817 arcs, 235,000,000 arcs/s"


def test_a_heartbeat_has_rate_time_left_and_bounds():
    lines = lines_of([
        (0, Event("bfs", 0, 1000, "blocks")),
        (10, Event("bfs", 250, 1000, "blocks", facts={"lower": 12, "upper": 24, "active": 1031})),
    ])
    assert lines[-1] == ("BFS from one vertex at a time, 10 s since the start, 250 of 1,000 blocks (25 %), 25 blocks/s,"
                         " 30 s left, diameter: 12 <= D <= 24, 1,031 vertices with open bounds")


def test_a_checkpoint_that_a_run_goes_on_from_is_a_line():
    facts = {"folder": "ck", "resumed": 18, "resumed_inside": False, "bytes": 3457561, "damaged": None}
    event = Event("resume", 18, 18, "traversals", facts, True)
    damaged = Event("resume", 1, 1, "traversals", {**facts, "damaged": "state-2 is damaged"}, True)
    assert lines_of([(0, event), (0, damaged)]) == [
        "resumed 18 traversals from ck", "resumed 1 traversal from ck; state-2 is damaged"]
    out = io.StringIO()
    with LiveView(Console(file=out)) as view:
        view(event)
    assert "resumed 18 traversals from ck\n" in out.getvalue()


def test_an_unknown_total_gives_no_time_left():
    lines = lines_of([(0, Event("read", 0, None, "edges")), (10, Event("read", 50, None, "edges"))])
    assert lines[-1] == "reading edges, 10 s since the start, 50 edges, 5 edges/s"


def test_a_phase_that_comes_again_speaks_only_if_it_was_long():
    short = [(t, Event("bfs", finished=done)) for t, done in ((0, False), (1, True), (2, False), (3, True))]
    assert lines_of(short) == ["BFS from one vertex at a time"]
    long = [*short, (4, Event("bfs")), (30, Event("bfs", finished=True))]
    assert lines_of(long)[-1] == "BFS from one vertex at a time, done in 26 s"


def test_bounds_outlive_their_phase_and_other_facts_do_not():
    book = PhaseBook()
    book.take(Event("bfs", facts={"lower": 3, "level": 7}, finished=True), 0.0)
    book.take(Event("winnow"), 1.0)
    assert book.facts_text() == "diameter: 3 <= D"


def test_a_restarted_phase_counts_from_its_own_start():
    book = PhaseBook()
    book.take(Event("bfs", 900, finished=True), 0.0)
    book.take(Event("bfs", 100), 50.0)
    assert book.take(Event("bfs", 300), 60.0).rate(60.0) == 20.0


def test_a_new_phase_ends_the_one_before():
    lines = lines_of([(0, Event("sweep")), (1, Event("bfs")), (8, Event("bfs", 7, None, "levels"))])
    assert lines == ["sweep", "BFS from one vertex at a time",
                     "BFS from one vertex at a time, 8 s since the start, 7 levels, 1 levels/s"]
    assert lines_of([(0, Event("sweep")), (1, Event("bfs")), (2, Event("bfs", finished=True))], 1)[-1] \
        == "BFS from one vertex at a time, done in 1 s"


def test_a_phase_that_has_others_as_its_parts_counts_from_its_own_start() -> None:
    order = [(0, Event("order")), (1, Event("condense")), (9, Event("order", finished=True))]
    assert lines_of(order, 9)[-1] == "ordering vertices, done in 9 s"
    again = [*order, (20, Event("order")), (22, Event("condense")), (40, Event("order", finished=True))]
    assert lines_of(again)[-1] == "ordering vertices, done in 20 s"


def test_bounds_text():
    assert bounds_text(3, None) == "3 <= D"
    assert bounds_text(None, 9) == "D <= 9"
    assert bounds_text(1000, 2000) == "1,000 <= D <= 2,000"
    assert bounds_text(None, None) == ""


def test_sizes_are_written_as_sizes():
    book = PhaseBook()
    book.take(Event("bfs", facts={"bytes_read": 1 << 30, "share": 0.12345}), 0.0)
    assert book.facts_text() == "1.0 GiB read"
    book.take(Event("job", facts={"share": 0.12345}), 0.0)
    assert book.facts_text() == "1.0 GiB read, share 0.123"


def test_the_heart_beats_without_events():
    """The thread writes even while the library is inside one long call."""
    beaten = threading.Event()
    lines: list[str] = []

    def write(line: str) -> None:
        lines.append(line)
        if len(lines) >= 3:
            beaten.set()

    with Heartbeat(write, 0.01) as beat:
        beat(Event("kernel"))
        assert beaten.wait(PATIENCE)
    assert lines[0].endswith("Z kernel") and lines[1].endswith(" s since the start")


@pytest.mark.parametrize("width", [80, 120])
def test_jobs_of_a_batch_are_a_table_above_which_those_that_have_ended_scroll_away(width: int):
    screen = io.StringIO()
    lines = [JobLine("wing-exact", "running", "92 <= D <= 100, bfs", 12.3, 5 << 20),
             *(JobLine(f"job-{i}", "waiting", "for wing") for i in range(20))]
    with NightView(Console(file=screen, force_terminal=True, width=width)) as view:
        view(Event("jobs", 1, 22, "jobs", {LINES: lines}, kind="jobs"))
        table = shown(view, width)
        assert re.search(r"^wing-exact +running +92 <= D <= 100, bfs +12 s +5.0 MiB$", table, re.MULTILINE)
        assert "job-8 " in table and "job-9 " not in table and "and 11 more" in table
        assert "1 of 22 jobs have ended" in table
        long = JobLine("wing-exact", "running", "92 <= D <= 100, BFS from one vertex at a time", 12.3, 5 << 20)
        view(Event("jobs", 1, 22, "jobs", {LINES: [long]}, kind="jobs"))
        assert "…" not in shown(view, width) and "at a time" in " ".join(shown(view, width).split())
        view(Event("wing-exact (2 of 22 jobs)", facts={OUTCOME: "failed", SECONDS: 20.0, PEAK: None,
                                                       ANSWER: "a sentence of many words " * 5}, finished=True))
        assert "wing-exact" not in shown(view, width)
    ended = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert re.search(r"wing-exact +failed +a sentence", ended) and 1 <= ended.count("sentence") <= 3 and " ..." in ended
    assert "2 of 22 jobs have ended" in ended and not re.search("wing-exact +running", ended.split("2 of 22")[-1])
    assert all(len(line.strip("\r")) <= width for line in ended.splitlines())


def shown(view: NightView | LiveView, width: int) -> str:
    """The view as it is now."""
    screen = io.StringIO()
    Console(file=screen, width=width).print(view.render())
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())


def test_the_live_view_shows_phases_and_bounds():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with LiveView(console) as view:
        view(Event("read", 1 << 20, 4 << 20, "B"))
        reading = Console(file=io.StringIO(), width=120)
        reading.print(view.render())
        assert "1.0 MiB of 4.0 MiB (25 %)" in reading.file.getvalue()
        view(Event("bfs", 7, None, "levels", facts={"lower": 12, "upper": 24}))
        shown = Console(file=io.StringIO(), width=120)
        shown.print(view.render())
    text = shown.file.getvalue()
    assert "BFS from one vertex at a time" in text and "7 levels" in text
    assert "12 <= D <= 24" in text
    assert "12 <= D <= 24" in screen.getvalue()


def test_the_live_view_has_the_time_left_at_80_columns(monkeypatch: pytest.MonkeyPatch):
    """Also beside counts of nine digits, and the place in a pass beside what is done; no line is cut."""
    clock = Clock()
    monkeypatch.setattr("emdiam.live.time.monotonic", clock)
    view = LiveView(Console(file=io.StringIO()), steps_of("convert", {}))
    for clock.now in (100.0, 120.0, 140.0):
        done = round((clock.now - 100) * 2_000_000)
        view(Event("merge", done, 116_193_602, "arcs"))
    assert shown(view, 80).endswith("  80,000,000 of 116,193,602 arcs (69 %)\n2,000,000 arcs/s, 18 s left")
    for clock.now in (200.0, 210.0):
        view(Event("bfs", 7, None, "arcs", facts={"pass_done": int(clock.now) - 200, "pass_total": 90, "lower": 12}))
    text = shown(view, 80)
    assert "this pass: 10 of 90 blocks, 1 min 20 s left\n" in text and text.endswith("7 arcs\ndiameter: 12 <= D")
    assert "…" not in text


def test_lines_of_the_live_view_do_not_jump(monkeypatch: pytest.MonkeyPatch):
    """That of the rate stays while a new phase has none."""
    clock = Clock()
    monkeypatch.setattr("emdiam.live.time.monotonic", clock)
    view = LiveView(Console(file=io.StringIO()), steps_of("exact", {}))
    for clock.now, phase in ((100.0, "bfs"), (110.0, "bfs"), (111.0, "multi-source")):
        view(Event(phase, round(clock.now) * 100, None, "arcs", facts={"lower": 3, "upper": 9}))
        text = shown(view, 80).split("\n")
        assert text[-1] == "diameter: 3 <= D <= 9" and (len(text), text[2:-1]) == {
            100.0: (3, []), 110.0: (4, ["100 arcs/s"]), 111.0: (4, [""])}[clock.now]


def test_the_live_view_has_room_for_the_echo_of_a_key():
    view = LiveView(Console(file=io.StringIO(), width=80))
    facts = {"lower": 23, "upper": 42, "traversals": 124, "bytes_read": 1 << 20, "active": 521_237, "level": 9}
    for length in range(12):
        view(Event("bfs", 7, None, "arcs", facts={**facts, "traversals": 10**length}))
        assert max(map(len, shown(view, 80).split("\n")[2:])) <= 78


def test_lines_of_the_live_view_break_between_facts():
    view = LiveView(Console(file=io.StringIO(), width=80))
    view(Event("multi-source", facts={"lower": 1593, "upper": 1626, "traversals": 35, "bytes_read": 1 << 20,
                                      "active": 426_984}))
    assert shown(view, 80).split("\n")[2:] == [
        "diameter: 1,593 <= D <= 1,626, 426,984 vertices with open bounds,", "35 traversals, 1.0 MiB read"]


def test_the_live_view_stands_before_the_first_event():
    screen, shown = io.StringIO(), Console(file=io.StringIO(), width=120)
    with LiveView(Console(file=screen, force_terminal=True)) as view:
        shown.print(view.render())
    assert shown.file.getvalue() == "" and screen.getvalue().endswith("\x1b[?25h\r")  # the cursor is back


def test_quiet_is_silent(capfd: pytest.CaptureFixture[str]):
    with listening({"quiet": True, "log_interval": 0.01}) as listener:
        assert listener is silent
        listener(Event("read"))
    assert capfd.readouterr() == ("", "")


def test_progress_goes_to_standard_error(capfd: pytest.CaptureFixture[str]):
    with listening({"quiet": False, "log_interval": 10}) as listener:
        listener(Event("read", 0, None, "edges"))
    out, err = capfd.readouterr()
    assert out == "" and err.endswith("Z reading edges\n")
