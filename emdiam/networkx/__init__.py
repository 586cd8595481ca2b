"""Backend of networkx: its functions on distances, answered by emdiam, and a graph of networkx that is a store.

>>> import networkx as nx
>>> import emdiam.networkx
>>> nx.diameter(G, backend="emdiam")
>>> nx.diameter(emdiam.networkx.Graph("graph.zarr", memory="4GiB"))

networkx imports info.py whenever it is imported itself, and backend.py with the first call that may come here: neither
brings numba or numpy.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .stored import StoredGraph as Graph

__all__ = ["Graph"]


def __getattr__(name: str) -> object:
    """Import the graph when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(".stored", __name__).StoredGraph
