"""The methods and the metrics by name, for the command line, plans, batches and documents.

A new method is a file in methods/exact or methods/approx that ends with METHOD (methods/definition.py), and a line
here. A new metric is a file with its class (methods/metric.py), and a row of METRICS with the option that chooses it.
Modules are imported when they are used: importing this one loads neither numba nor numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InputError, closest, no_such

if TYPE_CHECKING:
    from ..methods.definition import Method
    from ..methods.run import MethodOptions

# Fields of MethodOptions that an error about an unknown option does not list.
_SHARED = ("path_file", "components", "limits", "scratch", "known_diameter")
# Fields that approximations do not have: a lower bound has no path to write.
_OF_EXACT = ("path_file", "components")


class MethodRow(NamedTuple):
    """A method. name : of the option --method. family : "exact", "approx" or "ecc". summary : half a sentence."""

    name: str
    family: str
    summary: str

    def definition(self) -> Method:
        """The METHOD of its module, which is imported now."""
        room = "eccentricity" if self.family == "ecc" else self.family
        module = import_module(f"..methods.{room}.{self.name.replace('-', '_')}", __package__)
        method: Method = module.METHOD
        return method


METHODS = {entry.name: entry for entry in (
    MethodRow("pivots", "exact", "exact diameter by a few BFS that certify all other vertices"),
    MethodRow("fdiam", "exact", "F-Diam: exact diameter by Winnow, Eliminate and Chain Processing"),
    MethodRow("bounding", "exact", "exact diameter by lower and upper bounds on every vertex's eccentricity"),
    MethodRow("ifub", "exact", "exact diameter by the fringes of a central vertex, from the outermost inwards"),
    MethodRow("graph-diameter", "exact", "exact diameter by double sweeps and a BFS from every vertex above the bound"),
    MethodRow("korf", "exact", "exact diameter by BFS that stop as soon as they have reached what still matters"),
    MethodRow("apsp", "exact", "exact diameter by a BFS from every vertex"),
    MethodRow("takafuji", "exact", "exact diameter of a small graph by its matrix: Floyd-Warshall in a single kernel"),
    MethodRow("pennycuff-weninger", "exact", "exact diameter of a small graph by messages from vertex to vertex"),
    MethodRow("sweep-k", "exact", "an interval around the diameter from k BFS with sources far from each other"),
    MethodRow("clusters", "approx", "bounds by shortest paths between clusters of the vertices"),
    MethodRow("sweep", "approx", "the double sweep lower bound, iterated, and the tree upper bound"),
    MethodRow("spanning", "approx", "a random spanning tree that becomes a BFS tree, a scan an iteration"),
    MethodRow("eccentricities", "ecc", "the eccentricity of every vertex, by bounds from few BFS"),
    MethodRow("fringe", "approx", "the upper bound from the fringe of a vertex halfway on a long path"),
)}
# The value of `plan --method` for a table of all methods.
ALL = "all"
EXACT = tuple(name for name, entry in METHODS.items() if entry.family == "exact")
APPROXIMATIONS = tuple(name for name, entry in METHODS.items() if entry.family == "approx")
# Methods along weights; methods along arcs, with or without weights.
ALONG_WEIGHTS = ("pivots", "bounding", "clusters", "sweep", "eccentricities")
ALONG_ARCS = ("pivots", "graph-diameter", "apsp", "sweep", "eccentricities")


HOPS, ARCS, WEIGHTS, BOTH, STORED = "hops", "arcs", "weights", "both", "stored"


_NO_BOUND = "the time limit is over before there was a bound"
_NO_COUNT = "the time limit is over before anything was counted"
_NO_DIAMETER, _NO_DISTANCES = "its diameter is undefined", "there are no distances"


class Kind(NamedTuple):
    """A command along a metric.

    module : has `options(task, own, limits)`, which makes the options object, and `solve(session)`, which gives the
    result. result : class of the result, for `loaded`. directed : whether it needs stores with directions (True),
    without (False), or takes both (None). empty : end of the error for a graph without vertices; "": no error, or one
    by the module. unfinished : the error at a time limit without a result. help : of the option that chooses the
    metric; "": the option is a row of the table of options.
    """

    module: str
    result: str
    directed: bool | None = False
    empty: str = ""
    unfinished: str = _NO_BOUND
    help: str = ""


class MetricRow(NamedTuple):
    """A metric: what distances count. made : its class, for `loaded`; "": its commands have no method. chosen : the
    options that together choose it. alike : the field of Option with the commands that have the option along this
    metric, "arcs", "weights" or "both"; "": all commands keep their options. weighted : whether the store needs
    weights. kinds : by command. annotation : type of the keyword that chooses it, if it is no flag."""

    name: str
    made: str
    chosen: tuple[str, ...]
    alike: str
    weighted: bool
    kinds: dict[str, Kind]
    annotation: str = ""


def _of_distances(metric: str, result: str, directed: bool, text: str = "") -> Kind:
    return Kind(f"distribution.{metric}", f"distribution.{metric}:{result}", directed, _NO_DISTANCES, _NO_COUNT, text)


_SUMS, _LONGEST = "Distances are sums of weights, as the store has them", f"{_NO_BOUND} on the diameter"
METRICS = {row.name: row for row in (
    MetricRow(HOPS, "methods.metric:HopMetric", (), "", False, {
        "exact": Kind("runs.hops", "methods.result:Result", unfinished=_LONGEST),
        "approx": Kind("runs.hops", "methods.result:Approximation", unfinished=_LONGEST),
        "ecc": Kind("runs.hops", "methods.eccentricity.result:EccentricityResult", unfinished=_LONGEST),
        "distances": Kind("distribution.run", "distribution.result:Distances", False, _NO_DISTANCES, _NO_COUNT)}),
    MetricRow(ARCS, "methods.directed.metric:ArcMetric", ("directed",), ARCS, False, {
        "exact": Kind("runs.arcs", "methods.result:DirectedResult", True),
        "approx": Kind("runs.arcs", "methods.result:DirectedApproximation", True),
        "ecc": Kind("runs.arcs", "methods.directed.apsp:DirectedEccentricities", True),
        "distances": _of_distances("directed", "DirectedDistances", True)}),
    MetricRow(WEIGHTS, "methods.weighted.metric:WeightMetric", ("weighted",), WEIGHTS, True, {
        "exact": Kind("runs.weights", "methods.result:WeightedResult", False, _NO_DIAMETER, help=_SUMS
                      + " (pivots and bounding; with --directed those along arcs)."),
        "approx": Kind("runs.weights", "methods.result:WeightedApproximation", False, _NO_DIAMETER, help=_SUMS
                       + " (clusters and sweep; with --directed those along arcs)."),
        "ecc": Kind("runs.weights", "methods.eccentricity.result:WeightedEccentricities", False, _NO_DIAMETER,
                    help=f"{_SUMS}."),
        "distances": _of_distances("weighted", "WeightedDistances", False, f"{_SUMS}; with --directed those along"
                                   " arcs.")}, "bool | str"),
    MetricRow(BOTH, "methods.directed.weighted:WeightedArcMetric", ("directed", "weighted"), BOTH, True, {
        "exact": Kind("runs.weighted_arcs", "methods.result:WeightedArcResult", True, _NO_DIAMETER),
        "approx": Kind("runs.weighted_arcs", "methods.result:WeightedArcApproximation", True, _NO_DIAMETER),
        "ecc": Kind("runs.weighted_arcs", "methods.directed.eccentricities:WeightedArcEccentricities", True,
                    _NO_DIAMETER),
        "distances": _of_distances("weighted", "WeightedArcDistances", True)}),
    MetricRow(STORED, "", (), "", False, {
        "sssp": Kind("runs.sssp", "paths.result:ShortestPaths", None, "there is no source", ""),
        "apsp": Kind("runs.apsp", "paths.pairs.matrix:AllPairs", None, _NO_DISTANCES,
                     "the time limit is over; nothing was kept")}),
)}
# All options that choose a metric, in the order of the commands' help.
CHOOSING = tuple(dict.fromkeys(option for row in METRICS.values() for option in row.chosen))


def metric_of(command: str, options: Mapping[str, Any]) -> MetricRow | None:
    """The metric of a command with these options: of the metrics that they choose, the one with most options. None if
    the command has no metric."""
    rows = [row for row in METRICS.values() if command in row.kinds and all(options.get(one) for one in row.chosen)]
    return max(rows, key=lambda row: len(row.chosen), default=None)


def loaded(place: str) -> Any:
    """The object MODULE:NAME of the package."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"...{module}", __name__), name)


def entry_of(method: str, family: str | None = None) -> MethodRow:
    """The method of this name, of `family` if it is set. Raises InputError for an unknown method."""
    found = METHODS.get(method)
    if found is None or family not in (None, found.family):
        names = tuple(name for name, entry in METHODS.items() if family in (None, entry.family))
        raise no_such("approximation" if family == "approx" else "method", method, names)
    return found


def option_names(method: str) -> list[str]:
    """Names of the options of a method. Raises InputError for an unknown method."""
    entry = entry_of(method)
    return [field.name for field in fields(entry.definition().options)
            if field.name not in ("earlier", "certified") and (field.name not in _OF_EXACT or entry.family == "exact")]


def method_options(method: str, named: Mapping[str, Any]) -> MethodOptions:
    """The options object of a method from options by name. Raises InputError for an unknown method or an option that it
    does not have."""
    known = option_names(method)
    for name in named:
        if name not in known:
            raise _no_option(method, name, known)
    return entry_of(method).definition().options(**named)


def _no_option(method: str, name: str, known: list[str]) -> InputError:
    """The error for an option that a method does not have, with the closest one if no command has it. known : the names
    of its own options."""
    from .options import COMMANDS, flag_of

    family = entry_of(method).family
    options = COMMANDS[family]
    of_another = any(name in names for names in COMMANDS.values())
    close = None if of_another else closest(name, (*options, *known))
    own = ", ".join(flag_of(family, one) for one in known if one in options and one not in _SHARED)
    return InputError(f"method {method} has no option", text=flag_of(family, name) if of_another else name, remedy=(
        "" if close is None else f"did you mean {flag_of(family, close)}? ") + (
            f"its own are: {own}" if own else "it has no options of its own"))
