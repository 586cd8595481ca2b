"""Whether the first line of a text is an edge, names of columns, or counts of vertices and edges."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import InputError
from .look_sample import Records, Sample, is_id_number, is_integer, is_number, value_of, width_of
from .tables import alike_pairs, certain_pair, is_name_of_end, named_pair, weak_pair

NONE, COUNTS, NAMES = "none", "counts", "names"
MOST_COUNTS = 3
HEADER_AGAIN = "the header occurs again between the edges, as in files that were joined"
JOINED = "delete all but the first, or hand in the files one by one"
BOM = "\ufeff"
_EITHER = "the first line may be names of columns, or an edge"
_WHICH = "say which with --header names, or --header none"
_FEW, _MANY = 3, 8
_KINDS_OF_CHARACTERS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]", "[^A-Za-z0-9]")))
_PARTED = re.compile(r"[1-9]\d{0,2}(?:[., \u00a0\u202f']\d{3})+(?:[.,]\d+)?", re.ASCII)  # a number of thousands
# Words of a line that says what follows; first words of it, and marks of comments in other languages.
_TITLES = frozenset("directed undirected graph network nodes vertices edges edgelist list links relations interactions"
                    " matrix dataset".split())
_IDS_OF_VERTICES = ("id", ":id", "~id", "node_id", "nodeid", "vertex_id", "vertexid")
_FIRST_WORDS = frozenset("version rem -- ; * ! ' //".split())


def header_of(records: Records, table: bool, path: str) -> tuple[str, int]:
    """(kind of the header, its number of records).

    Parameters
    ----------
    records : the fields of the first lines.
    table : whether the text is a table by its name or separator; tables often have a header.
    path : name of the input, for errors.

    Raises
    ------
    InputError
        If the first line may be names of columns or an edge of names.
    """
    counts = 1 if _is_problem(records) else counts_before(records)
    if counts:
        return COUNTS, counts
    first, rest = records[0], records[1:]
    if certain_pair(first) is not None:
        return NAMES, 1
    if not rest:
        return NONE, 0
    words = len(first) > 2 and not any(map(is_number, first)) and not _recur(first, rest)
    if words and len(rest) == 1 and not table and _above_numbers(first, rest, True):
        raise InputError(_EITHER, path=path, line=1, text=" ".join(first), remedy=_WHICH)
    if any(is_number(field) for field in first):
        return (NAMES, 1) if table and _has_numbers_for_names(first, rest, path) else (NONE, 0)
    if _above_numbers(first, rest, table) or _are_words_for_ends(first, rest) or _are_of_r(first, rest):
        return NAMES, 1
    numbers = all(is_id_number(field) for row in rest for field in row[:2])
    unlike = len(rest) >= _FEW and not _recur(first, rest) and _are_unlike(first, rest)
    if unlike and len(rest) >= _MANY and not {row[0] for row in rest}.isdisjoint(row[1] for row in rest):
        return NAMES, 1
    if _recur(first, rest) or not (table or numbers or unlike or weak_pair(first)):
        return NONE, 0
    pair = named_pair(first) if table or numbers else None
    if pair is not None and (numbers or first[pair[0]] != first[pair[1]]):  # a pair of equal names may be a loop
        return NAMES, 1
    if (numbers and table) or (table and first[0].strip().lower() in _IDS_OF_VERTICES):
        return NAMES, 1
    refuse_title_above(first, rest, path)
    raise InputError(_EITHER, path=path, line=1, text=" ".join(first),
                     remedy=_WHICH)


def _has_numbers_for_names(first: Sequence[str], rest: Records, path: str) -> bool:
    """Whether the first line of a table is the header of columns that are numbered from 0 on, and some named. Raises
    InputError if it may be, or has the name of an end."""
    if not first[0] and list(first[1:]) == [str(i) for i in range(len(first) - 1)] and all(row[0] for row in rest):
        return len(first) > _FEW - 1  # above the index of pandas
    n_numbers = next((i for i, field in enumerate(first) if field != str(i)), len(first))
    numbers = all(is_id_number(field) for row in rest for field in row[:2])
    if "0" in first and _are_words_for_ends(first, rest):  # as pandas calls a column without a name
        return True
    if n_numbers > 1 and width_of(rest) == len(first) and numbers:
        words = [bool(field) and not is_number(field) for field in first[n_numbers:]]
        if words and all(words):
            return True
        doubtful = _may_number_columns(rest)
    else:
        doubtful = not _recur(first, rest) and (any(is_name_of_end(field) for field in first) or (
            "0" in first and weak_pair(first) is not None))
    if not doubtful:
        return False
    raise InputError(_EITHER, path=path, line=1, text=" ".join(first),
                     remedy=_WHICH)


def _may_number_columns(rest: Records) -> bool:
    """Whether 0,1 above these lines may be the numbers of two columns, as pandas writes them, and adds an edge if it is
    read as one: no line has vertex 0, and they do not go on from 0 with a line for each vertex; or the first of them is
    far from it."""
    pairs = [row[:2] for row in rest]
    if any({*pair} == {"0", "1"} for pair in pairs):
        return False
    goes_on = all(pair[0] == str(place) for place, pair in enumerate(pairs, 1))
    return not goes_on and (not any("0" in pair for pair in pairs) or {"0", "1", "2"}.isdisjoint(pairs[0]))


def _is_problem(records: Records) -> bool:
    """Whether the first line is "p", two counts and more, as NetworKit writes it above edges for SNAP."""
    first, rest = records[0], records[1:]
    return (len(first) > MOST_COUNTS and first[0] == "p" and all(map(is_integer, first[1:3])) and bool(rest)
            and all(len(row) < len(first) and all(map(is_integer, row[:2])) for row in rest))


def counts_before(records: Records) -> int:
    """The number of first records that are counts: "n", "n m" or "n n m" in one line, or n and m in two lines.

    They have another number of fields than all later records, and cannot be edges."""
    for lines in (1, 2):
        head, rest = records[:lines], records[lines:]
        if len(rest) < 1 or not all(is_integer(field) for row in head for field in row):
            return 0
        width = width_of(rest)
        if width < 2 or (lines == 2 and len(rest) < 2):
            continue
        if lines == 2:
            return 2 if all(len(row) == 1 for row in head) else 0
        if len(head[0]) == width or len(head[0]) > MOST_COUNTS:
            continue
        if len(head[0]) == 1 or len(rest) > 1:
            return 1 if _fit(head[0], rest) else 0
    return 0


def _fit(counts: Sequence[str], rest: Records) -> bool:
    """Whether the ids of the first lines are at most the number of vertices, or are names. Three counts are rows,
    columns and entries of a matrix, which must be square."""
    if len(counts) == MOST_COUNTS and counts[0] != counts[1]:
        return False
    ids = [field for row in rest for field in row[:2]]
    if not any(map(is_integer, ids)):
        return True
    return all(map(is_integer, ids)) and max(map(value_of, ids)) <= value_of(counts[0])


def _above_numbers(first: Sequence[str], rest: Records, table: bool) -> bool:
    """Whether some column has a text in the first line and numbers in all others. Lines that are no table need at least
    two others, because ids of both kinds may be mixed."""
    if len(first) != width_of(rest) or (len(rest) < 2 and not table):
        return False
    return any(all(is_number(row[i]) or _PARTED.fullmatch(row[i]) for row in rest) for i in range(len(first))
               if first[i])


def _are_unlike(first: Sequence[str], rest: Records) -> bool:
    """Whether each of the first two fields lacks a kind of characters (capitals, small letters, digits, others) that
    all fields below it have."""
    if width_of(rest) != len(first):
        return False
    return all(any(pattern.search(first[place]) is None and all(pattern.search(row[place]) for row in rest)
                   for pattern in _KINDS_OF_CHARACTERS) for place in (0, 1))


def _are_words_for_ends(first: Sequence[str], rest: Records) -> bool:
    """Whether two fields of the first line differ only in a word for the ends (node_a, node_b), and no later field
    begins like them."""
    pairs = alike_pairs(first)
    if not pairs or _recur(first, rest):
        return False
    stems = [first[i].lower().rstrip("0123456789_-. ")[:-1].rstrip("_-. ") for pair in pairs for i in pair]
    ids = [field.lower() for row in rest for field in row]
    return all(stem and not any(text.startswith(stem) for text in ids) for stem in stems)


def _are_of_r(first: Sequence[str], rest: Records) -> bool:
    """Whether these are the names that R gives to columns, V1 or X1 and so on, and no other field is of their form."""
    columns = any(list(first) == [f"{letter}{place}" for place in range(1, len(first) + 1)] for letter in "VX")
    return columns and len(first) > 1 and not any(
        field[:1] == first[0][0] and field[1:].isdigit() for row in rest for field in row)


def _recur(first: Sequence[str], rest: Records) -> bool:
    """Whether a field of the first line occurs again in the first lines."""
    fields = {field for row in rest for field in row}
    return any(field and field in fields for field in first)


def names_of_columns(header: Sequence[str], rest: Records, line: int, sample: Sample, path: str,
                     wanted: tuple[str, str] | None) -> tuple[str, ...]:
    """The names of the columns. line : number of the first line behind the header. wanted : see ends_of. Raises
    InputError if their number differs from the number of fields."""
    names, width = tuple(header), width_of(rest)
    if not width and len(names) == 1:
        raise InputError("the header has one name, and lines behind it have more fields", path=path, text=names[0],
                         remedy="write a table of edges alone, with a name for each column")
    if width > len(names) > 1 and any(
            all(text.count(mark) == len(names) - 1 for text in sample.texts) for mark in ",;|\t"):
        raise InputError("a field of a line has several ids", path=path, line=line, text=" ".join(rest[0]),
                         remedy="write an edge a line")
    if width in (0, len(names)):
        return names
    if width == len(names) + 1 and not any(row[-1] for row in rest):  # a separator ends each line
        return (*names, "")
    if width == len(names) - 1 and not names[-1]:  # a separator ends the header
        return names[:-1]
    if width == len(names) + 1 and (wanted is not None or _has_names_of_rows(rest, sample.texts)):
        return ("", *names)
    if width == len(names) + 1 > 2:
        raise InputError(f"the header has {len(names)} names, and the lines behind it have {width} fields: the first of"
                         " them may be the name of a row, or the last one be without a name", path=path,
                         line=line, text=" ".join(rest[0]), remedy="say where the ends are, by --columns 1,2 or by"
                         " --columns 2,3")
    raise InputError(f"the header has {len(names)} names, and the lines behind it have {width} fields", path=path,
                     line=line, text=" ".join(rest[0]), remedy="fix the header")


def _has_names_of_rows(rest: Records, lines: Sequence[str]) -> bool:
    """Whether the first fields are names of rows, as R writes them, without a column name.

    They are numbers from 1 on, if the ids are no numbers or only the row names have quotes; or other distinct names, if
    only these have quotes."""
    heads = [row[0] for row in rest]
    alone = all(line.startswith('"') for line in lines) and not lines[-1].endswith('"')
    if heads == [str(row) for row in range(1, len(heads) + 1)]:
        return alone or not any(is_id_number(row[1]) for row in rest)
    return alone and len(set(heads)) == len(heads)


def refuse_header_again(header: Sequence[str], rest: Records, path: str) -> None:
    """Raise InputError if the header occurs again among the first lines; names of ends also with other capitals, and
    all behind a byte order mark."""
    forms = [forms_of(name, certain_pair(header) is not None) for name in header]
    if any(len(row) == len(header) and all(map(list.__contains__, forms, row)) for row in rest):
        raise InputError(HEADER_AGAIN, path=path, text=" ".join(header), remedy=JOINED)


def forms_of(name: str, any_case: bool) -> list[str]:
    """How the name of a column may be written in a header that occurs again."""
    forms = (name, name.lower(), name.upper(), name.capitalize()) if any_case else (name,)
    return [mark + form for form in dict.fromkeys(forms) for mark in ("", BOM)]


def refuse_title(first: Sequence[str], rest: Records, path: str) -> None:
    """Raise InputError if the first line may say what follows, as in "Undirected graph", or be a comment."""
    fields, words = {field for row in rest for field in row}, [field.lower().rstrip(":") for field in first]
    if rest and fields.isdisjoint(first) and (words[0] in _FIRST_WORDS or not _TITLES.isdisjoint(words)):
        raise InputError("the first line may be a title or a comment, or an edge", path=path, text=" ".join(first),
                         remedy="delete it if it is no edge, else say --header none")


def refuse_title_above(first: Sequence[str], rest: Records, path: str) -> None:
    """Raise InputError if the first line has words that occur in no other line, and another number of fields."""
    width = width_of(rest)
    if len(rest) > 1 < width != len(first) and not any(map(is_number, first)) and not _recur(first, rest):
        raise InputError(f"the first line may be a title: all others have {width} fields", path=path, line=1,
                         text=" ".join(first), remedy="delete it if so, else say --header none if each line is an edge,"
                         " or --format adjlist if it is a vertex before its neighbours")


def refuse_odd_first(ids: Sequence[Sequence[str]], path: str) -> None:
    """Raise InputError if only the first lines, and perhaps the last, have an id that is no number. ids : the ids of
    each line."""
    odd = [not row or not all(map(is_id_number, row)) for row in ids]
    if len(ids) < _FEW or not odd[0] or all(odd):
        return
    first, last = odd.index(False), odd[::-1].index(False)
    if first == 1 and not last and not any(odd[1:]):
        raise InputError("the first line may be a header or a comment, or an edge: the ids of all others are integers",
                         path=path, line=1, text=" ".join(ids[0]),
                         remedy="say --header names, or --header none, or delete it if it is a comment")
    if len(ids) - first - last >= _FEW and not any(odd[first : len(odd) - last]):
        raise InputError("the first lines, or the last, may be no edges: the ids of all others are integers", path=path,
                         text=" ".join(ids[0]), remedy="delete them if so, else say --ids string")
