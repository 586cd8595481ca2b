"""Worker to worker: every rank gives every other one message a round, over Dask's own connections.

A round is one call of `swap` on every rank, in the same order everywhere. Messages go straight from worker to worker
over the comms of dask.distributed (its addresses, its TLS, its interfaces), never through scheduler or client. A rank
whose connection is lost, or which told of a failure, ends the round of all others with PeerLost, so nobody waits for
the dead; a slow one is waited for.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed.comm import connect
from distributed.protocol import to_serialize
from distributed.worker import Worker

OPERATION = "emdiam_mail"
_NOTHING = np.empty(0, np.uint8)
_SMALL = 1 << 14
_WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}
# Mailboxes of this process by room and rank: workers of one process are told apart by their ranks.
_ROOMS: dict[tuple[str, int], Mail] = {}


class PeerLost(RuntimeError):
    """Another rank is gone or has failed; the round is over. rank : which."""

    def __init__(self, rank: int, why: str) -> None:
        super().__init__(f"worker {rank} is gone ({why})")
        self.rank, self.why = rank, why

    def __reduce__(self) -> tuple[Any, ...]:
        return PeerLost, (self.rank, self.why)


@dataclass
class MailCounts:
    """rounds : swaps. messages : sent to others. payload_bytes : data sent. fact_bytes : numbers sent along.
    wait_seconds : spent waiting for others. copy_bytes : of copies sent (replicas.py), apart."""

    rounds: int = 0
    messages: int = 0
    payload_bytes: int = 0
    fact_bytes: int = 0
    wait_seconds: float = 0.0
    copy_bytes: int = 0


class Mail:
    """The mailbox of one rank of one run.

    worker : the Dask worker it lives on. room : name of the run and its epoch. rank, addresses : its place among all.
    """

    def __init__(self, worker: Worker, room: str, rank: int, addresses: list[str]) -> None:
        self._worker, self._room, self.rank, self._addresses = worker, room, rank, addresses
        self.counts = MailCounts()
        self._round = 0
        self._changed = threading.Condition()
        self._inbox: dict[tuple[int, int], tuple[bytes, Any]] = {}
        self._lost: PeerLost | None = None
        self._sending: Future[Any] | None = None
        self._agreed = False
        self._comms: dict[int, Any] = {}
        self._incoming: list[Any] = []
        self.waiting: tuple[int, float] | None = None  # the rank that is waited for, and since when (monotonic)
        _ROOMS[room, rank] = self
        worker.handlers[OPERATION] = _receive

    @property
    def others(self) -> list[int]:
        """All ranks but this one."""
        return [rank for rank in range(len(self._addresses)) if rank != self.rank]

    def connect(self) -> None:
        """Open the connections to all others, whose mailboxes must exist. Raises PeerLost."""
        async def open_all() -> None:
            for rank in self.others:
                comm = await connect(self._addresses[rank], **self._worker.connection_args)
                await comm.write({"op": OPERATION, "room": self._room, "to": rank, "rank": self.rank,
                                  "reply": False})
                self._comms[rank] = comm

        try:
            self._on_loop(open_all()).result()
        except OSError as error:
            raise PeerLost(-1, str(error)) from None

    def swap(self, payloads: dict[int, np.ndarray], facts: np.ndarray) -> tuple[dict[int, np.ndarray], np.ndarray]:
        """Give payloads[rank] (uint8[k]; none: empty) and `facts` (int64[f]) to every other rank, and take theirs.

        Returns (their payloads by rank, facts int64[ranks, f]). Blocks until all have come. Raises PeerLost."""
        self.counts.rounds += 1
        if len(self._addresses) == 1:
            return {}, facts[np.newaxis]
        begin = time.perf_counter()
        self._round += 1
        raw = _narrow(facts)
        self._finish_sending()
        given = {rank: payloads.get(rank, _NOTHING) for rank in self.others}
        self._sending = self._on_loop(self._send({rank: self._letter(data, raw) for rank, data in given.items()}))
        found: dict[int, np.ndarray] = {}
        table = np.empty((len(self._addresses), len(facts)), np.int64)
        table[self.rank] = facts
        for rank in self.others:
            theirs, data = self._take(rank)
            table[rank] = _wide(theirs, len(facts))
            data = np.frombuffer(data, np.uint8)
            found[rank] = data if data.flags.writeable else data.copy()
        if any(data.nbytes > _SMALL for data in given.values()):
            self._finish_sending()  # the caller may write to what it gave
        self.counts.messages += len(self.others)
        self.counts.payload_bytes += sum(len(data) for data in given.values())
        self.counts.fact_bytes += len(raw) * len(self.others)
        self.counts.wait_seconds += time.perf_counter() - begin
        return found, table

    def total(self, facts: np.ndarray) -> np.ndarray:
        """The sums over all ranks of `facts`, int64[f]."""
        total: np.ndarray = self.swap({}, facts)[1].sum(axis=0)
        return total

    def agree(self) -> None:
        """All ranks are about to raise the same error: the next `fail` tells nobody, and rounds go on after it."""
        self._agreed = True

    def fail(self, why: str) -> None:
        """Tell the others that this rank cannot go on."""
        if self._agreed:
            self._agreed = False
            return

        async def tell() -> None:
            for comm in self._comms.values():
                await comm.write({"failed": why})

        try:
            self._on_loop(tell()).result()
        except OSError:
            return  # who cannot be told sees the connection close

    def close(self) -> None:
        """Close the connections and leave the room."""
        async def close_all() -> None:
            for comm in (*self._comms.values(), *self._incoming):
                comm.abort()

        _ROOMS.pop((self._room, self.rank), None)
        self._on_loop(close_all()).result()

    def lose(self, rank: int, why: str) -> None:
        """Note that a rank is gone and wake who waits."""
        with self._changed:
            self._lost = self._lost or PeerLost(rank, why)
            self._changed.notify_all()

    async def listen(self, comm: Any, rank: int) -> None:
        """Put what comes from `rank` into the inbox until the connection closes."""
        self._incoming.append(comm)
        why = "its connection closed"
        try:
            while True:
                message = await comm.read()
                if "failed" in message:
                    why = message["failed"]
                    return
                with self._changed:
                    self._inbox[rank, message["round"]] = message["facts"], message["data"]
                    self._changed.notify_all()
        except OSError as error:
            why = str(error) or why
        finally:
            self.lose(rank, why)

    def _letter(self, data: np.ndarray, facts: bytes) -> dict[str, Any]:
        """A message; small data is copied."""
        return {"round": self._round, "facts": facts,
                "data": to_serialize(data) if data.nbytes > _SMALL else data.tobytes()}

    async def _send(self, letters: dict[int, dict[str, Any]]) -> None:
        await asyncio.gather(*(self._comms[rank].write(letter) for rank, letter in letters.items()))

    def _finish_sending(self) -> None:
        """Wait until the messages before are gone."""
        sending, self._sending = self._sending, None
        try:
            if sending is not None:
                sending.result()
        except OSError as error:
            raise PeerLost(-1, str(error)) from None

    def _take(self, rank: int) -> tuple[bytes, Any]:
        with self._changed:
            self.waiting = rank, time.monotonic()
            try:
                while (rank, self._round) not in self._inbox:
                    if self._lost is not None:
                        raise self._lost
                    self._changed.wait()
                return self._inbox.pop((rank, self._round))
            finally:
                self.waiting = None

    def _on_loop(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._worker.loop.asyncio_loop)  # type: ignore[attr-defined]


def _narrow(facts: np.ndarray) -> bytes:
    """Numbers, int64[f], in as few bytes each as all of them fit in."""
    if len(facts) == 0:
        return b""
    low, high = int(facts.min()), int(facts.max())
    width = next((w for w in (1, 2, 4) if high < 1 << 8 * w), 8) if low >= 0 else 8
    return facts.astype(_WIDTHS[width]).tobytes()


def _wide(raw: bytes, count: int) -> np.ndarray:
    """The `count` numbers of _narrow."""
    return np.frombuffer(raw, _WIDTHS[len(raw) // count]) if count else np.empty(0, np.int64)


async def _receive(comm: Any, room: str, to: int, rank: int) -> None:
    """A connection from another rank: it speaks until it closes. One for a run that is over is closed."""
    mail = _ROOMS.get((room, to))
    if mail is None:
        comm.abort()
    else:
        await mail.listen(comm, rank)
