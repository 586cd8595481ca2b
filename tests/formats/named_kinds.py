"""The formats with a name, in the same way as the plain texts of kinds.py."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.io
import scipy.sparse as sparse

from tests.formats.kinds import Kind
from tests.helpers.graph_files import galois, gapbs
from tests.helpers.handed_in import Facts

_FOUR, _THREE, _EDGE = Facts(4, 3, 3), Facts(3, 2, 2), Facts(2, 1, 1)
_PLAIN = "4 5\n5 6\n"
_MTX = "%%MatrixMarket matrix coordinate pattern symmetric\n"

_TEXTS = {
    "GraphML": Kind(".graphml", '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph'
                    ' edgedefault="directed"><node id="p"/><node id="q"/><node id="r"/><edge source="p" target="q"/>'
                    '<edge source="q" target="r"/></graph></graphml>', _THREE),
    "GEXF": Kind(".gexf", '<gexf version="1.2"><graph><nodes><node id="0" label="p"/><node id="1" label="q"/>'
                 '<node id="2" label="r"/></nodes><edges><edge id="0" source="0" target="1"/>'
                 '<edge id="1" source="1" target="2" weight="2"/></edges></graph></gexf>', _THREE),
    "GML": Kind(".gml", 'graph [\n node [ id 4 label "p" ]\n node [ id 5 label "q" ]\n edge [ source 4 target 5 ]\n]\n',
                _EDGE),
    "GML behind a comment": Kind(".gml", "# made by hand\ngraph [ directed 1 node [ id 4 ] node [ id 5 ]"
                                 " edge [ source 4 target 5 value 3 ] ]\n", _EDGE),
    "GML with a creator": Kind(".gml", 'Creator "me"\nVersion 2\ngraph\n[\n node\n [\n id 4\n ]\n node [ id 5 ]\n'
                               ' edge\n [\n source 5\n target 4\n ]\n]\n', _EDGE),
    "Pajek": Kind(".net", '*Vertices 3\n1 "p q"\n2 "r"\n3 "s"\n*Arcs\n1 2 4.5\n*Edges\n2 3 1\n', _THREE),
    "Pajek behind %": Kind(".net", "% by hand\n*vertices 3\n1 p\n2 q\n3 r\n*edges 2\n1 2\n3 2\n", _THREE),
    "Pajek behind /*": Kind(".net", "/* by hand */\n*Vertices 3\n*Edges\n1 2\n2 3\n", _THREE),
    "Pajek, lists": Kind(".net", "*Vertices 4\n*Edgeslist\n1 2 3\n3 4\n", _FOUR),
    "DOT": Kind(".dot", 'digraph g {\n p -> q [weight=2];\n q -> "r s"\n}\n', _THREE),
    "DOT behind a comment": Kind(".gv", "/* by hand */\ngraph {\n  p -- q -- r;\n}\n", _THREE),
    "AdjacencyGraph": Kind(".adj", "AdjacencyGraph\n3\n4\n0\n1\n3\n1\n0\n2\n1\n", _THREE),
    "WeightedAdjacencyGraph": Kind(".txt", "WeightedAdjacencyGraph 3 2 0 1 2 1 2 7 9\n", _THREE),
    "LEDA": Kind(".gw", "LEDA.GRAPH\nvoid\nint\n-2\n3\n|{}|\n|{}|\n|{}|\n2\n1 2 0 |{4}|\n2 3 0 |{5}|\n", _THREE),
    "DL, edgelist1": Kind(".dl", "dl n=3 format=edgelist1\ndata:\n1 2\n2 3\n", _THREE),
    "DL, fullmatrix": Kind(".dl", "DL N=3 NM=1\nFORMAT = FULLMATRIX DIAGONAL PRESENT\nDATA:\n0 1 0\n1 0 1\n0 1 0\n",
                           _THREE),
    "graph6": Kind(".g6", "Ch\n", _FOUR),
    "graph6 with a header": Kind(".g6", ">>graph6<<Ch\n", _FOUR),
    "sparse6": Kind(".s6", ":Cdv\n", _FOUR),
    "node-link JSON": Kind(".json", '{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": "p"},'
                           ' {"id": "q"}, {"id": "r"}], "edges": [{"source": "p", "target": "q"},'
                           ' {"source": "q", "target": "r"}]}', _THREE),
    "N-Triples": Kind(".nt", "<http://p> <http://is> <http://q> .\n<http://q> <http://says> \"text\" .\n"
                      "<http://q> <http://is> _:r .\n", _THREE),
    "one % in the banner": Kind(".mtx", _MTX[1:] + "4 4 3\n2 1\n3 2\n4 3\n", _FOUR),
    "one % in the banner of .edges": Kind(".edges", _MTX[1:] + "4 4 3\n2 1\n3 2\n4 3\n", _FOUR),
    "asym unweighted": Kind(".edges", "% asym unweighted\n% 2 3 3\n1 2\n2 3\n", _THREE),
    "weights and times": Kind(".edges", "4 5 0.5 1082040961\n5 6 0.25 1082155839\n", _THREE),
    "a blank before the banner": Kind(".mtx", " " + _MTX + " 3 3 2\n 2 1\n 3 2\n", _THREE),
    "capitals and empty lines": Kind(".mtx", _MTX.upper() + "\n% c\n\n3 3 2\n\n2 1\n3 2\n", _THREE),
    "complex entries": Kind(".mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 2\n2 1 1 0\n3 2 1 1\n",
                            _THREE),
    "array": Kind(".mtx", "%%MatrixMarket matrix array real general\n3 3\n" + "0\n1\n0\n1\n0\n1\n0\n1\n0\n", _THREE),
    "a vector": Kind(".mtx", "%%MatrixMarket vector coordinate real general\n3 1\n1 2.0\n", None),
    "index 0": Kind(".mtx", _MTX + "3 3 2\n1 0\n2 1\n", None),
    "bipartite": Kind(".txt", "% bip unweighted\n1 1\n2 1\n", _THREE),
    "DIMACS col": Kind(".clq", "c by hand\np col 3 2\ne 1 2\ne 2 3\n", _THREE),
    "DIMACS max": Kind(".max", "c by hand\np max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 7\n", _THREE),
    "PACE tw": Kind(".gr", "c by hand\np tw 3 2\n1 2\n2 3\n", _THREE),
    "PACE ds": Kind(".gr", "p ds 3 2\n1 2\n2 3\n", _THREE),
    "DL, quoted labels": Kind(".dl", 'dl n=3 format=edgelist1\nlabels embedded\ndata:\n"New York" Bonn\nBonn Reno\n',
                              _THREE),
    "Pajek, a matrix cut short": Kind(".net", "*Vertices 3\n*Matrix\n0 1 0\n1 0 2\n", None),
    "GraphML, a graph in a node": Kind(".graphml", '<graphml><graph edgedefault="undirected"><node id="p"><graph'
                                       ' edgedefault="directed"><node id="q"/><node id="r"/><edge source="q"'
                                       ' target="r"/></graph></node><edge source="p" target="q"/></graph></graphml>',
                                       _THREE),
    "DOT, a subgraph by its name": Kind(".dot", "digraph { subgraph s { p; q } subgraph s -> r }", None),
    "GraphML, an end that is no node": Kind(".graphml", '<graphml><graph edgedefault="undirected"><node id="p"/>'
                                            '<node id="q"/><edge source="p" target="q"/><edge source="q" target="z"/>'
                                            '</graph></graphml>', None),
    "GraphML, a node twice": Kind(".graphml", '<graphml><graph edgedefault="undirected"><node id="p"/><node id="q"/>'
                                  '<node id="p"/><edge source="p" target="q"/></graph></graphml>', None),
    "GraphML, edges alone": Kind(".graphml", '<graphml><graph edgedefault="undirected"><edge source="p" target="q"/>'
                                 '<edge source="q" target="r"/></graph></graphml>', _THREE),
    "GEXF, an end that is no node": Kind(".gexf", '<gexf><graph><nodes><node id="p"/></nodes><edges>'
                                         '<edge source="p" target="q"/></edges></graph></gexf>', None),
    "DOT, arrows in a graph": Kind(".dot", "graph { p -> q; q -- r }", None),
    "DOT, dashes in a digraph": Kind(".dot", "digraph { p -- q }", None),
    "DOT, both in texts and comments": Kind(".dot", 'graph { "p->q" -- r [label="a -> b"]; // x -> y\n r -- s\n'
                                            ' /* p -> q */ s [label=<<b>x</b> -&gt; y>] }', _THREE),
    "Giraph": Kind(".json", "[0,0,[[1,1],[3,3]]]\n[1,0,[[0,1],[2,2]]]\n[2,0,[[1,2]]]\n", _FOUR),
    "escapes in N-Triples": Kind(".nt", "<a:\\u00e9> <a:k> <a:q> .\n<a:\u00e9> <a:k> <a:r> .\n", _THREE),
    "two triples on a line": Kind(".nt", "<p> <is> <q> . <q> <is> <r> .\n", None),
    "JSON, texts for numbers": Kind(".json", '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": "1", "target":'
                                    ' "2"}]}', None),
    "JSON, places and ids": Kind(".json", '{"nodes": [{"id": 10}, {"id": 20}], "links": [{"source": 0, "target": 1}]}',
                                 None),
    "JSON, a node twice": Kind(".json", '{"nodes": [{"id": "p"}, {"id": "p"}], "links": []}', None),
    "JSON, the number of nodes": Kind(".json", '{"nodes": 3, "edges": [[0, 1], [1, 2]]}', None),
    "JSON, links and edges": Kind(".json", '{"links": [["p", "q"]], "edges": [["q", "r"]]}', None),
    "JSON, a name twice": Kind(".json", '{"edges": [[1, 2]], "edges": [[2, 3]]}', None),
    "JSON, a matrix": Kind(".json", "[[0, 1, 0], [1, 0, 1], [0, 1, 0]]", None),
    "JSON, lists of neighbours": Kind(".json", "[[1, 3], [0, 2], [1, 3], [0, 2]]", None),
    "JSON, a triangle": Kind(".json", "[[1, 2], [0, 2], [0, 1]]", Facts(3, 3, 1)),
    "JSON, u and v": Kind(".json", '{"u": 1, "v": 2}\n{"u": 2, "v": 3}\n', _THREE),
    "a message of a server": Kind(".txt", "404: Not Found", None),
    "another message of a server": Kind(".csv", "Access Denied\n", None),
    "a pointer of git-annex": Kind(".csv", "/annex/objects/SHA256E-s123--abc.csv\n", None),
    "GFA": Kind(".gfa", "H\tVN:Z:1.0\nS\t1\tACGT\nL\t1\t+\t2\t+\t0M\n", None),
    "VNA": Kind(".vna", "*Node data\nID name\n1 Ann\n*Tie data\nfrom to\n1 2\n", None),
    "PlantUML": Kind(".puml", "@startuml\nA -> B\nB -> C\n@enduml\n", None),
    "Turtle of SPARQL": Kind(".ttl", "PREFIX e: <http://e/>\ne:p e:is e:q .\n", None),
    "METIS, weights of both": Kind(".graph", "% c\n3 2 011 2\n1 2 2 5\n3 4 1 5 3 6\n5 6 2 6\n", _THREE),
}


def _bytes(write: Callable[[Any], Any]) -> bytes:
    """What `write` writes into a file."""
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _tar(mode: str, members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def _zip(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def _table(**columns: Any) -> bytes:
    return _bytes(lambda out: pa.parquet.write_table(pa.table(columns), out))


def _ipc(**columns: Any) -> bytes:
    table = pa.table(columns)
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


_CHAIN = sparse.coo_array((np.ones(3), ([0, 1, 2], [1, 2, 3])), (4, 4))
_BOTH = (_CHAIN + _CHAIN.T).toarray()
_IDS = [[4, 5], [5, 6]]
_NAMES = pa.array(["p", "q"]), pa.array(["q", "r"])

_BINARY = {
    "Galois": Kind(".gr", galois([[1], [2], []]), _THREE),
    "Galois, version 2": Kind(".gr", galois([[1], [2], []], 2), _THREE),
    "GAP": Kind(".sg", gapbs([[1], [2], []]), _THREE),
    "archive of KONECT": Kind(".tar.bz2", _tar("w:bz2", {
        "roads/README.roads": "About\n", "roads/meta.roads": "name: roads\n", "roads/out.roads": "% sym\n" + _PLAIN}),
        _THREE),
    "archive of SuiteSparse": Kind(".tar.gz", _tar("w:gz", {"g/g.mtx": _MTX + "3 3 2\n2 1\n3 2\n"}), _THREE),
    "archive of Network Repository": Kind(".zip", _zip({"readme.html": "<html></html>", "g.edges": _PLAIN}), _THREE),
    "zip": Kind(".txt.zip", _zip({"edges.txt": _PLAIN}), _THREE),
    "tar": Kind(".tar", _tar("w", {"edges.txt": _PLAIN}), _THREE),
    "two members of gzip": Kind(".txt.gz", gzip.compress(b"4 5\n") + gzip.compress(b"5 6\n"), _THREE),
    "bz2 by its content": Kind(".txt", bz2.compress(_PLAIN.encode()), _THREE),
    "npy, a matrix": Kind(".npy", _bytes(lambda out: np.save(out, _BOTH)), _FOUR),
    "npy, pairs": Kind(".npy", _bytes(lambda out: np.save(out, np.array(_IDS))), _THREE, refusable=True),
    "npy, three pairs": Kind(".npy", _bytes(lambda out: np.save(out, np.array([*_IDS, [6, 7]]))), _FOUR),
    "npz, edge_index": Kind(".npz", _bytes(lambda out: np.savez(out, edge_index=np.array([*_IDS, [6, 7]]).T)), _FOUR),
    "npy, narrow floats": Kind(".npy", _bytes(lambda out: np.save(out, np.array(
        [[16777217, 2], [2, 3], [3, 4]], np.float32))), None),
    "npy, two arrays": Kind(".npy", _bytes(lambda out: (np.save(out, np.array([*_IDS, [6, 7]])), np.save(out, _BOTH))),
                            None),
    "npz, coordinates and shape": Kind(".npz", _bytes(lambda out: np.savez(
        out, row=[0, 1], col=[1, 2], data=[1, 1], shape=[4, 4])), Facts(4, 2, 2)),
    "npz, rows without a format": Kind(".npz", _bytes(lambda out: np.savez(
        out, indptr=[0, 1, 2, 3], indices=[1, 2, 0, 1])), None),
    "npz of scipy": Kind(".npz", _bytes(lambda out: sparse.save_npz(out, _CHAIN.tocsr())), _FOUR),
    "MATLAB": Kind(".mat", _bytes(lambda out: scipy.io.savemat(out, {"A": _CHAIN.tocsc()})), _FOUR),
    "Parquet, floats": Kind(".parquet", _table(source=[4.0, 5.0], target=[5.0, 6.0]), _THREE),
    "Parquet, decimals": Kind(".parquet", _table(source=pa.array([4, 5]).cast(pa.decimal128(20, 0)),
                                                 target=pa.array([5, 6]).cast(pa.decimal128(20, 0))), _THREE),
    "Parquet, people and films": Kind(".parquet", _table(userId=[1, 1, 2], movieId=[1, 3, 3]), Facts(4, 3, 3),
                                      refusable=True),
    "Parquet, count and names without a meaning": Kind(".parquet", _table(count=[7, 8], one=[4, 5], two=[5, 6]), _THREE,
                                                       chosen={"columns": "one,two"}, refusable=True),
    "Parquet, a count and a name": Kind(".parquet", _table(count=[4, 5], one=[5, 6]), _THREE,
                                        chosen={"columns": "1,2"}, refusable=True),
    "Parquet, s, p, o": Kind(".parquet", _table(s=["p", "q"], p=["k", "k"], o=["q", "r"]), _THREE),
    "Parquet, an index of pandas": Kind(".parquet", _table(p=[4, 5], q=[5, 6], __index_level_0__=[0, 1]), _THREE),
    "Parquet, vertices": Kind(".parquet", _table(name=["p", "q"], age=[4, 5], score=[5, 6]), None),
    "npy, four edges of four columns": Kind(".npy", _bytes(lambda out: np.save(out, np.array(
        [[1, 2, 7, 1], [2, 3, 8, 1], [3, 4, 9, 1], [4, 5, 9, 1]]))), Facts(5, 4, 4), refusable=True),
    "npy, a matrix of -1": Kind(".npy", _bytes(lambda out: np.save(out, np.where(_BOTH > 0, 1, -1) - np.eye(4) * -1)),
                                None),
    "Parquet, zeros": Kind(".parquet", _table(src=["04", "4"], dst=["4", "6"]), _THREE),
    "Parquet, 64 bits": Kind(".parquet", _table(src=pa.array([2**63 + 5, 7], pa.uint64()), dst=pa.array(
        [7, 2**64 - 1], pa.uint64())), _THREE),
    "Parquet, u, v, key": Kind(".parquet", _table(u=[4, 5], v=[5, 6], key=[0, 0], length=[1.5, 2.5]), _THREE),
    "Parquet, dictionaries": Kind(".parquet", _table(
        source=_NAMES[0].dictionary_encode(), target=_NAMES[1].dictionary_encode()), _THREE),
    "Parquet, a struct": Kind(".parquet", _table(edge=[{"a": 4, "b": 5}, {"a": 5, "b": 6}]), _THREE),
    "Parquet, lists": Kind(".parquet", _table(node=[4, 5, 6], neighbours=[[5], [4, 6], [5]]), _THREE),
    "Parquet, bytes": Kind(".parquet", _table(source=pa.array([b"p", b"q"]), target=pa.array([b"q", b"r"])), _THREE),
    "Parquet, a missing id": Kind(".parquet", _table(source=[4, None], target=[5, 6]), None),
    "Parquet, no rows": Kind(".parquet", _table(source=pa.array([], "int64"), target=pa.array([], "int64")), None),
    "Arrow": Kind(".arrow", _ipc(source=[4, 5], target=[5, 6]), _THREE),
    "Feather": Kind(".feather", _bytes(lambda out: pa.feather.write_feather(
        pa.table({"source": [4, 5], "target": [5, 6]}), out)), _THREE),
    "SQLite": Kind(".db", b"SQLite format 3\0" + bytes(4080), None),
    "HDF5": Kind(".h5", b"\x89HDF\r\n\x1a\n" + bytes(2040), None),
    "PDF": Kind(".txt", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", None),
    "page of a download": Kind(".txt", "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", None),
    "pickle": Kind(".pkl", b"\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00}\x94(K\x04K\x05u.", None),
}

NAMED: dict[str, Kind] = {**_TEXTS, **_BINARY}
"""Formats with a name, and files that are no graph."""
