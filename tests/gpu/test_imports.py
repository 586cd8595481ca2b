"""The path that `auto` takes needs nothing of the variants: they are imported only where one is named."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

import emdiam.gpu
from emdiam.gpu.registry import find_entry
from emdiam.gpu.setting import OnDevice
from emdiam.methods.exact.pivots import pivots
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt.devices import open_device

ROOM = Path(emdiam.gpu.__file__).parent
VARIANTS = "emdiam.gpu.variants"


def names_the_variants(node: ast.stmt) -> bool:
    """Whether an import of a module of emdiam.gpu is one of the variants."""
    if isinstance(node, ast.ImportFrom):
        return "variants" in (node.module or "").split(".") or any(one.name == "variants" for one in node.names)
    return isinstance(node, ast.Import) and any(one.name.startswith(VARIANTS) for one in node.names)


def test_no_module_of_the_usual_path_imports_the_variants_by_itself() -> None:
    for path in ROOM.glob("*.py"):
        assert not any(map(names_the_variants, ast.parse(path.read_text(encoding="utf-8")).body)), path.name


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
