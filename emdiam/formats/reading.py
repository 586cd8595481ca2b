"""The decisions on how to read a text; `look` makes them (look.py)."""

from __future__ import annotations

from dataclasses import dataclass

from .look_header import NONE

EDGE_LIST, CSV, COLUMNS = "edgelist", "csv", "columns"
HELD = "held"
TUPLES = "("
INT, STRING = "int", "string"


@dataclass(frozen=True)
class Reading:
    """The decisions on how to read a text.

    format : name of the reader (registry.READERS). separator : between fields: "," ";" "|" "\\t", " " for runs of
    blanks, "" for a mix of blanks and commas. comments : mark of comments beside # and %: "//", "c" or "". rewrite :
    the arrow between two ids, "-" for dashes, "(" for tuples, ":" for lists after a colon; "" without. header :
    "none", "counts", "names", or "held": the first pair may be counts, and the end of the input decides. counts :
    numbers in the header. names : column names in the header. width : fields of each line, 0 if it varies. columns :
    places of the two ends, from 0 on. id_kind : "int" or "string". skip : bytes before the first line of data. line :
    number of that line. record : its fields. closed : number of fields behind the second that is an error, 0 for none.
    indented : whether lines between tabs may begin with one. why : the decisions in one sentence.
    """

    format: str
    separator: str = " "
    comments: str = ""
    rewrite: str = ""
    header: str = NONE
    counts: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    width: int = 0
    columns: tuple[int, int] = (0, 1)
    id_kind: str = INT
    skip: int = 0
    line: int = 1
    record: tuple[str, ...] = ()
    closed: int = 0
    indented: bool = True
    why: str = ""
