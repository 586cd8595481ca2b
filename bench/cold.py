"""Runs of `exact` from an evicted page cache, which also their own reads are kept out of: in this process, and as a
command of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import emdiam
from emdiam.jit import working_seconds
from emdiam.store.store import open_store

from .cache import evict

# The default of --memory follows what is free; this is more than the graphs of these sections need.
MEMORY = "16GiB"
# Of an arena.
LEAST_BLOCKS = 4


def raw_csr_bytes(path: Path) -> int:
    """Bytes of the graph as plain arrays: int64 offsets and ids."""
    with open_store(path) as store:
        return 8 * (store.n_vertices + 1) + store.n_arcs * store.id_dtype.itemsize


def blocks_of(path: Path) -> tuple[int, int]:
    """(blocks, bytes of one, decoded)."""
    with open_store(path) as store:
        return store.indices.n_chunks, store.indices.chunk_items * store.id_dtype.itemsize


def cold_run(path: Path, threads: int, arena_bytes: int | None, **options: Any) -> dict[str, Any]:
    """One run of `exact`; arena_bytes None: with all blocks in memory. Seconds are of wall time, from opening the store
    on, without those in which kernels were compiled or loaded."""
    evict(path)
    begin, cpu = working_seconds(), time.process_time()
    result = emdiam.exact(str(path), arena=arena_bytes, memory=MEMORY, threads=threads, evict_page_cache=True,
                          **options)
    seconds, cpu = working_seconds() - begin, time.process_time() - cpu
    evict(path)
    made = result.traversals
    return {
        "seconds": seconds, "cpu_seconds": cpu, "bytes_read": result.bytes_read,
        "answer": result.diameter_max_component,
        "bfs": made.bfs, "multi_source": made.multi_source, "sources": made.multi_source_sources,
        "verify_seconds": result.seconds["verify"], "reordered": result.details.get("reordered") is not None}


def cold_command(path: Path, threads: int, arena_bytes: int | None) -> dict[str, Any]:
    """One run of the command `exact`; arena_bytes None: with all blocks in memory. Seconds are the total that it tells,
    kernel_seconds those of them in which kernels were compiled or loaded; processor seconds are of the process."""
    arena = [] if arena_bytes is None else ["--arena", str(arena_bytes)]
    evict(path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "emdiam", "exact", str(path), "--memory", MEMORY, "--threads", str(threads), *arena,
         "--evict-page-cache", "--json", "--quiet"], stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(done.stdout)
    seconds, made = told["seconds"], told["traversals"]
    return {
        "seconds": seconds["total"], "kernel_seconds": seconds["startup"] - seconds["load"],
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "bytes_read": told["bytes_read"], "answer": told["diameter_max_component"], "bfs": made["bfs"],
        "multi_source": made["multi_source"], "verify_seconds": seconds["verify"],
        "reordered": told["details"].get("reordered") is not None}
