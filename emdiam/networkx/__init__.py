"""Backend of networkx: its functions on distances, answered by emdiam, and a store as a graph of networkx.

>>> import networkx as nx
>>> import emdiam.networkx
>>> nx.diameter(G, backend="emdiam")
>>> nx.diameter(emdiam.networkx.Graph("graph.zarr", memory="4GiB"))

networkx imports info.py with its own import, and backend.py with the first call that may use the backend. Neither
imports numba or numpy.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .stored import StoredGraph as Graph

__all__ = ["Graph"]


def __getattr__(name: str) -> object:
    """Import the graph on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(".stored", __name__).StoredGraph
