"""`emdiam convert`: from edge lists to a store.

The text answer shows the content of the store, the dropped pairs, and the cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..units import format_count, format_size
from . import options
from .answer_lines import (
    counts_line,
    directions_text,
    dropped_text,
    ids_text,
    memory_lines,
    seconds_line,
    weights_lines,
)
from .checkpoint import answered_writing
from .outcome import EmdiamCommand

if TYPE_CHECKING:
    from ..formats.weights import WeightChoice


@click.command(cls=EmdiamCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.argument("store", type=options.NEW_STORE)
@options.of("convert")
def command(**values: Any) -> int:
    """Convert edge lists into a store on disk.

    INPUT is a file, a folder of parts, a glob or - for standard input; several make one graph. Known are text edge
    lists, CSV, Matrix Market, DIMACS, METIS, ECL, GAPBS, scipy .npz and Parquet, also compressed as .gz, .bz2, .xz or
    .zst, and BVGraph of WebGraph. Edges are taken as undirected, unless --directed says otherwise; loops and duplicates
    are dropped and counted.

    STORE appears only when it is complete.
    """
    from ..api import convert

    weights = _weight_choice(values["weights"], values["allow_negative"])
    return answered_writing(values, values["store"], lambda listener: convert(
        values["inputs"], values["store"], format=values["fmt"], progress=listener, weights=weights,
        **options.passed(values, "inputs", "store", "fmt", "weights", "allow_negative")), report_text)


def _weight_choice(column: str | None, negative: bool) -> WeightChoice | None:
    """The weights to keep. Raises InputError for incompatible options."""
    if column is None:
        if negative:
            raise InputError("--allow-negative is about weights", remedy="give --weights too")
        return None
    if column and Path(column).exists():
        raise InputError("--weights takes this file for the name of a column", text=column,
                         remedy="write --weights behind the files, or --weights=COLUMN")
    from ..formats.weights import WeightChoice

    return WeightChoice(column, negative)


_SKIPPED = {"comments": "comment", "empty": "empty line"}  # lines without an edge


def report_text(report: dict[str, Any], store: str, verbose: bool = False) -> str:
    """Lines for a report of `ConvertReport.to_dict()` or `GenerateReport.to_dict()`."""
    record = report["record"]
    directions = directions_text({**record, "directions": report["directions"]})
    diameter, generated = report.get("known_diameter"), record["source_format"].startswith("generated")
    pairs = ", ".join(f"{source} {target}" for source, target in report["first_pairs"])
    skipped = ", ".join(format_count(count, _SKIPPED[name]) for name, count in report["lines_skipped"].items() if count)
    return "\n".join([
        counts_line(store, record),
        *([] if diameter is None else [f"diameter by formula: {diameter:,}"]),
        f"input: {record['source_format']}, {format_count(report['pairs_read'], 'pair')}; {dropped_text(record)}",
        *([f"read as: {record['reading']}"] if record.get("reading") else []),
        *([f"skipped: {skipped}"] if skipped else []),
        *([] if generated or not pairs else [f"first pairs: {pairs}"]),
        *([f"directions: {directions}"] if directions and not generated else []),
        f"ids: {ids_text(record)}",
        *weights_lines(record),
        *([] if record["ordering"] == "natural" else [f"order: {record['ordering']}"]),
        *(f"note: {note}" for note in report["notes"]),
        *_cost_lines(report, verbose)])


def apply_text(report: dict[str, Any], store: str, verbose: bool = False) -> str:
    """Lines for a report of `ApplyReport.to_dict()`."""
    present = report["present"]
    known = f", {present:,} of those to add were there" if present else ""
    more = f"; {format_count(report['new_vertices'], 'new vertex', 'new vertices')}" if report["new_vertices"] else ""
    changes = f"changes: {format_count(report['added'], 'edge')} added, {report['removed']:,} removed{known}{more}"
    return _written_text(report, store, changes, verbose)


def reorder_text(report: dict[str, Any], store: str, verbose: bool = False) -> str:
    """Lines for a report of `ReorderReport.to_dict()`."""
    return _written_text(report, store, f"order: {report['record']['ordering']}", verbose)


def _written_text(report: dict[str, Any], store: str, line: str, verbose: bool) -> str:
    """Lines for a store made from another one. line : how it was made."""
    record = report["record"]
    return "\n".join([counts_line(store, record), line, f"ids: {ids_text(record)}",
                      *weights_lines(record), *(f"note: {note}" for note in report["notes"]),
                      *_cost_lines(report, verbose)])


def _cost_lines(report: dict[str, Any], verbose: bool) -> list[str]:
    """The cost: time by phase, memory and disk."""
    scratch = report["scratch_bytes"]
    more = f"; temporary files {format_size(scratch)}" if scratch else ""
    return [seconds_line(report), *memory_lines(report, verbose, more)]
