"""The result of a trade-off: cost and accuracy of approximations, as tables and a plot. report/tradeoff.py runs it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from ..by_vertex import library
from ..plots import draw_prices
from ..shown import Shown

ENDED = "ended"  # status of a complete run
# Columns that mark runs on the Pareto front, and the cost of each.
FRONTS = {"on_front_seconds": "seconds_search", "on_front_bytes": "bytes_read"}

# The columns of a row, in this order. seconds : wall seconds without compiling; seconds_startup : loading the graph,
# and compiling or loading kernels; seconds_search : the rest; seconds_estimate : seconds until the estimate was known,
# with the time before the search and without the proof of bounds; time_over_bfs : seconds_estimate / seconds of a BFS
# of the sweep with this seed. ratio_least, ratio_most : range of the ratio by the bounds of all cells. max_master_gap :
# d of the paper's tables.
COLUMNS = (
    "cell", "method", "masters_label", "masters_expected", "seed", "status", "reason", "estimate", "ratio",
    "ratio_least", "ratio_most", "lower", "upper", "seconds", "seconds_estimate", "seconds_load", "seconds_grow",
    "seconds_condense", "seconds_shortest_paths", "seconds_upper_bound", "seconds_lower_bound", "seconds_verify",
    "seconds_compile", "seconds_startup", "seconds_search", "time_over_bfs", "masters", "max_master_gap",
    "max_master_distance", "rounds", "condensed_vertices", "condensed_edges", "condensed_in_memory",
    "condensed_levels", "traversals", "passes", "edges_scanned", "bytes_read", "peak_rss_bytes", "planned_rss_bytes",
    "memory_limit_bytes",
    "memory_limit_exceeded", *FRONTS,
)


@dataclass(repr=False)
class Tradeoff(Shown):
    """A grid of runs on one store: cost and accuracy of approximations.

    store, store_name : path of the store, and its last part without .zarr. n_vertices, n_edges : undirected, simple.
    options : options that all cells share. diameter : largest diameter of any component, the denominator of ratios, or
    None; diameter_from : "given" or "proved". lower, upper : best bounds that cells have proved, or None. rows : one a
    cell, in the order of the grid, with the COLUMNS. left_out : sentences about impossible cells. messages : further
    sentences for the user. n_reused : cells with an earlier result. n_cells : all cells of the grid, also those that a
    stopped run did not reach. files : paths of the written files, by kind.
    """

    shown: ClassVar[tuple[str, ...]] = ("store_name", "n_vertices", "n_edges", "diameter", "diameter_from", "lower",
                                        "upper", "n_cells", "messages")

    store: str
    store_digest: str
    n_vertices: int
    n_edges: int
    options: dict[str, Any]
    diameter: int | None = None
    diameter_from: str | None = None
    lower: int | None = None
    upper: int | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    store_name: str = ""
    n_reused: int = 0
    n_cells: int = 0
    files: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all cells are complete."""
        return len(self.rows) == self.n_cells and all(row["status"] == ENDED for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON."""
        return asdict(self)

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame, with the COLUMNS. Raises InputError without pandas."""
        return library("pandas").DataFrame(self.rows, columns=list(COLUMNS))

    def to_polars(self) -> Any:
        """The rows as a polars.DataFrame. Raises InputError without polars."""
        return library("polars").from_arrow(self.to_arrow())

    def to_arrow(self) -> Any:
        """The rows as a pyarrow.Table. Raises InputError without pyarrow."""
        return library("pyarrow").table({name: [row[name] for row in self.rows] for name in COLUMNS})

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimates over the seconds of their runs; see Result.plot."""
        return draw_prices([row for row in self.rows if row["status"] == ENDED], self.diameter, ax)
