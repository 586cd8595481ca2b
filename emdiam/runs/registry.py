"""The methods by name, and all that the command line, plans, batches and documents have of them.

A new method is a file in methods/exact or methods/approx that ends with METHOD (methods/definition.py), and a line
here. Its module is imported when the method is used: importing this brings neither numba nor numpy.
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

# Options that are not a method's own, in what is said of one that it has not.
_SHARED = ("path_file", "components", "limits", "scratch", "known_diameter")
# Those that approximations have not: a lower bound has no path to write.
_OF_EXACT = ("path_file", "components")


class MethodRow(NamedTuple):
    """A method. name : as commands take it. family : "exact", "approx" or "ecc". summary : half a sentence."""

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
# For a table over all of them.
ALL = "all"
EXACT = tuple(name for name, entry in METHODS.items() if entry.family == "exact")
APPROXIMATIONS = tuple(name for name, entry in METHODS.items() if entry.family == "approx")


def entry_of(method: str, family: str | None = None) -> MethodRow:
    """The method of this name, in `family` if that is given. Raises InputError for one that there is not."""
    found = METHODS.get(method)
    if found is None or family not in (None, found.family):
        names = tuple(name for name, entry in METHODS.items() if family in (None, entry.family))
        raise no_such("approximation" if family == "approx" else "method", method, names)
    return found


def option_names(method: str) -> list[str]:
    """Names of the options of a method. Raises InputError for a method that there is not."""
    entry = entry_of(method)
    return [field.name for field in fields(entry.definition().options)
            if field.name not in _OF_EXACT or entry.family == "exact"]


def method_options(method: str, given: Mapping[str, Any]) -> MethodOptions:
    """The options of a method from those that were given by name. Raises InputError for an unknown method or an
    option that it has not."""
    known = option_names(method)
    for name in given:
        if name not in known:
            own = ", ".join(one for one in known if one not in _SHARED)
            raise InputError(f"method {method} has no option", text=name, remedy=_meant(method, name) + (
                f"its own are: {own}" if own else "it has none of its own"))
    return entry_of(method).definition().options(**given)


def _meant(method: str, name: str) -> str:
    """The question whether the closest option of the command was meant, for a name that none of its methods has."""
    from .options import COMMANDS

    options = COMMANDS[entry_of(method).family]
    close = None if name in options else closest(name, (*options, *option_names(method)))
    return "" if close is None else f"did you mean {close!r}? "
