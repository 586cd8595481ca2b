"""Where a conversion writes is looked at before anything is read, and a disk that is full leaves nothing behind: no
unfinished store, no lock, no thread."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from emdiam import reorder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.convert import ConvertOptions, convert, write_graph
from emdiam.conversion.ordered import convert_ordered
from emdiam.errors import BudgetError, InputError
from emdiam.formats.source import EdgeBatch, SourceInfo
from emdiam.generators import generate
from emdiam.store.place import claim
from emdiam.store.store import open_store
from tests.helpers.convert_twin import TINY, ListSource

BUDGET = 4 << 30


class Unread(ListSource):
    """A source that must not be read."""

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        raise AssertionError("read before the outputs were looked at")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process may become longer, which is answered as by a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1, 100, 300, 1000, 2000, 3000])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_after_a_full_disk_the_next_conversion_may_begin(tmp_path: Path, size: int, checkpoint: bool) -> None:
    source = ListSource([(i, i * i) for i in range(600)], SourceInfo(n_vertices=600 * 600))
    target = tmp_path / "g.zarr"

    def attempt() -> None:
        kept = CheckpointOptions(tmp_path / "resume", 0.0, resume=True) if checkpoint else None
        write_graph(source, target, options=ConvertOptions(
            memory_bytes=BUDGET, scratch=None if checkpoint else tmp_path, chunk_ids=64, codec="none", checkpoint=kept))

    with files_of_at_most(size), pytest.raises(BudgetError, match="(no room left|cannot be written).*make room"):
        attempt()
    if not checkpoint:
        assert list(tmp_path.iterdir()) == []
    attempt()
    open_store(target).close()
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


def test_a_disk_that_fills_in_between_leaves_no_lock(tmp_path: Path) -> None:
    """What is buffered of a shard has no room when the file is closed either."""
    source = ListSource([(i, i + 1) for i in range(3000)], SourceInfo(n_vertices=3001))
    options = ConvertOptions(memory_bytes=BUDGET, scratch=tmp_path, chunk_ids=64, codec="none")
    with files_of_at_most(20_000), pytest.raises(BudgetError, match="no room left"):
        write_graph(source, tmp_path / "g.zarr", options=options)
    partial = tmp_path / "g.zarr.partial"
    partial.mkdir()
    os.close(claim(partial))


@pytest.mark.parametrize(("name", "text"), [
    ("g.gr", "p max 64294967296 8\n"), ("g.col", "p edge 9000000000000000000 8\ne 1 2\n"),
    ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n8000000000 8000000000 1\n1 2\n"),
])
def test_an_absurd_number_of_vertices_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, text: str
) -> None:
    """Each vertex without an edge is a row of the store: 64 billion of them were 2 GB of it."""
    (tmp_path / name).write_text(text)
    with pytest.raises(BudgetError, match="vertices are declared, and .* edges.*correct the number.*--memory"):
        convert([tmp_path / name], tmp_path / "g.zarr", options=ConvertOptions(memory_bytes=BUDGET))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    few = f"p sp {1 << 20} 1\na 1 {1 << 20} 1\n"
    (tmp_path / "few.gr").write_text(few)
    report = convert([tmp_path / "few.gr"], tmp_path / "few.zarr", options=ConvertOptions(memory_bytes=BUDGET))
    assert report.record.n_isolated == (1 << 20) - 2


def places(folder: Path) -> list[tuple[Path, str]]:
    (folder / "file").write_text("")
    return [
        (folder / "absent" / "g.zarr", "its folder does not exist; make that first"),
        (folder / "file" / "g.zarr", "its folder is no folder"),
        (Path("/proc/g.zarr"), "cannot be written"),
        (folder / ("g" * 300), "cannot be written"),
    ]


@pytest.mark.parametrize("way", ["source", "ordered", "generated", "reordered"])
def test_a_target_that_cannot_be_is_refused_before_the_work(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refused(tmp_path, way, monkeypatch, [(target, None, text) for target, text in places(tmp_path)])


@pytest.mark.parametrize("way", ["source", "ordered", "generated", "reordered"])
def test_a_scratch_folder_that_cannot_be_is_refused_before_the_work(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _refused(tmp_path, way, monkeypatch, [
        (tmp_path / "g.zarr", tmp_path / "absent", "scratch folder does not exist"),
        (tmp_path / "g.zarr", Path("/proc"), "cannot be written")])


def _refused(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch, cases: list[tuple[Path, Path | None, str]]
) -> None:
    edges = folder / "edges.txt"
    edges.write_text("0 1\n1 2\n")
    store = folder / "natural.zarr"
    if way == "reordered":
        convert([edges], store, options=ConvertOptions(memory_bytes=BUDGET))
    ways: dict[str, Callable[[Path, ConvertOptions], Any]] = {
        "source": lambda target, options: write_graph(Unread([], SourceInfo()), target, options=options),
        "ordered": lambda target, options: convert_ordered([folder / "edges.txt"], target, "bfs", options=options),
        "generated": lambda target, options: generate("path", target, vertices=9, options=options),
        "reordered": lambda target, options: reorder(store, target, "bfs", memory=BUDGET, scratch=options.scratch),
    }

    def never(*_: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("emdiam.generators.source.GeneratedSource.prepare", never)
    monkeypatch.setattr("emdiam.conversion.convert.Conversion.run", never)
    monkeypatch.setattr("emdiam.conversion.reorder._reorder", never)
    before = sorted(folder.iterdir())
    for target, scratch, text in cases:
        with pytest.raises(InputError, match=text):
            ways[way](target, ConvertOptions(memory_bytes=BUDGET, plan=TINY, scratch=scratch))
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("ordered", [False, True])
def test_a_checkpoint_that_cannot_be_is_refused_before_the_work(tmp_path: Path, ordered: bool) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n")
    for folder, text in places(tmp_path):
        options = ConvertOptions(memory_bytes=BUDGET, checkpoint=CheckpointOptions(folder))
        with pytest.raises(InputError, match=text):
            if ordered:
                convert_ordered([tmp_path / "edges.txt"], tmp_path / "g.zarr", "bfs", options=options)
            else:
                convert([tmp_path / "edges.txt"], tmp_path / "g.zarr", options=options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", "file"]
