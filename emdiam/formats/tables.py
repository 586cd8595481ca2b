"""The shared part of the readers of tables: which two columns are the ends of edges, and batches of their ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..errors import InputError
from .source import EdgeBatch
from .weights import NAMES, TIMES_AND_PLACES

PAIRS = (("src", "dst"), ("source", "target"), ("from", "to"), ("id_1", "id_2"), ("id1", "id2"), ("node_1", "node_2"),
         ("node1", "node2"), ("node_id_1", "node_id_2"), ("src_id", "dst_id"), ("source_id", "target_id"),
         ("from_id", "to_id"), ("fromnodeid", "tonodeid"), ("from_node", "to_node"), ("source_node", "target_node"),
         (":start_id", ":end_id"), ("~from", "~to"), ("_from", "_to"), ("source", "destination"),
         ("origin", "destination"),
         ("orig", "dest"), ("fromnode", "tonode"), ("von", "nach"), ("quelle", "ziel"), ("origen", "destino"),
         ("origem", "destino"), ("source", "cible"), ("origin", "dest"), ("src", "dest"), ("src", "tgt"),
         ("source", "dest"), ("nodefrom", "nodeto"), ("init_node", "term_node"))
"""Names of the two ends that are recognised, in lower case; the first of them that are there."""
_STARTS = frozenset(first for first, _ in PAIRS)

# Names of the two ends if a line is known to be a header; in other lines they may be vertices.
_WEAK_PAIRS = (("u", "v"), ("i", "j"), ("o", "d"), ("a", "b"), ("s", "t"), ("s", "o"), ("h", "t"), ("row", "col"),
               ("head", "tail"), ("left", "right"), ("first", "second"), ("subject", "object"), ("sender", "receiver"),
               ("parent", "child"), ("citing", "cited"), ("follower", "followee"), ("follower", "followed"),
               ("caller", "callee"), ("ego", "alter"), ("regulator", "target"), ("exporter", "importer"),
               ("buyer", "seller"), ("payer", "payee"), ("lender", "borrower"), ("predator", "prey"),
               ("employee", "manager"), ("winner", "loser"), ("start", "end"), ("begin", "end"))

# Words for the ends in two names that are otherwise equal: from_stop_id and to_stop_id, protein1 and protein2.
_WORDS = (("src", "dst"), ("src", "dest"), ("source", "target"), ("source", "destination"), ("source", "dest"),
          ("from", "to"), ("start", "end"), ("origin", "destination"), ("orig", "dest"), ("1", "2"), ("0", "1"),
          ("a", "b"), ("u", "v"), ("i", "j"), ("n", "m"), ("o", "d"), ("head", "tail"), ("left", "right"),
          ("first", "second"),
          ("ego", "alter"), ("sender", "receiver"), ("parent", "child"), ("citing", "cited"), ("follower", "followee"),
          ("follower", "followed"), ("caller", "callee"), ("subject", "object"),
          ("employee", "manager"))
# The first words of those pairs that also number the values or neighbours of one vertex: t1 and t2.
_NUMBERING = frozenset(("1", "0", "a", "u", "i", "left", "first"))
_CHILD = "left"  # child of a binary tree
_OF_NEIGHBOURS = frozenset("neighbor neighbour neighbors neighbours nbr nn friend friends".split())
# Words of a vertex that is of the same kind as the other one, whatever that is called.
_OF_SAME = _OF_NEIGHBOURS | frozenset("follower follows followed followee cited cites reference references"
                                      " referenced adjacent".split())
_OF_TREES = frozenset("parent child next previous successor predecessor ancestor mother father reply related".split())
# Words that continue a row of more than two: E1, E2 and E3 are no ends.
_MORE = {"1": ("2",), "2": ("0", "3"), "b": ("c",), "v": ("w",), "j": ("k",)}
_SECONDS = {first: [other for one, other in _WORDS if one == first] for first, _ in _WORDS}
TIMES = "times"
"""The kind of columns of dates and times, which are no ids."""
# Number of letters of a name that are compared, because a header may be a line of any length.
_LONGEST_NAME = 200
# Words in names of columns that often come in pairs but are no ends.
_NO_ENDS = TIMES_AND_PLACES | frozenset(
    "coord coordinate pos position weight score value length distance feature attr attribute count counts freq"
    " frequency amount total sum mean rank age price salary rate temp temperature".split())
_WORD = re.compile(r"[a-z]+|[0-9]+|[^a-z0-9]+")
# A column name of Neo4j with the space of its ids.
_SPACE = re.compile(r"(:(?:start|end)_id)\(([^()]*)\)$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBERS = re.compile(r"(?:(?:edge|link|row|line|record|rel|relationship)[ _.-]*)?(?:id|idx|index|no|nr|num|number|key)"
                      r"|index|unnamed: \d+|__index_level_\d+__|:id|~id|")
# Those of them that may also number vertices.
_OF_BOTH = frozenset(("id", "idx", "no", "nr", "num", "number", "key", ":id", "~id"))
_TYPES = re.compile(r"[:~]?(?:(?:edge|link|relation|rel)[ _.-]*)?(?:type|kind|label|relation|predicate|role)")
# Names of columns of a table of vertices, those of them that edges do not have, and those of groups.
_VALUES = (r"(?:node[ _.-]*|vertex[ _.-]*)?(?:{}age|gender|degree|x|y|lat|lon|lng|latitude|longitude|community|cluster|"
           r"module|modularity[ _.-]class|partition|component)")
_OF_VERTICES, _ONLY_OF_VERTICES = re.compile(_VALUES.format("label|name|title|kind|")), re.compile(_VALUES.format(""))
_GROUPS = frozenset("group class team category color colour block part".split())
_VERTICES = frozenset("node vertex nodes vertices".split())
_DESCRIPTIONS = frozenset("name label title description desc caption fullname".split())
_BOTH_ENDS = re.compile(r"\S.* \([^()]{1,64}\) .*\S")
_NUMBER_BEHIND = re.compile(r"[ _.-]*\d+$")
_OF_IDS = re.compile(r"[A-Za-z]_?(?:id|ID|Id)$")
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d\d?[./]\d\d?[./]\d{4}|\d\d?:\d\d(?::\d\d(?:\.\d+)?)?", re.ASCII)
"""A date, or a time of day, as text."""
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d", re.ASCII)

UNDIRECTED = {"type": ("undirected",), "directed": ("false", "0", "no", "undirected")}
"""Name of a column -> its words, in lower case, for edges without a direction."""

_WAYS = frozenset("direction dir oneway one_way one-way bidirectional twoway two_way two-way".split())
_EACH_WAY = frozenset(("key", "reversed"))

_MAX_NAMES = 8
_FEWEST_COUNTED = 3
# Names of weights that are no names of vertices.
_WEIGHTS = frozenset(NAMES) - {"w"}


def dropped_columns(names: Sequence[str], used: Sequence[int]) -> list[str]:
    """Names, for the counts of dropped data, of the columns at other places than the used ones; more than 8 become one
    name."""
    others = [i for i in range(len(names)) if i not in used]
    if len(others) > _MAX_NAMES:
        return [f"{len(others)} further columns"]
    return [f"column {names[i].strip() or i + 1}" for i in others]


def direction_column(names: Sequence[str], wanted: bool) -> int | None:
    """The place of the only column that says which edges have a direction; None without one, or if directions are not
    wanted."""
    places = [i for i, name in enumerate(names) if name.strip().lower() in UNDIRECTED]
    return places[0] if wanted and len(places) == 1 else None


def named_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The places of the two columns whose names say that they are the ends, or None.

    These are, in this order: a pair of PAIRS, ignoring case; a weaker pair such as u and v; the only two names that are
    equal except for words such as from and to, or 1 and 2; the only name that occurs twice."""
    found = _pairs_among(names, PAIRS) or _pairs_among(names, _WEAK_PAIRS)
    if found:
        return found[0]
    alike = alike_pairs(names)
    return alike[0] if len(alike) == 1 else _twice(names)


def _twice(names: Sequence[str]) -> tuple[int, int] | None:
    """The places of the only name that occurs twice, unless it is that of a type, a time or a weight."""
    lower = [name.strip().lower() for name in names]
    counts = Counter(lower)
    twice = [name for name, count in counts.items() if name and count > 1 and not _is_measure(name)
             and not _TYPES.fullmatch(name) and name not in _WEIGHTS]
    if len(twice) != 1 or counts[twice[0]] != 2:
        return None
    first = lower.index(twice[0])
    return first, lower.index(twice[0], first + 1)


def _rivals(names: Sequence[str]) -> list[tuple[int, int]]:
    """The places of several pairs of names that may all be the ends; empty if one of them comes first."""
    pairs, alike = _pairs_among(names, PAIRS) or _pairs_among(names, _WEAK_PAIRS), alike_pairs(names)
    if len(pairs) > 1:
        return pairs
    if pairs and names[pairs[0][0]].strip().lower() == "from":  # from and to may be times, or places of osmnx
        others = [pair for pair in alike if {"from", "to"}.isdisjoint(
            word for place in pair for word in _words_of(names[place]))] + _pairs_among(names, _WEAK_PAIRS)
        return [*others, *pairs] if others else []
    twice = _twice(names)
    return [alike[0], twice] if twice and not pairs and len(alike) == 1 else []


def is_name_of_end(name: str) -> bool:
    """Whether one of PAIRS has this name, ignoring case."""
    return any(name.strip().lower() in pair for pair in PAIRS)


def certain_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The places of the first pair of PAIRS among the names, ignoring case, or None."""
    return next(iter(_pairs_among(names, PAIRS)), None)


def id_spaces(names: Sequence[str]) -> list[str]:
    """The id spaces in these column names of edge ends, as Neo4j writes them."""
    found = (_SPACE.search(name[:_LONGEST_NAME].strip().lower()) for name in names)
    return [match[2] for match in found if match]


def weak_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The same for pairs that may also be vertices, such as u and v; except a and b, the first line of many lists."""
    return next(iter(_pairs_among(names, [pair for pair in _WEAK_PAIRS if pair != ("a", "b")])), None)


def _pairs_among(names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    lower = [_SPACE.sub(r"\1", name[:_LONGEST_NAME].strip().lower()) for name in names]
    return [(lower.index(first), lower.index(second)) for first, second in pairs
            if lower.count(first) == 1 and lower.count(second) == 1 and not (second == "b" and "c" in lower)]


def _words_of(name: str) -> tuple[str, ...]:
    """The words, numbers and marks of a column's name, in lower case; a capital begins a word."""
    return tuple(_WORD.findall(_HUMP.sub("_", name[:_LONGEST_NAME].strip()).lower()))


def alike_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """The places of all pairs of names that differ only in one word for the two ends."""
    words = list(map(_words_of, names))
    places: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(words):
        if len(one) > 1:
            places.setdefault(one, []).append(place)
    return sorted((place, other) for place, one in enumerate(words) if len(one) > 1 and _NO_ENDS.isdisjoint(one)
                  for at, word in enumerate(one) for second in _SECONDS.get(word, ())
                  for other in places.get((*one[:at], second, *one[at + 1:]), ())
                  if not any((*one[:at], more, *one[at + 1:]) in places for more in _MORE.get(second, ())))


@dataclass(frozen=True)
class TableColumn:
    """A column that may be an end. name : its name in the header. kind : "int", "string", "float" if its type says so,
    or "" if its values cannot be ids. values : of the first rows, to recognise a column that numbers the edges."""

    name: str
    kind: str
    values: Sequence[Any] = ()


def edge_ends(columns: Sequence[TableColumn], wanted: tuple[str, str] | None, path: str,
              weight: str | None = None) -> tuple[int, int]:
    """The places of the two columns that are the ends of the edges.

    Parameters
    ----------
    columns : all columns of the table, in order.
    wanted : names, or numbers from 1 on, of the two columns that the user wants; None: found from their names, else
        from their kinds, see _by_kind.
    path : name of the table, for errors.
    weight : name of the column with the weights, "" if unknown; None without weights.

    Raises
    ------
    InputError
        For an unknown wanted column. Also if no column is wanted and the names are those of several pairs of ends; or
        if they do not decide, and a column numbers the edges or has their type, or the kinds of the columns do not
        decide.
    """
    names = [column.name for column in columns]
    if wanted is not None:
        places = tuple(_place_of(name, names, path) for name in wanted)
        if places[0] == places[1]:
            places = _two_of_one_name(wanted, names, places[0], path)
        return places[0], places[1]
    doubtful = [i for i, column in enumerate(columns) if _is_no_end(column) or column.kind == TIMES]
    rivals = [pair for pair in _rivals(names) if all(columns[place].kind != TIMES for place in pair)]
    if len(rivals) > 1:
        ways = ", or ".join(f"--columns {_places_or_names(names, pair)}" for pair in rivals[:2])
        raise InputError(f"two pairs of columns may be the ends of an edge ({listed(names)})", path=path,
                         remedy=f"say {ways}")
    found = named_pair(names)
    if found is not None:
        if _are_times(columns, found) or any(columns[place].kind == TIMES for place in found):
            raise _unclear(columns, [*doubtful, *found], path)
        if (_is_numbered_further(names, found) or _has_further_start(names, found)
                or _are_of_first_column(columns, found)):
            raise _unclear(columns, doubtful, path)
        return found
    if len(columns) == 2:
        found = None if _are_vertices(columns) or any(_is_measure(name) for name in names) else (0, 1)
    elif len(alike_pairs(names)) < 2:
        found = _by_kind(columns, doubtful, weight)
        if found is not None and sum(_describes(names[place]) for place in found) == 1 and set(
                columns[found[0]].values).isdisjoint(columns[found[1]].values):  # a vertex and its name
            found = None
        if found is not None and 0 not in found and columns[0].kind != columns[found[0]].kind and (
                1 < len(columns[0].values) == len(set(columns[0].values)) and 0 not in doubtful):  # a name and values
            found = None
    if found is None or _is_numbered_further(names, found):
        raise _unclear(columns, doubtful, path)
    return found


def refuse_two_sides(columns: Sequence[str], ends: tuple[int, int], path: str,
                     rows: Sequence[tuple[Any, Any]] = ()) -> None:
    """Raise InputError if the names of the ends stand for two kinds of vertices, such as user_id and item_id, or for a
    vertex and its value; or may do so, and they are integers, or each vertex of the first has one row.

    columns : names of all columns. ends : places of the two. rows : both ends in the first rows."""
    names = [columns[place].strip() for place in ends]
    one, other = sorted((tuple(filter(str.isalpha, _words_of(name))) for name in names), key=len)
    if named_pair(names) is not None or names[0].lower() == names[1].lower() or all(len(name) < 2 for name in names):
        return
    if (len(one) > 1 and other[-len(one):] == one) or not _OF_SAME.isdisjoint((*one, *other)):  # cited_paper_id
        return
    pair, again = ",".join(names), f"say --bipartite if so, or --columns {_places_or_names(columns, ends)}"
    values = [{row[place] for row in rows} for place in (0, 1)]
    integers = len(rows) > 1 and all(str(value).isdecimal() for value in values[0] | values[1])
    trees = not _OF_TREES.isdisjoint((*one, *other))
    if all(map(_OF_IDS.search, names)) or (integers and not trees):
        raise InputError(f"the ends may be of two kinds whose equal ids are other vertices ({pair})", path=path,
                         remedy=again)
    if not trees and len(values[0]) == len(rows) > 1 and values[0].isdisjoint(values[1]):
        raise InputError(f"each row may be a vertex and a value, such as its group or its number ({pair}), or an edge",
                         path=path, remedy=f"give the file that has the edges, or {again}")


def refuse_ways(names: Sequence[str], ends: tuple[int, int], path: str) -> None:
    """Raise InputError if a column beside the ends says which way an edge goes, or that it goes both ways; but not with
    the columns of osmnx, which writes a row for each way."""
    lower = [name.strip().lower() for name in names]
    place = next((place for place, name in enumerate(lower) if name in _WAYS and place not in ends), None)
    if place is not None and _EACH_WAY.isdisjoint(lower):
        raise InputError(f"column {names[place].strip()} may say which way an edge goes", path=path,
                         remedy="write a row for each way, or name the ends if there is one, as in --columns"
                         f" {_places_or_names(names, ends)}")


def _is_numbered_further(names: Sequence[str], ends: tuple[int, int]) -> bool:
    """Whether another column has the name of an end with another number, as in node, n1, n2: neighbours or members."""
    stems = [_NUMBER_BEHIND.sub("", name.strip().lower()) for name in names]
    return any(stems[place] in (stems[ends[0]], stems[ends[1]]) and _NUMBER_BEHIND.search(names[place].strip())
               for place in range(len(names)) if place not in ends and stems[place])


def _has_further_start(names: Sequence[str], ends: tuple[int, int]) -> bool:
    """Whether a column beside the ends is called source or the like, as in source, target1, target2."""
    return certain_pair(names) is None and any(
        name.strip().lower() in _STARTS for place, name in enumerate(names) if place not in ends)


def _are_times(columns: Sequence[TableColumn], ends: tuple[int, int]) -> bool:
    """Whether from and to have the dates or years of the pairs in other columns."""
    others = [column for place, column in enumerate(columns) if place not in ends and column.kind
              and not _TYPES.fullmatch(column.name.strip().lower()) and not _is_measure(column.name)]
    starts, stops = ([str(value) for value in columns[place].values] for place in ends)
    if columns[ends[0]].name.strip().lower() != "from" or not starts or not others:
        return False
    if all(map(DATE.fullmatch, (*starts, *stops))):
        return True
    return len(others) > 1 and all(map(_YEAR.fullmatch, (*starts, *stops))) and all(
        start <= stop for start, stop in zip(starts, stops, strict=False))


def _are_of_first_column(columns: Sequence[TableColumn], ends: tuple[int, int]) -> bool:
    """Whether the ends, with names such as t1 and t2, may be values or neighbours of vertices in the first column.

    Not if it has the numbers, kinds or times of edges: no other value in each line, or numbers beside names."""
    first, (one, other) = columns[0], (columns[place] for place in ends)
    name, words = first.name.strip().lower(), _words_of(one.name)
    word = next((a for a, b in zip(words, _words_of(other.name), strict=False) if a != b), "")
    if 0 in ends or certain_pair([column.name for column in columns]) or word not in _NUMBERING or (
            len(words) < 2 and word != _CHILD):
        return False
    if _TYPES.fullmatch(name) or _is_measure(name) or (_NUMBERS.fullmatch(name) and name not in _OF_BOTH):
        return False
    if len(set(first.values)) < len(first.values) or first.kind == "int" != one.kind:
        return False
    return name not in _OF_BOTH or words[0] in (*_OF_NEIGHBOURS, _CHILD) or len(words[0]) == 1 or (
        first.kind != one.kind and words[0] not in _VERTICES)


def _are_vertices(columns: Sequence[TableColumn]) -> bool:
    """Whether two columns may be a table of vertices with an attribute: an id and a name, or integers and texts."""
    names = [column.name.strip().lower() for column in columns]
    if _ONLY_OF_VERTICES.fullmatch(names[1]) or (names[1] in _GROUPS and columns[0].kind == columns[1].kind == "int"):
        return True
    if (names[0] in _VERTICES or (names[0] and _NUMBERS.fullmatch(names[0]))) and _OF_VERTICES.fullmatch(names[1]):
        return True
    return {column.kind for column in columns} == {"int", "string"} and are_of_two_kinds(
        [column.values for column in columns])


def are_of_two_kinds(values: Sequence[Sequence[Any]]) -> bool:
    """Whether one of two columns has only numbers, and most values of the other are no numbers (a few may be faults).
    False for a single row."""
    if len(values[0]) < 2:
        return False
    numbers = [sum(_NUMBER.fullmatch(str(value)) is not None for value in column) for column in values]
    return any(numbers[i] == len(values[i]) and 2 * numbers[1 - i] < len(values[1 - i]) for i in (0, 1))


def _unclear(columns: Sequence[TableColumn], doubtful: Sequence[int], path: str) -> InputError:
    names = [column.name for column in columns]
    pairs = next((column for column in columns if column.values and all(
        _BOTH_ENDS.fullmatch(str(value)) for value in column.values)), None)
    if pairs is not None:
        return InputError(f"column {pairs.name} has both ends of an edge, as in tables of Cytoscape", path=path,
                          text=str(pairs.values[0]), remedy="export the network itself, as SIF, or write a column for"
                          " each end")
    may_be = any(_OF_VERTICES.fullmatch(name.strip().lower()) or _describes(name) for name in names)
    values = [set(column.values) for column in columns
              if column.kind == "string" or _words_of(column.name)[-1:] == ("id",)]
    if may_be and named_pair(names) is None and not alike_pairs(names) and all(
            one.isdisjoint(other) for one, other in combinations(values, 2)):
        remedy = "give the file that has the edges, and this one with --vertices, or name both ends with --columns"
    else:
        dated = [i for i, column in enumerate(columns) if column.values and all(
            DATE.fullmatch(str(value)) for value in column.values)]
        remedy = "name both by --columns, as in --columns " + example_columns(columns, [*doubtful, *dated])
    also = "; this may be a table of vertices, and another file has the edges" if may_be else ""
    return InputError(f"which columns are the ends of an edge is not clear ({listed(names)}){also}", path=path,
                      remedy=remedy)


def _by_kind(columns: Sequence[TableColumn], doubtful: Sequence[int], weight: str | None) -> tuple[int, int] | None:
    """The first two columns if they alone are of their kind and not doubtful; else, if no column is doubtful and none
    describes vertices, the only two columns of integers, or without integers the only two of texts, then of floats;
    else None. Columns that are weights by their name are no ends. Beside weights, names may be numbers alone."""
    names = [column.name.strip() for column in columns]
    kinds = ["" if (weight and name == weight) or name.lower() in _WEIGHTS else column.kind
             for name, column in zip(names, columns, strict=True)]
    first = [i for i, kind in enumerate(kinds) if kind and kind == kinds[0] and i not in doubtful]
    of_vertices = [bool(_OF_VERTICES.fullmatch(name.lower())) for name in names]
    numbered = weight is not None and names in (["0", "1", "2"], ["1", "2", "3"])
    if first[:2] == [0, 1] and not all(of_vertices[:2]) and (len(first) == 2 or numbered):
        return 0, 1
    if doubtful or any(of_vertices):
        return None
    for kind in ("int", "string", "float"):
        places = [i for i, other in enumerate(kinds) if other == kind]
        if places:
            return (places[0], places[1]) if len(places) == 2 else None
    return None


def listed(names: Sequence[str]) -> str:
    """The names of columns for a sentence; a column without a name is called by its number."""
    shown = [name.strip() or f"column {i + 1}" for i, name in enumerate(names[:_MAX_NAMES])]
    return ", ".join(shown) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def _place_of(wanted: str, names: Sequence[str], path: str) -> int:
    """The place of the column with this name, ignoring case, or this number from 1 on. Raises InputError."""
    plain = [name.strip() for name in names]
    for there, name in ((plain, wanted), ([name.lower() for name in plain], wanted.lower())):
        if name in there:
            return there.index(name)
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= len(names):
        return int(wanted) - 1
    raise InputError(f"there is no column {wanted}", path=path, text=listed(names),
                     remedy=f"name two of these columns, or give their numbers from 1 to {len(names)}")


def _two_of_one_name(wanted: tuple[str, str], names: Sequence[str], first: int, path: str) -> tuple[int, int]:
    """The places of the two columns with one name, if it is wanted twice. Raises InputError unless there are two."""
    lower = [name.strip().lower() for name in names]
    if wanted[0].lower() == wanted[1].lower() == lower[first] and lower.count(lower[first]) == 2:
        return first, lower.index(lower[first], first + 1)
    raise InputError("the two ends are one column", path=path, text=",".join(wanted), remedy="name two columns")


def _is_no_end(column: TableColumn) -> bool:
    """Whether a column, by its name or values, has the numbers, types, lengths or times of edges."""
    name = column.name.strip().lower()
    if not name or _NUMBERS.fullmatch(name) or _TYPES.fullmatch(name) or _is_measure(name):
        return True
    return is_count(column.values)


def _is_measure(name: str) -> bool:
    """Whether a word of the name says that the column has lengths, times, places or counts."""
    return not _NO_ENDS.isdisjoint(_WORD.findall(name.lower()))


def _describes(name: str) -> bool:
    """Whether the last word of a name says that the column describes vertices."""
    words = [word for word in _words_of(name) if word.isalpha()]
    return bool(words) and words[-1] in _DESCRIPTIONS


def is_count(values: Sequence[Any], fewest: int = _FEWEST_COUNTED) -> bool:
    """Whether there are at least `fewest` values and they increase by one from 0 or 1 on."""
    if len(values) < fewest or str(values[0]) not in ("0", "1"):
        return False
    first = int(values[0])
    return all(str(value) == str(first + i) for i, value in enumerate(values))


def example_columns(columns: Sequence[TableColumn], doubtful: Sequence[int] = ()) -> str:
    """Two columns that may be the ends, in the form of --columns: two with similar names, else two of one kind; of
    several pairs the one with the most common values. doubtful : places of columns that are no ends."""
    fit = [i for i, column in enumerate(columns) if i not in doubtful and column.kind]
    fit += [] if len(fit) > 1 else [i for i in range(len(columns)) if i not in fit]
    alike = alike_pairs([column.name for column in columns])
    of_a_kind = [[pair for pair in combinations(places, 2) if columns[pair[0]].kind == columns[pair[1]].kind != ""]
                 for places in (fit, list(range(len(columns))))]
    pairs = [pair for pair in alike if {*doubtful}.isdisjoint(pair)] or of_a_kind[0] or of_a_kind[1] or [
        (fit[0], fit[1])]
    likely: tuple[int, int] = max(pairs, key=lambda pair: len(
        set(columns[pair[0]].values) & set(columns[pair[1]].values)))
    first, second = sorted(likely)
    return _places_or_names([column.name for column in columns], (first, second))


def _places_or_names(names: Sequence[str], pair: tuple[int, int]) -> str:
    """Two columns in the form of --columns: by their names if these are plain, else by their numbers."""
    both = [names[i].strip() for i in pair]
    plain = all(both) and not any(mark in name for name in both for mark in ", ") and both[0] != both[-1]
    return ",".join(both if plain else [str(i + 1) for i in pair])


def in_slices(src: Any, dst: Any, batch_bytes: int, weights: Any = None) -> Iterator[EdgeBatch]:
    """Batches of about `batch_bytes` (by the mean size of ids) from two int64 or string arrays of one length, and their
    weights."""
    pieces = max(1, -(-(src.nbytes + dst.nbytes) // batch_bytes))
    step = max(1, -(-len(src) // pieces))
    for start in range(0, len(src), step):
        here = slice(start, start + step)
        yield EdgeBatch(src[here], dst[here], None if weights is None else weights[here])
