"""Waiting in tests: long enough for a busy machine, and never for ever."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds. Only what hangs takes as long.
PATIENCE = 120.0


def wait_until(condition: Callable[[], object]) -> None:
    """Until the condition is true; fails when it never is."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "what was waited for has not come"
        time.sleep(0.01)
