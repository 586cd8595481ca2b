"""What a command prints with --json that was stopped before it had an answer: the names of its answer, with what is
known of the graph and the bounds that hold for any graph of so many vertices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from .._version import __version__

# Commands that answer with bounds or with what was counted so far: stopped, they leave with exit code 3. And the class
# of their answers, by the option that chooses another one; "" without.
ANSWERING: dict[str, dict[str, str]] = {
    "exact": {"": "methods.result:Result", "weighted": "methods.weighted.result:WeightedResult",
              "directed": "methods.directed.result:DirectedResult"},
    "approx": {"": "methods.approx.result:Approximation",
               "weighted": "methods.weighted.approximation:WeightedApproximation"},
    "ecc": {"": "methods.eccentricity.result:EccentricityResult",
            "weighted": "methods.weighted.eccentricity_result:WeightedEccentricities",
            "directed": "methods.directed.apsp:DirectedEccentricities"},
    "distances": {"": "distribution.result:Distances", "directed": "distribution.directed:DirectedDistances"},
    "sssp": {"": "sssp.result:ShortestPaths"},
    "apsp": {"": "apsp.result:AllPairs"},
    "verify": {"": "verification.report:VerifyReport"},
    "tradeoff": {}, "batch": {},
}
_RECORD_FILE = "zarr.json"
# What an answer repeats of what was asked.
_ASKED = ("method", "source", "target", "seed", "quantile")
# Seconds of an answer, beside their total.
_PARTS = ("compile", "load", "solve", "verify")


def stored_record(store: str) -> Mapping[str, Any]:
    """The record of a store, without opening it; empty for what is no store on a disk."""
    try:
        record = json.loads((Path(store) / _RECORD_FILE).read_text(encoding="utf-8"))["attributes"]["emdiam"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return record if isinstance(record, dict) else {}


def unanswered(command: str, given: Mapping[str, Any], sentence: str, seconds: float) -> dict[str, Any]:
    """The object to print.

    Parameters
    ----------
    command : its name.
    given : what it was given, by the names of its options.
    sentence : why it was stopped.
    seconds : that it ran.

    Returns
    -------
    dict : the names of the command's answer. Those that are not known are null, empty or 0; lower and upper hold for
        any graph of so many vertices, upper is null along weights. stopped : the sentence.
    """
    kinds = ANSWERING.get(command, {})
    told: dict[str, Any] = {"complete": False, "seconds": {"total": seconds}, "version": __version__}
    if kinds:
        chosen = next((name for name in kinds if name and given.get(name)), "")
        module, _, name = kinds[chosen].partition(":")
        told = _of_kind(getattr(import_module(f"..{module}", __package__), name), given, seconds)
    return {**told, "stopped": sentence}


def _of_kind(kind: type[Any], given: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """An answer of this class with nothing found."""
    from ..methods.result import Result, Traversals
    from ..units import peak_rss_bytes

    store = str(given["store"])
    record = stored_record(store)
    n = record.get("n_vertices")
    known: dict[str, Any] = {name: given[name] for name in _ASKED if given.get(name) is not None} | {
        "n_vertices": n, "n_edges": record.get("n_edges"), "n_arcs": record.get("n_arcs"), "unresolved": n,
        "exact": False, "complete": False, "verified": False, "version": __version__,
        "memory_limit_bytes": given.get("memory"), "peak_rss_bytes": peak_rss_bytes(),
        "store_digest": record.get("chunk_digest", ""), "store_path": store,
        "store_name": Path(store).name.removesuffix(".zarr"),
        "seconds": {**dict.fromkeys(_PARTS, 0.0), "startup": seconds, "total": seconds}}
    if issubclass(kind, Result):
        known |= {"lower": 0, "upper": None if n is None or given.get("weighted") else max(0, n - 1),
                  "traversals": Traversals()}
    named = [one for one in fields(kind) if one.init]
    empty: dict[str, Any] = {one.name: {} if str(one.type).startswith("dict") else None
             for one in named if one.default is MISSING and one.default_factory is MISSING}
    whole: dict[str, Any] = kind(**empty | {one.name: known[one.name] for one in named if one.name in known}).to_dict()
    return whole
