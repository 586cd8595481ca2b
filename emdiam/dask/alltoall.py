"""Communication rounds between ranks: each rank sends a message to every other rank, or shares a few numbers with all.

A round is one call of `swap` or `share` on every rank, in the same order on all ranks. `swap` sends each message
directly from worker to worker. `share` is an allgather along a tree: in each of ceil(log2 ranks) steps a rank sends all
that it has to one other rank (Bruck), so 64 ranks send 6 messages each, not 63.
Messages use connections of dask.distributed that ranks open once to each other (`distributed.comm.listen` and
`connect`, with the TLS of the workers), not calls of actors, since a call is answered. Measured on two cores, with 2
ranks: 0.60 ms of CPU a rank for a round of calls, 0.31 ms for a round of messages (wall 1.2 to 1.9 ms, 0.6 to 1.0 ms);
with 4 ranks 1.8 and 0.8 ms. A task on each worker took 10 ms.
If a connection closes, or the client calls `abandon`, the round ends with PeerLost on all other ranks, so no rank waits
for a dead one. Slow ranks are waited for.
Source: Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications (1997).

Halo: a kernel that reads the neighbours of its rows needs values of vertices of other ranks. Each rank sends the values
of its range to all others, one slab of consecutive vertices at a time, and scans its blocks once a slab, skipping heads
outside the slab. The size of a slab follows from the available memory (two copies of its values), so one pass suffices
if all vertices fit; blocks in RAM make further passes cheap. Bytes sent: (ranks - 1) n items in all.

OwnerExchange: sends values with ids to the owners of vertices, or asks owners for values. All ranks call the same
method at the same time. Ids are distinct and ascending, so messages have them delta-coded or as a bitmap
(frontier_codec.py), followed by the values: 1 to 5 bytes and an item a vertex.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from distributed import Worker
from distributed.protocol import to_serialize

from ..errors import StoreError
from ..store.array_reader import read_slice
from .frontier_codec import decode_ids, encode_ids
from .internals import connected_as, listener_beside

if TYPE_CHECKING:
    from .rank import Rank


NO_FACTS = np.empty(0, np.int64)
_NOTHING = np.empty(0, np.uint8)
_SMALL = 1 << 14
_CONNECT_SECONDS = 60.0
_WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}


class PeerLost(RuntimeError):
    """Another rank has ended or failed, which ended the round. rank : its number, -1 if unknown."""

    def __init__(self, rank: int, why: str) -> None:
        super().__init__(f"worker {rank} was lost ({why})")
        self.rank, self.why = rank, why

    def __reduce__(self) -> tuple[Any, ...]:
        return PeerLost, (self.rank, self.why)


@dataclass
class MessageCounts:
    """rounds : number of rounds. messages : messages sent. payload_bytes : bytes of data sent. fact_bytes : bytes of
    numbers sent. wait_seconds : time in rounds."""

    rounds: int = 0
    messages: int = 0
    payload_bytes: int = 0
    fact_bytes: int = 0
    wait_seconds: float = 0.0


class AllToAll:
    """The communication of rank `rank` of `size`. First `listen` and `connect` on the event loop of its worker; the
    computing thread calls the rounds."""

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
        """Listen on the worker's host, on a port that the system chooses; return the address."""
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
                self._readers.add(reader)  # the event loop has only a weak reference
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
        """Start the rounds of verb number `verb`, which is larger than all earlier ones."""
        self._verb, self._round, self._sending = verb, 0, None
        with self._changed:
            for place in [place for place in self._inbox if place[0] < verb]:
                del self._inbox[place]

    def swap(
        self, payloads: dict[int, np.ndarray], facts: np.ndarray = NO_FACTS
    ) -> tuple[dict[int, np.ndarray], np.ndarray]:
        """Send payloads[rank] (uint8[k]; missing: empty) and `facts` (int64[f]) to every other rank, and receive
        theirs.

        Returns (received payloads by rank, facts int64[ranks, f]). Blocks until all have arrived. Raises PeerLost."""
        begin = self._begin_round()
        raw, outgoing = _narrow(facts), {rank: payloads.get(rank, _NOTHING) for rank in self.others}
        self._send(outgoing, raw)
        result: dict[int, np.ndarray] = {}
        table = np.empty((self.size, len(facts)), np.int64)
        table[self.rank] = facts
        for rank in self.others:
            theirs, data = self._take(rank)
            table[rank] = _wide(theirs, len(facts))
            data = np.frombuffer(data, np.uint8)
            result[rank] = data if data.flags.writeable else data.copy()
        if any(data.nbytes > _SMALL for data in outgoing.values()):
            self._finish_sending()  # the caller may overwrite its arrays
        self.counts.payload_bytes += sum(len(data) for data in outgoing.values())
        self.counts.wait_seconds += time.perf_counter() - begin
        return result, table

    def share(self, facts: np.ndarray) -> np.ndarray:
        """The `facts` (int64[f], the same length on all ranks) of all ranks, int64[ranks, f]. Raises PeerLost."""
        begin, table = self._begin_round(), np.empty((self.size, len(facts)), np.int64)
        rows, known = facts[np.newaxis], 1  # facts of this rank and the following ones
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

    def _send(self, outgoing: dict[int, np.ndarray], facts: bytes) -> None:
        """Start sending the messages of this round, after the earlier ones are sent; copies small data."""
        self._finish_sending()
        messages = {rank: {"verb": self._verb, "round": self._round, "facts": facts,
                          "data": to_serialize(data) if data.nbytes > _SMALL else data.tobytes()}
                   for rank, data in outgoing.items()}
        if messages:
            self._sending = asyncio.run_coroutine_threadsafe(self._write(messages), self._loop)
        self.counts.messages += len(outgoing)
        self.counts.fact_bytes += len(facts) * len(outgoing)

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
    """Encode numbers, int64[f], with the smallest number of bytes each that fits all of them."""
    narrow = np.min_scalar_type(facts.max(initial=0)) if facts.min(initial=0) >= 0 else np.int64
    return facts.astype(narrow).tobytes()


def _wide(raw: bytes, count: int) -> np.ndarray:
    """Decode `count` numbers from _narrow."""
    return np.frombuffer(raw, _WIDTHS[len(raw) // count]) if count else np.empty(0, np.int64)


_COPIES = 2
_LEAST = 64
_LENGTH = 8
Answer = Callable[[np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]


def slab_size(room_bytes: int, itemsize: int) -> int:
    """The number of vertices of a slab whose values fit into `room_bytes`; a multiple of 64, at least 64."""
    return max(_LEAST, room_bytes // (_COPIES * itemsize) // _LEAST * _LEAST)


def halo(rank: Rank, values: np.ndarray, low: int, high: int) -> np.ndarray:
    """A copy of values[low:high], collected from all ranks. values : any dtype[n], valid in this rank's range. One
    round."""
    slab, messages = np.empty(high - low, values.dtype), dict[int, np.ndarray]()
    bounds = np.clip(rank.spec.ranges, low, high).tolist()
    begin, end = bounds[rank.number], bounds[rank.number + 1]
    if begin < end:
        slab[begin - low : end - low] = values[begin:end]
        messages = dict.fromkeys(rank.alltoall.others, values[begin:end].view(np.uint8))
    incoming, _ = rank.alltoall.swap(messages)
    for other, theirs in incoming.items():
        slab[bounds[other] - low : bounds[other + 1] - low].view(np.uint8)[:] = theirs
    return slab


def halos(rank: Rank, values: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first vertex, values) of all slabs of `size` vertices; all ranks iterate together. A single rank yields all
    values at once."""
    n = rank.core.table.n_vertices
    if not rank.alltoall.others:
        yield 0, values
        return
    for low in range(0, n, size):
        yield low, halo(rank, values, low, min(low + size, n))


def count_pass(rank: Rank, slabs: int = 1) -> None:
    """Count `slabs` passes over all rows: the passes once for all ranks, the arcs on each rank."""
    begin, end = rank.core.table.arcs_between(rank.first, rank.stop)
    rank.core.counters.add(passes=slabs if rank.number == 0 else 0, edges_scanned=slabs * (end - begin))


def range_ranks(rank: Rank) -> np.ndarray:
    """The natural rank of every vertex of this range, id[stop - first]; length 0 if it is the vertex itself. Read once
    and cached. Raises StoreError for an invalid rank."""
    if "ranks" not in rank.objects:
        rank.objects["ranks"] = read_ranks(rank, rank.first, rank.stop)
    ranks: np.ndarray = rank.objects["ranks"]
    return ranks


def read_ranks(rank: Rank, first: int, stop: int) -> np.ndarray:
    """The natural ranks of vertices first..stop-1, as range_ranks, read from the store."""
    store = rank.store
    if store.is_natural:
        return np.empty(0, store.id_dtype)
    ranks = read_slice(store.array("natural_id"), first, stop)
    if len(ranks) and int(ranks.max()) >= store.n_vertices:
        raise StoreError(f"natural_id holds {int(ranks.max())}, which is no vertex", path=store.path,
                         remedy="the store is damaged: reorder the original again")
    return ranks


def ranks_of(rank: Rank, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    ranks = range_ranks(rank)
    return ids.astype(np.int64) if not len(ranks) else ranks[ids - rank.first].astype(np.int64)


class OwnerExchange(AllToAll):
    """Rounds that address the owners of vertices. ranges : int64[ranks + 1]."""

    def __init__(self, rank: int, ranges: np.ndarray) -> None:
        super().__init__(rank, len(ranges) - 1)
        self.ranges, self.first = ranges, int(ranges[rank])

    def _cut(self, ids: np.ndarray) -> tuple[dict[int, tuple[slice, np.ndarray]], slice]:
        """For each other rank with ids: their slice and their message; and the slice of this rank's ids."""
        if len(ids) == 0:
            return {}, slice(0, 0)
        cuts, ranges = np.searchsorted(ids, self.ranges).tolist(), self.ranges.tolist()
        places = [slice(*pair) for pair in itertools.pairwise(cuts)]
        return {rank: (places[rank], encode_ids(ids[places[rank]], ranges[rank], ranges[rank + 1]))
                for rank in self.others if cuts[rank] < cuts[rank + 1]}, places[self.rank]

    def name(self, ids: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[list[np.ndarray], np.ndarray]:
        """Send `ids` (int64[k], ascending, distinct, of other ranges) to their owners. Returns the ids that other ranks
        sent to this one, int64[k] each, and the facts of all (int64[ranks, f]). One round."""
        incoming, table = self.swap({rank: names for rank, (_, names) in self._cut(ids)[0].items()}, facts)
        return [decode_ids(message, self.first) for message in incoming.values() if len(message)], table

    def tell(self, ids: np.ndarray, values: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[list[Pairs], np.ndarray]:
        """Send the owner of each of `ids` (int64[k], ascending, distinct) its value (any dtype, the same on all ranks).
        Returns the (ids, values) that all ranks, also this one, sent to this one, and the facts of all (int64[ranks,
        f]). One round."""
        others, local = self._cut(ids)
        messages = {rank: np.concatenate((np.array([len(names)], np.int64).view(np.uint8), names, _bytes(values[at])))
                    for rank, (at, names) in others.items()}
        incoming, table = self.swap(messages, facts)
        pairs = [(ids[local], values[local])] if local.start < local.stop else []
        for message in incoming.values():
            if len(message):
                end = _LENGTH + int(message[:_LENGTH].copy().view(np.int64)[0])
                pairs.append((decode_ids(message[_LENGTH:end], self.first), message[end:].copy().view(values.dtype)))
        return pairs, table

    def ask(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """The answers of the owners for `ids` (int64[k], ascending, distinct): each asked rank calls answer(its ids),
        which returns one value each, of the same dtype on all ranks. Two rounds."""
        others, local = self._cut(ids)
        asked, _ = self.swap({rank: names for rank, (_, names) in others.items()})
        replies = {rank: _bytes(answer(decode_ids(message, self.first)))
                   for rank, message in asked.items() if len(message)}
        answers, _ = self.swap(replies)
        here = answer(ids[local])
        values = np.empty(len(ids), here.dtype)
        values[local] = here
        for rank, (at, _) in others.items():
            values[at] = answers[rank].copy().view(here.dtype)
        return values

    def ask_any(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """As `ask`, for ids in any order, perhaps with repetitions."""
        wanted, places = np.unique(ids, return_inverse=True)
        return self.ask(wanted, answer)[places]


def hand_over(rank: Rank, rows: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, int]:
    """Send rows (int64[k, w]) to the owners of `vertices` (int64[k]), which are outside this range: (received rows,
    number of rows sent by all ranks). One round."""
    owners = np.searchsorted(rank.spec.ranges, vertices, side="right") - 1
    messages = {other: _bytes(rows[owners == other]) for other in rank.alltoall.others if (owners == other).any()}
    incoming, table = rank.alltoall.swap(messages, np.array([len(rows)], np.int64))
    come = [message.copy().view(np.int64).reshape(-1, rows.shape[1]) for message in incoming.values() if len(message)]
    return np.concatenate([rows[:0], *come]), int(table.sum())


def least_of_each(ids: np.ndarray, values: np.ndarray) -> Pairs:
    """The distinct ids, ascending, and the smallest value of each."""
    if len(ids) == 0:
        return ids, values
    order = np.argsort(ids)
    ids, values = ids[order], values[order]
    starts = np.flatnonzero(np.concatenate((np.ones(1, bool), ids[1:] != ids[:-1])))
    return ids[starts], np.minimum.reduceat(values, starts)


def distinct_pairs(ids: np.ndarray, others: np.ndarray) -> Pairs:
    """The distinct (id, other), sorted by id and then by other."""
    if len(ids) and int(ids.max()) < 1 << 31 and int(others.max()) < 1 << 32:
        keys = np.unique(ids << 32 | others)
        return keys >> 32, keys & 0xFFFFFFFF
    order = np.lexsort((others, ids))
    ids, others = ids[order], others[order]
    new = np.ones(len(ids), bool)
    new[1:] = (ids[1:] != ids[:-1]) | (others[1:] != others[:-1])
    return ids[new], others[new]


def _bytes(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1)
