"""How local the ids of a store are, by what a BFS reads, and what it would take to reorder the store first.

A BFS reads a block once for every level that meets it and does not find it in the arena. Where neighbours lie close
together that is one or two stores; where their ids say nothing, as many as there are levels, or nearly. Reordering
costs a bounded number of passes and a sort. So a run watches its own BFS: as soon as one has read more than any does
whose ids are local, or so much for so few arcs that it will, both ways are compared in seconds. Whoever looks loses no
more than that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..jit import working_seconds
from ..methods.exact.cost_model import USUAL_BFS_READS
from ..methods.forecast import CostModel
from ..progress import Event, Listener, silent
from ..store.store import Store
from ..units import format_seconds

# The order that auto takes: the best of docs/algorithms/cluster-order.md from wherever a search begins.
ORDER = "cluster"
# No BFS of a graph of small diameter, or of local ids, reads the store so often.
LOCAL_READS = 8.0
# One that has read so much, and would have read this were the reached part to grow as the cube of that, which a wave in
# space does, says it early: where diameters are small, parts grow by factors.
_EARLY_READS, _EARLY_AHEAD = 2.5, 16.0
# Measured: a BFS reads at most a tenth of what it read in a shuffled order, and once at least (there).
_SHARE_AFTER, _LEAST_AFTER = 0.1, 1.5
# Passes of growing clusters and condensing, where they are streamed; of writing: one reads, one writes.
_ORDER_PASSES, _WRITE_PASSES = 12, 2
# Seconds of loading kernels, and of an arc: found, renumbered, sorted, merged and written on two cores.
_START_SECONDS, _ARC_SECONDS = 2.0, 1e-7
# Bytes that the sort writes and reads for an arc, compressed.
_SORT_BYTES = 5
# How much more it has to take as it is: neither figure is exact.
_SURELY = 2.0


@dataclass(frozen=True)
class Locality:
    """What one BFS reads of a store at the arena of a plan.

    reads : in times all blocks. seconds : of wall time. share : of the arcs that it had looked at when nobody looked
    any more; if that is less than 1, reads and seconds are what it would probably come to."""

    reads: float
    seconds: float
    share: float

    @property
    def local(self) -> bool | None:
        """Whether neighbours lie close together, as far as a BFS sees it; None where it was not over and had read too
        little to say."""
        done = self.reads * self.share
        if done >= LOCAL_READS or (done >= _EARLY_READS and done >= _EARLY_AHEAD * self.share ** (1 / 3)):
            return False
        return True if self.share == 1 else None

    def __str__(self) -> str:
        """A clause."""
        if self.local is None:
            return (f"a BFS was not over in time: it had read the store {self.reads * self.share:,.1f} times, for"
                    f" {100 * self.share:.0f} % of the arcs")
        if self.local:
            return f"ids are local: one BFS reads the store {self.reads:,.1f} times"
        about = "reads the store" if self.share == 1 else "would read the store about"
        return f"ids are not local: one BFS {about} {self.reads:,.0f} times"

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {**asdict(self), "local": self.local}


class BfsReads:
    """A listener that measures what each single BFS reads, by the events of an engine, and hands them on.

    locality : of the BFS that has read most so far; None before the first has told of itself.
    """

    def __init__(self, store: Store, progress: Listener | None = None) -> None:
        self._tell = progress or silent
        # Of a store behind a URL nobody knows the encoded size.
        self._stored = store.indices.stored_bytes or max(1, store.n_arcs * store.id_dtype.itemsize)
        self._n_arcs = max(1, store.n_arcs)
        self._number: int | None = None
        self._began = self._bytes = self._arcs = 0.0
        self.locality: Locality | None = None

    def __call__(self, event: Event) -> None:
        self._tell(event)
        facts = event.facts
        if event.kind == "traversal":
            if facts.get("kind") == "bfs" and facts.get("eccentricity") is not None:
                self._take(facts["bytes_read"], facts["seconds"], 1.0)
        elif "level" not in facts:  # nothing, or something else than a single BFS
            self._number = None
        elif "bytes_read" in facts:
            self._follow(facts["traversals"], facts["bytes_read"], event.done or 0)

    def _follow(self, number: int, n_bytes: int, n_arcs: int) -> None:
        """So much was read, and so many arcs looked at, when so many traversals were over."""
        if number != self._number:
            self._number, self._began = number, working_seconds()
            self._bytes, self._arcs = n_bytes, n_arcs
            return
        share = min(1.0, (n_arcs - self._arcs) / self._n_arcs)
        if share > 0:
            self._take(n_bytes - self._bytes, working_seconds() - self._began, share)

    def _take(self, n_bytes: float, seconds: float, share: float) -> None:
        found = Locality(n_bytes / self._stored / share, seconds / share, share)
        # One that is over says more than one under way.
        before = self.locality
        if before is None or before.share < 1 or (share == 1 and found.reads > before.reads):
            self.locality = found


@dataclass(frozen=True)
class Comparison:
    """What a run will probably take as the store is, and with reordering first. Seconds of wall time; bytes read, with
    those that reordering writes. reorder_seconds, reorder_bytes : of that alone, a part of the others."""

    as_it_is_seconds: float
    as_it_is_bytes: int
    reordered_seconds: float
    reordered_bytes: int
    reorder_seconds: float
    reorder_bytes: int
    order: str = ORDER

    @property
    def pays(self) -> bool:
        """Whether reordering first is surely less."""
        return self.as_it_is_seconds > _SURELY * self.reordered_seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {**asdict(self), "pays": self.pays}


def compare(store: Store, model: CostModel, locality: Locality, reads: float | None = None) -> Comparison:
    """Both ways for a streamed run of the method with this cost model. reads : how often it reads the store as it is,
    if that is known better than from the BFS that it usually takes."""
    searches = max(1.0, model.usual_reads / USUAL_BFS_READS) if reads is None else reads / max(locality.reads, 1e-9)
    stored = store.indices.stored_bytes or store.n_arcs * store.id_dtype.itemsize
    a_read = locality.seconds / max(locality.reads, 1.0)
    reorder_seconds = _START_SECONDS + _ARC_SECONDS * store.n_arcs + _ORDER_PASSES * a_read
    reorder_bytes = (_ORDER_PASSES + _WRITE_PASSES) * stored + _SORT_BYTES * store.n_arcs
    after = min(locality.reads, max(_LEAST_AFTER, _SHARE_AFTER * locality.reads))
    return Comparison(
        searches * locality.seconds, int(searches * locality.reads * stored),
        reorder_seconds + searches * after * a_read, int(reorder_bytes + searches * after * stored),
        reorder_seconds, reorder_bytes)


def reordering_text(locality: Locality, comparison: Comparison) -> str:
    """Why a run reorders its store first."""
    return f"{locality}; reordering first (about {format_seconds(comparison.reorder_seconds)})"
