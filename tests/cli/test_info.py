"""`emdiam info` and its --check: figures, and faults that checksums alone do not show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from emdiam.api import convert
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.conversion.convert import ConvertOptions
from emdiam.generators import generate


@pytest.fixture
def store(tmp_path: Path, two_components: Path) -> Path:
    """A store of 8 vertices with relabelled ids."""
    convert(two_components, tmp_path / "g.zarr", threads=1)
    return tmp_path / "g.zarr"


def test_text_and_json(store: Path, capsys: pytest.CaptureFixture[str]):
    assert run(group, ["info", str(store)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[:3] == [
        f"{store}: 8 vertices, 7 edges", "degrees: 1 to 2, mean 1.75; 0 isolated vertices",
        "vertices by degree: 1: 2, 2-3: 6"]
    assert "checked" not in out
    assert run(group, ["info", str(store), "--check"]) == 0
    assert "\nchecked: 3 chunks, 14 arcs; no fault\n" in capsys.readouterr().out
    assert run(group, ["info", str(store), "--check", "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["checked"] == {"chunks": 3, "arcs": 14}


def test_how_local_the_ids_are(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    generate("grid", tmp_path / "grid.zarr", parameters={"sides": "60x70"}, options=ConvertOptions(chunk_ids=256))
    assert run(group, ["info", str(tmp_path / "grid.zarr"), "--locality"]) == 0
    out = capsys.readouterr().out
    assert "\nlocality (a tenth of the edges in memory): ids are local: one BFS reads the store " in out
    assert run(group, ["info", str(store), "--locality"]) == 0
    assert "\nlocality: all edges are in a few blocks" in capsys.readouterr().out
    assert run(group, ["info", str(store), "--locality", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["locality"] is None


@pytest.mark.parametrize("array", ["indptr", "indices", "vertex_id"])
def test_a_flipped_bit_is_noticed(store: Path, array: str, capsys: pytest.CaptureFixture[str]):
    shard = store / array / "c" / "0"
    data = bytearray(shard.read_bytes())
    data[20] ^= 4
    shard.write_bytes(data)
    assert run(group, ["info", str(store), "--check", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{array}/c/0" in err and "checksum mismatch" in err


def test_a_chunk_of_another_store_is_noticed(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Its checksum holds, and as a map of ids it is as good as any."""
    (tmp_path / "other.txt").write_text("10 11\n11 12\n12 13\n13 15\n20 21\n21 22\n22 20\n")
    convert(tmp_path / "other.txt", tmp_path / "other.zarr", threads=1)
    shutil.copy(tmp_path / "other.zarr" / "vertex_id" / "c" / "0", store / "vertex_id" / "c" / "0")
    assert run(group, ["info", str(store), "--check", "--quiet"]) == 2
    assert "the shards are not those of the store record" in capsys.readouterr().err
