"""The results of runs, a stable contract of the command line and the Python interface.

They have figures of a distribution of distances, and standard errors computed by leaving out one group of observations
at a time.

The effective diameter at q is the distance within which a share q of the connected pairs is, interpolated between
two distances as if the pairs between were spread evenly: with g(h) pairs within h and g(h - 1) < q g(D) <= g(h) it
is h - 1 + (q g(D) - g(h - 1)) / (g(h) - g(h - 1)). Pairs are of two different vertices, so g(0) = 0. If ranges of
distances are counted, it is interpolated within its range, so that it is off by less than the width of the range.
Sources: Leskovec, Kleinberg, Faloutsos 2007 (Graph evolution, section 3.3), as SNAP interpolates; the jackknife by
groups: Shao, Tu 1995 (The Jackknife and Bootstrap, section 2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .._version import __version__
from ..by_vertex import ByVertex, Names, ValuesByVertex
from ..errors import BudgetError, InputError
from ..histogram import MOST_VALUES
from ..plots import bars_svg, draw_bars
from ..shown import Shown
from ..store.store import Store
from ..traverse.distance_table import FULL_ROWS, PairCounts, distance_table_bytes
from ..units import MemoryFigures

if TYPE_CHECKING:
    from ..runs.task import Task


@dataclass(frozen=True)
class Figures:
    """Mean and effective diameter of a distribution, or the standard errors of both."""

    mean: float
    effective_diameter: float

    def to_dict(self) -> dict[str, float]:
        """Plain dict for JSON."""
        return {"mean": self.mean, "effective_diameter": self.effective_diameter}


def figures_of(pairs: PairCounts, quantile: float) -> Figures | None:
    """Mean and effective diameter; None without a pair."""
    there, width = pairs.counts.astype(np.float64), pairs.width
    within = np.cumsum(there)
    if within[-1] <= 0:
        return None
    mean = (there @ np.arange(0, len(there) * width, width, dtype=np.float64) + pairs.above) / within[-1]
    wanted = quantile * within[-1]
    at = min(int(np.searchsorted(within, wanted)), len(there) - 1)
    first, last = max(1, at * width), min((at + 1) * width - 1, pairs.largest)
    effective = first - 1 + (last - first + 1) * (wanted - (within[at] - there[at])) / there[at]
    return Figures(float(mean), float(effective))


def jackknife(left_out: Iterable[PairCounts], quantile: float, unseen: float = 1.0) -> Figures | None:
    """Standard errors. left_out : the distribution without each group. unseen : share of the population that was not
    drawn. None if fewer than two groups leave a pair."""
    found = [figures for pairs in left_out if (figures := figures_of(pairs, quantile)) is not None]
    if len(found) < 2:
        return None
    values = np.array([(figures.mean, figures.effective_diameter) for figures in found])
    share = unseen * (len(found) - 1) / len(found)
    return Figures(*np.sqrt(share * np.square(values - values.mean(axis=0)).sum(axis=0)).tolist())


@dataclass(frozen=True)
class ProvedMean:
    """A proved interval of the mean distance.

    Attributes
    ----------
    lower, upper : float or None
        Bounds of the mean over connected pairs; None without pairs.
    sources : int
        Sources whose distances prove it.
    """

    lower: float | None
    upper: float | None
    sources: int


@dataclass(frozen=True)
class Confidence:
    """Confidence intervals by a sample.

    Attributes
    ----------
    level : float
        Share of samples whose interval contains the true value, 0.95.
    mean, effective_diameter : tuple of float
        (low, high).
    method : str
        How they were computed.
    """

    level: float
    method: str
    mean: tuple[float, float]
    effective_diameter: tuple[float, float]


LEVEL = 0.95
METHOD = "jackknife over groups of sources, Student's t"


def intervals(figures: Figures, error: Figures, groups: int) -> Confidence | None:
    """Intervals around figures. error : standard errors, by leaving out each of `groups` groups; None for one group."""
    if groups < 2:
        return None
    reach = student(LEVEL, groups - 1)
    ends = [(value - reach * by, value + reach * by) for value, by in (
        (figures.mean, error.mean), (figures.effective_diameter, error.effective_diameter))]
    return Confidence(LEVEL, METHOD, *((max(0.0, low), high) for low, high in ends))


def student(level: float, freedom: int) -> float:
    """The quantile of Student's t for an interval of this level, to 1 % from 4 degrees of freedom on, by expansion
    around that of the normal distribution (Abramowitz and Stegun, 26.7.5)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return sum(term / freedom**power for power, term in enumerate(terms))


EXACT, SAMPLE, HYPERBALL = "exact", "sample", "hyperball"
# Bytes of an entry of an answer, a distance and its number of pairs: in a dict, by names, and as JSON.
_ANSWER_BYTES = 400


def counted_bytes(n_vertices: int, rows: int, full_rows: int = FULL_ROWS) -> int:
    """Bytes of counts by distance, at most: all so far and those of a part, while rows of one are joined, or all and
    the answer."""
    table = distance_table_bytes(rows, n_vertices, full_rows)
    return table + max(table + table // 2, _ANSWER_BYTES * min(n_vertices, MOST_VALUES))


def most_registers(wanted: int, planned: Callable[[int], Any]) -> int:
    """log2 of the registers of a vertex in a run of HyperBall: as many registers as memory has room for, but at least
    LEAST_REGISTERS. wanted : log2 for all runs together. planned : raises BudgetError if there is no
    room."""
    for bits in range(wanted, LEAST_REGISTERS, -1):
        with suppress(BudgetError):
            planned(bits)
            return bits
    return LEAST_REGISTERS


def proof_bytes(store: Store, column: int) -> int:
    """Bytes of a proof of the mean beside distances: cells, and a copy of these, of `column` bytes an entry."""
    return store.n_vertices * (store.id_dtype.itemsize + column)


@dataclass(repr=False)
class Distances(ValuesByVertex, Shown, MemoryFigures):
    """The distribution of distances between different vertices. Pairs are unordered, along arcs ordered.

    Attributes
    ----------
    pairs : dict of int
        Number of pairs by distance. If distances exceed 65,536, by the first distance of each range.
    histogram_width : int, optional
        Width of a range; None without ranges. The effective diameter is then off by less than this.
    unreachable_pairs : int
        Pairs in different components.
    mean, effective_diameter : float, optional
        Over connected pairs; None if there are none.
    quantile : float
        Share of the connected pairs within the effective diameter.
    method : {"exact", "sample", "hyperball"}
        How distances were counted.
    samples : int
        Sources whose distances were counted; 0 for hyperball.
    standard_error : Figures, optional
        Of both figures; None if it cannot be estimated.
    confidence : Confidence, optional
        Of both figures, for a sample.
    registers, runs : int, optional
        hyperball: counters of a vertex in a run, and averaged runs.
    complete : bool
        False if the run was stopped before all sources were counted.
    closeness, harmonic : array of float64, optional
        With `keep`: centralities of the vertices, by increasing ids.
    out : str, optional
        The file with the centralities.
    certificate, proved_mean : str and ProvedMean, optional
        The file with a proof, and the interval of the mean that it proves.
    seconds : dict of float
        Wall seconds: total, load, components, count, proof, write.
    not_written : list of str
        A sentence for a file that could not be written.
    directions_dropped : bool
        As in Result.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "mean", "effective_diameter", "quantile", "method", "samples", "standard_error.mean",
        "standard_error.effective_diameter", "proved_mean.lower", "proved_mean.upper", "n_vertices", "n_edges",
        "n_components", "unreachable_pairs", "complete", "histogram_width", "out", "certificate")

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
    confidence: Confidence | None = None
    certificate: str | None = None
    proved_mean: ProvedMean | None = None
    closeness: np.ndarray | None = field(default=None, repr=False, compare=False)
    harmonic: np.ndarray | None = field(default=None, repr=False, compare=False)
    names: Names | None = field(default=None, repr=False, compare=False)

    def by_vertex(self) -> ByVertex:
        """The centralities `closeness` and `harmonic` of every vertex by its id, `closeness` as a mapping. Raises
        ValueError if none were kept."""
        if self.closeness is None or self.harmonic is None or self.names is None:
            raise ValueError("this run has kept no centralities: give keep=True")
        return ByVertex(self.names(), {"closeness": self.closeness, "harmonic": self.harmonic})

    def plot(self, ax: Any = None) -> Any:
        """Draw the number of pairs at each distance; see Result.plot."""
        return draw_bars(self.pairs, ("distance", "pairs"), self.histogram_width, ax)

    def _picture(self) -> str:
        return bars_svg(self.pairs, "pairs by distance")

    def _fact(self, name: str) -> Any:
        """See Shown; `complete` is not shown if True."""
        return None if name == "complete" and self.complete else super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, and memory_limit_exceeded; ready for JSON."""
        none = {"mean": None, "effective_diameter": None}
        plain = asdict(replace(self, pairs={}, closeness=None, harmonic=None, names=None))
        named = {name: value for name, value in plain.items() if name not in ("closeness", "harmonic", "names")}
        return {**named, "pairs": {str(first): count for first, count in self.pairs.items()},
                "standard_error": none if self.standard_error is None else self.standard_error.to_dict(),
                "memory_limit_exceeded": self.memory_limit_exceeded}


@dataclass(repr=False)
class Profile(Shown, MemoryFigures):
    """Properties of a graph.

    Attributes
    ----------
    degrees : dict of int
        Number of vertices by degree.
    triangles : int
        Triangles of the graph.
    average_clustering, transitivity : float, optional
        None for a graph without vertices, or without paths of two edges.
    degeneracy : int
        The largest k with a k-core.
    mean, effective_diameter, standard_error, pairs, histogram_width, unreachable_pairs, method, samples : -
        Distances, as in Distances; the effective diameter with quantile 0.9.
    diameter, lower, upper : int, optional
        Largest diameter of any component; None if not proved, and then its bounds.
    effective_ratio : float, optional
        effective_diameter / diameter.
    seconds : dict of float
        Wall seconds: total, structure, distances, diameter.
    directions_dropped : bool
        As in Result.
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
        """See Shown; bounds are shown only for a diameter that is not proved."""
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


_Kind = TypeVar("_Kind", bound=Distances)


def answer(kind: type[_Kind], asked: DistanceOptions, pairs: PairCounts, share: float, error: Figures | None,
           groups: int = 0, **facts: Any) -> _Kind:
    """The result from counts by distance. share : factor from counted to reported pairs. error : standard
    errors. groups : number of groups of a sample that were left out one by one. facts : the other fields."""
    figures = figures_of(pairs, asked.quantile)
    if figures is not None and error is not None and facts["method"] == SAMPLE:
        facts["confidence"] = intervals(figures, error, groups)
    return kind(pairs=pairs.to_dict(share), histogram_width=pairs.histogram_width, quantile=asked.quantile,
                mean=None if figures is None else figures.mean,
                effective_diameter=None if figures is None else figures.effective_diameter,
                standard_error=None if figures is None else error, seed=asked.seed, **facts)


# Defaults: number of sources of a sample, and share of pairs within the effective diameter.
USUAL_SAMPLE, USUAL_QUANTILE = 1024, 0.9
# Sources of a proof of the mean.
USUAL_PROOF = 64
LEAST_REGISTERS, MOST_REGISTERS = 4, 16


@dataclass(frozen=True)
class DistanceOptions:
    """method : EXACT, SAMPLE or HYPERBALL. sample : number of sources of a sample. log2_registers : for hyperball, of
    the registers of a vertex. quantile : share of the connected pairs within the effective diameter. seed : of the
    sample, or of the hash. out : Parquet file for centralities; None: none. keep : whether the result has them.
    scratch : folder for data that do not fit in memory; None: $TMPDIR or /var/tmp. sources, targets : for a table,
    files of ids, or ids; see table.py. proved : whether to prove an interval of the mean, by certificate_sources
    sources. Raises InputError."""

    method: str = SAMPLE
    sample: int = USUAL_SAMPLE
    log2_registers: int = 0
    quantile: float = USUAL_QUANTILE
    seed: int = 0
    out: Path | None = None
    scratch: Path | None = None
    keep: bool = False
    sources: Any = None
    targets: Any = None
    proved: bool = False
    certificate_sources: int = USUAL_PROOF

    @property
    def of_table(self) -> bool:
        """Whether a table of chosen distances is wanted."""
        return self.sources is not None or self.targets is not None

    @property
    def centralities(self) -> bool:
        """Whether centralities are wanted."""
        return self.keep or self.out is not None

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise InputError("a sample has one source at least", text=str(self.sample))
        if not 0 < self.quantile < 1:
            raise InputError("--quantile is a share between 0 and 1", text=str(self.quantile))
        if not 0 <= self.seed < 1 << 64:
            raise InputError("a seed is from 0 to 2^64 - 1", text=str(self.seed))
        if self.method == HYPERBALL and not LEAST_REGISTERS <= self.log2_registers <= MOST_REGISTERS:
            raise InputError(f"--hyperball takes the logarithm of the registers of a vertex, {LEAST_REGISTERS} to"
                             f" {MOST_REGISTERS}", text=str(self.log2_registers))


def options_of(task: Task, own: Mapping[str, Any]) -> DistanceOptions:
    """The options of a task from those passed by name: sample, exact, hyperball, quantile, seed, out, scratch. Raises
    InputError."""
    proved = task.certificate is not None
    methods = [name for name in (SAMPLE, EXACT, HYPERBALL) if own.get(name)]
    if len(methods) > 1:
        raise InputError("one of --sample, --exact and --hyperball is enough", text=" ".join(methods))
    fields = {name: own[name] for name in (
        "quantile", "seed", "out", "sample", "scratch", "keep", "sources", "targets", "certificate_sources")
        if name in own}
    if (own.get("sources") is not None or own.get("targets") is not None) and methods:
        raise InputError("a table of distances is of chosen vertices, not of a sample", text=methods[0],
                         remedy="leave --sample, --exact and --hyperball out, or sources and targets")
    if own.get("sources") is not None and (idle := [name for name in ("quantile", "seed") if name in own]):
        raise InputError(f"a table of distances has no --{idle[0]}", remedy="leave it, or --sources, out")
    if own.get("exact") and "seed" in own and not proved and task.time_limit is None:  # after that it is a sample
        raise InputError("nothing is drawn at random with --exact", text="--seed", remedy="leave one of both out")
    if own.get("certificate_sources") is not None and not proved:
        raise InputError("--certificate-sources are those of a proof", remedy="name its file with --certificate")
    if own.get("sources") is None and own.get("targets") is not None:
        raise InputError("a table of distances needs sources: a file with an id on every line")
    if own.get("sources") is not None and proved:
        raise InputError("a table of distances has no certificate", remedy="leave --certificate out, or --sources")
    if own.get("sources") is not None and own.get("out") is None:
        raise InputError("a table of distances is written to a file", remedy="name it with --out")
    return DistanceOptions(methods[0] if methods else SAMPLE, log2_registers=own.get(HYPERBALL) or 0, proved=proved,
                           **fields)
