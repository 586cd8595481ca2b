"""`emdiam distances` as a command: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emdiam.cli.distances import distances_text
from tests.cli.test_commands import call  # noqa: F401 - a fixture
from tests.helpers.stores import odd_graphs, write_store
from tests.helpers.tasks import distances


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
    monkeypatch.setattr("emdiam.distribution.counting.parts_of_all", lambda *_: (_ for _ in ()).throw(
        KeyboardInterrupt))
    code, out, err = call("distances", str(store), "--quiet")
    assert code == 3 and not out and "stopped by the user before anything was counted" in err


def test_ranges_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emdiam.traverse.distance_table.MOST_VALUES", 20)
    store = write_store(tmp_path / "g.zarr", [[1], *([v - 1, v + 1] for v in range(1, 30)), [29]])
    result = distances(store, {"exact": True}).to_dict()
    assert result["histogram_width"] == 10 and list(result["pairs"]) == ["0", "10", "20", "30"]
    text = distances_text(result)
    assert "effective diameter (90 % of the pairs): 22.0000, off by less than 10\n" in text
    assert "pairs by distance, from the first of ranges of 10: 0: 234, 10: 165, 20: 65, 30: 1\n" in text
