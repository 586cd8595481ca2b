"""The client's side of the ranks of a run: actors on workers that run verbs, and recovery from the loss of workers.

A call of an actor is a complete verb; meanwhile the client checks that all workers are alive. If a worker is lost, the
state of all ranks is dropped. The ranks are opened again, on the same number of workers if new ones come within
WAIT_SECONDS, else on the remaining ones, and WorkersLost ends the method, which starts again (DaskEngine.repeated).
With a checkpoint, its journal answers all verbs before the interrupted one; without, everything is computed again.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Client, Future
from distributed.comm import CommClosedError
from numpy.typing import DTypeLike

from ..errors import InputError, StateLost
from ..store.store import Store
from ..stream.counters import Counters
from .alltoall import PeerLost
from .internals import is_of_actor
from .plan import RankSpec, balanced_ranges
from .rank import Done, Rank, Verb

WAIT_SECONDS = 60.0
# After this number of losses in a row without progress, one more loss ends the run.
VAIN_LOSSES = 3
_LOOK_SECONDS, _POLL_SECONDS, _REST_SECONDS = 0.5, 0.1, 30.0
_CANCELLED = (CancelledError, FutureCancelled)
_UNREACHABLE = (StateLost, TimeoutError, OSError, RuntimeError, *_CANCELLED)


class WorkersLost(RuntimeError):
    """Workers are lost, with the state of the ranks. New ranks are open, with only the graph."""


class _Loss(RuntimeError):
    """A rank does not answer, or reports that another one is lost."""


@dataclass(frozen=True)
class Loss:
    """ranks : the lost ranks. verb : the interrupted verb. seconds : until all ranks were open again, with the wait for
    a worker."""

    ranks: list[int]
    verb: str
    seconds: float


class RankGroup:
    """All ranks of one run on one cluster.

    client : of dask.distributed. store : opened by the client. spec : for the ranks, with the address of the worker of
    each rank. mend : restarts ended workers, if nothing else does. reports : last report of each rank (see
    Rank.report). plans : memory plan of each rank, as a dict. gone_reports : last reports of lost ranks. losses : so
    far. on_loss : called after each loss. heartbeat : called from time to time while the client waits. level : progress
    of the current verb. number : number of verbs so far. unused : keys of unused columns, which ranks drop with the
    next verb. Call `close` at the end.
    """

    def __init__(
        self, client: Client, store: Store, spec: RankSpec, wait_seconds: float = WAIT_SECONDS,
        mend: Callable[[], None] | None = None
    ) -> None:
        self.client, self.spec, self._store, self._wait, self._mend = client, spec, store, wait_seconds, mend
        self.reports: list[dict[str, Any]] = []
        self.plans: list[dict[str, Any]] = []
        self.gone_reports: list[dict[str, Any]] = []
        self.losses: list[Loss] = []
        self.on_loss: Callable[[Loss], None] | None = None
        self.heartbeat: Callable[[], None] | None = None
        self.level: int | None = None
        self.n_isolated = self.number = 0
        self.unused: list[int] = []
        self._futures: list[Future[Any]] = []
        self.ranks: list[Any] = []
        try:
            try:
                self._open()
            except _Loss as loss:
                self._restore(str(loss), "open")
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """Number of ranks."""
        return len(self.spec.addresses)

    @property
    def ranges(self) -> np.ndarray:
        """int64[size + 1]: rank r owns ranges[r]..ranges[r + 1] - 1."""
        return self.spec.ranges

    @property
    def pool_bytes(self) -> int:
        """Bytes of columns of the whole graph that fit the pools of all ranks. Without a memory limit it does not
        depend on the number of ranks, since each has only the part of a column of its vertices."""
        n, sizes = int(self.ranges[-1]), np.diff(self.ranges).tolist()
        return min((plan["pool_bytes"] * n // size for plan, size in zip(self.plans, sizes, strict=True) if size),
                   default=0)

    def owners(self, vertices: np.ndarray) -> np.ndarray:
        """The rank of each of `vertices`, int64[k]."""
        return np.searchsorted(self.ranges, vertices, side="right") - 1

    def by_owner(self, vertices: np.ndarray) -> dict[int, np.ndarray]:
        """Positions in `vertices` by owning rank."""
        owners = self.owners(vertices)
        return {int(rank): np.flatnonzero(owners == rank) for rank in np.unique(owners)}

    def split_words(self, bitmap: np.ndarray) -> list[np.ndarray]:
        """The part of each range of a bitmap of all vertices."""
        return np.split(bitmap, (self.ranges[1:-1] + 63) >> 6)

    # -- verbs ------------------------------------------------------------------------------------
    def everyone(self, verb: Verb, *args: Any) -> list[Any]:
        """verb(rank, *args) on every rank; the results by rank."""
        return self.some(verb, dict.fromkeys(range(self.size), args))

    def some(self, verb: Verb, args: dict[int, tuple[Any, ...]]) -> list[Any]:
        """verb(rank, *args[rank]) on the ranks of `args`; the results in its order. Raises the exception of a rank, and
        WorkersLost, or StateLost if no other worker exists."""
        try:
            done = self._asked(verb, args)
        except _Loss as loss:
            self._restore(str(loss), verb.__name__.replace("_", "-"))
            raise WorkersLost(str(loss)) from None
        for rank, end in done.items():
            self.reports[rank] = end.report
        return [done[rank].value for rank in args]

    def gathered(self, verb: Verb, ids: np.ndarray, dtype: DTypeLike, *args: Any) -> np.ndarray:
        """A value of each vertex, dtype[k], from its owner: verb(rank, *args, ids of this rank)."""
        wanted = np.asarray(ids, np.int64)
        places, values = self.by_owner(wanted), np.empty(len(wanted), dtype)
        parts = self.some(verb, {rank: (*args, wanted[at]) for rank, at in places.items()})
        for at, part in zip(places.values(), parts, strict=True):
            values[at] = part
        return values

    def _asked(self, verb: Verb, args: dict[int, tuple[Any, ...]]) -> dict[int, Done]:
        self.number += 1
        calls: dict[int, Any] = {}
        unused: list[int] = []
        if len(args) == self.size:  # only with a verb of all ranks
            unused[:], self.unused[:] = self.unused, []
        try:
            with _reaching():
                for rank, arguments in args.items():
                    calls[rank] = self.ranks[rank].run(self.number, verb, arguments, unused)
            return self._results(calls)
        except BaseException as error:
            self._settle(calls, f"{type(error).__name__}: {error}")
            raise

    def _results(self, calls: dict[int, Any]) -> dict[int, Any]:
        """The results of calls of actors, or of their futures, by rank; raises the first error."""
        left, done, last_look = dict(calls), dict[int, Any](), time.monotonic()
        asked: Any = None
        while left:
            with contextlib.suppress(Exception):  # handled below
                next(iter(left.values())).result(timeout=_LOOK_SECONDS / 2)
            for rank in [rank for rank, call in left.items() if call.done()]:
                with _reaching():
                    done[rank] = left.pop(rank).result()
                if isinstance(done[rank], Done) and done[rank].error is not None:
                    raise done[rank].error
            if left and time.monotonic() - last_look > _LOOK_SECONDS:
                last_look = time.monotonic()
                self._look()
                if asked is None or asked.done():
                    asked = self._noted_level(asked)
                if self.heartbeat is not None:
                    self.heartbeat()
        self.level = None
        return done

    def _noted_level(self, asked: Any) -> Any:
        """Store the progress of rank 0, if it has answered, and ask again."""
        with contextlib.suppress(*_UNREACHABLE):  # only for the progress display
            self.level = self.level if asked is None else asked.result()
            return self.ranks[0].level() if self.ranks else None

    def _settle(self, calls: dict[int, Any], why: str) -> None:
        """Wait until all these calls have ended, so that the ranks are idle before the next verb."""
        with contextlib.suppress(*_UNREACHABLE):  # without a scheduler, no call can be waited for
            alive = self.alive()
            here = [rank for rank in calls if self.spec.addresses[rank] in alive]
            for rank in here:
                self.ranks[rank].abandon(self.number, why)
            _rest([calls[rank] for rank in here])

    def counters(self) -> Counters:
        """The counters of all ranks together."""
        return sum((Counters(**report["counters"]) for report in (*self.reports, *self.gone_reports)), Counters())

    # -- workers ----------------------------------------------------------------------------------
    def alive(self) -> dict[str, int]:
        """Numbers of threads of the workers of the cluster, by address. Raises StateLost if the scheduler is lost."""
        why = f"the scheduler at {self.client.scheduler.address if self.client.scheduler else 'its address'} was lost"
        if self.client.status != "running":
            raise StateLost(why)
        try:
            return dict(self.client.nthreads())
        except (OSError, ValueError, RuntimeError) as error:
            raise StateLost(f"{why} ({error})") from None

    def _lost(self) -> list[int]:
        """The ranks whose workers are lost."""
        alive = self.alive()
        return [rank for rank, address in enumerate(self.spec.addresses) if address not in alive]

    def _look(self) -> None:
        """Raise _Loss if a worker of a rank is lost, StateLost if the scheduler is."""
        ranks = self._lost()
        if ranks:
            raise _Loss("lost " + ", ".join(f"worker {rank} ({self.spec.addresses[rank]})" for rank in ranks))

    def _open(self) -> None:
        """Open all ranks by self.spec. Raises their exceptions, and _Loss."""
        name = uuid.uuid4().hex[:8]
        with _reaching():
            self._futures = [
                self.client.submit(Rank, self.spec, rank, key=f"rank-{name}-{rank}", workers=[address], actor=True,
                                   allow_other_workers=False, retries=0, pure=False)
                for rank, address in enumerate(self.spec.addresses)]
        try:
            actors = self._results(dict(enumerate(self._futures)))
        except Exception:
            self._look()  # names the reason if a worker is lost
            raise
        self.ranks = [actors[rank] for rank in range(self.size)]
        opened: list[Done] = self._each("opened")
        self._each("connect", self._each("listen"))
        self.reports = [rank.report for rank in opened]
        self.plans = [rank.value[0] for rank in opened]
        self.n_isolated = sum(rank.value[1] for rank in opened)

    def _each(self, method: str, *args: Any) -> list[Any]:
        """Call a short method of all actors."""
        with _reaching():
            results = self._results({rank: getattr(actor, method)(*args) for rank, actor in enumerate(self.ranks)})
        return [results[rank] for rank in range(self.size)]

    def close(self) -> None:
        """Close the ranks of living workers."""
        with contextlib.suppress(*_UNREACHABLE):  # a rank that does not answer ends with its process
            alive = self.alive()
            here = [rank for rank, address in zip(self.ranks, self.spec.addresses, strict=False) if address in alive]
            _rest([call for rank in here for call in (rank.disconnect(), rank.close())])
        self.ranks, self._futures = [], []  # actors live as long as their futures

    # -- loss -------------------------------------------------------------------------------------
    def _restore(self, why: str, verb: str) -> None:
        """Open all ranks again, with only the graph. Raises StateLost if that is impossible."""
        begin, lost, before, reports = time.monotonic(), self._lost(), self.spec, self.reports
        try:
            self._open_anew(why)
        except BaseException:
            self.spec = before  # matches the last reports
            raise
        self.gone_reports += reports
        self.losses.append(Loss(lost, verb, time.monotonic() - begin))
        if self.on_loss is not None:
            self.on_loss(self.losses[-1])

    def _open_anew(self, why: str) -> None:
        """Open all ranks on the living workers, and again if one is lost meanwhile."""
        for _ in range(VAIN_LOSSES):
            self.close()
            addresses = self._workers(why)
            self.spec = replace(self.spec, addresses=addresses, ranges=balanced_ranges(self._store, len(addresses)))
            try:
                self._open()
                return
            except _Loss as again:
                why = str(again)
        raise StateLost(f"{why}, {VAIN_LOSSES + 1} times at the same place")

    def _workers(self, why: str) -> tuple[str, ...]:
        """Wait for the previous number of workers; return them, or the remaining ones."""
        until = time.monotonic() + self._wait
        while True:
            alive = self.alive()
            here = [address for address in self.spec.addresses if address in alive]
            spare = sorted(set(alive) - set(here))
            if len(alive) >= self.size:
                return tuple((here + spare)[: self.size])
            if time.monotonic() >= until:
                if alive:
                    return tuple(here + spare)
                raise StateLost(f"{why}, and no other worker has joined within {self._wait:.0f} s")
            if self._mend is not None:
                self._mend()
            if self.heartbeat is not None:
                self.heartbeat()
            time.sleep(_POLL_SECONDS)


def _rest(calls: list[Any]) -> None:
    """Wait until all calls are done, for at most _REST_SECONDS."""
    until = time.monotonic() + _REST_SECONDS
    while time.monotonic() < until and not all(call.done() for call in calls):
        time.sleep(_POLL_SECONDS / 10)


@contextmanager
def _reaching() -> Iterator[None]:
    """A context for communication with scheduler and workers that raises _Loss if it fails."""
    try:
        yield
    except PeerLost as lost:
        raise _Loss(str(lost)) from None
    except (CommClosedError, TimeoutError, *_CANCELLED) as error:
        raise _Loss(f"a connection broke ({error})") from None
    except (OSError, RuntimeError) as error:
        if not is_of_actor(error):
            raise
        raise _Loss(f"a connection broke ({error})" if isinstance(error, OSError) else str(error)) from None


def chosen_workers(scheduler: str, there: Mapping[str, int], count: int | None) -> tuple[str, ...]:
    """Addresses of the workers of a run, ascending.

    scheduler : its address. there : numbers of threads of its workers, by address. count : number of workers (None:
    all). Raises InputError."""
    if not there:
        raise InputError("the scheduler has no workers", text=scheduler,
                         remedy="start some with: dask worker " + scheduler)
    if count is not None and len(there) < count:
        raise InputError(f"the scheduler has {len(there)} workers, {count} are wanted", text=scheduler,
                         remedy=f"give --workers {len(there)}, or start more with: dask worker {scheduler}")
    return tuple(sorted(there)[:count])
