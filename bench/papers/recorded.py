"""Long runs that were made once and kept in bench/results: DATE-CLASS-2-POWER.json.

A file has runs, {"command": ..., "result": what the command printed with --json, ...}, as a list "runs" or by any
names; and "machine" and "note". kind : a key of published.PAPER, where the name of the file does not say the class.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {"levels": "levels-sqrt", "levels-sqrt": "levels-sqrt", "levels-linear": "levels-linear",
          "worst-case": "worst-case"}


@dataclass(frozen=True)
class Recorded:
    """One run. answer : D, or bounds with the estimate. seconds : of the whole run."""

    kind: str
    vertices: int
    edges: int
    method: str
    masters: int | None
    memory_bytes: int | None
    answer: str
    seconds: float
    bytes_read: int | None
    peak_bytes: int | None
    file: str

    @property
    def what(self) -> str:
        """Method and vertices a master, which runs of several sizes have in common."""
        if self.masters is None:
            return self.method
        return f"{self.method}, {2 ** round(float(np.log2(self.vertices / self.masters)))}"


def recorded_runs(folder: Path) -> list[Recorded]:
    """All runs in the folder, by class and size."""
    found = [run for file in sorted(folder.glob("*-2-[0-9]*.json")) for run in _runs_of(file)]
    return sorted(found, key=lambda run: (run.kind, run.vertices, run.method, run.masters or 0))


def _runs_of(file: Path) -> Iterator[Recorded]:
    kept = json.loads(file.read_text(encoding="utf-8"))
    named = file.stem.split("-2-")[0].split("-", 3)[-1]
    kind = _KINDS.get(kept.get("kind", named))
    if kind is None:
        return
    for one in (kept, *kept.values(), *kept.get("runs", ())):
        result = one.get("result", one) if isinstance(one, dict) else None
        if isinstance(result, dict) and {"n_vertices", "method", "seconds", "lower"} <= result.keys():
            yield _recorded(kind, result, file.name)


def _recorded(kind: str, result: dict[str, Any], file: str) -> Recorded:
    lower, upper, estimate = result["lower"], result["upper"], result.get("estimate")
    answer = f"D = {lower:,}" if lower == upper else f"{lower:,} <= D <= {upper:,}"
    if estimate is not None:
        answer += f", estimate {estimate:,}"
    seconds, masters = result["seconds"], result.get("masters_expected", result.get("masters"))
    return Recorded(kind, result["n_vertices"], result["n_edges"], result["method"], masters,
                    result.get("memory_limit_bytes"), answer,
                    float(seconds["total"] if isinstance(seconds, dict) else seconds), result.get("bytes_read"),
                    result.get("peak_rss_bytes"), file)


def growth(runs: Sequence[Recorded]) -> list[tuple[str, str, list[int], float, float | None, float]]:
    """Of every class and method with two sizes or more: class, method, sizes, powers of n by which seconds and bytes
    read grow, and the seconds of the largest."""
    groups: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    for run in runs:
        groups[run.kind, run.what].append(run)
    found = []
    for (kind, what), some in sorted(groups.items()):
        sizes = sorted({run.vertices for run in some})
        if len(sizes) < 2:
            continue
        n = np.log([run.vertices for run in some])
        read = [run.bytes_read for run in some]
        seconds = float(np.polyfit(n, np.log([run.seconds for run in some]), 1)[0])
        grown = float(np.polyfit(n, np.log([float(one or 1) for one in read]), 1)[0]) if all(read) else None
        found.append((kind, what, sizes, seconds, grown, max(some, key=lambda run: run.vertices).seconds))
    return found
