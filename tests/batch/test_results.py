"""What a batch keeps on disk: results, state, lock; and how the end of a process becomes a record."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emdiam.batch.attempt import (
    NAME,
    AttemptRecord,
    JobFolder,
    JobState,
    Results,
    end_leftovers,
    job_environment,
    outcome,
    processes_of,
    read_log,
    read_record,
    read_results,
)
from emdiam.batch.prepare import Batch, answer_text, summary_text
from emdiam.batch.settings import Job
from emdiam.errors import InputError
from tests.helpers.waiting import PATIENCE, wait_until

ONE = AttemptRecord("a", "1", "done", result={"x": [1, 2]})
TWO = AttemptRecord("b", "2", "failed", sentence="it was\nBlüte")


def results_file(folder: Path) -> bytes:
    """The bytes of a file with two records."""
    results = Results(folder)
    results.append(ONE)
    results.append(TWO)
    results.close()
    return (folder / NAME).read_bytes()


def test_records_come_back(tmp_path: Path):
    data = results_file(tmp_path)
    assert data.count(b"\n") == 2
    assert read_results(tmp_path / NAME) == ({"a": ONE, "b": TWO}, len(data), len(data))
    assert read_results(tmp_path / "none") == ({}, 0, 0)
    assert [read_record(line) for line in data.splitlines()] == [ONE, TWO]


def test_a_write_that_takes_a_part_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    results_file(tmp_path)
    assert read_results(tmp_path / NAME)[0] == {"a": ONE, "b": TWO}


def test_a_line_torn_anywhere_is_cut_off(tmp_path: Path):
    data = results_file(tmp_path)
    first = data.index(b"\n") + 1
    for size in [*range(first + 1, len(data) - 1, 9), len(data) - 1]:
        (tmp_path / NAME).write_bytes(data[:size])
        results = Results(tmp_path)
        assert results.records == {"a": ONE}
        assert f"({size - first:,} bytes) and has been cut off" in str(results.notice)
        results.append(TWO)
        results.close()
        assert (tmp_path / NAME).read_bytes() == data


@pytest.mark.parametrize("tail", [b"\0" * 40 + b"\n", b'{"job": "b"}\n', b"[1]\n", b"\n"])
def test_a_last_line_that_is_no_record_is_cut_off(tmp_path: Path, tail: bytes):
    data = results_file(tmp_path)
    (tmp_path / NAME).write_bytes(data + tail)
    results = Results(tmp_path)
    results.close()
    assert results.notice is not None and (tmp_path / NAME).read_bytes() == data


def test_a_bad_line_in_the_middle_is_refused(tmp_path: Path):
    data = results_file(tmp_path)
    (tmp_path / NAME).write_bytes(b"nonsense\n" + data)
    with pytest.raises(InputError, match="line 1: this is not a result of a batch.*; delete the line"):
        Results(tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"nonsense\n" + data


def test_the_last_line_of_a_job_counts(tmp_path: Path):
    results = Results(tmp_path)
    for status in ("failed", "stopped", "done"):
        results.append(AttemptRecord("a", "1", status))
    results.close()
    assert read_results(tmp_path / NAME)[0] == {"a": AttemptRecord("a", "1", "done")}


def test_a_full_disk_leaves_whole_lines(tmp_path: Path):
    """In a process with a limit on the size of files."""
    code = """
import signal, sys
from pathlib import Path
from emdiam.batch.attempt import AttemptRecord, Results
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
results = Results(Path(sys.argv[1]))
for number in range(100):
    results.append(AttemptRecord(f"j{number}", "1", "done"))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    assert "OSError" in done.stderr
    data = (tmp_path / NAME).read_bytes()
    assert 4000 < len(data) <= 5000 and data.endswith(b"\n")
    assert len(read_results(tmp_path / NAME)[0]) == data.count(b"\n")


@pytest.mark.parametrize("record, digest, limits, retry, counts", [
    (AttemptRecord("a", "1", "done"), "1", (None, None), False, True),
    (AttemptRecord("a", "1", "done"), "1", (5, 6.0), True, True),
    (AttemptRecord("a", "1", "done"), "2", (None, None), False, False),
    (AttemptRecord("a", "1", "failed"), "1", (None, None), False, True),
    (AttemptRecord("a", "1", "failed"), "1", (None, None), True, False),
    (AttemptRecord("a", "1", "failed", memory=4), "1", (5, None), False, False),
    (AttemptRecord("a", "1", "stopped", stopped_by="time limit", time_limit=1.0), "1", (None, 1.0), False, True),
    (AttemptRecord("a", "1", "stopped", stopped_by="time limit", time_limit=1.0), "1", (None, 2.0), False, False),
    (AttemptRecord("a", "1", "stopped", stopped_by="user"), "1", (None, None), False, False),
    (AttemptRecord("a", "1", "skipped"), "1", (None, None), False, False),
])
def test_which_records_count(record: AttemptRecord, digest: str, limits, retry: bool, counts: bool):
    assert record.counts(digest, limits, retry) is counts


def test_digests_are_of_what_is_computed():
    job = Job("a", "exact", ("exact", "s"), memory=1, time_limit=2.0, line=3)
    same = Job("b", "exact", ("exact", "s"), memory=9)
    digest = job.digest({"f": [1, 2]}, {"g": "x"})
    assert same.digest({"f": [1, 2]}, {"g": "x"}) == digest
    assert len({digest, job.digest({"f": [1, 3]}, {"g": "x"}), job.digest({"f": [1, 2]}, {"g": "y"}),
                Job("a", "exact", ("exact", "t")).digest({"f": [1, 2]}, {"g": "x"})}) == 4


def test_the_state_comes_back(tmp_path: Path):
    there = tmp_path / "there"
    there.mkdir()
    JobState(tmp_path).begin("a", "1", 3, (str(there), str(tmp_path / "new"), "s3://x/y"))
    again = JobState(tmp_path)
    assert (again.under_way, again.owned) == ({"a": ("1", 3)}, {str(tmp_path / "new")})
    again.end("a")
    assert JobState(tmp_path).under_way == {} and JobState(tmp_path).owned == {str(tmp_path / "new")}
    (tmp_path / "state.json").write_text('{"format": 2}')
    with pytest.raises(InputError, match="not the state of a batch"):
        JobState(tmp_path)


def test_the_folder_of_a_job(tmp_path: Path):
    folder = JobFolder(tmp_path / "a")
    folder.make(empty=True)
    assert not folder.has_checkpoint()
    folder.checkpoint.mkdir()
    assert not folder.has_checkpoint()
    (folder.checkpoint / "x").write_text("x")
    assert folder.has_checkpoint()
    folder.forget()
    folder.forget()
    assert list(folder.path.iterdir()) == []
    folder.log.write_text("x")
    folder.make(empty=False)
    assert folder.log.exists()
    folder.make(empty=True)
    assert not folder.log.exists()


def test_leftovers_are_found_and_ended(tmp_path: Path):
    """One that listens to nobody, with a helper of its own that has been forgotten."""
    code = ("import signal, subprocess, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "subprocess.Popen(['sleep', '3600'])\nprint(flush=True)\ntime.sleep(3600)")
    other = subprocess.Popen(["sleep", "3600"], env=job_environment(tmp_path / "other"))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=job_environment(tmp_path))
    try:
        assert process.stdout is not None and process.stdout.readline() == b"\n"
        wait_until(lambda: len(processes_of(tmp_path)) >= 2)  # the helper shows its environment a moment after it began
        assert process.pid in processes_of(tmp_path)
        monkey = pytest.MonkeyPatch()
        monkey.setattr("emdiam.batch.attempt._LEAVE_SECONDS", 0.1)
        monkey.setattr("emdiam.batch.attempt._TERM_SECONDS", 0.3)
        assert end_leftovers(tmp_path) == 2
        monkey.undo()
        assert process.wait(PATIENCE) == -signal.SIGKILL
        assert processes_of(tmp_path) == [] and other.poll() is None
        assert end_leftovers(tmp_path) == 0
    finally:
        other.kill()
        other.wait()
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


ANSWER = {"lower": 3, "upper": 3}


@pytest.mark.parametrize("code, out, log, told, limit, expected", [
    (0, json.dumps(ANSWER), "", None, None, ("done", None, None, ANSWER)),
    (0, json.dumps(ANSWER), "", "time limit", 1.0, ("done", None, None, ANSWER)),
    (0, "hello", "", None, None, ("failed", None, "its answer is not JSON", None)),
    (0, "[1]", "", None, None, ("failed", None, "its answer is not JSON", None)),
    (0, "", "", None, None, ("failed", None, "left with exit code 0 and no answer", None)),
    (2, "", "read: started\nemdiam: no such\nnoise\n", None, None, ("failed", None, "no such", None)),
    (2, "", "Usage: x\nError: bad\n", None, None, ("failed", None, "bad", None)),
    (2, "", "noise\n", None, None, ("failed", None, "noise", None)),
    (3, json.dumps(ANSWER), "emdiam: early\n", None, 4.0, ("stopped", "time limit", "early", ANSWER)),
    (3, json.dumps(ANSWER), "emdiam: early\n", None, None, ("stopped", None, "early", ANSWER)),
    (3, "", "", "user", None, ("stopped", "user", "stopped with the batch", None)),
    (2, "", "emdiam: stopped\n", "time limit", 5.0,
     ("stopped", "time limit", "stopped at its time limit of 5 s", None)),
    (-9, "", "", "time limit", 5.0,
     ("stopped", "time limit", "stopped at its time limit of 5 s, and had to be killed", None)),
    (-9, "", "", None, None, ("failed", None, "ended by SIGKILL, perhaps for want of memory", None)),
    (-11, "", "", None, None, ("failed", None, "ended by SIGSEGV", None)),
])
def test_how_a_process_ended(code: int, out: str, log: str, told, limit, expected):
    assert outcome(code, out, log, told, limit) == expected


def test_only_the_end_of_a_log_is_read(tmp_path: Path):
    path = tmp_path / "log.txt"
    path.write_text("old\nnew\n")
    assert read_log(path, 4) == "new\n"
    path.write_text("x" * 100_000)
    assert len(read_log(path, 4)) == 64 << 10


@pytest.mark.parametrize("result, text", [
    (None, ""), ({}, ""), (ANSWER, "D = 3"),
    ({"lower": 3, "upper": 5, "estimate": 6}, "3 <= D <= 5, method's estimate 6"),
    ({"lower": 3, "upper": None}, "3 <= D"), ({"runs": [ANSWER, ANSWER]}, "D = 3; D = 3"),
    ({"lower": 4, "upper": 4, "connected": False, "n_components": 2000, "diameter_largest_component": 3},
     "D = 4 (2,000 components; largest component: 3)"),
    ({"lower": 4, "upper": 4, "connected": False, "n_components": 9, "diameter_largest_component": 3,
      "details": {"several_largest_components": True}},
     "D = 4 (9 components, several of the largest size; one of these: 3)"),
    ({"lower": 84, "upper": 84, "connected": False, "n_components": 1, "strongly_connected": False,
      "n_strong_components": 3}, "D = 84 (finite distances; 3 strong components)"),
    ({"lower": 4, "upper": 4, "connected": False, "n_components": 2, "diameter_largest_component": 4},
     "D = 4 (2 components)"),
    ({"record": {"n_vertices": 1000, "n_edges": 5}}, "1,000 vertices, 5 edges"),
    ({"verified": True, "lower": 3, "upper": 3}, "proved"), ({"verified": False}, "not proved"),
    ({"n_cells": 12, "lower": None, "upper": None}, "12 runs"), ({**ANSWER, "radius": 2}, "D = 3, radius 2"),
    ({"mean": 2.34567, "effective_diameter": 3.0, "n_vertices": 5}, "mean 2.346, effective diameter 3"),
    ({"mean": None, "n_vertices": 5, "n_edges": 0}, "5 vertices, 0 edges"),
    ({"reached": 1200, "largest_distance": 68, "target": None}, "1,200 reached, the farthest at 68"),
    ({"reached": 9, "target": 5, "distance": 7.5}, "distance 7.5"), ({"reached": 9, "target": 5}, "no path"),
    ({"largest_distance": 12, "n_vertices": 9}, "largest distance 12"), ({"methods": [1, 2]}, "2 methods"),
    ({"files": ["a.html"], "runs": {}}, "a.html"), ({"kernels": 1}, "1 kernel compiled"),
])
def test_answers_in_a_few_words(result, text: str):
    assert answer_text(result) == text


@pytest.mark.parametrize("statuses, interrupted, code", [
    (["done", "done"], False, 0), (["done", "failed"], False, 2), (["failed", "skipped"], False, 2),
    (["done", "stopped"], False, 3), (["stopped", "failed"], False, 2), (["done"], True, 3),
    (["failed"], True, 3), (["stopped", "skipped"], False, 3),
])
def test_the_exit_code_tells(statuses: list[str], interrupted: bool, code: int):
    records = [AttemptRecord(str(number), "1", status) for number, status in enumerate(statuses)]
    batch = Batch("f", "o", None, 1, len(statuses) + interrupted, records, interrupted=interrupted)
    assert batch.exit_code == code == batch.to_dict()["exit_code"]
    assert "records" not in batch.to_dict()


def test_the_table_has_a_line_for_each_and_every_sentence():
    records = [AttemptRecord("long-name", "1", "done", seconds=1234.5, peak_rss_bytes=3 << 30, attempts=1,
                             result=ANSWER),
               AttemptRecord("b", "1", "failed", sentence="it was too large", attempts=1, seconds=0.25),
               AttemptRecord("c", "1", "skipped", sentence="it needs b, which failed")]
    assert summary_text(Batch("f", "o", None, 1, 3, records)) == """\
job        status          time  peak memory  answer
long-name  done     20 min 34 s      3.0 GiB  D = 3
b          failed        0.25 s
c          skipped

b: it was too large
c: it needs b, which failed

3 jobs: 1 done, 1 failed, 1 skipped"""
