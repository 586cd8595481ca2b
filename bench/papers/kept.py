"""Cells of a run as lines of JSON, written as they come, from which a run that was killed goes on.

A file has a line {"run": ...} that says what the cells belong to, {"session": ...} for each start with its machine, and
{"cell": KEY, "found": ..., "seconds": ..., "foreign_cores": ..., "at": ...}. A last line that was cut short is dropped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from emdiam.errors import InputError

from ..foreign import ForeignWatch
from ..machine import facts

FILE = "cells.jsonl"
FAILURE, AGAIN = "failure", "again"


class Kept:
    """The cells of a run in a folder.

    folder : made if absent; None: nothing is kept on disk. run : what all cells belong to, the same at every start.
    tell : called with a line for every cell that is measured. measure : whether cells that are not there are measured,
    or {"failure": "not measured yet"}, and named in `missing`. Raises InputError for a folder of another run.
    """

    def __init__(self, folder: Path | None, run: dict[str, Any], tell: Callable[[str], None] = lambda _: None,
                 measure: bool = True) -> None:
        self._file = None if folder is None else folder / FILE
        self._cells: dict[str, dict[str, Any]] = {}
        self.sessions: list[dict[str, Any]] = []
        self.missing: list[str] = []
        self._tell, self._measure = tell, measure
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._read(self._file, run)
        if not measure:
            return
        self._append({"run": run})
        self.sessions.append({"machine": facts(), "at": _now()})
        self._append({"session": self.sessions[-1]})

    def _read(self, file: Path, run: dict[str, Any]) -> None:
        if not file.exists():
            return
        whole, lines = 0, file.read_bytes().split(b"\n")[:-1]
        for number, text in enumerate(lines, 1):
            try:
                line = json.loads(text)
            except ValueError:
                raise InputError("a line is no JSON", path=file, line=number,
                                 remedy="give another folder with --resume") from None
            whole += len(text) + 1
            if line.get("run", run) != run:
                raise InputError("the cells belong to another run", path=file, text=json.dumps(line["run"]),
                                 remedy="give another folder with --resume")
            if "session" in line:
                self.sessions.append(line["session"])
            if "cell" in line:
                self._cells[_name(line["cell"])] = line
        os.truncate(file, whole)

    def _append(self, line: dict[str, Any]) -> None:
        if self._file is None:
            return
        with open(self._file, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
            out.flush()
            os.fsync(out.fileno())

    def cell(self, measure: Callable[[], dict[str, Any]], **key: Any) -> dict[str, Any]:
        """What `measure` finds, or has found in an earlier start. An InputError or OSError of the cell makes it
        {"failure": sentence, "again": True}: cells with `again` are measured again at the next start."""
        known = self._cells.get(_name(key))
        if known is not None and AGAIN not in known["found"]:
            return dict(known["found"])
        if not self._measure:
            if known is None:
                self.missing.append(_words(key))
            return {FAILURE: "not measured yet"} if known is None else dict(known["found"])
        watch, begin = ForeignWatch(), time.perf_counter()
        try:
            found = measure()
        except (InputError, OSError) as error:
            found = {FAILURE: str(error), AGAIN: True}
        line = {"cell": key, "found": found, "seconds": round(time.perf_counter() - begin, 3),
                "foreign_cores": round(watch.cores, 3), "at": _now()}
        self._cells[_name(key)] = line
        self._append(line)
        self._tell(f"{_words(key)}: {line['seconds']:.1f} s")
        return found

    def lines(self) -> Iterator[dict[str, Any]]:
        """All cells with what was kept of them."""
        yield from self._cells.values()


def _words(key: dict[str, Any]) -> str:
    return " ".join(str(value) for value in key.values())


def _name(key: dict[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
