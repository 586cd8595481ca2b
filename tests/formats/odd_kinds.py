"""Tables with an odd line, marks and words at places where other files have none, and other inputs that have been read
as another graph. See kinds.py."""

from __future__ import annotations

from tests.formats.kinds import Kind, path_of
from tests.helpers.handed_in import Facts

_FOUR, _THREE = Facts(4, 3, 3), Facts(3, 2, 2)

# A line that lacks the separator of all others, or a field: blanks inside names are no separators then.
_RAGGED = {
    "tabs, a field less": Kind(".tsv", path_of(
        "source\ttarget\tlabel", "Ann Lee\tBob Ray\tfriend", "Bob Ray\tCy Fox"), None),
    "tabs, a field more": Kind(".tsv", path_of(
        "source\ttarget\tlabel", "Ann Lee\tBob Ray\tx", "Bob Ray\tCy Fox\tx", "Di Orr\tEd Poe\tx\ty"), None),
    "tabs, a field less far below": Kind(".tsv", path_of(
        "source\ttarget\tlabel", *(f"N {i}\tN {i + 1}" + "\tx" * (i != 502) for i in range(600))), None),
    "tabs, a field less, no header": Kind(".tsv", path_of("Ann Lee\tBob Ray\tx", "Bob Ray\tCy Fox"), None),
    "rows counted below": Kind(".csv", path_of(
        "source,target", "Ann Lee,Bob Ray", "Bob Ray,Cy Fox", "Cy Fox,Di Orr", "(3 rows affected)"), None),
    "rows counted by psql": Kind(".csv", path_of("source,target", "ann,bob", "bob,cem", "(2 rows)"), None),
    "rows counted by psql -A": Kind(".txt", path_of("source|target", "ann|bob", "bob|cem", "(2 rows)"), None),
    "rows counted below quotes": Kind(".csv", path_of(
        "source,target", '"Ann Lee","Bob Ray"', '"Bob Ray","Cy Fox"', "(2 rows)"), None),
    "a total below": Kind(".csv", path_of("source;target", "ann;bob", "bob;cem", "Total 2"), None),
    "a mark lost": Kind(".csv", path_of("source|target", "ann|bob", "bob cem"), None),
    "a blank in a time": Kind(".tsv", path_of(
        "time\tsource\ttarget\tnote", "2020-01-01 10:00\ta\tb\tx", "2020-01-01 11:00\tb\tc\ty",
        "2020-01-01 12:00\tc\td"), None),
    "a blank in a weight's neighbour": Kind(".tsv", path_of(
        "source\ttarget\tname\tweight", "1\t2\tA 3\t5", "2\t3\tA 4\t6", "3\t4\tA 5\t7\tx"), None,
        ("--weight", "weight")),
    "names, a line of one": Kind(".csv", path_of("Ann Lee,Bob Ray", "Bob Ray,Cy Fox", "Cy Fox,Di Orr", "Di Orr"), None),
    "names, rows counted below": Kind(".csv", path_of("ann,bob", "bob,cem", "(2 rows)"), None),
    "bars, a field less": Kind(".txt", path_of(
        "Ann Lee|Bob Ray|friend", "Bob Ray|Cy Fox|friend", "Cy Fox|Di Orr"), None),
    "a header that ends with a mark": Kind(".csv", path_of("source,target,", "a b,c d", "c d,e f"), _THREE),
    "a title above": Kind(".csv", path_of("Report 2020,", "source,target", "a,b", "b,c"), None),
    "marks above": Kind(".csv", path_of(",,", "source,target,w", "a,b,1", "b,c,2"), None),
}

# A comment with names of columns, between blanks.
_COMMENTED = {
    "comment of names, weights first": Kind(".txt", path_of("# weight source target", "7 1 2", "8 2 3"), _THREE,
                                            refusable=True),
    "comment of names, numbers first": Kind(".txt", path_of("# id source target", *(
        f"{i} {v} {v + 1}" for i, v in enumerate((4, 5, 6), 1))), _FOUR, refusable=True),
    "comment of names as they are": Kind(".txt", path_of("# FromNodeId\tToNodeId", "1\t2", "2\t3"), _THREE),
    "comment of other words": Kind(".txt", path_of("# edges of friends", "1 2 3", "2 3 4"), _THREE),
}

_MARKED = {
    "matrix, commas at the ends": Kind(".csv", path_of("0,1,0,0,", "1,0,1,0,", "0,1,0,1,", "0,0,1,0,"), None),
    "matrix, semicolons at the ends": Kind(".txt", path_of("0 1 0;", "1 0 1;", "0 1 0"), None),
    "matrix, points for 0": Kind(".txt", path_of(". 1 . .", "1 . 1 .", ". 1 . 1", ". . 1 ."), None),
    "edges, semicolons at the ends": Kind(".txt", path_of("1 2;", "2 3;", "3 4;"), None),
    "arrows and a number": Kind(".txt", path_of("a -> b 5", "b -> c 6"), None),
    "arrows and a comment": Kind(".txt", path_of("a -> b # so", "b -> c"), None),
    "arrows and an attribute": Kind(".txt", path_of("a -> b weight=5", "b -> c weight=6"), None),
    "arrows and a number behind a colon": Kind(".txt", path_of("a -> b: 5", "b -> c: 6"), None),
    "arrows between names": Kind(".txt", path_of("New York -> Salt Lake", "Salt Lake -> Reno"), _THREE),
    "two arrows": Kind(".txt", path_of("a -> b", "c <- b"), _THREE),
    "arrows and neighbours": Kind(".txt", path_of("a -> b c", "b -> d", "c -> d"), None),
    "arrows and lists of numbers": Kind(".txt", path_of("1 -> 2 3", "2 -> 4", "3 -> 1 4 5", "4 -> 5"), None),
    "arrows, a number in some lines": Kind(".txt", path_of("a -> b 5", "b -> c", "c -> d 7"), None),
    "arrows, numbers before": Kind(".txt", path_of("1. a -> b", "2. b -> c"), None),
    "arrows, a word behind": Kind(".txt", path_of("a -> b road", "b -> c road"), None),
    "arrows between quotes": Kind(".txt", path_of("a -> b", '"b" -> c'), None),
    "arrows and weights": Kind(".txt", path_of("1 -> 2 5", "2 -> 3 6"), _THREE),
    "arrows, names that end with numbers": Kind(".txt", path_of("Step 1 -> Step 2", "Step 2 -> Step 3"), _THREE),
    "arrows between addresses": Kind(".txt", path_of("http://a.x/?q=1 -> http://b.x/?q=2",
                                                     "http://b.x/?q=2 -> http://c.x/?q=3"), _THREE),
    "arrows as a column": Kind(".csv", path_of("source,relation,target", "a,->,b", "b,-|,c"), _THREE),
    "arrows and other relations": Kind(".txt", path_of("a -> b", "b -| c"), _THREE),
    "an arrow and a blank": Kind(".txt", path_of("a -> b", "b c"), None),
    "a list of Python": Kind(".txt", path_of("edges = [(1, 2), (2, 3)]"), None),
    "a dict of Python": Kind(".txt", path_of("{'a': ['b', 'c'], 'b': ['d']}"), None),
    "a list of JavaScript": Kind(".txt", path_of("var edges = [[1, 2], [2, 3]];"), None),
    "dashes and commas on a line": Kind(".txt", path_of("1-2,2-3,3-4"), None),
    "attributes of networkx, blanks in names": Kind(".txt", path_of("New York Boston {}", "Boston Reno {}"), None),
    "a box of MySQL": Kind(".txt", path_of("+---+---+", "| a | b |", "+---+---+", "| 1 | 2 |", "| 2 | 3 |",
                                           "+---+---+"), None),
}

_VERTICES = {
    "stops": Kind(".csv", path_of(
        "stop_id,stop_name,stop_lat,stop_lon", "s1,Main St,1.5,2.5", "s2,High St,1.6,2.6"), None),
    "airports": Kind(".csv", path_of("iata,name,lat,lon", "JFK,Kennedy,1.5,2.5", "LAX,Angeles,1.6,2.6"), None),
    "genes": Kind(".tsv", path_of("gene\tdescription\tscore", "A1\tone gene\t2", "B2\tother gene\t3"), None),
    "people": Kind(".csv", path_of("name,city,age", "ann,Oslo,40", "bob,Rome,50"), None),
}

_FILES = {
    "GML of igraph, exponents": Kind(".gml", path_of(
        "graph [", "node [ id 0 ]", "node [ id 1 ]", "node [ id 2 ]", "edge [ source 0 target 1 weight 1e-05 ]",
        "edge [ source 1 target 2 weight 2e+20 ]", "]"), _THREE),
}

_THREE_IN_JSON = ('{"nodes":[{"id":1},{"id":"a"},{"id":0}],'
                  '"links":[{"source":1,"target":"a"},{"source":"a","target":0}]}')
_FILES |= {
    "GML, negative ids": Kind(".gml", path_of(
        "graph [", "node [ id -1 ]", "node [ id 5 ]", "node [ id 7 ]", "edge [ source -1 target 5 ]",
        "edge [ source 5 target 7 ]", "]"), _THREE, refusable=True),
    "JSON, numbers and names": Kind(".json", _THREE_IN_JSON, _THREE, refusable=True),
    "UTF-32 with its mark": Kind(".txt", "a\tb\nb\tc\n".encode("utf-32"), _THREE),
    "UTF-32 without": Kind(".txt", "a\tb\nb\tc\n".encode("utf-32-be"), _THREE, refusable=True),
    "network and partition": Kind(".paj", path_of("*Network n", "*Vertices 2", "*Edges", "1 2", "*Partition p",
                                                  "*Vertices 2", "1", "2"), Facts(2, 1, 1)),
    "TNTP": Kind(".tntp", path_of("<NUMBER OF ZONES> 24", "<END OF METADATA>", "1 2 3"), None),
    "N-Triples without blanks": Kind(".nt", path_of("<http://a><http://p><http://b>."), None),
}

_OTHERS = {
    "commas of thousands, or decimal": Kind(".txt", path_of("1 2 1,234", "2 3 12,500", "3 4 3"), None,
                                            ("--weight", "3")),
    "SIF with a header": Kind(".sif", path_of("source\tinteraction\ttarget", "a\tpp\tb", "b\tpp\tc"), None),
    "matrix of names in two orders": Kind(".csv", path_of(",b,a,c", "a,1,0,0", "b,0,0,1", "c,0,1,0"), None),
    "matrix of names, NA": Kind(".csv", path_of(",a,b,c", "a,NA,1,0", "b,1,NA,1", "c,0,1,NA"), None),
    "lines of one field": Kind(".txt", path_of("a:b", "b:c", "c:d"), None),
    "brackets in another column": Kind(".csv", path_of(
        "geometry,u,v", '"LINESTRING (1 2, 3 4)",1,2', '"LINESTRING (1 2, 3 4)",2,3'), _THREE),
    "a mix of commas and blanks": Kind(".txt", path_of("1,2", "2,3", "3 4"), _FOUR),
}

_NAMES = ("#make.py", "# GMT Sun Nov 29 20:00:00 2026", "# g")
_LISTS = {
    "lists of names, tabs": Kind(".txt", path_of("Ann Lee\tBob Ray\tCy Fox", "Bob Ray\tCy Fox", "Cy Fox"),
                                 Facts(3, 3, 1)),
    "lists of names, tabs, .adjlist": Kind(".adjlist", path_of(
        "Ann Lee\tBob Ray\tCy Fox", "Bob Ray\tCy Fox", "Cy Fox"), Facts(3, 3, 1)),
    "lists of networkx, semicolons": Kind(".adjlist", path_of(*_NAMES, "1;2", "2;3", "3"), _THREE),
    "lists of networkx, bars": Kind(".txt", path_of(*_NAMES, "ann|bob", "bob|cem", "cem"), _THREE),
    "lists of networkx, tabs": Kind(".txt", path_of(*_NAMES, "ann\tbob", "bob\tcem", "cem\tdan", "dan"), _FOUR),
    "lists of networkx, commas and blanks": Kind(".adjlist", path_of(
        *_NAMES, "Ann Lee,Bob Ray", "Bob Ray,Cy Fox", "Cy Fox"), _THREE),
    "lists, a tab behind the vertex": Kind(".txt", path_of("1\t2 3", "2\t4", "3\t4", "4"), Facts(4, 4, 2)),
    "lists of names, a tab behind the vertex": Kind(".txt", path_of("a\tb c", "b\td", "c\td"), None),
    "blanks, a mark in the last column": Kind(".txt", path_of("a b x;y", "b c x;z", "c d x"), _FOUR),
    "blanks, a note with a comma": Kind(".txt", path_of("1 2 road, paved", "2 3 road, paved", "3 4 path"), _FOUR),
    "tabs, marks at the end of the last column": Kind(".tsv", path_of("a\tb\tGO:1;GO:2;", "b\tc\tGO:3;"), _THREE),
    "people and their friends": Kind(".csv", path_of("name,friend,since", "ann,bob,2001", "bob,cem,2002"), _THREE),
    "layers": Kind(".txt", path_of(*(f"{i} {i % 3 + 1} {i % 40 + 1} {(i + 1) % 3 + 1} 1" for i in range(1, 41))), None),
}

_COMMENTED |= {
    "comment of names above another": Kind(".txt", path_of(
        "# weight source target", "# made in 2020", "7 1 2", "8 2 3"), _THREE, refusable=True),
    "comment of names, commas above blanks": Kind(".txt", path_of("#weight,source,target", "7 1 2", "8 2 3"), _THREE,
                                                  refusable=True),
    "comment of names, slashes": Kind(".txt", path_of("// weight source target", "7 1 2", "8 2 3"), _THREE,
                                      refusable=True),
    "comment of names behind a word": Kind(".txt", path_of("# columns: weight u v", "7 1 2", "8 2 3"), _THREE,
                                           refusable=True),
}

_PADDED = {
    "last field sometimes empty": Kind(".tsv", path_of("a\tb\tx", "b\tc\t", "c\td\ty"), _FOUR, refusable=True),
    "last field sometimes empty, names": Kind(".tsv", path_of("Ann Lee\tBob Ray\tx", "Bob Ray\tCy Fox\t",
                                                              "Cy Fox\tDi Orr\t"), _FOUR, refusable=True),
    "last field sometimes empty, texts": Kind(".txt", path_of("1\t2\t", "2\t3\tx", "3\t4\t"), _FOUR),
    "lists with empty fields": Kind(".csv", path_of("1,2,3,", "2,3,,", "4,5,6,7"), Facts(7, 6, 2)),
    "lists with empty fields, names": Kind(".csv", path_of("a,b,c,", "b,c,,", "d,e,f,g"), Facts(7, 6, 2)),
    "lists with empty fields, tabs": Kind(".txt", path_of("1\t2\t3\t", "2\t3\t\t", "4\t5\t6\t7"), Facts(7, 6, 2)),
    "lists with numbered columns": Kind(".csv", path_of("node,n1,n2,n3", "1,2,3,", "2,3,,", "4,5,6,7"), None),
    "a source and two targets": Kind(".csv", path_of("source,target1,target2", "1,2,3", "2,3,4", "4,5,6"), None),
    "a third end": Kind(".csv", path_of("source,target,target2", "1,2,3", "2,3,4", "4,5,6"), None),
}

ODD_KINDS: dict[str, Kind] = {**_RAGGED, **_PADDED, **_COMMENTED, **_MARKED, **_VERTICES, **_FILES, **_OTHERS,
                              **_LISTS}
