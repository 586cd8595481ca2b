"""The first lines of a text, the kinds of values in their fields, and the separator of fields.

The separator is the mark that splits most lines into the same number of fields.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

Records = Sequence[Sequence[str]]

_LINE, _BLANKS = re.compile(rb"[^\r\n]+"), re.compile(rb"[ \t\r\n]+")
_MOST_LINES = 1000
_MOST_LINE_BYTES = 1 << 16
_WORD_C = re.compile(r"c(?:[ \t]|$)")

_INTEGER = re.compile(r"\d+", re.ASCII)
_WHOLE_FLOAT = re.compile(r"(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DIGITS_OF_FLOATS, _MOST_DIGITS, _LARGEST = 16, 30, 2**63 - 1
# Soft hyphens, marks of width zero and of direction, byte order marks.
UNSEEN = "\u00ad\u200b-\u200f\u2060\ufeff"
_UNSEEN = re.compile(f"[{UNSEEN}]")
LOOK_THE_SAME = "two names look the same, and are written with other letters"
IN_ONE_FORM = "write it once, or say --ids string if these are two vertices"


@dataclass(frozen=True)
class Line:
    """A line that is neither blank nor a comment. text : with leading blanks, without trailing ones. offset : of its
    first byte. number : from 1 on."""

    text: str
    offset: int
    number: int


@dataclass(frozen=True)
class Sample:
    """The first lines of a text.

    lines : at most 1,000, complete except for a long first one. comments : the comments before the first line.
    later : comments after it. at : line number of the first of these. rewrite : mark of comments beside # and %: "//",
    "c" or "". whole : whether the text has no other lines.
    """

    lines: tuple[Line, ...]
    comments: tuple[str, ...]
    later: tuple[str, ...] = ()
    at: int = 0
    rewrite: str = ""
    whole: bool = False

    @property
    def texts(self) -> list[str]:
        """The texts of the lines."""
        return [line.text for line in self.lines]


def sample_of(head: bytes, complete: bool, most: int = _MOST_LINES) -> Sample:
    """The Sample of the first bytes of a text. complete : whether these are all bytes. most : largest number of lines
    that are no comments."""
    found: list[Line] = []
    comments: list[str] = []
    later: list[str] = []
    number, counted, whole, later_at = 1, 0, complete, 0
    mark = b"\n" if b"\n" in head else b"\r"
    for begin, end in _lines(head):
        cut = end == len(head) and not complete
        if (cut and found) or len(found) == most:
            whole = False
            break
        text = head[begin : min(end, begin + _MOST_LINE_BYTES)].decode("utf-8", "replace").rstrip(" ")
        if not text.strip("\t ,;" if found else "\t "):  # many blanks, or an empty row of a spreadsheet
            continue
        number += head.count(mark, counted, begin)
        counted = begin
        if text.lstrip(" \t").startswith(("#", "%", "//")):
            those = later if found else comments
            later_at = later_at or (number if found else 0)
            those += [text.strip(" \t")] if len(those) < _MOST_LINES else []
        else:
            found.append(Line(text, begin, number))
    if not _have_empty_ends(found):
        found = [replace(line, text=line.text.rstrip(" \t")) for line in found]
    slashes = any(comment.startswith("//") for comment in (*comments, *later))
    lines, letter = _without_c(found)
    return Sample(lines, tuple(comments), tuple(later), later_at, "c" if letter else "//" if slashes else "", whole)


def _lines(head: bytes) -> Iterator[tuple[int, int]]:
    """(begin, end) in bytes of each line that is not blank; skips runs of blank lines quickly."""
    at = 0
    while True:
        blanks = _BLANKS.match(head, at)
        text = blanks.end() if blanks else at
        begin = max(head.rfind(b"\n", at, text), head.rfind(b"\r", at, text)) + 1 or at
        line = _LINE.match(head, text)
        if line is None:
            return
        yield begin, line.end()
        at = line.end()


def _have_empty_ends(lines: Sequence[Line]) -> bool:
    """Whether the last field between tabs is empty in some lines and not in others, so that tabs at the ends count."""
    n_tabs = {line.text.count("\t") for line in lines}
    return len(n_tabs) == 1 and len({line.text.rstrip(" \t").count("\t") for line in lines}) > 1


def _without_c(lines: Sequence[Line]) -> tuple[tuple[Line, ...], bool]:
    """(lines without c comments, whether there are any): lines with the word c first, if all others begin with
    integers."""
    others = [line for line in lines if not _WORD_C.match(line.text)]
    if not others or len(others) == len(lines) or not all(_INTEGER.match(line.text.lstrip(" \t")) for line in others):
        return tuple(lines), False
    return tuple(others), True


def as_seen(text: str) -> str:
    """A name without letters that are not seen, and with accents as parts of their letters."""
    return normalize("NFC", _UNSEEN.sub("", text).replace("\u00a0", " ")).strip()


def is_integer(text: str) -> bool:
    """Whether the text is a whole number from 0 up, as digits."""
    return bool(_INTEGER.fullmatch(text))


def value_of(digits: str) -> int:
    """The number that the digits stand for, or 10^30 for more than 30 digits."""
    plain = digits.lstrip("0")
    return int(plain or 0) if len(plain) <= _MOST_DIGITS else 10**_MOST_DIGITS


def has_leading_zero(text: str) -> bool:
    """Whether the text is digits with a leading zero, as in 007."""
    return len(text) > 1 and text[0] == "0" and is_integer(text)


def are_beyond(ids: Sequence[str]) -> bool:
    """Whether all ids are digits without leading zeros, and most are larger than 2^63 - 1, so that they are names."""
    return all(is_integer(text) and not has_leading_zero(text) for text in ids) and (
        2 * sum(value_of(text) > _LARGEST for text in ids) > len(ids))


def is_number(text: str) -> bool:
    """Whether the text is a decimal number, with a point or a comma."""
    return bool(_NUMBER.fullmatch(text))


def whole_number(text: str) -> int | None:
    """The whole number from 0 up that a text stands for, as digits or as an exact float such as 1.0 and 1e+05; None for
    other texts.

    The result is None for floats with more than 16 digits before the exponent, or above 2^53, because programs that
    write floats have rounded them.
    """
    if is_integer(text):
        return value_of(text) if value_of(text) < 1 << 64 else None
    match = _WHOLE_FLOAT.fullmatch(text)
    if match is None:
        return None
    digits, behind, power = match[1], (match[2] or "").rstrip("0"), int(match[3] or 0)
    if len(digits.lstrip("0")) + len(behind) > _DIGITS_OF_FLOATS:
        return None
    power -= len(behind)
    value = value_of(digits + behind)
    if power < 0:
        whole, rest = divmod(value, 10**-power)
        return None if rest else whole if whole <= 1 << 53 else None
    value *= 10**power
    return value if value <= 1 << 53 else None


def is_id_number(text: str) -> bool:
    """Whether an id looks like a number, not a name: digits of any length, also with a minus sign, or a whole float."""
    return is_integer(text.removeprefix("-")) or whole_number(text) is not None


_SEPARATED_BY = re.compile(r"\"?sep=(.)\"?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
LIST_OF_NUMBERS = re.compile(r"\s*(\d+):(\d+(?:,\d+)*|\[[\d, ]*\]|private|notfound|)\s*", re.ASCII)
"""A vertex and its neighbours without a blank, as in lists of Friendster."""
_LISTED, _IN_QUOTES = re.compile(r"[\[{]([^\[\]{}():]*)[\]}]"), re.compile(r"'[^',]*'|\"[^\",]*\"")
_BLANK = re.compile(r"[ \t]+")
_COLON = re.compile(r":(?=\s|$)")
_TUPLES, BITS = "(", "01"
WORDS_OF_CELLS = {"true": "1", "false": "0"}
_QUOTED = re.compile(r"(?:^|[,;|\t ])\"")
WORDS = {",": "commas", ";": "semicolons", "|": "bars", "\t": "tabs", " ": "blanks", "": "blanks or commas"}


@dataclass(frozen=True)
class Fields:
    """The lines of a sample, split into fields.

    separator : "," ";" "|" "\\t"; " " for runs of blanks; "" for a mix of blanks and commas. records : fields of each
    record; a record with a line break inside quotes spans lines. quoted : whether fields have quotes.
    """

    separator: str
    records: tuple[tuple[str, ...], ...]
    quoted: bool = False

    @property
    def width(self) -> int:
        """The number of fields of each record, 0 if it varies."""
        return width_of(self.records)

    @property
    def words(self) -> str:
        """The separator in words."""
        return WORDS[self.separator]


def width_of(records: Sequence[Sequence[str]]) -> int:
    """The number of fields of each record, 0 if it varies."""
    widths = {len(record) for record in records}
    return widths.pop() if len(widths) == 1 else 0


def declared_separator(line: str) -> str:
    """The separator that a line "sep=;" of a spreadsheet declares, "" for other lines."""
    match = _SEPARATED_BY.fullmatch(line)
    return match[1] if match and match[1] in WORDS else ""


def split(lines: Sequence[str], declared: str = "") -> Fields:
    """The fields of lines. declared : their separator, if known.

    A mark is the separator if all lines have the same number of it; the first line may have another number. Tabs come
    first, then semicolons, bars and commas; semicolons beside commas only if these are decimal. Otherwise blanks
    separate.
    """
    lines = [line.rstrip(" ") for line in lines]
    quoted = any(_QUOTED.search(line) for line in lines)
    if declared:
        return Fields(declared, records_of(lines, declared, quoted), quoted)
    plain = [line.strip(" \t") for line in lines]
    inside = _commas_are_inside(plain)
    for lacking in (False, True):  # prefer a mark in all lines to a mark that the first line lacks
        for mark in "\t;|" if inside else "\t;|,":
            fields = _split_by(mark, lines, quoted, lacking)
            if fields is not None:
                return fields
    records = records_of(lines, " ", quoted) if quoted else ()
    if width_of(records) > 1 or (records and width_of(records[1:]) == len(records[0]) + 1 > 2):  # as R writes names
        return Fields(" ", records, quoted)
    mixed = any("," in line for line in lines) and not inside
    return Fields("" if mixed else " ",
                  tuple(tuple(_split_mixed(line) if mixed else _BLANK.split(line)) for line in plain))


def behind_colon(line: str, separator: str) -> list[str]:
    """A vertex, and those behind its colon, also in brackets. separator : between them, "," or " "."""
    plain = LIST_OF_NUMBERS.fullmatch(line)
    head, *rest = (plain[1], plain[2]) if plain else _COLON.split(line, maxsplit=1)
    tail = "".join(rest).strip(" \t").removesuffix(",")
    listed = _LISTED.fullmatch(tail)
    tail = listed[1] if listed else "" if plain and tail[:1].isalpha() else tail
    behind = [field.strip(" \t") for field in (tail.split(",") if separator == "," else _BLANK.split(tail))]
    while behind and not behind[-1]:
        behind.pop()
    row = [head.strip(" \t"), *behind]
    if not listed or not any(mark in line for mark in "'\""):
        return row
    return [field[1:-1] for field in row] if all(map(_IN_QUOTES.fullmatch, row)) else ["", *row]  # an id is missing


def split_lists(lines: Sequence[str]) -> Fields:
    """The fields of lists behind a vertex and a colon, by commas if there are any, else by blanks."""
    mark = "," if any("," in line for line in lines) else " "
    return Fields(mark, tuple(tuple(behind_colon(line, mark)) for line in lines))


def rewritten(text: str, mark: str) -> str:
    """The text with a known separator instead of an arrow, dashes, brackets and quotes; its length in bytes stays the
    same."""
    if mark == BITS:
        return " ".join(text.strip())
    if mark == _TUPLES:
        return text.replace("Edge(", "     ").translate({ord(letter): " " for letter in "()[]'\"\t"})
    if mark == "-":
        return text.replace("-", " ").replace("–", " ")
    return text.replace(mark, "\t".ljust(len(mark.encode())))


def _split_by(mark: str, lines: Sequence[str], quoted: bool, lacking: bool) -> Fields | None:
    """The fields of lines between a mark; None if the mark does not split all lines into the same number. lacking : try
    a mark that all lines except the first have."""
    with_mark = sum(mark in line for line in lines)
    header_lacks_it = len(lines) > 2 and with_mark == len(lines) - 1 and mark not in lines[0]
    fits = header_lacks_it if lacking else with_mark == len(lines) or (quoted and not header_lacks_it)
    if not with_mark or not fits:
        return None
    records = records_of(lines, mark, quoted)
    if mark == ";" and not commas_are_decimal(lines):
        if width_of(records_of(lines, ",", quoted)) > 1:
            return None
    even = width_of(records) > 1 or width_of(records[1:]) > 1 or (
        quoted and min(map(len, records), default=0) > 1)
    if _blanks_separate_too(records) or (mark == "\t" and are_lists_of_commas(records)):
        return None
    if even or (with_mark == len(lines) and mark != "\t" and not _split_evenly_by_blanks(lines)):
        return Fields(mark, records, quoted)
    return None


def records_of(lines: Sequence[str], mark: str, quoted: bool) -> tuple[tuple[str, ...], ...]:
    """The fields of lines between a mark. quoted : whether fields are in double quotes, which may have line breaks
    inside."""
    if quoted:
        try:
            return tuple(tuple(field.strip(" \t") for field in record)
                         for record in csv.reader((line + "\n" for line in lines), delimiter=mark) if record)
        except csv.Error:
            pass  # the reader reports the error in the quotes, with its position
    if not mark:
        return tuple(tuple(_split_mixed(line.strip(" \t"))) for line in lines)
    if mark == " ":
        return tuple(tuple(_BLANK.split(line.strip(" \t"))) for line in lines)
    if mark == "\t" and all(line.startswith("\t") for line in lines):
        lines = [line.lstrip(" \t") for line in lines]
    return tuple(tuple(field.strip(" \t") for field in line.split(mark)) for line in lines)


def _blanks_separate_too(records: Sequence[Sequence[str]]) -> bool:
    """Whether at least half of the records are a number, the mark, and several numbers with blanks between (an edge and
    its weight, or a vertex and its neighbours); or some are, and one number is behind the mark of the others."""
    rows = [row for row in records if len(row) > 1]
    fits = [row[0].isdigit() and bool(_NUMBERS.fullmatch(row[1])) for row in rows]
    lists = any(fits) and all(len(row) == 2 and row[0].isdigit() and (fit or row[1].isdigit())
                              for row, fit in zip(records, fits, strict=False))
    return bool(fits) and (2 * sum(fits) >= len(records) or (lists and len(rows) == len(records)))


def are_lists_of_commas(records: Sequence[Sequence[str]]) -> bool:
    """Whether each line is a number and, behind a mark, several or fewer with commas between: a vertex and its
    neighbours, which have it among theirs. So the second number is no list of labels, and no number of thousands."""
    rows = {row[0]: row[1].split(",") for row in records if len(row) > 1 and all(map(_LIST.fullmatch, row))}
    if len(rows) < len(records) or width_of(records) != len(("vertex", "list")) or max(map(len, rows.values())) < 3:
        return False
    known = [(vertex, other) for vertex, others in rows.items() for other in others if other in rows]
    return len(known) > 1 and all(vertex in rows[other] for vertex, other in known)


def commas_are_decimal(lines: Sequence[str]) -> bool:
    """Whether each comma is between two digits."""
    return not any("," in _DECIMAL_COMMA.sub(".", line) for line in lines)


def _commas_are_inside(lines: Sequence[str]) -> bool:
    """Whether blanks alone split the lines, and commas are inside fields: in decimals after the two ids, or in URLs."""
    if not any("," in line for line in lines):
        return False
    rows = [_BLANK.split(line) for line in lines]
    if width_of(rows) > 2 and commas_are_decimal(lines) and not any("," in field for row in rows for field in row[:2]):
        return True
    return width_of(rows) > 1 and all(field.count("://") == 1 and field[-1] != "," for row in rows for field in row
                                      if "," in field)


def _split_evenly_by_blanks(lines: Sequence[str]) -> bool:
    return width_of([_BLANK.split(line.strip(" \t")) for line in lines]) > 1


_NUMBERS = re.compile(r"\d+(?:[ \t]+[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)+", re.ASCII)
_LIST = re.compile(r"\d+(?:,\d+)*", re.ASCII)
_MIXED = re.compile(r"[ \t]*,[ \t]*|[ \t]+")


def _split_mixed(line: str) -> list[str]:
    fields = _MIXED.split(line)
    return fields[:-1] if len(fields) > 2 and not fields[-1] else fields
