"""Checkpoints of whole runs: what is refused, what is left, and kill -9."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from emdiam.checkpoint.folder import MANIFEST, Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.errors import BudgetError, InputError, StoppedEarly
from emdiam.journal.journal import Journal
from emdiam.progress import Event
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from tests.conftest import ROOT, Run
from tests.helpers import naive
from tests.helpers.stores import odd_graphs, write_store

pytestmark = pytest.mark.thin(3)

ODD = odd_graphs()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_store(tmp_path / "g.zarr", ODD["grid"])


def interrupted(store: Path, folder: Path, method: str = "fdiam", **more: Any) -> str:
    """A run that Ctrl-C stops after some traversals; what it said."""
    def listen(event: Event) -> None:
        if event.phase in ("winnow", "tree"):
            raise KeyboardInterrupt

    with pytest.raises(StoppedEarly) as stop:
        run_on(store, CheckpointOptions(folder, **more), method, listen)
    assert isinstance(stop.value.result.details["checkpoint"]["folder"], str)  # type: ignore[attr-defined]
    return str(stop.value)


def run_on(
    store: Path, checkpoint: CheckpointOptions | None, method: str = "fdiam", listen: Any = None, **more: Any
) -> Any:
    return execute(store, make_task(method, checkpoint=checkpoint, memory_bytes=2 << 30, **more), listen)


@pytest.mark.parametrize("method", ["fdiam", "sweep"])
def test_a_stopped_run_leaves_a_checkpoint_and_says_how_to_go_on(store: Path, tmp_path: Path, method: str) -> None:
    folder, events = tmp_path / "kept", list[Event]()
    said = interrupted(store, folder, method)
    assert "--resume" in said and str(folder) in said
    result = run_on(store, CheckpointOptions(folder, resume=True), method, events.append)
    told = result.details["checkpoint"]
    assert told["resumed"] >= 1 and told["damaged"] is None and told["bytes"] > 0
    assert [event.done for event in events if event.phase == "resume"] == [told["resumed"]]
    want = run_on(store, None, method)
    assert (result.lower, result.upper, result.witness) == (want.lower, want.upper, want.witness)
    assert result.traversals == want.traversals and result.levels == want.levels
    assert not folder.exists()


def test_a_checkpoint_that_cannot_be_removed_does_not_fail_what_is_done(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(folder: Folder) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Folder, "remove", broken)
    result = run_on(store, CheckpointOptions(tmp_path / "kept"))
    assert result.exact and result.diameter == run_on(store, None).diameter
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "but stays: [Errno 5] Input/output error" in caplog.text and (tmp_path / "kept").exists()


def test_what_does_not_belong_together_is_refused(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    interrupted(store, folder)
    manifest = (folder / MANIFEST).read_text()
    with pytest.raises(InputError, match="this folder already has the checkpoint of a run; continue it with --resume"):
        run_on(store, CheckpointOptions(folder))
    again = CheckpointOptions(folder, resume=True)
    with pytest.raises(InputError, match="of another run: method 'fdiam' instead of 'ifub'"):
        run_on(store, again, "ifub")
    with pytest.raises(InputError, match="of another run: chains True instead of False"):
        run_on(store, again, switches={"chains": False})
    with pytest.raises(InputError, match="of another run: gap None instead of 1"):
        run_on(store, again, gap=1)
    other = write_store(tmp_path / "other.zarr", ODD["tree"])
    with pytest.raises(InputError, match="of another run: store digest"):
        run_on(other, again)
    with monkeypatch.context() as later, pytest.raises(InputError, match="of another run: version"):
        later.setattr("emdiam.checkpoint.folder.__version__", "999")
        run_on(store, again)
    (folder / MANIFEST).write_text("{")
    with pytest.raises(InputError, match="not a checkpoint that this version can read"):
        run_on(store, again)
    (folder / MANIFEST).write_text(manifest)
    opened = Folder(folder)
    assert opened.facts is not None
    opened.begin({**opened.facts, "pool_bytes": opened.facts["pool_bytes"] + (1 << 30)})
    opened.close()
    with pytest.raises(BudgetError, match="more memory.*give --memory as it was"):
        run_on(store, again)
    (folder / MANIFEST).write_text(manifest)  # nothing of all that has hurt it
    assert run_on(store, again).details["checkpoint"]["resumed"] >= 1


def test_a_folder_of_something_else_is_left_alone(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("x")
    with pytest.raises(InputError, match="this folder is not a checkpoint: 'chapter.tex'"):
        run_on(store, CheckpointOptions(folder, resume=True))
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="the checkpoint cannot be kept here"):
        run_on(store, CheckpointOptions(tmp_path / "file"))
    assert (folder / "chapter.tex").read_text() == "x"


def test_two_runs_do_not_share_a_folder(store: Path, tmp_path: Path) -> None:
    held = Folder(tmp_path / "kept")
    try:
        with pytest.raises(InputError, match="another run keeps its checkpoint here now"):
            run_on(store, CheckpointOptions(tmp_path / "kept", resume=True))
    finally:
        held.close()


def test_a_kept_one_answers_at_once(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = run_on(store, CheckpointOptions(folder, keep=True))
    assert folder.exists()
    again = run_on(store, CheckpointOptions(folder, resume=True))
    assert again.witness == first.witness and not folder.exists()
    assert again.details["checkpoint"]["resumed"] >= first.traversals.bfs + first.traversals.partial


def test_without_a_folder_the_same_command_finds_its_own(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    interrupted(store, None, resume=True)  # type: ignore[arg-type]
    left = list((tmp_path / "scratch").iterdir())
    assert [path.name.startswith("emdiam-g.zarr-") for path in left] == [True]
    result = run_on(store, CheckpointOptions(resume=True))
    assert result.details["checkpoint"]["resumed"] >= 1 and not list((tmp_path / "scratch").iterdir())


def test_a_refused_run_leaves_no_folder(store: Path, tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        execute(store, make_task("pivots", memory_bytes=1 << 20, checkpoint=CheckpointOptions(tmp_path / "kept")))
    assert not (tmp_path / "kept").exists()


def test_a_full_disk_is_told_and_costs_no_record(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real, left = tmp_path / "kept", os.pwrite, [40]

    def full(handle: int, data: Any, offset: int) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return real(handle, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(InputError, match="the checkpoint cannot be written.*No space.*--resume"):
        run_on(store, CheckpointOptions(folder), "ifub")
    monkeypatch.setattr(os, "pwrite", real)
    result = run_on(store, CheckpointOptions(folder, resume=True), "ifub")
    assert result.details["checkpoint"]["damaged"] is None and result.details["checkpoint"]["resumed"] >= 2


# -- kill -9 ----------------------------------------------------------------------------------------
def mesh(path: Path, side: int) -> Path:
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    tails = [(i, side * side + i) for i in range(0, side, 2)]
    return write_store(path, naive.graph_of(side * side + side, [*graph.edges, *tails]), chunk=256)


def regular(path: Path, n_vertices: int) -> Path:
    """A random cubic graph, on which pivots takes single traversals, batches and spreads."""
    graph = nx.random_regular_graph(3, n_vertices, seed=1)
    return write_store(path, naive.graph_of(n_vertices, graph.edges), chunk=1024)


@dataclass
class Answered:
    """An answer, the traversals that were begun for it, and how many times it was killed on the way."""

    result: dict[str, Any]
    begun: int
    kills: int
    records: int  # in the checkpoint that it went on from


def counted(count: Path, line: list[str]) -> tuple[list[str], Callable[[], int]]:
    """A command that counts the traversals that it begins in a file, and what gives their number so far."""
    return [sys.executable, "-m", "tests.helpers.counted_command", str(count), *line], lambda: journal_size(count)


def killed_again_and_again(
    store: Path, folder: Path, command: list[str], kills: int, rng: random.Random
) -> list[Answered]:
    """The answers of a command that is killed so many times, and given again whenever it has answered."""
    line, begun = counted(folder.with_name("begun"), [
        *command[:1], str(store), *command[1:], "--json", "--quiet", "--checkpoint", str(folder),
        "--checkpoint-every", "50ms", "--resume"])
    answers: list[Answered] = []
    killed = before = 0
    for _ in range(20 * kills):
        records, size = whole_records(folder), journal_size(folder / "journal")
        with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and journal_size(folder / "journal") == size:
                time.sleep(0.002)
            time.sleep(rng.random() * 0.04)
            process.send_signal(signal.SIGKILL)
            out, err = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), err
        if out:  # it was sooner
            answers.append(Answered(json.loads(out), begun() - before, killed, records))
            killed, before = 0, begun()
            shutil.rmtree(folder, ignore_errors=True)
        else:
            killed += 1
            assert records <= whole_records(folder)  # before the answer is out nothing goes
            kills -= 1
            if not kills:
                break
    assert not kills, "the run has nearly always ended before it was killed"
    records = whole_records(folder)
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [*answers, Answered(json.loads(done.stdout), begun() - before, killed, records)]


def journal_size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def whole_records(folder: Path) -> int:
    """Records that a run would go on from; what is torn behind them is cut off here."""
    if not (folder / "journal").exists():
        return 0
    opened = Folder(folder)
    journal = Journal(opened)
    journal.close()
    opened.close()
    return journal.n_before


def check_killed(store: Path, tmp_path: Path, command: list[str], kills: int) -> list[Answered]:
    """However often it is killed, a run ends with the answer of an unbroken one, and for every kill at most
    one traversal is begun again. The answers."""
    line, begun = counted(tmp_path / "unbroken", [*command[:1], str(store), *command[1:], "--json", "--quiet"])
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    want, unbroken = json.loads(done.stdout), begun()
    if command[0] == "exact":
        assert unbroken == traversals_of(want) > 0
    answers = killed_again_and_again(store, tmp_path / "kept", command, kills, random.Random(3))
    for found in answers:
        by_the_clock = "pivots" in command  # what it traverses and finds follows costs that it measures
        for name in ("lower", "upper", "diameter", "witness", "n_components", "traversals", "store_digest"):
            if not by_the_clock or name not in ("traversals", "witness"):
                assert found.result[name] == want[name], name
        needed = traversals_of(found.result) if by_the_clock else unbroken
        assert 0 <= found.begun - needed <= found.kills
        assert bool(found.result["details"]["checkpoint"]["resumed"]) == (found.records > 0)
    assert any(found.kills and found.records for found in answers), "no run went on from what a killed one had kept"
    assert not (tmp_path / "kept").exists()
    return answers


def traversals_of(result: dict[str, Any]) -> int:
    """Traversals of all kinds that led to an exact answer, those that came from the checkpoint included."""
    return int(result["details"]["counters"]["traversals"])


def test_kill_9(tmp_path: Path) -> None:
    check_killed(mesh(tmp_path / "m.zarr", 60), tmp_path, ["exact", "--method", "ifub"], 2)


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    ["exact", "--method", "pivots"], ["exact", "--method", "fdiam"],
    ["exact", "--method", "ifub", "--arena", "16KiB", "--reorder", "never"],
    ["approx", "--masters", "2%"], ["approx", "--masters", "2%", "--arena", "16KiB"],
], ids=" ".join)
def test_kill_9_at_many_moments(tmp_path: Path, command: list[str]) -> None:
    check_killed(mesh(tmp_path / "m.zarr", 60), tmp_path, command, 25)


@pytest.mark.slow
@pytest.mark.parametrize(("vertices", "more"), [(1 << 13, []), (1 << 12, ["--arena", "16KiB"])],
                         ids=["in-ram", "streamed"])
def test_kill_9_in_batches_of_pivots(tmp_path: Path, vertices: int, more: list[str]) -> None:
    """Single traversals, batches with and without columns, and spreads."""
    store = regular(tmp_path / "r.zarr", vertices)
    answers = check_killed(store, tmp_path, ["exact", "--method", "pivots", *more], 25)
    assert any(found.result["traversals"]["multi_source"] >= 2 for found in answers)
    assert max(found.kills for found in answers) >= 2


def test_the_command_line(store: Path, tmp_path: Path, command: Run) -> None:
    done = command("exact", store, "--method", "ifub", "--checkpoint", "kept", "--time-limit", "1ms", "--json")
    assert done.returncode == 3, done.stderr
    several = command("approx", store, "--masters", "2,5", "--checkpoint", "both", "--resume", "--json", "--quiet")
    assert several.returncode == 0, several.stderr
    runs = json.loads(several.stdout)["runs"]
    assert [Path(run["details"]["checkpoint"]["folder"]).name for run in runs] == ["run-1", "run-2"]
    assert not (tmp_path / "both").exists()


@pytest.mark.slow
def test_peak_stays_below_the_smallest_budget_with_a_checkpoint(tmp_path: Path) -> None:
    store = tmp_path / "k.zarr"
    line = [sys.executable, "-m", "emdiam"]
    subprocess.run([*line, "generate", "kronecker", str(store), "--vertices", "2^18", "--edge-factor", "16",
                    "--memory", "400MiB", "--quiet"], check=True, capture_output=True)
    for method in ("pivots", "fdiam"):
        run = [*line, "exact", str(store), "--method", method, "--json", "--quiet", "--checkpoint",
               str(tmp_path / method), "--checkpoint-every", "100ms", "--memory"]
        refused = subprocess.run([*run, "1MiB"], text=True, capture_output=True)
        least = re.search(r"give at least --memory (\d+)MiB", refused.stderr)
        assert least is not None, refused.stderr
        found = json.loads(subprocess.run([*run, f"{least[1]}MiB"], check=True, capture_output=True).stdout)
        assert found["peak_rss_bytes"] <= found["planned_rss_bytes"] <= int(least[1]) << 20
        assert found["details"]["checkpoint"]["bytes"] > 0


@pytest.mark.parametrize("method", ["fdiam", "sweep"])
def test_a_journal_of_another_graph_is_refused(tmp_path: Path, method: str) -> None:
    """Of as many vertices and edges, so that nothing in it would tell."""
    folders = [tmp_path / "path-kept", tmp_path / "star-kept"]
    for folder, graph in zip(folders, (nx.path_graph(90), nx.star_graph(89)), strict=True):
        store = write_store(tmp_path / f"{folder.name}.zarr", naive.graph_of(90, graph.edges))
        run_on(store, CheckpointOptions(folder, keep=True), method)
    shutil.copy(folders[0] / "journal", folders[1] / "journal")
    before = (folders[1] / "journal").read_bytes()
    with pytest.raises(InputError, match="star-kept/journal: this is of another run.*delete the folder"):
        run_on(store, CheckpointOptions(folders[1], resume=True), method)
    assert (folders[1] / "journal").read_bytes() == before


def test_a_changed_manifest_is_refused(store: Path, tmp_path: Path) -> None:
    run_on(store, CheckpointOptions(tmp_path / "kept", keep=True))
    file = tmp_path / "kept" / MANIFEST
    data, want, refused = file.read_bytes(), facts_in(file.parent), 0
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        file.write_bytes(damaged)
        try:
            assert facts_in(file.parent) == want  # a blank became another one
        except InputError as error:
            refused += 1
            assert "not a checkpoint that this version can read" in str(error)
    assert refused > 0.8 * len(data)


def facts_in(path: Path) -> tuple[Any, ...]:
    """What the manifest in a folder says."""
    folder = Folder(path)
    folder.close()
    return folder.facts, folder.owner


def test_the_digest_of_a_store_is_that_of_its_order(tmp_path: Path) -> None:
    """Vertices in a journal are numbers, so a store in another order must be another one."""
    graph = ODD["tree"]
    turned = naive.graph_of(len(graph), [(len(graph) - 1 - v, len(graph) - 1 - w)
                                         for v, row in enumerate(graph) for w in row])
    digests = []
    for name, one in (("a", graph), ("b", turned)):
        with open_store(write_store(tmp_path / f"{name}.zarr", one)) as opened:
            digests.append(opened.digest)
    assert digests[0] != digests[1]


def test_a_disk_that_fails_at_the_end_lets_go_of_the_folder(store: Path, tmp_path: Path) -> None:
    """The same process goes on from it, once the disk works again."""
    def broken(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def listen(event: Event) -> None:
        if event.phase in ("winnow", "tree"):
            patch.setattr(os, "fsync", broken)

    kept = CheckpointOptions(tmp_path / "kept", every=0.0, resume=True)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(
            BudgetError, match="the checkpoint cannot be written .Input/output error.*see to the disk"):
        run_on(store, kept, listen=listen)
    assert run_on(store, kept).diameter == naive.diameters(ODD["grid"])[1]
