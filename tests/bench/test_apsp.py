"""The benchmark's section apsp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import apsp
from bench.cache import Cache
from emdiam.paths.pairs.disk_tiles import disk_layout
from tests.helpers.bench_setting import quick_setting


@pytest.mark.slow
def test_apsp_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsp, "_TIMES", 10)
    monkeypatch.setattr(apsp, "N_QUICK", 400)
    monkeypatch.setattr(apsp, "_by_scipy", lambda rows: np.zeros((400, 400), np.int32))
    monkeypatch.setattr(apsp, "disk_layout", lambda n, item, room: disk_layout(n, item, 1 << 21))
    rows = apsp.run(quick_setting(Cache(tmp_path, tmp_path), peers=True))
    assert {"blocked", "blocked, on disk", "peak", "scipy"} <= {row["method"] for row in rows}
    assert all(row["wrong"] for row in rows), "what scipy is said to have found is another matrix"
    assert all(row["cpu_seconds"] > 0 for row in rows)
    header, cells = apsp.table(rows)
    assert all(len(row) == len(header) for row in cells)
