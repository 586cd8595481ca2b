"""Distances and predecessors of all vertices in a Parquet file, in the ids of the user, in the order of the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..durable import whole_file
from ..errors import InputError
from ..progress import Meter
from ..store.store import Store
from .rows import unreached

_PIECE = 1 << 16


def write_paths(path: Path, store: Store, distances: np.ndarray, predecessors: np.ndarray, meter: Meter) -> None:
    """Write id, distance (null without a path) and predecessor (null there and at the source). It is FILE.partial until
    it is whole. Raises InputError where it cannot be written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.string() if store.record.id_kind == "string" else pa.int64()
    numbers = pa.from_numpy_dtype(distances.dtype)
    schema = pa.schema([("id", names), ("distance", numbers), ("predecessor", names)])
    n, none = len(distances), unreached(distances.dtype)
    meter.begin("write", n, "vertices")
    try:
        with whole_file(path) as file, pq.ParquetWriter(file, schema) as writer:
            for begin in range(0, n, _PIECE):
                part = slice(begin, min(begin + _PIECE, n))
                before = predecessors[part]
                # A vertex before none is named, and not shown.
                shown = store.user_ids(np.maximum(before, 0))
                writer.write_batch(pa.record_batch([
                    pa.array(store.user_ids(np.arange(part.start, part.stop)), names),
                    pa.array(distances[part], numbers, mask=distances[part] == none),
                    pa.array(np.array(shown, object), names, mask=before < 0)], schema=schema))
                meter.update(part.stop)
    except OSError as error:
        raise InputError(f"this cannot be written ({error.strerror or error})", path=path,
                         remedy="choose another place") from None
    finally:
        meter.end()
