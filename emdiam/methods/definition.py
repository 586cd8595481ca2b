"""What a method is, to whoever runs, plans or lists it. Importing this brings no kernels.

Each method is a file that ends with METHOD, a Method; runs/registry.py has their names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.needs import DeviceState, Needs
    from ..store.store import Store
    from ..stream.plan import Phase, Pool
    from .forecast import CostModel
    from .run import MethodOptions, MethodRun


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
        """solve(engine, options=None) -> the Result of a run by numbers of edges; see run.solved."""
        from .metric import HopMetric
        from .run import solved

        return lambda engine, options=None: solved(self.run(HopMetric(engine), options or self.options()))

    def needs(self, name: str, store: Store, options: MethodOptions) -> Needs:
        """What the method needs of memory on `store` with these options."""
        from ..engine.needs import Needs
        from ..stream.plan import Pool

        pool = Pool() if self.pool is None else self.pool(store)
        return Needs(name, self.phases(store, options), pool, *self.tables(store, options), self.device)
