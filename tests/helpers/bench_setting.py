"""What benchmarks have in tests: quick, and with patience, since a loaded machine may take minutes for a second."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.cache import Cache
from bench.setting import QUICK_EFFORT, Setting
from tests.helpers.waiting import PATIENCE


def quick_setting(cache: Cache, *names: str, **more: Any) -> Setting:
    """On these graphs, without peers; more : fields of Setting that differ."""
    patient = Setting(cache, quick=True, names=names, peers=False, effort=QUICK_EFFORT, solve_seconds=5 * PATIENCE)
    return replace(patient, **more)
