"""The results of runs: the stable contract of the command line and the Python interface."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from .._version import __version__
from ..histogram import MOST_VALUES
from ..shown import Shown
from ..traverse.distance_table import FULL_ROWS, distance_table_bytes
from ..units import MemoryFigures
from .statistics import Figures

EXACT, SAMPLE, HYPERBALL = "exact", "sample", "hyperball"
# Of a distance in an answer: the number of pairs, in a dict, by names, and as JSON.
_ANSWER_BYTES = 400


def counted_bytes(n_vertices: int, rows: int, full_rows: int = FULL_ROWS) -> int:
    """What counts by distance take, at most: all so far and those of a part, while rows of one are joined, or all and
    the answer."""
    table = distance_table_bytes(rows, n_vertices, full_rows)
    return table + max(table + table // 2, _ANSWER_BYTES * min(n_vertices, MOST_VALUES))


@dataclass(repr=False)
class Distances(Shown, MemoryFigures):
    """What is known of the distances between different vertices; all pairs are unordered.

    pairs : how many are at each distance from 1 on, rounded where they are estimated; where distances are larger than
    65,536, how many are in ranges of these, by the smallest distance of each. histogram_width : of a range, which the
    effective diameter is off by less than; None where each distance is by itself. unreachable_pairs : in different
    components, counted exactly. mean, effective_diameter : over connected pairs; None where there is none. method :
    "exact", "sample" or "hyperball". samples : sources whose distances were counted; 0 for hyperball. standard_error :
    of both figures; None where nobody can say. registers, runs : of hyperball, counters of a vertex in a run, and runs
    that are averaged. complete : False of a run that was stopped and counted fewer sources than it was to. out : the
    file of centralities. seconds : wall seconds {total, load, components, count, write}. not_written : a sentence for
    a file that was asked for and could not be written. directed, directions_dropped : as of an exact Result.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "mean", "effective_diameter", "quantile", "method", "samples", "standard_error.mean",
        "standard_error.effective_diameter", "n_vertices", "n_edges", "n_components", "unreachable_pairs", "complete",
        "histogram_width", "out")

    n_vertices: int
    n_edges: int
    connected: bool
    n_components: int
    pairs: dict[int, int]
    histogram_width: int | None
    unreachable_pairs: int
    mean: float | None
    effective_diameter: float | None
    quantile: float
    method: str
    samples: int
    standard_error: Figures | None
    seed: int
    complete: bool = True
    registers: int | None = None
    runs: int | None = None
    out: str | None = None
    levels: int = 0
    edges_scanned: int = 0
    bytes_read: int = 0
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    device: str = "cpu"
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    not_written: list[str] = field(default_factory=list)
    directed: bool = False
    directions_dropped: bool = False

    def _fact(self, name: str) -> Any:
        """See Shown; a run that is complete need not say so."""
        return None if name == "complete" and self.complete else super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, and memory_limit_exceeded; ready for JSON."""
        none = {"mean": None, "effective_diameter": None}
        return {**asdict(replace(self, pairs={})), "pairs": {str(first): count for first, count in self.pairs.items()},
                "standard_error": none if self.standard_error is None else self.standard_error.to_dict(),
                "memory_limit_exceeded": self.memory_limit_exceeded}


@dataclass(repr=False)
class Profile(Shown, MemoryFigures):
    """What a graph is like.

    degrees : vertices by degree. triangles : in the graph. average_clustering, transitivity : None without a vertex
    and without a path of two edges. degeneracy : the largest k with a k-core. mean, effective_diameter (at 0.9),
    standard_error, pairs, histogram_width, unreachable_pairs, method, samples : of the distances, see Distances.
    diameter : the largest of any component; None if it is not proved, and is from lower to upper. effective_ratio :
    effective_diameter / diameter, None where either is missing or D is 0. seconds : wall seconds {total, structure,
    distances, diameter}. directions_dropped : as of an exact Result.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "triangles", "average_clustering", "transitivity", "degeneracy", "effective_diameter", "diameter", "lower",
        "upper", "effective_ratio", "mean", "standard_error.effective_diameter", "standard_error.mean", "n_vertices",
        "n_edges", "n_components")

    n_vertices: int
    n_edges: int
    n_components: int
    degrees: dict[int, int]
    triangles: int
    average_clustering: float | None
    transitivity: float | None
    degeneracy: int
    mean: float | None
    effective_diameter: float | None
    standard_error: dict[str, float | None]
    pairs: dict[int, int]
    histogram_width: int | None
    unreachable_pairs: int
    method: str
    samples: int
    seed: int
    diameter: int | None
    lower: int
    upper: int
    effective_ratio: float | None = None
    memory_limit_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = __version__
    store_digest: str = ""
    directions_dropped: bool = False

    def _fact(self, name: str) -> Any:
        """See Shown; bounds are of a diameter that is not proved."""
        if name in ("lower", "upper") and self.diameter is not None:
            return None
        if name.startswith("standard_error."):
            return self.standard_error[name.partition(".")[2]]
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, and memory_limit_exceeded; ready for JSON."""
        named = asdict(self)
        for name in ("degrees", "pairs"):
            named[name] = {str(key): count for key, count in named[name].items()}
        return {**named, "memory_limit_exceeded": self.memory_limit_exceeded}
