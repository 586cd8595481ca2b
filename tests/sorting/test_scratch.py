"""Scratch files on disks that fail."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.errors import BudgetError, InputError
from emdiam.sorting.scratch import Scratch


@pytest.mark.parametrize(("call", "number", "error", "sentence"), [
    ("preadv", errno.EIO, InputError, "reading or writing scratch files failed .Input/output error.; check the disk"),
    ("pwrite", errno.EIO, InputError, "reading or writing scratch files failed .Input/output error.; check the disk"),
    ("preadv", errno.EMFILE, InputError, "raise the limit of open files"),
    ("pwrite", errno.ENOSPC, BudgetError, "no room left for scratch files"),
])
def test_what_the_system_says_becomes_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, error: type, sentence: str
) -> None:
    scratch = Scratch(tmp_path, tmp_path / "g.zarr")
    file = scratch.file()
    file.append(np.arange(9))

    def broken(*arguments: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch, pytest.raises(error, match=sentence):
        patch.setattr(os, call, broken)
        file.read(0, 8) if call == "preadv" else file.append(b"more")
    assert file.read(8, 8).view(np.int64)[0] == 1
    scratch.close()


def test_one_that_ends_too_early(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, tmp_path / "g.zarr")
    file = scratch.file()
    file.append(b"12345678")
    with pytest.raises(InputError, match="one ends at byte 8, 8 bytes are missing"):
        file.read(0, 16)
    scratch.close()
