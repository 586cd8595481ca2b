"""Graph files of other programs, and archives, that have been read as another graph, and their right neighbours. See
kinds.py."""

from __future__ import annotations

import io
import struct
import zipfile

from tests.formats.kinds import Kind
from tests.helpers.handed_in import Facts

_FOUR, _THREE, _EDGE = Facts(4, 3, 3), Facts(3, 2, 2), Facts(2, 1, 1)


def _zip(**members: str | bytes) -> bytes:
    """A zip archive; the names of its members have __ for a point."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return out.getvalue()


# Path of three, undirected: n, m, offsets, neighbours.
_SG = struct.pack("<?qq4q4i", False, 4, 3, 0, 1, 3, 4, 1, 0, 2, 1)
_EDGES = "1 2\n2 3\n"

_ARCHIVES = {
    "zip of METIS": Kind(".zip", _zip(m__graph="3 2 1\n2 5\n1 5 3 7\n2 7\n"), _THREE),
    "zip of graph6": Kind(".zip", _zip(x__g6="Ch\n"), _FOUR),
    "zip of sparse6": Kind(".zip", _zip(x__s6=":Cdv\n"), _FOUR),
    "zip of GAPBS": Kind(".zip", _zip(x__sg=_SG), None),
    "zip, labels and .dat": Kind(".zip", _zip(labels__txt="1 5\n2 5\n3 6\n", graph__dat=_EDGES), _THREE),
    "zip, nodes and edges": Kind(".zip", _zip(nodes__txt="1 5\n2 5\n3 6\n", edges__dat=_EDGES), _THREE),
    "zip, vertices and arcs": Kind(".zip", _zip(vertices__csv="id,x\n1,5\n2,6\n", arcs=_EDGES), _THREE),
    "zip, called like a table of vertices": Kind(".zip", _zip(
        input__csv="id,pop\n1,2\n2,3\n", roads__csv="source,target\n1,2\n"), None),
    "zip, two lists": Kind(".zip", _zip(a__txt=_EDGES, b__dat=_EDGES), None),
    "zip, .mtx beside its parts": Kind(".zip", _zip(
        A__mtx="%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
        A_b__mtx="%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n"), _THREE),
    "zip, a graph and notes": Kind(".zip", _zip(g__graphml='<graphml><graph edgedefault="undirected"><edge source="p"'
                                                ' target="q"/></graph></graphml>', notes__txt="by us\n"), _EDGE),
}

FILE_KINDS: dict[str, Kind] = {**_ARCHIVES}
"""Kinds of graph files and archives."""
