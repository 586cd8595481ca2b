"""The report: Markdown made of the kept JSON alone, a section a part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import report_larger as larger
from . import report_parts as parts
from .report_cells import Row, Table, note, table_text

# Part -> its title and the tables of its rows.
SECTIONS: Mapping[str, tuple[str, Callable[[Sequence[Row]], Iterable[Table]]]] = {
    "smoke": ("First: a kernel, a BFS, a diameter", parts.smoke),
    "compile": ("Compiling", parts.compiling),
    "facts": ("The device", parts.facts),
    "verify": ("Results against plain numpy", parts.verify),
    "tests": ("Tests on the device", parts.tools),
    "variants": ("Variants of BFS", parts.variants),
    "floor": ("auto against the memory floor", parts.floor),
    "persistent": ("Many levels", parts.variants),
    "dal": ("Threads against warps (papers/001, Figures 9 and 10)", parts.dal),
    "regimes": ("Load balancing (papers/004, Figures 12 to 15)", parts.regimes),
    "paged": ("BFS on graphs larger than the device", larger.paged),
    "exact": ("Exact methods against the CPU", larger.exact),
    "dal-exact": ("Bounding (papers/001, Tables II and III, Figure 7)", larger.dal_exact),
    "weighted": ("Shortest paths along weights", larger.weighted),
    "sanitize": ("compute-sanitizer", parts.tools),
}
MOST_NOTES = 40


def n_wrong(kept: Mapping[str, Any]) -> int:
    """Results that are wrong, cells that failed, tools that found errors or could not tell, and parts that came
    to no end."""
    found = 0
    for part in kept["parts"].values():
        found += bool(part["failure"])
        found += sum(int(row.get("wrong") or 0) + ("failure" in row) for row in part["rows"])
        found += sum(row["errors"] != 0 for row in part["rows"] if "errors" in row)
    return found


def bad_rows(rows: Sequence[Row]) -> list[Row]:
    """Those that failed, or have a wrong result."""
    return [row for row in rows if "failure" in row or row.get("wrong")]


def markdown(kept: Mapping[str, Any]) -> str:
    """The report of what `run_all` has kept, or read from its JSON."""
    lines = [f"# GPU: {_device(kept)}", "", f"Started {kept.get('started', '')}, scale {kept.get('scale', '')}. "
             f"Wrong results, failures and findings: {n_wrong(kept)}.", ""]
    for name, (title, tables) in SECTIONS.items():
        if name in kept["parts"]:
            lines += _section(title, kept["parts"][name], tables)
    return "\n".join(lines).rstrip() + "\n"


def _device(kept: Mapping[str, Any]) -> str:
    """The device's own name, if the part facts has it."""
    rows = kept["parts"].get("facts", {"rows": []})["rows"]
    known = [row["value"]["name"] for row in rows if row.get("what") == "device" and "value" in row]
    return str(known[0] if known else kept.get("device", ""))


def _section(title: str, part: Mapping[str, Any], tables: Callable[[Sequence[Row]], Iterable[Table]]) -> list[str]:
    """One part: its tables, then what went wrong."""
    lines = [f"## {title}", "", f"{part['seconds']:.0f} s.", ""]
    for table in tables(part["rows"]):
        lines += table_text(table)
    bad = bad_rows(part["rows"])
    if bad:
        lines += ["Wrong or failed:", "", *(f"- {_name(row)}: {note(row)}" for row in bad[:MOST_NOTES])]
        lines += [f"- and {len(bad) - MOST_NOTES} more"] if len(bad) > MOST_NOTES else []
        lines.append("")
    if part["failure"]:
        lines += ["The part came to no end by itself:", "", "```text", part["failure"].strip(), "```", ""]
    return lines


def _name(row: Row) -> str:
    """What a row is about."""
    keys = ("class", "ids", "subject", "variant", "mapping", "what", "tool", "figure", "length", "active", "rows",
            "arcs", "table", "from", "way", "method", "drawing", "cells",
            "tile", "lazy")
    return " ".join(str(row[key]) for key in keys if row.get(key) not in (None, ""))
