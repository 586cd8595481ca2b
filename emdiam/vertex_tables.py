"""Tables of vertices in files, Parquet or CSV, which are written in pieces.

pyarrow.array looks for pandas and imports it where it is installed, 44 MiB for nothing; so columns are made of buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .durable import whole_file
from .errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Vertices of a piece.
PIECE = 1 << 16
# Columns with no more values than this in the first piece have dictionaries; those of others would take 18 MiB more
# and make files larger.
_FEW = 1 << 12
# Of a piece while it is encoded: 36 MiB measured with four columns, one of them with a dictionary.
_ENCODING_BYTES = 44 << 20

_OTHER_FORMATS = frozenset({".xlsx", ".xls", ".ods", ".json", ".jsonl", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zst",
                            ".zip", ".feather", ".arrow", ".npy", ".npz", ".h5", ".html", ".md"})

Values = np.ndarray | Sequence[int] | Sequence[str]
# Names to values, or to values and bool[k], where there are none.
Piece = Mapping[str, Values | tuple[Values, np.ndarray]]


def writing_bytes() -> int:
    """What writing a table will take of memory. Called before program_bytes of a plan: pyarrow, which is imported now,
    counts as the program's own."""
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    return _ENCODING_BYTES


def check_table(path: Path) -> None:
    """Raises InputError for a name that says another format than Parquet and CSV."""
    if path.suffix.lower() in _OTHER_FORMATS:
        raise InputError(f"a table is written as Parquet or CSV, not as {path.suffix}", path=path,
                         remedy="let the name end in .parquet or .csv, which spreadsheets open")


def write_vertices(path: Path, pieces: Iterator[Piece], what: str = "this") -> None:
    """Write the pieces, one after the other, as Parquet, or as CSV if the name of the file ends so; it has another name
    until it is whole. what : is written, for the error. Raises InputError where it cannot be written."""
    try:
        with whole_file(path) as file:
            writer: Any = None
            for piece in pieces:
                table = _table(piece)
                writer = writer or _writer(path, file, table.schema, piece)
                writer.write(table)
            if writer is not None:
                writer.close()
    except OSError as error:
        raise InputError(f"{what} cannot be written ({error.strerror or error})", path=path,
                         remedy="choose another place") from None


def _writer(path: Path, file: Any, schema: pa.Schema, piece: Piece) -> Any:
    """What writes tables, by the name of the file. piece : the first one."""
    if path.suffix.lower() == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(file, schema)
    from pyarrow import parquet

    few = [name for name, held in piece.items() if _n_values(held[0] if isinstance(held, tuple) else held) <= _FEW]
    return parquet.ParquetWriter(file, schema, use_dictionary=few)


def _n_values(values: Values) -> int:
    """How many different ones there are."""
    return len(np.unique(values) if isinstance(values, np.ndarray) else set(values))


def _table(piece: Piece) -> pa.Table:
    """The piece as Arrow has it."""
    import pyarrow as pa

    columns = {name: _column(*(held if isinstance(held, tuple) else (held,))) for name, held in piece.items()}
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _column(values: Values, missing: np.ndarray | None = None) -> pa.Array:
    """Integers as int64, or as the dtype of their array; floats, or texts. missing : bool[k], where there is none."""
    import pyarrow as pa

    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    if not isinstance(values, np.ndarray):
        if len(values) and isinstance(values[0], str):
            texts = [str(one).encode() for one in values]
            ends = np.zeros(len(texts) + 1, np.int32)
            np.cumsum([len(text) for text in texts], out=ends[1:])
            return pa.Array.from_buffers(pa.string(), len(texts),
                                         [valid, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))])
        values = np.array(values, np.int64)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])
