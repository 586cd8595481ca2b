"""Files as data sets and programs publish them, cut to a few lines: headers, comments and columns are theirs."""

from __future__ import annotations

from tests.formats.kinds import Kind, doubtful, path_of, read, refused
from tests.helpers.handed_in import Facts

_PATH, _THREE, _FOUR, _SQUARE = Facts(10, 9, 9), Facts(3, 2, 2), Facts(4, 3, 3), Facts(4, 4, 2)
_GENES = [(f"TP{i}", f"TP{i + 1}") for i in range(1, 10)]
_BIG = 10**20
_CYCLE = ("0,1,0,1", "1,0,1,0", "0,1,0,1", "1,0,1,0")

_TABLES = {
    "small letters above names with capitals": Kind(".csv", path_of(
        "name,friend", *(f"Ann {i},Ann {i + 1}" for i in range(9))), _PATH),
    "small letters above genes": Kind(".txt", path_of(
        "tfname\ttargetgene", *map("\t".join, _GENES)), _PATH),
    "small letters above few genes": Kind(".txt", path_of(
        "tfname\ttargetgene", *map("\t".join, _GENES[:3])), _FOUR, refusable=True),
    "columns of pandas without names": Kind(".csv", path_of(",0,1", "0,5,6", "1,6,7", "2,7,8"), _FOUR),
    "columns of pandas without names, genes": Kind(".csv", path_of(",0,1", *(
        f"{i},{p},{q}" for i, (p, q) in enumerate(_GENES))), _PATH),
    "edges of Netzschleuder": Kind(".csv", path_of(
        "# source, target, weight", "0, 5, 6", "0, 6, 7", "0, 7, 5", "1, 5, 7", "1, 6, 5"), Facts(5, 5, 3)),
    "flights of BTS": Kind(".csv", path_of(
        '"PASSENGERS","UNIQUE_CARRIER","ORIGIN","DEST",', '3.00,"AA","ABQ","BOS",', '5.00,"AA","BOS","CLE",'), _THREE),
    "links of TNTP": Kind(".csv", path_of(
        "link_id,init_node,term_node,capacity,length", "1,5,6,4000,4.5", "2,6,7,4000,4.5"), _THREE),
    "users and their friends, of Last.fm": Kind(".dat", path_of("userID\tfriendID", "2\t3", "3\t4"), _THREE),
    "papers and those that they cite": Kind(".csv", path_of("paper_id,cited_paper_id", "2,3", "3,4"), _THREE),
    "users and their groups": Kind(".csv", path_of("user_id,user_group_id", "2,3", "3,4"), None),
    "trades behind their number": Kind(".csv", path_of("id,exporter,importer", "0,p,q", "1,q,r"), _THREE),
    "links behind their number": Kind(".csv", path_of("id,src,dest", "0,5,6", "1,6,7"), _THREE),
    "trade, by country of origin and destination": Kind(".csv", path_of(
        "year,iso_o,iso_d,flow", "2000,ABW,BEL,1.5", "2000,BEL,CHE,3"), _THREE),
}

_EDGES = {
    "blanks and tabs of KONECT": Kind("", path_of(
        "% sym positive", "5 6\t1 1082008561", "6 7\t1 1082008562", "7 8\t1 1082008563"), _FOUR),
    "ids of 21 digits, of SNAP": Kind(".txt", path_of(*(f"{_BIG + i} {_BIG + i + 1}" for i in range(3))), _FOUR),
    "names of columns behind a mark, of BioSNAP": Kind(".tsv", path_of(
        "#Drug\tGene", "DB1\tP2", "DB3\tP2", "DB3\tP4"), _FOUR),
    "an id that begins with a mark, and names above": Kind(".tsv", path_of(
        "#love\tpeace", "peace\t#war", "#war\tarms"), None),
    "URLs with commas": Kind(".tsv", path_of(*(
        f"https://p.org/{i}?at=1,2\thttps://p.org/{i + 1}?at=1,2" for i in range(3))), _FOUR),
    "PACE, tree depth": Kind(".gr", path_of("p td 3 2", "1 2", "2 3"), _THREE),
    "DIMACS, flows of least cost": Kind(".min", path_of(
        "p min 3 2", "n 1 4", "n 3 -4", "a 1 2 0 4 2", "a 2 3 0 4 2"), _THREE),
    "project of Pajek with a partition": Kind(".paj", path_of(
        "*Network N.net", "*Vertices 3", '1 "p"', '2 "q"', '3 "r"', "*Edges", "1 2 1", "2 3 1", "",
        "*Partition C.clu", "*Vertices 3", "1", "1", "2"), _THREE),
    "project of Pajek with two networks": Kind(".paj", path_of(
        "*Network N.net", "*Vertices 2", "*Edges", "1 2", "*Partition C.clu", "*Vertices 2", "1", "2",
        "*Network M.net", "*Vertices 2", "*Edges", "1 2"), None),
    "links of Infomap": Kind(".net", path_of("*Vertices 3", '1 "p"', '2 "q"', '3 "r"', "*Links", "1 2 1", "2 3 1"),
                             _THREE),
}

_MATRICES = {
    "matrix below the names of columns": Kind(".csv", path_of("p,q,r,s", *_CYCLE), _SQUARE),
    "matrix below its number of rows": Kind(".csv", path_of("4", *_CYCLE), _SQUARE),
    "matrix as R writes it without names": Kind(".csv", path_of(
        '"","V1","V2","V3","V4"', *(f'"{i}",{row}' for i, row in enumerate(_CYCLE, 1))), _SQUARE),
    "two edges as R writes them": Kind(".csv", path_of('"","V1","V2"', '"1",5,6', '"2",6,7'), _THREE),
    "matrix with a loop below names": Kind(".csv", path_of("p,q,r,s", "1,1,0,1", *_CYCLE[1:]), None),
    "matrix with a tab behind each row": Kind(".edge", path_of(*(
        row.replace(",", "\t") + "\t" for row in _CYCLE)), _SQUARE),
}

_LISTS = {
    "lists of names, two neighbours each at least": Kind(".csv", path_of(
        "Ann,Bob,Cem", "Bob,Ann,Cem", "Cem,Ann,Bob,Dee,Eva", "Dee,Cem,Eva", "Eva,Cem,Dee"), Facts(5, 6, 2)),
    "lists with commas, behind a tab": Kind(".txt", path_of("0\t1,3", "1\t0,2,3", "2\t1", "3\t0,1"), Facts(4, 4, 2)),
    "lists with commas, behind a tab, that are said to be lists": Kind(".txt", path_of(
        "1\t2,3", "2\t4", "3\t4,5,6"), Facts(6, 6, 3), ("--format", "adjlist")),
    "names with commas, behind a tab, that are said to be lists": Kind(".txt", path_of(
        "ann\tbob,cem", "bob\tdee"), None, ("--format", "adjlist")),
    "labels with commas, behind a tab": Kind(".txt", path_of("0\t1,3,4", "1\t2", "2\t1,4", "3\t0,2"), None),
    "numbers with commas, behind a tab": Kind(".txt", path_of("0\t1,300", "1\t200", "2\t1,000,000"), None),
    "lists below a line without the columns that are named": Kind(".txt", path_of(
        "0", "0 000", "4 9 23 29 32", "2 10 17 9 23", "3 4 5 6 7"), None, ("--columns", "3,5")),
}

_JSON = {
    "JSON of columns": Kind(".json", '{"source": ["p", "q"], "target": ["q", "r"], "weight": [2, 3]}', _THREE),
    "JSON of columns by index, of pandas": Kind(
        ".json", '{"source": {"0": 5, "1": 6}, "target": {"0": 6, "1": 7}}', _THREE),
    "JSON of columns and rows, of pandas": Kind(
        ".json", '{"columns": ["source", "target"], "index": [0, 1], "data": [[5, 6], [6, 7]]}', _THREE),
    "JSON of neighbours that are called source and target": Kind(
        ".json", '{"source": ["target", "to"], "target": ["source", "to"]}', Facts(3, 3, 1)),
    "JSON of columns and nodes": Kind(".json", '{"source": [0, 1], "target": [1, 2], "nodes": [0, 3]}', None),
    "JSON matrix": Kind(".json", f"[[{'], ['.join(_CYCLE)}]]", _SQUARE),
    "JSON of APOC": Kind(".json", path_of(
        '{"type": "node", "id": "5"}', '{"type": "node", "id": "6"}', '{"type": "node", "id": "7"}',
        '{"type": "relationship", "id": "0", "label": "KNOWS", "start": {"id": "5"}, "end": {"id": "6"}}'),
                         Facts(3, 1, 1)),
    "JSON of ArangoDB": Kind(".jsonl", path_of(
        '{"_key": "0", "_from": "v/1", "_to": "v/2"}', '{"_key": "1", "_from": "v/2", "_to": "v/3"}'), _THREE),
    "JSON Graph Format, a list of one": Kind(".json", '{"graphs": [{"nodes": {"p": {}, "q": {}}, "edges": ['
                                             '{"source": "p", "target": "q"}]}]}', Facts(2, 1, 1)),
}

# Tables of records: a vertex, and its group, its owner, its number elsewhere.
_KEYS = {
    f"records, {name}": doubtful(".csv", right, name, *rows) for name, right, rows in (
        ("id,user_id", Facts(7, 4, 2), ("10,1", "11,1", "12,2", "13,3")),
        ("id,name_id", Facts(5, 3, 2), ("1,5", "2,5", "3,6")),
        ("node_id,label", _THREE, ("0,2", "1,2", "2,1")),
        ("id,old_id", _FOUR, ("1,2", "2,3", "3,4")),
        ("gene,disease", _FOUR, ("1,2", "2,3", "3,4")),
        ("line,station", _THREE, ("1,2", "1,3")),
        ("txId,class", Facts(5, 3, 2), ("50,2", "51,1", "52,2")),
        ("node idx,paper id", Facts(6, 3, 1), ("0,965", "1,398", "2,116")),
        ("user,team,since", Facts(5, 3, 2), ("ann,x,2001", "bob,x,2002", "cem,y,2003")),
    )
} | {
    "a tree of decisions": doubtful(".csv", Facts(4, 2, 1), "id,left,right", "1,2,3", "2,4,5"),
    "employees and managers": read(".csv", _FOUR, "employee_id,manager_id", "1,2", "2,3", "3,4"),
    "users and followers": read(".csv", _FOUR, "user_id,follower_id", "1,2", "2,3", "3,4"),
    "papers and references": read(".csv", _FOUR, "paper_id,reference_id", "1,2", "2,3", "3,4"),
    "winners and losers": read(".csv", _FOUR, "winner,loser", "1,2", "2,3", "3,4"),
    "a map of vertices": doubtful(".txt", Facts(8, 4, 1), "0\t101", "1\t102", "2\t103", "3\t105"),
    "groups of vertices": doubtful(".txt", Facts(4, 3, 2), "1 1", "2 1", "3 2", "4 2"),
    "neighbours at a distance": read(".txt", Facts(6, 3, 1), "0 3", "1 4", "2 5"),
    "numbers of columns above edges from 1": doubtful(".csv", _FOUR, "0,1", "1,2", "1,3", "2,4"),
    "numbers of columns far from the edges": doubtful(".csv", _FOUR, "0,1", "17,45", "45,0", "17,1"),
    "numbers of columns and weights": doubtful(".csv", _FOUR, "0,1,2", "1,2,5", "1,3,7", "2,4,1"),
    "a star from 0": read(".csv", Facts(4, 3, 2), "0,1", "0,2", "0,3"),
    "a path from 0": read(".csv", _FOUR, "0,1", "1,2", "2,3"),
    "edges from 0 by time": read(".csv", _FOUR, "0,1", "2,3", "0,2"),
    "an edge from 0 twice": read(".csv", _FOUR, "0,1", "5,6", "6,0", "1,0"),
}

_OTHERS = {
    "genres of MUSAE": Kind("_genres.json", '{"0": ["Pop"], "1": ["Pop"]}', None),
    "features of MUSAE": Kind("_features.json", '{"0": [1, 5], "1": [5, 7], "7": [2]}', None),
    "labels of edges of TUDataset": refused("_edge_labels.txt", "1, 0", "2, 1"),
    "attributes of vertices of TUDataset": refused("_node_attributes.txt", "0.1, 0.5", "0.3, 0.6"),
    "adjacency of TUDataset": read("_A.txt", _THREE, "1, 2", "2, 1", "2, 3"),
    "posts of memetracker": refused(".txt", "P\thttp://a", "T\t2008-09-09 22:35:24", "Q\ta quote",
                                    "P\thttp://b"),
    "fields of KONECT": refused(".txt", "name: Zachary", "code: ZA", "category: HumanSocial"),
    "sources of DIMACS": refused(".ss", "p aux sp ss 2", "s 1", "s 2"),
    "tibble": refused(".txt", "  from to", "  <chr> <chr>", "1 a b", "2 b c"),
    "organisations of CAIDA": doubtful(".txt", _THREE, "# format:aut|changed|aut_name|org", "1|20120224|LVLT|LPL",
                                       "2|20120224|DCN|UNI"),
    "two sides and weights of KONECT": read("", Facts(5, 3, 2), "% bip weighted", "1 1 5", "2 1 3", "3 2 4"),
    "hyperedges": doubtful(".txt", Facts(7, 6, 3), "1,2,3", "2,4", "1,5,6,7"),
}

_LINKS = ("[0, 1, 0, 1]", "[1, 0, 1, 0]", "[0, 1, 0, 1]", "[1, 0, 1, 0]")
_ARRAY = tuple(row.replace(",", "") for row in _LINKS)

_PRINTED = {
    "friends of Friendster": read(".txt", Facts(5, 3, 3), "101:102,103", "102:104", "103:private", "104:notfound",
                                  "105:"),
    "pairs and numbers, as lists or weights": refused(".txt", "1:2,3", "2:3,4"),
    "lists of Python": read(".txt", _FOUR, "0: [1, 2]", "1: []", "2: [3]"),
    "lists of Python, names": read(".txt", _FOUR, "'a': ['b', 'c']", "'b': []", "'c': ['d']"),
    "lists of Python without blanks": read(".txt", _FOUR, "0:[1,2]", "1:[0]", "2:[0,3]"),
    "sets of Python": read(".txt", _FOUR, "0: {1, 2}", "1: {0}", "2: {0, 3}"),
    "lists of tuples of Python, a line each": refused(".txt", "1: [(2, 5)]", "2: [(3, 7)]"),
    "a dict of Python": read(".txt", _FOUR, "{0: [1, 2],", " 1: [0],", " 2: [0, 3],", " 3: [2]}"),
    "a dict of sets of names": read(".txt", _FOUR, "{'a': {'b', 'c'}, 'b': {'a'}, 'c': {'a', 'd'}, 'd': {'c'}}"),
    "a dict of dicts of Python": read(".txt", _THREE, "{0: {1: {}}, 1: {0: {}, 2: {'w': 5}}, 2: {1: {}}}"),
    "a dict of numbers and names": refused(".txt", "{0: ['1'], '0': ['2'], '2': ['1']}"),
    "a dict of communities": refused(".txt", "{0: {0, 1, 2}, 1: {3, 4}}"),
    "a dict of weights of edges": refused(".txt", "{(0, 1): 5, (1, 2): 6}"),
    "lists of Python, commas in names": refused(".txt", "'a': ['b', 'c']", "'b': ['x, y']"),
    "a list of tuples of Python": read(".txt", _THREE, "[(0, 1), (1, 2)]"),
    "a list of tuples that is cut": refused(".txt", "[(0, 1), (1, 2)"),
    "a set of tuples of names": read(".txt", _THREE, "{('a', 'b'), ('b', 'c')}"),
    "edges of networkx and their data": read(".txt", _THREE, "[(0, 1, {}), (1, 2, {})]"),
    "rows of Sage": read(".txt", _SQUARE, *_ARRAY),
    "a matrix of NumPy": read(".txt", _SQUARE, "[" + _ARRAY[0], *(" " + row for row in _ARRAY[1:3]), f" {_ARRAY[3]}]"),
    "pairs of NumPy": read(".txt", _FOUR, "[[4 5]", " [5 6]", " [6 7]]"),
    "a matrix of NumPy that is cut": refused(".txt", "[[0 1 0 ... 0 0 0]", " [1 0 1 ... 0 0 0]", " ..."),
    "a matrix of truth": read(".csv", _SQUARE, *(row[1:-1].replace("0", "False").replace("1", "True").replace(" ", "")
                                                for row in _LINKS)),
    "a matrix of truth of R": read(".txt", _SQUARE, *(row[1:-1].replace("0", "FALSE").replace("1", "TRUE")
                                                    for row in _ARRAY)),
    "a matrix without separators": read(".txt", _SQUARE, "0101", "1010", "0101", "1010"),
    "names of 0 and 1": refused(".txt", "0101", "1010"),
    "edges of GraphX": read(".txt", _THREE, "Edge(4,5,friend)", "Edge(5,6,foe)"),
    "rows of cypher-shell": refused(".txt", '| "a" | "b" |', '| "b" | "c" |'),
    "successors of WebGraph": Kind(".graph-txt", "4\n1 2\n\n0 3\n\n", _FOUR),
    "successors of WebGraph that are no vertices": refused(".graph-txt", "3", "1", "3", ""),
    "successors of WebGraph that are cut": refused(".graph-txt", "5", "1 2", "2"),
}

PUBLISHED: dict[str, Kind] = {**_PRINTED, **_TABLES, **_EDGES, **_MATRICES, **_LISTS, **_JSON, **_KEYS, **_OTHERS}
