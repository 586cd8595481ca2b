"""Columns on disk, and disks that fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.traverse.ram_column import RamColumn, StoredColumn


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
def test_a_column_comes_back(tmp_path: Path, dtype: type) -> None:
    values = np.arange(300_000).astype(dtype)
    stored = StoredColumn(RamColumn(values.copy()), tmp_path / "column")
    assert len(stored) == len(values) and stored.dtype == values.dtype
    assert np.array_equal(stored.part(1000, 200_000), values[1000:200_000])
    assert np.array_equal(stored.part(299_990, 400_000), values[299_990:])
    ids = np.array([0, 131_071, 131_072, 299_999])
    assert np.array_equal(stored.take(ids), values[ids])


def test_one_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """numpy.fromfile would give what there is of it, without a word."""
    file = tmp_path / "column"
    stored = StoredColumn(RamColumn(np.arange(9, dtype=np.uint32)), file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match="a column on disk cannot be read .it has become shorter.; check the disk"):
        stored.part(0, 9)
    file.unlink()
    with pytest.raises(InputError, match="a column on disk cannot be read .No such file"):
        stored.part(0, 9)
