"""The parts in their order: what runs, and how much of the time each may take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from . import compiling, dal, dal_exact, exact, facts, floor, paged, regimes, sanitize, smoke, times, verify, weighted
from .setting import Row, Setting


@dataclass(frozen=True)
class Part:
    """run : gives the rows. weight : share of the time that is left when it begins, among those that follow it;
    what it does not use is theirs. stall : seconds after which a cell that says nothing is taken for one that
    hangs (a kernel that waits for ever); its process is ended and started anew behind it.
    """

    run: Callable[[Setting], Iterable[Row]]
    weight: float
    stall: float = float("inf")


PARTS: Mapping[str, Part] = {
    "smoke": Part(smoke.run, 2, 60.0),
    "compile": Part(compiling.run, 4),
    "facts": Part(facts.run, 2, 150.0),
    "verify": Part(verify.run, 12, 45.0),
    "tests": Part(sanitize.run_tests, 3),
    "variants": Part(times.run, 12, 60.0),
    "floor": Part(floor.run, 4, 60.0),
    "persistent": Part(times.run_persistent, 2, 60.0),
    "dal": Part(dal.run, 3, 90.0),
    "regimes": Part(regimes.run, 6, 60.0),
    "paged": Part(paged.run, 8, 150.0),
    # A cell has the four runs of its two engines, and the first one of each compiles.
    "exact": Part(exact.run, 6, 240.0),
    "dal-exact": Part(dal_exact.run, 5, 120.0),
    "weighted": Part(weighted.run, 6, 90.0),
    "sanitize": Part(sanitize.run, 4),
}
