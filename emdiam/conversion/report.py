"""What a conversion or a reordering is asked for, and what it reports when it has ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from ..checkpoint.options import CheckpointOptions
from ..checkpoint.records import State
from ..progress import Listener
from ..sorting.plan import SortPlan
from ..sorting.sort import SortStats
from ..store.layout import CHUNK_IDS, StoreRecord
from ..store.store import open_store
from ..units import MemoryFigures, peak_rss_bytes

ALREADY_DONE = "it was complete already; nothing was left to do"


@dataclass(frozen=True)
class ConvertOptions:
    """memory_bytes : peak RSS of this process, None: what machine and cgroup leave. scratch : folder for temporary
    files, None: beside the target. force : replace the target. fmt, ids : see open_source. codec, chunk_ids : see
    layout. threads : how many sort, merge and encode. progress : called with progress.Event. plan : buffer sizes by
    hand, memory_bytes is then not looked at (for tests: results never depend on it). checkpoint : leave what was done
    when it stops, and go on from it (see writing.py); scratch files lie there."""

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


@dataclass(frozen=True, kw_only=True)
class WritingReport(MemoryFigures):
    """What the writing of a store did.

    record : the store's own record. seconds : by phase. memory_limit_bytes, planned_rss_bytes, peak_rss_bytes :
    budget, plan and the peak of the process so far. scratch_bytes : most scratch on disk at a time. sort : counts of
    runs and passes. notes : what the user should know, one sentence each.
    """

    record: StoreRecord
    seconds: dict[str, float]
    memory_limit_bytes: int
    planned_rss_bytes: int
    peak_rss_bytes: int
    scratch_bytes: int
    sort: SortStats = field(default_factory=SortStats)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON: the fields, and what follows from them."""
        return {**asdict(self), "memory_limit_exceeded": self.memory_limit_exceeded}

    @classmethod
    def of_done(cls, done: State, target: Path) -> Self:
        """The report of writing that was complete before. Where that was killed between the renaming and its report,
        only what the store's record and the last state tell is known of it."""
        with open_store(str(target)) as store:
            record = store.record
        fields = done.get("report") or {
            **cls._of_state(done), "seconds": done["seconds"], "memory_limit_bytes": done["memory"],
            "planned_rss_bytes": 0, "peak_rss_bytes": peak_rss_bytes(), "scratch_bytes": 0, "sort": done["stats"],
        }
        fields = {**fields, "sort": SortStats(**fields["sort"]), "notes": (*fields.get("notes", ()), ALREADY_DONE)}
        return cls(record=record, **fields)

    @classmethod
    def _of_state(cls, done: State) -> dict[str, Any]:
        """The fields that a subclass adds, from the last state."""
        return {}


@dataclass(frozen=True, kw_only=True)
class ConvertReport(WritingReport):
    """What a conversion did (phases read, relabel, sort, merge, write). record : with the loops and duplicates dropped.
    pairs_read : pairs the source gave. min_id, max_id, gaps : see Numbering."""

    pairs_read: int
    min_id: int | str | None
    max_id: int | str | None
    gaps: int

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "record": self.record.to_dict(), "directions": self.record.directions}

    @classmethod
    def _of_state(cls, done: State) -> dict[str, Any]:
        numbering, tally = done["numbering"], done["intake"]["tally"]
        return {"pairs_read": tally[0], **{name: numbering[name] for name in ("min_id", "max_id", "gaps")}}


@dataclass(frozen=True, kw_only=True)
class ReorderReport(WritingReport):
    """What a reordering did (phases order, ids, read, sort, merge, write). record : of the new store."""


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
        return self.edges - self.reverse
