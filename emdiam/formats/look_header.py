"""What the first line of a text is: an edge, names of columns, or counts of vertices and edges."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from .look_sample import is_id_number, is_integer, is_number, value_of
from .look_separator import width_of
from .tables import alike_pairs, certain_pair, named_pair, weak_pair

NONE, COUNTS, NAMES = "none", "counts", "names"
_MOST_COUNTS = 3

Records = Sequence[Sequence[str]]


def header_of(records: Records, table: bool, path: str) -> tuple[str, int]:
    """(kind of the header, how many records it is).

    Parameters
    ----------
    records : the fields of the first lines.
    table : whether the text is a table by its name or its separator, of which the first line often is a header.
    path : of the input, for errors.

    Raises
    ------
    InputError
        Where the first line of a table may be names of columns or an edge of names.
    """
    counts = 1 if _is_problem(records) else counts_before(records)
    if counts:
        return COUNTS, counts
    first, rest = records[0], records[1:]
    if certain_pair(first) is not None:
        return NAMES, 1
    if not rest or any(is_number(field) for field in first):
        return NONE, 0
    if _above_numbers(first, rest, table) or _are_words_for_ends(first, rest):
        return NAMES, 1
    numbers = all(is_id_number(field) for row in rest for field in row[:2])
    if _recur(first, rest) or not (table or numbers or weak_pair(first)):
        return NONE, 0
    pair = named_pair(first) if table or numbers else None
    if pair is not None and (numbers or first[pair[0]] != first[pair[1]]):  # which may be a loop
        return NAMES, 1
    if numbers and table:
        return NAMES, 1
    raise InputError("the first line may be names of columns, or an edge", path=path, line=1, text=" ".join(first),
                     remedy="say which with --header names, or --header none")


def _is_problem(records: Records) -> bool:
    """Whether the first line is "p", two counts and more, as NetworKit writes it above edges for SNAP."""
    first, rest = records[0], records[1:]
    return (len(first) > _MOST_COUNTS and first[0] == "p" and all(map(is_integer, first[1:3])) and bool(rest)
            and all(len(row) < len(first) and all(map(is_integer, row[:2])) for row in rest))


def counts_before(records: Records) -> int:
    """How many records at the begin are counts, as they have another number of fields than all behind them, and cannot
    be edges: "n", "n m" or "n n m" in one line, or n and m in two."""
    for lines in (1, 2):
        head, rest = records[:lines], records[lines:]
        if len(rest) < 1 or not all(is_integer(field) for row in head for field in row):
            return 0
        width = width_of(rest)
        if width < 2 or (lines == 2 and len(rest) < 2):
            continue
        if lines == 2:
            return 2 if all(len(row) == 1 for row in head) else 0
        if len(head[0]) == width or len(head[0]) > _MOST_COUNTS:
            continue
        if len(head[0]) == 1 or len(rest) > 1:
            return 1 if _fit(head[0], rest) else 0
    return 0


def _fit(counts: Sequence[str], rest: Records) -> bool:
    """Whether the ids of the first lines are below the number of vertices, or names. Three numbers count rows, columns
    and entries of a matrix, whose rows and columns are as many."""
    if len(counts) == _MOST_COUNTS and counts[0] != counts[1]:
        return False
    ids = [field for row in rest for field in row[:2]]
    if not any(map(is_integer, ids)):
        return True
    return all(map(is_integer, ids)) and max(map(value_of, ids)) <= value_of(counts[0])


def _above_numbers(first: Sequence[str], rest: Records, table: bool) -> bool:
    """Whether a column has numbers in all lines behind the first one, which has a text there; in lines that are no
    table, where ids of both kinds may be mixed, there have to be two of them."""
    if len(first) != width_of(rest) or (len(rest) < 2 and not table):
        return False
    return any(all(is_number(row[i]) for row in rest) for i in range(len(first)) if first[i])


def _are_words_for_ends(first: Sequence[str], rest: Records) -> bool:
    """Whether two fields differ in a word for the ends alone (node_a, node_b), and no id behind them is called so."""
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
