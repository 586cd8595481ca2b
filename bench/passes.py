"""What a streamed BFS does in a second, beside what the disk gives, and the disk and LZ4, with as many threads.

    python -m bench.passes web.zarr --memory 4GiB

Every row reads around the page cache. The first BFS looks at the rows of every block that it reads, as a run does
once; the second one finds them checked. Of a BFS, from the vertex of the highest degree, all decoded arcs count, and
those that it looked at. Seconds of all threads' processors are beside those of the wall, for a machine that is not
quiet.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emdiam.engine.interface import max_degree_vertex
from emdiam.runs.opening import open_engine
from emdiam.store.array_reader import ShardedArray
from emdiam.store.store import Store, open_store
from emdiam.tables import table_text
from emdiam.units import available_cores, parse_size

_RUN_BLOCKS = 8


@dataclass
class Pass:
    """wall, cpu : seconds. n_bytes : read. arcs : decoded; looked_at : by kernels."""

    name: str
    wall: float = 0.0
    cpu: float = 0.0
    n_bytes: int = 0
    arcs: int = 0
    looked_at: int = 0

    @contextmanager
    def timed(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu

    def cells(self) -> list[str]:
        rates = [f"{count / self.wall / 1e6:,.0f}" if count else "-" for count in (self.n_bytes, self.arcs,
                                                                                  self.looked_at)]
        return [self.name, f"{self.wall:.2f}", f"{self.cpu:.2f}", *rates]


def _over_runs(array: ShardedArray, threads: int, work: Callable[[int, int], int]) -> int:
    """The sum of work(first, count) over runs of blocks, by threads."""
    runs, first = [], 0
    while first < array.n_chunks:
        runs.append((first, array.run_length(first, _RUN_BLOCKS)))
        first += runs[-1][1]
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda run: work(*run), runs))


def disk(store: Store, threads: int) -> Pass:
    """All blocks read, none decoded."""
    found = Pass("disk")
    with found.timed():
        found.n_bytes = _over_runs(store.indices, threads,
                                   lambda first, count: sum(map(len, store.indices.encoded(first, count))))
    return found


def decoded(store: Store, threads: int) -> Pass:
    """All blocks read, checked and decoded."""
    array, found = store.indices, Pass("disk and LZ4", arcs=store.n_arcs)

    def work(first: int, count: int) -> int:
        return array.fetch(first, list(np.empty((count, array.chunk_items), array.dtype)))

    with found.timed():
        found.n_bytes = _over_runs(array, threads, work)
    return found


def searched(store: Store, threads: int, memory_bytes: int) -> list[Pass]:
    """Two equal BFS within so much memory."""
    passes = [Pass("BFS, rows checked"), Pass("BFS")]
    with open_engine(store, threads=threads, memory_bytes=memory_bytes) as engine:
        source = max_degree_vertex(engine)
        for found in passes:
            before = engine.reporter.stats()
            with found.timed():
                engine.bfs(source)
            used = engine.reporter.stats() - before
            found.n_bytes, found.looked_at = used.bytes_read, used.edges_scanned
            found.arcs = used.bytes_decoded // store.id_dtype.itemsize
    return passes


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.passes", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--memory", type=parse_size, default=parse_size("4GiB"))
    parser.add_argument("--threads", type=int, default=available_cores())
    chosen = parser.parse_args(words)
    with open_store(chosen.store, evict_page_cache=True) as store:
        rows = [disk(store, chosen.threads), decoded(store, chosen.threads),
                *searched(store, chosen.threads, chosen.memory)]
    print(table_text(("pass", "seconds", "CPU seconds", "MB/s", "M arcs/s", "M arcs looked at/s"),
                     [row.cells() for row in rows], left=(0,)))
    _, alone, *searches = rows
    for search in searches:
        if search.arcs:
            share = search.arcs / alone.arcs
            print(f"arcs decoded in a second, {search.name} / disk and LZ4: {share * alone.wall / search.wall:.2f}, by"
                  f" CPU seconds {share * alone.cpu / search.cpu:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
