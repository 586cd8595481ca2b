"""The cost of bringing arcs to a device, and the cheapest way for a page.

A page's arcs can be *copied* (its blocks with an active arc, by the copy engine), *gathered* (the host packs the
active rows, which are copied), or read *in place* (kernels read the host's memory through the bus, a sector of 32
bytes at a time). Seconds of each, for a page with `blocks` active blocks and `arcs` active arcs:

    copied    call + blocks * block_bytes / copy_rate
    gathered  call + round_trip + arcs * id_bytes * (1 / gather_rate + 1 / copy_rate)
    in place  call + sectors * 32 / place_rate

Consecutive pages that are gathered, or read in place, share one launch: only the first one has the costs of the call
and the round trip.

The three rates and the round trip are measured when a graph is opened (page_cache.py); the call is TYPICAL's.
By rule, gathering and reading in place move at most MOST_WASTE times the bytes of the active rows.

A level of a BFS may also go *up*: every unreached vertex reads its row in place until an arc leads into the frontier.
With a share s of all arcs in the frontier, it is expected to read 1 / s arcs, and at most its whole row:

    up        call + rows * (32 + min(arcs / rows, 1 / s) * id_bytes) / place_rate

for `rows` unreached rows with `arcs` arcs.
Sources: HyTGraph (a cost model for each partition), EMOGI (reading in place), Subway (gathering); Beamer, Asanovic and
Patterson, SC 2012 (going up).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SKIP, COPY, GATHER, IN_PLACE = "skip", "copy", "gather", "in-place"
WAYS = (COPY, GATHER, IN_PLACE)
# A way for whole levels of a BFS, in addition to the ways for pages.
UP = "up"
ALL_WAYS = (*WAYS, UP)
SECTOR_BYTES = 32
MOST_WASTE = 2
# Number of buffers of the ring of pages.
RING = 3


@dataclass(frozen=True)
class PageNeed:
    """The demand of a frontier on a page, or on each of several pages, int64[pages]. block_bytes : of missing blocks
    with active arcs. row_bytes : of active rows; sectors : number of their sectors."""

    block_bytes: Any
    row_bytes: Any
    sectors: Any


@dataclass(frozen=True)
class LevelNeed:
    """The demand of a level up on host memory. rows, arcs : unreached vertices with arcs, and their arcs. share : the
    frontier's share of all arcs. id_bytes : bytes of a head."""

    rows: int
    arcs: int
    share: float
    id_bytes: int

    @property
    def bytes_up(self) -> float:
        """Expected bytes, in whole sectors."""
        if self.rows == 0 or self.share == 0:
            return float(self.arcs * self.id_bytes)
        return self.rows * (SECTOR_BYTES + min(self.arcs / self.rows, 1 / self.share) * self.id_bytes)


@dataclass(frozen=True)
class PagingModel:
    """Rates in bytes a second, and times in seconds. copy_rate : of the copy engine. place_rate : of kernels that read
    host memory in sectors. gather_rate : of the host that packs rows. call : of one more page. round_trip : of copying
    a frontier to the host."""

    copy_rate: float
    place_rate: float
    gather_rate: float
    call: float
    round_trip: float

    def seconds(self, way: str, page: PageNeed, joins: bool = False) -> Any:
        """Predicted seconds of a way for a page, or for each of several pages. joins : whether it shares the launch of
        the page before."""
        call = 0.0 if joins and way != COPY else self.call
        if way == COPY:
            return call + page.block_bytes / self.copy_rate
        if way == GATHER:
            waits = 0.0 if joins else self.round_trip
            return call + waits + page.row_bytes * (1 / self.gather_rate + 1 / self.copy_rate)
        return call + page.sectors * SECTOR_BYTES / self.place_rate

    def seconds_up(self, need: LevelNeed) -> float:
        """Predicted seconds of a level up."""
        return self.call + need.bytes_up / self.place_rate

    def allows(self, way: str, page: PageNeed) -> Any:
        """Whether a way is allowed for a page, or for each of several pages, by the rule of MOST_WASTE."""
        return (page.sectors * SECTOR_BYTES <= MOST_WASTE * page.row_bytes) | (way != IN_PLACE)


class PageCosts:
    """The costs of all ways for several pages. need : of these pages. ways : the allowed ones of ALL_WAYS."""

    def __init__(self, model: PagingModel, need: PageNeed, ways: tuple[str, ...] = WAYS) -> None:
        self._seconds = {way: [_listed(model.seconds(way, need, joins)) for joins in (False, True)] for way in WAYS}
        self._allowed = {way: _listed(model.allows(way, need)) for way in ways if way in WAYS}

    def cheapest(self, place: int = 0, before: str = COPY) -> tuple[str, float]:
        """The fastest way for the page at this position, and its seconds; COPY if no other is allowed. before : the way
        of the page before, whose launch this one could share."""
        best, least = COPY, float("inf")
        for way, may in self._allowed.items():
            if may[place] and (seconds := self._seconds[way][way == before][place]) < least:
                best, least = way, seconds
        return best, self._seconds[best][best == before][place]


def _listed(values: Any) -> list[Any]:
    """The value of one page, or the values of several, as a list."""
    return [*np.atleast_1d(values).tolist()]


# An H100 on PCIe 5: rates from the data sheet, latencies of a launch and of a small read.
TYPICAL = PagingModel(copy_rate=50e9, place_rate=30e9, gather_rate=4e9, call=15e-6, round_trip=40e-6)
