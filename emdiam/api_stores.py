"""The functions of the Python interface that write stores: convert, apply, reorder and generate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .caller import check_weights, edges_of, files_of, source_of
from .checkpoint.options import chosen_checkpoint
from .conversion.convert import ConvertOptions, ConvertReport
from .conversion.convert import convert as convert_source
from .conversion.writing import ApplyReport, ReorderReport
from .errors import InputError
from .formats.source import EdgeSource, two_columns
from .formats.weights import WeightChoice, named_weights
from .generators.make import GenerateReport
from .runs.options import CHECKPOINT, check_keywords, keywords_of, parsed
from .runs.places import check_outputs
from .store.layout import NATURAL
from .store.store import Store, open_store
from .terms import explicit
from .units import available_cores, parse_count

_OF_FILES, _OF_TABLES = ("columns", "header", "encoding", "vertices", "bipartite"), {"columns", "bipartite"}
# Options common to all functions that write a store.
_WRITING = frozenset(keywords_of("reorder").keys() - {"order", "seed"})


def chosen(function: str, named: dict[str, Any], *names: str) -> list[Any]:
    """The values of these named, or their defaults; they are removed from `named`."""
    known = keywords_of(function)
    return [named.pop(name, known[name].python_default) for name in names]


def columns_of(named: dict[str, Any]) -> tuple[str, str] | None:
    """The columns with the ends of edges in these options, which are removed. Raises InputError."""
    return two_columns(named.pop("columns", None))


@explicit
def convert(inputs: Any, target: str | Path, **options: Any) -> ConvertReport | ReorderReport:
    """Convert edge lists, or a graph in memory, into a store.

    Parameters
    ----------
    inputs : object
        A file, a glob pattern, "-" for standard input, or a list of these, which make one graph together; a graph of
        any kind that `diameter` takes; or a store, which is written in another order.
    target : str or Path
        The store to write.

    Returns
    -------
    ConvertReport
        With the record of the store, and the numbers of edges that were dropped. A ReorderReport for a store.
    """
    check_keywords("convert", options)
    check_outputs("convert", {**options, "inputs": inputs, "store": target})
    format, ids, order, directed, weights, weight = chosen(
        "convert", options, "format", "ids", "order", "directed", "weights", "weight")
    writing = {name: value for name, value in options.items() if name in _WRITING}
    reading = {name: options[name] for name in _OF_FILES if options.get(name) not in (None, "", "auto", False)}
    if isinstance(inputs, Iterator) and not hasattr(inputs, "__arrow_c_stream__"):
        inputs = list(inputs)
    files = files_of(inputs, format is not None)
    is_store = isinstance(inputs, Store) or (files is None and isinstance(inputs, str | Path))
    of_files = reading.keys() - (set() if is_store else _OF_TABLES)
    if files is None and (format is not None or ids != "auto" or of_files):
        raise InputError(f"format, ids, {', '.join(_OF_FILES)} say how a file is read, and the input is none",
                         remedy="leave them out")
    if directed and (is_store or order != NATURAL):
        raise InputError("directions are kept by a conversion of edges in the natural order alone",
                         remedy="leave the order or the directions out")
    choice = weights if isinstance(weights, WeightChoice) else named_weights(weight, weights or False)
    if is_store:
        if choice is not None:
            check_weights(inputs, choice)
        return reorder(inputs, target, order, **writing)
    source = _graph_to_convert(inputs, writing, choice, reading, directed) if files is None else files
    conversion = convert_options(writing, fmt=format, ids=ids, directed=directed, weights=choice, **reading)
    if order == NATURAL:
        return convert_source(source, Path(target), options=conversion)
    from .conversion.ordered import convert_ordered

    return convert_ordered(source, target, order, options=conversion)


def _graph_to_convert(graph: Any, options: dict[str, Any], weights: WeightChoice | None,
                      reading: dict[str, Any], directed: bool) -> EdgeSource:
    """The source of a graph in memory, with all options of `reading` used up. Raises InputError, also for options of
    checkpoints."""
    source = source_of(graph, weights, columns_of(reading), directed, reading.pop("bipartite", False))
    if chosen_checkpoint(options) is not None:
        raise InputError("a graph in memory is not there any more after a stop",
                         remedy="leave the options of checkpoints out, or write its edges to a file")
    return source


@explicit
def reorder(store: Store | str | Path, target: str | Path, order: str, **options: Any) -> ReorderReport:
    """Write a store with its vertices in another order. Answers have the same ids as before.

    Parameters
    ----------
    store : Store, str or Path
        The store to read.
    target : str or Path
        The store to write.
    order : {"natural", "degree", "bfs", "cluster"}
        By increasing ids; by descending degree; by component, then by distance from its hub; or neighbours close
        together.

    Returns
    -------
    ReorderReport
        With the record of the new store.
    """
    from .conversion.reorder import reorder as reorder_store

    check_keywords("reorder", options)
    check_outputs("reorder", {**options, "store": store, "target": target})
    (seed,), place = chosen("reorder", options, "seed"), store.address if isinstance(store, Store) else store
    with open_store(place) as opened:
        record = opened.record
    options["codec"] = options.get("codec") or record.codec
    options["chunk"] = options.get("chunk") or record.chunk_ids
    return reorder_store(place, target, order, seed=seed, options=convert_options(options))


@explicit
def apply(store: Store | str | Path, target: str | Path, **options: Any) -> ApplyReport:
    """Write a store with edges added and removed. Edges are removed first, and then added.

    Parameters
    ----------
    store : Store, str or Path
        The store as it was.
    target : str or Path
        The new one.

    Returns
    -------
    ApplyReport
        With the record of the new store, and the numbers of edges added and removed.
    """
    from .conversion.apply import apply as apply_changes

    check_keywords("apply", options)
    check_outputs("apply", {**options, "store": store, "target": target})
    add, remove, strict, weights, format = chosen("apply", options, "add", "remove", "strict", "weights", "format")
    columns, place = columns_of(options), store.address if isinstance(store, Store) else store
    lists = (edges if edges is None else partial(edges_of, edges, columns, format is not None)
             for edges in (add, remove))
    return apply_changes(place, target, *lists, strict=strict, weights=weights,
                         options=convert_options(options, fmt=format, columns=columns))


@explicit
def generate(name: str, target: str | Path, **parameters: Any) -> GenerateReport:
    """Generate a graph of a known class as a store. Equal arguments give equal graphs.

    Parameters
    ----------
    name : str
        The class, a key of emdiam.generators.CLASSES, such as "grid" or "rmat".
    target : str or Path
        The store to write.
    **parameters
        Parameters of the class, such as sides="20x30".

    Returns
    -------
    GenerateReport
        With the report of the conversion, and `known_diameter` for classes with a formula.
    """
    from .generators.make import generate as generate_store

    vertices, seed, weights = chosen("generate", parameters, "vertices", "seed", "weights")
    writing = {key: parameters.pop(key) for key in list(parameters) if key in _WRITING}
    count = parse_count(vertices) if isinstance(vertices, str) else vertices
    return generate_store(name, target, vertices=count, seed=seed, weights=weights, parameters=parameters,
                          options=convert_options(writing))


def convert_options(named: dict[str, Any], **more: Any) -> ConvertOptions:
    """The options of the conversion in the library's units, with `more` options. Raises InputError for a bad size."""
    written = parsed({name: value for name, value in named.items() if name not in CHECKPOINT}, "convert")
    return ConvertOptions(**{"threads": available_cores(), "checkpoint": chosen_checkpoint(named), **more, **written})
