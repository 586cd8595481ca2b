"""Runs a grid of approximations on one store, cell after cell, and stores the results.

All files are in one folder: cells/NAME.json at the end of each cell, then tradeoff.csv, tradeoff.json, table.md and the
plots. A stopped run continues without repeating finished cells. Sources: Ajwani, Beckmann, Meyer, Veith (2012), section
4, Tables 1 to 4.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..checkpoint.folder import check_owner
from ..checkpoint.options import CheckpointOptions
from ..dask.setting import chosen_cluster
from ..durable import check_folder, locked, write_whole
from ..errors import InputError, NotWritten, StoppedEarly
from ..progress import Event, Listener, silent
from ..runs.options import parsed
from ..runs.registry import APPROXIMATIONS
from ..runs.task import Task
from ..runs.tradeoff import COLUMNS, ENDED, FRONTS, Tradeoff
from ..store.store import check_weighted, open_store
from ..tables import csv_text
from ..units import available_cores
from .cells import (
    CLUSTERS,
    FOLDER,
    Cell,
    CellRecord,
    cell_task,
    identity_of,
    make_grid,
    parse_grid,
    read_records,
    run_cell,
    write_record,
)
from .tradeoff_table import bounds, differ, fill, markdown_text

MASTERS = "2^8..2^24:4"
_PLOTS = {"seconds_search": "quality-seconds", "bytes_read": "quality-bytes"}


@dataclass(frozen=True)
class TradeoffOptions:
    """methods : approximations, in run order. masters : of clusters, a text for cells.parse_grid. seeds : each cell
    runs with each seed. exact : start with an exact run, which proves the diameter. known_diameter : largest over all
    components, for ratios. retry : run failed and stopped cells again. plots : draw them, if matplotlib is installed.
    cells : common options of all runs. checkpoint_every : seconds between checkpoints inside a traversal of the current
    cell, from which a stopped cell resumes; None: a stopped cell starts again."""

    methods: tuple[str, ...] = APPROXIMATIONS
    masters: str = MASTERS
    seeds: tuple[int, ...] = (0,)
    exact: bool = False
    known_diameter: int | None = None
    retry: bool = False
    plots: bool = True
    cells: Task = field(default_factory=cell_task)
    checkpoint_every: float | None = None

    def for_cells(self, folder: Path) -> Task:
        """The common options of all runs, with checkpoints below `folder`."""
        if self.checkpoint_every is None:
            return self.cells
        return replace(self.cells, checkpoint=CheckpointOptions(folder / "checkpoints", self.checkpoint_every))


# Options of some of the methods.
_OF_METHODS = {**dict.fromkeys(("masters", "euler", "levels"), (CLUSTERS,)),
               "iterations": tuple(name for name in APPROXIMATIONS if name != CLUSTERS)}


def check_used(asked: Mapping[str, Any]) -> None:
    """Raise InputError for an option of other methods alone. asked : the options that are set."""
    methods = _items(asked.get("methods") or APPROXIMATIONS)
    for name, of_methods in _OF_METHODS.items():
        if asked.get(name) and not set(methods) & set(of_methods):
            raise InputError(f"--{name} is of {' and '.join(of_methods)}, not of --methods",
                             text=",".join(methods), remedy="leave one of both out")


def options_of(asked: Mapping[str, Any]) -> TradeoffOptions:
    """The options of a trade-off from all options of the command or of its function, by name. Raises InputError."""
    known: dict[str, Any] = {
        **dict.fromkeys(("memory_bytes", "arena_bytes", "iterations", "levels", "time_limit")),
        "threads": available_cores()}
    own = ("vertex_state", "reorder", "weighted", "device")
    found: dict[str, Any] = {**known, **parsed(asked, "tradeoff")}
    cluster = chosen_cluster(*(found.get(name) for name in ("scheduler", "workers", "worker_memory_bytes",
                                                            "worker_threads")))
    cells = cell_task(
        cluster=cluster, scratch=None if found.get("scratch") is None else str(found["scratch"]),
        own={name: found[name] for name in own},
        **{name: found[name] for name in (*known, "euler", "evict_page_cache")})
    return TradeoffOptions(
        methods=tuple(_items(found["methods"])), masters=",".join(_items(found["masters"])),
        seeds=_seeds(_items(found["seeds"])), plots=found.get("plots", True), cells=cells, exact=found["exact"],
        known_diameter=found.get("known_diameter"), retry=found["retry"],
        checkpoint_every=found.get("checkpoint_every"))


def _items(value: Any) -> list[str]:
    """The items of a text with commas, a number, or an iterable."""
    some = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
    return [str(item).strip() for item in some]


def _seeds(items: Sequence[str]) -> tuple[int, ...]:
    if not all(item.isdecimal() for item in items):
        raise InputError("not a list of seeds", text=",".join(items), remedy="write it like 0 or 0,1,2")
    return tuple(int(item) for item in items)


def tradeoff(store: str | Path, out: str | Path, options: TradeoffOptions | None = None,
             progress: Listener | None = None) -> Tradeoff:
    """Run the grid on the store at a path (or URL), each cell in a separate process, and write the tables and plots to
    the folder `out`, which is made if absent.

    Finished cells in `out` are not run again. A cell that fails or reaches its time limit becomes a row with a reason,
    and the others run. progress : called for each cell, with the bounds so far.

    Raises InputError (StoreError; for an invalid grid, and for a folder with cells of another store or other options;
    NotWritten with `result` if a file cannot be written any more), and StoppedEarly with `result` on Ctrl-C, with
    tables of the finished cells.
    """
    options = options or TradeoffOptions()
    check_folder(out)
    masters = parse_grid(options.masters)
    if options.known_diameter is not None and options.known_diameter < 0:
        raise InputError("a diameter cannot be negative", text=str(options.known_diameter))
    with open_store(store) as opened:
        if options.cells.options["weighted"]:
            check_weighted(opened)
        summary = Tradeoff(opened.path, opened.digest, opened.n_vertices, opened.n_arcs // 2,
                           identity_of(options.cells),
                           store_name=opened.name)
    if summary.n_vertices == 0:
        raise InputError("the graph has no vertices, so its diameter is undefined", path=store)
    grid = make_grid(options.methods, masters, options.seeds, summary.n_vertices, exact=options.exact,
                     weighted=options.cells.options["weighted"])
    summary.n_cells, summary.left_out = len(grid.cells), list(grid.left_out)
    folder = Path(out)
    with locked(folder, "another trade-off is being run in this folder now", "wait for it or choose another folder"):
        check_owner(folder, "the folder of a trade-off", "--out")
        (folder / FOLDER).mkdir(exist_ok=True)
        run = _Run(str(store), summary, options, folder, progress or silent)
        try:
            run.cells(grid.cells)
        except KeyboardInterrupt:
            run.finish()
            raise StoppedEarly(f"stopped by the user; {len(run.done):,} of {summary.n_cells:,} runs are kept in"
                               f" {folder}, and the same command continues with the others", summary) from None
        run.finish()
    return summary


@dataclass
class _Run:
    """One run over the cells of a store (its address may contain secrets, which the summary omits). done : (cell,
    record) of every ended cell, failed or not."""

    store: str
    summary: Tradeoff
    options: TradeoffOptions
    folder: Path
    progress: Listener
    done: list[tuple[Cell, CellRecord]] = field(default_factory=list)

    def cells(self, cells: tuple[Cell, ...]) -> None:
        """Run the missing cells."""
        limit, digest = self.options.cells.time_limit, self.summary.store_digest
        before = read_records(self.folder / FOLDER, digest, self.summary.options)
        for cell in cells:
            record = before.get(cell.name)
            if record is not None and record.counts(limit, self.options.retry):
                self.summary.n_reused += 1
                self.done.append((cell, record))
            else:
                self._tell(cell)
                record = run_cell(self.store, digest, cell, self.options.for_cells(self.folder))
                self.done.append((cell, record))
                with self._all_the_same():
                    write_record(self.folder / FOLDER, record)
                self._tell(cell, ended=True)

    def _tell(self, cell: Cell, ended: bool = False) -> None:
        """Report the start or end of a cell, with the bounds proved so far. Each cell is a phase, since cells differ
        too much for a meaningful rate."""
        proved = zip(("lower", "upper"), bounds([record for _, record in self.done]), strict=True)
        facts = {name: value for name, value in proved if value is not None}
        number = len(self.done) + (not ended)
        self.progress(Event(cell.name, number, self.summary.n_cells, "cells", facts, finished=ended))

    @contextmanager
    def _all_the_same(self) -> Iterator[None]:
        """A context that turns an error of writing into NotWritten, with the results so far."""
        try:
            yield
        except OSError as error:
            fill(self.summary, self.done, self.options.known_diameter)
            raise NotWritten(f"{error.filename or self.folder}: this cannot be written ({error.strerror}); the same"
                             " command continues with the runs that exist", self.summary) from None

    def finish(self) -> None:
        """Fill the summary, and write tables and plots."""
        summary, folder = self.summary, self.folder
        fill(summary, self.done, self.options.known_diameter)
        if summary.n_reused:
            summary.messages.insert(0, f"{summary.n_reused:,} of {summary.n_cells:,} runs had finished before and have"
                                       " not been run again")
        files = {"csv": folder / "tradeoff.csv", "table": folder / "table.md"}
        with self._all_the_same():
            write_whole(files["csv"], csv_text(COLUMNS, summary.rows))
            write_whole(files["table"], markdown_text(summary))
            if self.options.plots and find_spec("matplotlib") is not None:
                files |= {path.name: path for path in draw(summary, folder)}
            elif self.options.plots:
                summary.messages.append("there are no plots, because matplotlib is not installed (pip install"
                                        " matplotlib, then the same command again)")
            files["json"] = folder / "tradeoff.json"
            summary.files = {kind: str(path) for kind, path in files.items()}
            write_whole(files["json"], json.dumps(summary.to_dict(), indent=1, allow_nan=False) + "\n")


def draw(summary: Tradeoff, folder: Path) -> list[Path]:
    """Write the plots to `folder` as SVG and PNG: quality against cost, and the effect of masters. Returns the files.
    Omits plots with fewer than two points or with a single cost. Needs matplotlib. Raises OSError."""
    from . import drawing
    from .parts import row_point

    title = summary.store_name + ("" if summary.diameter is None else f": D = {summary.diameter:,}")
    ended = [row for row in summary.rows if row["status"] == ENDED and row["estimate"]]
    files: list[Path] = []
    for front, column in FRONTS.items():
        shown = [row for row in ended if row[column]]
        price = drawing.MEBIBYTES if column == "bytes_read" else drawing.SECONDS
        if len(shown) > 1 and differ(shown, column):
            points = [row_point(row, summary.diameter, price=column, front=front) for row in shown]
            figure = drawing.draw_quality([point for point in points if point is not None], price, title)
            files += drawing.write_figure(figure, folder / _PLOTS[column])
    clusters = [row for row in summary.rows if row["status"] == ENDED and row["method"] == CLUSTERS and row["masters"]
                and row["estimate"] is not None]
    if len({row["masters"] for row in clusters}) > 1:
        clusters.sort(key=lambda row: (row["masters"], row["seed"]))
        files += drawing.write_figure(drawing.draw_masters(clusters, summary.store_name), folder / "masters")
    return files
