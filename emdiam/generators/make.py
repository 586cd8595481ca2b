"""The classes of generated graphs as data (names, parameters, formulas, papers), and their sources and stores.

This module imports neither numpy nor numba, so that the command line can build its help from `CLASSES` at once.
`make_source` makes a source of edges from a class and the user's values, `generate` a store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import BudgetError, InputError, no_such
from ..shown import Shown
from ..units import budget_bytes, format_size, parse_count, program_rss_bytes

if TYPE_CHECKING:
    from ..conversion.convert import ConvertOptions, ConvertReport
    from .source import GeneratedSource

@dataclass(frozen=True)
class Parameter:
    """One parameter of a class.

    name : a Python name; the command line writes it with hyphens (`edge_factor`, --edge-factor).
    kind : "count" (whole number, "2^20" and "1e6" too), "real", "sides" ("512x512"), "choice",
        "levels" ("sqrt", "linear" or a count) or "fans" ("10,100,5000").
    default : None: derived, see `help`.
    minimum, maximum : closed range of a count or real; None: unlimited.
    choices : the values of a "choice".
    """

    name: str
    kind: str
    default: int | float | str | None
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphClass:
    """One class of graphs.

    name : for the user. summary : one line for the help.
    vertices : meaning of, or condition for, the number of vertices.
    vertices_required : False if the parameters can determine the number of vertices.
    parameters : the other parameters, in order.
    diameter_formula : the diameter as a formula, or None if no formula is known.
    paper : source of the class.
    factory : "module:function" below emdiam.generators that builds the source.
    """

    name: str
    summary: str
    vertices: str
    parameters: tuple[Parameter, ...]
    diameter_formula: str | None
    paper: str
    factory: str
    vertices_required: bool = True


_SIDES = Parameter(
    "sides", "sides", None,
    "lengths of the sides, as 512x512 or 80x80x80; default: the square with --vertices vertices",
)
_QUADRANTS = (
    Parameter("a", "real", 0.57, "probability of the quadrant (low, low)", 0.0, 1.0),
    Parameter("b", "real", 0.19, "probability of the quadrant (low, high)", 0.0, 1.0),
    Parameter("c", "real", 0.19,
              "probability of the quadrant (high, low); 1 - a - b - c is (high, high)", 0.0, 1.0),
    Parameter("edge_factor", "count", 16, "pairs drawn per vertex, before loops and repeats are dropped", 1),
)
_LAYOUT = Parameter(
    "layout", "choice", "random",
    "ids as the class numbers its vertices (natural), or permuted at random (random)",
    choices=("random", "natural"),
)
_CLUSTERS_PAPER = "Ajwani, Beckmann, Meyer, Veith 2012, section 4"
_RMAT_PAPER = "Chakrabarti, Zhan, Faloutsos 2004 (R-MAT); Graph500 specification (parameters)"

_DETERMINISTIC = (
    GraphClass("path", "path: i is joined to i + 1", "any number from 1", (),
               "n - 1", "elementary", "elementary:path"),
    GraphClass("cycle", "cycle: i is joined to i + 1 modulo n", "any number from 3", (),
               "floor(n / 2)", "elementary", "elementary:cycle"),
    GraphClass("star", "star: vertex 0 is joined to all others", "any number from 1", (),
               "2 (n - 1 when n < 3)", "elementary", "elementary:star"),
    GraphClass("clique", "clique: every vertex is joined to every other", "any number from 1", (),
               "1 (0 when n = 1)", "elementary", "elementary:clique"),
    GraphClass("grid", "grid of two or more dimensions, ids row by row",
               "the product of the sides; alone, a square number", (_SIDES,),
               "sum of (side - 1)", "elementary", "lattice:grid", vertices_required=False),
    GraphClass("torus", "grid that wraps around in every dimension, ids row by row",
               "the product of the sides; alone, a square number", (_SIDES,),
               "sum of floor(side / 2)", "elementary", "lattice:grid", vertices_required=False),
    GraphClass("hypercube", "hypercube: ids that differ in one bit are joined", "a power of two",
               (Parameter("dimension", "count", None, "dimension; default: log2 of --vertices", 0, 62),),
               "dimension", "elementary", "lattice:hypercube", vertices_required=False),
)
_RANDOM = (
    GraphClass("regular", "random regular graph, simple and exactly regular",
               "at least 2 x degree; vertices x degree must be even",
               (Parameter("degree", "count", 3, "edges at every vertex", 1, 128),),
               "floor(n / 2) when degree = 2 (one cycle); none otherwise",
               "Robinson, Wormald 1994 (union of random Hamilton cycles and a matching)", "regular:regular"),
    GraphClass("rmat", "R-MAT: recursive quadrants, natural ids (hubs have low ids)", "a power of two",
               _QUADRANTS, None, _RMAT_PAPER, "rmat:rmat"),
    GraphClass("kronecker", "Graph500 Kronecker graph: R-MAT with permuted ids", "a power of two",
               _QUADRANTS, None, _RMAT_PAPER, "rmat:rmat"),
    GraphClass("watts-strogatz", "ring lattice with edges rewired at random (small world)", "more than k",
               (Parameter("k", "count", 6, "neighbours in the ring, an even number", 2),
                Parameter("p", "real", 0.01, "probability that an edge is rewired", 0.0, 1.0)),
               "ceil(floor(n / 2) / (k / 2)) when p = 0; none otherwise",
               "Watts, Strogatz 1998", "random_graphs:watts_strogatz"),
    GraphClass("barabasi-albert", "preferential attachment (scale-free)", "more than m",
               (Parameter("m", "count", 3, "edges that every new vertex brings", 1),),
               None, "Barabasi, Albert 1999; Sanders, Schulz 2016 (retracing)",
               "random_graphs:barabasi_albert"),
    GraphClass("web", "a web in the order of its sites: power laws, hubs with runs of neighbours, a giant component"
               " with tendrils",
               "any number from 64",
               (Parameter("arcs", "count", None, "expected number of arcs, two an edge; default: 17 x vertices", 0),
                Parameter("dangling", "real", 0.1, "share of the pages with one neighbour", 0.0, 0.9),
                Parameter("tendrils", "real", 0.02, "share of the vertices on paths", 0.0, 0.5)),
               None, "here; fitted to cnr-2000 of the Laboratory for Web Algorithmics", "web:web"),
    GraphClass("erdos-renyi", "G(n, m): m distinct edges, every pair equally likely", "any number from 1",
               (Parameter("edges", "count", None, "m; default: average-degree x vertices / 2", 0),
                Parameter("average_degree", "real", None, "2 m / n; default 8 unless edges is given", 0.0)),
               None, "Erdos, Renyi 1959", "random_graphs:erdos_renyi"),
    GraphClass("geometric", "random points in the unit square, joined within a radius; ids are local",
               "any number from 1",
               (Parameter("radius", "real", None, "edges join points at most this far apart", 0.0, 1.5),
                Parameter("average_degree", "real", None,
                          "sets radius = sqrt(average-degree / (pi n)); default 8 unless radius is given; "
                          "points near the border get fewer", 0.0)),
               None, "Gilbert 1961; Penrose 2003", "geometric:geometric"),
    GraphClass("percolated", "grid that keeps every edge (bond) or every vertex (site) with probability p",
               "the product of the sides; alone, a square number",
               (_SIDES,
                Parameter("p", "real", 0.65, "probability of being kept", 0.0, 1.0),
                Parameter("kind", "choice", "bond",
                          "bond: edges are removed; site: vertices are removed (a removed vertex stays, "
                          "without edges)", choices=("bond", "site"))),
               "sum of (side - 1) when p = 1; none otherwise",
               "Broadbent, Hammersley 1957", "lattice:percolated", vertices_required=False),
    GraphClass("delaunay", "Delaunay triangulation of random points; ids run along a Hilbert curve (needs scipy: "
               "pip install 'emdiam[delaunay]')",
               "any number from 3", (), None, "Delaunay 1934; Barber, Dobkin, Huhdanpaa 1996 (Qhull)",
               "delaunay:delaunay"),
)

_LEVELLED = (
    GraphClass("levels", "random edges between consecutive levels of a BFS", "any number from 1",
               (Parameter("levels", "levels", "sqrt",
                          "number of levels: a count, sqrt (of --vertices) or linear (--vertices / 4)", 1),
                Parameter("edges", "count", None,
                          "number of edges; default: 4.1996 per vertex for sqrt levels, 3.3673 for linear, "
                          "in between by the number of levels, and at most all pairs of consecutive levels", 0),
                _LAYOUT),
               None, _CLUSTERS_PAPER, "levels:levels"),
    GraphClass("worst-case", "lists with fans on a list: the worst case of clusters",
               "a multiple of k1 + k2, or more, which lists fill",
               (Parameter("fans", "fans", None,
                          "three numbers k1,k2,k3: k3 lists of k1 vertices, each with k2 leaves; without k3 "
                          "lists fill --vertices; default: 10,100"),
                _LAYOUT),
               "k3 - 1 + 2 k1; for k3 = 1: max(k1, 2), or k1 when k2 = 1",
               _CLUSTERS_PAPER, "worst_case:worst_case", vertices_required=False),
)

CLASSES: Mapping[str, GraphClass] = MappingProxyType(
    {c.name: c for c in (*_DETERMINISTIC, *_RANDOM, *_LEVELLED)})


Value = int | float | str


@dataclass(frozen=True, repr=False)
class GenerateReport(Shown):
    """The result of `generate`.

    Attributes
    ----------
    report : ConvertReport
        The report of the conversion.
    known_diameter : int, optional
        In edges; None for a class without a formula.
    description : str
        Class, parameters and counts.
    """

    shown = ("description", "known_diameter", "report.record.n_vertices", "report.record.n_edges", "report.seconds")

    report: ConvertReport
    known_diameter: int | None
    description: str

    def to_dict(self) -> dict[str, Any]:
        """The conversion's report as a plain dict, with known_diameter and description."""
        return {**self.report.to_dict(), "known_diameter": self.known_diameter, "description": self.description}


def make_source(name: str, *, vertices: int | None = None, seed: int = 0, weights: str | None = None,
                parameters: Mapping[str, Value] | None = None) -> GeneratedSource:
    """A seeded stream of the edges of one generated graph.

    Parameters
    ----------
    name : a key of `CLASSES`, e.g. "rmat".
    vertices : number of vertices; None if the parameters determine it (sides, dimension).
    seed : 0 <= seed < 2^64; equal class, parameters and seed give equal edges.
    weights : of the edges, "uniform:LOW,HIGH" (see weights.UniformWeights); None: none.
    parameters : other parameters by name (hyphens or underscores); texts are parsed ("2^20", "512x512"). Missing ones
        take the defaults of `CLASSES`.

    Returns a GeneratedSource (an EdgeSource with n_vertices, known_diameter, memory_bytes and
    description). Raises InputError for an unknown class or parameter and for impossible values.
    """
    from .source import Request

    graph_class = CLASSES.get(name)
    if graph_class is None:
        raise no_such("graph class", name, CLASSES)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("a seed is a whole number from 0 to 2^64 - 1", text=str(seed))
    if vertices is not None and (isinstance(vertices, bool) or not isinstance(vertices, int) or vertices < 1):
        raise InputError("the number of vertices must be a positive whole number", text=str(vertices))
    if vertices is None and graph_class.vertices_required:
        raise InputError(f"a {name} graph needs its number of vertices",
                         remedy=f"give vertices: {graph_class.vertices}")
    values = _parse_values(graph_class, parameters or {})
    module, function = graph_class.factory.split(":")
    factory = getattr(import_module("." + module, __package__), function)
    request = Request(name, vertices, seed, values)
    source: GeneratedSource = factory(request)
    if weights is not None:
        from .source import parse_weights

        source.weigh(parse_weights(weights, request.key("weights")))
    return source


def generate(name: str, target: str | Path, *, vertices: int | None = None, seed: int = 0, weights: str | None = None,
             parameters: Mapping[str, Value] | None = None, options: ConvertOptions | None = None) -> GenerateReport:
    """Write a generated graph directly to a store at `target`, within `options.memory_bytes`.

    The parameters except target and options are those of `make_source`; options : of the conversion. Raises InputError
    like `make_source` and the conversion, and BudgetError if the generator alone needs more memory than the budget.
    """
    source = make_source(name, vertices=vertices, seed=seed, weights=weights, parameters=parameters)
    from ..conversion.convert import ConvertOptions, check_outputs, write_graph

    options = ConvertOptions() if options is None else options
    check_outputs(Path(target), options)
    budget = budget_bytes(options.memory_bytes)
    needed = source.memory_bytes + program_rss_bytes()
    if needed > budget:
        raise BudgetError(f"generating {source.name} takes {format_size(needed)}, more than the memory "
                          f"budget of {format_size(budget)}",
                          remedy=f"give --memory {-(-needed // 2**20)}MiB or more, or ask for fewer vertices")
    source.prepare()  # before the conversion's plan, so that the generator's memory counts as its base
    report = write_graph(source, Path(target), options=options)
    return GenerateReport(report, source.known_diameter, source.description)


def _parse_values(graph_class: GraphClass, chosen: Mapping[str, Value]) -> dict[str, Any]:
    """The value of every parameter of the class, checked against its kind and range, or its default."""
    known = {p.name: p for p in graph_class.parameters}
    values: dict[str, Any] = {p.name: p.default for p in graph_class.parameters}
    for key, value in chosen.items():
        name = key.replace("-", "_")
        if name not in known:
            raise no_such(f"parameter of {graph_class.name}", key, known)
        values[name] = _PARSERS[known[name].kind](known[name], value)
    return values


def _parse_choice(parameter: Parameter, value: Value) -> Value:
    if value not in parameter.choices:
        raise InputError(f"{parameter.name} is one of {', '.join(parameter.choices)}", text=str(value))
    return value


def _parse_number(parameter: Parameter, value: Value) -> int | float:
    number: int | float
    try:
        if isinstance(value, bool):
            raise ValueError
        if parameter.kind == "real":
            number = float(value)
            if not math.isfinite(number):
                raise ValueError
        else:
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            number = parse_count(int(value) if whole else str(value))
    except (ValueError, InputError):
        what = "a number" if parameter.kind == "real" else "a whole number"
        raise InputError(f"{parameter.name} must be {what}", text=str(value)) from None
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        bounds = f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"
        raise InputError(f"{parameter.name} must be {bounds}", text=str(value))
    return number


def _parse_sides(_: Parameter, value: Value) -> tuple[int, ...]:
    text = str(value).strip().lower()
    if not re.fullmatch(r"\d{1,19}(x\d{1,19})*", text):
        raise InputError("not the sides of a grid", text=text, remedy="write them like 512x512 or 80x80x80")
    sides = tuple(int(side) for side in text.split("x"))
    if min(sides) < 1:
        raise InputError("every side must be at least 1", text=text)
    return sides


def _parse_levels(parameter: Parameter, value: Value) -> str | int:
    """The word "sqrt" or "linear", or a count within the parameter's range."""
    if value in ("sqrt", "linear"):
        return str(value)
    if isinstance(value, str) and not value.strip().lstrip("+-")[:1].isdigit():
        raise InputError(f"{parameter.name} is sqrt, linear or a whole number", text=value,
                         remedy="write it like sqrt, linear or 2^11")
    return int(_parse_number(parameter, value))


def _parse_fans(_: Parameter, value: Value) -> tuple[int, ...]:
    """k1, k2 and optionally k3, each at least 1."""
    try:
        fans = tuple(parse_count(number.strip()) for number in str(value).split(","))
    except InputError:
        fans = ()
    if len(fans) not in (2, 3):
        raise InputError("fans are two or three whole numbers", text=str(value),
                         remedy="write k1,k2,k3 like 10,100,5000, or k1,k2")
    if min(fans) < 1:
        raise InputError("each of the fans' numbers must be at least 1", text=str(value))
    return fans


_PARSERS: Mapping[str, Callable[[Parameter, Value], Any]] = MappingProxyType({
    "count": _parse_number, "real": _parse_number, "choice": _parse_choice, "sides": _parse_sides,
    "levels": _parse_levels, "fans": _parse_fans})
