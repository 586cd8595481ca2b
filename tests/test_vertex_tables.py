"""Tables of vertices beside those that pyarrow makes of the same values; what writing them takes of memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from emdiam.errors import InputError
from emdiam.vertex_tables import PIECE, Piece, write_vertices

NOBODY = np.array([False, True, True, False, False, True, False, False, False])
COLUMNS: dict[str, tuple[Any, np.ndarray | None]] = {
    "id": (list(range(9)), None), "name": ([f"v{'ä' * k}" for k in range(9)], None),
    "empty": (["", "a", "", "b", "", "", "", "", "c"], NOBODY), "far": ([2**62 + k for k in range(9)], NOBODY),
    "small": (np.arange(9, dtype=np.uint8), None), "wide": (np.arange(9, dtype=np.uint64) << np.uint64(60), NOBODY),
    "float": (np.linspace(0, 1, 9), NOBODY), "strided": (np.arange(18)[::2], None)}


def pieces(times: int) -> Iterator[Piece]:
    for _ in range(times):
        yield {name: values if missing is None else (values, missing) for name, (values, missing) in COLUMNS.items()}


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_columns_are_those_of_pyarrow(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"t.{suffix}"
    write_vertices(file, pieces(3))
    want = pa.table({name: pa.array(values, mask=missing) for name, (values, missing) in COLUMNS.items()})
    whole = pa.concat_tables([want] * 3)
    if suffix == "parquet":
        assert pyarrow.parquet.read_table(file).equals(whole)
    else:
        again = tmp_path / "again.csv"
        pyarrow.csv.write_csv(whole, again)
        assert file.read_bytes() == again.read_bytes()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the table cannot be written"):
        write_vertices(tmp_path / "absent" / "t.csv", pieces(1), "the table")


_PROGRAM = f"""
import sys
from pathlib import Path
from emdiam.cli.process import settle_malloc
settle_malloc()
import numpy as np
from emdiam.units import current_rss_bytes, peak_rss_bytes
from emdiam.vertex_tables import write_vertices, writing_bytes
more = writing_bytes()
before, random = current_rss_bytes(), np.random.default_rng(1)
write_vertices(Path(sys.argv[1]), ({{"id": list(range(first, first + {PIECE})), "one": random.random({PIECE}),
                                    "two": random.permutation({PIECE}), "few": random.integers(0, 9, {PIECE})}}
                                   for first in range(0, 20 * {PIECE}, {PIECE})))
print("pandas" in sys.modules, (peak_rss_bytes() - before) / more)
"""


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_writing_takes_no_more_than_is_said(suffix: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, tmp_path / f"t.{suffix}"], capture_output=True, text=True,
                          check=True)
    pandas, share = done.stdout.split()
    assert pandas == "False" and 0.2 < float(share) < 1
