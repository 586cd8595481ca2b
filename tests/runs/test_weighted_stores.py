"""A store with weights in commands that count edges: the answers of one without, and a line that says so."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import emdiam
from emdiam.generators import generate
from tests.helpers.tasks import distances


def test_weights_are_ignored_and_it_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    generate("rmat", tmp_path / "plain.zarr", vertices=256, seed=3)
    generate("rmat", tmp_path / "weighted.zarr", vertices=256, seed=3, weights="uniform:1,9")
    with caplog.at_level(logging.INFO, "emdiam"):
        plain = emdiam.diameter(tmp_path / "plain.zarr"), distances(tmp_path / "plain.zarr", {"exact": True})
        assert "ignored" not in caplog.text
        weighted = emdiam.diameter(tmp_path / "weighted.zarr"), distances(tmp_path / "weighted.zarr", {"exact": True})
    said = "the weights of the store are ignored: distances are numbers of edges without the option weighted"
    assert caplog.text.count(said) == 2
    assert plain[0].diameter == weighted[0].diameter and plain[1].mean == weighted[1].mean
    with emdiam.open(tmp_path / "plain.zarr") as store:
        assert store.record.format_version == 2 and store.weights is None and store.weights_of(0).dtype == "uint8"
