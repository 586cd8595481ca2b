"""Checkpoints: a run that is stopped anywhere goes on to the same result, whatever is damaged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.checkpoint.folder import Folder
from emdiam.errors import InputError
from emdiam.journal.journal import Journal
from emdiam.methods.exact.strategy import Costs
from emdiam.traverse.bfs import Learned
from tests.helpers import naive
from tests.helpers.checkpoint_runs import RUNS, Kept, Planted
from tests.helpers.small_engine import engines
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(4)

MOST_STOPS = 5
# Runs that choose what is cheaper by the seconds that it took before.
BY_THE_CLOCK = ("pivots",)


def tangle() -> naive.Graph:
    """A mesh with tails, a smaller component and isolated vertices: several rounds of every method."""
    rng = np.random.default_rng(5)
    mesh = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 17))
    edges = [*mesh.edges, *((i, 102 + i) for i in range(0, 30, 3)), *((140 + i, 141 + i) for i in range(9))]
    edges += [(int(a), int(b)) for a, b in rng.integers(0, 102, (6, 2))]
    return naive.graph_of(160, edges)


@pytest.fixture(scope="module", params=["in-ram", "streamed"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = write_store(tmp_path_factory.mktemp("stores") / "g.zarr", tangle())
    with engine_on(path, request.param) as opened:
        yield opened


@pytest.mark.parametrize("run", RUNS)
def test_a_run_that_stops_at_any_verb_goes_on_to_the_same_result(engine: Any, run: str, tmp_path: Path) -> None:
    kept = Kept(engine, tmp_path / "whole", run)
    whole = kept.run()
    total = kept.journal.written
    assert kept.journal.n_before == 0 and total >= 2
    assert kept.run() == whole and kept.journal.written == 0  # all of it from the journal
    stops = sorted({1, total, *np.linspace(1, total, MOST_STOPS).astype(int).tolist()})
    for stop in stops:
        kept = Kept(engine, tmp_path / f"at-{stop}", run)
        with pytest.raises(Planted):
            kept.run(stop, before=stop % 2 == 0)
        assert same(run, kept.run(), whole)
        assert kept.journal.n_before == stop - (stop % 2 == 0)
        if run not in BY_THE_CLOCK:
            assert kept.journal.written == total - kept.journal.n_before


def test_a_run_with_wide_batches_goes_on(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Costs, "covering_pays", lambda *_: True)
    monkeypatch.setattr(Costs, "visits", lambda self, cover, gain: False)
    monkeypatch.setattr(Costs, "wide_bits", lambda self, cover, gain: 3)
    kept = Kept(engine, tmp_path / "whole", "pivots")
    whole, total = kept.run(), kept.journal.written
    assert whole["traversals"]["multi_source"] > 0
    for stop in (total // 2, total - 2):
        kept = Kept(engine, tmp_path / f"at-{stop}", "pivots")
        with pytest.raises(Planted):
            kept.run(stop, before=False)
        assert same_answer(kept.run(), whole) and kept.journal.n_before == stop


def test_a_checkpoint_changes_no_result(engine: Any, tmp_path: Path) -> None:
    for run in RUNS:
        kept = Kept(engine, tmp_path / run, run)
        engine.learned = Learned()
        plain = kept.plain()
        assert same(run, kept.run(), plain), run


def test_of_many_batches_at_once_only_the_one_under_way_is_lost(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = Kept(engine, tmp_path / "large", "apsp").run()
    monkeypatch.setattr(engine, "facts", replace(engine.facts, batch_bits=4))
    kept = Kept(engine, tmp_path / "whole", "apsp")
    assert same_answer(kept.run(), want)
    total, batches = kept.journal.written, kept.run()["traversals"]["multi_source"]
    assert total > batches >= 20  # each has a record
    for stop in (7, total // 2):
        kept = Kept(engine, tmp_path / f"at-{stop}", "apsp")
        with pytest.raises(Planted):
            kept.run(stop, before=False)
        assert same_answer(kept.run(), want) and kept.journal.written == total - stop


def same(run: str, found: dict[str, Any], want: dict[str, Any]) -> bool:
    """Whether two runs found the same, by as much work where that does not go by the clock."""
    return same_answer(found, want) if run in BY_THE_CLOCK else found == want


def same_answer(found: dict[str, Any], want: dict[str, Any]) -> bool:
    """Whether two runs found the same, whatever it cost."""
    return all(found[name] == want[name] for name in ("lower", "upper", "witness", "diameter_largest_component"))


def test_it_is_stopped_again_and_again(engine: Any, tmp_path: Path) -> None:
    for run in ("fdiam", "clusters", "spanning"):
        kept = Kept(engine, tmp_path / run, run)
        want = Kept(engine, tmp_path / f"{run}-whole", run).run()
        for _ in range(200):
            try:
                assert kept.run(2, before=True) == want
                break
            except Planted:
                assert kept.journal.written == 2  # one of the two is kept
        else:
            pytest.fail("it does not come nearer its end")


ODD = odd_graphs()


@pytest.mark.parametrize("shape", ODD)
def test_odd_graphs(shape: str, tmp_path: Path) -> None:
    with engines() as make:
        engine = make(ODD[shape])
        for run in ("pivots", "fdiam", "clusters", "spanning"):
            kept = Kept(engine, tmp_path / run, run)
            want = kept.run()
            total = kept.journal.written
            assert kept.run() == want
            if total:
                other = Kept(engine, tmp_path / f"{run}-stopped", run)
                with pytest.raises(Planted):
                    other.run((total + 1) // 2)
                assert same(run, other.run(), want)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), run=st.sampled_from(sorted(RUNS)), at=st.floats(0, 1), before=st.booleans())
def test_random_graphs(graph: naive.Graph, run: str, at: float, before: bool, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    with engines() as make:
        engine = make(graph)
        kept = Kept(engine, tmp_path / "a", run)
        want = kept.run()
        total = kept.journal.written
        if total:
            other = Kept(engine, tmp_path / "b", run)
            with pytest.raises(Planted):
                other.run(max(1, round(at * total)), before)
            assert other.run() == want


# -- damage -----------------------------------------------------------------------------------------
@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Kept, Path, dict[str, Any]]]:
    """A run of F-Diam that was stopped, its journal, and what it is to find."""
    with engines() as make:
        engine = make(tangle())
        want = Kept(engine, tmp_path / "whole", "fdiam").run()
        kept = Kept(engine, tmp_path / "kept", "fdiam")
        with pytest.raises(Planted):
            kept.run(6, before=False)
        yield kept, tmp_path / "kept" / "journal", want


def kept_records(folder: Path) -> tuple[int, str | None]:
    opened = Folder(folder)
    journal = Journal(opened)
    journal.close()
    opened.close()
    return journal.n_before, "; ".join(opened.damage) or None


def test_a_torn_tail_costs_the_last_record_alone(stopped: tuple[Kept, Path, dict[str, Any]]) -> None:
    kept, journal, want = stopped
    data = journal.read_bytes()
    assert kept_records(journal.parent) == (6, None)
    journal.write_bytes(data)
    last = data[: data.rindex(b'{"head"')]
    begin = len(data) - 1
    lengths = set()
    for size in range(len(data) - 1, len(last) - 200, -1):
        journal.write_bytes(data[:size])
        count, cut = kept_records(journal.parent)
        lengths.add(journal.stat().st_size)
        if count < 5:
            break
        assert count == 5 and (cut is not None) == (journal.stat().st_size < size)
        begin = size
    assert begin < len(last) and len(lengths) <= 2  # cut to a whole record wherever it was torn
    journal.write_bytes(data[:begin])
    assert kept.run() == want and kept.journal.n_before == 5


def test_a_flipped_byte_anywhere_costs_what_follows_it(stopped: tuple[Kept, Path, dict[str, Any]]) -> None:
    kept, journal, want = stopped
    data = journal.read_bytes()
    counts = []
    for at in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        journal.write_bytes(damaged)
        count, cut = kept_records(journal.parent)
        assert count < 6 and cut is not None and "damaged" in cut
        counts.append(count)
        if at % 91 == 0:
            journal.write_bytes(damaged)
            assert kept.run() == want
            assert kept.journal.n_before == count
    assert counts == sorted(counts) and set(counts) == set(range(6))


def test_another_order_of_verbs_is_refused(stopped: tuple[Kept, Path, dict[str, Any]], tmp_path: Path) -> None:
    kept, _, _ = stopped
    other = Kept(kept._bare, tmp_path / "kept", "apsp")
    with pytest.raises(InputError, match=r"the checkpoint has .* where this run asks for"):
        other.run()


@pytest.mark.parametrize(("seconds", "least"), [(0.0, 6), (1e9, 0)])
def test_records_are_waited_for_on_disk_now_and_then(
    seconds: float, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    monkeypatch.setattr("emdiam.journal.journal.SYNC_SECONDS", seconds)
    with engines() as make:
        kept = Kept(make(tangle()), tmp_path / "kept", "fdiam")
        with pytest.raises(Planted):
            kept.run(6, before=False)
    begin_and_end = 3  # the empty journal, its folder, and closing
    assert len(waits) == least + begin_and_end
