"""The definition of a method, for code that runs, plans or lists methods. Importing it loads no kernels.

Each method is a file that ends with METHOD, a Method; runs/registry.py lists their names.
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
    """options : class of its options. run : class of its runs. phases : (store, options) -> vertex state by phase.
    cost_model : (store, options) -> the memory that it has been measured to take, and the reads.
    device : state that it keeps on a GPU. pool : memory that it could use beside vertex state (None: none).
    tables : (store, options) -> memory that it takes beside columns if those are elsewhere: least bytes, and further
    bytes that it could use."""

    options: type[MethodOptions]
    run: type[MethodRun]
    phases: Callable[[Store, Any], tuple[Phase, ...]]
    cost_model: Callable[[Store, Any], CostModel]
    device: DeviceState
    pool: Callable[[Store], Pool] | None = None
    tables: Callable[[Store, Any], tuple[int, int]] = lambda store, options: (0, 0)

    @property
    def solve(self) -> Callable[..., Any]:
        """solve(engine, options=None) -> the Result of a run on distances in edges; see run.solved."""
        from .metric import HopMetric
        from .run import solved

        return lambda engine, options=None: solved(self.run(HopMetric(engine), options or self.options()))

    def needs(self, name: str, store: Store, options: MethodOptions) -> Needs:
        """The memory that the method needs on `store` with these options."""
        from ..engine.needs import Needs
        from ..stream.plan import Pool

        pool = Pool() if self.pool is None else self.pool(store)
        return Needs(name, self.phases(store, options), pool, *self.tables(store, options), self.device)
