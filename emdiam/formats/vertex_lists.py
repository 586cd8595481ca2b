"""Files that list the vertices of a graph beside its edges: `--vertices`.

    ids alone         one in each line (Graphalytics .v), or a column of a table with a header (Neo4j's :ID, Gephi's Id)
    ids and names     an integer, a tab and a name (Common Crawl's hosts): the names are the ids of the store

Each listed vertex counts, also without an edge. NAME.v of Graphalytics beside NAME.e is found automatically.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .arrays import arrow_numbers
from .arrow_edges import refuse_missing
from .base import Named
from .inputs import HEAD_BYTES, Input, expand
from .look_header import NAMES
from .look_sample import Sample, is_integer, is_number, sample_of
from .source import EdgeBatch, Wishes

_HEADERS = frozenset("name names label labels nodes vertices key person people user users username author gene protein"
                     " city country station stop page account member student customer entity actor".split())
_ID_COLUMN = re.compile(r"(?:.*:ID(?:\(.*\))?|~id|(?:node|vertex)?[_ ]?(?:id|number)|node|vertex)", re.IGNORECASE)
_OTHER_ID = re.compile(r"\w+[_ ](?:id|ID|Id)|[A-Za-z]+I[dD]")
_SPACE = re.compile(r".*:ID\((.+)\)", re.IGNORECASE)
_DIRECTED = re.compile(rb"(?m)^[ \t]*graph\.[^=\s]+\.directed[ \t]*=[ \t]*(true|false)[ \t]*\r?$")
_DIGITS = r"^[0-9]{1,19}$"
_FEW = 2  # words of a name on a line of its own
_SEPARATORS = ("\t", ",", ";", "|")
# Patterns to write the first field of each line twice, which readers of pairs read as a vertex and itself.
_TWICE = {"": re.compile(rb"([^\r\n]+)"), "\t": re.compile(rb"([^\t\r\n]+)[^\r\n]*"),
          " ": re.compile(rb"([^ \t\r\n]+)[^\r\n]*")}


@dataclass(frozen=True)
class ListForm:
    """The form of a list. separator : between its fields, "" for ids alone. named : whether names follow the ids.
    skip : bytes before the first vertex. line : number of its line. columns : column names of a table. place : place of
    the column of ids."""

    separator: str
    named: bool = False
    skip: int = 0
    line: int = 1
    columns: tuple[str, ...] = ()
    place: int = 0


_MOST_COMPARED = 1 << 12


class Common:
    """Whether a list of vertices has ids of the edges. The first ids are compared."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._listed: set[Any] = set()
        self._met = False

    def watch_edges(self, batch: EdgeBatch) -> None:
        """Keep the first ids."""
        if len(self._ids) < _MOST_COMPARED:
            self._ids.update(batch.src[:_MOST_COMPARED].tolist(), batch.dst[:_MOST_COMPARED].tolist())

    def watch_list(self, batch: EdgeBatch) -> None:
        """Compare listed ids with those, and keep the first, until one is in both."""
        if self._met:
            return
        ids = batch.src.tolist()
        self._met = not self._ids.isdisjoint(ids)
        self._listed.update(ids[: _MOST_COMPARED - len(self._listed)])

    def check(self, listed: VertexList) -> None:
        """Note it if no id is in both; raise InputError if they differ in the case of letters, or one side has numbers
        and the other names."""
        if not self._ids or self._met:
            return
        folded, numbers = zip(*(({text.casefold() for text in texts}, all(map(is_number, texts)))
                                for texts in (set(map(str, ids)) for ids in (self._ids, self._listed))), strict=True)
        what = f"no listed id is among the first {len(self._ids):,} of the edges"
        if numbers[0] != numbers[1] or not folded[0].isdisjoint(folded[1]):
            raise listed.error(what, remedy="list the ids as the edges have them; in a table, in a column that is"
                               " called id")
        listed.found = f"; {what}"


class VertexList(Named):
    """Files that list vertices.

    inputs : at least one. named : whether they have names, which are distinct strings. found : the result of the
    comparison with the edges, as the end of the note.
    """

    found = ""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self.inputs = list(inputs)
        self._forms = [_form(source) for source in self.inputs]
        self.named = self._forms[0].named
        self.name = self.inputs[0].name + (f" and {len(self.inputs) - 1} more" if len(self.inputs) > 1 else "")
        for source, form in zip(self.inputs, self._forms, strict=True):
            if form.named != self.named:
                raise InputError(f"this has {'names' if form.named else 'ids alone'}, unlike {self.inputs[0].name}",
                                 path=source.name, remedy="give lists of one kind")
        spaces = {match[1] for form in self._forms if form.columns and (
            match := _SPACE.fullmatch(form.columns[form.place].strip()))}
        if len(spaces) > 1:
            raise self.error("ids of several spaces may be equal and mean other vertices", text=", ".join(spaces),
                             remedy="write ids that differ, such as with the space in front, in lists and edges")

    @property
    def note(self) -> str:
        """The note on their use, in one sentence."""
        return f"vertices are those of {self.name}" + (", by their names" if self.named else "") + self.found

    def compared(self) -> Common:
        """A comparison with the edges, see Common."""
        return Common()

    def declared(self, batch_bytes: int, strings: bool, weighted: bool, strict: bool = False) -> Iterator[EdgeBatch]:
        """Batches that declare the vertices of lists without names. strict : whether words for a missing id are
        refused. Raises InputError at a line without an id of the same kind as in the edges."""
        for source, form in zip(self.inputs, self._forms, strict=True):
            for batch in _ids(source, form, batch_bytes, strings):
                if strings and strict:
                    refuse_missing(batch.src, self)
                weights = np.zeros(len(batch.src)) if weighted else None
                yield EdgeBatch(batch.src, batch.src, weights, declares=True)

    def names(self, batch_bytes: int) -> Iterator[tuple[Any, Any]]:
        """(ids, int64[k]; names, a pyarrow string array) of lists with both. Raises InputError at an invalid line."""
        from .lines import LineReader

        for source, form in zip(self.inputs, self._forms, strict=True):
            lines, n_before = LineReader(source.name, form.line, separator=_kernel_separator(form)), 0
            with source.text(form.skip) as stream:
                for batch in lines.names(stream, "#%", batch_bytes):
                    yield _integers(batch.src, source.name, n_before), batch.dst
                    n_before += len(batch.src)


def find_vertices(names: str | Path | Sequence[str | Path], encoding: str) -> VertexList:
    """The lists in files, globs or folders. Raises InputError."""
    return VertexList([Input(name, encoding=encoding)
                       for name in expand([names] if isinstance(names, str | Path) else names)])


def find_beside(names: Sequence[str]) -> tuple[VertexList | None, bool | None]:
    """(list NAME.v of Graphalytics beside NAME.e, whether its properties say that edges have directions); None for each
    if missing."""
    path = Path(names[0])
    beside, properties = path.with_suffix(".v"), path.with_suffix(".properties")
    if len(names) > 1 or path.suffix != ".e" or not beside.is_file():
        return None, None
    found = Input(str(beside))
    lines = sample_of(found.peek(HEAD_BYTES, text=True), True).texts
    if not lines or not all(is_integer(text.split()[0]) for text in lines):
        return None, None
    said = None
    if properties.is_file():
        with open(properties, "rb") as file:
            said = _DIRECTED.search(file.read(HEAD_BYTES))
    return VertexList([found]), None if said is None else said[1] == b"true"


def _form(source: Input) -> ListForm:
    """The form of this list. Raises InputError if two forms fit, or none."""
    head = source.peek(HEAD_BYTES, text=True)
    sample = sample_of(head, len(head) < HEAD_BYTES)
    if not sample.lines:
        raise InputError("no vertex is found", path=source.name, remedy="give one a line, or leave --vertices out")
    header = _table(sample, source.name)
    if header is not None:
        return header
    lines = sample.texts
    if any(all(text.rstrip().endswith(mark) for text in lines) for mark in _SEPARATORS[1:]):
        raise InputError("a mark ends each line", path=source.name, text=lines[0], remedy="delete the marks")
    _refuse_odd_names(lines, source.name)
    separator = next((mark for mark in ("\t", " ") if all(mark in text.strip() for text in lines)), "")
    if not separator and all("," in text for text in lines):
        raise InputError("fields by commas need a first line that says which of them is the id", path=source.name,
                         text=lines[0], remedy="write a header such as id,name")
    if not separator and any("\t" in text for text in lines):
        raise InputError("some lines have an id alone, and others more", path=source.name, text=lines[0],
                         remedy="give every vertex a name, or none")
    if not separator:
        return ListForm("")
    rows = [text.strip().split(separator if separator == "\t" else None) for text in lines]
    if not all(is_integer(row[0]) for row in rows):
        return ListForm("\t" if separator == "\t" else "")
    if all(is_number(row[1]) for row in rows if len(row) > 1):
        raise InputError("the numbers behind the ids may be names or values", path=source.name, text=lines[0],
                         remedy="for values keep the first column alone (cut -f 1); names need a letter")
    if separator == " " and any(len(row) > 2 for row in rows):
        raise InputError("where a name begins and ends is not clear", path=source.name, text=lines[0],
                         remedy="write a tab between id and name")
    return ListForm(separator, True)


def _refuse_odd_names(lines: Sequence[str], path: str) -> None:
    """Raise InputError if ids that are no integers have quotes, numbers or a header beside them."""
    if all(is_integer(text.split()[0]) for text in lines):
        return
    quoted = next((text for text in lines if text.strip().startswith('"')), None)
    if quoted is not None:
        raise InputError("ids of a list without a header are in quotes", path=path, text=quoted,
                         remedy="delete the quotes, or write a header such as id")
    if len(lines) == 1 and len(lines[0].split()) > _FEW:
        raise InputError("all of the list is one line", path=path, text=lines[0][:80],
                         remedy="write an id a line")
    if lines[0].strip().lower() in _HEADERS and len(lines) > 1:
        raise InputError("the first line may be a header, or a vertex", path=path, text=lines[0],
                         remedy="delete it, or write id for a header")
    rows = [text.split() for text in lines]
    if all(len(row) == 2 and is_number(row[1]) for row in rows):
        raise InputError("the numbers behind the ids may be values, or parts of them", path=path, text=lines[0],
                         remedy="keep the first column alone (cut -f 1)")


def _table(sample: Sample, path: str) -> ListForm | None:
    """The form of a list with a header that names a column of ids, None for others. Raises InputError if it names
    several."""
    first, skip, line = sample.lines[0].text, 0, 1
    if len(sample.lines) > 1:
        skip, line = sample.lines[1].offset, sample.lines[1].number
    mark = next((mark for mark in _SEPARATORS if mark in first), "")
    columns = tuple(first.split(mark) if mark else [first])
    names = [name.strip().strip('"') for name in columns]
    places = [i for i, name in enumerate(names) if _ID_COLUMN.fullmatch(name)] or [
        i for i, name in enumerate(names) if _OTHER_ID.fullmatch(name)]
    if not places or len(sample.lines) < 2:
        return None
    if len(places) > 1:
        raise InputError(f"several columns may have the ids ({', '.join(names[i] for i in places)})", path=path,
                         remedy="keep the one with the ids of the edges")
    if not mark:
        return ListForm("", skip=skip, line=line)
    rows = [text.split(mark) for text in sample.texts[1:]]
    if mark == "\t" and places[0] == 0 and columns[1].strip().lower() in ("name", "label", "host", "domain") and all(
            is_integer(row[0]) for row in rows):
        return ListForm("\t", True, skip, line)
    return ListForm(mark, False, skip, line, columns, places[0])


def _kernel_separator(form: ListForm) -> int:
    from . import kernels

    return kernels.BLANKS if form.separator == " " else kernels.TABS


def _ids(source: Input, form: ListForm, batch_bytes: int, strings: bool) -> Iterator[EdgeBatch]:
    """Pairs of each id and itself."""
    kind = "string" if strings else "int"
    if form.columns:
        from .csv_table import CsvSource
        from .reading import Reading

        ends = (form.place, form.place)
        reading = Reading("csv", form.separator, header=NAMES, names=form.columns, width=len(form.columns),
                          columns=ends, id_kind=kind, skip=form.skip, line=form.line)
        yield from CsvSource(source, Wishes(ids=kind), reading).batches(batch_bytes)
        return
    from .lines import LineReader

    lines = LineReader(source.name, form.line, rewrite=partial(_TWICE[form.separator].sub, rb"\1\t\1"),
                       closed=not form.separator, separator=_kernel_separator(form))
    with source.text(form.skip) as stream:
        try:
            yield from (lines.names if strings else lines.pairs)(stream, "#%", batch_bytes)
        except InputError as error:  # its text has the field twice
            text = None if error.text is None else error.text.partition("\t")[0]
            raise InputError(error.what, path=error.path, line=error.line, text=text, remedy=error.remedy) from error


def _integers(texts: Any, name: str, n_before: int) -> Any:
    """Ids as int64[k]. n_before : number of ids before. Raises InputError for an invalid id."""
    good = pc.match_substring_regex(texts, _DIGITS)
    wrong = None
    if pc.all(good, min_count=0).as_py():
        try:
            return arrow_numbers(texts.cast(pa.int64()))
        except pa.ArrowInvalid:
            wrong = next(i for i, text in enumerate(texts.to_pylist()) if int(text) >= 1 << 63)
    place = int(np.argmin(good.to_numpy(zero_copy_only=False))) if wrong is None else wrong
    raise InputError(f"the id of vertex number {n_before + place + 1} is no integer from 0 to 2^63 - 1", path=name,
                     text=texts[place].as_py(), remedy="fix the line")
