"""Section external: pivots out of core, counted in bytes.

A store of at least 1,000 blocks, an arena of a tenth of the edges, the page cache evicted. A level
is dense if it touches at least half of the blocks. Bytes read are held against
(dense levels + 4 x traversals) x bytes of the edges on disk, and against those of plain BFS
(batches=False).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .cache import cached_share, evict
from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .runs import TimeLimit, facts_of, faults, solve_timed
from .setting import Setting
from .show import Table

TITLE = "Out of core: pivots with an arena of 1/10 of the edges, page cache evicted"
ARENA_SHARE = 10
_BLOCKS, _QUICK_BLOCKS = 1000, 50
_LEAST_CHUNK = 64
_SCANS = 4  # sweeps a traversal may cost beside its dense levels


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph; none for a graph too small for so many blocks."""
    graphs = graphs_of("external", setting.quick, setting.names, setting.large)
    rows = [_measure(setting, graph) for graph in graphs if setting.cache.has(graph)]
    return [row for row in rows if row is not None]


def chunk_ids_for(n_arcs: int, n_blocks: int) -> int:
    """The largest power of two of ids a block with which there are at least so many blocks."""
    return 1 << max(0, (n_arcs // n_blocks).bit_length() - 1)


def _measure(setting: Setting, graph: Graph) -> dict[str, Any] | None:
    with open_store(setting.cache.store(graph)) as store:
        chunk_ids = chunk_ids_for(store.n_arcs, _QUICK_BLOCKS if setting.quick else _BLOCKS)
    if chunk_ids < _LEAST_CHUNK:
        return None
    path = setting.cache.store(replace(graph, name=f"{graph.name}.chunk-{chunk_ids}", chunk_ids=chunk_ids))
    runs = {"batch": _cold(setting, path, True), "single": _cold(setting, path, False)}
    store_bytes = disk_bytes(path / "indices")
    row = {"graph": graph.name, "chunk_ids": chunk_ids, "store_bytes": store_bytes, **runs}
    row["wrong"] = faults(graph, [(f"pivots, {name}", run) for name, run in runs.items()])
    for run in runs.values():
        run |= bound(run, store_bytes)
    row["bytes_ratio"] = runs["batch"]["bytes_read"] / max(1, runs["single"]["bytes_read"])
    return row


def disk_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def bound(run: dict[str, Any], store_bytes: int) -> dict[str, Any]:
    """bound_bytes, and whether the bytes that were read hold it."""
    most = (run["dense_levels"] + _SCANS * run["traversals"]) * store_bytes
    return {"bound_bytes": most, "holds": run["bytes_read"] <= most}


def _cold(setting: Setting, path: Path, batches: bool) -> dict[str, Any]:
    """One run from an evicted page cache."""
    with open_store(path, evict_page_cache=True) as store:
        arena = store.n_arcs * store.id_dtype.itemsize // ARENA_SHARE
        with open_engine(store, threads=setting.threads, arena_bytes=arena,
                         progress=TimeLimit(setting.long_seconds)) as engine:
            evict(path)
            still_cached = cached_share(path)
            evict(path)
            watch = ForeignWatch()
            result, jit = solve_timed(engine, "pivots", setting.long_seconds, batches=batches)
            foreign, plan = watch.cores, engine.plan
        counters = result.details["counters"]
        return {
            **facts_of(result), "bytes_read": result.bytes_read, "dense_levels": counters["dense_levels"],
            "counters": counters, "n_blocks": plan.n_blocks, "arena_blocks": plan.arena_blocks,
            "cached_share_at_start": still_cached, "foreign_cores": foreign,
            "jit_seconds": jit,
        }


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "D", "blocks", "arena", "MB edges", "MB read", "x edges", "levels", "dense", "traversals",
              "sources", "bound MB", "holds", "seconds", "foreign cores"]
    return header, [_cells(row["graph"], row, row["batch"]) for row in rows]


def _cells(name: str, row: dict[str, Any], run: dict[str, Any]) -> list[str]:
    answer = str(run["lower"]) if run["exact"] else f"{run['lower']}..{run['upper']}"
    return [name, answer + (" WRONG" if row["wrong"] else ""), f"{run['n_blocks']:,}", f"{run['arena_blocks']:,}",
            _mb(row["store_bytes"]), _mb(run["bytes_read"]), f"{run['bytes_read'] / row['store_bytes']:.1f}",
            f"{run['levels']:,}", f"{run['dense_levels']:,}", f"{run['traversals']:,}", f"{run['sources']:,}",
            _mb(run["bound_bytes"]), "yes" if run["holds"] else "no", _seconds(run), f"{run['foreign_cores']:.2f}"]


def more(rows: list[dict[str, Any]]) -> list[Table]:
    """Batches against plain BFS."""
    header = ["graph", "MB read", "MB read, BFS only", "ratio", "traversals", "BFS only", "seconds", "BFS only"]
    cells = []
    for row in rows:
        batch, single = row["batch"], row["single"]
        cells.append([row["graph"], _mb(batch["bytes_read"]), _mb(single["bytes_read"]), f"{row['bytes_ratio']:.2f}",
                      f"{batch['traversals']:,}", f"{single['traversals']:,}", _seconds(batch), _seconds(single)])
    return [Table("The same with and without multi-source batches", header, cells)]


def _seconds(run: dict[str, Any]) -> str:
    return ("" if run["exact"] else "> ") + f"{run['solve_seconds']:.2f}"


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f}"


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the table."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    return [*lines, f"bound: (dense levels + {_SCANS} x traversals) x edges on disk; dense: at least half of the "
            "blocks; >: stopped by the time limit, what was read by then"]
