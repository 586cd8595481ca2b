"""All writers."""

from __future__ import annotations

from importlib.util import find_spec

from tests.formats.writers import by_arrays, by_igraph, by_networkit, by_networkx, by_tables
from tests.formats.writers.packed import PACKS, packed
from tests.formats.writers.writer import Writer

_LIBRARIES = (by_networkx, by_igraph, by_arrays, by_tables, by_networkit)
_ALL = {f"{writer.package}: {writer.name}": writer for library in _LIBRARIES for writer in library.WRITERS}
# What is packed: texts line by line, and texts that are read as a whole or by their own parser.
_PACKED = ("networkx: write_edgelist, data=False", "networkx: write_adjlist", "networkx: write_graphml",
           "networkx: write_gml", "scipy: mmwrite, coordinate", "pandas: to_csv, no index", "igraph: write_lgl",
           "igraph: write_pajek", "numpy: savetxt, a matrix", "networkx: write_gexf")
_ALL |= {f"{suffix[1:]}: {name}": packed(_ALL[name], suffix)
         for place, suffix in enumerate(PACKS) for name in (_PACKED[place], _PACKED[(place + 5) % len(_PACKED)])}

WRITERS: dict[str, Writer] = {name: writer for name, writer in _ALL.items() if find_spec(writer.package) is not None}
"""By name: the package and the function, or the way of packing. Without those whose package is absent."""
