"""Whether the first line of a text is an edge, names of columns, or counts of vertices and edges."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from .look_ends import Records
from .look_sample import is_id_number, is_integer, is_number, value_of, width_of
from .tables import alike_pairs, certain_pair, is_name_of_end, named_pair, weak_pair

NONE, COUNTS, NAMES = "none", "counts", "names"
MOST_COUNTS = 3


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
    if any(is_number(field) for field in first):
        return (NAMES, 1) if table and _has_numbers_for_names(first, rest, path) else (NONE, 0)
    if _above_numbers(first, rest, table) or _are_words_for_ends(first, rest):
        return NAMES, 1
    numbers = all(is_id_number(field) for row in rest for field in row[:2])
    if _recur(first, rest) or not (table or numbers or weak_pair(first)):
        return NONE, 0
    pair = named_pair(first) if table or numbers else None
    if pair is not None and (numbers or first[pair[0]] != first[pair[1]]):  # a pair of equal names may be a loop
        return NAMES, 1
    if numbers and table:
        return NAMES, 1
    raise InputError("the first line may be names of columns, or an edge", path=path, line=1, text=" ".join(first),
                     remedy="say which with --header names, or --header none")


def _has_numbers_for_names(first: Sequence[str], rest: Records, path: str) -> bool:
    """Whether the first line of a table is the header of columns that are numbered from 0 on, and some named. Raises
    InputError if it may be, or has the name of an end."""
    n_numbers = next((i for i, field in enumerate(first) if field != str(i)), len(first))
    numbers = all(is_id_number(field) for row in rest for field in row[:2])
    if "0" in first and _are_words_for_ends(first, rest):  # as pandas calls a column without a name
        return True
    if n_numbers > 1 and not _recur(first[:2], [row[:2] for row in rest]) and width_of(rest) == len(first) and numbers:
        if n_numbers < len(first) and not any(map(is_number, first[n_numbers:])):
            return True
    elif _recur(first, rest) or not (any(is_name_of_end(field) for field in first) or (
            "0" in first and weak_pair(first))):
        return False
    raise InputError("the first line may be names of columns, or an edge", path=path, line=1, text=" ".join(first),
                     remedy="say which with --header names, or --header none")


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
    return any(all(is_number(row[i]) for row in rest) for i in range(len(first)) if first[i])


def _are_words_for_ends(first: Sequence[str], rest: Records) -> bool:
    """Whether two fields of the first line differ only in a word for the ends (node_a, node_b), and no later field
    begins like them."""
    pairs = alike_pairs(first)
    if not pairs or _recur(first, rest):
        return False
    stems = [first[i].lower().rstrip("0123456789_-. ")[:-1].rstrip("_-. ") for pair in pairs for i in pair]
    ids = [field.lower() for row in rest for field in row]
    return all(stem and not any(text.startswith(stem) for text in ids) for stem in stems)


def _recur(first: Sequence[str], rest: Records) -> bool:
    """Whether a field of the first line occurs again in the first lines."""
    fields = {field for row in rest for field in row}
    return any(field and field in fields for field in first)
