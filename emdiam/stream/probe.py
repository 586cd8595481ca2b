"""What a short look at a graph found: figures for a forecast.

Four traversals show what no size does: how far a graph reaches, what a traversal reads at this very arena, and how
much a proof has left to look at after a few sweeps. Nothing of it is kept in a store.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Wall seconds that a probe may take, unless told otherwise.
PROBE_SECONDS = 10.0
# Rounds of cluster growing for which the probe knows how many vertices they reach.
BALL_ROUNDS = 32


@dataclass(frozen=True)
class Probe:
    """A BFS from the hub (the vertex of the highest degree in the largest component), one from a vertex farthest from
    it, one from a vertex farthest from that, and one from the centre: of the smallest lower bound by these.

    Distances are in edges, and what is read is in times all blocks of the graph.
    lower_bound : largest eccentricity of the first three. longest : no distance is larger, as methods size columns.
    n_reached : vertices of the component. connected : whether there is no other with an edge. reads : of a BFS, on
    average over the first three. unsettled : vertices whose eccentricity may exceed the lower bound, by the distances
    to the four.
    evaluations : vertices that F-Diam is expected to evaluate after its double sweep, if each takes away the ball of
    its slack. spread_reads : of one such ball, level by level. balls : BALL_ROUNDS + 1 entries, vertices within
    0, 1, ... steps of the second source. seconds : wall time.
    """

    lower_bound: int
    longest: int
    n_reached: int
    connected: bool
    reads: float
    unsettled: int
    evaluations: float
    spread_reads: float
    balls: tuple[int, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)
