"""The Python interface: graphs in memory as sources, and diameters against networkx."""

from __future__ import annotations

import ast
import gzip
import importlib
import inspect
import itertools
import typing
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam import api, caller
from emdiam.errors import BudgetError, InputError, StoreError
from emdiam.formats.in_memory import ArraySource, MatrixSource
from emdiam.formats.objects import as_source
from emdiam.formats.source import EdgeSource
from emdiam.runs.options import COMMANDS, FUNCTIONS, SHARED, keywords_of, option_of
from emdiam.runs.registry import APPROXIMATIONS, EXACT, METRICS, option_names
from emdiam.runs.task import taken
from tests.conftest import ROOT


def pairs(source: EdgeSource, batch_bytes: int = 48) -> list[tuple[Any, Any]]:
    """All pairs of a source, read in tiny batches whose size is checked."""
    out: list[tuple[Any, Any]] = []
    for batch in source.batches(batch_bytes):
        assert 1 <= len(batch.src) == len(batch.dst) <= max(1, batch_bytes // 16)
        out += zip(batch.src.tolist(), batch.dst.tolist(), strict=True)
    return out


FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_a_matrix_yields_its_entries(fmt: str, kind: Any):
    dense = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 5], [0, 0, 0, 0]])
    source = MatrixSource(kind(dense).asformat(fmt))
    assert isinstance(source, EdgeSource)
    got = [(u, v) for u, v in pairs(source) if dense[u, v]]  # bsr may store zeros around
    assert sorted(got) == [(0, 1), (2, 0), (2, 1), (2, 3)]
    assert source.info().n_vertices == 4
    assert source.info().n_entries == len(pairs(source))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("fmt", ["csr", "csc", "coo"])
def test_index_types_unsorted_duplicates_and_explicit_zeros(dtype: Any, fmt: str):
    """A stored entry is an edge whatever its value; nothing is sorted or summed before."""
    row, col = np.array([2, 0, 2, 2], dtype), np.array([1, 2, 0, 1], dtype)
    matrix = sp.coo_array((np.array([1, 0, 1, 1]), (row, col)), shape=(3, 3))
    if fmt != "coo":
        indptr = np.array([0, 1, 1, 4], dtype)
        transposed = fmt == "csc"
        matrix = (sp.csc_array if transposed else sp.csr_array)(
            (np.array([0, 1, 1, 1]), np.array([2, 1, 0, 1], dtype), indptr), shape=(3, 3))
        assert matrix.indices.dtype == dtype
    got = pairs(MatrixSource(matrix))
    undirected = sorted(tuple(sorted(pair)) for pair in got)
    assert undirected == [(0, 2), (0, 2), (1, 2), (1, 2)]
    batch = next(iter(MatrixSource(matrix).batches(1 << 20)))
    assert batch.src.dtype == batch.dst.dtype == np.int64


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0))),
                         max_size=40 if n else 0))), st.integers(1, 200))
def test_matrix_slices_equal_the_whole(graph: tuple[int, list[tuple[int, int]]], batch_bytes: int):
    """Whatever the batch size and however rows are cut: the entries of coo."""
    n, edges = graph
    array = np.array(edges, dtype=np.int64).reshape(-1, 2)
    matrix = sp.csr_array((np.ones(len(edges)), (array[:, 0], array[:, 1])), shape=(n, n))
    coo = matrix.tocoo()
    expected = list(zip(coo.row.tolist(), coo.col.tolist(), strict=True))
    assert pairs(MatrixSource(matrix), batch_bytes) == expected


def test_a_matrix_must_be_square():
    with pytest.raises(InputError, match="must be square, this one is 2 x 3"):
        as_source(sp.csr_array(np.ones((2, 3))))


def test_arrays_yield_their_pairs_in_wide_types():
    small = ArraySource(np.array([1, 2], np.uint8), [3, 4])
    assert pairs(small) == [(1, 3), (2, 4)]
    huge = ArraySource(np.array([2**64 - 1], np.uint64), np.array([0], np.uint64))
    assert pairs(huge) == [(2**64 - 1, 0)]
    assert small.info().n_vertices is None


def test_string_arrays():
    source = ArraySource(["a", "b"], np.array(["b", "ç"], object))
    assert source.info().id_kind == "string"
    assert pairs(source) == [("a", "b"), ("b", "ç")]


@pytest.mark.parametrize(("src", "dst", "text"), [
    ([0, 1], [1], "src has 2 ids and dst has 1"),
    ([[0, 1]], [[1, 2]], "src has 2 dimensions"),
    ([0.5], [1], "an id is no whole number, at position 0 of src: '0.5'"),
    ([True], [False], "src holds bool, not ids"),
    (["a"], [1], "src holds strings, and the other integers"),
    ([0, -1, -7], [1, 2, 3], "the id at position 1 is negative: '-1'"),
    ([0, 1, 2, 3, -7], [1, 2, 3, 4, 5], "the id at position 4 is negative: '-7'"),
    (np.array(["a", None], object), ["b", "c"], "the id at position 1 is no string"),
])
def test_arrays_that_are_no_edges(src: Any, dst: Any, text: str):
    with pytest.raises(InputError) as error:
        pairs(ArraySource(src, dst))
    assert text in str(error.value)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_texts_of_nodes_are_ids_in_their_order(kind: Any):
    graph = kind([("b", "a"), ("a", (1, 2))])
    graph.add_node(7)
    source = as_source(graph)
    assert source.labels == {"b": "b", "a": "a", "(1, 2)": (1, 2), "7": 7}
    assert source.info().labels.to_pylist() == ["(1, 2)", "7", "a", "b"]
    assert pairs(source) == [(3, 2), (2, 0)]
    assert source.info().n_vertices == 4
    assert source.info().directed == graph.is_directed()


@pytest.mark.parametrize("thing", [42, None, b"a b", ([1], [2], [3]), ([1, 2], [2, 3], [5, 7]), ()])
def test_other_things_are_refused(thing: Any):
    with pytest.raises(InputError, match="not a kind of graph that emdiam knows; give a store"):
        as_source(thing)


@pytest.mark.parametrize("edges", [
    [], [(0, 1)], [(0, 1), (0, 2)], [[7, 8], [8, 9]], [(0, 1), (1, 2), (2, 0)], [np.array([4, 5]), (5, 6)],
    [("a", "b"), ("a", "c")],
])
def test_a_list_or_array_of_pairs_is_edges(edges: list[Any]):
    """Two of them too: only a tuple, of arrays or lists, is (src, dst). A tuple of tuples may be both."""
    expected = [tuple(np.asarray(edge).tolist()) for edge in edges]
    assert pairs(as_source(edges)) == expected
    by_columns = expected in ([(0, 1), (0, 2)], [("a", "b"), ("a", "c")])  # these are other edges then
    columns = ("1", "2") if by_columns else None
    assert pairs(as_source(np.array(edges).reshape(-1, 2), columns=columns)) == expected
    assert pairs(as_source(np.array(edges, order="F").reshape(-1, 2), columns=columns)) == expected
    if len(edges) == 2:
        assert pairs(as_source(tuple(map(list, edges)))) == list(zip(*expected, strict=True))


@pytest.mark.parametrize(("edges", "text"), [
    ([1, 2], "entry at position 0 is no pair"), ([(1, 2), (3,)], "entry at position 1 is no pair"),
    ([(1, 2), (3, "a")], "position 1 has an id of another kind"), ([("a", "b"), ("c", 1)], "position 1 has"),
    ([(1, "b")], "position 0 has"), (["ab", "cd"], "position 0 is no pair"),
    ([(0, 1.5)], "no whole number, at position 0 of dst: '1.5'"),
    ([(0, 1), (2, -1)], "the id at position 1 is negative"), (np.zeros((3, 4), int), r"shape \(3, 4\)"),
    (np.zeros(4, int), r"shape \(4,\)"), (np.full((4, 2), 0.5), "no whole number"), ([(0, 2**70)], "outside 0"),
    (np.zeros((2, 2, 2), int), "shape"), ({"a": "b"}, "has no list of neighbours: 'a'"),
])
def test_what_is_no_list_of_pairs(edges: Any, text: str):
    with pytest.raises(InputError, match=text):
        pairs(as_source(edges))


def test_whole_floats_matrices_and_sets_are_edges():
    assert pairs(ArraySource([0.0, 2.0**53 - 1], [1, 5.0])) == [(0, 1), (2**53 - 1, 5)]
    assert pairs(as_source([(0, 1.0), (2, 3)])) == [(0, 1), (2, 3)]
    assert pairs(as_source({(1, 2)})) == [(1, 2)]
    matrix = as_source(np.zeros((3, 3), int))
    assert (pairs(matrix), matrix.info().n_vertices) == ([], 3)


GRAPHS = {
    "path": nx.path_graph(9), "cycle": nx.cycle_graph(8), "star": nx.star_graph(6), "one": nx.empty_graph(1),
    "clique": nx.complete_graph(5), "grid": nx.grid_2d_graph(5, 7), "petersen": nx.petersen_graph(),
    "tree": nx.balanced_tree(2, 4), "lollipop": nx.lollipop_graph(5, 6),
}


def check(result: Any, graph: nx.Graph) -> None:
    """The result is that of a connected networkx graph, and its witness is a path in it."""
    expected = nx.diameter(graph)
    assert (result.connected, result.exact, result.diameter) == (True, True, expected)
    assert result.lower == result.upper == expected
    path = result.witness.path
    assert len(path) == expected + 1
    assert (path[0], path[-1]) == (result.witness.source, result.witness.target)
    assert all(graph.has_edge(u, v) for u, v in itertools.pairwise(path))
    assert nx.shortest_path_length(graph, path[0], path[-1]) == expected


@pytest.mark.parametrize("name", GRAPHS)
def test_networkx_diameters(name: str):
    check(emdiam.diameter(GRAPHS[name]), GRAPHS[name])


def test_labels_of_any_kind_come_back():
    graph = nx.relabel_nodes(nx.path_graph(4), {0: "start", 1: (1, 1), 2: frozenset({2}), 3: 3.5})
    check(emdiam.diameter(graph), graph)


def test_directions_and_weights_say_nothing():
    graph = nx.DiGraph([(0, 1), (2, 1), (2, 3)])
    graph.add_edge(3, 0, weight=100.0)
    check(emdiam.diameter(graph), nx.cycle_graph(4))


@pytest.mark.parametrize("fmt", ["csr", "coo", "lil"])
def test_matrix_diameters(fmt: str):
    graph = GRAPHS["grid"]
    matrix = nx.to_scipy_sparse_array(graph, format=fmt)
    check(emdiam.diameter(matrix), nx.convert_node_labels_to_integers(graph))


def test_array_diameters_answer_in_the_ids_given():
    result = emdiam.diameter((np.array([10**12, 5, 70]), np.array([5, 70, 71])))
    assert result.diameter == 3
    assert {result.witness.source, result.witness.target} == {10**12, 71}
    strings = emdiam.diameter((["a", "b"], ["b", "c"]))
    assert sorted(strings.witness.path) == ["a", "b", "c"]


def test_isolated_vertices_of_a_matrix_disconnect_it():
    result = emdiam.diameter(sp.csr_array(([1], ([0], [1])), shape=(3, 3)))
    assert (result.connected, result.n_components, result.diameter) == (False, 2, None)
    assert (result.diameter_largest_component, result.diameter_max_component) == (1, 1)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(2, 14), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_random_graphs_against_networkx(n: int, m: int, seed: int):
    graph = nx.gnm_random_graph(n, m, seed=seed)
    result = emdiam.diameter(graph, threads=1)
    parts = [graph.subgraph(c) for c in nx.connected_components(graph)]
    assert result.n_components == len(parts)
    assert result.connected == (len(parts) == 1)
    assert result.diameter_max_component == max(nx.diameter(part) for part in parts)
    assert result.diameter == (result.diameter_max_component if result.connected else None)


@pytest.mark.parametrize(("graph", "components", "diameter", "largest", "vertices", "apart"), [
    (nx.empty_graph(1), 1, 0, 0, 1, 0), ([(7, 7)], 1, 0, 0, 1, 0), (nx.empty_graph(5), 5, None, 0, 1, 10),
    ([(3, 9)], 1, 1, 1, 2, 0), (nx.disjoint_union(nx.star_graph(5), nx.path_graph(9)), 2, None, 8, 9, 54),
], ids=["one vertex", "a loop", "no edges", "one edge", "two components"])
def test_conventions(graph: Any, components: int, diameter: int | None, largest: int, vertices: int, apart: int):
    """The table in docs/commands/exact.md; approximations have the same."""
    for result in (emdiam.diameter(graph), emdiam.approximate(graph, method="sweep")):
        assert (result.n_components, result.diameter, result.diameter_max_component) == (components, diameter, largest)
        assert (result.connected, result.exact) == (components == 1, True)
        assert (result.details["vertices_largest_component"], result.details["unreachable_pairs"]) == (vertices, apart)


@pytest.mark.parametrize("graph", [[], nx.empty_graph(0), sp.csr_array((0, 0))], ids=["pairs", "graph", "matrix"])
def test_no_vertices_have_no_diameter(graph: Any):
    with pytest.raises(InputError, match="the graph has no vertices"):
        emdiam.diameter(graph)


def test_small_graphs_cost_no_more_than_a_bfs_from_every_vertex():
    """In arcs and in sources, also where nothing is central; in arcs, three looks at each are free, as a BFS may end
    early."""
    graphs = [nx.path_graph(2), nx.path_graph(40), nx.complete_graph(40), nx.petersen_graph(), nx.hypercube_graph(5),
              nx.random_regular_graph(3, 60, seed=1), nx.watts_strogatz_graph(60, 6, 0.1, seed=1),
              nx.from_edgelist([(2 * v, 2 * v + 1) for v in range(20)]),
              *(nx.gnp_random_graph(n, 3 / n, seed=n) for n in (4, 9, 30))]
    for graph in graphs:
        ours, every = emdiam.diameter(graph, threads=1), emdiam.diameter(graph, threads=1, method="apsp")
        assert ours.edges_scanned <= max(every.edges_scanned, 6 * ours.n_edges), graph
        assert ours.traversals.bfs + ours.traversals.multi_source_sources <= len(graph), graph


def test_files_stores_and_paths(tmp_path, two_components):
    report = emdiam.convert(two_components, tmp_path / "g.zarr", memory="4GiB", threads=1)
    assert report.record.n_vertices == 8
    with emdiam.open(tmp_path / "g.zarr") as store:
        by_store = emdiam.diameter(store)
    by_path = emdiam.diameter(str(tmp_path / "g.zarr"), memory="2GiB", threads=1)
    for result in (by_store, by_path):
        assert (result.connected, result.n_components) == (False, 2)
        assert (result.diameter_largest_component, result.diameter_max_component) == (4, 4)
        assert {result.witness.source, result.witness.target} == {10, 14}
    assert by_path.memory_limit_bytes == 2 << 30


def test_keywords_are_those_of_the_registry():
    known = keywords_of("eccentricities").keys()
    assert known - {"seed", "weight", "weighted", "columns", "directed"} == {"out", "keep", "what", "from_proof"} | (
        set(SHARED) - {"gap", "bounds_only"}) | {"progress", "scratch"}
    for function, names in (("exact", EXACT), ("approximate", APPROXIMATIONS)):
        options = {option for name in names for option in option_names(name)} - {"limits", "path_file"}
        asked = options | set(SHARED) | {"progress", "scratch", "method"}
        asked |= {"weight", "weighted", "columns", "directed"} | ({"path", "from_proof"} if names == EXACT else set())
        only_exact = set() if names == EXACT else {"bounds_only", "certificate"}
        assert keywords_of(function).keys() == asked - only_exact


def test_signatures_are_those_of_the_table():
    """What type checkers read is compared in test_docs.py."""
    for name in FUNCTIONS:
        shown = inspect.signature(getattr(emdiam, name)).parameters
        assert not keywords_of(name).keys() - shown.keys()
        for keyword, option in keywords_of(name).items():
            if shown[keyword].kind is inspect.Parameter.KEYWORD_ONLY:
                assert (shown[keyword].default, shown[keyword].annotation) == (
                    option.python_default, option.python_annotation)


def test_an_option_is_declared_in_one_table_only():
    """No file of the command line has the text of an option, but for --help-all, and those that classes of graphs
    bring."""
    for path in (ROOT / "emdiam" / "cli").glob("*.py"):
        called = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text()))
                  if isinstance(node, ast.Call)}
        declares = bool(called & {"click.option", "click.Option"})
        assert path.name in ("options.py", "generate.py", "outcome.py") or not declares, path
    rows = [(command, name) for command, names in COMMANDS.items() for name in names]
    assert len(rows) == len(set(rows)) and all(option_of(*row) is not None for row in rows)


def test_options_that_runs_along_arcs_and_weights_have_not_are_refused():
    """Those with values that say nothing there are as not given."""
    silent = {"device": "cpu", "reorder": "auto", "vertex_state": "ram", "resume": False, "arena": None}
    for metric in ("arcs", "weights"):
        assert taken({"memory": 1, **silent}, "exact", METRICS[metric]) == {"memory": 1}
    for command, metric, asked, said in (
            ("ecc", "arcs", {"certificate": "c"}, "found from every vertex, so a certificate would have all of them"),
            ("exact", "both", {"gap": 3}, "--gap is not for graphs with directions and weights: '3'"),
            ("ecc", "arcs", {"vertex_state": "disk"}, "--vertex-state is not for graphs with directions: 'disk'"),
            ("exact", "weights", {"gap": 3}, "--gap is not for weighted graphs: '3'; leave it, or --weighted, out"),
            ("exact", "weights", {"batches": False}, "--no-batches is not for weighted graphs; leave it"),
            ("exact", "both", {"bounds_only": True}, "--bounds-only is not for graphs with directions and weights;"),
            ("ecc", "arcs", {"radius": True}, "--radius is not for graphs with directions; leave it, or --directed"),
            ("ecc", "weights", {"masters": 3}, "--masters is not for weighted graphs")):
        with pytest.raises(InputError) as refused:
            taken(asked, command, METRICS[metric])
        assert said in str(refused.value)


def test_eccentricities_carry_the_names_of_the_caller():
    result = emdiam.eccentricities(nx.relabel_nodes(nx.path_graph(5), dict(enumerate("abcde"))))
    assert result.by_vertex() == {"a": 4, "b": 3, "c": 2, "d": 3, "e": 4}
    assert result.center.ids == ["c"] and result.periphery.ids == ["a", "e"]
    assert "ids" not in result.to_dict() and result.to_dict()["radius"] == 2
    radius = emdiam.eccentricities([(7, 8), (8, 9)], what="radius", keep=False)
    assert radius.radius == 1 and radius.ids is None
    with pytest.raises(ValueError):
        radius.by_vertex()


def test_events_reach_the_listener():
    events: list[emdiam.Event] = []
    emdiam.diameter(nx.path_graph(50), progress=events.append)
    assert events
    assert all(isinstance(event, emdiam.Event) for event in events)


def test_small_graphs_lie_in_memory_and_others_on_disk(tmp_path, monkeypatch):
    """With one answer, of files of one store, wherever it lies; a small one of an object has smaller chunks."""
    edges = np.random.default_rng(5).integers(0, 300, (1000, 2))
    stores: list[str] = []
    execute = api.execute
    monkeypatch.setattr(api, "execute", lambda store, *rest: (stores.append(type(store).__name__),
                                                              execute(store, *rest))[1])
    small = emdiam.diameter(edges, scratch=tmp_path)
    monkeypatch.setattr(caller, "_ITEMS_IN_MEMORY", 999)
    large = emdiam.diameter(edges, scratch=tmp_path)
    assert stores == ["Store", "PosixPath"] and list(tmp_path.iterdir()) == []
    text = "".join(f"{u} {v}\n" for u, v in edges.tolist())
    (tmp_path / "e.txt").write_text(text)
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(caller, "_ITEMS_IN_MEMORY", len(text) // 2)
    for name in ("e.txt", "e.txt.gz"):  # how much comes out of a compressed one, nobody knows before
        assert emdiam.diameter(tmp_path / name).store_digest == large.store_digest
    assert stores[2:] == ["Store", "PosixPath"]
    assert {small.store_path, large.store_path, small.store_name, large.store_name} == {""}  # they were temporary
    # Which traversals a run chooses depends on the seconds that those before took.
    assert small.diameter == large.diameter


def test_a_scratch_folder_that_is_not_there_is_said_so(tmp_path, monkeypatch):
    for limit in (caller._ITEMS_IN_MEMORY, 0):
        monkeypatch.setattr(caller, "_ITEMS_IN_MEMORY", limit)
        with pytest.raises(InputError, match="the scratch folder does not exist"):
            emdiam.diameter([(0, 1)], scratch=tmp_path / "absent")


def test_temporary_stores_are_removed(tmp_path):
    emdiam.diameter(nx.path_graph(5), scratch=tmp_path)
    with pytest.raises(InputError):
        emdiam.diameter(([0, 1], [-1, 2]), scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_faults_are_sentences(tmp_path):
    with pytest.raises(StoreError, match="no such store"):
        emdiam.diameter(tmp_path / "absent.zarr")
    with pytest.raises(StoreError, match="no such store"):
        emdiam.open(tmp_path / "absent.zarr")
    with pytest.raises(InputError, match="not a size"):
        emdiam.diameter(nx.path_graph(3), memory="much")
    with pytest.raises(InputError, match="no such method: 'magic'; choose from: pivots, fdiam"):
        emdiam.diameter(nx.path_graph(3), method="magic")
    with pytest.raises(BudgetError):
        emdiam.diameter(nx.path_graph(3), memory="1MiB")
    with pytest.raises(TypeError):
        emdiam.convert("e.txt", "g.zarr", memry="1GiB")


@pytest.mark.parametrize("module", ["emdiam", "emdiam.api", "emdiam.runs.task", "emdiam.certificates.run"])
def test_type_hints_of_public_names_can_be_had(module: str):
    """As IDEs, documentation tools and validators ask for them at run time."""
    here = importlib.import_module(module)
    names = [name for name in getattr(here, "__all__", vars(here)) if not name.startswith("_")]
    public = [getattr(here, name) for name in names]
    asked = [item for item in public if callable(item) and item.__module__.startswith(module)]
    for item in asked:
        typing.get_type_hints(item)
    assert asked


@pytest.mark.parametrize("directed", [True, 1, "up"])
def test_eccentricities_along_arcs_have_a_direction(directed: object) -> None:
    with pytest.raises(InputError, match="directed is out or in"):
        emdiam.eccentricities([(1, 2)], directed=directed)


@pytest.mark.parametrize(("keywords", "takes"), [
    ({"threads": "x"}, "threads=.*a whole number"), ({"threads": 1.5}, "threads=.*a whole number"),
    ({"threads": True}, "threads=.*a whole number"), ({"memory": []}, "memory=.*a text such as 4GiB"),
    ({"method": 3}, "no such method: '3'|method=.*a text"), ({"device": 3}, "device=.*a text"),
    ({"certificate": 7}, "certificate=.*a path"), ({"columns": 3}, "columns="),
    ({"require_connected": 3}, "require_connected=.*True or False"),
    ({"time_limit": []}, "time_limit=.*a number of seconds"),
])
def test_a_value_of_another_kind_is_refused_in_a_sentence(keywords: dict[str, Any], takes: str):
    with pytest.raises(InputError, match=takes):
        emdiam.exact(nx.path_graph(3), **keywords)
