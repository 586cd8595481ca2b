"""AutoBfs with a record of what each of its steps did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from emdiam.gpu.bfs_auto import AutoBfs, LevelState
from emdiam.gpu.device import DeviceArray
from emdiam.gpu.direction_table import PERSISTENT, Rule

DOWN, UP = "top-down", "bottom-up"


@dataclass(frozen=True)
class LevelRecord:
    """What one step of a search did.

    level : distance of the frontier it started from. levels : how many it did, more than one only where it was
    persistent. direction : "persistent", "top-down" or "bottom-up". mapping : of a step top-down, else "". rows,
    arcs : vertices of the frontier at its start, and arcs of those it expanded (of the frontier too where it went
    up). looked : arcs that it looked at. seconds : on the device, with what turned queues into bitmaps or back.
    """

    level: int
    levels: int
    direction: str
    mapping: str
    rows: int
    arcs: int
    looked: int
    seconds: float


class MeasuredBfs(AutoBfs):
    """As AutoBfs. records : of the steps of the last run, each of which waits for the device."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.records = list[LevelRecord]()

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """See AutoBfs.run."""
        self.records = []
        return super().run(source, radius)

    def step(self, now: LevelState, rule: Rule, last: int) -> tuple[int, int]:
        """One step, with its record; as AutoBfs.step."""
        level, rows, start = now.level, now.rows, self._device.record()
        arcs, looked = super().step(now, rule, last)
        seconds = self._device.elapsed(start, self._device.record())
        direction = UP if now.upwards else PERSISTENT if rule.way == PERSISTENT else DOWN
        mapping = rule.way if direction == DOWN else ""
        self.records.append(LevelRecord(level, now.level - level, direction, mapping, rows, arcs, looked, seconds))
        return arcs, looked
