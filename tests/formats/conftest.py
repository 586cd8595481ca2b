"""Readers are tested here, and not what a power failure leaves: nothing waits for the disk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def no_sync() -> Iterator[None]:
    """A small conversion syncs a score of files, which is a fifth of its time on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda handle: None)
        yield
