"""How to read a text: decided once, from its first bytes, its name and the user's settings, before reading.

`look` is a pure function. Its result is valid for the whole input: a reader refuses a line that contradicts it.

    look_sample.py      lines and comments, separators of fields, and kinds of values
    look_shape.py       rows of a matrix, lists of neighbours, triples and others
    look_header.py      whether the first line is a header
    look_ends.py        which fields are the ends of an edge, and errors for doubtful ends
    look_faults.py      errors for texts whose parts are written in different ways
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from ..errors import InputError
from . import look_shape as shape
from .inputs import EmptyInputError, Input
from .look_ends import (
    ends_of,
    named_above,
    refuse_backward,
    refuse_bits,
    refuse_comments,
    refuse_counted_lists,
    refuse_lists,
    refuse_rounded,
    refuse_two_forms,
    refuse_weights_above,
    refuse_word,
    weights_of,
)
from .look_faults import (
    header_mark,
    in_doubt,
    list_mark,
    refuse_contradictions,
    refuse_lengths,
    refuse_marked_ids,
    refuse_numbered,
    refuse_odd_lists,
    refuse_sections,
    refuse_tuples,
    refuse_values,
    relation_mark,
)
from .look_header import (
    COUNTS,
    NAMES,
    NONE,
    header_of,
    names_of_columns,
    refuse_header_again,
    refuse_odd_first,
    refuse_title,
    refuse_title_above,
)
from .look_sample import (
    BITS,
    Fields,
    Sample,
    are_beyond,
    declared_separator,
    has_leading_zero,
    is_id_number,
    is_integer,
    records_of,
    rewritten,
    sample_of,
    split,
    split_lists,
    value_of,
    width_of,
)
from .look_small import is_of_konect, refuse_map, refuse_small
from .look_squares import is_headed_matrix, names_of_matrix, refuse_headed_rows
from .marks import UNREAD, FormatMark
from .reading import COLUMNS, CSV, EDGE_LIST, HELD, INT, STRING, TUPLES, Reading
from .registry import format_suffix
from .source import Wishes
from .tables import DATE, certain_pair, direction_column, listed, refuse_two_sides, refuse_ways

LOOKED_AT_BYTES = 1 << 20
"""Decompressed bytes that `look` sees at most."""

_TABLE_MARKS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_EDGES = (".el", ".wel")  # of GAP: an edge a line
_RELATION = ("source", "relation", "target")
_TABLES = tuple(_TABLE_MARKS)
_TGF = FormatMark("", "a graph in the Trivial Graph Format", "keep the lines below the line #, which are"
                  " its edges, and write the ids above it to a file of their own for --vertices")


def look(head: bytes, complete: bool, name: str, wishes: Wishes) -> Reading:
    """Decide how to read a text.

    Parameters
    ----------
    head : its first bytes, as UTF-8, at most LOOKED_AT_BYTES, without a byte order mark.
    complete : whether these are all bytes.
    name : name of the input.
    wishes : the user's settings; a format in them is not questioned.

    Raises
    ------
    InputError
        If there is no line of data, or if the lines fit two readings: the message names both, and how to choose.
    """
    sample = sample_of(head, complete)
    if sample.lines and wishes.format is None:
        refuse_values(sample, name)
    found = _lgl(name, sample, wishes) or _attributes(sample, wishes)
    if found is not None:
        return found
    if format_suffix(name) == ".tgf" and "#" in sample.later and wishes.format is None:
        raise _TGF.refusal(name)
    suffix = ".cmty" if ".cmty." in name else format_suffix(name)
    if suffix in UNREAD and wishes.format is None:
        raise UNREAD[suffix].refusal(name)
    if wishes.format is None:
        refuse_sections(sample, name)
    if not sample.lines:
        raise EmptyInputError("no edge and no header is found", path=name,
                              remedy="check that this is a graph, or name its format with --format")
    return _plain(sample, name, wishes)


def _plain(sample: Sample, name: str, wishes: Wishes) -> Reading:
    """The Reading of lines of fields. Raises InputError."""
    declared = declared_separator(sample.lines[0].text)
    if declared:
        sample = replace(sample, lines=sample.lines[1:])
        if not sample.lines:
            raise InputError("no edge follows the line that names the separator", path=name,
                             remedy="fetch or write it again")
    lines, rewrite = _plain_lines(sample.texts, sample.whole, wishes)
    if rewrite == TUPLES:
        refuse_tuples(sample.texts, name)
    mark = _TABLE_MARKS.get(format_suffix(name), "")
    by_arrows = rewrite not in ("", TUPLES, BITS, ":") and wishes.format is None
    if by_arrows and mark and all(mark in text for text in sample.texts):
        raise InputError(f"an arrow or a dash stands in every line, and so does {mark!r}", path=name, text=lines[0],
                         remedy="say which of them separates the ends, with --format edgelist for the first, or with"
                         " --format csv")
    fields = split_lists(lines) if rewrite == ":" else split(
        lines, declared or ("" if rewrite or wishes.format == EDGE_LIST else header_mark(sample)))
    if shape.are_in_single_quotes(lines, fields.separator):
        raise InputError("the fields are in single quotes, which may have separators between them", path=name,
                         text=lines[0], remedy="write the table with double quotes or none")
    indented = fields.separator != "\t" or all(line.startswith("\t") for line in lines)
    base = Reading(EDGE_LIST, fields.separator, sample.rewrite, rewrite, width=fields.width, record=fields.records[0],
                   indented=indented)
    if declared or sample.rewrite:
        base = replace(base, skip=sample.lines[0].offset, line=sample.lines[0].number)
    if wishes.format == EDGE_LIST and not rewrite:
        base = replace(base, separator="", indented=True)
    if wishes.format is None and rewrite != BITS:
        if wishes.columns is None:
            refuse_numbered(sample.texts, rewrite, name)
            if rewrite not in (TUPLES, ":", "-"):
                refuse_headed_rows(fields.records, sample.whole, name)
        refuse_contradictions(fields, sample, rewrite, name)
        if wishes.columns is None:
            refuse_lengths(fields.records, sample, name, wishes.ids == STRING)
    try:
        return _looked(base, sample, fields, name, wishes)
    except shape.DoubtError as doubt:
        raise in_doubt(doubt, name, fields) from None


def reading_of(source: Input, wishes: Wishes) -> Reading:
    """The Reading of an input, from its first MiB, or 16 MiB if comments or a long line fill the first."""
    for size in (LOOKED_AT_BYTES, 16 * LOOKED_AT_BYTES):
        head = source.peek(size, text=True)
        complete = len(head) < size
        if complete or size > LOOKED_AT_BYTES or len(sample_of(head, False, 2).lines) > 1:
            break
    return look(head, complete, source.name, wishes)


def _lgl(name: str, sample: Sample, wishes: Wishes) -> Reading | None:
    if wishes.format == shape.LGL or (wishes.format is None and shape.is_lgl(name, sample)):
        lines = (*sample.comments, *sample.later, *sample.texts)
        ids = [text.lstrip("# ").split()[0] for text in lines if text.strip("# ")]
        return Reading(shape.LGL, id_kind=_chosen(_kind_of(ids), wishes),
                       why="LGL: lists of neighbours behind # and their vertex")
    return None


def _attributes(sample: Sample, wishes: Wishes) -> Reading | None:
    """The Reading of lines with a dict of attributes at the end, if the dicts have commas (which separate no fields) or
    weights are wanted; else None."""
    ids = shape.ids_before_attributes(sample.texts) if sample.lines else []
    if wishes.format == shape.ATTRIBUTES or (wishes.format is None and wishes.columns is None and ids and (
            wishes.weights is not None or any("," in text[text.find("{"):] for text in sample.texts))):
        fields = split(ids or sample.texts, "")
        ends = [field for row in fields.records for field in row[:2]]
        return Reading(shape.ATTRIBUTES, fields.separator, id_kind=_chosen(_kind_of(ends), wishes),
                       why=f"an edge a line, with a dict of its attributes; fields by {fields.words}")
    return None


def _kind_of(ids: Sequence[str]) -> str:
    """INT or STRING, the kind of these ids."""
    return INT if all(map(is_id_number, ids)) and not any(map(has_leading_zero, ids)) else STRING


def _chosen(kind: str, wishes: Wishes) -> str:
    """The kind of ids in the user's settings, else this kind."""
    return kind if wishes.ids == "auto" else wishes.ids


def _plain_lines(lines: Sequence[str], whole: bool, wishes: Wishes) -> tuple[list[str], str]:
    """(lines without arrows, brackets and colons, the mark that was removed or "")."""
    if wishes.format in (None, EDGE_LIST):
        arrow = shape.arrow_of(lines)
        if arrow or shape.are_tuples(lines):
            return [rewritten(line, arrow or TUPLES) for line in lines], arrow or TUPLES
    if wishes.format in (None, shape.MATRIX) and shape.are_bits(lines, whole):
        return [rewritten(line, BITS) for line in lines], BITS
    if wishes.format == shape.ADJLIST and shape.arrow_of(lines):
        raise InputError("an arrow stands in every line", text=lines[0], remedy="write a blank in place of every mark")
    return list(lines), ":" if wishes.format in (None, shape.ADJLIST) and shape.begin_with_colons(lines) else ""


def _looked(base: Reading, sample: Sample, fields: Fields, name: str, wishes: Wishes) -> Reading:
    found = _shape(base, sample, fields, name, wishes)
    marks = {shape.ADJLIST: list_mark, shape.SIF: relation_mark}
    mark = marks[found](fields, sample, name) if found in marks and not base.rewrite else base.separator
    if mark != base.separator:
        fields = Fields(mark, records_of(sample.texts, mark, fields.quoted), fields.quoted)
        base = replace(base, separator=mark, width=fields.width, record=fields.records[0])
    if wishes.directed:
        middles = (row[1] for row in fields.records if found == shape.SIF and len(row) > 1)
        refuse_backward([base.rewrite, *middles], name)
    if found in (shape.ADJLIST, shape.SIF) and wishes.format is None:
        refuse_odd_lists(replace(fields, separator=base.separator), sample, found == shape.SIF, base.rewrite, name)
        if wishes.ids == "auto":
            rows = [[row[0], *row[1 + (found == shape.SIF):]] for row in fields.records]
            refuse_marked_ids(rows, name)
            refuse_rounded([field for row in rows for field in row], name)
    return _of_shape(base, fields, found, wishes) if found else _of_edges(base, sample, fields, name, wishes)


def _of_edges(base: Reading, sample: Sample, fields: Fields, name: str, wishes: Wishes) -> Reading:
    """The Reading of lines that are one edge each. Raises InputError, DoubtError."""
    kind, n_lines = _header(base, fields, name, wishes)
    rest = fields.records[n_lines:]
    if not rest:
        raise EmptyInputError("no record follows the header", path=name, remedy="fetch or write it again")
    width = Fields(fields.separator, rest).width
    base = replace(base, header=kind, width=width, record=rest[0])
    if n_lines:
        at = sample.lines[n_lines] if n_lines < len(sample.lines) else sample.lines[-1]
        base = replace(base, skip=at.offset, line=at.number)
    if kind == NAMES:
        base = replace(base, names=names_of_columns(fields.records[0], rest, base.line, sample, name, wishes.columns))
        refuse_header_again(fields.records[0], rest, name)
    elif kind == COUNTS:
        numbers = [field for row in fields.records[:n_lines] for field in row]
        base = replace(base, counts=tuple(map(value_of, takewhile(is_integer, numbers))))
    base = replace(base, columns=_columns(base, sample, rest, name, wishes))
    base = replace(base, id_kind=_id_kind(base, rest, name, wishes))
    if wishes.format is None and len(rest) > 2 and (width == 2 or (width > 2 and base.id_kind == STRING)):
        base = replace(base, closed=width - 1)  # a name with a blank inside takes one more
    _refuse_odd_ids(base, sample, rest, name, wishes)
    base = replace(base, format=_reader(base, fields, wishes))
    if base.format == CSV and sample.later:  # the CSV reader knows no comments
        raise InputError("a line between the records may be a comment, or a record of an id that begins so", path=name,
                         line=sample.at, text=sample.later[0],
                         remedy="delete it if it is a comment, else put the id in double quotes")
    if base.format == CSV and not base.skip:
        base = replace(base, skip=sample.lines[0].offset, line=sample.lines[0].number)
    if kind == NONE and base.id_kind == INT and wishes.header == "auto" and base.columns == (0, 1):
        base = replace(base, header=HELD)
    if wishes.weights is not None and not base.names:
        refuse_weights_above(named_above(sample, base.separator, width, True), base.columns, wishes.weights, name)
    weights = wishes.weights and weights_of(base.names, rest, base.columns, wishes.weights, name)
    return replace(base, why=_why(base, fields, rest) + (f"; {weights}" if weights else ""))


def _shape(base: Reading, sample: Sample, fields: Fields, name: str, wishes: Wishes) -> str:
    """The shape of the lines, "" if each line is an edge."""
    if wishes.format is not None:
        return "" if wishes.format in (EDGE_LIST, CSV) else wishes.format
    records = fields.records
    if format_suffix(name) == ".sif":
        if certain_pair(records[0]) is not None:
            raise InputError("the first line has names of columns, which SIF has not", path=name,
                             text=" ".join(records[0]), remedy="delete it")
        return shape.SIF
    if format_suffix(name) == ".adjlist" and not shape.is_multiline(records):
        refuse_counted_lists(records, name, True)
        return shape.ADJLIST
    if base.rewrite in (":", BITS):
        return shape.MATRIX if base.rewrite == BITS else shape.ADJLIST
    if base.rewrite == TUPLES and wishes.columns is None:
        if shape.is_in_brackets(sample.texts, records, sample.whole):
            return shape.MATRIX
        if shape.middle_is_relation(records):
            raise shape.DoubtError(shape.SECOND_OR_THIRD, ())
        shape.refuse_neighbours(shape.filled(records, sample), sample.whole, name)
    if base.rewrite or wishes.columns is not None or wishes.header != "auto" or format_suffix(name) in _EDGES:
        return ""
    if shape.is_pycgr(records):
        return shape.PYCGR
    if shape.is_multiline(records):
        return shape.MULTILINE
    if shape.begins_as_lists_of_networkx(sample):
        return shape.ADJLIST
    shape.refuse_padded(records, False, name)
    if any(fits(records, sample.whole) for fits in (shape.is_named_matrix, is_headed_matrix, shape.is_matrix)):
        return shape.MATRIX
    shape.refuse_neighbours(shape.filled(records, sample), sample.whole, name)
    refuse_counted_lists(records, name)
    shape.refuse_rows(records, sample.whole, name)
    kind, n_lines = header_of(records, _is_table(base, name), name) if len(records) > 1 else (NONE, 0)
    named = wishes.weights is not None and wishes.weights.column
    if sample.whole and kind != NAMES and not named:
        refuse_small(records, sample.comments, base.separator in (",", ";", "|"), wishes.weights is not None, name)
    if kind != NONE or wishes.weights is not None:  # no other shape has weights
        return ""
    return _shape_of_rows(base, fields, sample, records[n_lines:], name)


def _shape_of_rows(base: Reading, fields: Fields, sample: Sample, rest: Sequence[Sequence[str]], name: str) -> str:
    """The shape of lines without a header: relations, lists of neighbours, or "" for edges."""
    if base.separator in ("", " ") and all(len(row) == len(_RELATION) for row in rest) and any(
            shape.ARROW.fullmatch(row[1]) for row in rest):
        return shape.SIF
    if base.separator in (",", ";", "|"):
        if shape.third_may_be_end(rest):
            raise shape.DoubtError(shape.SECOND_OR_THIRD, ())
    if base.separator != "," or not fields.width:
        dated = all(DATE.fullmatch(row[0]) for row in rest)
        if not is_id_number(rest[0][0]) and not dated and shape.middle_is_relation(rest):
            return shape.SIF
    if base.separator in ("", " ") and shape.may_be_lists_behind_mark(sample.texts, rest):
        raise shape.DoubtError("the numbers behind the first of a line may be its neighbours, or the other end of an"
                               " edge and further fields", (shape.ADJLIST, shape.PAIRS))
    refuse_title_above(rest[0], rest[1:], name)
    numbers = all(is_integer(field) or field in shape.PADS for row in rest for field in row)
    padded = not all(row[-1] for row in rest) or numbers  # a spreadsheet writes rows of one length
    return shape.ADJLIST if shape.is_adjlist([shape.without_end(row) for row in rest] if padded else rest) else ""


def _of_shape(base: Reading, fields: Fields, found: str, wishes: Wishes) -> Reading:
    """The Reading of lines that are not one edge each."""
    records = fields.records
    names: tuple[str, ...] = ()
    if found == shape.MATRIX:
        names, width = names_of_matrix(records), width_of(records[1:]) or len(records[0])
        base = replace(base, width=width, counts=(width,) if len(records[0]) == 1 < width else ())
    elif found == shape.PYCGR:
        base = replace(base, counts=(value_of(records[0][0]), value_of(records[1][0])))
        records = records[2:]
    ids = names or [row[0] for row in records]
    kind = INT if found == shape.MATRIX and not names else _kind_of(ids)
    said = {shape.ADJLIST: "lists of neighbours, each line a vertex and those behind it",
            shape.MATRIX: f"an adjacency matrix of {len(names) or base.width} rows and columns"
                          + (" with names" if names else ""),
            shape.SIF: "the first field of a line is joined to those behind the second, which says how",
            shape.MULTILINE: "lines of a vertex and its degree, and of its neighbours behind it",
            shape.PYCGR: "vertices with coordinates, then edges"}[found]
    return replace(base, format=found, names=names, header=NAMES if names else NONE,
                   id_kind=_chosen(kind, wishes),
                   why=f"{said}; fields by {fields.words}; ids: {'integers' if kind == INT else 'names'}")


def _is_table(base: Reading, name: str) -> bool:
    return base.separator in (",", ";", "|") or format_suffix(name) in _TABLES


def _header(base: Reading, fields: Fields, name: str, wishes: Wishes) -> tuple[str, int]:
    """(kind of the header, its number of lines)."""
    if wishes.header == NONE or base.rewrite:
        return NONE, 0
    if wishes.header == NAMES:
        return NAMES, 1
    if wishes.header == COUNTS:
        single = [len(row) == 1 for row in fields.records[:2]]
        return COUNTS, 2 if single == [True, True] else 1
    table = wishes.format == CSV or (_is_table(base, name) and wishes.format is None)
    return header_of(fields.records, table, name)


def _columns(base: Reading, sample: Sample, rest: Sequence[Sequence[str]], name: str,
             wishes: Wishes) -> tuple[int, int]:
    """The places of the two ends. Raises InputError if they are not clear."""
    if max(map(len, rest)) < 2:
        if base.header == NAMES and wishes.header == "auto":
            raise InputError("the first line has one column where two are needed", path=name,
                             remedy="separate the columns by commas")
        if wishes.format is None and len(rest) > 1:
            raise InputError("no line has two ids", path=name, text=rest[0][0],
                             remedy="write an edge a line, two ids with a blank between them")
        return 0, 1
    two_columns = base.width == 2 and (wishes.format is not None or wishes.ids != "auto")
    if (wishes.format == EDGE_LIST or two_columns) and wishes.columns is None and not base.names:
        return 0, 1
    if base.rewrite and wishes.columns is None:
        refuse_word(rest, name)
    if wishes.columns is None and not base.names:
        if is_of_konect(sample.comments):
            return 0, 1
        if base.width == 2 and not wishes.bipartite:
            refuse_map(rest, sample.comments, name)
    called = named_above(sample, base.separator, base.width, wishes.directed)
    weight = None if wishes.weights is None else wishes.weights.column
    found = ends_of(base.names, rest, wishes.columns, name, called, weight)
    if max(found) < len(base.names) and wishes.columns is None and not wishes.bipartite:
        refuse_two_sides(base.names, found, name, [
            (row[found[0]], row[found[1]]) for row in rest if len(row) > max(found)])
    if base.names and wishes.columns is None and wishes.directed:
        refuse_ways(base.names, found, name)
    return found


def _refuse_odd_ids(base: Reading, sample: Sample, rest: Sequence[Sequence[str]], name: str, wishes: Wishes) -> None:
    """Raise InputError if ids are values or lists, or (unless the user sets the kind of ids) marks or comments."""
    ends = [[row[i] for i in base.columns if i < len(row)] for row in rest]
    if (wishes.format is None and wishes.columns is None and certain_pair(base.names) is None
            and (base.header == NAMES or base.width > 1)):
        refuse_bits(ends if base.header == NAMES else rest, name)
    if wishes.ids != "auto":
        return
    refuse_lists(rest, ends, name)
    no_header = base.id_kind == STRING and base.header == NONE and wishes.header == "auto"
    if no_header:
        refuse_title(rest[0], rest[1:], name)
    refuse_marked_ids(ends, name)
    if base.id_kind != STRING or not all(ends):
        return
    refuse_comments(ends, sample, base.width, name)
    if no_header:
        refuse_odd_first(ends, name)


def _id_kind(base: Reading, rest: Sequence[Sequence[str]], name: str, wishes: Wishes) -> str:
    """The kind of ids: INT if those of the first line are integers, else STRING.

    Raises InputError if leading zeros make it unclear whether two ids are one vertex."""
    if wishes.ids != "auto":
        return wishes.ids
    ids = [row[i] for row in rest for i in base.columns if i < len(row)]
    refuse_rounded(ids, name)
    if are_beyond(ids) or not all(is_id_number(row) for row in ids[: 2 if len(rest[0]) > 1 else 1]):
        return STRING
    if not any(map(has_leading_zero, ids)):
        if len(rest) > 2 and len(rest[0]) > 1 and not any(map(is_id_number, ids[2:])):
            raise InputError("the first line may be counts of vertices and edges, or an edge of names", path=name,
                             line=base.line, text=" ".join(rest[0]),
                             remedy="say --header counts, or --header names, or --header none --ids string")
        return INT
    refuse_two_forms(ids, name, "say --ids int, or --ids string")
    return STRING


def _reader(base: Reading, fields: Fields, wishes: Wishes) -> str:
    """The reader for one edge a line: EDGE_LIST (kernels) for plain fields, CSV for quotes and other separators, and
    COLUMNS (line by line) for other columns between blanks."""
    if wishes.format == CSV:
        return CSV
    if base.rewrite and (base.separator in (";", "|") or (
            base.rewrite == TUPLES and base.separator == "," and base.id_kind == STRING)):
        return COLUMNS  # where names may have blanks inside
    if base.rewrite or wishes.format == EDGE_LIST:
        return EDGE_LIST if base.columns == (0, 1) else COLUMNS
    if (fields.quoted and base.separator) or base.separator in (";", "|"):
        return CSV
    one_mark = base.separator in (",", "\t")
    # Kernels read no words, and read a comma as a separator, but in these lines it is a decimal comma.
    slow = direction_column(base.names, wishes.directed) is not None or (
        base.id_kind == INT and base.separator in (" ", "\t") and any(
            "," in field for row in fields.records for field in row))
    if one_mark and (base.header == NAMES or base.columns != (0, 1) or slow):
        return CSV
    if one_mark and base.id_kind == STRING and base.width and wishes.format is None:
        return CSV
    return EDGE_LIST if base.columns == (0, 1) and not slow else COLUMNS


def _why(base: Reading, fields: Fields, rest: Sequence[Sequence[str]]) -> str:
    """The decisions, in one sentence."""
    width = str(base.width) if base.width else "2 or more"
    parts = [f"{width} columns by {'arrows' if base.rewrite not in ('', TUPLES, '-') else fields.words}"]
    if base.header == NAMES:
        parts.append(f"header: {listed(base.names)}")
    elif base.header == COUNTS:
        parts.append("first line of counts: " + " ".join(map(str, base.counts)))
    else:
        parts.append("no header")
    src, dst = (base.names[i].strip() if i < len(base.names) and base.names[i].strip() else str(i + 1)
                for i in base.columns)
    parts.append(f"edges: {src} and {dst}" if base.header == NAMES else f"edges: columns {src} and {dst}")
    parts.append("ids: integers" if base.id_kind == INT else "ids: names, with their leading zeros" if any(
        has_leading_zero(row[i]) for row in rest for i in base.columns if i < len(row)) else "ids: names")
    return "; ".join(parts)
