"""JSON objects of neighbours, and tables of the same form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.errors import InputError
from tests.formats.writers.reading import read_back
from tests.formats.writers.writer import Held

_PATH = {("a", "b"): None, ("b", "c"): None}


def held(value: Any, folder: Path, **options: Any) -> Held:
    (folder / "g.json").write_text(json.dumps(value))
    return read_back(folder / "g.json", options, folder)


def test_neighbours_are_read_as_networkx_writes_them(tmp_path: Path):
    graph = nx.path_graph(["a", "b", "c"])
    graph.add_node("lone")
    for value in (nx.to_dict_of_lists(graph), nx.to_dict_of_dicts(graph)):
        assert held(value, tmp_path) == Held(frozenset(["a", "b", "c", "lone"]), _PATH)
    numbers = nx.to_dict_of_lists(nx.cycle_graph(5))
    assert held(numbers, tmp_path).edges == dict.fromkeys([("0", "1"), ("0", "4"), ("1", "2"), ("2", "3"), ("3", "4")])


def test_weights_stand_behind_neighbours(tmp_path: Path):
    right = {("a", "b"): 3.0, ("b", "c"): 0.5}
    assert held({"a": {"b": 3.0}, "b": {"c": 0.5}}, tmp_path, weights=True).edges == right
    lengths = {"a": {"b": {"km": 3}}, "b": {"c": {"km": 0.5}}}
    assert held(lengths, tmp_path, weights="km").edges == right


def test_directions_are_kept(tmp_path: Path):
    assert held({"a": ["b"], "b": ["c"], "c": []}, tmp_path, directed=True).edges == _PATH


@pytest.mark.parametrize("value", [
    {"a": {"a": 0, "b": 1}, "b": {"a": 1, "b": 0}}, {"0": [1, 2, 3], "1": [2, 3, 4]},
    {"0": {"0": 1, "1": 2}, "1": {"0": 2, "1": 3}, "2": {"0": 3, "1": 4}},
    {"source": {"0": 1, "1": 2}, "target": {"1": 2, "2": 3}}, {"source": ["a", "b"], "target": ["b"]},
    {"a": [1, 2], "b": [3]}, {"a": ["b", ["c"]]},
    {"a": {"b": {"0": {}}}, "b": {}}, {"a": {"b": True}, "b": {}}, {"a": []}])
def test_tables_and_others_are_refused(value: Any, tmp_path: Path):
    (tmp_path / "g.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match="list of edges"):
        emdiam.convert(tmp_path / "g.json", tmp_path / "g.zarr")
