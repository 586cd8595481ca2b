"""Commands that meet faults: what each is given, does and leaves, and whether that is right.

They run in the process at hand, a thousand times as fast as processes of their own; `batch` alone starts its jobs.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import emdiam
from emdiam.batch import BatchOptions, batch
from emdiam.certificates.documents import read_certificate
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.cli.main import group
from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.errors import InputError
from emdiam.runs.task import execute, make_task
from emdiam.store.check import check_store
from emdiam.store.store import open_store
from tests.faults.layer import PLAN
from tests.fuzz.bases import some_graph
from tests.fuzz.checkpoints import Planted, stop_at
from tests.fuzz.outcome import RIGHT, WRONG, Outcome
from tests.fuzz.solving import MEMORY, truth_of
from tests.helpers import naive
from tests.helpers.convert_twin import TINY
from tests.helpers.damage import read_store
from tests.helpers.stores import CHUNK, write_store

STORE, PROOF, PATH, TABLE, CHECKPOINT = "new.zarr", "proof.json", "path.txt", "table.parquet", "kept"
# The commands that run in the process at hand, and all.
HERE = ("convert", "exact", "disk-state", "table", "reorder", "verify", "checkpoint", "convert-checkpoint")
BATCH = "batch"
COMMANDS = (*HERE, BATCH)
_ARENA = 4 * CHUNK * 4
_JOBS = f"""
[[job]]
name = "made"
command = "generate"
class = "path"
store = "{STORE}"
options = {{ vertices = 40 }}
[[job]]
name = "answer"
command = "exact"
store = "{STORE}"
options = {{ certificate = "{PROOF}" }}
"""


@dataclass(frozen=True)
class Command:
    """name : of it. prepare(place) : what is there before faults begin. run(place, again) : does it; again : for the
    second time, over what the first has left. judge(place) : whether what was left is right; what is not there is
    right too. whole(place) : whether all is there."""

    name: str
    prepare: Callable[[Path], None]
    run: Callable[[Path, bool], Any]
    judge: Callable[[Path], Outcome]
    outputs: tuple[str, ...]

    def is_whole(self, place: Path) -> bool:
        """Whether all that it makes is there."""
        return all((place / name).exists() for name in self.outputs)


class Commands:
    """All of them, by name, on inputs in `folder`."""

    def __init__(self, folder: Path) -> None:
        rng = random.Random(7)
        self._graph = some_graph(rng, 300)
        self._store = write_store(folder / "base.zarr", self._graph)
        self._truth = truth_of(self._store, read_store)
        self._edges = "".join(f"{v} {w}\n" for v, row in enumerate(self._graph) for w in row if v < w)
        self._listed = [v for v, row in enumerate(self._graph) if row]
        nothing: tuple[str, ...] = ()
        self.by_name = {one.name: one for one in (
            Command("convert", self._input, self._convert, self._judge_store, (STORE,)),
            Command("exact", self._input, self._exact, self._judge_proof, (PROOF, PATH)),
            Command("disk-state", self._input, self._disk_state, lambda _: Outcome(RIGHT), nothing),
            Command("table", self._input, self._table, self._judge_table, (TABLE,)),
            Command("reorder", self._input, self._reorder, self._judge_store, (STORE,)),
            Command("verify", self._proved, self._verify, lambda _: Outcome(RIGHT), nothing),
            Command("checkpoint", self._stopped_run, self._go_on, lambda _: Outcome(RIGHT), nothing),
            Command("convert-checkpoint", self._stopped_conversion, self._convert_on, self._judge_store, (STORE,)),
            Command(BATCH, self._jobs, self._batch, self._judge_path, (STORE, PROOF)),
        )}

    # -- what is there before ----------------------------------------------------------------------------------------
    def _input(self, place: Path) -> None:
        shutil.copytree(self._store, place / "g.zarr")
        (place / "edges.txt").write_text(self._edges)

    def _proved(self, place: Path) -> None:
        self._input(place)
        self._exact(place, False)

    def _jobs(self, place: Path) -> None:
        (place / "jobs.toml").write_text(_JOBS)

    def _stopped_run(self, place: Path) -> None:
        self._input(place)
        try:
            self._go_on(place, False, stop_at(20))
        except Planted:
            pass

    def _stopped_conversion(self, place: Path) -> None:
        self._input(place)
        try:
            self._convert_on(place, False, stop_at(6))
        except Planted:
            pass

    # -- what is done ------------------------------------------------------------------------------------------------
    def _convert(self, place: Path, again: bool) -> None:
        options = ConvertOptions(plan=TINY, chunk_ids=CHUNK, threads=1, force=again, scratch=place)
        convert([place / "edges.txt"], place / STORE, options=options)

    def _convert_on(self, place: Path, again: bool, progress: Any = None) -> None:
        kept = CheckpointOptions(place / CHECKPOINT, every=0.0, resume=True)
        options = ConvertOptions(plan=TINY, chunk_ids=CHUNK, threads=1, checkpoint=kept, progress=progress)
        convert([place / "edges.txt"], place / STORE, options=options)

    def _solve(self, place: Path, method: str, progress: Any = None, **fields: Any) -> Any:
        """The result, which has to be right."""
        switches = {"path_file": fields.pop("path_file", None), "scratch": str(place)}
        run = make_task(method, switches, memory_bytes=MEMORY, threads=1,
                       arena_bytes=_ARENA, **fields)
        result = execute(place / "g.zarr", run, progress)
        outcome = self._truth.judge(result)
        assert outcome.word == RIGHT, outcome.text
        return result

    def _exact(self, place: Path, again: bool) -> None:
        self._solve(place, "pivots", certificate=place / PROOF, path_file=place / PATH)

    def _disk_state(self, place: Path, again: bool) -> None:
        self._solve(place, "pivots", vertex_state="disk")

    def _go_on(self, place: Path, again: bool, progress: Any = None) -> None:
        kept = CheckpointOptions(place / CHECKPOINT, every=0.0, resume=True)
        self._solve(place, "pivots", progress, checkpoint=kept)

    def _table(self, place: Path, again: bool) -> None:
        emdiam.eccentricities(place / "g.zarr", out=place / TABLE, memory=MEMORY, threads=1)

    def _reorder(self, place: Path, again: bool) -> None:
        emdiam.reorder(place / "g.zarr", place / STORE, "cluster", memory=MEMORY, threads=1, force=again)

    def _verify(self, place: Path, again: bool) -> None:
        report = emdiam.verify(place / PROOF, place / "g.zarr", memory=MEMORY, threads=1)
        assert report.verified, report.reason

    def _batch(self, place: Path, again: bool) -> None:
        answer = batch(place / "jobs.toml", group, BatchOptions(retry=again))
        failed = [record for record in answer.records if record.status != "done"]
        if failed:
            sentences = "; ".join(f"{one.job}: {one.sentence}" for one in failed)
            if "internal error" in sentences or "Traceback" in sentences:
                raise RuntimeError(sentences)
            raise InputError(sentences)

    # -- what is left ------------------------------------------------------------------------------------------------
    def _judge_store(self, place: Path) -> Outcome:
        """The store, if there is one, is that of the graph, whatever it is called by vertices without an edge."""
        if not (place / STORE).exists():
            return Outcome(RIGHT)
        with open_store(place / STORE) as store:
            check_store(store)
        truth = truth_of(place / STORE, read_store)
        found = {(truth.ids[v], truth.ids[w]) for v, row in enumerate(truth.graph) for w in row}
        want = {(v, w) for v, row in enumerate(self._graph) for w in row}
        return Outcome(RIGHT) if found == want else Outcome(WRONG, f"another graph: {len(found)} arcs of {len(want)}")

    def _judge_proof(self, place: Path) -> Outcome:
        """Certificate and path are whole where they are."""
        if (place / PROOF).exists() and not read_certificate(place / PROOF):
            return Outcome(WRONG, "no certificate")
        if (place / PATH).exists():
            path = [int(line) for line in (place / PATH).read_text().splitlines()]
            _, most, _ = naive.diameters(self._graph)
            if len(path) != most + 1 or any(w not in self._graph[v] for v, w in itertools.pairwise(path)):
                return Outcome(WRONG, f"the path is {path}")
        return Outcome(RIGHT)

    def _judge_table(self, place: Path) -> Outcome:
        """All eccentricities, where there is a table."""
        if not (place / TABLE).exists():
            return Outcome(RIGHT)
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(place / TABLE).to_pydict()
        want = [max(d for d in naive.distances(self._graph, v) if d >= 0) for v in range(len(self._graph))]
        found = rows["eccentricity"]
        return Outcome(RIGHT) if found == want else Outcome(WRONG, f"eccentricities {found[:50]}, not {want[:50]}")

    def _judge_path(self, place: Path) -> Outcome:
        """The path of 40 vertices that a job makes."""
        if not (place / STORE).exists():
            return Outcome(RIGHT)
        with open_store(place / STORE) as store:
            check_store(store)
            return Outcome(RIGHT) if store.n_arcs == 78 else Outcome(WRONG, f"{store.n_arcs} arcs")


def jobs_plan(text: str | None) -> None:
    """Let processes that are started from now on follow this plan; None: none."""
    if text is None:
        os.environ.pop(PLAN, None)
    else:
        os.environ[PLAN] = text
