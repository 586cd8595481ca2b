"""Files as data sets and programs publish them, cut to a few lines: headers, comments and columns are theirs."""

from __future__ import annotations

from tests.formats.kinds import Kind, path_of
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

PUBLISHED: dict[str, Kind] = {**_TABLES, **_EDGES, **_MATRICES, **_LISTS, **_JSON}
