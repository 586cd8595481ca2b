"""What all sections of a run share."""

from __future__ import annotations

from dataclasses import dataclass, field

from .cache import Cache
from .rounds import Effort


@dataclass(frozen=True)
class Setting:
    """cache : stores and files. threads : of emdiam and of the peers. quick : small graphs, one
    round. names : graphs to measure (empty: all of the section). peers : with the columns of other
    libraries. peer_seconds, solve_seconds : limits of one measurement of a peer, and of one exact
    run of emdiam. effort : see rounds.Effort."""

    cache: Cache
    threads: int = 2
    quick: bool = False
    names: tuple[str, ...] = ()
    peers: bool = True
    peer_seconds: float = 120.0
    solve_seconds: float = 120.0
    effort: Effort = field(default_factory=Effort)

    @property
    def n_sources(self) -> int:
        """Sources of a BFS measurement."""
        return 2 if self.quick else 8


QUICK_EFFORT = Effort(rounds=1, attempts=1, least_seconds=0.05)
