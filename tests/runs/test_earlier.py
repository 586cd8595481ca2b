"""Runs that begin with the sources of an earlier proof: the same answers as without it, proved again, whatever has
become of the graph; and what is refused."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.methods.earlier import EarlierSources, EarlierSweeps
from emdiam.runs.task import Session
from tests.helpers.many_graphs import drawn
from tests.runs.test_directed import command

KINDS = list(itertools.product((False, True), repeat=2))
Edges = dict[tuple[int, int], int]


def random_edges(rng: random.Random) -> Edges:
    """A graph of a few parts, some of them long."""
    n = rng.randrange(4, 60)
    edges = {(v, v + rng.randrange(1, 3)): rng.randrange(9) for v in range(n) if rng.random() < 0.9}
    for _ in range(rng.choice([0, 3, n, 3 * n])):
        edges[rng.randrange(n), rng.randrange(n)] = rng.randrange(9)
    return {(3 * one, 3 * other): weight for (one, other), weight in edges.items() if one != other}


def changed(edges: Edges, rng: random.Random) -> Edges:
    """The graph after some edges have gone and others have come."""
    left = {edge: weight for edge, weight in edges.items() if rng.random() > rng.choice([0.01, 0.1, 0.5])}
    ends = sorted({vertex for edge in edges for vertex in edge}) or [0, 3]
    for _ in range(rng.choice([0, 1, 5])):
        one, other = rng.choice(ends), rng.choice([*ends, 1001, 1002])
        if one != other:
            left[one, other] = rng.randrange(9)
    return left or dict(list(edges.items())[:1])


def converted(path: Path, edges: Edges, directed: bool, weighted: bool) -> Path:
    """The store of a graph."""
    rows = [(*edge, weight) if weighted else edge for edge, weight in edges.items()]
    emdiam.convert(rows, path, directed=directed, weights=weighted, force=True)
    return path


def check(folder: Path, seed: int, directed: bool, weighted: bool) -> None:
    """One graph before and after: every answer that may begin with a proof, beside the one that does not."""
    rng = random.Random(seed)
    how: dict[str, Any] = {"directed": directed, "weighted": weighted}
    edges = random_edges(rng)
    old = converted(folder / "old.zarr", edges, directed, weighted)
    new = converted(folder / "new.zarr", changed(edges, rng), directed, weighted)
    try:
        emdiam.exact(old, certificate=folder / "old.json", **how)
        fresh = emdiam.exact(new, **how)
        warm = emdiam.exact(new, from_proof=folder / "old.json", certificate=folder / "new.json", **how)
    except InputError as error:
        assert "none of the" in str(error)
        return
    assert (warm.lower, warm.upper, warm.exact, warm.diameter_largest_component) == (
        fresh.lower, fresh.upper, True, fresh.diameter_largest_component)
    assert warm.witness.length == fresh.lower
    assert emdiam.verify(folder / "new.json", new).verified
    counts = warm.details["earlier"]
    assert counts["searched"] <= counts["found"]
    if directed and not weighted:
        return
    how["directed"] = rng.choice(["out", "in"]) if directed else None
    emdiam.eccentricities(old, certificate=folder / "old.json", **how)
    all_of = emdiam.eccentricities(new, keep=True, **how)
    again = emdiam.eccentricities(new, keep=True, from_proof=folder / "old.json", certificate=folder / "new.json",
                                  **how)
    bounds: Any = again.lower_bounds, again.upper_bounds, all_of.lower_bounds
    assert bounds[0].tolist() == bounds[1].tolist() == bounds[2].tolist()
    assert emdiam.verify(folder / "new.json", new).verified


@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_answers_are_the_same(tmp_path: Path, directed: bool, weighted: bool) -> None:
    for seed in range(4):
        check(tmp_path, seed, directed, weighted)


@pytest.mark.slow
@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_answers_of_many_graphs(tmp_path: Path, directed: bool, weighted: bool) -> None:
    for seed in range(4, 250):
        check(tmp_path, seed, directed, weighted)


def test_few_searches_where_little_has_changed(tmp_path: Path) -> None:
    """A grid that loses an edge in its middle is proved by the old ends; ids that are gone are counted."""
    side = 30
    edges = {(side * x + y, side * x + y + step): 1 for x in range(side) for y in range(side)
             for step in (1, side) if (y + 1 < side if step == 1 else x + 1 < side)}
    edges[899, 5000] = 1
    old = converted(tmp_path / "old.zarr", edges, False, False)
    first = emdiam.exact(old, certificate=tmp_path / "old.json")
    del edges[899, 5000], edges[435, 436]
    new = converted(tmp_path / "new.zarr", edges, False, False)
    fresh, warm = emdiam.exact(new), emdiam.exact(new, from_proof=str(tmp_path / "old.json"))
    assert (first.lower, fresh.lower, warm.lower) == (59, 58, 58)
    assert warm.traversals.bfs <= fresh.traversals.bfs
    assert warm.details["earlier"]["gone"] == 1 <= warm.details["earlier"]["searched"]


def arms() -> Edges:
    """Three arms of a hundred edges, whose middle, 900, is neither a hub nor the first vertex."""
    edges = {(100 * arm + k if k else 900, 100 * arm + k + 1): 1 for arm in range(3) for k in range(100)}
    return edges | {(50, 1000 + k): 1 for k in range(9)}


def changed_arms(folder: Path, gone: list[tuple[int, int]], come: list[tuple[int, int]],
                 weighted: bool = False) -> tuple[Any, Any]:
    """What a fresh run and one with the proof of the arms find after some edges have gone, and others come."""
    how: dict[str, Any] = {"weighted": True} if weighted else {"batches": False}
    old = converted(folder / "old.zarr", arms(), False, weighted)
    emdiam.exact(old, certificate=folder / "old.json", **how)
    left = dict.fromkeys([*(edge for edge in arms() if edge not in gone), *come], 1)
    new = converted(folder / "new.zarr", left, False, weighted)
    fresh = emdiam.exact(new, **how)
    warm = emdiam.exact(new, from_proof=folder / "old.json", **how)
    assert (warm.lower, warm.upper, warm.diameter_largest_component) == (
        fresh.lower, fresh.lower, fresh.diameter_largest_component)
    return fresh, warm


WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


@WEIGHTED
def test_the_most_central_source_and_an_end_prove_all_at_once(tmp_path: Path, weighted: bool) -> None:
    fresh, warm = changed_arms(tmp_path, [(50, 1000)], [], weighted)
    assert warm.lower == 200 and warm.traversals.bfs == 2 < fresh.traversals.bfs


@WEIGHTED
@pytest.mark.parametrize("gone", [[(900, 1)], [(900, 101), (900, 201)], [(90, 91), (190, 191), (290, 291)]])
def test_sources_that_are_in_another_component_by_now(tmp_path: Path, gone: list[tuple[int, int]],
                                                      weighted: bool) -> None:
    """An arm is cut off, or all but one, with the middle or without it; or the ends are."""
    changed_arms(tmp_path, gone, [], weighted)


@WEIGHTED
@pytest.mark.parametrize("come", [[(k, k + 2) for k in range(1, 80)], [(10, 90), (110, 190), (210, 290)]],
                         ids=["many edges", "shortcuts"])
def test_of_a_graph_with_more_edges_no_source_is_taken_in_vain(tmp_path: Path, come: list[tuple[int, int]],
                                                               weighted: bool) -> None:
    """Where many edges are gained, or few that bring the ends closer, the run is the fresh one."""
    fresh, warm = changed_arms(tmp_path, [], come, weighted)
    assert warm.traversals.bfs == fresh.traversals.bfs


def sweeps(longest: int, distances: list[int], eccentricity: int, gained: bool = False, central: int = 3
           ) -> EarlierSweeps:
    """Those from vertex 0, with these distances of the ends 3 and 7, and of the central vertex 5; 9 is the farthest."""
    earlier = EarlierSources(None, None)
    earlier.pairs, earlier.central, earlier.longest, earlier.gained = [(3, 7)], 5, longest, gained
    found = EarlierSweeps(earlier)
    far = dict(zip((3, 7, 5), (*distances, central), strict=True))
    found.begin(0, 9, eccentricity, lambda vertices: np.array([far[v] for v in vertices.tolist()]))
    return found


def test_sources_of_sweeps() -> None:
    """An end, the central vertex, and the end if another vertex was farther; none if the ends are closer."""
    assert not sweeps(10, [4, 5], 5).on and not sweeps(10, [-1, 20], 20).on and not sweeps(10, [4, 7], 8, True).on
    assert not sweeps(10, [4, 6], 6, central=-1).on  # of another component
    found = sweeps(10, [4, 6], 6)
    assert [found.next(lambda v: v == 7) for _ in range(3)] == [7, 5, None] and found.on
    found = sweeps(10, [4, 7], 8)
    assert [found.next(lambda v: v != 9) for _ in range(3)] == [5, 7, None]
    found.searched(5, 5)
    assert found.on
    found.searched(7, 9)
    assert not found.on and found.next(lambda _: True) is None


def test_the_pair_of_another_component_is_not_taken_for_that_of_the_largest(tmp_path: Path) -> None:
    """The largest component has lost an end of its farthest pair, as a vertex; the next pair is of another one."""
    rows = drawn(2024, 90, ("unit",), (False,)).rows
    tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets))
    edges: Edges = {edge: 1 for edge in zip(tails.tolist(), rows.heads.tolist(), strict=True) if edge[0] < edge[1]}
    old = converted(tmp_path / "old.zarr", edges, False, False)
    emdiam.exact(old, certificate=tmp_path / "old.json")
    del edges[3, 9]
    new = converted(tmp_path / "new.zarr", edges, False, False)
    fresh, warm = emdiam.exact(new), emdiam.exact(new, from_proof=tmp_path / "old.json")
    assert (warm.lower, warm.upper, warm.exact) == (fresh.lower, fresh.upper, True)


def test_proofs_begin_with_the_most_central_source(tmp_path: Path) -> None:
    """So that a later run does: the middle of the arms, without weights and with them."""
    for weighted in (False, True):
        proof = tmp_path / f"{weighted}.json"
        emdiam.exact(converted(tmp_path / "g.zarr", arms(), False, weighted), weighted=weighted, certificate=proof)
        written = json.loads(proof.read_text())
        assert (written["sources"] if weighted else written["components"][0]["pivots"])[0] == 900


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    """Of a path of four vertices; stores of other kinds are beside it."""
    path = {(v, v + 1): 1 for v in range(3)}
    for directed, weighted in KINDS:
        converted(tmp_path / f"g{directed:d}{weighted:d}.zarr", path, directed, weighted)
    emdiam.exact(tmp_path / "g00.zarr", certificate=tmp_path / "c.json")
    return tmp_path / "c.json"


def refusal(store: Path, proof: Path, **how: Any) -> str:
    """What is said of a proof."""
    with pytest.raises(InputError) as caught:
        emdiam.exact(store, from_proof=proof, **how)
    return str(caught.value)


def test_proofs_of_other_graphs_are_refused(tmp_path: Path, proof: Path) -> None:
    assert "about numbers of edges, and this run goes by weights along arcs" in refusal(
        tmp_path / "g11.zarr", proof, directed=True, weighted=True)
    none = "the graph has no vertex of the "
    assert none in refusal(converted(tmp_path / "other.zarr", {(70, 71): 1, (71, 90): 1}, False, False), proof)
    emdiam.convert([("a", "b"), ("b", "c")], tmp_path / "names.zarr")
    assert none in refusal(tmp_path / "names.zarr", proof)


def test_damaged_proofs_are_refused(tmp_path: Path, proof: Path) -> None:
    proof.write_text(proof.read_text().replace("3", "2", 1))
    assert "certificate" in refusal(tmp_path / "g00.zarr", proof)
    assert "cannot be read" in refusal(tmp_path / "g00.zarr", tmp_path / "none.json")


def test_methods_without_proofs_refuse_them(tmp_path: Path, proof: Path) -> None:
    assert "of no use to the method fdiam" in refusal(tmp_path / "g00.zarr", proof, method="fdiam")
    with pytest.raises(InputError, match="found from every vertex"):
        emdiam.eccentricities(tmp_path / "g10.zarr", directed="out", from_proof=proof)


def test_the_shell_tells_what_was_of_use(tmp_path: Path, proof: Path) -> None:
    done = command("exact", tmp_path / "g00.zarr", "--from", proof)
    assert "earlier proof: " in done and " of it in the graph, 0 gone; " in done


def test_what_keeps_a_certificate_from_being_written_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                                   proof: Path) -> None:
    """Something else than a file that cannot be written, as before there are seconds of it."""
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Session, "certify", fail)
    with pytest.raises(ZeroDivisionError):
        emdiam.exact(tmp_path / "g00.zarr", certificate=tmp_path / "again.json")
