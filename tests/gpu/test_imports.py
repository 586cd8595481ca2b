"""The path that `auto` takes runs without the variants (tests/test_imports.py reads what imports what)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from emdiam.gpu.registry import find_entry
from emdiam.gpu.setting import OnDevice
from emdiam.methods.exact.pivots import pivots
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt.devices import open_device

VARIANTS = "emdiam.gpu.variants"


@pytest.mark.parametrize("paged", [False, True])
def test_a_run_by_auto_needs_no_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paged: bool) -> None:
    for name in [name for name in sys.modules if name.startswith(VARIANTS)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, VARIANTS, None)  # importing it fails
    find_entry.cache_clear()
    store = write_store(tmp_path / "g.zarr", odd_graphs()["clique-and-path"])
    with engine_on(store, device=OnDevice(open_device("shim-0"), paged=paged)) as engine:
        assert pivots(engine).proof is not None
        engine.grow_clusters(np.array([0]))
    with pytest.raises(ImportError), engine_on(store, device=OnDevice(open_device("shim-0"), "standard")):
        pass
