"""Tables of vertices in files, Parquet or CSV, written in pieces.

pyarrow.array imports pandas if it is installed, which takes 44 MiB for nothing; so columns are made from buffers.
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

# Vertices in a piece.
PIECE = 1 << 16
# Columns with at most this number of values in the first piece get dictionaries; for others dictionaries would take 18
# MiB more and make files larger.
_FEW = 1 << 12
# For encoding a piece: 36 MiB measured with four columns, one of them with a dictionary.
_ENCODING_BYTES = 44 << 20

_OTHER_FORMATS = frozenset({".xlsx", ".xls", ".ods", ".json", ".jsonl", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zst",
                            ".zip", ".feather", ".arrow", ".npy", ".npz", ".h5", ".html", ".md"})

Values = np.ndarray | Sequence[int] | Sequence[str]
# Names to values, or to values and bool[k], which values are missing.
Piece = Mapping[str, Values | tuple[Values, np.ndarray]]


def writing_bytes() -> int:
    """The memory that writing a table will take. Call it before program_bytes of a plan, so that pyarrow, imported
    here, counts as the program's own."""
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401

    return _ENCODING_BYTES


def check_table(path: Path) -> None:
    """Raise InputError for a name that stands for a format other than Parquet and CSV."""
    if path.suffix.lower() in _OTHER_FORMATS:
        raise InputError(f"a table is written as Parquet or CSV, not as {path.suffix}", path=path,
                         remedy="let the name end in .parquet or .csv, which spreadsheets open")


def write_vertices(path: Path, pieces: Iterator[Piece], what: str = "this") -> None:
    """Write the pieces one after another, as Parquet, or as CSV if the file's name ends so; the file gets its name when
    it is complete. what : the thing written, for the error. Raises InputError if it cannot be written."""
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
    """The writer of tables for the file's name. piece : the first one."""
    if path.suffix.lower() == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(file, schema)
    from pyarrow import parquet

    few = [name for name, data in piece.items() if _n_values(data[0] if isinstance(data, tuple) else data) <= _FEW]
    return parquet.ParquetWriter(file, schema, use_dictionary=few)


def _n_values(values: Values) -> int:
    """The number of distinct values."""
    return len(np.unique(values) if isinstance(values, np.ndarray) else set(values))


def _table(piece: Piece) -> pa.Table:
    """The piece as an Arrow table."""
    import pyarrow as pa

    columns = {name: _column(*(values if isinstance(values, tuple) else (values,))) for name, values in piece.items()}
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _column(values: Values, missing: np.ndarray | None = None) -> pa.Array:
    """An Arrow column of integers (as int64, or the dtype of their array), floats, or texts. missing : bool[k], missing
    values."""
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
