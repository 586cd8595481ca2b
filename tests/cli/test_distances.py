"""`emdiam distances` as a command: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emdiam.cli.distances import distances_text
from emdiam.distribution.run import distances
from tests.cli.test_commands import call  # noqa: F401 - a fixture
from tests.helpers.stores import odd_graphs, write_store


def test_json_has_what_is_promised(tmp_path: Path, call: Any) -> None:  # noqa: F811
    store = write_store(tmp_path / "g.zarr", odd_graphs()["two-paths"])
    code, out, _ = call("distances", str(store), "--json", "--quiet", "--quantile", "0.5")
    result = json.loads(out)
    assert code == 0 and result["pairs"]["1"] == 19 + 29 and result["unreachable_pairs"] == 600
    assert result["quantile"] == 0.5 and result["method"] == "exact" and result["samples"] == 50
    assert result["standard_error"] == {"mean": 0, "effective_diameter": 0}
    assert result["n_components"] == 2 and not result["connected"] and result["store_digest"]


def test_no_pairs_are_said_in_words_and_null_in_json(tmp_path: Path) -> None:
    result = distances(write_store(tmp_path / "g.zarr", odd_graphs()["no-edges"]), {"exact": True}).to_dict()
    assert result["mean"] is None and result["standard_error"] == {"mean": None, "effective_diameter": None}
    text = distances_text(result)
    assert text.startswith("mean distance: none, since no two vertices are connected") and "21 not" in text


def test_a_stop_prints_what_is_counted(
        tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    store = write_store(tmp_path / "g.zarr", odd_graphs()["mesh"])
    monkeypatch.setattr("emdiam.distribution.counting.group_count", lambda depth: (_ for _ in ()).throw(
        KeyboardInterrupt))
    code, out, err = call("distances", str(store), "--quiet")
    assert code == 3 and not out and "stopped by the user before anything was counted" in err
