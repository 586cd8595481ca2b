"""A batch as it runs: needs, failures, limits, memory, stopping, going on. Jobs are a quick stand-in."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from emdiam.batch import Batch, BatchOptions, InvalidJobs, batch, prepare
from emdiam.batch.attempt import NAME, read_results
from emdiam.batch.jobline import doing
from emdiam.batch.settings import folder_of
from emdiam.cli.main import group
from emdiam.errors import InputError, NotWritten, StoppedEarly
from emdiam.heartbeat import Heartbeat
from emdiam.progress import LINES, Event
from emdiam.units import format_seconds
from tests.helpers.batch_night import Night, make_night, printed
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.thin(4)


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    return make_night(tmp_path, monkeypatch)


def test_jobs_run_in_an_order_that_can_be(night: Night):
    night.write("x:s", "s", "t", "y:t")
    found = night.run()
    assert (found.exit_code, night.starts()) == (0, ["s", "s", "t", "t"])
    assert [record.job for record in found.records] == ["x", "s", "t", "y"]
    assert night.statuses() == dict.fromkeys("xsty", "done")
    one = found.records[0]
    assert one.command[:3] == ["emdiam", "exact", "s"] and one.command[-1] == "--json"
    assert (one.result, one.attempts, one.exit_code) == ({"lower": 7, "upper": 7, "connected": True}, 1, 0)
    assert one.seconds > 0 and one.began is not None and one.began <= str(one.ended)
    assert json.loads((night.out / "jobs" / "x" / "answer.json").read_text()) == one.result


def test_what_has_ended_is_not_run_again(night: Night):
    night.write("s", "x:s")
    night.run()
    found = night.run()
    assert (found.exit_code, found.n_reused, night.starts()) == (0, 2, ["s", "s"])
    assert "2 of 2 jobs ended in an earlier run, 0 in this one" in found.messages[0]


def test_one_that_fails_does_not_stop_the_others(night: Night):
    night.behave(bad={"code": 2, "err": "it is too large"}, crash={"code": -11})
    night.write("bad", "crash", "s", "x:bad", "y:s", "z:crash")
    night.file.write_text(night.file.read_text() + 'needs = ["x"]\n')
    found = night.run()
    assert found.exit_code == 2
    assert night.statuses() == {"bad": "failed", "crash": "failed", "s": "done", "x": "skipped", "y": "done",
                                "z": "skipped"}
    sentences = {record.job: record.sentence for record in found.records}
    assert sentences == {"bad": "it is too large", "crash": "ended by SIGSEGV", "s": None, "y": None,
                         "x": "it needs bad, which failed", "z": "it needs x, which was skipped"}


def test_an_answer_that_cannot_be_read_ends_the_batch_in_a_sentence(night: Night, monkeypatch: pytest.MonkeyPatch):
    """Its process has ended by then, and its number may be another's."""
    read = Path.read_text

    def fails(path: Path, *arguments: Any, **options: Any) -> str:
        if path.name == "answer.json":
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", fails)
    night.write("s")
    with pytest.raises(NotWritten, match="the batch cannot go on .Too many open files"):
        night.run()


def test_failures_are_kept_until_they_are_retried(night: Night):
    night.behave(bad={"code": 2, "err": "no"})
    night.write("bad", "x:bad")
    night.run()
    size = (night.out / NAME).stat().st_size
    assert night.run().exit_code == 2 and night.starts() == ["bad"]
    assert (night.out / NAME).stat().st_size == size
    night.behave()
    found = night.run(retry=True)
    assert (found.exit_code, found.n_reused) == (0, 0)
    assert "--force" in found.records[0].command  # the failed attempt had made the store
    assert night.statuses() == {"bad": "done", "x": "done"}


def test_a_changed_job_runs_again_and_those_that_need_it(night: Night):
    night.write("s", "x:s", "t")
    night.run()
    night.file.write_text(night.file.read_text().replace("vertices = 5", "vertices = 6", 1))
    found = night.run()
    assert (found.exit_code, found.n_reused, night.starts()) == (0, 1, ["s", "s", "t", "s", "s"])
    assert [message.split(":")[0] for message in found.messages] == [
        "s", "x", "1 of 3 jobs ended in an earlier run, 2 in this one"]
    assert "has changed, so it runs again" in found.messages[0]


def test_a_lost_store_is_made_again(night: Night):
    night.write("s", "x:s")
    night.run()
    (night.folder / "s").unlink()
    assert night.run().exit_code == 0
    assert night.starts() == ["s", "s", "s"]


def test_a_store_in_the_way_is_not_replaced(night: Night):
    (night.folder / "s").write_text("precious")
    night.write("s", "t")
    with pytest.raises(InvalidJobs, match="line 1: job s: .*/s exists already"):
        night.run()
    assert not night.out.exists() and night.starts() == []
    assert night.run(keep_going=True).exit_code == 2
    assert (night.folder / "s").read_text() == "precious" and night.starts() == ["t"]


def test_an_input_that_has_changed(night: Night):
    edges = night.folder / "e.txt"
    edges.write_text("1 2\n")
    night.file.write_text('[[job]]\nname = "c"\ncommand = "convert"\ninputs = "*.txt"\nstore = "${OUT}/deep/c"\n')
    assert night.run().exit_code == 0 == night.run().exit_code
    assert night.starts() == ["c"]
    edges.write_text("1 2\n2 3\n")
    found = night.run()
    assert (found.exit_code, night.starts()) == (0, ["c", "c"])
    assert "--force" in found.records[0].command
    edges.unlink()
    with pytest.raises(InvalidJobs, match=r"there is no file .*\*.txt, and no job makes it"):
        night.run()


def test_a_job_that_exceeds_its_limit(night: Night):
    """One that hears, and one that is deaf. An hour passes as soon as each of them works."""
    night.behave(slow={"sleep": 3600}, deaf={"sleep": 3600, "deaf": True})
    night.write("slow", "deaf", "s", "x:slow", head="[batch.defaults]\ntime_limit = 1200.5\n")
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * min(len(night.starts()), 2),
                            sleep=time.sleep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("emdiam.batch.attempt.END_SECONDS", 1.0)
        patch.setattr("emdiam.batch.attempt.time", clock)
        found = night.run()
    assert found.exit_code == 3
    assert [(record.job, record.status, record.stopped_by) for record in found.records] == [
        ("slow", "stopped", "time limit"), ("deaf", "stopped", "time limit"), ("s", "done", None),
        ("x", "skipped", None)]
    assert found.records[0].result == {"lower": 1, "upper": 9}
    assert found.records[0].sentence == "stopped at its time limit of 1200.5 s"
    assert found.records[1].sentence == "stopped at its time limit of 1200.5 s, and had to be killed"
    assert night.run().n_reused == 3
    night.behave()
    night.file.write_text(night.file.read_text().replace("1200.5", "2000"))
    assert night.run().exit_code == 0


def test_exact_gets_its_own_limit(night: Night):
    night.behave(s={"code": 0})
    night.write("s", "x:s", head="[batch]\nmemory = 1000\n[batch.defaults]\ntime_limit = \"2min\"\n")
    found = night.run()
    made, solved = (record.command for record in found.records)
    assert "--time-limit=120s" in solved and not any("time-limit" in word for word in made)
    assert "--memory=1000" in made and "--memory=1000" in solved


def test_jobs_at_once_stay_within_the_memory(night: Night):
    names = list("abcdefg")
    sizes = dict(zip(names, (500, 300, 700, 100, 900, 1000, 200), strict=True))
    # The first two wait for each other; the third has to wait for them.
    night.behave(a={"wait_for": "b.generate.started"}, b={"wait_for": "a.generate.started"})
    text = '[batch]\nmemory = 1000\nparallel = 3\n'
    for name in names:
        text += (f'[[job]]\nname = "{name}"\ncommand = "generate"\nclass = "path"\nstore = "{name}"\n'
                 f'memory = {sizes[name]}\noptions = {{vertices = 5}}\n')
    night.file.write_text(text)
    found = night.run()
    assert found.exit_code == 0
    at_once, most, together = set(), 0, 0
    for line in sorted(night.lines(), key=lambda line: (line["at"], line["what"])):
        (at_once.add if line["what"] == "start" else at_once.discard)(line["store"])
        most, together = max(most, sum(sizes[name] for name in at_once)), max(together, len(at_once))
    assert most <= 1000 and 2 <= together <= 3
    cores = len(os.sched_getaffinity(0))
    assert all(f"--threads={max(1, cores // 3)}" in record.command for record in found.records)
    assert {record.memory for record in found.records} == set(sizes.values())


def commands_with_checkpoints() -> click.Group:
    """Commands whose `exact` has all that a batch can use, whatever the real one has by now."""
    @click.group()
    def made() -> None:
        """Commands."""

    @made.command("exact")
    @click.argument("store")
    @click.option("--checkpoint")
    @click.option("--resume", is_flag=True)
    @click.option("--events")
    @click.option("--memory")
    @click.option("--json", "as_json", is_flag=True)
    def exact(**given: Any) -> None:
        """Never called."""

    made.add_command(group.get_command(click.Context(group), "generate"), "generate")
    return made


def test_what_was_stopped_goes_on_from_its_checkpoint(night: Night):
    night.behave(s={"sleep": 0})
    night.write("s", "x:s")
    commands = commands_with_checkpoints()
    night.run(commands)
    last = night.lines()[-1]["words"]
    checkpoint = night.out / "jobs" / "x" / "checkpoint"
    assert f"--checkpoint={checkpoint}" in last and "--resume" not in last
    assert f"--events={night.out}/jobs/x/events.jsonl" in last
    # As a batch leaves it that was killed while x ran.
    data = (night.out / NAME).read_bytes()
    digest = read_results(night.out / NAME)[0]["x"].digest
    (night.out / NAME).write_bytes(data[:data.index(b"\n") + 1])
    state = json.loads((night.out / "state.json").read_text())
    (night.out / "state.json").write_text(json.dumps({**state, "under_way": {"x": [digest, 1]}}))
    found = night.run(commands)
    assert "--resume" in night.lines()[-1]["words"]
    assert (found.records[1].attempts, found.records[1].resumed, found.exit_code) == (2, True, 0)

    # One that refuses to go on begins anew.
    night.behave(s={"refuse_resume": True})
    (night.out / NAME).write_bytes(data[:data.index(b"\n") + 1])
    (night.out / "state.json").write_text(json.dumps({**state, "under_way": {"x": [digest, 2]}}))
    found = night.run(commands)
    assert found.messages[0] == "x: this checkpoint is of another run; it began anew, without its checkpoint"
    assert (found.records[1].attempts, found.records[1].resumed, found.records[1].status) == (4, False, "done")


def test_progress_names_the_jobs(night: Night):
    events: list[Event] = []
    night.write("s", "x:s")
    night.run(progress=events.append)
    assert [(event.phase, event.finished) for event in events if event.kind == "progress"] == [
        ("s (1 of 2 jobs)", False), ("s (1 of 2 jobs)", True), ("x (2 of 2 jobs)", False), ("x (2 of 2 jobs)", True)]


def test_jobs_that_run_at_once_end_with_their_status_and_their_seconds(night: Night):
    """Of two, the one that started first fails last; a log that measures from the event before would call it done in
    no time."""
    clock, lines = iter(range(100)), list[str]()
    night.behave(bad={"code": 2, "err": "it is too large", "wait_for": "the other"})
    night.write("bad", "s", head="[batch]\nparallel = 2\nmemory = \"4GiB\"\n")
    beat = Heartbeat(lines.append, 10, clock=lambda: float(next(clock)))

    def listen(event: Event) -> None:
        beat(event)
        beat.tick()
        if "done in" in "".join(lines):
            (night.folder / "the other").touch()

    found = night.run(progress=listen)
    seconds = {record.job: record.seconds for record in found.records}
    told = [line.partition(" ")[2] for line in lines]  # behind date and time
    assert told[0] == "bad (1 of 2 jobs)"
    assert f"bad (1 of 2 jobs), failed in {format_seconds(seconds['bad'])}, it is too large" in told
    assert f"s (2 of 2 jobs), done in {format_seconds(seconds['s'])}, D = 7" in told
    ended = next(i for i, line in enumerate(lines) if "done in" in line)
    assert re.search(r"Z bad \(1 of 2 jobs\), .* since the start", lines[ended + 1])  # what goes on is the phase again


def test_a_report_of_the_batch_comes_last_however_the_others_end(night: Night):
    night.behave(bad={"code": 2, "err": "no"})
    night.write("bad", "x:bad", "s")
    page = '[[job]]\nname = "page"\ncommand = "report"\nsources = ["${OUT}"]\n'
    night.file.write_text(page + night.file.read_text())
    assert night.run().exit_code == 2 and night.starts() == ["bad", "s", "jobs.out"]
    assert night.statuses() == {"bad": "failed", "x": "skipped", "s": "done", "page": "done"}
    (night.out / "report.html").touch()  # by the report, if it were one
    assert night.run().exit_code == 2 and night.starts() == ["bad", "s", "jobs.out"]
    night.behave()
    assert night.run(retry=True).exit_code == 0
    assert night.starts() == ["bad", "s", "jobs.out", "bad", "bad", "jobs.out"]  # again, since others ran again


def test_jobs_that_have_not_ended_are_told_now_and_then(night: Night, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules["emdiam.batch.run"], "_LOOK_SECONDS", 0)
    events: list[Event] = []
    night.write("s", "x:s", "y:s")
    night.run(progress=events.append)
    told = [(event.done, [line[:3] for line in event.facts[LINES]]) for event in events if event.kind == "jobs"]
    first = [("s", "running", ""), ("x", "waiting", "for s"), ("y", "waiting", "for s")]
    assert told[0] == (0, first) and (
        1, [("x", "running", ""), ("y", "waiting", "for a running job to end")]) in told
    assert told[-1][0] == 3 or told[-1][0] == 2


def test_records_are_handed_on_as_jobs_end(night: Night):
    night.behave(bad={"code": 2, "err": "no"})
    night.write("s", "bad", "x:bad")
    for _ in range(2):  # those of an earlier run, too
        told: list[str] = []
        batch(night.file, group, BatchOptions(), ended=lambda record: told.append(f"{record.job} {record.status}"))  # noqa: B023
        assert told == ["s done", "bad failed", "x skipped"]


@pytest.mark.parametrize(("lines", "text"), [
    ([], ""), (['{"record": "begin"}', '{"phase": "read", "facts": {}}'], "reading edges"),
    (['{"phase": "bfs", "facts": {"lower": 3, "upper": 9}}', '{"phase": "verify", "lower": 4}', '{"torn'],
     "4 <= D <= 9, checking the longest path"),
    (['{"phase": "read", "done": 3, "total": 8}'], "reading edges (38 %)"),
    (['{"phase": "read", "at": 2.0, "done": 3, "total": 80}', '{"record": "traversal", "phase": "read", "at": 2.1}',
      '{"phase": "read", "at": 4.0, "done": 8, "total": 80}'], "reading edges (10 %), 29 s left"),
    (['{"phase": "read", "done": 3, "total": 8}', '{"phase": "merge", "done": 0, "total": 8}'],
     "merging sorted edges")])
def test_what_a_job_does_is_read_from_its_events(tmp_path: Path, lines: list[str], text: str):
    assert doing(tmp_path / "none.jsonl") == ""
    (tmp_path / "events.jsonl").write_text("x" * 5000 + "\n" + "\n".join(lines))
    assert doing(tmp_path / "events.jsonl") == text


def test_a_job_that_cannot_be_started_is_a_failure(night: Night, monkeypatch: pytest.MonkeyPatch):
    """As when the folder of its store is replaced by a file after it was looked at."""
    night.file.write_text('[[job]]\nname = "s"\ncommand = "generate"\nclass = "path"\nstore = "folder/s"\n'
                          "options = {vertices = 5}\n")
    check = sys.modules["emdiam.batch.run"].check_folder
    monkeypatch.setattr("emdiam.batch.run.check_folder",
                        lambda path: (check(path), (night.folder / "folder").write_text("no folder")))
    found = night.run()
    assert found.exit_code == 2 and "it could not be started: " in str(found.records[0].sentence)


def test_nothing_starts_while_something_is_wrong(night: Night):
    night.write("s", "x:nowhere", "y:s")
    night.file.write_text(night.file.read_text() + "method = 'magic'\n")
    with pytest.raises(InvalidJobs) as caught:
        night.run()
    assert len(caught.value.problems) == 2
    assert str(caught.value).startswith("2 problems, and nothing was started:\n  ")
    assert "--keep-going runs" in str(caught.value)
    assert night.starts() == [] and not night.out.exists()
    found = night.run(keep_going=True)
    assert found.exit_code == 2 and night.starts() == ["s"]
    assert [record.status for record in found.records] == ["done", "failed", "failed"]
    night.file.write_text("[batch]\nparallel = 0\n" + night.file.read_text())
    with pytest.raises(InvalidJobs) as caught:
        night.run(keep_going=True)
    assert "--keep-going" not in str(caught.value)


def test_the_plan_shows_what_would_run(night: Night):
    night.write("x:s", "s")
    prepared = prepare(night.file, group, BatchOptions())
    assert ([job.name for job in prepared.jobs], dict(prepared.reusable)) == (["s", "x"], {})
    assert not night.out.exists()
    night.run()
    assert set(prepare(night.file, group, BatchOptions()).reusable) == {"s", "x"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_batch_ends_soon_and_goes_on(night: Night, number: int):
    night.behave(s={"sleep": 0}, t={"sleep": 3600})
    night.write("s", "t", "u")
    process = night.start()
    night.wait_for_starts(process, "s", "t")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3 and "the same command continues" in err
    told = printed(out)
    assert (told["interrupted"], told["counts"]["left"]) == (True, 1)
    assert [(job["job"], job["status"], job["stopped_by"]) for job in told["jobs"]] == [
        ("s", "done", None), ("t", "stopped", "user")]
    assert told["jobs"][1]["result"] == {"lower": 1, "upper": 9}
    night.behave()
    found = night.run()
    assert (found.exit_code, night.starts()) == (0, ["s", "t", "t", "u"])


def test_ctrl_c_in_the_library_gives_what_is_there(night: Night):
    night.behave(t={"sleep": 3600})
    night.write("s", "t")

    def stop(event: Event) -> None:
        if event.phase.startswith("t "):
            raise KeyboardInterrupt

    with pytest.raises(StoppedEarly) as caught:
        night.run(progress=stop)
    found = caught.value.result
    assert isinstance(found, Batch) and found.exit_code == 3
    assert [record.status for record in found.records] == ["done", "stopped"]


def test_two_batches_do_not_share_a_folder(night: Night):
    night.behave(s={"sleep": 3600})
    night.write("s")
    process = night.start()
    night.wait_for_starts(process, "s")
    with pytest.raises(InputError, match="another batch is being run in this folder now"):
        night.run()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)


def test_the_folder_is_one_under_any_form_of_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Commands of jobs have it in their digests."""
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    for out in ("../night", tmp_path / "night", "../other/../night/."):
        assert folder_of(tmp_path / "jobs.toml", {}, BatchOptions(out=Path(out))) == tmp_path / "night"
