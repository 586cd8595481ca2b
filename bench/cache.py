"""Stores and edge files that benchmarks read, made once and kept in a cache folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import emdiam
from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.errors import InputError
from emdiam.formats.source import EdgeBatch
from emdiam.generators import generate, make_source
from emdiam.generators.source import GeneratedSource
from emdiam.store.layout import CHUNK_IDS

from .graphs import Graph
from .twins import pairs_of

_BATCH_BYTES = 16 << 20


class Cache:
    """A folder of stores and edge files.

    folder : made if absent. data : folder of the real graphs; files that are not there are skipped
    by the caller (see `has`).
    """

    def __init__(self, folder: Path, data: Path) -> None:
        self.folder, self.data = folder, data
        folder.mkdir(parents=True, exist_ok=True)

    def has(self, graph: Graph) -> bool:
        """Whether the graph can be made here: generated, or its file is there."""
        return not graph.file or self.input_of(graph).is_file()

    def input_of(self, graph: Graph) -> Path:
        """The file of a real graph."""
        return self.data / graph.file

    def store(self, graph: Graph) -> Path:
        """The store of `graph`, made now if it is not there."""
        target = self.folder / f"{graph.name}.zarr"
        if not target.exists():
            options = ConvertOptions(chunk_ids=graph.chunk_ids or CHUNK_IDS)
            if graph.twin:
                assert graph.vertices is not None
                emdiam.convert(pairs_of(graph.twin, graph.vertices), target)
            elif graph.file or graph.shuffled:
                listed = self.input_of(graph) if graph.file else self.edge_file(graph, ".parquet")
                convert([listed], target, options=options)
            else:
                generate(graph.graph_class, target, vertices=graph.vertices, seed=graph.seed,
                         parameters=graph.parameters, options=options)
        return target

    def edge_file(self, graph: Graph, suffix: str) -> Path:
        """The listed pairs of a generated graph as a file: ".txt" (two columns, tab) or ".parquet".
        Vertices are renamed if the graph is shuffled; one without an edge is then lost."""
        target = self.folder / f"{graph.name}{suffix}"
        if not target.exists():
            partial = target.with_name(target.name + ".partial")
            _write_pairs(graph, partial, suffix)
            partial.rename(target)
        return target

    def scratch(self, name: str) -> Path:
        """A path in the cache that does not exist (an old one is removed)."""
        path = self.folder / name
        if path.exists():
            shutil.rmtree(path)
        return path


def _write_pairs(graph: Graph, target: Path, suffix: str) -> None:
    source = make_source(graph.graph_class, vertices=graph.vertices, seed=graph.seed,
                         parameters=graph.parameters)
    source.prepare()
    schema = pa.schema([("src", pa.uint32()), ("dst", pa.uint32())])
    if suffix == ".parquet":
        writer = pyarrow.parquet.ParquetWriter(target, schema)
    elif suffix == ".txt":
        options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t")
        writer = pyarrow.csv.CSVWriter(target, schema, write_options=options)
    else:
        raise InputError("unknown kind of edge file", text=suffix, remedy="use .txt or .parquet")
    with writer:
        for batch in _batches(source, graph):
            writer.write_table(pa.table({"src": batch.src, "dst": batch.dst}).cast(schema))


def _batches(source: GeneratedSource, graph: Graph) -> Iterator[EdgeBatch]:
    """The pairs, with their vertices renamed at random if the graph is shuffled."""
    renamed = np.random.default_rng(graph.seed).permutation(source.n_vertices) if graph.shuffled else None
    for batch in source.batches(_BATCH_BYTES):
        yield batch if renamed is None else EdgeBatch(renamed[batch.src], renamed[batch.dst])


def evict(folder: Path) -> None:
    """Drop all files below `folder` from the page cache (they are on disk: stores are synced)."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def cached_share(folder: Path, samples: int = 64) -> float | None:
    """Share of sampled positions of the files below `folder` that are in the page cache, or None
    where the file system cannot say. Call it after `evict` to see that it worked: the share is an
    upper bound, since asking makes some systems read ahead, so evict again after it."""
    hits = tried = 0
    for path in sorted(folder.rglob("*")):
        size = path.stat().st_size if path.is_file() else 0
        if size == 0:
            continue
        handle = os.open(path, os.O_RDONLY)
        try:
            for i in range(samples):
                hits += _is_cached(handle, size * i // samples)
                tried += 1
        except OSError:
            return None
        finally:
            os.close(handle)
    return hits / tried if tried else None


def _is_cached(handle: int, position: int) -> bool:
    try:
        return os.preadv(handle, [bytearray(1)], position, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
