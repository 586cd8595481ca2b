"""The checkpoint of one run: found or begun, put between method and engine, left or removed."""

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
# Options of methods that change no answer: a run may go on with others.
_FREE = ("limits", "path_file", "scratch", "known_diameter", "out", "keep")
# The pool of a plan differs a little from process to process, by what the program itself takes; the margin
# of the plan covers that.
POOL_JITTER = 8 << 20
# Among the facts of a folder.
_ORDER = "order"
_PLAIN = (str, int, float, bool, type(None))


def run_identity(store: Store, method: str, options: Any, limits: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a run another one: store, method and options. options : a MethodOptions. limits : those beside the
    time."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in _FREE}
    if chosen["earlier"] is None:
        del chosen["earlier"]
    values = {name: value if isinstance(value, _PLAIN) else str(value) for name, value in {**chosen, **limits}.items()}
    return {"store_digest": store.digest, "method": method, **values}


def run_facts(engine: LocalEngine | DaskEngine) -> dict[str, Any]:
    """What methods see of the plan of a run, by which they choose."""
    names = ("pool_bytes", "room_bytes", "in_ram", "batch_bits", "together")
    return {name: getattr(engine.facts, name) for name in names}


def default_folder(store: Store, identity: Mapping[str, Any], scratch: str | Path | None) -> Path:
    """Where a checkpoint is that has no folder of its own."""
    name = Path(str(store.path)).name or "store"
    return Path(scratch_folder(scratch)) / f"emdiam-{name}-{identity_digest(identity)}.checkpoint"


class RunCheckpoint:
    """The checkpoint of the run `identity` in the folder at `path`; `attach` it to an engine. Raises InputError as
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
        """The engine for the method, which begins; again, where workers were lost. progress : told of what there was.
        Raises BudgetError where there is less memory than the run had that left the checkpoint."""
        if self._engine is not None:  # its records are answers now
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
        """The order that the store of the run was put into first; None for the one that it has."""
        order: str | None = (self._folder.facts or {}).get(_ORDER)
        return order

    @property
    def reordered(self) -> Path:
        """The folder in it of the store in that order."""
        return self.path / REORDERED

    @property
    def every(self) -> float:
        """Seconds between states."""
        return self._folder.options.every

    @property
    def n_before(self) -> int:
        """Verbs that a run before has left."""
        return self._journal.n_before

    def begin_in(self, order: str | None) -> None:
        """Let the run begin in this order; what there was of it in another one is dropped."""
        if order == self.order:
            return
        self._journal.close()
        self._folder.drop_all()
        self._folder.begin({} if order is None else {_ORDER: order})
        self._journal = Journal(self._folder)
        self._engine = None

    def details(self) -> dict[str, Any]:
        """For Result.details: the folder; passes over edges that were answered from it; whether one under
        way was taken up inside; bytes; what was damaged."""
        inside = self._engine is not None and self._engine.resumed_inside
        return {"folder": str(self.path), "resumed": self._journal.n_before, "resumed_inside": inside,
                "bytes": self._journal.nbytes, "damaged": "; ".join(dict.fromkeys(self._folder.damage)) or None}

    def _has_records(self) -> bool:
        """Whether there is something to go on from."""
        return self.reordered.is_dir() or max(self._journal.n_before, self._journal.n_records) > 0

    def stopped(self, stop: StoppedEarly) -> StoppedEarly:
        """The same, with a clause on how to go on, if there is something to go on from."""
        if not self._has_records():
            return stop
        if isinstance(stop.result, Result):
            stop.result.details["checkpoint"] = self.details()
        return StoppedEarly(f"{stop}; the same command with --resume continues from {self.path}", stop.result)

    def finish(self) -> None:
        """The run has ended well: remove the folder, unless it is to stay."""
        if not self._folder.options.keep:
            self._remove()

    def close(self) -> None:
        """Let go of it; one without a record is removed."""
        try:
            if self.path.exists() and not self._has_records():
                self._remove()
            self._journal.close()
        finally:
            self._folder.close()

    def _remove(self) -> None:
        """Remove the folder; where the disk does not let that be done, a warning says so: nobody needs it any more."""
        try:
            self._folder.remove()
        except OSError as error:
            _LOG.warning("the checkpoint is not needed any more, but stays: %s", error)


@contextmanager
def checkpointed(
    store: Store, identity: dict[str, Any], options: CheckpointOptions, scratch: str | Path | None
) -> Iterator[RunCheckpoint]:
    """The checkpoint of a run on `store`, open. scratch : where it is if `options` do not say. Raises
    InputError as Folder."""
    checkpoint = RunCheckpoint(options.folder or default_folder(store, identity, scratch), identity, options)
    with closing(checkpoint):
        yield checkpoint
