"""The texts for people: what they say first, and what they never say."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from emdiam.cli import answer_lines
from emdiam.cli.answer_lines import seconds_line
from emdiam.cli.exact import result_text
from emdiam.cli.output import answer, by_words, complain
from emdiam.cli.plan import plan_text
from emdiam.kernel_progress import Spent


def result(**changes: Any) -> dict[str, Any]:
    """A result of a connected graph, with changes."""
    return {
        "method": "fdiam", "n_vertices": 5000, "n_edges": 7000, "connected": True, "n_components": 1,
        "diameter": 7, "diameter_largest_component": 7, "diameter_max_component": 7, "lower": 7, "upper": 7,
        "exact": True, "witness": {"source": "a b", "target": 9, "length": 7, "path": list(range(8))},
        "traversals": {"bfs": 12, "multi_source": 0, "multi_source_sources": 0, "partial": 3},
        "levels": 40, "edges_scanned": 123456, "bytes_read": 1 << 20, "memory_limit_bytes": 1 << 30,
        "planned_rss_bytes": 300 << 20, "peak_rss_bytes": 200 << 20,
        "seconds": {"total": 1.25, "compile": 0.0, "load": 0.25, "solve": 0.9, "verify": 0.1},
        "seed": None, "version": "0.1.0", "store_digest": "d" * 32, "device": "cpu",
        "details": {"interval_largest_component": [1, 60],
                    "removed": {"winnow": 0.98765, "eliminate": 0.01, "chain": 0.0, "degree_0": 0.0}},
        **changes,
    }


def test_a_connected_graph():
    text = [
        "diameter: 7 (proved)",
        "connected: yes",
        "witness: a b and 9 are 7 edges apart",
        "path: 0, 1, 2, 3, 4, 5, 6, 7",
        "traversals: 12 BFS and 3 partial for 5,000 vertices and 7,000 edges; 123,456 arcs scanned, 1.0 MiB read",
        "vertices settled without a BFS: winnow 98.77 %, eliminate 1.00 %",
        "time: 1.2 s (load 0.25 s, solve 0.9 s, verify 0.1 s)",
        "memory: peak 200.0 MiB",
    ]
    assert result_text(result()).splitlines() == text
    text[-1] += ", planned 300.0 MiB, limit 1.0 GiB"
    assert result_text(result(), verbose=True).splitlines() == text


def test_compiling_is_a_part_beside_the_others():
    seconds = {"total": 6.0, "compile": 5.0, "solve": 0.7, "verify": 0.001, "load": 0.3}
    assert "time: 6 s (load 0.3 s, solve 0.7 s, compile 5 s)" in result_text(result(seconds=seconds))


def test_a_peak_above_the_limit_is_told():
    passed = result(memory_limit_bytes=150 << 20, memory_limit_exceeded=True)
    assert result_text(passed).splitlines()[-2:] == [
        "memory: peak 200.0 MiB",
        "warning: the peak passed --memory (150.0 MiB) by 50.0 MiB: this is a fault of emdiam, please report it with"
        " the command line and the store",
    ]


def test_a_disconnected_graph_is_infinite_first():
    text = result_text(result(connected=False, n_components=1454, diameter=None, lower=2996, upper=2996,
                              diameter_largest_component=2872, diameter_max_component=2996))
    assert text.splitlines()[:3] == [
        "diameter: infinite (1,454 components)",
        "largest diameter of any component: 2,996 (proved)",
        "diameter of the largest component: 2,872 (proved)",
    ]


def test_an_interval_is_not_called_a_diameter():
    text = result_text(result(exact=False, diameter=None, lower=12, upper=24, diameter_largest_component=None,
                              diameter_max_component=None))
    assert text.splitlines()[:2] == ["diameter: 12 <= D <= 24 (proved bounds; stopped early)", "connected: yes"]


def test_an_interval_of_a_graph_whose_components_are_not_counted_yet():
    text = result_text(result(connected=None, n_components=None, exact=False, diameter=None, lower=1,
                              upper=99, witness=None))
    assert text.splitlines()[:3] == [
        "largest diameter of any component: 1 <= D <= 99 (proved bounds; stopped early)",
        "diameter of the largest component: 1 <= D <= 60 (proved bounds)", "connected: not known yet"]
    assert "witness" not in text


def test_a_long_path_shows_its_ends():
    witness = {"source": 0, "target": 99, "length": 99, "path": list(range(100))}
    assert "path: 0, 1, 2, 3, ..., 96, 97, 98, 99 (all with --path FILE or --json)" in result_text(
        result(witness=witness))


def test_a_path_too_long_to_show_names_the_option():
    witness = {"source": 0, "target": 20000, "length": 20000, "path": None}
    assert "path: of 20,001 vertices, too long to show; write it with --path FILE" in result_text(
        result(witness=witness))


def test_a_written_path_names_its_file():
    witness = {"source": 0, "target": 9, "length": 9, "path": list(range(10)), "path_file": "p.txt"}
    assert "path: in p.txt, one vertex a line" in result_text(result(witness=witness))


def test_multi_source_traversals_are_counted_apart():
    done = {"bfs": 2, "multi_source": 3, "multi_source_sources": 192, "partial": 0}
    assert "traversals: 2 BFS and 3 multi-source (192 sources) for" in result_text(result(traversals=done))


def test_workers():
    worker = {"edges_scanned": 1000, "wait_seconds": 0.5, "payload_bytes": 1024, "fact_bytes": 0, "rounds": 1200,
              "peak_rss_bytes": 100 << 20, "planned_rss_bytes": 200 << 20}
    workers = [worker, {**worker, "edges_scanned": 3000, "wait_seconds": 0.125}]
    shared = result(details={"workers": workers, "losses": [{"seconds": 61.0}]})
    lines = [
        "workers: 2; the busiest scanned 1.50 times the mean number of arcs",
        "exchanged: 2.0 KiB in 1,200 rounds; each worker waited 0.12 to 0.5 s",
        "memory of a worker: peak 100.0 MiB",
        "workers lost: 1; it took 1 min 01 s to go on",
    ]
    assert result_text(shared).splitlines()[5:9] == lines
    assert lines[2] + ", planned 200.0 MiB" in result_text(shared, verbose=True)


def plan(**changes: Any) -> dict[str, Any]:
    """A memory plan, with changes."""
    return {
        "memory_limit_bytes": 1 << 30, "base_bytes": 200 << 20, "buffer_bytes": 4 << 20,
        "arena_bytes": 100 << 20, "pool_bytes": 0, "reserve_bytes": 0, "starts_bytes": 0, "disk_bytes": 0,
        "phases": [{"name": "bfs", "bytes_per_vertex": 4.25, "bytes": 17 << 20},
                   {"name": "components", "bytes_per_vertex": 4.0, "bytes": 16 << 20}],
        "planned_rss_bytes": 321 << 20, "minimum_bytes": 230 << 20, "n_blocks": 1000, "arena_blocks": 400,
        "run_blocks": 8, "in_ram": False, **changes,
    }


def test_a_plan_is_a_sum():
    assert plan_text(plan()).splitlines() == [
        "planned peak: 321.0 MiB = 200.0 MiB program + 17.0 MiB vertex state + 4.0 MiB buffers"
        " + 100.0 MiB arena",
        "memory limit: 1.0 GiB",
        "edges: streamed, 400 of 1,000 blocks (40 %) in the arena at a time",
        "least --memory that works: 230.0 MiB",
        "phase       bytes a vertex  vertex state",
        "bfs                   4.25      17.0 MiB",
        "components            4.00      16.0 MiB",
    ]


def test_a_plan_in_ram():
    tiny = plan(in_ram=True, n_blocks=7, phases=[{"name": "bfs", "bytes_per_vertex": 1e6, "bytes": 8 << 20}])
    text = plan_text(tiny)
    assert "edges: in RAM; the arena holds all blocks (7)" in text
    assert text.splitlines()[-1].split() == ["bfs", "-", "8.0", "MiB"]


def test_the_time_is_that_of_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of the command line it has what came before the run; in another program it is the run's alone."""
    seconds = {"seconds": {"load": 0.5, "solve": 1.0, "total": 2.25, "compile": 0.75}}
    without = {"seconds": {"read": 0.5, "sort": 1.0}}  # a total, and what was compiled
    assert seconds_line(seconds) == "time: 2.2 s (load 0.5 s, solve 1 s, compile 0.75 s)"
    assert seconds_line(without) == "time: 1.5 s (read 0.5 s, sort 1 s)"
    monkeypatch.setattr(Spent, "compiling", 0.75)
    monkeypatch.setattr(answer_lines, "process_seconds", lambda: 3.0)
    assert seconds_line(seconds) == "time: 3 s (load 0.5 s, solve 1 s, compile 0.75 s, start 0.75 s)"
    assert seconds_line(without) == "time: 3 s (read 0.5 s, sort 1 s, compile 0.75 s, start 0.75 s)"
    monkeypatch.setattr(answer_lines, "process_seconds", lambda: 1.4)  # the run began before the process
    assert seconds_line(seconds) == "time: 2.2 s (load 0.5 s, solve 1 s, compile 0.75 s)"


def test_a_process_knows_when_it_began() -> None:
    """To a hundredth of a second, which is what the system keeps."""
    code = """
import time
begin = time.monotonic()
from emdiam.cli import process
assert process.process_seconds() is None
process.own_process()
time.sleep(0.3)
seconds, since = process.process_seconds(), time.monotonic() - begin
assert since - 0.02 <= seconds, (seconds, since)
print(seconds)
"""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.3 <= float(done.stdout) <= time.monotonic() - begin + 0.02


def test_a_terminal_has_answers_by_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No word is cut, and no path; rows of tables go on in their last column; a file has the lines as they are."""
    long = "traversals: 3 BFS for 406,057 vertices and 58,096,801 edges; 448,888,713 arcs scanned, 186.9 MiB read"
    rows = "component of  vertices  diameter" + " " * 60 + "3\n| a | " + "b" * 90
    row = "web  done  5.9 s  150.1 MiB  28 <= D <= 55, method's estimate 68 and a further sentence"
    folded = row.replace(" sentence", "\n" + " " * 29 + "sentence")
    below = "web  done  5.9 s  150.1 MiB\n    28 <= D <= 55, method's estimate 68\n    and a further sentence"
    assert by_words(row, 80) == folded and by_words(row, 40) == below
    path = "path: in /a/" + "folder-of-a-long-name/" * 5
    wrapped = "traversals: 3 BFS for 406,057 vertices and 58,096,801 edges; 448,888,713 arcs\n  scanned, 186.9 MiB read"
    assert by_words(f"{long}\n{rows}\n{path}", 80) == f"{wrapped}\n{rows}\npath: in\n  {path.removeprefix('path: in ')}"
    monkeypatch.setenv("COLUMNS", "80")
    for terminal, shown in ((True, wrapped), (False, long)):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        answer({"a": 1}, lambda data: long, False)
        assert capsys.readouterr().out == shown + "\n"
        answer({"a": "b " * 60}, str, True)
        assert capsys.readouterr().out.count("\n") == 1
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        complain(f"emdiam: 1 problem:\n  {long}")
        assert capsys.readouterr().err == f"emdiam: 1 problem:\n  {shown}\n"
