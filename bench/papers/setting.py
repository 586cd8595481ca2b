"""What all papers of a run share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from ..cache import Cache
from ..programs import Programs
from .kept import Kept

SMALL, FULL, TINY = "small", "full", "tiny"


@dataclass(frozen=True)
class Setting:
    """scale : SMALL (minutes), FULL (a night) or TINY (seconds, for tests). seconds : limit of a cell. threads : of
    parallel runs. cache : stores; programs : those of the authors that are built here. kept : the cells.
    real : folder of graphs that fetch.py brought. recorded : folder of figures of other runs. vertices : of the
    generated graphs of 003; None: by the scale."""

    scale: str
    seconds: float
    threads: int
    cache: Cache
    programs: Programs
    kept: Kept
    real: Path
    recorded: Path
    vertices: int | None = None

    def at(self, tiny: Any, small: Any, full: Any) -> Any:
        """The one of the scale."""
        return {TINY: tiny, SMALL: small, FULL: full}[self.scale]

    @contextmanager
    def engine(self, store: Path, threads: int, **options: Any) -> Iterator[Any]:
        """An engine with the store in RAM."""
        with open_store(store) as opened, open_engine(opened, threads=threads, **options) as engine:
            yield engine
