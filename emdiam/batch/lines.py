"""On which line of a jobs file something stands; the parser of the standard library does not tell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


@dataclass
class TableLines:
    """A table: the 1-based line of its header (0: it has none), and of each key. A key of the table
    `options` of a job is called "options.KEY"."""

    header: int = 0
    keys: dict[str, int] = field(default_factory=dict)

    def of(self, *keys: str) -> int | None:
        """Line of the first of the keys that is there, or of the table that it is in; else of the header; None
        if nothing is known."""
        for key in keys:
            parts = key.split(".")
            for length in range(len(parts), 0, -1):
                line = self.keys.get(".".join(parts[:length]))
                if line is not None and (length == len(parts) or key == keys[-1]):
                    return line
        return self.header or None


@dataclass
class FileLines:
    """Lines of [batch] (with its subtables as "defaults.KEY") and of each [[job]], in order."""

    batch: TableLines = field(default_factory=TableLines)
    jobs: list[TableLines] = field(default_factory=list)

    def of_jobs(self, n_jobs: int) -> list[TableLines]:
        """Lines of n_jobs jobs; empty ones for a file that writes its jobs in another way than [[job]]."""
        return self.jobs if len(self.jobs) == n_jobs else [TableLines() for _ in range(n_jobs)]


def find_lines(text: str) -> FileLines:
    """Lines of the tables and keys of a jobs file, given as the valid TOML `text`."""
    found = FileLines()
    table, prefix, quotes = TableLines(), "", None
    for number, line in enumerate(text.splitlines(), start=1):
        inside, quotes = quotes is not None, _open_quotes(line, quotes)
        if inside:
            continue
        header, key = _HEADER.match(line), _KEY.match(line)
        if header and key is None:
            table, prefix = _table(found, header.group(1), _plain(header.group(2)), number)
        elif key:
            table.keys.setdefault(prefix + _plain(key.group(1)), number)
    return found


def _table(found: FileLines, bracket: str, name: str, number: int) -> tuple[TableLines, str]:
    """The table that a header begins, and what its keys are prefixed with."""
    if bracket == "[[" and name == "job":
        found.jobs.append(TableLines(header=number))
        return found.jobs[-1], ""
    if name == "batch":
        found.batch.header = number
        return found.batch, ""
    if name.startswith("batch."):
        return found.batch, name.removeprefix("batch.") + "."
    if name.startswith("job.") and found.jobs:
        return found.jobs[-1], name.removeprefix("job.") + "."
    return TableLines(), ""


def _plain(key: str) -> str:
    """A dotted key without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def _open_quotes(line: str, quotes: str | None) -> str | None:
    # Of texts over several lines, only that their lines are no keys matters.
    for mark in ('\"\"\"', "'''"):
        if quotes in (None, mark) and line.count(mark) % 2:
            return None if quotes == mark else mark
    return quotes
