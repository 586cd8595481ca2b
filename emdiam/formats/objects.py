"""Kinds of graph objects in Python programs, and a source of edges for each kind.

The library of an object is found from the module of its class, so that no library is imported: a library that is not
imported has no objects.

TableSource reads tables in memory (pandas, polars, pyarrow): two columns, in slices through Arrow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import contains
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, closest
from .arrays import (
    IN_MEMORY,
    IN_TABLE,
    INDEX,
    MATRIX,
    chosen_places,
    kind_of_array,
    kind_of_texts,
    kind_of_two_sides,
)
from .arrow_edges import ArrowEdges, EdgeColumns, column_kind, is_list, rows_per_batch, weight_kind
from .arrow_streams import of_capsule, of_dataset, of_lazy, of_reader
from .frames import is_matrix, numbers_of, of_series, with_index, with_wanted
from .in_memory import ArraySource, DenseSource, MatrixSource, NamedMatrixSource, NodesSource
from .look_ends import refuse_bits
from .python_columns import refuse_masked
from .python_edges import of_builtin, of_list
from .source import EdgeBatch, EdgeSource, SourceInfo, WithoutFile, with_two_sides
from .tables import TableColumn, certain_pair, dropped_columns, edge_ends, named_pair
from .weights import NAMES, WHOLE, WeightChoice

Weights = WeightChoice | None


def _array(graph: Any, weights: Weights, forms: Mapping[str, str] = IN_MEMORY) -> EdgeSource | None:
    """An array of two columns (three with weights), an edge_index of two rows, or a square matrix, see arrays.py. An
    array of texts has two columns or two rows. forms : for the remedy."""
    if not isinstance(graph, np.ndarray):
        return None
    refuse_masked(graph)
    graph = np.asarray(graph)
    width = 2 if weights is None else 3
    if 0 in graph.shape:
        return ArraySource(*(np.empty(0, np.int64) for _ in range(width)), weights=weights)
    if graph.dtype.kind not in "biuf":
        kind = kind_of_texts(graph, InputError)
    else:
        kind = kind_of_array(graph.shape, lambda: graph, InputError, forms=forms)
    if kind == MATRIX:
        return DenseSource(graph, weights)
    edges = graph.T if kind == INDEX else graph
    if edges.shape[1] != width:
        raise InputError(f"edges are pairs of ids, but this array has the shape {graph.shape}" if weights is None
                         else f"edges are pairs of ids and weights, but this array has the shape {graph.shape}",
                         remedy="give a list of pairs, an array with two columns, or a tuple (src, dst)"
                         if weights is None else "give a list of triples, an array with three columns, or a tuple"
                         " (src, dst, weights)")
    return ArraySource(*(edges[:, place] for place in range(width)), weights=weights)


def _edges_of_networkx(graph: Any, weights: Weights) -> EdgeSource:
    """A view of edges of networkx; its data are the weights, or have them."""
    data: Any = getattr(graph, "_data", False)
    if weights is not None and data is False:
        raise InputError("a view of edges without data has no weights", remedy="give graph.edges(data='weight')")
    if weights is not None and data is not True and weights.column not in ("", data):
        raise InputError(f"the view of edges has {data!r} of each edge, not the wanted weights", text=weights.column,
                         remedy=f"give graph.edges(data={weights.column!r})")
    if weights is not None and data is True:
        name = edge_attribute("networkx", list({name: None for edge in graph for name in edge[-1]}), weights.column)
        edges = [(*edge[:2], edge[-1].get(name)) for edge in graph]
    else:
        edges = [(*edge[:2], {} if weights is None else edge[-1]) for edge in graph]
    nodes = list(dict.fromkeys(end for edge in edges for end in edge[:2]))
    directed = type(graph).__name__.startswith(("Out", "In"))
    return NodesSource("networkx", nodes, lambda: edges, len(edges), directed, weights=weights)


def _scipy(graph: Any, weights: Weights) -> EdgeSource | None:
    """A sparse matrix or array of any format."""
    from scipy.sparse import issparse

    return MatrixSource(graph, weights) if issparse(graph) else None


def _networkx(graph: Any, weights: Weights) -> EdgeSource | None:
    """A networkx graph of any kind; its nodes are the labels. Weights are an attribute, see edge_attribute."""
    from networkx import Graph

    if type(graph).__name__.endswith(("EdgeView", "EdgeDataView")):
        return _edges_of_networkx(graph, weights)
    if not isinstance(graph, Graph):
        raise InputError(f"a {type(graph).__name__} of networkx has no edges", remedy="give the graph, or graph.edges")
    data: Any = True
    if weights is not None:
        data = weights.column or "weight"
        if data not in next((named for *_, named in graph.edges(data=True)), (data,)):
            names = list({name: None for *_, named in graph.edges(data=True) for name in named})
            data = edge_attribute("networkx", names, weights.column)
    several = graph.is_multigraph()
    source = NodesSource("networkx", list(graph), lambda: graph.edges(data=data),
                         graph.number_of_edges() if several else _n_edges(graph),
                         graph.is_directed(), weights=weights and replace(weights, column=str(data)))
    if not several:
        source.neighbours = lambda: (row for _, row in graph.adjacency())
    return source


def _n_edges(graph: Any) -> int:
    """The number of edges of a networkx graph without multiple edges, without a Python call for each vertex."""
    rows = dict(graph.adjacency())
    entries = sum(map(len, rows.values()))
    return entries if graph.is_directed() else (entries + sum(map(contains, rows.values(), rows))) // 2


def _igraph(graph: Any, weights: Weights) -> EdgeSource | None:
    """An igraph graph; labels are the vertex attribute `name` if it exists, else the numbers. Weights are an attribute
    of edges, see edge_attribute."""
    from igraph import GraphBase

    if not isinstance(graph, GraphBase):
        return None
    attributes = graph.es.attributes()
    wanted = None if weights is None or not graph.ecount() else edge_attribute("igraph", attributes, weights.column)
    source = NodesSource("igraph", range(graph.vcount()),
                         lambda: ((*edge.tuple, bool(attributes) if wanted is None else edge[wanted])
                                  for edge in graph.es),
                         graph.ecount(), graph.is_directed(),
                         graph.vs["name"] if "name" in graph.vs.attributes() else None,
                         weights and replace(weights, column=wanted or ""))
    source.neighbours = lambda: [dict.fromkeys(row, bool(attributes)) for row in graph.get_adjlist()]
    return source


def edge_attribute(library: str, attributes: Sequence[Any], name: str) -> Any:
    """The attribute of edges with the weights: the attribute `name`; for "": `weight`, or else the only one with a name
    in weights.NAMES. Raises InputError, which lists the attributes, if there is none."""
    usual = [one for one in attributes if isinstance(one, str) and one.lower() in NAMES]
    found = [one for one in attributes if one == (name or "weight")] or (usual if not name else [])
    if len(found) == 1:
        return found[0]
    there = ", ".join(map(str, attributes)) or "none at all"
    what = f"no attribute {name}" if name else "not one attribute of weights"
    example = closest(name, [str(one) for one in attributes]) or next(map(str, attributes), None)
    raise InputError(f"the edges of the graph of {library} have {what}; they have {there}",
                     remedy="leave the weight out" if example is None else
                     f"name the attribute that has the weights, as in weight={example!r}")


def _networkit(graph: Any, weights: Weights) -> EdgeSource | None:
    """A networkit graph; labels are its node numbers, with gaps after removals. Weights are the graph's own."""
    from networkit import Graph

    if not isinstance(graph, Graph):
        return None
    if weights is not None and (weights.column or not graph.isWeighted()):
        raise InputError("the graph of networkit has no such weights", text=weights.column or None,
                         remedy="give a weighted graph, and weights=True")
    n = graph.numberOfNodes()
    nodes = range(n) if n == graph.upperNodeIdBound() else list(graph.iterNodes())
    return NodesSource("networkit", nodes, graph.iterEdgesWeights if graph.isWeighted() else graph.iterEdges,
                       graph.numberOfEdges(), graph.isDirected(), weights=weights)


def _pandas(graph: Any, weights: Weights) -> EdgeSource | None:
    """A table, or a matrix if rows and columns have the same names."""
    from pandas import DataFrame

    if not isinstance(graph, DataFrame):
        return None
    if is_matrix(graph):
        names = list(graph.columns)
        if names != list(range(len(names))):
            return NamedMatrixSource(numbers_of(graph), names, weights)
        if len(names) > 2:  # a table with two unnamed columns has a pair in each row
            return _array(numbers_of(graph), weights, IN_TABLE)
    return _frame(with_index(graph, weights), weights)


def _frame(frame: Any, weights: Weights) -> TableSource:
    """The rows of a table of pandas."""
    # Select rows before columns: otherwise, and with both at once, pandas copies all rows of the columns.
    return TableSource("pandas", list(frame.columns), len(frame),
                       lambda begin, end, places: frame.iloc[begin:end].iloc[:, list(places)], weights)


def _polars(graph: Any, weights: Weights) -> EdgeSource | None:
    """A table, or a lazy table, which yields its rows in batches."""
    from polars import DataFrame, LazyFrame

    if isinstance(graph, LazyFrame):
        if hasattr(graph, "collect_batches"):
            return of_lazy(graph, weights)
        graph = graph.collect()
    if not isinstance(graph, DataFrame):
        return None
    names = graph.columns
    return TableSource("polars", names, len(graph),
                       lambda begin, end, places: graph.select([names[i] for i in places]).slice(begin, end - begin),
                       weights)


def _pyarrow(graph: Any, weights: Weights) -> EdgeSource | None:
    """A table, a record batch, a reader of them, or a dataset of files."""
    from pyarrow import RecordBatch, RecordBatchReader, Table

    if isinstance(graph, RecordBatchReader):
        return of_reader(graph, weights)
    datasets = sys.modules.get("pyarrow.dataset")  # imported if a dataset exists
    if datasets is not None and isinstance(graph, datasets.Dataset):
        return of_dataset(graph, weights)
    if datasets is not None and isinstance(graph, datasets.Scanner):
        return of_reader(graph.to_reader(), weights)
    if isinstance(graph, RecordBatch):
        graph = Table.from_batches([graph])
    if not isinstance(graph, Table):
        return None
    return TableSource("pyarrow", graph.column_names, len(graph),
                       lambda begin, end, places: graph.select(list(places)).slice(begin, end - begin), weights)


# By the package that defines a class or one of its bases.
KINDS: Mapping[str, Callable[[Any, Weights], EdgeSource | None]] = MappingProxyType({
    "builtins": of_builtin, "numpy": _array, "scipy": _scipy, "networkx": _networkx, "igraph": _igraph,
    "networkit": _networkit, "pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow,
})


_BASES = frozenset({"builtins", "typing", "abc", "collections"})  # packages of bases of nearly all classes


def as_source(graph: Any, weights: Weights = None, columns: tuple[str, str] | None = None,
              bipartite: bool = False, directed: bool = False) -> EdgeSource:
    """The source of edges for a graph in memory, of a kind in KINDS. weights : the weights to keep. columns : the two
    ends of an edge in a table. bipartite : whether the ends are two sides with separate ids. directed : whether
    directions are kept. Raises InputError for other objects."""
    graph = _plain(graph)
    if bipartite and hasattr(graph, "shape") and hasattr(graph, "tocoo"):
        return MatrixSource(graph, weights, two_sides=True)
    if bipartite and isinstance(graph, np.ndarray) and columns is None:
        if graph.dtype.kind in "biuf":
            refuse_masked(graph)
            kind_of_two_sides(graph.shape, InputError, forms=IN_MEMORY)
            return DenseSource(graph, weights, two_sides=True)
    source = _of_kind(graph, weights, columns, bipartite, directed)
    if not bipartite:
        return source
    if not hasattr(source, "choose") and not isinstance(source, ArraySource):
        raise InputError(f"{source.name} has no two sides that are numbered apart",
                         remedy="leave out --bipartite, or give a table, a tuple (src, dst) or a scipy.sparse matrix")
    return with_two_sides(source)


def _of_kind(graph: Any, weights: Weights, columns: tuple[str, str] | None, bipartite: bool,
             directed: bool) -> EdgeSource:
    """The source of edges without separate ids for the two sides."""
    if columns is not None and isinstance(graph, np.ndarray):
        return _chosen(graph, columns, weights)
    if columns is not None and _is_of(graph, "pandas", "DataFrame"):
        source: EdgeSource = _frame(with_wanted(graph, columns), weights)
    else:
        source = _as_source(graph, weights)
    choose = getattr(source, "choose", None)
    if isinstance(source, ArrowEdges):
        source.bipartite, source.directed = bipartite, directed
    if choose is not None:
        choose(columns)
    elif columns is not None:
        raise InputError(f"{source.name} has no columns to choose the ends of edges from", text=",".join(columns),
                         remedy="leave columns out")
    return source


def _chosen(graph: np.ndarray, columns: tuple[str, str], weights: Weights) -> EdgeSource:
    """The edges of an array with one edge in each row, in the chosen columns (numbers from 1). Weights are another
    column, by its number, or the only other one."""
    places = chosen_places(graph.shape, columns, weights, InputError)
    return ArraySource(*(graph[:, place] for place in places), weights=weights and replace(weights, column=""))


def _packages(graph: Any) -> list[str]:
    """The packages that define the class of an object, and its bases."""
    return list(dict.fromkeys(base.__module__.partition(".")[0] for base in type(graph).__mro__))


def _is_of(graph: Any, package: str, name: str) -> bool:
    """Whether the object is of the class of a package, or of a class made from it."""
    return any(base.__module__.partition(".")[0] == package and base.__name__ == name for base in type(graph).__mro__)


def _plain(graph: Any) -> Any:
    """An array of NumPy in place of an array of another library, or of a view of memory; a table or a list in place of
    a Series. Raises InputError if it cannot be made, and for tables that are not there before they are computed."""
    packages = _packages(graph)
    if _is_of(graph, "pandas", "Series"):
        return of_series(graph)
    if packages[0].startswith("dask") and hasattr(graph, "compute"):
        raise InputError("tables and arrays of Dask are computed first", remedy="say graph.compute()")
    if not isinstance(graph, memoryview) and not (
            hasattr(graph, "__array__") and hasattr(graph, "ndim") and KINDS.keys().isdisjoint({*packages} - _BASES)
            and not hasattr(graph, "__arrow_c_stream__")):
        return graph
    try:
        return np.asarray(graph)
    except Exception as error:  # any error of any library
        raise InputError(f"this {type(graph).__name__} is no array of NumPy ({error})",
                         remedy="make one of it, as by numpy.asarray(array)") from error


def _as_source(graph: Any, weights: Weights) -> EdgeSource:
    for package in _packages(graph):
        source = KINDS[package](graph, weights) if package in KINDS else None
        if source is not None:
            return source
    if hasattr(graph, "__arrow_c_stream__"):
        return of_capsule(graph, weights)
    if isinstance(graph, Iterable) and not isinstance(graph, str | bytes | Mapping | tuple):
        # A tuple has columns, so a tuple of another length than (src, dst) or (src, dst, weights) is no list of pairs.
        return of_list(list(graph), weights)
    kind = "None" if graph is None else f"{type(graph).__module__}.{type(graph).__qualname__}".removeprefix("builtins.")
    raise InputError(
        f"{kind} is not a kind of graph that emdiam knows",
        remedy="give a store, its path, a file of edges, a list of pairs, an array of two columns, two rows or a"
               " square matrix, a tuple (src, dst) of arrays, with weights (src, dst, weights), a dict of lists, a"
               " table of pandas, polars or pyarrow, an Arrow stream, a scipy.sparse matrix, or a graph of networkx,"
               " igraph or networkit")


_LOOKED_AT = 1000  # number of rows from which the types of columns of Python objects are found
_CHOOSE = "choose the two columns of the edges' ends, as in table[['source', 'target']]"
_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError)


class TableSource(WithoutFile, ArrowEdges):
    """The rows of a table with an edge in two columns: two with names like source and target, else the only two of
    integers, else the only two of strings. Vertices are the ids that occur.

    kind : name of the library. names : names of its columns. n_rows : number of rows. rows : rows(begin, end, places)
    -> the table of these rows and columns, in a form that pyarrow can read. weights : the weights to keep.
    """

    ids = "auto"

    def __init__(self, kind: str, names: Sequence[Any], n_rows: int,
                 rows: Callable[[int, int, Sequence[int]], Any], weights: WeightChoice | None = None) -> None:
        self.name, self._n, self._rows, self.weights = f"the table of {kind}", n_rows, rows, weights
        self._names = [str(name) for name in names]
        self._format, self.dropped = kind, dict[str, int]()
        self._fixed: tuple[int, int] | None = None
        self._chosen = EdgeColumns((0, 0), ("", ""), "int", weight_kind="" if weights is None else WHOLE)

    def choose(self, wanted: tuple[str, str] | None = None) -> None:
        """Choose the columns of the edges: the wanted ones, by names or numbers from 1 on, or by names and types.

        Raises InputError if there are no such columns, or if they are not clear.
        """
        if not self._n:
            return
        pair = named_pair(self._names)
        if wanted is not None:
            pair = edge_ends([TableColumn(name, "") for name in self._names], wanted, self.name)
            self._fixed = pair if self.weights is not None or self.directed else (0, 1)
        self._chosen = self._choose(pair)

    def _fixed_ends(self, columns: Sequence[TableColumn]) -> tuple[int, int] | None:
        return self._fixed

    def _choose(self, pair: tuple[int, int] | None) -> EdgeColumns:
        """The columns of the edges. pair : the places of the ends, if known."""
        whole = pair is None or self.weights is not None or self.directed
        places = range(len(self._names)) if whole or pair is None else pair
        table = self._arrow(0, min(self._n, _LOOKED_AT), places)
        found = self._columns(table.schema)
        if self._fixed is None and certain_pair(self._names) is None and not found.listed:
            refuse_bits(list(zip(*(list(map(str, table[place].to_pylist())) for place in found.ids), strict=True)),
                        self.name)
        return replace(found, ids=(places[found.ids[0]], places[found.ids[1]]))

    def _arrow(self, begin: int, end: int, places: Sequence[int]) -> Any:
        """The rows as a pyarrow table with exactly these columns, in this order. Raises InputError."""
        with self._damage(_FAULTS, "a column has objects that are no ids, or of several kinds", _CHOOSE):
            return pa.table(self._rows(begin, end, places)).select(list(range(len(places))))

    def info(self) -> SourceInfo:
        """The facts, without n."""
        return SourceInfo(n_entries=None if self._chosen.listed else self._n, directed=True,
                          id_kind=self._chosen.kind, format=self._format,
                          dropped=self.dropped, weights=self._chosen.weight_kind, weight_name=self._chosen.weight_name,
                          reading=self._chosen.said(self._format), declared=self.declared, notes=self.notes)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for missing, negative or too large ids, and for ids of another kind."""
        chosen, step = self._chosen, rows_per_batch(batch_bytes, self._chosen.kind)
        places = chosen.places
        self._weight_name, self.declared = "" if chosen.weight is None else self._names[chosen.weight], 0
        for begin in range(0, self._n, step):
            table, done = self._arrow(begin, min(begin + step, self._n), places), begin
            for batch in table.to_batches():
                self._check_kinds(batch.columns, done)
                yield from self._batches_of(chosen, batch.columns, done, chosen.kind == "string", batch_bytes)
                done += batch.num_rows
        if self._n:
            self.dropped = dict.fromkeys(dropped_columns(self._names, places), self._n)

    def _check_kinds(self, columns: Sequence[Any], done: int) -> None:
        """Raise InputError if a column changes its type, which is possible for Python objects."""
        chosen = self._chosen
        for column, name in zip(columns[:2], chosen.names, strict=False):
            if not column.null_count and not is_list(column.type) and column_kind(column.type) != chosen.kind:
                raise self.error(f"column {name} has ids of another kind from row {done + 1} on",
                                 remedy="give integers or strings in the whole column")
        weighed = chosen.weight is not None and not columns[2].null_count
        if weighed and weight_kind(columns[2].type) != chosen.weight_kind:
            raise self.error(f"column {self._weight_name} has weights of another kind from row {done + 1} on",
                             remedy="give integers or floats in the whole column")
