"""How local the ids of a store are, measured by the reads of a BFS, and whether reordering the store first pays.

A BFS reads a block once for each level with a vertex in it, unless the arena has the block. If neighbours are close
together, a BFS reads the store once or twice; if ids are random, nearly once a level. Reordering costs a bounded number
of passes and a sort. So a run watches its own BFS: as soon as a BFS has read more than any BFS of a store with local
ids does, or is about to, the run compares the predicted seconds of both ways. The measurement costs only this BFS.
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

# The order of "auto": the best one of docs/algorithms/cluster-order.md for any source.
ORDER = "cluster"
# A BFS of a graph with small diameter or local ids reads the store fewer times than this.
LOCAL_READS = 8.0
# Early decision: the BFS has read the store 2.5 times, and would read it 16 times if the number of reached vertices
# grew with the cube of the reads, as a wave in space does. (With a small diameter it grows exponentially.)
_EARLY_READS, _EARLY_AHEAD = 2.5, 16.0
# Measured (same page): after reordering a BFS reads at most a tenth of its reads in a random order, but at least 1.5
# times the store.
_SHARE_AFTER, _LEAST_AFTER = 0.1, 1.5
# Passes of growing clusters and condensing in streamed runs; passes of writing: one reads, one writes.
_ORDER_PASSES, _WRITE_PASSES = 12, 2
# Seconds to load kernels; seconds an arc to find, renumber, sort, merge and write it on two cores.
_START_SECONDS, _ARC_SECONDS = 2.0, 1e-7
# Compressed bytes an arc that the sort writes and reads.
_SORT_BYTES = 5
# Reordering pays if the other way takes more than twice as long: both figures are estimates.
_SURELY = 2.0


@dataclass(frozen=True)
class Locality:
    """The reads of one BFS of a store with the arena of a plan.

    reads : blocks read / blocks of the store. seconds : wall time. share : share of the arcs that the BFS had scanned
    at the last measurement; below 1, reads and seconds are extrapolated to the whole BFS."""

    reads: float
    seconds: float
    share: float

    @property
    def local(self) -> bool | None:
        """Whether neighbours are close together; None if the BFS was stopped before it had read enough to decide."""
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
    """A listener that measures the reads of each single BFS from an engine's events, and passes the events on.

    locality : of the BFS with the most reads so far; None before the first measurement.
    """

    def __init__(self, store: Store, progress: Listener | None = None) -> None:
        self._tell = progress or silent
        # The encoded size of a store behind a URL is unknown.
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
        elif "level" not in facts:  # no single BFS is running
            self._number = None
        elif "bytes_read" in facts:
            self._follow(facts["traversals"], facts["bytes_read"], event.done or 0)

    def _follow(self, number: int, n_bytes: int, n_arcs: int) -> None:
        """Take a measurement: bytes read and arcs scanned when `number` traversals were complete."""
        if number != self._number:
            self._number, self._began = number, working_seconds()
            self._bytes, self._arcs = n_bytes, n_arcs
            return
        share = min(1.0, (n_arcs - self._arcs) / self._n_arcs)
        if share > 0:
            self._take(n_bytes - self._bytes, working_seconds() - self._began, share)

    def _take(self, n_bytes: float, seconds: float, share: float) -> None:
        found = Locality(n_bytes / self._stored / share, seconds / share, share)
        # The measurement of a complete BFS replaces an extrapolated one.
        before = self.locality
        if before is None or before.share < 1 or (share == 1 and found.reads > before.reads):
            self.locality = found


@dataclass(frozen=True)
class Comparison:
    """Predicted cost of a run on the store as it is, and with reordering first: seconds of wall time, and bytes read,
    with the bytes that reordering writes. reorder_seconds, reorder_bytes : the part of reordering alone."""

    as_it_is_seconds: float
    as_it_is_bytes: int
    reordered_seconds: float
    reordered_bytes: int
    reorder_seconds: float
    reorder_bytes: int
    order: str = ORDER

    @property
    def pays(self) -> bool:
        """Whether reordering first is clearly cheaper."""
        return self.as_it_is_seconds > _SURELY * self.reordered_seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {**asdict(self), "pays": self.pays}


def compare(store: Store, model: CostModel, locality: Locality, reads: float | None = None) -> Comparison:
    """Compare both ways for a streamed run of a method with this cost model. reads : the number of times that the run
    reads the store as it is, if known; else from the method's usual number of BFS."""
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
    """The reason, in words, why a run reorders its store first."""
    return f"{locality}; reordering first (about {format_seconds(comparison.reorder_seconds)})"
