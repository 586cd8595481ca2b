"""The results of exact runs and approximations, a stable contract of the command line and the Python interface; and the
proof of an exact run.

With the proof other code can prove the answer again. For a component C with upper bound L: every pivot p and every
source q is traversed completely. A vertex v is *settled* if d(v, p) + ecc(p) <= L for some pivot or source p; then
ecc(v) <= L. The proof of diameter(C) <= L is that every pair x != y of unsettled vertices has d(x, p) + d(p, y) <= L
for some pivot p, or there is a walk of at most L edges between them. A component of at most L + 1 vertices needs no
proof. The proof of the lower bound is a pair of vertices at that distance.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InputError
from ..plots import draw_bounds
from ..shown import Shown, infinite
from ..units import MemoryFigures

if TYPE_CHECKING:
    import numpy as np


@dataclass
class ComponentProof:
    """The proof for one component, in internal vertex numbers.

    vertex : any vertex of it. size : its number of vertices. lower, upper : the proved interval of its diameter.
    witness : a pair at distance exactly `lower`; None if lower is 0. pivots : vertices whose distances prove
    pairs, and settle vertices. sources : vertices whose distances only settle. The order of both has no meaning.
    """

    vertex: int
    size: int
    lower: int
    upper: int
    witness: tuple[int, int] | None = None
    pivots: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)


@dataclass
class Proof:
    """One entry for each component that was solved. All other components have no more vertices than the largest upper
    bound plus one. walks : vertices (int64[k]), each joined to the next by an edge."""

    components: list[ComponentProof] = field(default_factory=list)
    walks: list[np.ndarray] = field(default_factory=list)


@dataclass(repr=False)
class Witness(Shown):
    """Two vertices and a shortest path between them, by your names.

    Attributes
    ----------
    source, target : object
        The two vertices.
    length : int or float
        Their distance.
    path : list, optional
        The vertices from source to target; None if there are more than 10,000.
    path_file : str, optional
        The file with the path.
    """

    shown = ("source", "target", "length", "path", "path_file")

    source: Any
    target: Any
    length: int
    path: list[Any] | None = None
    path_file: str | None = None


@dataclass
class Traversals:
    """Numbers of traversals.

    Attributes
    ----------
    bfs : int
        Traversals as the F-Diam paper counts them: BFS for an eccentricity, and Winnow.
    multi_source : int
        BFS from several sources at once.
    multi_source_sources : int
        Their sources.
    partial : int
        BFS that stopped early: Eliminate, extensions and chains, which the paper does not count.
    """

    bfs: int = 0
    multi_source: int = 0
    multi_source_sources: int = 0
    partial: int = 0


@dataclass(repr=False)
class Result(Shown, MemoryFigures):
    """The answer of an exact method. `to_dict()` has the fields of the JSON.

    Attributes
    ----------
    diameter : int or float, optional
        None if the graph is disconnected, or if it is not proved.
    diameter_largest_component, diameter_max_component : int or float, optional
        Diameter of the component with the most vertices, and the largest of any component; None if not proved.
    lower, upper : int or float
        Proved bounds of the largest finite distance, over all components.
    exact : bool
        Whether lower == upper.
    witness : Witness, optional
        Two vertices at the distance `lower`, and a shortest path.
    connected, n_components : bool, int, optional
        None while not known.
    n_vertices, n_edges : int
        Of the simple undirected graph; with directions n_edges counts arcs.
    traversals, levels, edges_scanned, bytes_read : Traversals, int
        The work of the run.
    seconds : dict of float
        Wall seconds: total, compile, load, solve, verify, startup, certificate. `load` comes before `solve` and
        `verify`; `compile` is a part of them. total - startup - certificate is the search alone.
    memory_limit_bytes, planned_rss_bytes, expected_rss_bytes, peak_rss_bytes : int, optional
        Limit, plan, forecast and measured peak of resident memory. No forecast for a GPU.
    planned_bytes_read : int, optional
        Forecast of `bytes_read`.
    method, seed, device, version : str, int
        Settings of the run.
    store_path, store_name, store_digest : str
        The store; empty name and path for a graph that is no store.
    details : dict
        Figures of the method.
    certificate : str, optional
        File of the proof.
    not_written : list of str
        A sentence for every file that could not be written.
    directed, weighted : bool
        Whether distances follow arcs, and are sums of weights.
    directions_dropped : bool
        Whether the graph has directions that were ignored.
    history : list of tuple
        (seconds, lower, upper) at each change of the bounds; None for an unknown bound.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "diameter", "diameter_largest_component", "lower", "upper", "exact", "n_vertices", "n_edges", "n_components",
        "witness", "method", "traversals.bfs", "seconds", "certificate")

    method: str
    n_vertices: int
    n_edges: int
    connected: bool | None
    n_components: int | None
    diameter: int | None
    diameter_largest_component: int | None
    diameter_max_component: int | None
    lower: int
    upper: int
    exact: bool
    witness: Witness | None
    traversals: Traversals
    levels: int = 0
    edges_scanned: int = 0
    bytes_read: int = 0
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    expected_rss_bytes: int | None = None
    planned_bytes_read: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    seed: int | None = None
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    device: str = "cpu"
    certificate: str | None = None
    not_written: list[str] = field(default_factory=list)
    directed: bool = False
    weighted: bool = False
    directions_dropped: bool = False
    proof: Proof | None = field(default=None, repr=False, compare=False)
    history: list[tuple[float, Any, Any]] = field(default_factory=list, repr=False, compare=False)

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is not a missing one."""
        if name == "diameter" and self.connected is False:
            return infinite(self.n_components)
        return super()._fact(name)

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            """For attributes of the witness, the error says where they are."""
            hint = f"; it has witness.{name}" if name in Witness.shown else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}",
                                 name=name, obj=self)

    def conclude(self) -> None:
        """Fill the fields that follow from lower == upper."""
        self.exact = self.lower == self.upper
        if self.exact:
            self.diameter_max_component = self.lower
            self.diameter = self.lower if self.connected else None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, without the proof and the history, and with memory_limit_exceeded; ready
        for JSON."""
        named = {name: value for name, value in asdict(replace(self, proof=None, history=[])).items()
                 if name not in ("proof", "history")}
        return {**named, "memory_limit_exceeded": self.memory_limit_exceeded}

    def plot(self, ax: Any = None) -> Any:
        """Draw the bounds on the diameter over the seconds of the run.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default None
            Where to draw; None: new axes.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        end = max([self.seconds.get("total", 0.0), *(row[0] for row in self.history)])  # the total has no compiling
        return draw_bounds([*self.history, (end, self.lower, self.upper)], getattr(self, "estimate", None), ax)


def check_known(diameter: int | float | None) -> None:
    """Raise InputError if the diameter passed as known is below 0; None: not known."""
    if diameter is not None and diameter < 0:
        raise InputError("a diameter cannot be negative", text=str(diameter))


@dataclass
class Condensed:
    """The condensed graph. in_memory : False if shortest paths streamed it from disk. levels : how
    often the graph was condensed."""

    n_vertices: int
    n_edges: int
    in_memory: bool = True
    levels: int = 1


@dataclass(repr=False)
class Approximation(Result):
    """The answer of an approximation: the fields of Result, and an estimate.

    Attributes
    ----------
    estimate : int or float
        Estimate of the largest diameter of any component. It may be outside of the proved bounds.
    known_diameter : int or float, optional
        As passed by the caller.
    ratio : float, optional
        estimate / D, if D is proved or known.
    masters, rounds : int, optional
        clusters: number of clusters, and rounds of their growth.
    max_master_distance : int, optional
        clusters: largest distance of a vertex to its master.
    max_master_gap : int, optional
        clusters: largest distance in the condensed graph between masters of neighbouring clusters.
    condensed : Condensed, optional
        clusters: size of the condensed graph.
    """

    shown: ClassVar[tuple[str, ...]] = ("estimate", "ratio", "known_diameter", *Result.shown)

    estimate: int | None = None
    known_diameter: int | float | None = None
    ratio: float | None = None
    masters: int | None = None
    max_master_distance: int | None = None
    max_master_gap: int | None = None
    rounds: int | None = None
    condensed: Condensed | None = None

    def conclude(self) -> None:
        """See Result; sets `ratio` too."""
        super().conclude()
        diameter = self.lower if self.exact else self.known_diameter
        self.ratio = float(self.estimate) / float(diameter) if diameter and self.estimate is not None else None


def extended(result: Result, **more: Any) -> Approximation:
    """The result as an Approximation with further fields."""
    return Approximation(**{field.name: getattr(result, field.name) for field in fields(Result)} | more)


@dataclass(repr=False)
class AlongWeights:
    """The last fields of results whose lengths are sums of weights. weights : dtype of the weights in the store; None
    for a store without weights, whose edges have length 1. weight : name of the column or attribute that they came
    from, or None."""

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class WeightedResult(AlongWeights, Result):
    """As Result, but diameter, diameter_largest_component, diameter_max_component, lower, upper and the length of the
    witness are sums of weights: whole numbers, or floats if weights are. traversals.bfs : searches of shortest
    paths. edges_scanned : arcs along which a distance was tried. weights, weight : see AlongWeights."""

    shown: ClassVar[tuple[str, ...]] = (*Result.shown, "weight", "weights")


@dataclass(repr=False)
class WeightedApproximation(AlongWeights, Approximation):
    """As Approximation, but lengths are sums of weights: whole numbers, or floats if weights are.

    max_master_distance : the longest stored path from a vertex to its master. max_master_gap : the longest edge
    of the graph of clusters. rounds : stages of growing. weights, weight : see AlongWeights."""

    shown: ClassVar[tuple[str, ...]] = (*Approximation.shown, "weight", "weights")


@dataclass(repr=False)
class DirectedResult(Result):
    """As Result; distances go along arcs.

    n_edges : arcs. lower, upper : proved interval of the largest finite distance, over all pairs of a vertex and one
    that it reaches. largest_distance : that distance, None while not proved. diameter : the same if the graph is
    strongly connected, else None (infinite). strongly_connected, n_strong_components : None while not known. connected,
    n_components : of the graph without directions. The diameters of components are None.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "diameter", "largest_distance", "lower", "upper", "exact", "strongly_connected", "n_strong_components",
        "n_vertices", "n_edges", "witness", "method", "traversals.bfs", "seconds")

    directed: bool = True
    strongly_connected: bool | None = None
    n_strong_components: int | None = None
    largest_distance: int | None = None

    def conclude(self) -> None:
        """See Result."""
        self.exact = self.lower == self.upper
        if self.exact:
            self.largest_distance = self.lower
            self.diameter = self.lower if self.strongly_connected else None

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is not a missing one."""
        if name == "diameter" and self.strongly_connected is False:
            return infinite(self.n_strong_components, "strong component")
        return super()._fact(name)


@dataclass(repr=False)
class WeightedArcResult(AlongWeights, DirectedResult):
    """As DirectedResult, but lower, upper, largest_distance, diameter and the length of the witness are sums of
    weights: whole numbers, or floats if weights are. traversals.bfs : searches of shortest paths. weights, weight :
    see AlongWeights."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedResult.shown, "weight", "weights")


@dataclass(repr=False)
class DirectedApproximation(Approximation, DirectedResult):
    """As DirectedResult and Approximation: bounds on the largest finite distance, and an estimate of it."""

    shown: ClassVar[tuple[str, ...]] = ("estimate", "ratio", "known_diameter", *DirectedResult.shown)

    directed: bool = True  # if two base classes have different defaults, the field has that of the first


@dataclass(repr=False)
class WeightedArcApproximation(AlongWeights, DirectedApproximation):
    """As DirectedApproximation, but lengths are sums of weights, as in WeightedArcResult."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedApproximation.shown, "weight", "weights")
