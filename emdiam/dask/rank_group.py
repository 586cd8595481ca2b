"""The ranks of a run as the client sees them: verbs asked of all or of some, as named tasks.

A lost worker ends what runs (WorkersLost); recovery.py opens its rank on another one, `reopen`.
"""

from __future__ import annotations

import itertools
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from distributed import Client, Future, wait
from distributed.comm import CommClosedError

from ..errors import InputError, StateLost
from ..stream.counters import Counters
from .alltoall import PeerLost
from .plan import PartSpec
from .rank import Verb, abandon_part, close_part, connect_part, on_part, open_part, rejoin_part
from .stragglers import Watch

_LOOK_SECONDS = 0.5
_REST_SECONDS = 30.0
_CANCELLED = (CancelledError, FutureCancelled)
_UNREACHABLE = (StateLost, TimeoutError, CommClosedError, *_CANCELLED)


class WorkersLost(RuntimeError):
    """Ranks that are gone. ranks : which, as far as it is known. found : what the others returned, by rank."""

    def __init__(self, ranks: Sequence[int], why: str) -> None:
        super().__init__(why)
        self.ranks = list(ranks)
        self.found: dict[int, Any] = {}


class Again(Protocol):
    """Who does verbs again when a worker is lost; see recovery.py. inside : a verb of all is under way."""

    @property
    def inside(self) -> bool: ...

    def ask(self, verb: Verb, args: dict[int, tuple[Any, ...]], label: str | None,
            tick: Callable[[], None] | None) -> list[Any]:
        """See Group.some; not together."""
        ...


class Group:
    """All ranks of one run on one cluster.

    client : of dask.distributed. addresses : of the worker of each rank. Close it.
    reports : the last report of each rank (see Part.report). plans : the memory plan of each, as a dict.
    gone_reports : the last ones of ranks whose workers were lost. again : does verbs of single ranks again; None: they
    raise WorkersLost. waited_for : ranks that others wait for, with the seconds. heartbeat : called then.
    """

    def __init__(self, client: Client, spec: PartSpec) -> None:
        self.client = client
        self._numbers = itertools.count()
        self.spec = spec
        self.reports: list[dict[str, Any]] = []
        self.plans: list[dict[str, Any]] = []
        self.n_isolated = 0
        self.gone_reports: list[dict[str, Any]] = []
        self.again: Again | None = None
        self.waited_for: dict[int, float] = {}
        self.heartbeat: Callable[[], None] | None = None
        self.rooms: list[str] = []
        self.open(spec)

    def open(self, spec: PartSpec) -> None:
        """Open all ranks as `spec` says, in a room of its own. Raises what they raise, and WorkersLost."""
        self._enter_room(spec)
        try:
            with self.reaching():
                opened = self._results(
                    [self._task("open", rank, open_part, self.spec, rank) for rank in range(self.size)])
            self.reports = [found["report"] for found in opened]
            self.plans = [found["plan"] for found in opened]
            self.n_isolated = sum(found["isolated"] for found in opened)
            self.everyone(connect_part, label="connect", together=True)
        except BaseException:
            self.close()
            raise

    def reopen(self, addresses: Sequence[str], lost: Sequence[int]) -> None:
        """Go on in another room, with the ranks `lost` opened anew, without state, on the workers at `addresses` (of
        all ranks). Raises as open."""
        rooms = list(self.rooms)
        self._enter_room(replace(self.spec, addresses=tuple(addresses)))
        with self.reaching():
            reopened = self._results([
                self._task("open", rank, open_part, self.spec, rank) if rank in lost
                else self._task("rejoin", rank, rejoin_part, rooms, rank, self.spec) for rank in range(self.size)])
        for rank, found in enumerate(reopened):
            if rank in lost:
                self.gone_reports.append(self.reports[rank])
            self.reports[rank], self.plans[rank] = found["report"], found["plan"]
        self.collect(connect_part, dict.fromkeys(range(self.size), ()), label="connect", together=True)

    def _enter_room(self, spec: PartSpec) -> None:
        self.spec = replace(spec, room=uuid.uuid4().hex)
        self.rooms.append(self.spec.room)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return len(self.spec.addresses)

    @property
    def ranges(self) -> np.ndarray:
        """int64[size + 1]: rank r owns ranges[r]..ranges[r + 1] - 1."""
        return self.spec.ranges

    def owners(self, vertices: np.ndarray) -> np.ndarray:
        """The rank of each of `vertices`, int64[k]."""
        return np.searchsorted(self.ranges, vertices, side="right") - 1

    def everyone(
        self, verb: Verb, *args: Any, label: str | None = None, together: bool = False,
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """verb(part, *args) on every rank; the results by rank. together : see on_part. tick : called now and then."""
        return self.some(verb, {rank: args for rank in range(self.size)}, label=label, together=together, tick=tick)

    def some(
        self, verb: Verb, args: dict[int, tuple[Any, ...]], *, label: str | None = None, together: bool = False,
        tick: Callable[[], None] | None = None,
    ) -> list[Any]:
        """verb(part, *args[rank]) on the ranks of `args`; the results in its order."""
        if self.again is not None and not together:
            return self.again.ask(verb, args, label, tick)
        try:
            found = self.collect(verb, args, label=label, together=together, tick=tick)
        except WorkersLost as loss:
            if self.again is None or self.again.inside:
                raise
            raise StateLost(f"{loss} within a step that is not done again") from None
        return [found[rank] for rank in args]

    def collect(
        self, verb: Verb, args: dict[int, tuple[Any, ...]], *, label: str | None = None, together: bool = False,
        tick: Callable[[], None] | None = None,
    ) -> dict[int, Any]:
        """As `some`, by rank. Raises WorkersLost, with what the others returned if they are not together."""
        name = label or verb.__name__.replace("_", "-")
        with self.reaching():
            futures = [self._task(name, rank, on_part, self.spec.room, rank, verb, mine, together)
                       for rank, mine in args.items()]
            try:
                found = dict(zip(args, self._results(futures, tick), strict=True))
            except WorkersLost as loss:
                if not together:
                    loss.found = {rank: value for rank, (value, _) in self._finished(futures).items()}
                raise
        for rank, (_, report) in found.items():
            self.reports[rank] = report
        return {rank: value for rank, (value, _) in found.items()}

    def counters(self) -> Counters:
        """The counters of all ranks together."""
        total = Counters()
        for report in (*self.reports, *self.gone_reports):
            for name, amount in report["counters"].items():
                setattr(total, name, getattr(total, name) + amount)
        return total

    def alive(self) -> dict[str, int]:
        """The workers of the cluster: threads by address. Raises StateLost if the scheduler is gone."""
        why = f"the scheduler at {self.client.scheduler.address if self.client.scheduler else 'its address'} is gone"
        if self.client.status != "running":
            raise StateLost(why)
        try:
            return dict(self.client.nthreads())
        except (OSError, ValueError, RuntimeError) as error:
            raise StateLost(f"{why} ({error})") from None

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Inside, what is said to the scheduler. Raises StateLost if it is gone, WorkersLost if only a connection
        broke."""
        try:
            yield
        except CommClosedError as error:
            self._look()
            raise WorkersLost([], f"a connection broke ({error})") from None

    def close(self) -> None:
        """Close the ranks that are still there."""
        try:
            alive = self.alive()
            futures = [self._task("close", rank, close_part, room, rank) for room in self.rooms
                       for rank, address in enumerate(self.spec.addresses) if address in alive]
            wait(futures, timeout=_REST_SECONDS)
        except _UNREACHABLE:
            return  # what does not answer cannot be told; its process ends it

    # -- tasks ----------------------------------------------------------------------------------
    def _task(self, label: str, rank: int, function: Callable[..., Any], *args: Any) -> Future:
        key = f"{label}-{self.spec.room[:8]}-{next(self._numbers)}-{rank}"
        return self.client.submit(function, *args, key=key, workers=[self.spec.addresses[rank]], pure=False,
                                  allow_other_workers=False, retries=0)

    def _results(self, futures: list[Future], tick: Callable[[], None] | None = None) -> list[Any]:
        """The results; raises the error of a task, a loss of others last, once all have ended."""
        watch, looked = Watch(self.ask_rank, self.size), time.monotonic()
        try:
            left = list(futures)
            while left:
                left = self._still_running(left)
                self.waited_for = watch.look() if left else {}
                if tick is not None:
                    tick()
                elif self.waited_for and self.heartbeat is not None:
                    self.heartbeat()
                if left and time.monotonic() - looked > _LOOK_SECONDS:
                    looked = time.monotonic()
                    self._look()
        except BaseException:
            self.waited_for = {}
            self._settle(futures)
            raise
        self._raise_errors(futures)
        return [self._fetched(future) for future in futures]

    def _fetched(self, future: Future) -> Any:
        """The result of a task that has ended. A result is on its worker until it is fetched, and may be lost there."""
        while True:
            try:
                return future.result(timeout=_LOOK_SECONDS)
            except TimeoutError:
                self._look()
            except _CANCELLED:
                self._look()
                raise WorkersLost([], "results were lost with their worker") from None

    def ask_rank(self, rank: int, function: Callable[..., Any]) -> Future:
        """function(rooms, rank) on the worker of a rank, beside what runs there."""
        return self._task("look", rank, function, self.rooms, rank)

    def _still_running(self, futures: list[Future]) -> list[Future]:
        try:
            return list(wait(futures, timeout=_LOOK_SECONDS / 2, return_when="FIRST_COMPLETED").not_done)
        except TimeoutError:
            return futures
        except _CANCELLED:
            self._look()
            raise WorkersLost([], "tasks were cancelled") from None

    def _look(self) -> None:
        """Raise WorkersLost if a worker of a rank is gone, StateLost if the scheduler is."""
        alive = self.alive()
        ranks = [rank for rank, address in enumerate(self.spec.addresses) if address not in alive]
        if ranks:
            names = ", ".join(f"worker {rank} ({self.spec.addresses[rank]})" for rank in ranks)
            raise WorkersLost(ranks, f"lost {names}")

    def _finished(self, futures: Iterable[Future]) -> dict[int, Any]:
        """The results that are there, by rank, of workers that are."""
        alive = self.alive()
        return {self._rank_of(future): future.result() for future in futures
                if future.status == "finished" and self.spec.addresses[self._rank_of(future)] in alive}

    def _settle(self, futures: Iterable[Future]) -> None:
        """Wait until nothing of this call runs any more, so that the next verb finds the parts at rest."""
        try:
            alive = self.alive()
            lost = [rank for rank, address in enumerate(self.spec.addresses) if address not in alive]
            told = [self._task("abandon", rank, abandon_part, self.spec.room, rank, lost[0], "its worker is gone")
                    for rank in range(self.size) if lost and rank not in lost]
            here = told + [future for future in futures if self._rank_of(future) not in lost]
            try:
                wait(here, timeout=_REST_SECONDS if here else 0)
            except TimeoutError:
                self.client.cancel(here)
        except _UNREACHABLE:
            return  # there is nobody to wait for

    def _rank_of(self, future: Future) -> int:
        return int(str(future.key).rsplit("-", 1)[1])

    def _raise_errors(self, futures: Sequence[Future]) -> None:
        errors = [future.exception() for future in futures if future.status in ("error", "cancelled", "lost")]
        own = [error for error in errors if not isinstance(error, PeerLost)]
        if own and own[0] is not None:
            raise own[0]
        lost = [error for error in errors if isinstance(error, PeerLost)]
        if lost:
            raise WorkersLost([error.rank for error in lost if error.rank >= 0], str(lost[0]))


def chosen_workers(client: Client, count: int | None) -> tuple[str, ...]:
    """Addresses of the workers of a run, ascending; count : how many (None: all). Raises InputError."""
    found = sorted(client.nthreads())
    if not found:
        raise InputError("the scheduler has no workers", text=client.scheduler.address,
                         remedy="start some with: dask worker " + client.scheduler.address)
    if count is not None and len(found) < count:
        raise InputError(f"the scheduler has {len(found)} workers, {count} are wanted")
    return tuple(found[:count])
