"""The classic methods take the sources that the papers say, one by one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.conversion.convert import convert
from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.methods.exact.bounding import BoundingOptions, bounding
from emdiam.methods.exact.graph_diameter import GraphDiameterOptions, graph_diameter
from emdiam.methods.exact.ifub import IfubOptions, ifub
from emdiam.methods.exact.korf import korf
from emdiam.runs.opening import open_engine
from emdiam.runs.registry import METHODS
from emdiam.store.store import open_store
from tests.helpers import exact_twins, naive
from tests.helpers.small_engine import engines
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.methods.exact.test_classics import random_graph

CONNECTED = {name: graph for name, graph in odd_graphs().items()
             if len(naive.components(graph)) == 1 and 2 <= len(graph) <= 150}


def connected_graphs(count: int) -> list[naive.Graph]:
    """The connected odd graphs and components of random ones."""
    rng = random.Random(3)
    found = list(CONNECTED.values())
    while len(found) < len(CONNECTED) + count:
        graph = random_graph(rng)
        part = max(naive.components(graph), key=len)
        place = {v: i for i, v in enumerate(part)}
        if len(part) > 1:
            found.append([sorted(place[w] for w in graph[v]) for v in part])
    return found


class Recorder:
    """Keeps what an engine's traversals were asked and found, in order."""

    def __init__(self, engine: Any) -> None:
        self.calls: list[tuple[int, Any, Any]] = []
        real, many = engine.bfs, engine.eccentricities

        def bfs(source: int, **kwargs: Any) -> Any:
            run = real(source, **kwargs)
            self.calls.append((source, kwargs.get("targets"), run))
            return run

        def eccentricities(sources: Any, **kwargs: Any) -> Any:
            found = many(sources, **kwargs)
            self.calls += [(int(v), kwargs.get("targets"), int(e)) for v, e in zip(sources, found, strict=True)]
            return found

        engine.bfs, engine.eccentricities = bfs, eccentricities

    def sources(self) -> list[int]:
        """All sources but that of the BFS that checks the witness."""
        return [source for source, _, _ in self.calls[:-1]]


@pytest.mark.parametrize("first", ["upper", "lower"])
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_bounding_takes_the_sources_of_algorithm_1(first: str, batch: int) -> None:
    with engines() as make:
        for graph in connected_graphs(60):
            engine = make(graph)
            seen = Recorder(engine)
            result = bounding(engine, BoundingOptions(first=first, batch=batch))
            sources, diameter = exact_twins.bounding(graph, first == "upper", batch)
            named = result.traversals.bfs + result.traversals.multi_source_sources - len(sources)
            assert seen.sources() == sources
            assert named in ((0,) if batch == 1 else (0, 1))  # the last BFS also names the witness's end
            assert (result.diameter, result.details["iterations"]) == (diameter, len(sources))


@pytest.mark.parametrize("reading", exact_twins.MISREAD)
def test_another_reading_of_the_candidate_test_would_be_noticed(reading: str) -> None:
    rule = exact_twins.MISREAD[reading]
    assert any(exact_twins.bounding(graph, True, 1, rule) != exact_twins.bounding(graph, True)
               for graph in connected_graphs(60))


def test_one_reading_of_the_candidate_test_gives_a_wrong_diameter() -> None:
    rule = exact_twins.MISREAD["all by or"]
    graphs = connected_graphs(200)
    assert any(exact_twins.bounding(graph, True, 1, rule)[1] != naive.diameters(graph)[1] for graph in graphs)
    with engines() as make:
        for graph in graphs:
            assert bounding(make(graph)).diameter == naive.diameters(graph)[1]


@pytest.mark.parametrize("dense", [False, True])
def test_korf_stops_when_all_that_remains_is_reached(dense: bool) -> None:
    """Each BFS ends with the largest distance to a vertex that was no source yet."""
    with engines(**({"dense_arcs": 0} if dense else {})) as make:
        for graph in connected_graphs(60):
            engine = make(graph)
            seen = Recorder(engine)
            result = korf(engine)
            steps, diameter = exact_twins.korf(graph)
            partial = [call for call in seen.calls if call[1] is not None]
            assert result.diameter == diameter
            assert [(source, reach) for source, _, reach in partial] == steps
            assert 0 <= result.traversals.bfs - 1 - len(steps) <= 1  # the one that names the witness
            remaining = set(range(len(graph))) - {seen.calls[0][0]}
            for source, targets, _ in partial:
                bits = np.unpackbits(targets.view(np.uint8), bitorder="little")
                assert set(np.flatnonzero(bits).tolist()) == remaining
                remaining.remove(source)


def test_korf_does_not_go_on_to_the_eccentricity() -> None:
    """A tree in which the vertices farthest from some later sources were sources before."""
    rows = [[4, 18], [7, 11], [11, 19], [12, 15], [0, 18, 20], [6], [5, 14], [1, 8, 9], [7, 10], [7, 20], [8, 16],
            [1, 2], [3, 17], [17], [6, 19], [3, 16], [10, 15], [12, 13], [0, 4], [2, 14], [4, 9]]
    with engines() as make:
        engine = make(rows)
        seen = Recorder(engine)
        assert korf(engine).diameter == naive.diameters(rows)[1] == 15
    short = [reach - max(naive.distances(rows, v)) for v, targets, reach in seen.calls if targets is not None]
    assert max(short) == 0 and min(short) < 0


def test_ifub_takes_the_sources_of_the_four_sweeps_and_fringes() -> None:
    with engines() as make:
        for graph in connected_graphs(60):
            engine = make(graph)
            seen = Recorder(engine)
            result = ifub(engine)
            assert (seen.sources(), result.diameter) == exact_twins.ifub(graph)


def test_ifub_from_a_random_vertex() -> None:
    """Every seed begins at a vertex of its own, and goes on as from that of the largest degree."""
    starts = set()
    with engines() as make:
        for seed, graph in enumerate(connected_graphs(40)):
            engine = make(graph)
            seen = Recorder(engine)
            result = ifub(engine, IfubOptions(start="random", seed=seed))
            starts.add(seen.sources()[0])
            assert (seen.sources(), result.diameter) == exact_twins.ifub(graph, seen.sources()[0])
    assert len(starts) > 8
    with pytest.raises(InputError, match="max-degree or random"):
        IfubOptions(start="center")


def let_through(graph: naive.Graph, longest: int) -> list[int]:
    """The vertices, by decreasing degree, whose bound from the earlier of them is above the longest distance so far;
    the first in any case."""
    bounds, sources = [len(graph) - 1] * len(graph), []
    for v in sorted(range(len(graph)), key=lambda v: (-len(graph[v]), v)):
        if bounds[v] > longest or not sources:
            d = naive.distances(graph, v)
            sources.append(v)
            longest = max(longest, *d)
            bounds = [min(b, max(d) + x) for b, x in zip(bounds, d, strict=True)]
    return sources


@pytest.mark.parametrize("sweeps", [0, 1, 3])
def test_graph_diameter_goes_by_decreasing_degree(sweeps: int) -> None:
    """Sweeps lower no bound, and are left out of the count of the papers."""
    swept = 0
    with engines() as make:
        for graph in connected_graphs(60):
            engine = make(graph)
            seen = Recorder(engine)
            result = graph_diameter(engine, GraphDiameterOptions(sweeps=sweeps))
            sources, count = seen.sources(), result.details["published_count"]
            rest = len(sources) - count
            assert rest <= 2 * sweeps and result.traversals.bfs == len(sources)
            assert len(set(sources[1 : rest + 1])) == rest
            ends = [max(naive.distances(graph, v)) for v in sources[1 : rest + 1]]
            assert [sources[0], *sources[rest + 1 :]] == let_through(graph, max(ends, default=0))
            swept += rest
    assert (swept > 60) == (sweeps > 0)


@pytest.mark.parametrize("name, bfs", [
    ("internet.egr", 14), ("MIT8.edgelist", 50), pytest.param("cit-HepPh.csv.gz", 73, marks=pytest.mark.slow),
    pytest.param("email-Enron.csv.gz", 1112, marks=pytest.mark.slow),
    pytest.param("USA-road-d.NY.gr.gz", 26, marks=pytest.mark.slow)])
def test_graph_diameter_counts_as_published(name: str, bfs: int, data_folder: Path, tmp_path: Path) -> None:
    """F-Diam (ICPP 2025), Table 3, and what the program of its authors prints; the others have small components."""
    convert([data_folder / name], tmp_path / "g.zarr")
    with open_store(tmp_path / "g.zarr") as store, open_engine(store) as engine:
        result = graph_diameter(engine)
    assert result.details["published_count"] == bfs
    small = result.n_components - 1
    assert 2 <= result.traversals.bfs + small - result.details["published_count"] <= 20


@pytest.mark.slow
@pytest.mark.parametrize("scale, factor, bfs", [(18, 8, 133), (16, 48, 8)])
def test_counts_of_the_programs_on_graphs_with_small_components(tmp_path: Path, scale: int, factor: int,
                                                                bfs: int) -> None:
    """What github.com/kawatea/graph-diameter and github.com/burtscher/F-Diam print of the same graphs."""
    kind, method = {18: ("rmat", "graph-diameter"), 16: ("kronecker", "fdiam")}[scale]
    vertices, parameters = 2**scale, {"edge_factor": factor}
    generate(kind, tmp_path / "g.zarr", vertices=vertices, seed=1, parameters=parameters)
    with open_store(tmp_path / "g.zarr") as store, open_engine(store) as engine:
        result = METHODS[method].definition().solve(engine)
    assert result.details.get("published_count", result.traversals.bfs) == bfs


def test_graph_diameter_can_be_repeated(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", CONNECTED["grid"])) as engine:
        runs = [graph_diameter(engine, GraphDiameterOptions(seed=seed)).traversals for seed in (4, 4)]
    assert runs[0] == runs[1]
