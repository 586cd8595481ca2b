"""From a stream of edges to a store, within a memory budget, by external sort.

    source -> intake (pairs to sort keys, ids to vertices) -> sorted runs -> merge -> StoreWriter

Results do not depend on the budget, the threads or the batches: the same edges give the same
bytes. Whatever stops a conversion, threads are joined, scratch files and NAME.partial removed; or,
with a checkpoint, left for a conversion that goes on from it and gives the same bytes too:

    while reading    every checkpoint-every: runs and pairs so far; resuming reads, and drops, as many
    after reading    the same; and for wide ids and strings after their table and each piece of the join
    while writing    shards so far and the key that follows
    before the name  so that whoever is killed then is not asked what became of the target
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import BudgetError
from ..formats.source import EdgeSource, SourceInfo
from ..progress import Meter
from ..sorting.checkpoint import Checkpoint
from ..sorting.plan import SortPlan, plan_sort
from ..sorting.scratch import Scratch
from ..store.writer import check_target, writer_bytes
from ..units import current_rss_bytes, format_size
from .conversion import Conversion
from .report import ConvertOptions, ConvertReport
from .resume import input_pins, memory_to_plan
from .writing import resumable, sort_context

__all__ = ["ConvertOptions", "ConvertReport", "check_outputs", "convert", "write_graph"]

# Row offsets and bitmaps that every run holds, however little there is to traverse (memory.md).
LEAST_VERTEX_BYTES = 2
# Bytes of text in one of gzip at most, which is more than its pairs.
_MOST_EXPANSION = 1032


def convert(inputs: Sequence[str | Path], target: Path, *, options: ConvertOptions | None = None) -> ConvertReport:
    """Convert files, globs or "-" (together one graph) into a store at `target`.

    Raises InputError for bad input or an existing target, BudgetError where memory or disk cannot
    do. Then, and after Ctrl-C, neither the target nor scratch files exist, but for a checkpoint.
    """
    import pyarrow as pa

    from ..formats import open_source

    options = options or ConvertOptions()
    check_outputs(Path(target), options)
    # The default pool keeps freed memory, which counts as RSS.
    pa.set_memory_pool(pa.system_memory_pool())
    return write_graph(open_source(inputs, fmt=options.fmt, ids=options.ids), target, options=options)


def check_outputs(target: Path, options: ConvertOptions) -> None:
    """Raise InputError unless the store and scratch files could be made where they are to lie. With a
    checkpoint, which may know of a target that is complete, that is looked at when it is opened."""
    if options.checkpoint is None:
        check_target(target, options.force)
        Scratch(options.scratch, target).close()


def write_graph(source: EdgeSource, target: Path, *, options: ConvertOptions | None = None) -> ConvertReport:
    """Convert the edges of `source` into a store at `target`; raises what `convert` raises, and
    whatever the source raises."""
    options, target = options or ConvertOptions(), Path(target)
    return resumable(ConvertReport, target, options, lambda: _key(source, target, options),
                     lambda checkpoint: _write(source, target, options, checkpoint))


def _key(source: EdgeSource, target: Path, options: ConvertOptions) -> dict[str, Any]:
    """What must be the same for a conversion to be resumed."""
    return {
        "input": input_pins(source), "target": str(target.absolute()), "format (--format)": options.fmt,
        "kind of ids (--ids)": options.ids, "codec (--codec)": options.codec, "chunk size (--chunk)": options.chunk_ids,
    }


def _write(source: EdgeSource, target: Path, options: ConvertOptions, checkpoint: Checkpoint | None) -> ConvertReport:
    """Convert, from the state of the checkpoint if there is one."""
    check_target(target, options.force)
    info = source.info()
    _load_libraries(info)
    plan = options.plan or plan_sort(
        memory_to_plan(options.memory_bytes, checkpoint), current_rss_bytes(),
        getattr(source, "memory_bytes", 0), options.threads, writer_bytes(options.threads, options.chunk_ids),
    )
    _check_declared(info, source.name, plan)
    with sort_context(plan, target, options, checkpoint, Meter(options.progress)) as context:
        return Conversion(source, info, target, options, context).write(info)


def _check_declared(info: SourceInfo, name: str, plan: SortPlan) -> None:
    """Raise BudgetError if the vertices that are declared and cannot have an edge alone would take more than the
    memory: a header of a hundred bytes may declare any number, and each is written to the store. (With edges,
    the graph may be for a larger machine.)"""
    entries = info.n_entries
    if entries is None and info.size_bytes is not None:
        entries = info.size_bytes * _MOST_EXPANSION
    if info.n_vertices is None or entries is None or not plan.memory_bytes:
        return
    need = (info.n_vertices - 2 * entries) * LEAST_VERTEX_BYTES
    if need > plan.memory_bytes:
        edges = f"{entries:,}" if info.n_entries is not None else "few"
        raise BudgetError(
            f"{info.n_vertices:,} vertices are declared, and {edges} edges; the vertices without an edge alone take"
            f" {format_size(need)} in any run, and the memory is {format_size(plan.memory_bytes)}",
            path=name, remedy=f"correct the number of vertices, or give --memory {-(-need >> 20)}MiB or more")


def _load_libraries(info: SourceInfo) -> None:
    """Load now what is loaded later anyway, so that the measured base has it."""
    import zarr.codecs  # noqa: F401

    if info.id_kind == "string":
        from .strings import warm_up

        warm_up()
