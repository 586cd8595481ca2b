"""Docstrings of the package's functions, with a parameter for each keyword, from the table of options.

The docstrings in api.py describe what a function does, returns and raises, and its own parameters. This module adds the
keywords in numpydoc form: name, type, default; then the option's help in the terms of Python, or a separate text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import signature
from textwrap import fill
from typing import Any

from .runs.option import COUNT, DURATION, SIZE, Option
from .runs.options import keywords_of

# Keywords that few calls need.
_SELDOM = frozenset("""
    arena device vram bfs mapping workers scheduler worker_memory worker_threads dashboard scratch vertex_state reorder
    keep_reordered evict_page_cache checkpoint checkpoint_every resume keep_checkpoint direction batches winnow
    eliminate chains start first batch k sweeps euler levels shrink condensed_sssp root delta codec chunk encoding
    header
    """.split())
_LONGEST_TYPE = 80  # letters; longer lists of values are in the text
_GRAPH = "    graph : object\n        A graph of any kind that `diameter` takes.\n"
_RAISES = """
    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
"""
_STOPS = """    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
"""
_UNITS = {SIZE: 'In bytes, or as a text such as "4GiB".', COUNT: 'A number, or a text such as "2^20".',
          DURATION: 'In seconds, or as a text such as "10min".'}
# Texts that replace the help of an option in Python, by FUNCTION.KEYWORD, or for all functions.
_TEXTS = {
    "arena": "Memory for decoded edges alone. Default: the rest of `memory`.",
    "batches": "pivots: whether to search from many sources at once. Default: True.",
    "bfs": 'Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.',
    "chains": "fdiam: whether to use Chain Processing. Default: True.",
    "checkpoint": "Folder for the state of the work, from which a call with resume=True continues.",
    "checkpoint_every": "How often the state is saved, also within a long phase. Default: 5 minutes.",
    "columns": 'The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or'
               ' ("u", "v"). Default: found by their names.',
    "components": 'List this many of the largest components in `details["components"]`, with their diameters.',
    "convert.directed": "Keep the direction of every edge, in the natural order of the vertices.",
    "convert.weight": "Name of the weights to keep, as `weights`.",
    "convert.weights": "Keep the weights of edges: True, the name or number of their column or attribute, or a"
                       " WeightChoice.",
    "dashboard": "With workers: start Dask's dashboard, which every user of this machine can see.",
    "directed": "Follow the directions of arcs. A store must have been converted with directions.",
    "distances.directed": "Follow the directions of arcs; pairs are ordered then.",
    "distances.hyperball": "Estimate from HyperLogLog counters of 2^hyperball registers at every vertex, 4 to 16.",
    "distances.keep": "Whether the result has the closeness and the harmonic centrality of every vertex.",
    "distances.exact": "Count distances from all vertices. Give one of `sample`, `exact` and `hyperball`.",
    "distances.sources": "A file with an id on every line, or a list of ids. The distances from these vertices to"
                         " `targets` are written to `out`: origin, destination, distance.",
    "distances.targets": "See `sources`. Default: all vertices.",
    "eccentricities.directed": 'Follow the directions of arcs: the largest distance from every vertex ("out"), or to it'
                               ' ("in").',
    "eccentricities.keep": "Whether the result has the eccentricity of every vertex. Default: except for stores of more"
                           " than 262,144 vertices.",
    "eccentricities.what": '"all" eccentricities, or only the "radius" or the "center" of the largest component, which'
                           " take a few BFS.",
    "eliminate": "fdiam: whether to use Eliminate. Default: True.",
    "force": "Replace an existing target.",
    "mapping": "Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.",
    "memory": "Peak resident memory of this process. Default: nine tenths of the available memory.",
    "method": "Method, as docs/commands describes them.",
    "plan.probe": "Look at the graph by four BFS, for at most this time; None: predict from its size alone.",
    "progress": "True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,"
                " not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.",
    "require_connected": "Raise DisconnectedError if the graph has several components.",
    "resume": "Continue from the checkpoint of the same call, or begin if there is none.",
    "sample": "Count distances from this many vertices, drawn at random. Default: 1,024.",
    "scheduler": "Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a"
                 " distributed.Client.",
    "scratch": "Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or"
               " /var/tmp.",
    "seed": "Seed of all random choices. Default: 0.",
    "shortest_paths.keep": "Whether the result has the distances and predecessors of all vertices.",
    "shortest_paths.target": "A vertex; the result has the distance to it and a shortest path.",
    "sweeps": "Along arcs: number of double sweeps at the start. Default: 10.",
    "time_limit": "Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far.",
    "warmup.all": "Compile the kernels of every method, not of the default methods alone, also for larger graphs.",
    "weight": "Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number"
              " from 1), or the name that a store was converted with.",
    "threads": "Threads that read, decode and compute. Default: all cores that this process may use.",
    "weighted": "Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only"
                " attribute or column, or one with a usual name, such as weight or length.",
    "winnow": "fdiam: whether to use Winnow. Default: True.",
    "worker_threads": "Threads of a worker. Default: its share of `threads`, or as Dask started it.",
    "workers": "Run on this many Dask processes on this machine, or on this many workers of the scheduler.",
}



def documented(function: Callable[..., Any], terms: Callable[[str], str]) -> str:
    """The docstring of a function of api.py with a parameter for each of its keywords. terms : turns help into Python's
    terms."""
    whole, examples, shown = (function.__doc__ or "").rstrip().partition("\n    Examples\n    --------\n")
    head, mark, rest = whole.rstrip().partition("\n    Returns\n    -------\n")
    keywords, common, seldom = keywords_of(function.__name__), list[str](), list[str]()
    for name, option in keywords.items():
        if f"\n    {name} : " not in head:
            (seldom if name in _SELDOM else common).append(_entry(function.__name__, name, option, terms))
    own = _GRAPH if "graph" in signature(function).parameters and "\n    graph : " not in head else ""
    title = "\n    Parameters\n    ----------\n"
    before, found, after = head.rstrip(" \n").partition(title)
    parameters = (own + after).rstrip("\n") + "\n" + "".join(common)
    more = "\n    Other Parameters\n    ----------------\n" + "".join(seldom) if seldom else ""
    said, raises, others = rest.partition("\n    Raises\n    ------\n")
    stops = _STOPS if "time_limit" in keywords or function.__name__ == "diameter" else ""
    return "".join((before.rstrip(), "\n", title, parameters.lstrip("\n"), more, mark, said.rstrip(), "\n", _RAISES,
                    stops, others, examples, shown)).rstrip() + "\n"


def _entry(function: str, name: str, option: Option, terms: Callable[[str], str]) -> str:
    """The lines of one parameter."""
    kind = _type(option)
    text = _TEXTS.get(f"{function}.{name}") or _TEXTS.get(name) or _of_help(name, option, terms)
    if len(kind) > _LONGEST_TYPE:
        kind, text = "str", f"{text} One of {kind[1:-1]}."
    if option.python_default is not None:
        kind, text = f"{kind}, default {option.python_default!r}", re.sub(r" Default: [^ ]+\.$", "", text)
    else:
        kind += ", optional"
    return f"    {name} : {kind}\n" + fill(
        f"{text} {_UNITS.get(option.kind, '')}".strip(), 112, initial_indent=" " * 8, subsequent_indent=" " * 8,
        break_on_hyphens=False, break_long_words=False) + "\n"


def _of_help(name: str, option: Option, terms: Callable[[str], str]) -> str:
    """The help of an option, rewritten for a keyword: its value has the keyword's name, its default is a sentence."""
    text = re.sub(r" \[default: ([^]]+)\]", r" Default: \1.", option.help)
    if option.metavar and option.metavar.isalpha():
        text = re.sub(rf"(?<![-\w^:]){option.metavar}(?![\w:])", f"`{name}`", text)
    return terms(text)


def _type(option: Option) -> str:
    """The type of a keyword, or its choices."""
    if option.choices and option.python_annotation.startswith("str"):
        return "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
    named = re.sub(r"Sequence\[[^]]*\]", "list", option.python_annotation)
    return named.replace(" | None", "").replace("Listener", "callable").replace("Any", "object").replace(" | ", " or ")
