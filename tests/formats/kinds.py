"""Kinds of inputs that people have, a few lines of each, and the graph that each is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.helpers.handed_in import INTERFACES, Facts, Handed, Outcome


@dataclass(frozen=True)
class Kind:
    """suffix : of the file. content : as text, or as bytes. right : the graph, None where there is none and the input
    is refused. options : of the command line. chosen : what the owner of the file knows, see Handed. refusable :
    whether it may be refused, with a remedy that leads to the graph."""

    suffix: str
    content: str | bytes
    right: Facts | None
    options: tuple[str, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)
    refusable: bool = False

    def write(self, folder: Path) -> Path:
        """The file in this folder."""
        path = folder / f"input{self.suffix}"
        path.write_bytes(self.content if isinstance(self.content, bytes) else self.content.encode())
        return path


def checked(kind: Kind, interface: str, folder: Path) -> Outcome:
    """What this interface makes of it: the right graph, there or by a remedy, or a refusal where no graph is right."""
    outcome = INTERFACES[interface](Handed(kind.write(folder), kind.options, kind.chosen), folder)
    if kind.right is None:
        assert outcome.facts is None and outcome.refusal
    else:
        assert outcome.leads_to(kind.right), outcome
        assert kind.refusable or outcome.facts is not None, outcome.refusal
    return outcome


# A path of four, a path of three, a star with an arm of two.
_FOUR, _THREE, _STAR = Facts(4, 3, 3), Facts(3, 2, 2), Facts(5, 4, 3)


def path_of(*rows: str) -> str:
    """The rows, each ended by a line feed."""
    return "".join(row + "\n" for row in rows)


_LISTS = {
    "adjacency list": Kind(".txt", path_of("7 8 9", "8 7", "9 7 10 11", "10 9", "11 9"), _STAR),
    "adjacency list, commas": Kind(".csv", path_of("7,8,9", "8,7", "9,7,10,11", "10,9", "11,9"), _STAR),
    "adjacency list, colons": Kind(".txt", path_of("7: 8 9", "8: 7", "9: 7 10 11", "10: 9", "11: 9"), _STAR),
    "adjacency list, edges once": Kind(".txt", path_of("7 8 9", "9 10 11", "11"), _STAR),
    "adjacency list of networkx": Kind(".adjlist", path_of("#make.py", "# GMT Mon", "#", "p q r", "q", "r s"), _FOUR),
    "lists of several lines": Kind(".adjlist", path_of(
        "#make.py", "# GMT Mon", "#", "p 2", "q {}", "r {}", "q 0", "r 1", "s {}", "s 0"), _FOUR, refusable=True),
    "LGL": Kind(".lgl", path_of("# p", "q", "r", "# r", "s"), _FOUR),
    "LGL, weights": Kind(".lgl", path_of("# p", "q 3", "r 1.5", "# r", "s 2"), _FOUR),
    "SIF": Kind(".sif", path_of("p binds q", "q binds r s", "s cuts t"), Facts(5, 4, 3)),
    "SIF by another name": Kind(".txt", path_of("p\tbinds\tq", "q\tbinds\tr", "r\tbinds\ts"), _FOUR),
}

_MATRICES = {
    "matrix": Kind(".txt", path_of("0 1 1 1", "1 0 0 0", "1 0 0 0", "1 0 0 0"), Facts(4, 3, 2)),
    "matrix, commas": Kind(".csv", path_of("0,1,1,1", "1,0,0,0", "1,0,0,0", "1,0,0,0"), Facts(4, 3, 2)),
    "matrix of names": Kind(".csv", path_of(",p,q,r,s", "p,0,1,0,0", "q,1,0,1,0", "r,0,1,0,1", "s,0,0,1,0"), _FOUR),
    "matrix of names, semicolons": Kind(".csv", path_of(";p;q;r", "p;0;1;0", "q;1;0;1", "r;0;1;0"), _THREE),
    "matrix of weights": Kind(".txt", path_of("0 2.5 0 0", "2.5 0 1.5 0", "0 1.5 0 4", "0 0 4 0"), _FOUR),
}

_COUNTS = {
    "n m above weights": Kind(".txt", path_of("4 3", "0 1 9", "1 2 9", "2 3 9"), _FOUR),
    "n n m": Kind(".txt", path_of("4 4 3", "0 1", "1 2", "2 3"), _FOUR),
    "n m above edges": Kind(".txt", path_of("4 3", "0 1", "1 2", "2 3"), _FOUR),
    "n m above edges from 1": Kind(".txt", path_of("4 3", "1 2", "2 3", "3 4"), _FOUR),
    "n m above names": Kind(".txt", path_of("4 3", "p q 2", "q r 2", "r s 2"), _FOUR),
    "n and m on two lines": Kind(".txt", path_of("4", "3", "0 1 9", "1 2 9", "2 3 9"), _FOUR, refusable=True),
    "counts that agree with nothing": Kind(".txt", path_of("50 60", *(f"{v} {v + 1}" for v in range(8))),
                                           Facts(9, 8, 8), refusable=True),
    "counts and coordinates": Kind(".txt", path_of(
        "# roads", "3", "2", "0 1.5 2.5", "1 1.6 2.6", "2 1.7 2.7", "0 1 4.5 street 30 0", "1 2 5.5 street 30 1"),
        _THREE, refusable=True),
}

_HEADERS = {
    "words above names": Kind(".txt", path_of("protein1 protein2 score", "P1.x P2.x 12", "P2.x P3.x 15"), _THREE),
    "unknown words above names": Kind(".txt", path_of("gene_a gene_b", "ABC DEF", "DEF GHI"), _THREE, refusable=True),
    "words above numbers": Kind(".txt", path_of("FromNodeId ToNodeId", "4 5", "5 6"), _THREE),
    "tabs, words": Kind(".tsv", path_of("node1\tnode2\tweight", "p\tq\t3", "q\tr\t4"), _THREE),
    "names without a header": Kind(".csv", path_of("p,q", "q,r", "r,s"), _FOUR),
    "quoted names without a header": Kind(".csv", path_of('"p";"q"', '"q";"r"', '"r";"s"'), _FOUR),
    "names with blanks": Kind(".tsv", path_of("Old Town\tNew Town", "New Town\tFar Hill"), _THREE),
}

_COLUMNS = {
    "index, u, v": Kind(".csv", path_of(",u,v,length", "0,20,21,1.5", "1,21,22,2", "2,22,23,3"), _FOUR),
    "index, source, target": Kind(".csv", path_of(",source,target", "0,20,21", "1,21,22", "2,22,23"), _FOUR),
    "id, u, v": Kind(".csv", path_of("id,u,v", "0,20,21", "1,21,22", "2,22,23"), _FOUR),
    "edge_id, start_node, end_node": Kind(".csv", path_of("edge_id,start_node,end_node", "0,20,21", "1,21,22"), _THREE),
    "weight, i, j": Kind(".csv", path_of("weight,i,j", "3,20,21", "3,21,22", "4,22,23"), _FOUR),
    "Origin, Destination": Kind(".csv", path_of("Id,Origin,Destination", "1,AMS,OSL", "2,OSL,HEL"), _THREE),
    ":START_ID, :END_ID": Kind(".csv", path_of(":START_ID,:END_ID,:TYPE", "4,5,LIKES", "5,6,LIKES"), _THREE),
    ":START_ID, role, :END_ID": Kind(".csv", path_of(":START_ID,role,:END_ID,:TYPE", "p,x,q,IN", "r,y,q,IN"), _THREE),
    "~from, ~to": Kind(".csv", path_of("~id,~from,~to,~label", "e1,p,q,likes", "e2,q,r,likes"), _THREE),
    "one name twice": Kind(".csv", path_of("Person.id|Person.id|date", "4|5|2001", "5|6|2002"), _THREE),
    "node1, label, node2": Kind(".tsv", path_of("node1\tlabel\tnode2", "p\tis\tq", "q\tis\tr"), _THREE),
    "from_stop_id": Kind(".txt", path_of("from_stop_id,to_stop_id,transfer_type", "p,q,0", "q,r,0"), _THREE),
    "u, v, key": Kind(".csv", path_of("u,v,key,osmid,length", "7001,7002,0,5,1.25", "7002,7003,0,6,2.5"), _THREE),
    "Source, Target of Gephi": Kind(".csv", path_of(
        "Id,Source,Target,Type", "0,p,q,Directed", "1,q,r,Directed"), _THREE),
    "semicolons, decimal commas": Kind(".csv", path_of("Source;Target;Weight", "p;q;1,5", "q;r;2,25"), _THREE),
    "columns by number": Kind(".csv", path_of("XX,17,AAA,18,BBB,19,,0", "XX,17,CCC,20,BBB,19,,0"), _THREE,
                              ("--columns", "3,5")),
    "columns by name": Kind(".csv", path_of("a,b,c", "p,9,q", "q,9,r"), _THREE, ("--columns", "a,c")),
    "columns that nobody knows": Kind(".csv", path_of("XX,17,AAA,18,BBB,19,,0", "XX,17,CCC,20,BBB,19,,0"), _THREE,
                                      chosen={"columns": "3,5"}, refusable=True),
    "triples": Kind(".txt", path_of("/m/p\t/is/in\t/m/q", "/m/q\t/is/of\t/m/r"), _THREE, chosen={"columns": "1,3"},
                    refusable=True),
}

_SEPARATORS = {
    "sep=": Kind(".csv", path_of("sep=;", "Source;Target", "p;q", "q;r"), _THREE),
    "semicolon": Kind(".txt", path_of("4;5", "5;6"), _THREE),
    "semicolon, decimal comma": Kind(".txt", path_of("4;5;0,5", "5;6;0,25"), _THREE),
    "bar": Kind(".txt", path_of("4|5", "5|6"), _THREE),
    "arrow": Kind(".txt", path_of("p -> q", "q -> r"), _THREE),
    "arrow without blanks": Kind(".txt", path_of("4->5", "5->6"), _THREE),
    "tuples": Kind(".txt", path_of("(4, 5)", "(5, 6)"), _THREE, refusable=True),
    "dash": Kind(".txt", path_of("4-5", "5-6"), _THREE, refusable=True),
    "blanks about": Kind(".txt", "  4 5   \n5 6\t\n\n\n", _THREE),
    "CR LF": Kind(".txt", "# FromNodeId\tToNodeId\r\n4\t5\r\n5\t6\r\n", _THREE),
    "names with commas and ends of lines": Kind(".csv", 'source,target\n"P, Q","R, S"\n"R, S","T\nU"\n', _THREE),
    "//": Kind(".txt", path_of("// made by hand", "4 5", "5 6"), _THREE),
    "c above numbers": Kind(".edges", path_of("c a comment", "4 5", "5 6"), _THREE, refusable=True),
    "dicts of Python": Kind(".edgelist", path_of("4 5 {}", "5 6 {}"), _THREE),
    "dicts with weights": Kind(".edgelist", path_of("4 5 {'weight': 2.5}", "5 6 {'weight': 3}"), _THREE),
}

_IDS = {
    "whole floats": Kind(".txt", path_of("4.0 5.0", "5.0 6.0", "6.0 40.0"), _FOUR),
    "whole floats, exponents": Kind(".txt", path_of("4.0000e+00 5.0000e+00 2.5", "5.0000e+00 6.0000e+00 1.5"), _THREE),
    "floats beside integers": Kind(".csv", path_of("source,target", "4.0,5", "5.0,6", "6.0,7"), _FOUR),
    "exponents": Kind(".csv", path_of("source,target", "2e+05,7", "7,3e2", "200000,9"), Facts(4, 3, 3)),
    "leading zeros": Kind(".csv", path_of("from,to", "02001,02003", "02003,2001"), _THREE, refusable=True),
    "hexadecimal": Kind(".txt", path_of("0x10 0x2b", "0x2b 0x3c"), _THREE),
    "UUID": Kind(".txt", path_of(*(f"00000000-0000-4000-8000-00000000000{v} 00000000-0000-4000-8000-00000000000{v + 1}"
                                 for v in range(2))), _THREE),
    "64 bits without a sign": Kind(".txt", path_of("18446744073709551610 4", "4 9223372036854775810"), _THREE,
                                   refusable=True),
    "below 0": Kind(".txt", path_of("-4 5", "5 6"), _THREE, refusable=True),
    "a byte order mark": Kind(".txt", "\ufeff4 5\n5 6\n6 4\n", Facts(3, 3, 1)),
    "a byte order mark, no header": Kind(".csv", "\ufeffp,q\nq,r\nr,s\n", _FOUR),
    "UTF-16": Kind(".csv", "source,target\np,q\nq,r\n".encode("utf-16"), _THREE),
    "UTF-16, blanks": Kind(".txt", "4 5\n5 6\n".encode("utf-16"), _THREE),
    "Latin-1": Kind(".txt", "Jürg Zoé\nZoé Ann\n".encode("latin-1"), _THREE, chosen={"encoding": "latin-1"},
                    refusable=True),
    "a loop": Kind(".txt", "4 4\n", Facts(1, 0, 0)),
    "comments alone": Kind(".txt", "# no edge\n", None),
    "a header alone": Kind(".csv", "source,target\n", None),
}

# What another reading of columns, comments or marks would make another graph.
_DOUBTFUL = {
    "dates before the ends": Kind(".csv", path_of("2020-01-01,p,q", "2020-01-01,q,r", "2020-01-03,r,s"), _FOUR,
                                  refusable=True),
    "times before the ends": Kind(".txt", path_of("1082040961 4 5", "1082155839 5 6", "1082414391 6 7"), _FOUR,
                                  refusable=True),
    "weights before the ends": Kind(".txt", path_of("0.5 4 5", "0.25 5 6", "0.75 6 7"), _FOUR, refusable=True),
    "numbers of lines": Kind(".csv", path_of("0,14,15", "1,15,16", "2,16,17"), _FOUR, refusable=True),
    "letters before the ends": Kind(".txt", path_of("e 4 5", "e 5 6", "e 6 7"), _FOUR, refusable=True),
    "relations between numbers": Kind(".tsv", path_of("4\tbinds\t5", "5\tbinds\t6", "6\tcuts\t7"), _FOUR,
                                      refusable=True),
    "dates in a header": Kind(".csv", path_of("start_date,end_date,person,friend", "1,5,2,3", "2,9,3,4"), _THREE,
                              chosen={"columns": "3,4"}, refusable=True),
    "coordinates": Kind(".txt", path_of("0.5 1.5 2.5 3.5", "2.5 3.5 4.5 5.5"), _THREE, chosen={"columns": "1,3"},
                        refusable=True),
    "people and numbers": Kind(".csv", path_of("person,thing", "p,1", "q,1", "q,2"), _FOUR, refusable=True),
    "sparse matrix as it is shown": Kind(".txt", path_of("  (4, 5)\t1.0", "  (5, 6)\t1.0", "  (6, 7)\t2.5"), _FOUR),
    "ids with #": Kind(".txt", path_of("#p #q", "#q r", "r #s"), None),
    "ids with # in quotes": Kind(".csv", path_of('"#p","#q"', '"#q","r"', '"r","#s"'), _FOUR),
    "ids with # in one column": Kind(".txt", path_of("p q", "#q r", "r s"), None),
    "vertices and labels": Kind(".csv", path_of("Id,Label", "1,Ann", "2,Bob", "3,Cas"), None),
    "vertices and ages": Kind(".csv", path_of("name,age", "Ann,31", "Bob,25", "Cas,31"), None),
    "vertices and edges by letters": Kind(".lg", path_of("t # 0", "v 0 1", "v 1 1", "e 0 1 2"), None),
    "trivial graph format": Kind(".tgf", path_of("1 Ann", "2 Bob", "#", "1 2 knows"), None),
    "a comment of another mark": Kind(".txt", path_of("! version 1", "4 5", "5 6", "6 7"), None),
    "semicolons at the ends": Kind(".txt", path_of("4 -- 5;", "5 -- 6;", "6 -- 7;"), None),
    "edges on one line": Kind(".txt", "[(4, 5), (5, 6), (6, 7)]\n", _FOUR),
    "a word before each edge": Kind(".txt", path_of("Edge 4 => 5", "Edge 5 => 6", "Edge 6 => 7"), None),
    "names of fields": Kind(".txt", path_of("source=p target=q", "source=q target=r"), None),
    "columns of fixed width": Kind(".txt", path_of("Old Town   Harbour", "Harbour    Airport", "Airport    Far Hill"),
                                   None),
    "METIS by another name": Kind(".txt", path_of("4 3", "2", "1 3", "2 4", "3"), _FOUR, refusable=True),
    "METIS of equal rows": Kind(".txt", path_of("5 5", "2 5", "1 3", "2 4", "3 5", "4 1"), Facts(5, 5, 2),
                                refusable=True),
    "names in a comment": Kind(".txt", path_of("#ID\tGene A\tGene B\tx", "103\t6\t7\tp", "117\t7\t8\tq"), _THREE,
                               refusable=True),
    "two pairs of names": Kind(".csv", path_of("ID,Gene A,Gene B,Name A,Name B", "103,6,7,p,q", "117,7,8,q,r"), _THREE,
                               refusable=True),
    "coordinates of DIMACS": Kind(".co", path_of("c roads", "p aux sp co 2", "v 1 -73 41", "v 2 -74 42"), None),
    "Markdown": Kind(".md", path_of("| source | target |", "|---|---|", "| p | q |", "| q | r |"), None),
    "YAML": Kind(".yml", path_of("p: [q, r]", "q: [s]"), _FOUR),
    "files joined": Kind(".csv", path_of("source,target", "p,q", "source,target", "q,r"), None),
    "rows of sources and targets": Kind(".txt", path_of("0 1 2 3 4 5", "1 2 3 4 5 6"), None),
    "None": Kind(".csv", path_of("source,target", "p,q", "q,None", "None,r"), _FOUR, refusable=True),
    "empty cells of SQL": Kind(".csv", path_of("source,target", "p,q", "q,\\N", "\\N,r"), _FOUR, refusable=True),
    "a second line of units": Kind(".csv", path_of("source,target,km", "-,-,km", "p,q,1", "q,r,2"), Facts(4, 2, 2),
                                   refusable=True),
    "a comment between records": Kind(".csv", path_of("source,target", "p,q", "# by hand, here", "q,r"), None),
    "a record in a comment": Kind(".csv", path_of("source,target", "1,2", "#2,3", "3,4"), None),
    "a word that is missing late": Kind(".txt", path_of(*(f"n{v} n{v + 1}" for v in range(1200)), "n3 nan", "nan n9"),
                                        Facts(1202, 1202, 1196), refusable=True),
    "a header again late": Kind(".txt", path_of("source target", *(f"n{v} n{v + 1}" for v in range(1200)),
                                              "source target"), None),
    "floats that Excel has rounded": Kind(".csv", path_of("source,target", "1.23457E+11,7", "1.23457E+11,8"),
                                          _THREE, refusable=True),
    "people and films": Kind(".csv", path_of("userId,movieId,rating", "1,1,4.0", "1,3,4.5", "2,3,5.0"), Facts(4, 3, 3),
                             refusable=True),
    "trips and stops": Kind(".csv", path_of("route_id,trip_id", "1,1", "1,2"), Facts(3, 2, 2), refusable=True),
    "rows of a matrix below names": Kind(".csv", path_of("p,q,r", "0,1,0", "1,0,1", "0,1,0"), None),
    "a matrix below its size": Kind(".txt", path_of("4", "0 1 0 0", "1 0 1 0", "0 1 0 1", "0 0 1 0"), _FOUR),
    "a matrix of texts": Kind(".csv", path_of("False,True,False", "True,False,True", "False,True,False"), _THREE),
    "sections": Kind(".txt", path_of("nodes 4", "edges 3", "1 2", "2 3", "3 4"), None),
    "words and colons above": Kind(".txt", path_of("Vertices: 4", "Edges: 3", "1 2", "2 3", "3 4"), None),
    "a distance table": Kind(".tsp", path_of("NAME : x", "TYPE : TSP", "EDGE_WEIGHT_SECTION", "0 1 2", "1 0 3", "2 3 0",
                                           "EOF"), None),
    "records of words": Kind(".txt", path_of("Id:   0", "ASIN: 0771", "  unknown product", "", "Id:   1", "ASIN: 0827"),
                             None),
    "lists of Python behind colons": Kind(".txt", path_of("1: [2, 3]", "2: [4]", "3: [4]"), Facts(4, 4, 2)),
    "lists by semicolons": Kind(".txt", path_of("1: 2; 3", "2: 4", "3: 4"), None),
    "lists in a second column": Kind(".txt", path_of("1\t2,3", "2\t4", "3\t4,5,6"), None),
    "names in a second column": Kind(".txt", path_of("1\tp", "q\tr,s", "r\t1"), None),
    "lists behind their number": Kind(".txt", path_of("0 2 1 2", "1 1 3", "2 1 3"), None),
    "lists before a mark": Kind(".txt", path_of("1 2 3 -1", "2 1 4 -1", "3 1 -1", "4 2 -1"), None),
    "arrows with labels": Kind(".txt", path_of("p -[knows]-> q", "q -[knows]-> r"), None),
    "triples with full stops": Kind(".txt", path_of("e:p e:is e:q .", "e:q e:is e:r .", "e:r e:is e:s ."), None),
    "times before names of two": Kind(".dat", path_of("20 58 67 A A", "20 60 70 A A", "20 67 74 A B", "40 58 67 A A",
                                                    "40 70 74 A B", "60 74 58 B A"), Facts(5, 5, 3),
                                      chosen={"columns": "2,3"}, refusable=True),
    "layers before the ends": Kind(".edges", path_of("1 4 5 1", "1 5 6 1", "2 4 6 1", "2 6 7 1"), Facts(4, 4, 2),
                                   chosen={"columns": "2,3"}, refusable=True),
    "groups before the ends": Kind(".csv", path_of("g1,Ann,Bob", "g2,Bob,Cas", "g1,Cas,Dee"), _FOUR,
                                   chosen={"columns": "2,3"}, refusable=True),
    "paths of five": Kind(".txt", path_of("1 2 3 4 5", "5 3 1 2 4", "2 4 5 1 3"), Facts(5, 3, 2),
                          chosen={"columns": "1,2"}, refusable=True),
    "names without a meaning": Kind(".csv", path_of("count,one,two", "1,4,5", "4,5,6", "4,6,7"), _FOUR,
                                    chosen={"columns": "2,3"}, refusable=True),
    "two pairs of ends": Kind(".csv", path_of("source,target,source_id,target_id", "p,q,1,2", "q,r,2,3"), _THREE,
                              refusable=True),
    "columns of features": Kind(".csv", path_of("id,f1,f2", "1,0.5,0.25", "2,0.75,0.5"), None),
    "people and items": Kind(".csv", path_of("user,item", "1,1", "1,2", "2,2"), _FOUR, refusable=True),
    "a matrix of two modes": Kind(".csv", path_of(",E1,E2,E3", "Ann,1,0,0", "Bob,1,1,0", "Cas,0,1,1"), None),
    "a matrix of two modes by letters": Kind(".csv", path_of(",A,B", "p,1,0", "q,1,1", "r,0,1"), None),
    "a matrix with totals": Kind(".csv", path_of(",p,q,r,all", "p,0,1,0,1", "q,1,0,1,2", "r,0,1,0,1", "all,1,2,1,4"),
                                 Facts(4, 5, 2), refusable=True),
    "a matrix of -1": Kind(".txt", path_of("0 1 -1 -1", "1 0 2 -1", "-1 2 0 3", "-1 -1 3 0"), Facts(4, 6, 1),
                           refusable=True),
    "a matrix of MATLAB on a line": Kind(".txt", "0 1 0; 1 0 1; 0 1 0\n", None),
    "n m s t": Kind(".txt", path_of("4 3 1 4", "1 2 7", "2 3 8", "3 4 9"), _FOUR, refusable=True),
    "m n above a tree": Kind(".txt", path_of("5 6", "1 2", "2 3", "3 4", "4 5", "1 6"), Facts(6, 5, 5), refusable=True),
    "rows of vertices by their lines": Kind(".txt", path_of("2 5", "1 3", "2 4", "3 5", "4 1"), Facts(5, 5, 2),
                                            refusable=True),
    "rows of vertices below n": Kind(".txt", path_of("5", "1 4", "0 2", "1 3", "2 4", "3 0"), None),
    "hyperedges below m n": Kind(".txt", path_of("4 7", "1 2", "1 7 5 6", "5 6 4", "2 3 4"), Facts(7, 5, 4),
                                 refusable=True),
    "hMETIS": Kind(".hgr", path_of("4 7", "1 2", "1 7 5 6", "5 6 4", "2 3 4"), None),
    "Newick": Kind(".nwk", "(A,B,(C,D)E)F;\n", None),
    "Newick, several trees": Kind(".txt", path_of("((A,B),C);", "(A,(B,C));"), None),
    "Harwell and Boeing": Kind(".rb", path_of("title", "3 1 1 1", "rua 3 3 2 0"), None),
    "sections of INI": Kind(".ini", path_of("[edges]", "p = q", "q = r"), None),
    "a table of LaTeX": Kind(".txt", path_of("p & q \\\\", "q & r \\\\", "r & s \\\\"), None),
    "edges on a line by blanks": Kind(".txt", "1 2 2 3 3 4\n", None),
    "a statement of SQL": Kind(".sql", "INSERT INTO e VALUES (1,2),(2,3),(3,4);\n", None),
}

# Which are read, though they look like others.
_PLAIN = {
    "blanks of Unicode in lists": Kind(".adjlist", path_of("New\u00a0York Boston Austin", "Boston Reno"), _FOUR),
    "blanks of Unicode in relations": Kind(".sif", path_of("New\u00a0York pp Boston", "Boston pp Reno"), _THREE),
    "blanks of Unicode about ids": Kind(".csv", path_of("source,target", "p\u00a0,q", "q,r", "p,s"), Facts(5, 3, 2),
                                        refusable=True),
    "commas within ids": Kind(".txt", path_of("http://a/c?d=1,2 http://a/e", "http://a/e http://a/f"), _THREE),
    "long arrows": Kind(".txt", path_of("p ---> q", "q ---> r"), _THREE),
    "names of columns in a comment": Kind(".tsv", path_of("#source\ttarget\tscore", "p\tq\t1", "q\tr\t2"), _THREE),
    "the id of a person": Kind(".csv", path_of("source_id,target_id", "1,2", "2,3"), _THREE),
    "a matrix of names by R": Kind(".txt", path_of('"p" "q" "r"', '"p" 0 1 0', '"q" 1 0 1', '"r" 0 1 0'), _THREE),
    "s, p, o": Kind(".csv", path_of("x,s,p,o", "1,a:p,a:k,a:q", "2,a:q,a:k,a:r"), _THREE),
    "first and second": Kind(".csv", path_of("count,first,second", "1,1,2", "2,2,3", "1,3,4"), _FOUR),
    "0 and 1 among others": Kind(".txt", path_of("0 1", "1 0", "1 2"), _THREE),
    "an edge and its values": Kind(".txt", "4 5 0.5 7\n", Facts(2, 1, 1)),
    "ids with two kinds of names": Kind(".csv", path_of("source,target", "Paris, F", "F,Bonn"), _THREE),
}

TEXTS: dict[str, Kind] = {**_LISTS, **_MATRICES, **_COUNTS, **_HEADERS, **_COLUMNS, **_SEPARATORS, **_IDS, **_DOUBTFUL,
                          **_PLAIN}
"""Kinds of plain text."""


def refused(suffix: str, *rows: str) -> Kind:
    """Lines that are no graph."""
    return Kind(suffix, path_of(*rows), None)


def doubtful(suffix: str, right: Facts, *rows: str) -> Kind:
    """Lines that are refused, with a remedy that leads to the graph."""
    return Kind(suffix, path_of(*rows), right, refusable=True)


def read(suffix: str, right: Facts, *rows: str) -> Kind:
    """Lines that are read."""
    return Kind(suffix, path_of(*rows), right)
