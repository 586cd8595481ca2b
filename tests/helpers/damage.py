"""Small stores in every codec, and the means to damage them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from emdiam.store.codec import ChunkCodec, end_bytes, pack_index, read_index, seal_digest, seal_of
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers import naive

CHUNK = 64


def some_graph(n: int = 300, edges: int = 900, seed: int = 5) -> naive.Graph:
    """A random graph with a hub, a path and isolated vertices."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n - 30, (edges, 2)).tolist()
    pairs += [(7, v) for v in range(0, n - 30, 2)] + [(v, v + 1) for v in range(n - 20, n - 1)]
    return naive.graph_of(n, pairs)


def make_store(
    path: Path, graph: naive.Graph, *, codec: str = "lz4", chunk: int = CHUNK, ids: Any = None,
    force: bool = False,
) -> Path:
    """A store of the graph. ids : the user's ids, an integer array or a list of str."""
    indptr, indices = naive.csr(graph)
    writer = StoreWriter(path, n_vertices=len(graph), codec=codec, chunk_ids=chunk, force=force)
    writer.append_degrees(np.diff(indptr))
    half = len(indices) // 3
    writer.append_neighbours(indices[:half].astype(writer.id_dtype))
    writer.append_neighbours(indices[half:].astype(writer.id_dtype))
    kind = "identity"
    if isinstance(ids, np.ndarray):
        kind = "int"
        writer.append_ids("vertex_id", ids)
    elif ids is not None:
        kind = "string"
        cut = len(ids) // 2
        for part in (ids[:cut], [], ids[cut:]):
            writer.append_vertex_strings(pa.array(part, pa.string()))
    writer.finish(StoreRecord(id_kind=kind))
    return path


def read_array(array: Any) -> np.ndarray:
    """A whole small array through `fetch`."""
    buffer = np.empty((max(1, array.n_chunks), array.chunk_items), array.dtype)
    chunk = 0
    while chunk < array.n_chunks:
        count = array.run_length(chunk, 3)
        array.fetch(chunk, list(buffer[chunk : chunk + count]))
        chunk += count
    return buffer.reshape(-1)[: array.length]


def read_store(path: str | Path) -> dict[str, np.ndarray]:
    """All arrays of a small store."""
    with open_store(path) as store:
        return {name: read_array(store.array(name)) for name in store.array_names()}


def edit_json(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Let `change` edit the object in a JSON file."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def edit_record(store: Path, redo_digest: bool = False, **changes: Any) -> None:
    """Change fields of the store record, with its digest made to match if `redo_digest`."""

    def change(data: dict[str, Any]) -> None:
        record = data["attributes"]["emdiam"]
        record.update(changes)
        if redo_digest:
            record["record_digest"] = StoreRecord(**record).digest()

    edit_json(store / "zarr.json", change)


def replace_chunk(store: Path, name: str, chunk: int, values: np.ndarray | None) -> None:
    """Rewrite the only shard of an array with another chunk in it (None: marked as missing); all
    checksums are those of what it then holds."""
    meta = json.loads((store / name / "zarr.json").read_text())
    slots = meta["chunk_grid"]["configuration"]["chunk_shape"][0] // CHUNK
    n_chunks = -(-meta["shape"][0] // CHUNK)
    codec = json.loads((store / "zarr.json").read_text())["attributes"]["emdiam"]["codec"]
    path = store / name / "c" / "0"
    data, (index, _) = path.read_bytes(), read_index(path, slots, n_chunks)
    chunks = [data[int(start) : int(start) + int(size)] for start, size in index]
    if values is not None:
        chunks[chunk] = ChunkCodec(codec, values.dtype).encode(values)
    packed = pack_index([len(c) for c in chunks], slots)
    if values is None:
        packed = _without(packed, chunk)
    path.write_bytes(b"".join(chunks) + packed)
    if values is not None:
        seal = seal_of(path.read_bytes()[-end_bytes(slots):])
        digests = json.loads((store / "zarr.json").read_text())["attributes"]["emdiam"]["shard_digests"]
        edit_record(store, redo_digest=True, shard_digests={**digests, name: seal_digest(seal)})


def _without(packed: bytes, chunk: int) -> bytes:
    from crc32c import crc32c

    body = bytearray(packed[:-4])
    body[16 * chunk : 16 * chunk + 16] = b"\xff" * 16
    return bytes(body) + crc32c(bytes(body)).to_bytes(4, "little")
