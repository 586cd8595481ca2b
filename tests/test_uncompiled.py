"""Small graphs where no kernel is compiled: the same results as with kernels, from numpy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam import jit, kernel_objects
from emdiam.jit import CompiledKernel, Uncovered, kernel, on_lists
from emdiam.traverse.multi import words_for
from emdiam.traverse.tally import count_queued

# Of a result, what depends on the clock, by which methods choose what is next, and on the memory of the process.
UNSTEADY = ("seconds", "_seconds", "_rss_bytes", "memory_limit_bytes", "traversals", "levels", "edges_scanned",
            "sources", "details", "witness")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a graph of a seed is none that becomes simpler with it


@contextmanager
def no_objects(patience: float = 1e9, folder: Path | None = None, again: bool = True) -> Iterator[list[str]]:
    """No object is there but in the folder, nor loaded; names of the kernels that are compiled all the same. again :
    whether they are; if not, the objects that were there are loaded in place of that."""
    modules = [module for name, module in sys.modules.items() if name.startswith(("emdiam.", __name__))]
    kernels = {id(one): one for module in modules for one in vars(module).values() if isinstance(one, CompiledKernel)}
    compiled = list[str]()
    prepared, where = CompiledKernel._prepared, jit.cache_folder

    def noted(one: CompiledKernel, arguments: tuple[Any, ...], kinds: Any) -> Any:
        compiled.append(one.__name__)
        if again:
            return prepared(one, arguments, kinds)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jit, "cache_folder", where)
            return one._loaded(kinds) or prepared(one, arguments, kinds)

    with pytest.MonkeyPatch.context() as patch:
        for one in kernels.values():
            for name, value in (("callers", []), ("_by_kinds", {}), ("_looked_for", False)):
                patch.setattr(one, name, value)
        patch.setattr(CompiledKernel, "_prepared", noted)
        patch.setattr(CompiledKernel, "patience", patience)
        patch.setattr(jit._Spent, "uncompiled", 0.0)
        patch.setattr(kernel_objects, "levels", lambda: ())
        patch.setattr(jit, "cache_folder", lambda: folder)
        yield compiled


def steady(value: Any) -> Any:
    """A result without what is unsteady."""
    if isinstance(value, dict):
        return {name: steady(one) for name, one in value.items() if not str(name).endswith(UNSTEADY)}
    return [steady(one) for one in value] if isinstance(value, list | tuple) else value


def certified(graph: Any, folder: Path) -> Any:
    """The diameter, and a certificate in the folder."""
    file = folder / "certificate.json"
    file.unlink(missing_ok=True)
    result = emdiam.exact(graph, certificate=file)
    assert result.witness is not None and result.witness.path is not None
    assert len(result.witness.path) == result.witness.length + 1 == result.diameter_max_component + 1
    return result.diameter_max_component


def answers(graph: Any, folder: Path) -> dict[str, Any]:
    """Results of the functions for small graphs, or what they refuse."""
    def listed(graph: Any) -> Any:
        found = emdiam.eccentricities(graph)
        return found.to_dict(), list(found.by_vertex().items())

    def paths(graph: Any) -> Any:
        found = emdiam.shortest_paths(graph, 0)
        return found.to_dict(), found.distances.tolist(), found.predecessors.tolist()  # type: ignore[union-attr]

    functions: dict[str, Callable[[Any], Any]] = {
        "diameter": lambda graph: emdiam.diameter(graph).to_dict(), "eccentricities": listed, "paths": paths,
        "distances": lambda graph: emdiam.distances(graph).to_dict(), "exact": lambda graph: certified(graph, folder)}
    found = dict[str, Any]()
    for name, function in functions.items():
        try:
            found[name] = steady(function(graph))
        except emdiam.InputError as error:
            found[name] = str(error)
    return found


def compared(graph: Any, folder: Path) -> None:
    """With kernels and without: the same, and none is compiled."""
    want = answers(graph, folder)
    with no_objects() as compiled:
        assert answers(graph, folder) == want
        assert compiled == []
    if isinstance(want["exact"], int):
        report = emdiam.verify(folder / "certificate.json", graph)
        assert report.verified and report.lower == report.upper == want["exact"]


GRAPHS: dict[str, Callable[[], Any]] = {
    "karate": nx.karate_club_graph, "path": lambda: nx.path_graph(200), "star": lambda: nx.star_graph(300),
    "cycle": lambda: nx.cycle_graph(17), "one vertex": lambda: nx.empty_graph(1), "no edges": lambda: nx.empty_graph(3),
    "hypercube": lambda: nx.hypercube_graph(6), "grid": lambda: nx.grid_2d_graph(9, 14),
    "many components": lambda: nx.gnm_random_graph(300, 250, 1),
    "two hubs": lambda: nx.complete_bipartite_graph(2, 300),
    "random": lambda: nx.gnm_random_graph(400, 700, 1), "regular": lambda: nx.random_regular_graph(3, 200, 1),
    "loops": lambda: np.array([[0, 0], [0, 1], [1, 0], [5, 5], [7, 1], [7, 1]]),
    "empty": lambda: nx.empty_graph(0), "strings": lambda: [("a", "b"), ("b", "c"), ("x", "y")],
    "arcs": lambda: nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3)])}


@pytest.mark.parametrize("name", GRAPHS)
def test_odd_graphs_have_the_same_answers(name: str, tmp_path: Path) -> None:
    compared(GRAPHS[name](), tmp_path)


@settings(max_examples=15, deadline=None, phases=PHASES)
@given(n=st.integers(1, 150), m=st.integers(1, 400), seed=st.integers(0, 1 << 30))
def test_random_graphs_have_the_same_answers(tmp_path_factory: pytest.TempPathFactory, n: int, m: int,
                                             seed: int) -> None:
    compared(np.random.default_rng(seed).integers(0, n, (m, 2)), tmp_path_factory.mktemp("random"))


@settings(max_examples=10, deadline=None, phases=PHASES)
@given(n=st.integers(2, 60), m=st.integers(1, 150), seed=st.integers(0, 1 << 30))
def test_what_numpy_does_not_cover_is_compiled(n: int, m: int, seed: int) -> None:
    """Along weights and arcs the answers are the same."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (m, 2))
    weighted = nx.DiGraph()
    weighted.add_node(0)
    weighted.add_weighted_edges_from((a, b, int(w)) for (a, b), w in zip(pairs.tolist(), rng.integers(1, 9, m),
                                                                         strict=True))

    def both() -> Any:
        lengths = emdiam.diameter(weighted, weight="weight").to_dict()
        return steady([lengths, emdiam.diameter(weighted, directed=True).to_dict(),
                       emdiam.shortest_paths(weighted, 0, weight="weight").to_dict()])

    want = both()
    with no_objects(again=False) as compiled:
        assert both() == want
    assert len(compiled) > 5


@pytest.mark.parametrize("k", [1, 3, 8, 9, 64, 65])
def test_pairs_of_each_source_are_counted(k: int) -> None:
    dtype, w = words_for(k)
    seen = np.random.default_rng(k).random((20, k)) < 0.4
    bytes_of = np.packbits(seen, axis=1, bitorder="little")
    words = np.zeros((3, 20, w), dtype)
    words[1].view(np.uint8)[:, : bytes_of.shape[1]] = bytes_of
    queue, single, none = np.array([3, 4, 17], np.uint32), np.zeros(k, np.int64), np.empty((3, 0), np.uint64)
    with no_objects() as compiled:
        assert count_queued(queue, words, 1, 2, np.uint64(1), none, single) == seen[queue].sum()
    assert single.tolist() == seen[queue].sum(axis=0).tolist() and compiled == []


def test_distances_along_arcs_are_counted_without_objects() -> None:
    with no_objects():
        assert emdiam.distances(nx.DiGraph([(0, 1), (1, 2), (2, 3)]), directed=True).pairs == {1: 3, 2: 2, 3: 1}


def test_a_time_limit_and_an_option_that_there_is_not() -> None:
    with no_objects():
        with pytest.raises(emdiam.StoppedEarly):
            emdiam.exact(nx.path_graph(500), time_limit=1e-9)
        with pytest.raises(TypeError, match="metod"):
            emdiam.diameter(nx.path_graph(5), metod="pivots")


# -- when kernels are compiled ---------------------------------------------------------------------
def doubled_by_numpy(values: np.ndarray) -> float:
    """Twice the sum; for no empty array."""
    if not len(values):
        raise Uncovered
    return float(2 * values.sum())


@kernel(uncompiled=doubled_by_numpy)
def doubled(values):
    total = 0.0
    for value in values:
        total += value
    return 2 * total


@kernel(uncompiled=on_lists)
def shifted(values, by):
    for i in range(len(values)):
        values[i] = values[i] + by
    return by


@pytest.mark.parametrize("values, patience, want", [
    (np.ones(4), 1.0, []), (np.ones(4), 0.0, ["doubled"]), (np.ones(1 << 20), 1.0, ["doubled"]),
    (np.ones(0), 1.0, ["doubled"])], ids=["few", "in all too long", "many", "not covered"])
def test_when_a_kernel_is_compiled(values: np.ndarray, patience: float, want: list[str]) -> None:
    with no_objects(patience) as compiled:
        assert doubled(values) == doubled(values) == 2 * len(values)
        assert compiled == want


def test_an_object_that_is_there_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with no_objects(0.0, tmp_path) as compiled:
        assert doubled(np.ones(3)) == 6 and compiled == ["doubled"]
    with no_objects(1.0, tmp_path) as compiled:
        monkeypatch.setattr(doubled, "_uncompiled", None)
        assert doubled(np.ones(3)) == 6 and compiled == []


def test_numbers_of_lists_do_not_wrap() -> None:
    values = np.array([250, 3], np.uint8)
    with no_objects() as compiled:
        assert shifted(values, np.uint8(5)) == 5 and values.tolist() == [255, 8] and compiled == []


def test_what_compiles_kernels_ahead_does_so_for_few_items() -> None:
    with no_objects() as compiled, jit.all_compiled():
        assert doubled(np.ones(3)) == 6
        assert compiled == ["doubled"]
