"""Going on when workers are lost: their ranks opened on other workers, their state brought back, the verb done again.

What ranks hold between two verbs of the engine is copied at the end of each verb that ranks do together (replicas.py).
Verbs of single ranks in between are noted, and done again on a rank that is restored. So a loss costs the verb in
flight at most; a BFS goes on from its last mark (flight.py) and costs at most the levels since then. A rank whose
holder is lost with it, or that has none because it is alone, cannot be restored: then the run stops with StateLost.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from ..errors import StateLost
from . import replicas
from .column_verbs import drop_columns
from .columns import Columns
from .rank import Verb, look_at_part
from .rank_group import Group, WorkersLost

WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1
_ANSWER_SECONDS = 20.0
# What is noted between two rounds of copies is kept this small.
_MOST_NOTES, _MOST_NOTED_BYTES = 512, 8 << 20
# Verbs of single ranks that leave their state as it was.
_READING = {
    "gather_values", "part_values", "select_vertices", "first_vertex", "best_vertex", "range_maxima", "open_range",
    "open_ids", "best_open", "degrees_of", "rows_of", "of_degree", "highest_degrees", "first_connected", "edges_exist",
    "keep_undo", "undo", "forget_undo", "piece_digests", "reached_words",
}
_READING_METHODS = {"count", "histogram", "largest"}
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Loss:
    """ranks : that were lost. verb : in flight. seconds : until it went on, the waiting for a worker included."""

    ranks: list[int]
    verb: str
    seconds: float


@dataclass(frozen=True)
class Together:
    """A verb that ranks do together. changed : names of arguments, columns or labels, that it changes in place.
    writes : whether it changes state at all."""

    name: str
    changed: tuple[str, ...] = ()
    writes: bool = True


# What is not here, and is done by all together, ends the run when a worker is lost.
TOGETHER = (
    Together("bfs"), Together("eccentricities", ("columns",)), Together("spread", ("bound",)),
    Together("extend", ("bound",)), Together("components"), Together("grow_clusters"), Together("restart", ("labels",)),
    Together("scan", writes=False), Together("tree_diameter", writes=False), Together("follow_chains", writes=False),
    Together("condense", writes=False),  # arcs that are handed over twice are parallel ones, of which one is kept
)


@dataclass
class _Whole:
    """The verb of all that is under way. changed : keys of columns that it changes in place."""

    number: int
    name: str
    changed: list[replicas.Key]


class Recovery:
    """Keeps the state of a group whole. told : called after each loss. wait_seconds : for other workers.

    losses : so far. told : as given.
    """

    def __init__(
        self, group: Group, columns: Columns, told: Callable[[Loss], None] | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._group, self._columns, self.told, self._wait = group, columns, told, wait_seconds
        self.losses: list[Loss] = []
        self._serial = self._number = 0
        self._bare: set[int] = set()  # whose holder has no copies
        self._copied: dict[int, str] = {}  # dtypes of the columns of the last copies, by key
        self._notes: list[tuple[Verb, dict[int, tuple[Any, ...]]]] = []
        self._noted_bytes = 0
        self._whole: _Whole | None = None
        group.again = self

    @property
    def inside(self) -> bool:
        """Whether a verb of all is under way."""
        return self._whole is not None

    # -- verbs of single ranks ------------------------------------------------------------------
    def ask(
        self, verb: Verb, args: dict[int, tuple[Any, ...]], label: str | None,
        tick: Callable[[], None] | None,
    ) -> list[Any]:
        """See Group.some, not together. Outside of a verb of all, a rank that is lost is restored, and asked again."""
        found: dict[int, Any] = {}
        while len(found) < len(args):
            left = {rank: mine for rank, mine in args.items() if rank not in found}
            try:
                found |= self._group.collect(verb, left, label=label, tick=tick)
            except WorkersLost as loss:
                if self.inside:
                    raise
                found |= loss.found
                self.restore(loss, verb.__name__)
        if not self.inside and not _only_reads(verb, args):
            self._note(verb, args)
        return [found[rank] for rank in args]

    def _note(self, verb: Verb, args: dict[int, tuple[Any, ...]]) -> None:
        self._notes.append((verb, args))
        self._noted_bytes += sum(value.nbytes for mine in args.values() for value in mine
                                 if isinstance(value, np.ndarray))
        if len(self._notes) > _MOST_NOTES or self._noted_bytes > _MOST_NOTED_BYTES:
            try:
                self.copy()
            except WorkersLost as loss:
                self.restore(loss, "copy")

    # -- verbs of all ranks together ------------------------------------------------------------
    def whole(self, how: Together, given: Sequence[Any], live: Callable[[], _Value]) -> _Value:
        """live(), the verb `how`, which may be done again when workers are lost. given : columns and labels that it
        changes in place, other than by clearing them first."""
        if self.inside:
            return live()
        self._number += 1
        name, keys = how.name, [_key_of(item) for item in given if item is not None]
        while True:
            self._whole = _Whole(self._number, name, keys)
            try:
                if keys:
                    self._group.everyone(replicas.keep_undo, self._number, keys)
                try:
                    value = live()
                except OverflowError:
                    self.copy()
                    raise
                if how.writes:
                    self.copy()
                break
            except WorkersLost as loss:
                self.restore(loss, name)
            finally:
                self._whole = None
        if keys:
            self._group.everyone(replicas.forget_undo)
        return value

    def step(self, name: str, live: Callable[[], _Value]) -> _Value:
        """live(), a step of a verb that changes no state. Raises WorkersLost once the ranks that were lost are there
        again: the verb is to begin anew."""
        if self.inside:
            return live()
        self._number += 1
        self._whole = _Whole(self._number, name, [])
        try:
            return live()
        except WorkersLost as loss:
            self.restore(loss, name)
            raise
        finally:
            self._whole = None

    def copy(self, fresh: bool = False) -> None:
        """A round of copies; what was noted before is not needed any more. Raises WorkersLost."""
        if self._group.size > 1:
            self._together(replicas.copy_state, self._serial + 1, fresh, list(self._columns.alive), label="copy")
            self._serial += 1
            if fresh:
                self._bare = set()
        self._notes, self._noted_bytes = [], 0
        self._copied = self._wanted()

    def _wanted(self) -> dict[int, str]:
        """dtypes of the columns that somebody holds, by key."""
        return {key: column.dtype.name for key, column in list(self._columns.alive.items())}

    # -- loss -----------------------------------------------------------------------------------
    def restore(self, loss: WorkersLost, verb: str) -> list[int]:
        """Every rank is there again, with the state that it had before the verb of all under way; the ranks that were
        lost. Raises StateLost."""
        begin, lost, why = time.monotonic(), set[int](), str(loss)
        while True:
            try:
                lost |= self._find_lost()
                self._check(lost, why)
                addresses = self._find_workers(lost, why)
                self._bring_back(addresses, sorted(lost))
                break
            except WorkersLost as again:
                why = str(again)
        done = Loss(sorted(lost), verb, time.monotonic() - begin)
        self.losses.append(done)
        if self.told is not None:
            self.told(done)
        return done.ranks

    def _bring_back(self, addresses: list[str], lost: list[int]) -> None:
        group, size = self._group, self._group.size
        group.reopen(addresses, lost)
        self._bare |= {(rank + 1) % size for rank in lost}
        wanted = self._wanted()
        # What was noted since the last copies may look at columns that nobody holds any more.
        self._together(replicas.hand_back, lost, self._serial, {**self._copied, **wanted}, label="restore")
        for verb, args in self._notes:
            mine = {rank: args[rank] for rank in lost if rank in args}
            if mine:
                group.collect(verb, mine, label="repeat")
        group.collect(drop_columns, dict.fromkeys(lost, ([key for key in self._copied if key not in wanted],)))
        if self._whole is not None and self._whole.changed:
            group.collect(replicas.undo, {rank: (self._whole.number,) for rank in range(size)})
        self.copy(fresh=True)

    def _find_lost(self) -> set[int]:
        """The ranks that do not answer: their worker is gone, or has forgotten them."""
        group, until = self._group, time.monotonic() + _ANSWER_SECONDS
        asked = {rank: group.ask_rank(rank, look_at_part) for rank in range(group.size)}
        while time.monotonic() < until:
            alive = group.alive()
            waiting = [rank for rank, future in asked.items()
                       if group.spec.addresses[rank] in alive and not future.done()]
            if not waiting:
                break
            time.sleep(_POLL_SECONDS)
        alive = group.alive()
        with group.reaching():
            return {rank for rank, future in asked.items() if group.spec.addresses[rank] not in alive
                    or future.status != "finished" or not future.result()[0]}

    def _together(self, verb: Verb, *args: Any, label: str) -> None:
        group = self._group
        group.collect(verb, dict.fromkeys(range(group.size), args), label=label, together=True)

    def _check(self, lost: set[int], why: str) -> None:
        """Raise StateLost if the state of a rank is gone."""
        size = self._group.size
        for rank in sorted(lost):
            if size == 1 or (rank - 1) % size in lost or rank in self._bare:
                raise StateLost(f"{why}, and no other worker has what it held")

    def _find_workers(self, lost: set[int], why: str) -> list[str]:
        """A worker for each rank: its own, or one that has no rank, waited for."""
        group, until = self._group, time.monotonic() + self._wait
        while True:
            alive = group.alive()
            addresses = list(group.spec.addresses)
            kept = {address for rank, address in enumerate(addresses) if rank not in lost or address in alive}
            spare = sorted(set(alive) - kept)
            missing = [rank for rank in sorted(lost) if addresses[rank] not in alive]
            if len(spare) >= len(missing):
                for rank, address in zip(missing, spare, strict=False):
                    addresses[rank] = address
                return addresses
            if time.monotonic() >= until:
                raise StateLost(f"{why}, and no other worker has joined within {self._wait:.0f} s")
            if group.heartbeat is not None:
                group.heartbeat()
            time.sleep(_POLL_SECONDS)


def _only_reads(verb: Verb, args: dict[int, tuple[Any, ...]]) -> bool:
    """Whether a verb changes no state of its rank."""
    if verb.__name__ in ("ask_column", "fold_columns"):
        names = {mine[1] if verb.__name__ == "ask_column" else mine[0] for mine in args.values()}
        return names <= _READING_METHODS
    return verb.__name__ in _READING


def _key_of(item: Any) -> replicas.Key:
    """How replicas.py names a column or labels."""
    key: replicas.Key = item.key
    return key


def recovering(engine: type[_Value]) -> type[_Value]:
    """A class decorator: verbs of TOGETHER of an engine with an attribute `recovery` are done again after a loss."""
    for how in TOGETHER:
        method = getattr(engine, how.name, None)
        if method is not None:
            setattr(engine, how.name, _again(how, method, inspect.signature(method)))
    pieces = getattr(engine, "path_pieces", None)
    if pieces is not None:
        setattr(engine, "path_pieces", _again_from_there(pieces))  # noqa: B010 - the class is any
    return engine


def _again(how: Together, method: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    @wraps(method)
    def verb(self: Any, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, *args, **named).arguments
        changed: list[Any] = []
        for argument in how.changed:
            value = given.get(argument)
            changed += value if isinstance(value, list | tuple) else [value]
        return self.recovery.whole(how, changed, lambda: method(self, *args, **named))

    return verb


def _again_from_there(method: Callable[..., Iterator[np.ndarray]]) -> Callable[..., Iterator[np.ndarray]]:
    """A path in pieces, which after a loss is walked again from its beginning and told from where it was."""
    @wraps(method)
    def pieces(self: Any, *args: Any, **named: Any) -> Iterator[np.ndarray]:
        told, ended = 0, False
        while not ended:
            walk, skip = method(self, *args, **named), told
            try:
                while (piece := self.recovery.step("path", partial(next, walk, None))) is not None:
                    new = piece[min(skip, len(piece)) :]
                    skip -= len(piece) - len(new)
                    told += len(new)
                    if len(new):
                        yield new
                ended = True
            except WorkersLost:
                continue  # restored already

    return pieces
