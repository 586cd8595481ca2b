"""The verifier accepts exactly what is a proof: it equals the brute-force verdict."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.certificates import groups as groups_module
from emdiam.certificates import one_pass, run
from emdiam.certificates.components import Labelling
from emdiam.certificates.documents import Claims, VerifyReport
from emdiam.certificates.groups import make_groups
from emdiam.certificates.labels import MOST_COLUMNS, LabelColumn
from emdiam.certificates.plan import GroupPlan, ProofBudget, check_graph_room, least_bytes, plan_groups
from emdiam.certificates.run import verify
from emdiam.errors import BudgetError, InputError, StoreError
from emdiam.methods.result import ComponentProof, Proof
from emdiam.progress import Event
from emdiam.store import arc_runs
from emdiam.store.store import Store, open_store
from tests.helpers import naive, prover
from tests.helpers.stores import CHUNK, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(4)

ODD = odd_graphs()
SETTINGS = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
MEMORY = 2 << 30
# name -> (columns a group, batched), and whether one group is checked in the pass for the digest; None: the plan's
WAYS = {"planned": None, "one-by-one": (1, False, False), "threes": (3, False, False), "fives": (5, True, True),
        "many": (64, True, False), "all-at-once": (64, False, True)}


@pytest.fixture
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make verify use groups of another size, a tiny arena, and runs of one chunk."""
    if WAYS[request.param] is not None:
        columns, batched, at_once = WAYS[request.param]
        def plan(store: Store, *args: Any, **kwargs: Any) -> GroupPlan:
            return GroupPlan(columns, batched, min(4, max(1, store.indices.n_chunks)) * CHUNK * 4)

        monkeypatch.setattr(groups_module, "plan_groups", plan)
        if at_once:
            monkeypatch.setattr(one_pass, "plan_groups", plan)
        else:
            monkeypatch.setattr(run, "prove_at_once", lambda *args: False)
        monkeypatch.setattr(arc_runs, "RUN_ARCS", CHUNK)
    return request.param


def outcome(folder: Path, graph: naive.Graph, proof: Proof, claims: Claims) -> VerifyReport:
    store = write_store(folder / "g.zarr", graph)
    prover.write(folder / "c.json", store, proof, claims)
    return verify(folder / "c.json", store, memory_bytes=MEMORY)


def check_accepted(report: VerifyReport, graph: naive.Graph) -> None:
    largest, most, parts = naive.diameters(graph)
    assert report.verified and report.reason is None, report.reason
    assert report.lower == report.upper == most
    assert report.diameter_largest_component in largest
    assert report.n_components == parts and report.connected == (parts == 1)
    assert report.diameter == (most if parts == 1 else None)
    assert (report.n_vertices, report.n_edges) == (len(graph), sum(map(len, graph)) // 2)
    assert 0 < (report.peak_rss_bytes or 0) and set(report.seconds) == {"graph", "labels", "pairs", "total"}


@pytest.mark.parametrize("way", WAYS, indirect=True)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, way: str, name: str) -> None:
    graph = ODD[name]
    proof, claims = prover.exact_proof(graph, pivots=4, seed=len(name))
    assert prover.verdict(graph, proof, claims)
    report = outcome(tmp_path, graph, proof, claims)
    check_accepted(report, graph)
    if way == "one-by-one":
        assert report.scans == 1 + report.traversals
    if way in ("planned", "all-at-once"):
        assert report.scans == 1 or report.traversals > MOST_COLUMNS


@pytest.mark.parametrize("name", ["cycle", "hypercube", "two-paths", "clique-and-path"])
def test_every_vertex_a_source(tmp_path: Path, name: str) -> None:
    check_accepted(outcome(tmp_path, ODD[name], *prover.sources_proof(ODD[name])), ODD[name])


@st.composite
def attempts(draw: st.DrawFn) -> tuple[naive.Graph, Proof, Claims]:
    """A graph and a proof of it, perhaps with something dropped, added or claimed otherwise."""
    graph = draw(graphs(most=26))
    proof, claims = prover.exact_proof(graph, draw(st.integers(0, 6)), draw(st.integers(0, 99)))
    parts = list(proof.components)
    for _ in range(draw(st.integers(0, 2))):
        if not parts:
            break
        at = draw(st.integers(0, len(parts) - 1))
        parts[at] = changed(draw, graph, parts[at])
        if draw(st.integers(0, 7)) == 0:
            del parts[at]
    if draw(st.booleans()):
        claims = replace(claims, lower=max((part.lower for part in parts), default=0),
                         upper=max((part.upper for part in parts), default=claims.upper))
    if draw(st.integers(0, 4)) == 0:
        claims = replace(claims, diameter_largest_component=draw(st.sampled_from([None, 0, 1, claims.lower])))
    return graph, Proof(parts, draw(walks_on(graph))), claims


@st.composite
def walks_on(draw: st.DrawFn, graph: naive.Graph) -> list[np.ndarray]:
    """Walks, mostly to few vertices; seldom one with a step that is no edge."""
    found, starts = [], [v for v in range(len(graph)) if graph[v]]
    for _ in range(draw(st.integers(0, 12)) if starts else 0):
        walk = [draw(st.sampled_from(starts))]
        for _ in range(draw(st.integers(1, 5))):
            walk.append(draw(st.sampled_from(graph[walk[-1]])))
        if draw(st.integers(0, 30)) == 0:
            walk[draw(st.integers(0, len(walk) - 1))] = draw(st.integers(0, len(graph) - 1))
        found.append(np.array(walk[::draw(st.sampled_from([1, -1]))]))
    return found


def changed(draw: st.DrawFn, graph: naive.Graph, part: ComponentProof) -> ComponentProof:
    vertex = st.integers(0, len(graph) - 1)
    what = draw(st.sampled_from(["pivot", "source", "move", "upper", "both", "witness", "size", "more"]))
    pivots, sources = list(part.pivots), list(part.sources)
    if what == "pivot" and pivots:
        pivots.pop(draw(st.integers(0, len(pivots) - 1)))
    elif what == "source" and sources:
        sources.pop(draw(st.integers(0, len(sources) - 1)))
    elif what == "move" and pivots:
        sources.append(pivots.pop())
    elif what == "more":
        (pivots if draw(st.booleans()) else sources).append(draw(vertex))
    part = replace(part, pivots=pivots, sources=sources)
    step = draw(st.sampled_from([-1, 1]))
    if what == "upper":
        return replace(part, upper=max(part.lower, part.upper + step))
    if what == "both" and part.lower:
        lower = part.lower + step
        return replace(part, lower=lower, upper=part.upper + step, witness=part.witness if lower else None)
    if what == "witness" and part.lower:
        return replace(part, witness=(draw(vertex), draw(vertex)))
    return replace(part, size=max(0, part.size + step)) if what == "size" else part


@st.composite
def boundaries(draw: st.DrawFn) -> tuple[naive.Graph, Proof, Claims]:
    """Any pivots and sources, with the least bound that they prove, or one less than that."""
    graph = draw(graphs(most=30))
    rows, components = prover.all_distances(graph), naive.components(graph)
    parts = []
    for members in components:
        vertices = st.lists(st.sampled_from(members), max_size=4)
        part = ComponentProof(members[-1], len(members), 0, 0, None, draw(vertices), draw(vertices))
        least = prover.least_upper(rows, members, part)
        upper = max(0, least - draw(st.sampled_from([0, 0, 1])))
        pair = (draw(st.sampled_from(members)), draw(st.sampled_from(members)))
        lower = rows[pair[0]][pair[1]]
        parts.append(replace(part, upper=upper, **({"lower": lower, "witness": pair} if lower <= upper else {})))
    lower, upper = (max(getattr(part, end) for part in parts) for end in ("lower", "upper"))
    return graph, Proof(parts, draw(walks_on(graph))), Claims(lower, upper, None, len(parts), len(parts) == 1)


@pytest.mark.parametrize("way", ["one-by-one", "all-at-once"], indirect=True)
def test_walks_prove_pairs(tmp_path: Path, way: str) -> None:
    """Paths with a common end: the middle of a star proves what its rays leave open, and a walk may end at a ray."""
    rays, length = 7, 4
    graph = naive.graph_of(1 + rays * length, [
        (0 if step == 0 else ray * length + step, ray * length + step + 1)
        for ray in range(rays) for step in range(length)])
    tips = [(ray + 1) * length for ray in range(rays)]
    part = ComponentProof(0, len(graph), 8, 8, (tips[0], tips[1]), [tips[0]])
    to_middle = [np.array([*range(tip, tip - length, -1), 0]) for tip in tips]
    near = [np.array([v, *range(v - 1, (v - 1) // length * length, -1), 0]) for v in range(1, len(graph))]
    claims = Claims(8, 8, 8, 1, True)
    for walks in ([], to_middle[1:], near):
        proof = Proof([part], walks)
        report = outcome(tmp_path, graph, proof, claims)
        assert report.verified == prover.verdict(graph, proof, claims) == (len(walks) >= len(graph) - 1), report.reason
    shorter = Proof([replace(part, lower=0, upper=7, witness=None, pivots=[0])], near)
    assert not outcome(tmp_path, graph, shorter, Claims(0, 7, None, 1, True)).verified
    report = outcome(tmp_path, graph, Proof([part], [*near, np.array([5, 9])]), claims)
    assert report.reason == "vertices 5 and 9 of a walk are not joined by an edge"


@pytest.mark.parametrize("way", ["planned", "threes", "fives", "all-at-once"], indirect=True)
@SETTINGS
@given(case=st.one_of(attempts(), boundaries()))
def test_the_verdict_is_that_of_brute_force(tmp_path: Path, way: str, case: tuple) -> None:
    graph, proof, claims = case
    report = outcome(tmp_path, graph, proof, claims)
    assert report.verified == prover.verdict(graph, proof, claims), report.reason
    assert report.verified == (report.reason is None)
    if report.verified:
        assert report.lower <= naive.diameters(graph)[1] <= report.upper


@pytest.mark.parametrize("name", ["grid", "torus", "hypercube", "tree", "barbell", "caterpillar"])
def test_the_least_bound_that_pivots_prove(tmp_path: Path, name: str) -> None:
    """One less is refused."""
    graph, rng, by_pairs = ODD[name], random.Random(name), 0
    rows, members = prover.all_distances(graph), list(range(len(graph)))
    for count in (1, 2, 5, 9):
        part = ComponentProof(0, len(graph), 0, 0, None, rng.sample(members, count), rng.sample(members, 2))
        least = prover.least_upper(rows, members, part)
        for upper in (least, least - 1):
            report = outcome(tmp_path, graph, Proof([replace(part, upper=upper)]), Claims(0, upper, None, 1, True))
            assert report.verified == (upper == least), report.reason
            by_pairs += report.verified and report.pairs > 1
    assert by_pairs or name not in ("grid", "torus", "hypercube")


@pytest.mark.slow
@settings(SETTINGS, max_examples=750)
@given(case=st.one_of(attempts(), boundaries()))
def test_many_verdicts(tmp_path: Path, case: tuple) -> None:
    graph, proof, claims = case
    report = outcome(tmp_path, graph, proof, claims)
    assert report.verified == prover.verdict(graph, proof, claims), report.reason


# name -> (vertex, its label in the first columns, number of these)
LIES = {"a vertex less": (3, 255, 2), "a neighbour less": (1, 255, 2), "a vertex of another component": (8, 2, 2),
        "a label more": (4, 3, 1)}


@pytest.mark.parametrize("lie", LIES)
def test_wrong_labels_of_the_first_proposal_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str):
    """Labels that are all in one pass are proved: with wrong ones the passes are made one by one."""
    graph = naive.graph_of(12, [(v, v + 1) for v in (*range(5), *range(6, 11))])
    parts = [ComponentProof(0, 6, 5, 5, (0, 5), [0, 5]), ComponentProof(6, 6, 5, 5, (6, 11), [6, 11])]
    proposed, calls = groups_module.Proposals.labels, []

    def labels(self: Any, columns: list[LabelColumn], batched: bool) -> np.ndarray:
        found = proposed(self, columns, batched)
        calls.append(len(columns))
        if len(calls) == 1:
            vertex, label, count = LIES[lie]
            found[vertex, :count] = label
        return found

    monkeypatch.setattr(groups_module.Proposals, "labels", labels)
    report = outcome(tmp_path, graph, Proof(parts), Claims(5, 5, 5, 2, False))
    assert report.verified and report.scans >= 2 and calls == [2, 2]


# -- what it costs --------------------------------------------------------------------------------
def test_columns_that_fit_one_group_are_checked_in_the_scan_for_the_digest(tmp_path: Path) -> None:
    graph = ODD["grid"]
    proof, claims = prover.exact_proof(graph, pivots=5, seed=2)
    report = outcome(tmp_path, graph, proof, claims)
    columns = len({*proof.components[0].pivots, *proof.components[0].sources})
    assert report.scans == 1 and columns <= report.traversals <= columns + 1


@pytest.mark.parametrize("way", ["threes"], indirect=True)
def test_pivots_of_several_groups_are_checked_twice(tmp_path: Path, way: str) -> None:
    """Seven pivots in groups of three; the second time is for the vectors of the unsettled."""
    graph = ODD["torus"]
    part = ComponentProof(0, 64, 8, 9, (0, 36), [0, 36, 4, 32, 18, 54, 22])
    report = outcome(tmp_path, graph, Proof([part]), Claims(8, 9, None, 1, True))
    assert report.verified == prover.verdict(graph, Proof([part]), Claims(8, 9, None, 1, True))
    assert report.unsettled > 1 and report.traversals == 14 and report.scans == 7


def test_a_small_component_needs_no_traversal(tmp_path: Path) -> None:
    graph = ODD["two-paths"]
    proof, claims = prover.exact_proof(graph)
    report = outcome(tmp_path, graph, proof, claims)
    assert report.verified and report.traversals == 1  # the end of the witness: the size proves the bound


def test_an_interval_is_verified_as_one(tmp_path: Path) -> None:
    part = ComponentProof(0, 41, 18, 20, (0, 18), [0])
    report = outcome(tmp_path, ODD["cycle"], Proof([part]), Claims(18, 40, None, 1, True))
    assert not report.verified and "not proved to be within 20" in (report.reason or "")
    part = replace(part, upper=40, pivots=[])
    report = outcome(tmp_path, ODD["cycle"], Proof([part]), Claims(18, 40, None, 1, True))
    assert report.verified and report.diameter is None and (report.lower, report.upper) == (18, 40)


def test_a_budget_that_cannot_do_is_refused(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    path = prover.write(tmp_path / "c.json", store, *prover.exact_proof(ODD["grid"]))
    with pytest.raises(BudgetError, match=r"give at least --memory \d+MiB"):
        verify(path, store, memory_bytes=1 << 20)


def test_vertex_state_takes_what_the_claimed_bound_needs() -> None:
    """At 2^28 vertices and 2.25 G arcs, labels of 2 bytes: within 4 GiB, as the search for the certificate."""
    n, m = 1 << 28, 2_254_621_112
    store: Any = SimpleNamespace(
        n_vertices=n, n_arcs=m, id_dtype=np.dtype(np.uint32), is_natural=True, ahead_bytes=0,
        record=SimpleNamespace(max_degree=100, n_isolated=0, id_kind="identity"),
        indices=SimpleNamespace(chunk_items=1 << 16, n_chunks=-(-m >> 16)))
    budget = ProofBudget(4 << 30, 2, None, 270 << 20)
    check_graph_room(store, 2, budget)
    state = {item: (least_bytes(store, item, budget) - budget.program) / n - item for item in (1, 2, 4)}
    # Beside the labels: offsets 1.25, bitmaps and queues 0.53, what is settled 1; buffers.
    assert all(2.78 < beside < 3.2 for beside in state.values()), state
    budget.program += n  # the number of every vertex's part
    assert plan_groups(store, 4, 2, budget).columns == 4


def test_parts_take_the_bytes_that_their_number_needs() -> None:
    for count, dtype in ((3, np.uint8), (300, np.uint16)):
        labelling = Labelling(2 * count, np.dtype(np.uint32))
        pairs = np.arange(2 * count).reshape(-1, 2)
        run = arc_runs.ArcRun(0, 1, pairs[:, 0], np.arange(count + 1), False, False)
        labelling.add(run, pairs[:, 1].astype(np.uint32))
        members = labelling.members(pairs[::-1][:-1, 1])
        assert members.of.dtype == dtype
        assert members.of.tolist() == [0, 0, *np.repeat(np.arange(count - 1, 0, -1), 2).tolist()]


def test_a_bound_that_distances_pass_is_refused(tmp_path: Path) -> None:
    """A path of 300, claimed to have a diameter that fits a byte: labels have no second one."""
    graph = naive.graph_of(300, [(v, v + 1) for v in range(299)])
    for upper in (9, 254, 260):
        part = ComponentProof(0, 300, 5, upper, (0, 5), [0, 150])
        report = outcome(tmp_path, graph, Proof([part]), Claims(5, upper, None, 1, True))
        assert not report.verified and "away from" in (report.reason or "")


def test_a_graph_without_vertices_has_no_diameter(tmp_path: Path) -> None:
    report = outcome(tmp_path, [], Proof([]), Claims(0, 0, None, 0, False))
    assert not report.verified and "no vertices" in (report.reason or "")
    with pytest.raises(InputError, match="thread"):
        verify(tmp_path / "c.json", tmp_path / "g.zarr", threads=0)


def test_progress_is_told(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    path = prover.write(tmp_path / "c.json", store, *prover.exact_proof(ODD["grid"]))
    events: list[Event] = []
    with open_store(store) as opened:
        assert verify(path, opened, memory_bytes=MEMORY, progress=events.append).verified
    phases = list(dict.fromkeys(event.phase for event in events))
    assert [phase for phase in phases if phase != "load"] == ["labels", "pairs", "graph"]


def test_missing_files(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    with pytest.raises(InputError, match="cannot be read"):
        verify(tmp_path / "none", store)
    path = prover.write(tmp_path / "c.json", store, *prover.exact_proof(ODD["grid"]))
    with pytest.raises(StoreError, match="no such store"):
        verify(path, tmp_path / "none.zarr")


def test_groups_keep_pivots_together() -> None:
    columns = [LabelColumn(v, 1 + v % 3, 9, pairs=v < 4) for v in range(12)]
    for most in range(1, 14):
        groups = make_groups(columns, most)
        assert sorted(column.vertex for group in groups for column in group) == list(range(12))
        assert all(0 < len(group) <= most for group in groups)
        paired = [i for i, group in enumerate(groups) if any(column.pairs for column in group)]
        assert paired == list(range(paired[0], len(groups))) and len(paired) <= -(-4 // most) + (most < 4)
        for group in groups:
            numbers = [column.component for column in group]
            assert numbers == sorted(numbers)
    assert make_groups([], 5) == []


def test_the_diameter_of_a_graph_without_edges(tmp_path: Path) -> None:
    graph = naive.graph_of(5, [])
    report = outcome(tmp_path, graph, Proof([]), Claims(0, 0, 0, 5, False))
    assert report.verified and report.traversals == 0
    assert not outcome(tmp_path, graph, Proof([]), Claims(0, 0, 1, 5, False)).verified
    assert np.all([not outcome(tmp_path, graph, Proof([]), Claims(0, 0, 0, n, n == 1)).verified for n in (1, 4, 6)])
