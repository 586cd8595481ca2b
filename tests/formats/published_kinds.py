"""Files as data sets and programs publish them, cut to a few lines: headers, comments and columns are theirs."""

from __future__ import annotations

from tests.formats.kinds import Kind, path_of
from tests.helpers.handed_in import Facts

_PATH, _THREE, _FOUR = Facts(10, 9, 9), Facts(3, 2, 2), Facts(4, 3, 3)
_GENES = [(f"TP{i}", f"TP{i + 1}") for i in range(1, 10)]

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
    "trade, by country of origin and destination": Kind(".csv", path_of(
        "year,iso_o,iso_d,flow", "2000,ABW,BEL,1.5", "2000,BEL,CHE,3"), _THREE),
}

_LISTS = {
    "lists of names, two neighbours each at least": Kind(".csv", path_of(
        "Ann,Bob,Cem", "Bob,Ann,Cem", "Cem,Ann,Bob,Dee,Eva", "Dee,Cem,Eva", "Eva,Cem,Dee"), Facts(5, 6, 2)),
    "lists below a line without the columns that are named": Kind(".txt", path_of(
        "0", "0 000", "4 9 23 29 32", "2 10 17 9 23", "3 4 5 6 7"), None, ("--columns", "3,5")),
}

PUBLISHED: dict[str, Kind] = {**_TABLES, **_LISTS}
