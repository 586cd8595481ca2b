"""Part floor: the BFS `by-level`, level by level, against the least time that the device needs for the bytes; and the
one in one launch, `auto`, against the same bytes.

floor = bytes / measured copy rate (part facts: bytes read and written a second). Least bytes of a step from a
frontier of R vertices with A arcs, which reaches F vertices, of n; an id has I bytes, an offset O, a sector 32:

top-down and persistent:
    queues read and written  I (R + F)
    offsets of the rows      32 R, a sector each, at most O n
    sectors of the rows      I A + (32 - I) R: a row that begins anywhere reaches into so many bytes on average
    bitmap of visited        n / 8, at most 32 A (not in the persistent kernel, which looks at distances: 32 A,
                             at most 4 n for each step)
    distances written        32 F, at most 4 n
bottom-up, with U vertices that have arcs and are not reached, and L arcs looked at:
    bitmaps                  n / 2: visited and frontier read, visited and next written
    offsets of U rows        32 U, at most O n
    sectors looked at        I L + (32 - I) U
    distances written        32 F, at most 4 n

What the second cache keeps from one step to the next is not taken off. A step of several levels (persistent) has
R and F summed over them, and the caps of each step once.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from emdiam.gpu.bfs_auto import AutoBfs
from emdiam.gpu.bfs_whole import WholeBfs
from emdiam.gpu.graph import DeviceBfs

from . import inputs
from .facts import copy_rate
from .measured_bfs import LevelRecord, MeasuredBfs
from .setting import Row, Setting
from .times import Case
from .timing import wall_seconds
from .twins import UNREACHED

SECTOR, DISTANCE = 32, 4
MOST_STEPS = 100


@dataclass(frozen=True)
class Step:
    """rows, found : vertices expanded and reached; unreached : with arcs, not reached before it; id_bytes,
    offset_bytes : of a vertex and of an offset."""

    record: LevelRecord
    rows: int
    found: int
    unreached: int
    n: int
    id_bytes: int
    offset_bytes: int

    def least_bytes(self) -> int:
        """See the formulas at the top of this file."""
        written = min(SECTOR * self.found, DISTANCE * self.n)
        lead = SECTOR - self.id_bytes
        if self.record.direction == "bottom-up":
            return (self.n // 2 + min(SECTOR * self.unreached, self.offset_bytes * self.n) + written
                    + self.id_bytes * self.record.looked + lead * self.unreached)
        most = DISTANCE * self.n if self.record.direction == "persistent" else self.n // 8
        return (self.id_bytes * (self.rows + self.found) + min(SECTOR * self.rows, self.offset_bytes * self.n) + written
                + self.id_bytes * self.record.arcs + lead * self.rows + min(SECTOR * self.record.arcs, most))


def steps_of(records: Sequence[LevelRecord], distances: np.ndarray, degrees: np.ndarray, id_bytes: int,
             offset_bytes: int) -> list[Step]:
    """The steps of a search whose distances are uint32[n] on the host."""
    counts = np.bincount(distances[distances != UNREACHED])
    counts = np.append(counts, np.zeros(2 + sum(record.levels for record in records), np.int64))
    active = int(np.count_nonzero(degrees))
    found = []
    for record in records:
        end = record.level + record.levels
        found.append(Step(record, int(counts[record.level : end].sum()), int(counts[record.level + 1 : end + 1].sum()),
                          active - int(counts[: record.level + 1].sum()), distances.size, id_bytes, offset_bytes))
    return found


def run(setting: Setting, names: Sequence[str] = tuple(inputs.TIMED)) -> Iterator[Row]:
    """A row a class, with its steps."""
    for name in names:
        yield from setting.cell({"class": name, "variant": "by-level"}, partial(_measure, setting, name))


def _measure(setting: Setting, name: str) -> dict[str, Any]:
    case, device = Case(setting, name), setting.device
    rate = copy_rate(setting)["value"] * 1e9
    measured = MeasuredBfs(device, case.graph)
    median, wrong = _timed(case, AutoBfs(device, case.graph))
    whole, more = _timed(case, WholeBfs(device, case.graph))
    wrong += more
    measured.run(case.sources[0])  # the first loads the kernels that count
    distances, eccentricity, _ = measured.run(case.sources[0])
    wrong += case.digest((distances, eccentricity)) != case.known[case.sources[0]]
    steps = steps_of(measured.records, device.to_host(distances), case.input.degrees,
                     case.graph.neighbours.dtype.itemsize, case.graph.offsets.dtype.itemsize)
    rows = [_row(step, rate) for step in steps]
    floor, spent = (sum(row[what] for row in rows) for what in ("floor_us", "us"))
    return {**case.input.key, "copy_gb_s": rate / 1e9, "seconds": median, "gteps": case.edges / median / 1e9,
            "floor_us": floor, "us": spent, "share": floor / spent if spent else 0.0, "wrong": wrong,
            "auto_seconds": whole, "auto_gteps": case.edges / whole / 1e9, "auto_share": floor / 1e6 / whole,
            "n_steps": len(rows), "steps": rows[:MOST_STEPS]}


def _timed(case: Case, search: DeviceBfs) -> tuple[float, int]:
    """Median of the seconds of a search from each source, and how many results were wrong.

    Each is the second of two: the first loads the kernels, and a device that waited while the host looked at the last
    result takes some 0.3 ms more for it.
    """
    seconds, wrong = [], 0
    for source in case.sources:
        for _ in range(2):
            found: list[Any] = []
            taken = wall_seconds(case.setting.device, lambda s=source, f=found: f.append(search.run(s)))
        seconds.append(taken)
        wrong += case.digest(found[0][:2]) != case.known[source]
    return statistics.median(seconds), wrong


def _row(step: Step, rate: float) -> dict[str, Any]:
    record, nbytes = step.record, step.least_bytes()
    floor = nbytes / rate
    return {"level": record.level, "levels": record.levels, "direction": record.direction, "mapping": record.mapping,
            "rows": step.rows, "arcs": record.arcs, "looked": record.looked, "found": step.found, "bytes": nbytes,
            "us": record.seconds * 1e6, "floor_us": floor * 1e6,
            "share": floor / record.seconds if record.seconds else 0.0}
