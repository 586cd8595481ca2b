"""The result of an exact run: the stable contract of the command line and the Python interface; and its proof.

The proof is what a method hands over so that its answer can be proved again by other code. For a component C with upper
bound L: every pivot p and every source q is traversed completely. A vertex v is *settled* if d(v, p) + ecc(p) <= L for
some pivot or source p; then ecc(v) <= L. The proof of diameter(C) <= L is that every pair x != y of unsettled vertices
has d(x, p) + d(p, y) <= L for some pivot p. A component of at most L + 1 vertices needs none. The proof of the lower
bound is a pair of vertices at that distance.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from ..plots import draw_bounds
from ..shown import Shown, infinite
from ..units import MemoryFigures


@dataclass
class ComponentProof:
    """The proof for one component, in internal vertex numbers.

    vertex : any vertex of it. size : its number of vertices. lower, upper : the interval of its diameter that is
    proved. witness : a pair at distance exactly `lower`; None if lower is 0. pivots : vertices whose distances prove
    pairs, and settle. sources : vertices whose distances only settle. The order of pivots and sources means nothing.
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
    """One entry for every component that was solved, at most one each. All others have at most as
    many vertices as the largest upper bound, and one more."""

    components: list[ComponentProof] = field(default_factory=list)


@dataclass(repr=False)
class Witness(Shown):
    """A pair of vertices at distance `length`, in the user's ids, with a shortest path.

    path : ids from source to target, or None when it has more than 10,000 vertices; path_file :
    where the path was written, if anywhere.
    """

    shown = ("source", "target", "length", "path", "path_file")

    source: Any
    target: Any
    length: int
    path: list[Any] | None = None
    path_file: str | None = None


@dataclass
class Traversals:
    """bfs : traversals as the F-Diam paper counts them (eccentricity BFS and Winnow). multi_source : batches;
    multi_source_sources : their sources. partial : Eliminate, extension and chain spreads, not counted by the paper."""

    bfs: int = 0
    multi_source: int = 0
    multi_source_sources: int = 0
    partial: int = 0


@dataclass(repr=False)
class Result(Shown, MemoryFigures):
    """What an exact method found.

    n_edges : undirected, simple. diameter : None when disconnected (infinite) or not proved. diameter_largest_component
    : of the component with the most vertices (ties: the one with the smallest vertex); diameter_max_component : largest
    over all components; None while not proved. lower, upper : proved interval of the largest finite distance, over all
    components. exact : lower == upper is proved. seconds : wall seconds {total, compile, load, solve, verify, startup}:
    load comes before solve and verify; compile is a part of the three; startup is load, and what kernels took after it
    to be compiled or loaded, so that total - startup is the search alone, and certificate, where one was written: the
    digest of the graph most of all. store_path : as given (an address without what lets somebody in), store_name : its
    last part without .zarr; empty for a graph that is no store. details : of the method. device : what traversals ran
    on. expected_rss_bytes, planned_bytes_read : the forecast (methods/forecast.py), beside what was measured; the first
    is None for a run on a GPU. not_written : a sentence for every file that was asked for and could not be written.
    directed, weighted : whether distances go along arcs, and are sums of weights. directions_dropped : whether the
    graph that was given is directed, some arc has no other one back, and distances are those without directions.
    history : (seconds, lower, upper) each time that the bounds changed, of a run from Python; None: a bound is not
    known.
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
        """See Shown; an infinite diameter is no missing one."""
        if name == "diameter" and self.connected is False:
            return infinite(self.n_components)
        return super()._fact(name)

    def conclude(self) -> None:
        """Fill the fields that follow from lower == upper."""
        self.exact = self.lower == self.upper
        if self.exact:
            self.diameter_max_component = self.lower
            self.diameter = self.lower if self.connected else None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, the proof and the history left out, and memory_limit_exceeded; ready for
        JSON."""
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
            Where matplotlib is not installed.
        """
        last = (self.seconds.get("total", 0.0), self.lower, self.upper)
        return draw_bounds([*self.history, last], getattr(self, "estimate", None), ax)
