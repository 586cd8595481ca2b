"""What the functions of api.py take by name, for type checkers and editors. A test compares them with the registry and
with what a run reads; what each means is said in api.py and on the pages of the commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from .checkpoint.options import CheckpointOptions
from .progress import Listener


class CheckpointKeywords(TypedDict, total=False):
    """Of what goes on after a stop."""

    checkpoint: CheckpointOptions | str | Path | None
    checkpoint_every: float | str | None
    resume: bool
    keep_checkpoint: bool


class WritingKeywords(CheckpointKeywords, total=False):
    """Of `convert` and `reorder`."""

    memory: int | str | None
    scratch: str | Path | None
    force: bool
    codec: str | None
    chunk: int | None
    threads: int | None
    progress: Listener | None


class ConvertKeywords(WritingKeywords, total=False):
    """Of `convert`."""

    weight: str | None
    columns: str | Sequence[str | int] | None
    header: str
    encoding: str | None
    bipartite: bool


class PathKeywords(TypedDict, total=False):
    """Of `shortest_paths`."""

    method: str
    weight: str | None
    weighted: bool | str
    directed: bool
    target: int | str | None
    delta: float | None
    device: str
    out: str | Path | None
    keep: bool
    memory: int | str | None
    arena: int | str | None
    threads: int | None
    scratch: str | Path | None
    evict_page_cache: bool
    progress: Listener | None


class RunKeywords(TypedDict, total=False):
    """Of every run."""

    memory: int | str | None
    arena: int | str | None
    threads: int | None
    device: str
    bfs: str | None
    mapping: str | None
    workers: int | None
    scheduler: str | None
    worker_memory: int | str | None
    worker_threads: int | None
    dashboard: bool | None
    scratch: str | Path | None
    require_connected: bool
    progress: Listener | None


class DiameterKeywords(RunKeywords, total=False):
    """Of `diameter`."""

    directed: bool
    weight: str | None
    weighted: bool | str


class DistanceKeywords(TypedDict, total=False):
    """Of `distances`."""

    sample: int | str | None
    exact: bool
    hyperball: int | None
    quantile: float
    seed: int
    out: str | Path | None
    memory: int | str | None
    arena: int | str | None
    threads: int | None
    time_limit: float | str | None
    device: str
    bfs: str | None
    mapping: str | None
    vram: int | str | None
    workers: int | None
    scheduler: str | None
    worker_memory: int | str | None
    worker_threads: int | None
    dashboard: bool | None
    scratch: str | Path | None
    vertex_state: str
    evict_page_cache: bool
    directed: bool
    weight: str | None
    weighted: bool | str
    progress: Listener | None


class AllPairsKeywords(TypedDict, total=False):
    """Of `all_pairs`."""

    method: str
    weight: str | None
    weighted: bool | str
    directed: bool
    out: str | Path | None
    force: bool
    memory: int | str | None
    threads: int | None
    time_limit: float | str | None
    scratch: str | Path | None
    progress: Listener | None


class ProfileKeywords(TypedDict, total=False):
    """Of `profile`."""

    sample: int | str | None
    seed: int
    time_limit: float | str | None
    memory: int | str | None
    threads: int | None
    scratch: str | Path | None
    progress: Listener | None


class MethodKeywords(RunKeywords, CheckpointKeywords, total=False):
    """Of `exact` and `approximate`."""

    time_limit: float | str | None
    vram: int | str | None
    evict_page_cache: bool
    reorder: str
    keep_reordered: str | Path | None
    vertex_state: str
    direction: str | None
    seed: int | None


class ExactKeywords(MethodKeywords, total=False):
    """Of `exact`: of every method, then those that only some have."""

    gap: int | None
    bounds_only: bool
    certificate: str | Path | None
    path: str | Path | None
    components: int | None
    weight: str | None
    weighted: bool | str
    directed: bool

    batches: bool | None
    winnow: bool | None
    eliminate: bool | None
    chains: bool | None
    start: str | None
    order: str | None
    first: str | None
    batch: int | None
    sweeps: int | None
    k: int | None


class EccentricityKeywords(MethodKeywords, total=False):
    """Of `eccentricities`."""

    out: str | Path | None
    keep: bool | None
    weight: str | None
    weighted: bool | str
    certificate: str | Path | None


class ApproximateKeywords(MethodKeywords, total=False):
    """Of `approximate`: of every method, then those that only some have."""

    gap: int | None
    known_diameter: int | float | None
    weight: str | None
    weighted: bool | str

    masters: int | str | None
    euler: bool | None
    levels: int | None
    iterations: int | None
