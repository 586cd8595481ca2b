"""Conversions with checkpoints of every kind of input, and ways to stop them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.formats.source import SourceInfo
from emdiam.sorting.plan import SortPlan
from emdiam.sorting.scratch import Checkpoint
from tests.conversion.test_stages import random_pairs
from tests.helpers.convert_twin import TINY, ListSource, Pairs, rows_of, twin

FEW = [*random_pairs(60, 90), (7, 7), (3, 3)]
INPUTS: dict[str, tuple[Pairs, SourceInfo]] = {
    "declared": (FEW, SourceInfo(n_vertices=70)),
    "offset": ([(a + 5, b + 5) for a, b in FEW], SourceInfo()),
    "compact": ([(3 * a, 3 * b) for a, b in FEW], SourceInfo()),
    "widened": ([*FEW, *((a << 40, b) for a, b in FEW)], SourceInfo()),
    "wide": ([(a << 40, b) for a, b in FEW], SourceInfo()),
    "wide without gaps": ([(a + (1 << 40), b + (1 << 40)) for a, b in FEW] + [
        ((1 << 40) + v, (1 << 40) + v) for v in range(60)], SourceInfo()),
    "strings": ([(f"v{a}", f"v{b}") for a, b in FEW], SourceInfo(id_kind="string")),
    "partitions": (FEW, SourceInfo(n_vertices=1025)),
    "rows": (sorted((a, b) for one, other in FEW for a, b in ((one, other), (other, one))), SourceInfo(n_vertices=70)),
}


class Stop(Exception):
    """Stands for whatever ends a conversion."""


def plan_of(kind: str) -> SortPlan:
    # Pieces of the table a few, so that there are not hundreds of stops to try.
    plan = replace(TINY, table_ids=40, run_keys=64, least_run_keys=64, string_bytes=512)
    return replace(plan, key_bits=20) if kind == "partitions" else plan


def source_of(kind: str) -> ListSource:
    return ListSource(*INPUTS[kind], per_batch=20)


def attempt(
    kind: str, folder: Path, *, resume: bool = True, every: float = 0.0, progress: Any = None, **more: Any
) -> ConvertReport:
    checkpoint = CheckpointOptions(folder / "kept", every=every, resume=resume)
    options = ConvertOptions(plan=plan_of(kind), chunk_ids=64, checkpoint=checkpoint, progress=progress, **more)
    return write_graph(source_of(kind), folder / "g.zarr", options=options)


def files_of(store: Path) -> dict[str, bytes]:
    """Every file of a store and what is in it."""
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


@cache
def unbroken(kind: str) -> dict[str, bytes]:
    """The store of a conversion without checkpoints, which is right."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        options = ConvertOptions(plan=plan_of(kind), chunk_ids=64, scratch=folder)
        write_graph(source_of(kind), folder / "g.zarr", options=options)
        pairs, info = INPUTS[kind]
        assert rows_of(folder / "g.zarr") == twin(pairs, info.n_vertices, info.first_id)
        return files_of(folder / "g.zarr")


def stop_after(monkeypatch: pytest.MonkeyPatch, stops: Callable[[dict[str, Any]], bool]) -> None:
    """Stop whenever a state has been kept for which `stops` holds."""
    save = Checkpoint.save

    def stopping(self: Checkpoint, state: dict[str, Any]) -> None:
        save(self, state)
        if stops(state):
            raise Stop

    monkeypatch.setattr(Checkpoint, "save", stopping)


def stop_at(monkeypatch: pytest.MonkeyPatch, kind: str, folder: Path, stops: Callable[[dict[str, Any]], bool]) -> None:
    """Leave the checkpoint of a conversion that was stopped after the first state for which `stops` holds."""
    with monkeypatch.context() as patch, pytest.raises(Stop):
        stop_after(patch, stops)
        attempt(kind, folder)


def rows_begun(state: dict[str, Any]) -> bool:
    return state["writer"] is not None
