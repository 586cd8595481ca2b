"""What a method is, to whoever runs, plans or lists it. Importing this brings no kernels.

Each method is a file that ends with METHOD, a Method; runs/registry.py has their names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.needs import DeviceState, Needs
    from ..store.store import Store
    from ..stream.plan import Phase, Pool
    from .forecast import CostModel
    from .run import MethodRun


@dataclass(frozen=True)
class Limits:
    """When an answer is good enough, and when there is no more time.

    gap : end when upper - lower is at most this, over all components and in the largest one.
    seconds : wall time; it is looked at between traversals. bounds_only : a double sweep and one
    BFS from the middle of its path in every component that matters, and no proof. connected : raise
    errors.DisconnectedError once the graph is known not to be. known : a distance that two vertices are known to have
    at least; a run that ends early has no lower bound below it.
    """

    gap: int | None = None
    seconds: float | None = None
    bounds_only: bool = False
    connected: bool = False
    known: int = 0


@dataclass(frozen=True)
class MethodOptions:
    """Options of every method. scratch : folder for what memory has no room for, and for a store that is reordered
    first; None: $TMPDIR or /var/tmp. Of exact ones alone: path_file : see check_witness. components : how many of the
    largest ones are listed, each with its diameter."""

    path_file: Path | None = None
    limits: Limits = Limits()
    components: int = 0
    scratch: str | Path | None = None


@dataclass(frozen=True)
class Method:
    """options : the class of its options. run : that of a run of it. phases : (store, options) -> vertex
    state by phase. cost_model : (store, options) -> what it has been measured to hold and to read.
    device : what it holds on a GPU. pool : what it could make use of beside vertex state (None: nothing).
    tables : (store, options) -> what it holds beside columns, where those are elsewhere: bytes at least, and what it
    could make use of beyond that."""

    options: type[MethodOptions]
    run: type[MethodRun]
    phases: Callable[[Store, Any], tuple[Phase, ...]]
    cost_model: Callable[[Store, Any], CostModel]
    device: DeviceState
    pool: Callable[[Store], Pool] | None = None
    tables: Callable[[Store, Any], tuple[int, int]] = lambda store, options: (0, 0)

    @property
    def solve(self) -> Callable[..., Any]:
        """solve(engine, options=None) -> the Result of a run by numbers of edges; see exact.method.solved."""
        from .exact.method import solved
        from .metric import HopMetric

        return lambda engine, options=None: solved(self.run(HopMetric(engine), options or self.options()))

    def needs(self, name: str, store: Store, options: MethodOptions) -> Needs:
        """What the method needs of memory on `store` with these options."""
        from ..engine.needs import Needs
        from ..stream.plan import Pool

        pool = Pool() if self.pool is None else self.pool(store)
        return Needs(name, self.phases(store, options), pool, *self.tables(store, options), self.device)
