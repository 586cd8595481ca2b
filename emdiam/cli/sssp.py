"""`emdiam sssp`: shortest paths from one vertex."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..units import format_count, format_size
from . import options
from .answer_lines import memory_lines, seconds_line
from .checkpoint import Runs
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer

if TYPE_CHECKING:
    from ..sssp.run import Searcher

_METHODS = ("auto", "dijkstra", "bellman-ford", "frontier-bellman-ford", "delta-stepping", "sorted-buckets", "near-far",
            "workfront-sweep", "h-bf")
# Of a device alone, beside those methods of _METHODS that a device has.
_ON_DEVICE = ("harish", "harish-pairs", "harish-lists", "harish-list-matrix", "harish-matrix", "harish-edges",
              "harish-paired-edges", "harish-reverse", "workfront-sweep-pairs", "near-far-pairs",
              "delta-stepping-pairs", "h-bf-pairs")


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--source", required=True, metavar="ID", help="The vertex that paths begin at, by its id in the input.")
@click.option("--target", metavar="ID", help="Show a shortest path to this vertex.")
@click.option("--method", type=options.Choice((*_METHODS, *_ON_DEVICE)), default="auto", show_default=True,
              help="How paths are searched; see docs/algorithms/shortest-paths.md.")
@click.option("--delta", type=click.FloatRange(0, min_open=True), metavar="D",
              help="Width of a bucket of distances: inf is a single one. [default: 32 x mean weight / mean degree]")
@click.option("--out", type=options.NEW_FILE, metavar="FILE",
              help="Write distance and predecessor of every vertex to FILE, Parquet, or CSV if its name ends so.")
@click.option("--device", default="cpu", show_default=True, metavar="DEVICE",
              help="What searches: cpu, gpu, gpu:N (the GPU of number N), or auto: a GPU if there is one, else the"
                   " CPU.")
@options.stacked(options.memory, options.arena, options.threads, options.evict_page_cache)
@options.stacked(options.as_json, options.verbose, options.progress)
def command(**given: Any) -> int:
    """Find shortest paths from one vertex, along the weights of the store.

    A store without weights has edges of the length 1; one that was converted with --directed has its arcs' directions.
    Weights below 0 are for --method bellman-ford alone, which shows a cycle of negative weight where there is one. A
    GPU has auto, delta-stepping, near-far, workfront-sweep, h-bf, and all whose names begin with harish or end with
    pairs; of these, workfront-sweep and harish take weights below 0.
    """
    from ..sssp.run import options_of, search

    show = partial(paths_text, verbose=given["verbose"])
    asked = options_of(given["source"], {**options.passed(given, "store", "source", "device"),
                                         "searcher": _searcher(given["device"], given["method"])})
    runs = Runs(given)
    with runs.shown(lambda results: answer(results[0], show, given["as_json"])), listening(given) as listener:
        runs.end(search(given["store"], asked, listener))
    return 0


def _searcher(device: str, method: str) -> Searcher | None:
    """What searches, None for the CPU. Raises InputError for a device that cannot be used, and for a method of a device
    on the CPU."""
    if device != "cpu":
        from ..gpu.paths.registry import searcher_on

        searcher = searcher_on(options.chosen_device(device))
        if searcher is not None:
            return searcher
    if method in _ON_DEVICE:
        raise InputError("this method of shortest paths is for a GPU alone", text=method,
                         remedy="give --device gpu, or another --method")
    return None


_MOST_SHOWN = 20


def paths_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a result as `ShortestPaths.to_dict()` gives it."""
    lines = [
        f"source: {result['source']}",
        f"reached: {result['reached']:,} of {format_count(result['n_vertices'], 'vertex', 'vertices')}",
        f"largest distance: {_number(result['largest_distance'])}, to {result['farthest']}",
    ]
    if result["target"] is not None:
        if result["path"] is None:
            lines.append(f"distance to {result['target']}: infinite (there is no path)")
        else:
            lines.append(f"distance to {result['target']}: {_number(result['distance'])}")
            lines.append(f"path ({format_count(len(result['path']) - 1, 'edge')}): {_path(result['path'])}")
    name, kind = result.get("weight"), result["weights"]
    weights = (f"distances are sums of {name}" if name else
               "every edge has the length 1" if kind is None else f"weights are {kind}")
    way = ", streamed" if result["streamed"] else "" if result["device"] == "cpu" else f" on {result['device']}"
    lines.append(f"method: {result['method']}{way}; {weights}"
                 f"{', arcs have directions' if result['directed'] else ''}")
    if result["out"] is not None:
        lines.append(f"distances and predecessors: in {result['out']}")
    work = (f"work: {format_count(result['relaxations'], 'arc')} relaxed in {format_count(result['rounds'], 'round')},"
            f" {format_size(result['bytes_read'])} read")
    return "\n".join([*lines, work, seconds_line(result), *memory_lines(result, verbose)])


def _number(value: Any) -> str:
    """A distance for people, with all of its digits."""
    return f"{value:,}"


def _path(path: list[Any]) -> str:
    """The vertices of a path, the middle left out of a long one."""
    names = [str(one) for one in path]
    if len(names) > _MOST_SHOWN:
        names = [*names[: _MOST_SHOWN // 2], "...", *names[-_MOST_SHOWN // 2 :]]
    return " ".join(names)
