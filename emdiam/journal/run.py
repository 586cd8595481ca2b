"""The checkpoint of one run: found or made, put between method and engine, kept or removed."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checkpoint.folder import REORDERED, Folder, identity_digest
from ..checkpoint.options import CheckpointOptions
from ..engine.cpu import LocalEngine
from ..errors import BudgetError, StoppedEarly
from ..methods.result import Result
from ..progress import Event, Listener
from ..store.store import Store
from ..units import format_size, scratch_folder
from .engine import JournalEngine
from .journal import Journal
from .vertex_state import RamState, VertexState

if TYPE_CHECKING:
    from ..dask.engine import DaskEngine

_LOG = logging.getLogger("emdiam")
# Options of methods that do not affect the answer: a resumed run may change them.
_FREE = ("limits", "path_file", "scratch", "known_diameter", "out", "keep", "certified")
# The pool of a plan varies a little between processes with the program's own memory; the plan's margin covers that.
POOL_JITTER = 8 << 20
# A name among the facts of a folder.
_ORDER = "order"
_PLAIN = (str, int, float, bool, type(None))


def run_identity(store: Store, method: str, options: Any, limits: Mapping[str, Any]) -> dict[str, Any]:
    """The values that identify a run: store, method and options. options : a MethodOptions. limits : limits other than
    time."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in _FREE}
    if chosen["earlier"] is None:
        del chosen["earlier"]
    values = {name: value if isinstance(value, _PLAIN) else str(value) for name, value in {**chosen, **limits}.items()}
    return {"store_digest": store.digest, "method": method, **values}


def run_facts(engine: LocalEngine | DaskEngine) -> dict[str, Any]:
    """The facts about a run's plan that methods use for decisions."""
    names = ("pool_bytes", "room_bytes", "in_ram", "batch_bits", "together")
    return {name: getattr(engine.facts, name) for name in names}


def default_folder(store: Store, identity: Mapping[str, Any], scratch: str | Path | None) -> Path:
    """The default folder of a checkpoint."""
    name = Path(str(store.path)).name or "store"
    return Path(scratch_folder(scratch)) / f"emdiam-{name}-{identity_digest(identity)}.checkpoint"


class RunCheckpoint:
    """The checkpoint of the run `identity` in the folder at `path`; `attach` it to an engine. Raises InputError like
    Folder."""

    def __init__(self, path: Path, identity: dict[str, Any], options: CheckpointOptions) -> None:
        self.path = path
        self._folder = Folder(path, identity, options)
        self._engine: JournalEngine | None = None
        try:
            self._folder.begin(self._folder.facts or {})
            self._journal = Journal(self._folder)
        except BaseException:
            self._folder.close()
            raise

    def attach(self, engine: LocalEngine | DaskEngine, progress: Listener | None = None) -> Any:
        """The engine for the method, at the start of a run, or again after workers were lost. progress : receives an
        event about records found. Raises BudgetError if there is less memory than in the run that made the
        checkpoint."""
        if self._engine is not None:  # the records of this run become answers
            self._journal.close()
            self._journal = Journal(self._folder)
        noted = self._folder.facts or {}
        facts = {name: noted.get(name, value) for name, value in run_facts(engine).items()}
        self._folder.begin({**noted, **facts})
        missing = max(int(facts[name]) - has for name, has in run_facts(engine).items()
                      if name in ("pool_bytes", "room_bytes")) - POOL_JITTER
        if missing > 0:
            raise BudgetError(f"the run that left this checkpoint had {format_size(missing)} more memory beside the"
                              " vertex state", path=self.path, remedy="give --memory as it was, or more")
        n_before = self._journal.n_before
        if progress is not None and n_before:
            progress(Event("resume", n_before, n_before, "traversals", self.details(), True))
        if isinstance(engine, LocalEngine):
            state: VertexState = RamState(engine)
        else:
            from .worker_state import WorkerState

            state = WorkerState(engine)
        self._engine = JournalEngine(engine, state, self._journal, self._folder, facts)
        return self._engine

    @property
    def order(self) -> str | None:
        """The order into which the run put the store first; None if it uses the store's own."""
        order: str | None = (self._folder.facts or {}).get(_ORDER)
        return order

    @property
    def reordered(self) -> Path:
        """The folder, inside the checkpoint, of the reordered store."""
        return self.path / REORDERED

    @property
    def every(self) -> float:
        """Seconds between states."""
        return self._folder.options.every

    @property
    def n_before(self) -> int:
        """Verbs recorded by earlier runs."""
        return self._journal.n_before

    def begin_in(self, order: str | None) -> None:
        """Make the run use this order; records in another order are dropped."""
        if order == self.order:
            return
        self._journal.close()
        self._folder.drop_all()
        self._folder.begin({} if order is None else {_ORDER: order})
        self._journal = Journal(self._folder)
        self._engine = None

    def details(self) -> dict[str, Any]:
        """For Result.details: the folder; passes over edges answered from it; whether an unfinished traversal was
        resumed; bytes; damage found."""
        inside = self._engine is not None and self._engine.resumed_inside
        return {"folder": str(self.path), "resumed": self._journal.n_before, "resumed_inside": inside,
                "bytes": self._journal.nbytes, "damaged": "; ".join(dict.fromkeys(self._folder.damage)) or None}

    def _has_records(self) -> bool:
        """Whether a run could resume from it."""
        return self.reordered.is_dir() or max(self._journal.n_before, self._journal.n_records) > 0

    def stopped(self, stop: StoppedEarly) -> StoppedEarly:
        """The exception with a clause on how to resume, if that is possible."""
        if not self._has_records():
            return stop
        if isinstance(stop.result, Result):
            stop.result.details["checkpoint"] = self.details()
        return StoppedEarly(f"{stop}; the same command with --resume continues from {self.path}", stop.result)

    def finish(self) -> None:
        """Remove the folder after success, unless it is kept."""
        if not self._folder.options.keep:
            self._remove()

    def close(self) -> None:
        """Close the checkpoint; an empty one is removed."""
        try:
            if self.path.exists() and not self._has_records():
                self._remove()
            self._journal.close()
        finally:
            self._folder.close()

    def _remove(self) -> None:
        """Remove the folder; if that fails there is only a warning, as the checkpoint is no longer needed."""
        try:
            self._folder.remove()
        except OSError as error:
            _LOG.warning("the checkpoint is not needed any more, but stays: %s", error)


@contextmanager
def checkpointed(
    store: Store, identity: dict[str, Any], options: CheckpointOptions, scratch: str | Path | None
) -> Iterator[RunCheckpoint]:
    """The checkpoint of a run on `store`, open inside the context. scratch : folder for it if `options` name none.
    Raises InputError like Folder."""
    checkpoint = RunCheckpoint(options.folder or default_folder(store, identity, scratch), identity, options)
    with closing(checkpoint):
        yield checkpoint
