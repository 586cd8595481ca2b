"""Rounds between ranks: every rank gives every other one a message, or all learn a few numbers of all.

A round is one call of `swap` or `share` on every rank, in the same order everywhere. `swap` goes straight from worker
to worker, each message once. `share` gathers along a tree: in ceil(log2 ranks) steps each rank sends all that it knows
to one other (Bruck's allgather), so 64 ranks send 6 messages each and not 63.
Messages go over connections of dask.distributed that ranks open once to each other (`distributed.comm.listen` and
`connect`, with the workers' own TLS), not over calls of the actors: measured on two cores, a round of calls takes
0.60 ms of CPU a rank where a round of messages takes 0.31 with 2 ranks (1.2 to 1.9 ms of time after 0.6 to 1.0), 1.8
and 0.8 ms with 4, since each call is answered; a task on each worker took 10 ms.
A rank whose connection closes ends the round of all others with PeerLost, and so does the client (`abandon`), so that
nobody waits for the dead; a slow rank is waited for.
Source: Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications (1997).
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Worker
from distributed.protocol import to_serialize

from .internals import connected_as, listener_beside

NO_FACTS = np.empty(0, np.int64)
_NOTHING = np.empty(0, np.uint8)
_SMALL = 1 << 14
_CONNECT_SECONDS = 60.0
_WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}


class PeerLost(RuntimeError):
    """Another rank is gone or has failed; the round is over. rank : which, -1 where it is not known."""

    def __init__(self, rank: int, why: str) -> None:
        super().__init__(f"worker {rank} is gone ({why})")
        self.rank, self.why = rank, why

    def __reduce__(self) -> tuple[Any, ...]:
        return PeerLost, (self.rank, self.why)


@dataclass
class MessageCounts:
    """rounds : of all kinds. messages : sent to others. payload_bytes : data sent. fact_bytes : numbers sent.
    wait_seconds : spent in rounds."""

    rounds: int = 0
    messages: int = 0
    payload_bytes: int = 0
    fact_bytes: int = 0
    wait_seconds: float = 0.0


class AllToAll:
    """Rank `rank` of `size` among the others. `listen` and `connect` it first, on the event loop of its worker; rounds
    are of the thread that computes."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.others = [other for other in range(size) if other != rank]
        self.counts = MessageCounts()
        self._verb = self._round = 0
        self._changed = threading.Condition()
        self._inbox: dict[tuple[int, int, int], tuple[bytes, Any]] = {}
        self._lost: PeerLost | None = None
        self._abandoned = -1
        self._sending: Future[Any] | None = None
        self._comms: dict[int, Any] = {}
        self._listener: Any = None
        self._readers: set[asyncio.Task[None]] = set()

    # -- connections, on the event loop -----------------------------------------------------------
    async def listen(self, worker: Worker) -> str:
        """Listen beside the worker, on a port of the system's choice; the address."""
        self._loop, self._all_there = asyncio.get_running_loop(), asyncio.Event()
        self._worker, self._listener = worker, listener_beside(worker, self._receive)
        await self._listener.start()
        address: str = self._listener.contact_address
        return address

    async def connect(self, addresses: list[str]) -> None:
        """One connection to each other rank, whose addresses these are; all of them listen. Raises PeerLost."""
        try:
            for rank in range(self.rank + 1, self.size):
                comm = await connected_as(self._worker, addresses[rank])
                await comm.write({"rank": self.rank})
                reader = asyncio.create_task(self._read(comm, rank))
                self._readers.add(reader)  # which the loop does not hold
                reader.add_done_callback(self._readers.discard)
            if self.others:
                await asyncio.wait_for(self._all_there.wait(), _CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise PeerLost(-1, str(error) or "it does not answer") from None

    async def _receive(self, comm: Any) -> None:
        """A rank of smaller number has connected."""
        await self._read(comm, (await comm.read())["rank"])

    async def _read(self, comm: Any, rank: int) -> None:
        """Put what comes from `rank` into the inbox until the connection closes."""
        self._comms[rank] = comm
        if len(self._comms) == len(self.others):
            self._all_there.set()
        why = "its connection closed"
        try:
            while True:
                message = await comm.read()
                with self._changed:
                    self._inbox[message["verb"], message["round"], rank] = message["facts"], message["data"]
                    self._changed.notify_all()
        except OSError as error:
            why = str(error) or why
        finally:
            with self._changed:
                self._lost = self._lost or PeerLost(rank, why)
                self._changed.notify_all()

    async def abandon(self, verb: int, why: str) -> None:
        """The rounds of verb number `verb` are over, whoever waits in them."""
        with self._changed:
            self._abandoned, self._why = max(verb, self._abandoned), why
            self._changed.notify_all()

    async def close(self) -> None:
        """Close the connections."""
        for comm in self._comms.values():
            comm.abort()
        if self._listener is not None:
            self._listener.stop()

    # -- rounds -----------------------------------------------------------------------------------
    def begin(self, verb: int) -> None:
        """The rounds to come are of verb number `verb`, larger than all before."""
        self._verb, self._round, self._sending = verb, 0, None
        with self._changed:
            for place in [place for place in self._inbox if place[0] < verb]:
                del self._inbox[place]

    def swap(
        self, payloads: dict[int, np.ndarray], facts: np.ndarray = NO_FACTS
    ) -> tuple[dict[int, np.ndarray], np.ndarray]:
        """Give payloads[rank] (uint8[k]; none: empty) and `facts` (int64[f]) to every other rank, and take theirs.

        Returns (their payloads by rank, facts int64[ranks, f]). Blocks until all have come. Raises PeerLost."""
        begin = self._begin_round()
        raw, given = _narrow(facts), {rank: payloads.get(rank, _NOTHING) for rank in self.others}
        self._send(given, raw)
        result: dict[int, np.ndarray] = {}
        table = np.empty((self.size, len(facts)), np.int64)
        table[self.rank] = facts
        for rank in self.others:
            theirs, data = self._take(rank)
            table[rank] = _wide(theirs, len(facts))
            data = np.frombuffer(data, np.uint8)
            result[rank] = data if data.flags.writeable else data.copy()
        if any(data.nbytes > _SMALL for data in given.values()):
            self._finish_sending()  # the caller may write to what it gave
        self.counts.payload_bytes += sum(len(data) for data in given.values())
        self.counts.wait_seconds += time.perf_counter() - begin
        return result, table

    def share(self, facts: np.ndarray) -> np.ndarray:
        """The `facts` (int64[f], of one length everywhere) of all ranks, int64[ranks, f]. Raises PeerLost."""
        begin, table = self._begin_round(), np.empty((self.size, len(facts)), np.int64)
        rows, known = facts[np.newaxis], 1  # of this rank and the next ones
        while known < self.size:
            count = min(known, self.size - known)
            self._send({(self.rank - known) % self.size: _NOTHING}, _narrow(rows[:count].reshape(-1)))
            theirs, _ = self._take((self.rank + known) % self.size)
            more = _wide(theirs, count * len(facts)).reshape(count, len(facts))
            rows, known = np.concatenate((rows, more)), known + count
            self._round += 1
        table[(self.rank + np.arange(self.size)) % self.size] = rows
        self.counts.wait_seconds += time.perf_counter() - begin
        return table

    def total(self, facts: np.ndarray) -> np.ndarray:
        """The sums over all ranks of `facts`, int64[f]."""
        total: np.ndarray = self.share(facts).sum(axis=0)
        return total

    def _begin_round(self) -> float:
        """Now, in seconds of time.perf_counter."""
        self._check()
        self.counts.rounds += 1
        self._round += 1
        return time.perf_counter()

    def _check(self) -> None:
        if self._abandoned >= self._verb:
            raise PeerLost(-1, self._why)
        if self._lost is not None:
            raise self._lost

    def _send(self, given: dict[int, np.ndarray], facts: bytes) -> None:
        """Begin to send the messages of this round, once those before are gone; small data is copied."""
        self._finish_sending()
        messages = {rank: {"verb": self._verb, "round": self._round, "facts": facts,
                          "data": to_serialize(data) if data.nbytes > _SMALL else data.tobytes()}
                   for rank, data in given.items()}
        if messages:
            self._sending = asyncio.run_coroutine_threadsafe(self._write(messages), self._loop)
        self.counts.messages += len(given)
        self.counts.fact_bytes += len(facts) * len(given)

    async def _write(self, messages: dict[int, dict[str, Any]]) -> None:
        await asyncio.gather(*(self._comms[rank].write(message) for rank, message in messages.items()))

    def _finish_sending(self) -> None:
        sending, self._sending = self._sending, None
        try:
            if sending is not None:
                sending.result()
        except OSError as error:
            raise PeerLost(-1, str(error)) from None

    def _take(self, rank: int) -> tuple[bytes, Any]:
        place = self._verb, self._round, rank
        with self._changed:
            while place not in self._inbox:
                self._check()
                self._changed.wait()
            return self._inbox.pop(place)


def _narrow(facts: np.ndarray) -> bytes:
    """Numbers, int64[f], in as few bytes each as all of them fit in."""
    narrow = np.min_scalar_type(facts.max(initial=0)) if facts.min(initial=0) >= 0 else np.int64
    return facts.astype(narrow).tobytes()


def _wide(raw: bytes, count: int) -> np.ndarray:
    """The `count` numbers of _narrow."""
    return np.frombuffer(raw, _WIDTHS[len(raw) // count]) if count else np.empty(0, np.int64)
