"""What all sections of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field

from .cache import Cache
from .programs import Programs
from .rounds import Effort


@dataclass(frozen=True)
class Setting:
    """cache : stores and files. threads : of emdiam and of the peers. quick : small graphs, one
    round. names : graphs to measure (empty: all of the section). peers : with the columns of other
    libraries. peer_seconds, solve_seconds, long_seconds : limits of one measurement of a peer, of one
    exact run of emdiam, and of one that is out of core or on a hard graph. methods : "own" (pivots
    and fdiam) or "all". large : with the graphs that take minutes to make. effort : see
    rounds.Effort. vertices : of the generated graphs of section approx. approximations : its methods (empty:
    all). programs : those of other authors."""

    cache: Cache
    threads: int = 2
    quick: bool = False
    names: tuple[str, ...] = ()
    peers: bool = True
    peer_seconds: float = 120.0
    solve_seconds: float = 60.0
    long_seconds: float = 600.0
    methods: str = "own"
    large: bool = False
    effort: Effort = field(default_factory=Effort)
    vertices: int = 1 << 22
    approximations: tuple[str, ...] = ()
    programs: Programs | None = None

    @property
    def n_sources(self) -> int:
        """Sources of a BFS measurement."""
        return 2 if self.quick else 8


QUICK_EFFORT = Effort(rounds=1, attempts=1, least_seconds=0.05)
