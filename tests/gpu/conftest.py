"""What all tests on a device share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def rarely_collected() -> Iterator[None]:
    """Garbage is looked for seldom: hypothesis and pytest leave so much that lives on that it took a tenth of the time.
    Few arrays of a device are in cycles."""
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 20)
    yield
    gc.set_threshold(*before)
