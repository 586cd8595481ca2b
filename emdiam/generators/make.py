"""From a class name and the user's values to a source, and on to a store."""

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
from ..units import budget_bytes, current_rss_bytes, format_size, parse_count
from .registry import CLASSES, GraphClass, Parameter

if TYPE_CHECKING:
    from ..conversion.convert import ConvertOptions, ConvertReport
    from .source import GeneratedSource

Value = int | float | str


@dataclass(frozen=True, repr=False)
class GenerateReport(Shown):
    """What `generate` did.

    report : the conversion's report. known_diameter : in edges, None where there is no formula.
    description : class, parameters and counts, one sentence.
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
    vertices : number of vertices; None where the parameters give it (sides, dimension).
    seed : 0 <= seed < 2^64; equal class, parameters and seed give equal edges.
    weights : of the edges, "uniform:LOW,HIGH" (see weights.UniformWeights); None: none.
    parameters : further parameters by name (hyphens or underscores); texts are parsed
        ("2^20", "512x512"). Those left out take the defaults of `CLASSES`.

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
        from .weights import parse_weights

        source.weigh(parse_weights(weights, request.key("weights")))
    return source


def generate(name: str, target: str | Path, *, vertices: int | None = None, seed: int = 0, weights: str | None = None,
             parameters: Mapping[str, Value] | None = None, options: ConvertOptions | None = None) -> GenerateReport:
    """Generate a graph straight into a store at `target`, within `options.memory_bytes`.

    The first six parameters are those of `make_source`, and target; options : as for a conversion.
    Raises InputError as `make_source` and the conversion do, and BudgetError when the generator
    alone needs more memory than the budget.
    """
    source = make_source(name, vertices=vertices, seed=seed, weights=weights, parameters=parameters)
    from ..conversion.convert import ConvertOptions, check_outputs, write_graph

    options = ConvertOptions() if options is None else options
    check_outputs(Path(target), options)
    budget = budget_bytes(options.memory_bytes)
    needed = source.memory_bytes + current_rss_bytes()
    if needed > budget:
        raise BudgetError(f"generating {source.name} takes {format_size(needed)}, more than the memory "
                          f"budget of {format_size(budget)}",
                          remedy=f"give --memory {-(-needed // 2**20)}MiB or more, or ask for fewer vertices")
    source.prepare()  # before the conversion plans: what stays in RAM then counts as its base
    report = write_graph(source, Path(target), options=options)
    return GenerateReport(report, source.known_diameter, source.description)


def _parse_values(graph_class: GraphClass, given: Mapping[str, Value]) -> dict[str, Any]:
    """Every parameter of the class, checked against its kind and range, or by default."""
    known = {p.name: p for p in graph_class.parameters}
    values: dict[str, Any] = {p.name: p.default for p in graph_class.parameters}
    for key, value in given.items():
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
    """k1, k2 and perhaps k3, each at least 1."""
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
