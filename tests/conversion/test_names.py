"""Names of a list in place of the integers of edges: beside a twin, in buffers of a few keys, stopped and resumed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.conversion.writing import DONE
from emdiam.errors import InputError
from emdiam.formats.source import SourceInfo
from emdiam.formats.vertex_lists import find_vertices
from tests.helpers.convert_twin import ROOMY, TINY, ListSource, rows_of
from tests.helpers.resume_attempts import Stop, files_of, stop_after

N = 60


class NamedSource(ListSource):
    """Pairs of integers, and names for them."""

    def __init__(self, folder: Path, seed: int) -> None:
        rng = random.Random(seed)
        self.ids = rng.sample(range(1 << 40) if seed % 2 else range(N), N)
        self.called = {one: f"{rng.choice(('org', 'com', 'com.a'))}.{v}" for v, one in enumerate(self.ids)}
        pairs = [(rng.choice(self.ids), rng.choice(self.ids)) for _ in range(rng.choice((0, 90)) or 1)]
        super().__init__(pairs, SourceInfo(), per_batch=20)
        file = folder / "names.txt"
        file.write_text("".join(f"{one}\t{name}\n" for one, name in self.called.items()))
        self.named_vertices = find_vertices(file, "")

    def right(self) -> tuple[list[str], dict[str, list[str]]]:
        """Vertices and rows of the store."""
        rows: dict[str, set[str]] = {name: set() for name in sorted(self.called.values())}
        for a, b in self.pairs:
            if a != b:
                rows[self.called[a]].add(self.called[b])
                rows[self.called[b]].add(self.called[a])
        return list(rows), {name: sorted(row) for name, row in rows.items()}


@pytest.mark.parametrize("plan", [TINY, ROOMY])
@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed: int, plan: object, tmp_path: Path) -> None:
    source = NamedSource(tmp_path, seed)
    write_graph(source, tmp_path / "g.zarr", options=ConvertOptions(plan=plan, chunk_ids=64, scratch=tmp_path))
    assert rows_of(tmp_path / "g.zarr") == source.right()


@pytest.mark.parametrize("seed", range(8))
def test_a_name_that_is_there_twice(seed: int, tmp_path: Path) -> None:
    """Also where a block of names ends between the two."""
    source = NamedSource(tmp_path, seed)
    file, other = tmp_path / "names.txt", source.ids[seed]
    twice = sorted(source.called.values())[seed]
    lines = [line for line in file.read_text().splitlines() if not line.startswith(f"{other}\t")]
    file.write_text("".join(f"{line}\n" for line in [*lines, f"{other}\t{twice}x", f"{1 << 41}\t{twice}x"]))
    source.named_vertices = find_vertices(file, "")
    options = ConvertOptions(plan=TINY, chunk_ids=64, scratch=tmp_path)
    with pytest.raises(InputError, match=f"one name: '{twice}x'"):
        write_graph(source, tmp_path / "g.zarr", options=options)


def test_a_stop_after_every_single_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = replace(TINY, table_ids=40, run_keys=64, least_run_keys=64, string_bytes=512)
    source = NamedSource(tmp_path, 3)
    write_graph(source, tmp_path / "right.zarr", options=ConvertOptions(plan=plan, chunk_ids=64, scratch=tmp_path))
    stop_after(monkeypatch, lambda state: DONE not in state)
    options = ConvertOptions(plan=plan, chunk_ids=64, checkpoint=CheckpointOptions(tmp_path / "kept", 0.0, resume=True))
    n_stops, report = 0, None
    while report is None:
        try:
            report = write_graph(NamedSource(tmp_path, 3), tmp_path / "g.zarr", options=options)
        except Stop:
            n_stops += 1
        assert n_stops < 500
    assert n_stops > 5
    assert files_of(tmp_path / "g.zarr") == files_of(tmp_path / "right.zarr")
