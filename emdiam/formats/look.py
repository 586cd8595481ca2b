"""What a text is: decided once, from its first bytes, its name and what the user wishes, before anything is read.

`look` is a pure function. Its answer holds for the whole input: a reader refuses a line that contradicts it.
"""

from __future__ import annotations

from dataclasses import dataclass

LOOKED_AT_BYTES = 1 << 20
"""Decompressed bytes that `look` sees at most."""


@dataclass(frozen=True)
class Reading:
    """How a text is read.

    format : name of the reader (registry.READERS). separator : between fields: "," ";" "|"
    "\\t", or " " for runs of blanks, "" for a shape that has its own marks. comments : letters that make a line a
    comment. header : "none", "counts", "names", or "held": the first pair may be counts, which the end of the input
    decides. names : of the columns, as the header has them. columns : places of the two ends, from 0 on. weight : that
    of the weights, -1 for none that is known. id_kind : "int" or "string". skip : bytes before the first line of data.
    line : number of that line. why : what was decided, in one sentence.
    """

    format: str
    separator: str = " "
    comments: str = "#%"
    header: str = "none"
    names: tuple[str, ...] = ()
    columns: tuple[int, int] = (0, 1)
    weight: int = -1
    id_kind: str = "int"
    skip: int = 0
    line: int = 1
    why: str = ""
