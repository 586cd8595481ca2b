"""Tables whose columns are not what they seem: times that are called from and to, names that occur twice, values beside
ids, tables of vertices, titles and totals; and tables like them that are read. See kinds.py."""

from __future__ import annotations

from tests.formats.kinds import Kind, path_of
from tests.helpers.handed_in import Facts

_FOUR, _THREE, _EDGE = Facts(4, 3, 3), Facts(3, 2, 2), Facts(2, 1, 1)


def _read_or_led(suffix: str, *rows: str, right: Facts = _THREE, options: tuple[str, ...] = ()) -> Kind:
    """Rows that are read right, or refused with a remedy that leads to the graph."""
    return Kind(suffix, path_of(*rows), right, options, refusable=True)


def _read(suffix: str, *rows: str, right: Facts = _THREE, options: tuple[str, ...] = ()) -> Kind:
    return Kind(suffix, path_of(*rows), right, options)


def _refused(suffix: str, *rows: str, options: tuple[str, ...] = ()) -> Kind:
    return Kind(suffix, path_of(*rows), None, options)


_TIMES = {
    "from and to beside u and v": Kind(".csv", path_of("u,v,from,to", "1,2,9,8", "2,3,9,8"), None),
    "years from and to, persons": _read_or_led(
        ".csv", "person1,person2,from,to", "ann,bob,2001,2005", "bob,cem,2002,2006"),
    "dates from and to, managers": _read_or_led(
        ".csv", "employee,manager,from,to", "ann,bob,2001-01-01,2005-01-01", "bob,cem,2002-02-01,2006-01-01"),
    "years from and to, parents": _read_or_led(".csv", "id,parent_id,from,to", "1,5,2001,2002", "2,5,2001,2003"),
    "years from and to, teams": _refused(".csv", "player,team,from,to", "ann,x,2001,2002", "bob,y,2001,2003"),
    "years from and to, one name": _refused(".csv", "name,from,to,seat", "ann,2001,2002,x", "bob,2001,2003,y"),
    "from, to and names of both": _read(".csv", "from,to,from_name,to_name", "1,2,a,b", "2,3,b,c"),
    "from, to and a name": _read(".csv", "from,to,road", "1,2,a", "2,3,b"),
    "from, to, numbers like years": _read(".csv", "from,to,length", "2001,2002,5", "2002,2003,6"),
    "id, from, to, numbers like years": _read(".csv", "id,from,to", "1,2001,2002", "2,2002,2003"),
    "src, dst and ports": _read(".csv", "src,dst,src_port,dst_port", "a,b,80,81", "b,c,80,82"),
}

_TWICE = {
    "a type twice": _read_or_led(".csv", "name_a,type,name_b,type", "a,gene,b,drug", "b,gene,c,drug"),
    "a country twice": _read_or_led(
        ".csv", "from_city,country,to_city,country", "Oslo,NO,Rome,IT", "Rome,IT,Bern,CH"),
    "a weight twice": _read_or_led(".csv", "weight,gene1_name,other_name,weight", "1,a,b,2", "2,b,c,3"),
    "a date twice": _read_or_led(".csv", "gene_x,date,gene_y,date", "a,1,b,2", "b,2,c,3"),
    "an id twice": _read(".csv", "Person.id|Person.id|date", "4|5|2001", "5|6|2002"),
    "a name twice beside weights": _read(".csv", "person,weight,person", "a,1,b", "b,2,c"),
}

_VALUES = {
    "numbers and fractions": _refused(".txt", "1\t0.25", "2\t0.35", "3\t0.4"),
    "names and fractions": _refused(".txt", "a 0.25", "b 0.35", "c 0.4"),
    "pairs and fractions": _refused(".csv", "geneA~geneB,0.83", "geneB~geneC,0.5"),
    "dashes and fractions": _refused(".txt", "1-2 0.5", "2-3 0.7", "3-4 0.9"),
    "colons and fractions": _refused(".txt", "a:b\t0.5", "b:c\t0.7"),
    "names, and fractions and 1": _refused(".txt", "a 0.25", "b 1", "c 0.4"),
    "whole floats": _read(".txt", "1.0\t2.0", "2.0\t3.0"),
    "versions on both sides": _read(".txt", "1.1 1.2", "1.2 1.3"),
}

_PAIRED = {
    "questions": _refused(".csv", "id,q1,q2", "ann,3,4", "bob,2,5", "cem,1,4"),
    "times of a gene": _refused(".csv", "gene,t1,t2", "A,3,4", "B,2,5", "C,1,4"),
    "ages": _refused(".csv", "name,age_1,age_2", "ann,3,4", "bob,4,5"),
    "prices": _refused(".csv", "name,price_from,price_to", "ann,3,4", "bob,4,5"),
    "two neighbours": _refused(".csv", "node,n1,n2", "1,2,3", "2,4,5", "3,5,6"),
    "two neighbours in words": _refused(".csv", "id,neighbor1,neighbor2", "1,2,3", "2,4,5", "3,5,6"),
    "two friends": _refused(".csv", "name,friend1,friend2", "ann,bob,cem", "bob,cem,dan"),
    "id and two genes": _read(".csv", "id,gene1,gene2", "1,a,b", "2,b,c"),
    "edge and two stops": _read(".csv", "edge_id,from_stop,to_stop", "e1,10,20", "e2,20,30"),
    "kind and two genes": _read(".csv", "kind,gene_a,gene_b", "binds,a,b", "binds,b,c"),
    "year and two countries": _read(".csv", "year,country1,country2", "2001,a,b", "2002,b,c"),
    "line and two stops": _read(".csv", "line,stop_a,stop_b", "L1,a,b", "L1,b,c"),
    "marks of persons": _refused(".csv", "person,math,physics", "ann,3,4", "bob,2,5", "cem,1,4"),
    "a vertex and its parent": _read_or_led(".csv", "id,name,parent_id", "1,a,2", "2,b,3"),
    "two genes first": _read(".csv", "gene1,gene2,score", "a,b,5", "b,c,6"),
}

_VERTICES = {
    "communities": _refused(".csv", "node,community", "1,0", "2,0", "3,1"),
    "communities of names": _refused(".csv", "node,community", "ann,x", "bob,x", "cem,y"),
    "degrees": _refused(".csv", "node,degree", "1,2", "2,3", "3,1"),
    "clusters": _refused(".csv", "vertex,cluster", "1,0", "2,0", "3,1"),
    "groups": _refused(".csv", "user,group", "1,0", "2,0", "3,1"),
    "persons and clubs": _read_or_led(".csv", "person,club", "ann,chess", "bob,chess", "bob,golf", right=_FOUR),
    "users and friends": _read(".csv", "user,friend", "1,2", "2,3"),
    "user and follower": _read(".csv", "user,follower", "1,2", "2,3"),
}

_NUMBERED = {
    "header of pandas, weights": _read_or_led(".csv", "0,1,2", "5,6,0.5", "6,7,0.25", "7,8,0.5", right=_FOUR),
    "header of pandas, a word": _read(".csv", "0,1,weight", "5,6,0.5", "6,7,0.25"),
    "header of pandas": _read_or_led(".csv", "0,1", "5,6", "6,7", "7,8", right=_FOUR),
    "no header of pandas": _read_or_led(".csv", "0,1", "2,3", "3,4", right=Facts(5, 3, 2)),
    "a number and a word for an end": _read_or_led(".csv", "2020,source", "ann,bob", right=_EDGE),
    "header of pandas above names": _read_or_led(".csv", "0,1", "ann,bob", "bob,cem"),
    "edges from 0": _read(".csv", "0,1", "1,2"),
    "edges from 0, weights": _read(".csv", "0,1,2", "1,2,0.5", "0,2,3", right=Facts(3, 3, 1)),
    "edges from 0, blanks": _read(".txt", "0 1", "5 6", "6 7", right=Facts(5, 3, 2)),
}

_COUNTS = {
    "a rectangular matrix": _refused(".txt", "3 4 2", "1 4 1", "2 3 1"),
    "three counts above pairs": _refused(".txt", "4 3 2", "1 2", "2 3", "3 4", "1 3", "2 4"),
    "weights like counts": _read(".txt", "1 2 3", "2 3 4", "3 4 1", right=_FOUR),
    "lists, the first longest": _read(".txt", "1 2 3", "2 4", "3 5", right=Facts(5, 4, 4)),
    "Julia": Kind(".lg", path_of("5,3,d,g,2,Int64,simplegraph", "1,2", "2,3", "3,4"), Facts(5, 3, 3),
                  ("--header", "counts")),
}

_MISSING = {
    f"{word} for an id": _refused(".csv", '"source","target"', '"a","b"', f'"b",{word}', f'"c",{word}')
    for word in ("NA", "(null)", "[NULL]", "<null>", "none", "NONE", "Null", "NAN", "n/a", "NaT", "?", "nil",
                 "undefined", "missing", "--", "-")
} | {
    "NULL among integers": _refused(".csv", "source,target", "1,2", "2,NULL", "3,NULL"),
    "NULL among integers, blanks": _refused(".txt", "1 2", "2 NULL", "3 NULL"),
    "NULL among integers, late": _refused(".txt", *(f"{i} {i + 1}" for i in range(1500)), "2 NULL"),
    "one letter": _read(".csv", "source,target", "a,.", "b,.", right=_THREE),
    "Nan, whose name it is": _read(".csv", "source,target", "Nancy,Noah", "Noah,Nil", right=_THREE,
                                   options=("--ids", "string")),
}

_FIVE = Facts(5, 4, 4)
_AGAIN = {
    "header again behind a mark": _refused(".csv", "\ufeffsource,target", "a,b", "\ufeffsource,target", "b,c"),
    "header again in capitals": _refused(".csv", "source,target", "a,b", "Source,Target", "b,c"),
    "header again, late": _refused(".csv", "source,target", *(f"a{i},a{i + 1}" for i in range(1500)),
                                   "SOURCE,TARGET", "b,c"),
    "header again behind a mark, late": _refused(".csv", "source,target", *(f"a{i},a{i + 1}" for i in range(1500)),
                                                 "\ufeffsource,target", "b,c"),
    "a mark of bytes in the middle": _refused(".txt", "\ufeffa b", "b c", "\ufeffb d"),
    "a mark of bytes, late": _refused(".txt", *(f"a{i} a{i + 1}" for i in range(1500)), "\ufeffb d"),
    "a mark of bytes, commas": _refused(".csv", "\ufeffa,b", "b,c", "\ufeffb,d"),
    "an id of the header's word": _read(".csv", "source,target", "a,b", "b,source", "source,c", right=_FOUR),
}

_TITLES = {
    "rows counted below names": _refused(".txt", "ann bob", "bob cem", "cem dan", "(3 rows)"),
    "a total below names": _refused(".txt", "ann bob", "bob cem", "cem dan", "Total 3"),
    "a total below a table": _refused(".csv", "source,target", "ann,bob", "bob,cem", "cem,dan", "Total,3"),
    "a total far below": _refused(".csv", "source,target", *(f"a{i},b{i}" for i in range(1500)), "Total,1500"),
    "Undirected graph": _refused(".txt", "Undirected graph", "ann bob", "bob cem"),
    "version 2": _refused(".txt", "version 2", "ann bob", "bob cem"),
    "dashes above": _refused(".txt", "-- edges", "ann bob", "bob cem"),
    "a semicolon above": _refused(".txt", "; friends", "ann bob", "bob cem"),
    "REM above": _refused(".txt", "REM edges", "ann bob", "bob cem"),
    "a star above": _refused(".txt", "* edges", "ann bob", "bob cem"),
    "Total, whose name it is": _read(".txt", "Total Shell", "Shell Total", "Shell bp"),
    "a vertex that is called graph": _read(".txt", "graph theory", "theory proof", "graph set", right=_FOUR),
}

_COMMENTED = {
    "weights in a comment": _read_or_led(".txt", "# src dst time weight", "1 2 9 5", "2 3 9 6",
                                         options=("--weights", "weight")),
    "weights in a comment, tabs": _read_or_led(".txt", "# src\tdst\ttime\tweight", "1\t2\t9\t5", "2\t3\t9\t6",
                                               options=("--weights", "weight")),
    "weights in a comment, commas": _read_or_led(".csv", "#source,target,year,weight", "a,b,2001,5", "b,c,2001,6",
                                                 options=("--weights", "weight")),
    "weights in a comment, the third": _read(".txt", "# src dst weight time", "1 2 5 9", "2 3 6 9",
                                             options=("--weights", "3")),
    "two weights": _read_or_led(".csv", "source,target,weight,weight", "a,b,2,5", "b,c,3,6",
                                options=("--weights", "weight")),
    "weights with a plus": _read(".csv", "source,target,weight", "a,b,+3", "b,c,4", options=("--weights", "weight")),
}

_SIDES = {
    "bip, semicolons": _read(".txt", "% bip unweighted", "1;1", "2;1"),
    "bip, names": _read(".txt", "% bip unweighted", "a\ta", "b\ta", "c\tb", right=Facts(5, 3, 2)),
    "bip, columns": _read(".txt", "% bip weighted", "5 1 1", "4 2 1", options=("--columns", "2,3")),
}

_POINTS = {
    "points of thousands": _refused(".csv", "source;target", "998;999", "999;1.000", "1.000;1"),
    "floats beside integers": _read(".csv", "source;target", "1.0;2", "2;3.0"),
    "floats of three digits": _read(".csv", "source;target", "1.000;2.000", "2.000;3.000"),
}

_REMEDIES = {
    "pages": _refused(".csv", "id,facebook_id,page_name,page_type", "0,145647,Ann,tv", "1,191483,Bob,tv",
                      "2,144761,Cem,news"),
    "a name twice with a blank": _read_or_led(".csv", "shared name,shared name", "a,b", "b,c"),
    "two names with blanks, loops": _read_or_led(".csv", "shared name,other name", "a,a", "a,b", "b,c",
                                                 options=("--header", "names")),
    "a header far below": _refused(".csv", "Data,export,", "Date,2020,", "User,me,", "source,target,w", "a,b,1",
                                   "b,c,2"),
    "lists in quotes": _refused(".csv", "node,neighbors", 'a,"b,c"', 'd,"e,f"', options=("--header", "names")),
    "lists by semicolons": _refused(".csv", "source,targets", "a,b;c", "d,e;f", options=("--header", "names")),
    "lists by semicolons, target": _refused(".csv", "source,target", "a,b;c", "d,e;f"),
    "commas in names": _read(".csv", "source,target", '"Oslo, NO","Rome, IT"', '"Rome, IT","Bern, CH"'),
}

COLUMN_KINDS: dict[str, Kind] = {
    **_TIMES, **_TWICE, **_VALUES, **_PAIRED, **_VERTICES, **_NUMBERED, **_COUNTS, **_MISSING, **_AGAIN, **_TITLES,
    **_COMMENTED, **_SIDES, **_POINTS, **_REMEDIES,
}
