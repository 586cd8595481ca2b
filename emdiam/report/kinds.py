"""Which command printed a result, and whether it has answered what was asked: by the fields of the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .records import ANSWERED, FAILED, STOPPED

# Commands by fields that no result of a command behind them has together.
_FIELDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("tradeoff", frozenset({"rows"})), ("verify", frozenset({"verified"})),
    ("generate", frozenset({"record", "description"})), ("convert", frozenset({"record", "pairs_read"})),
    ("reorder", frozenset({"record"})), ("ecc", frozenset({"lower", "radius"})),
    ("approx", frozenset({"lower", "estimate"})), ("distances", frozenset({"pairs", "samples", "complete"})),
    ("sssp", frozenset({"reached", "farthest"})), ("apsp", frozenset({"tile_edge"})),
    ("exact", frozenset({"lower", "traversals"})),
)
COMMANDS = tuple(name for name, _ in reversed(_FIELDS))
# Of which the answer is a diameter, or bounds on it.
BOUNDED = ("exact", "approx", "ecc")


def kind_of(result: Mapping[str, Any]) -> str:
    """The command that printed a result; "" for what none of them prints."""
    return next((name for name, fields in _FIELDS if fields <= result.keys()), "")


def outcome(kind: str, result: Mapping[str, Any]) -> tuple[str, str | None]:
    """How a command has ended by its result, and a sentence on what has no answer."""
    if kind == "tradeoff":
        rows = result["rows"]
        ended = len(rows) == result.get("n_cells", len(rows)) and all(row.get("status") == "ended" for row in rows)
        return (ANSWERED, None) if ended else (STOPPED, "some cells failed, were stopped or have not been run")
    if kind == "verify" and result["verified"] is not True:
        return FAILED, f"not proved: {result.get('reason')}"
    if kind == "distances" and result["complete"] is False:
        return STOPPED, "stopped before all sources were counted"
    if kind not in BOUNDED:
        return ANSWERED, None
    details = result.get("details")
    answered = (result.get("exact") is True or result.get("estimate") is not None
                or (isinstance(details, dict) and details.get("enough") is not None))
    what = "all that was asked for" if kind == "ecc" else "the diameter"
    return (ANSWERED, None) if answered else (STOPPED, f"stopped before {what} was proved")
