"""What bringing arcs to a device costs, and which way is cheapest for a page.

A page's arcs can be *copied* (its blocks with an active arc, by the copy engine), *gathered* (the host packs the
active rows, which are copied), or read *in place* (kernels read the host's memory through the bus, a sector of 32
bytes at a time). Seconds of each, for a page with `blocks` active blocks and `arcs` active arcs:

    copied    call + blocks * block_bytes / copy_rate
    gathered  call + round_trip + arcs * id_bytes * (1 / gather_rate + 1 / copy_rate)
    in place  call + sectors * 32 / place_rate

Neighbouring pages that are gathered, or read in place, share one launch: the call and the round trip are those of
the first.

The three rates and the round trip are measured when a graph is opened (page_cache.py); the call is TYPICAL's.
Gathering and reading in place move at most MOST_WASTE times the bytes of the active rows, by rule and not by
estimate.

A level of a BFS may also go *up*: every unreached vertex reads its row in place until an arc leads into the frontier.
With a share s of all arcs in the frontier, it is expected to look at 1 / s of them, and at its whole row at most:

    up        call + rows * (32 + min(arcs / rows, 1 / s) * id_bytes) / place_rate

for so many unreached rows with so many arcs.
Sources: HyTGraph (a cost model for each partition), EMOGI (reading in place), Subway (gathering); Beamer, Asanovic and
Patterson, SC 2012 (going up).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SKIP, COPY, GATHER, IN_PLACE = "skip", "copy", "gather", "in-place"
WAYS = (COPY, GATHER, IN_PLACE)
# Of whole levels of a BFS, beside those of pages.
UP = "up"
ALL_WAYS = (*WAYS, UP)
SECTOR_BYTES = 32
MOST_WASTE = 2
# Buffers that pages come through.
RING = 3


@dataclass(frozen=True)
class PageNeed:
    """What a frontier asks of a page, or of each of some pages, int64[pages]. block_bytes : of its blocks with an
    active arc that are not there. row_bytes : of its active rows; sectors : that these lie in."""

    block_bytes: Any
    row_bytes: Any
    sectors: Any


@dataclass(frozen=True)
class LevelNeed:
    """What a level up asks of the host's memory. rows, arcs : of vertices that are not reached yet and have arcs.
    share : of all arcs that the frontier has. id_bytes : of a head."""

    rows: int
    arcs: int
    share: float
    id_bytes: int

    @property
    def bytes_up(self) -> float:
        """Bytes that are expected to come, in whole sectors."""
        if self.rows == 0 or self.share == 0:
            return float(self.arcs * self.id_bytes)
        return self.rows * (SECTOR_BYTES + min(self.arcs / self.rows, 1 / self.share) * self.id_bytes)


@dataclass(frozen=True)
class PagingModel:
    """Bytes a second and seconds. copy_rate : of the copy engine. place_rate : of kernels that read the
    host's memory in sectors. gather_rate : of the host when it packs rows. call : of one more page.
    round_trip : of a frontier that comes to the host."""

    copy_rate: float
    place_rate: float
    gather_rate: float
    call: float
    round_trip: float

    def seconds(self, way: str, page: PageNeed, joins: bool = False) -> Any:
        """Predicted seconds of bringing a page, or each of some pages, that way. joins : whether it shares the launch
        of the page before."""
        call = 0.0 if joins and way != COPY else self.call
        if way == COPY:
            return call + page.block_bytes / self.copy_rate
        if way == GATHER:
            waits = 0.0 if joins else self.round_trip
            return call + waits + page.row_bytes * (1 / self.gather_rate + 1 / self.copy_rate)
        return call + page.sectors * SECTOR_BYTES / self.place_rate

    def seconds_up(self, need: LevelNeed) -> float:
        """Predicted seconds of a level that goes up."""
        return self.call + need.bytes_up / self.place_rate

    def allows(self, way: str, page: PageNeed) -> Any:
        """Whether a page, or each of some pages, may be brought that way: reading in place wastes no more than the rule
        allows."""
        return (page.sectors * SECTOR_BYTES <= MOST_WASTE * page.row_bytes) | (way != IN_PLACE)


class PageCosts:
    """What each way costs for some pages, worked out at once. model : what ways cost. need : of these pages. ways :
    those that may be taken, of ALL_WAYS."""

    def __init__(self, model: PagingModel, need: PageNeed, ways: tuple[str, ...] = WAYS) -> None:
        self._seconds = {way: [_listed(model.seconds(way, need, joins)) for joins in (False, True)] for way in WAYS}
        self._allowed = {way: _listed(model.allows(way, need)) for way in ways if way in WAYS}

    def cheapest(self, place: int = 0, before: str = COPY) -> tuple[str, float]:
        """The way of fewest seconds for the page at this place, and these; COPY if no other may be taken. before : the
        way of the page before, whose launch this one could share."""
        best, least = COPY, float("inf")
        for way, may in self._allowed.items():
            if may[place] and (seconds := self._seconds[way][way == before][place]) < least:
                best, least = way, seconds
        return best, self._seconds[best][best == before][place]


def _listed(values: Any) -> list[Any]:
    """Of one page, or of each."""
    return [*np.atleast_1d(values).tolist()]


# An H100 on PCIe 5: rates as its makers state them, latencies as those of a launch and of a small read.
TYPICAL = PagingModel(copy_rate=50e9, place_rate=30e9, gather_rate=4e9, call=15e-6, round_trip=40e-6)
