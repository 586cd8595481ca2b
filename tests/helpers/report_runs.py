"""Results, events and batches for tests of reports, made up so that every figure is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NASTY = '<script>alert("x")</script> & $x_1$ | `a`'


def exact_result(**changes: Any) -> dict[str, Any]:
    """What `emdiam exact --json` prints, with changes."""
    return {
        "method": "pivots", "n_vertices": 1000, "n_edges": 2000, "connected": True, "n_components": 1,
        "diameter": 40, "diameter_largest_component": 40, "diameter_max_component": 40, "lower": 40, "upper": 40,
        "exact": True, "witness": {"source": "a", "target": "z", "length": 40, "path": [*range(41)], "path_file": None},
        "traversals": {"bfs": 6, "multi_source": 2, "multi_source_sources": 128, "partial": 0}, "levels": 120,
        "edges_scanned": 5000, "bytes_read": 3 << 20, "memory_limit_bytes": 1 << 30, "planned_rss_bytes": 300 << 20,
        "peak_rss_bytes": 200 << 20, "seconds": {"total": 2.5, "solve": 1.5, "verify": 0.5, "compile": 0, "load": 0.5},
        "seed": 0, "version": "0.1.0", "store_digest": "d1", "details": {}, "device": "cpu", "certificate": None,
        **changes,
    }


def interval(**changes: Any) -> dict[str, Any]:
    """An exact run that was stopped."""
    return exact_result(diameter=None, diameter_max_component=None, exact=False, upper=60, witness=None, **changes)


def approximation(**changes: Any) -> dict[str, Any]:
    """What `emdiam approx --json` prints, with changes."""
    return exact_result(**{"method": "clusters", "exact": False, "diameter": None, "upper": 55, "estimate": 50,
                           "ratio": None, "known_diameter": None, "masters": 16, **changes})


def tradeoff_result(**changes: Any) -> dict[str, Any]:
    """What is in tradeoff.json, with changes."""
    rows = [{"cell": f"clusters-{k}", "method": "clusters", "status": "ended", "estimate": 40 + k, "ratio": 1 + k / 40,
             "lower": 38, "upper": 44 + k, "seconds": 8.0 / k} for k in (1, 2, 4)]
    return {"store": "g.zarr", "store_digest": "d1", "n_vertices": 1000, "n_edges": 2000, "options": {},
            "diameter": 40, "lower": 40, "upper": 40, "rows": rows, "n_cells": 3, **changes}


def events(run: str = "aa") -> list[dict[str, Any]]:
    """Records of one run: two phases, three traversals, an interval that closes from [20, 60] to 40."""
    def record(what: str, at: float, **rest: Any) -> dict[str, Any]:
        return {"record": what, "run": run, "at": at, "time": "2026-01-01T00:00:00.000+00:00", **rest}

    def progress(at: float, phase: str, read: int, traversals: int, finished: bool = False) -> dict[str, Any]:
        return record("progress", at, phase=phase, done=None, total=None, unit="", finished=finished,
                      facts={"bytes_read": read, "traversals": traversals, "lower": 0, "upper": 999}
                      if traversals == 0 else {"bytes_read": read, "traversals": traversals})

    def traversal(at: float, number: int, lower: int, upper: int) -> dict[str, Any]:
        return record("traversal", at, phase="bfs", kind="bfs", number=number, seconds=0.25, levels=20,
                      bytes_read=100, lower=lower, upper=upper, profile=[[0, 1], [1, 30], [2, 5]])

    return [
        record("begin", 0.0, command="exact", arguments={"store": "g.zarr", "memory": 1 << 30, "quiet": False}),
        progress(0.5, "load", 0, 0), progress(1.0, "bfs", 1000, 0), traversal(1.25, 1, 20, 60),
        traversal(1.5, 2, 40, 60), progress(2.0, "certify", 3000, 2), traversal(2.25, 3, 40, 40),
        record("end", 2.5, exit_code=0, sentence=None),
    ]


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    """A file of JSON lines; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def job(name: str, status: str = "done", **rest: Any) -> dict[str, Any]:
    """A line of results.jsonl."""
    code = {"done": 0, "failed": 2, "stopped": 3, "skipped": None}[status]
    return {"job": name, "digest": "x", "status": status, "command": ["emdiam", "exact", f"{name}.zarr"],
            "exit_code": code, "sentence": None, "seconds": 3.0, "peak_rss_bytes": 210 << 20, "result": None, **rest}


def write_batch(folder: Path) -> Path:
    """A night with everything in it: answers, an interval, failures, a job that was not run, names that bite."""
    folder.mkdir(parents=True, exist_ok=True)
    approx = ["emdiam", "approx", "good.zarr", "--method", "clusters"]
    write_lines(folder / "results.jsonl", [
        job("good", result=exact_result()), job("slow", "stopped", sentence="the time limit is over",
                                                result=interval(store_digest="d2")),
        job("cluster", command=approx, result=approximation()),
        job("several", command=approx, result={"runs": [approximation(estimate=44), approximation(estimate=60)]}),
        job("grid", command=["emdiam", "tradeoff", "g.zarr"], result=tradeoff_result()),
        job("missing", "failed", sentence="absent.zarr: there is no such store; make one with: emdiam convert"),
        job("budget", "failed", sentence="--memory 20.0 MiB is too small: the least is 231.4 MiB"),
        job("later", "skipped", sentence="missing has failed"),
        job(NASTY, "failed", sentence=NASTY),
    ])
    write_lines(folder / "jobs" / "good" / "events.jsonl", events())
    return folder


def write_long_night(folder: Path) -> Path:
    """A night of 22 jobs: all eccentricities of twelve graphs, with all that is shown of each, and ten failures."""
    def found(k: int) -> dict[str, Any]:
        return exact_result(
            store_name=f"network-{k}", store_digest=f"e{k}", radius=20, n_vertices=1_000_000 + k, n_edges=20_000_000,
            center={"size": 2, "ids": ["Central Station", "b"]}, periphery={"size": 1, "ids": ["z"]}, unresolved=0,
            histogram={str(20 + i): (i + 1) * 1000 for i in range(21)})

    write_lines(folder / "results.jsonl", [
        *(job(f"ecc-{k}", command=["emdiam", "ecc", f"{k}.zarr"], result=found(k)) for k in range(12)),
        *(job(f"late-{k}", "failed", sentence="absent.zarr: there is no such store; make one with: emdiam convert")
          for k in range(10))])
    return folder
