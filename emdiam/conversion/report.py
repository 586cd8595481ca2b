"""What a conversion is told, and what it tells when it has ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..checkpoints import CheckpointOptions
from ..progress import Listener
from ..sorting.plan import SortPlan
from ..sorting.sort import SortStats
from ..state_file import State
from ..store.layout import CHUNK_IDS, StoreRecord
from ..store.store import open_store
from ..units import MemoryFigures, peak_rss_bytes
from .resume import ALREADY_DONE


@dataclass(frozen=True)
class ConvertOptions:
    """memory_bytes : peak RSS of this process, None: what machine and cgroup leave. scratch :
    folder for temporary files, None: beside the target. force : replace the target. fmt, ids :
    see open_source. codec, chunk_ids : see layout. threads : how many sort, merge and encode.
    progress : called with progress.Event. plan : buffer sizes by hand, memory_bytes is then not
    looked at (for tests: results never depend on it). checkpoint : leave what was done when it stops,
    and go on from it (see resume.py); scratch files lie there."""

    memory_bytes: int | None = None
    scratch: Path | None = None
    force: bool = False
    fmt: str | None = None
    ids: str = "auto"
    codec: str = "lz4"
    chunk_ids: int = CHUNK_IDS
    threads: int = 2
    progress: Listener | None = None
    plan: SortPlan | None = None
    checkpoint: CheckpointOptions | None = None


@dataclass(frozen=True)
class ConvertReport(MemoryFigures):
    """What a conversion did.

    record : the store's own record, with the loops and duplicates dropped. pairs_read : pairs the
    source gave. min_id, max_id, gaps : see Numbering. seconds : by phase (read, relabel, sort,
    merge, write). memory_limit_bytes, planned_rss_bytes, peak_rss_bytes : budget, plan and the
    peak of the process so far. scratch_bytes : most scratch on disk at a time. sort : counts of
    runs and passes. notes : what the user should know, one sentence each.
    """

    record: StoreRecord
    pairs_read: int
    min_id: int | str | None
    max_id: int | str | None
    gaps: int
    seconds: dict[str, float]
    memory_limit_bytes: int
    planned_rss_bytes: int
    peak_rss_bytes: int
    scratch_bytes: int
    sort: SortStats = field(default_factory=SortStats)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON: the fields, and what follows from them."""
        return {**asdict(self), "record": self.record.to_dict(), "directions": self.record.directions,
                "memory_limit_exceeded": self.memory_limit_exceeded}


@dataclass(frozen=True)
class Counts:
    """What became of the pairs that were read: pairs = edges + loops + duplicates + reverse.

    duplicates : repeat an edge in the same direction. reverse : give an edge in its second direction.
    """

    pairs: int
    edges: int
    loops: int
    reverse: int

    @property
    def duplicates(self) -> int:
        """Pairs that are none of the others."""
        return self.pairs - self.edges - self.loops - self.reverse

    @property
    def one_way(self) -> int:
        """Edges that came in one direction only."""
        return self.edges - self.reverse


def report_of(done: State, target: Path) -> ConvertReport:
    """The report of a conversion that was complete before. Where it was killed between the renaming and
    its report, only what the store's record tells is known of it."""
    with open_store(str(target)) as store:
        record = store.record
    told = done.get("report")
    if told is None:
        numbering, tally = done["numbering"], done["intake"]["tally"]
        told = {
            "pairs_read": tally[0], "min_id": numbering["min_id"], "max_id": numbering["max_id"],
            "gaps": numbering["gaps"], "seconds": done["seconds"], "memory_limit_bytes": done["memory"],
            "planned_rss_bytes": 0, "peak_rss_bytes": peak_rss_bytes(), "scratch_bytes": 0,
            "sort": done["stats"],
        }
    told = {**told, "sort": SortStats(**told["sort"]), "notes": (*told.get("notes", ()), ALREADY_DONE)}
    return ConvertReport(record=record, **told)
