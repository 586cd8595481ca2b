"""Lines that are lists, tuples, matrices or values of programs, and several parts in one text, which have been read as
other edges; and their right neighbours. See kinds.py."""

from __future__ import annotations

from tests.formats.kinds import Kind, path_of
from tests.helpers.handed_in import Facts

_FOUR, _THREE = Facts(4, 3, 3), Facts(3, 2, 2)
_LISTS = Facts(4, 4, 2)


def _refused(contents: dict[str, str], suffix: str = ".txt") -> dict[str, Kind]:
    """Kinds that are no graph without more knowledge of them."""
    return {name: Kind(suffix, content, None) for name, content in contents.items()}


_COLONS = {
    "colons and commas": Kind(".txt", path_of("1: 2, 3", "2: 3, 4"), _LISTS),
    "colons and commas, names": Kind(".txt", path_of("a: b, c", "b: c, d"), _LISTS),
    "colons and commas alone": Kind(".txt", path_of("Ann: Bob,Cy", "Bob: Cy,Di"), _LISTS),
    "a blank before colons": Kind(".txt", path_of("a : b, c", "b : c, d"), _LISTS),
    "colons, names with blanks": Kind(".txt", path_of("Ann Lee: Bob Ray, Cy Fox", "Bob Ray: Cy Fox, Di Orr"), _LISTS),
    "colons, an empty list": Kind(".txt", path_of("1: 2, 3", "2: 3, 4", "4:"), _LISTS),
    "colons and addresses": Kind(".txt", path_of("http://x/1: http://x/2, http://x/3", "http://x/2: http://x/3, x:4"),
                                 _LISTS),
    "colons, every list of two": Kind(".txt", path_of("1: 2 3", "2: 1 3", "3: 1 2"), Facts(3, 3, 1)),
    "colons, numbers of lines": Kind(".txt", path_of("1: 10 20", "2: 20 30", "3: 30 40"), Facts(7, 6, 6),
                                     refusable=True),
    "colons, names of edges": Kind(".txt", path_of("e1: a b", "e2: b c", "e3: c d"), Facts(7, 6, 6), refusable=True),
} | _refused({
    "colons and semicolons": path_of("a: b; c", "b: c; d"),
    "colons and bars": path_of("a: b | c", "b: c | d"),
    "colons without blanks": path_of("a:b,c", "b:a,c", "c:a,b"),
    "colons without blanks, numbers": path_of("1:2,3", "2:3,4"),
    "equals signs and commas": path_of("1=2,3", "2=1,3", "3=1,2"),
    "a semicolon, then commas": path_of("a;b,c", "b;a,c", "c;a,b"),
    "a bar, then commas": path_of("a|b,c", "b|a,c"),
    "colons, weights behind blanks": path_of("a: b 5, c 6", "b: d 7"),
    "colons, weights behind colons": path_of("a: b:5 c:6", "b: d:7"),
    "colons, weights behind commas": path_of("a: b,8 c,4", "b: a,8", "c: a,4"),
    "colons and quotes": path_of("a: 'b', 'c'", "b: 'c'"),
    "colons, blanks and commas": path_of("a: b,c", "b: c,d", "c: d e"),
})

_ARROWS = {
    "arrows and a number that is an id": Kind(".txt", path_of("1 -> 2 3", "2 -> 4 5", "3 -> 6 7"),
                                              Facts(5, 3, 2), refusable=True),
    "arrows and one weight": Kind(".txt", path_of("1 -> 2 1", "2 -> 3 1"), _THREE),
    "arrows and fractions": Kind(".txt", path_of("1 -> 2 0.5", "2 -> 3 0.7"), _THREE),
    "signs between ids": Kind(".txt", path_of("a > b", "b > c"), _THREE),
} | _refused({
    "arrows and sets of numbers": path_of("1 -> {2, 3}", "2 -> {4}"),
    "arrows and sets of names": path_of("a -> {b, c}", "b -> {d}"),
    "arrows and commas": path_of("a -> b, c", "b -> d"),
    "arrows and weights behind colons": path_of("0->7:10", "1->7:5", "7->2:3"),
    "arrows, several on a line": path_of("a->b, b->c"),
    "arrows, paths": path_of("a -> b -> c", "b -> d -> e"),
    "signs, paths": path_of("a > b > c", "b > d > e"),
})

_TUPLES = {
    "tuples of names with blanks": Kind(".txt", path_of("(New York, Boston)", "(Boston, Reno)"), _THREE),
    "tuples of quoted names with blanks": Kind(".txt", path_of('("Ann Lee", "Bob Ray")', '("Bob Ray", "Cy Fox")'),
                                               _THREE),
    "tuples and weights": Kind(".txt", path_of("('a', 'b', 5)", "('b', 'c', 6)"), _THREE),
    "tuples and dicts": Kind(".txt", path_of("('a', 'b', {'w': 5})", "('b', 'c', {'w': 6, 'x': 1})"), _THREE),
    "tuples by blanks": Kind(".txt", path_of("(1 2)", "(2 3)"), _THREE),
    "tuples by semicolons": Kind(".txt", path_of("(a;b)", "(b;c)"), _THREE),
    "tuples, columns": Kind(".txt", path_of("(1, 'knows', 2)", "(2, 'knows', 3)"), _THREE, ("--columns", "1,3")),
    "tuples with a relation": Kind(".txt", path_of("('a', 'r', 'b')", "('b', 'r', 'c')"), _THREE, refusable=True),
    "tuples with a relation, numbers": Kind(".txt", path_of("(1, 'knows', 2)", "(2, 'knows', 3)"), _THREE,
                                            refusable=True),
    "calls, columns": Kind(".txt", path_of("edge(1,2,1)", "edge(2,3,1)"), None, ("--columns", "1,3")),
} | _refused({
    "tuples with lists": path_of("(1,[2,3])", "(2,[4])"),
    "tuples with lists of names": path_of("(a,[b,c])", "(b,[d])"),
    "tuples of other lengths": path_of("(1, 2, 3)", "(2, 4)", "(3, 4, 5, 6)"),
    "lists of names of other lengths": path_of("['a', 'b', 'c']", "['b', 'd']"),
    "tuples of other lengths, blanks": path_of("(a b c)", "(b c)", "(c a d)"),
    "lists of numbers of other lengths": path_of("[1, 2, 3]", "[2, 4]"),
    "tuples, commas within quotes": path_of("('Lee, Ann', 'Bob')", "('Bob', 'Ray, Cy')"),
    "tuples in tuples": path_of("(1,(2,3))", "(2,(4,5))"),
    "calls": path_of("edge(1,2,1)", "edge(2,3,1)"),
    "angles": path_of("<1,2>", "<2,3>"),
})

_COMMAS = {
    "blanks and decimal commas": Kind(".txt", path_of("1 2 0,5 0,7", "2 3 1,5 1,7"), _THREE),
    "commas, and blanks in names": Kind(".csv", path_of("a b,New York,x", "New York,San Jose,y", "San Jose,c d,z"),
                                        _FOUR),
    "commas, and blanks in dates": Kind(".csv", path_of("source,target,day", "1,2,10 Jan 2001", "2,3,11 Jan 2001"),
                                        _THREE),
    "commas, and blanks in times": Kind(".csv", path_of("source,target,time,w", "1,2,2020-01-01 10:00,5",
                                                        "2,3,2020-01-01 11:00,6"), _THREE),
} | _refused({
    "coordinates by commas": path_of("0,0 0,1", "0,1 1,1", "1,1 1,2"),
    "coordinates of three": path_of("0,0,0 0,0,1", "0,0,1 0,1,1"),
    "commas of thousands": path_of("1,234 5,678", "5,678 9,012"),
    "weights behind commas, tabs": path_of("1\t2,8\t3,4", "2\t1,8\t4,3", "3\t1,4", "4\t2,3"),
    "weights behind commas": path_of("1 2,8 3,4", "2 1,8", "3 1,4", "4 5,6", "5 4,6"),
    "weights behind commas, a star": path_of("1 2,5 3,7", "2 1,5", "3 1,7"),
    "weights behind commas, names": path_of("a b,0.5 c,0.7", "b a,0.5", "c a,0.7"),
    "weights in brackets": path_of("a b(8) c(4)", "b a(8)", "c a(4)"),
    "weights behind colons": path_of("1 2:0.5 3:0.7", "2 1:0.5", "3 1:0.7"),
    "weights behind bars": path_of("1 2|8 3|4", "2 1|8"),
})

_RAGGED = {
    "notes that are words": Kind(".txt", path_of("1 2 friend", "2 3", "3 4 best friend"), _FOUR),
    "notes that are fractions": Kind(".txt", path_of("1 2 0.5", "2 3", "3 4 0.7"), _FOUR),
    "a number and a date": Kind(".txt", path_of("1 2 10 Jan 2001", "2 3 11 Jan 2001", "3 4 12 Feb 2001"), _FOUR),
    "numbers or NA": Kind(".txt", path_of("1\t2\tNA", "2\t3\t4", "3\t5\tNA"), _FOUR, refusable=True),
    "three names by commas": Kind(".csv", path_of("a,b,c", "b,d,e", "c,f,g"), Facts(5, 3, 2), refusable=True),
    "edges and kinds by commas": Kind(".csv", path_of("Ann,Bob,friend", "Bob,Cy,friend", "Cy,Di,foe"), _FOUR),
    "numbers of lines and points": Kind(".txt", path_of("1. 10 20", "2. 20 30"), _THREE, refusable=True),
    "numbers of lines and brackets": Kind(".txt", path_of("1) a b", "2) b c"), _THREE, refusable=True),
    "weights that end with points": Kind(".txt", path_of("1 2 5.", "2 3 6."), _THREE),
    "numbers that end with points": Kind(".txt", path_of("1. 2.", "2. 3."), _THREE),
} | _refused({
    "fractions between neighbours": path_of("1 2 0.5 3 0.7", "2 1 0.5", "3 1 0.7"),
    "a backslash at the end": path_of("1 2 3 \\", "4 5", "2 3 6"),
    "a letter behind neighbours": path_of("1 2 3 4", "2 5", "3 6 x"),
    "dots behind neighbours": path_of("1 2 3 ...", "2 4", "3 5"),
    "a word behind neighbours": path_of("1 2 3 friend", "2 4 friend", "3 5 6 7 friend"),
    "points at the ends": path_of("1 2 3.", "2 4.", "3 5."),
})
_VALUES = _refused({
    "pairs on a line": "a-b, b-c, c-d\n",
    "pairs of letters on a line": "AB, BC, CD\n",
    "facts on a line": "edge(a,b). edge(b,c).\n",
    "facts": path_of("edge(a,b).", "edge(b,c)."),
    "edges by semicolons on a line": "a, b; b, c; c, d\n",
    "lines of SQLite": path_of("source = 1", "target = 2", "", "source = 2", "target = 3"),
    "a call with a dict": "Graph({0: [1, 2], 1: [3]})\n",
    "a dict with a name": "G = {0: [1, 2], 1: [3]}\n",
    "a view of networkx": "EdgeView([(0, 1), (1, 2)])\n",
    "rows of Spark": path_of("Row(A=1, B=2)", "Row(A=2, B=3)"),
    "lists of YAML": path_of("- [1, 2]", "- [2, 3]"),
    "Newick with lengths": "(a:1,b:2)c;\n",
    "Newick of two": "(a,b);\n",
    "dreadnaut": path_of("n=4 $=1 g", " 1 : 2 3;", " 2 : 3;", " 3 : 4."),
    "Mermaid": path_of("graph TD;", "A-->B;", "B-->C;"),
    "Mermaid, a flow": path_of("flowchart LR", "  A --> B", "  B --> C"),
    "a table of pg_dump": path_of("COPY edges (source, target) FROM stdin;", "1\t2", "2\t3", "\\."),
    "a dump of PostgreSQL": path_of("--", "-- PostgreSQL database dump", "--", "COPY e (a, b) FROM stdin;", "1\t2"),
    "statements of SQL": path_of("INSERT INTO e VALUES (1, 2);", "INSERT INTO e VALUES (2, 3);"),
    "igraph as it is shown": path_of("IGRAPH U--- 3 2 -- ", "+ edges:", "[1] 1--2 2--3"),
    "lists in brackets behind a colon": path_of("1: [(2, 5), (3, 6)]", "2: [(3, 7)]"),
}) | {
    "brackets in names": Kind(".csv", path_of("source,target", "f(x),Bonn (town)", "Bonn (town),Oslo"), _THREE),
    "half a bracket": Kind(".csv", path_of("source,target", "Rome (Italy,Bonn", "Bonn,Oslo"), _THREE, refusable=True),
}

_MATRICES = {
    "matrix of likeness": Kind(".txt", path_of("1.0 0.5 0.2", "0.5 1.0 0.1", "0.2 0.1 1.0"), Facts(3, 3, 1)),
    "matrix of Laplace": Kind(".txt", path_of("2 -1 -1", "-1 2 -1", "-1 -1 2"), Facts(3, 3, 1), refusable=True),
    "matrix of Laplace, a path": Kind(".txt", path_of("1 -1 0", "-1 2 -1", "0 -1 1"), _THREE, refusable=True),
    "matrix of distances": Kind(".txt", path_of("0 1 2 3", "1 0 1 2", "2 1 0 1", "3 2 1 0"), Facts(4, 6, 1)),
    "matrix and numbers of columns": Kind(".csv", path_of(",0,1,2", "0,0,1,0", "1,1,0,1", "2,0,1,0"), _THREE),
    "edges and two numbers": Kind(".txt", path_of("1 2 5 1", "2 3 6 0", "3 4 7 1"), _FOUR),
    "a table of numbers": Kind(".csv", path_of(",source,target,w", "0,1,2,1", "1,2,3,1", "2,3,4,1"), _FOUR),
} | _refused({
    "matrix of rows with numbers": path_of("1 0 1 0", "2 1 0 1", "3 0 1 0"),
    "matrix of PHYLIP": path_of("3", "A 0 1 2", "B 1 0 3", "C 2 3 0"),
    "matrix with inf": path_of("0 1 2 inf", "1 0 3 4", "2 3 0 5", "inf 4 5 0"),
    "matrix with inf, commas": path_of("0,1,inf", "1,0,2", "inf,2,0"),
    "lists of neighbours below n": path_of("5", "1 2 3", "2 3", "3 0", "0 1 2", "4"),
}) | _refused({
    "matrix of R, other names of rows": path_of('"","X1","X2","X3"', '"1",0,1,0', '"2",1,0,1', '"3",0,1,0'),
    "matrix of R below names": path_of('"V1","V2","V3"', "0,1,0", "1,0,1", "0,1,0"),
    "matrix of two modes, square": path_of(",E1,E2,E3", "Ann,1,0,0", "Bob,1,1,0", "Cas,0,1,1"),
    "matrix of two modes, wide": path_of(",E1,E2", "Ann,1,0", "Bob,1,1", "Cas,0,1"),
    "matrix of pandas": path_of("0,1,2", "0,1,0", "1,0,1", "0,1,0"),
}, ".csv") | {
    f"matrix below and behind numbers, {words}": Kind(suffix, path_of(*(mark.join(row) for row in (
        "0123", "1010", "2101", "3010"))), Facts(4, 5, 2), refusable=True)
    for words, suffix, mark in (("blanks", ".txt", " "), ("commas", ".csv", ","))
}

_PARTS = {
    "METIS, weights, by another name": Kind(".txt", path_of("3 2 1", "2 5", "1 5 3 7", "2 7"), _THREE, refusable=True),
    "METIS, weights, equal rows": Kind(".txt", path_of("4 4 1", "2 1 4 1", "1 1 3 1", "2 1 4 1", "1 1 3 1"),
                                       Facts(4, 4, 2), refusable=True),
    "METIS, weights of vertices": Kind(".txt", path_of("3 2 10", "5 2", "6 1 3", "7 2"), _THREE, refusable=True),
    "a comment between edges": Kind(".txt", path_of("1 2", "#", "2 3"), _THREE),
    "counts in a comment": Kind(".txt", path_of("# Nodes: 3 Edges: 2", "1 2", "2 3"), _THREE),
    "a section of edges alone": Kind(".txt", path_of("# edges", "1 2", "2 3"), _THREE),
} | _refused({
    "vertices and edges, #": path_of("1 0", "2 0", "3 0", "4 0", "#", "1 0 1 2", "2 0 2 3"),
    "vertices and edges of two": path_of("1 10", "2 20", "3 30", "#", "1 2", "2 3"),
    "sections of two": path_of("#nodes", "1 10", "2 20", "3 30", "#edges", "1 2", "2 3"),
    "sections of names": path_of("# nodes", "a 1", "b 2", "c 3", "# edges", "a b", "b c"),
    "edges, then vertices": path_of("# Edges", "1 2", "2 3", "# Vertices", "1 10", "2 20"),
    "modules of Infomap": path_of("# node module flow", "1 1 0.3", "2 1 0.3", "3 2 0.4"),
    "a decomposition of PACE": path_of("c by hand", "s td 2 2 3", "b 1 1 2", "b 2 2 3", "1 2"),
}) | _refused({
    "sections by commas": path_of("#nodes", "1,10", "2,20", "3,30", "#edges", "1,2", "2,3"),
    "lists below a header": path_of("source,target", "1,2 3", "4,5 6"),
    "lists below another header": path_of("node,neighbours", "1,2 3", "2,3 4"),
    "one name above two": path_of("friend", "ann", "ann,bob"),
}, ".csv") | {
    "a decomposition": Kind(".td", path_of("s td 2 2 3", "b 1 1 2", "b 2 2 3", "1 2"), None),
    "modules": Kind(".clu", path_of("# node module flow", "1 1 0.3", "2 1 0.3"), None),
    "a tree of modules": Kind(".ftree", path_of("# path flow name", '1:1 0.3 "a"', "*Links undirected"), None),
    "one name above two, named": Kind(".csv", path_of("nodes", "a", "b", "edges", "a,b"), None, ("--header", "names")),
}

ROW_KINDS: dict[str, Kind] = {**_COLONS, **_ARROWS, **_TUPLES, **_COMMAS, **_RAGGED, **_VALUES, **_MATRICES, **_PARTS}
