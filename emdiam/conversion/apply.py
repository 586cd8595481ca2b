"""Adding edges to a store and removing edges from it, as a new store.

    lists of edges -> converted to small stores -> ids get their places -> rows merged -> StoreWriter

The lists are converted like any input, in any format, and sorted and cleaned by that; the old store need not be sorted.
It keeps its vertices, even if their last edge is removed, and new vertices take their places in the order of the
ids, as in a conversion. The small stores are in NAME.changes.partial beside the target until the new store is complete;
after `kill -9` the next run removes that. RAM: that of the conversions; then ids and numbers of the vertices of the
lists, a chunk of each store, the writer. I/O: every array of the old store once (its ids twice), every array of the new
one, the lists twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoint.records import State
from ..decimals import numbers
from ..errors import InputError
from ..formats.source import SourceInfo
from ..formats.weights import WeightChoice
from ..malloc import return_freed_memory
from ..progress import Meter
from ..sorting.plan import MARGIN_BYTES, SortPlan
from ..sorting.sort import SortContext
from ..store.arc_runs import scan_bytes
from ..store.layout import StoreRecord, id_dtype
from ..store.store import Store, open_store
from ..store.weights import MOST_WIDE, WIDE, WeightForm, WeightRecord, whole_dtype
from ..store.writer import StoreWriter, writer_bytes
from ..stream.plan import too_small
from ..units import BASE_JITTER, budget_bytes, format_count, program_rss_bytes
from .arcs import ArcPiece, RowStream
from .change_ids import NewVertices, all_ids, id_bytes, places_of
from .changes import ARC_BYTES, ArcStream, ChangeTally, Numbers, SortedArcs, Weights, changed
from .convert import Inputs, convert
from .intake import VertexNumbering
from .ordered import place_beside
from .reorder import files_of_store
from .writing import ApplyReport, ConvertOptions, ConvertReport, StoreWriting, sort_context

Edges = Callable[[WeightChoice | None], Inputs]

_ADD, _REMOVE = "add", "remove"
_STORE_BYTES_PER_ARC = 1.5


def apply(
    store: str | Path, target: str | Path, add: Edges | None, remove: Edges | None, *, strict: bool = False,
    weights: str | None = None, options: ConvertOptions | None = None,
) -> ApplyReport:
    """Write the graph of `store`, without the edges of `remove` and with those of `add`, to `target`.

    add, remove : make inputs for `convert`, with these weights. strict : refuse an edge to remove that is not in the
    store. weights : the weight column of `add`; None: the one with the name in the store. options : for the conversion
    of both, except that directions, codec and chunks are the store's. Raises InputError, also for a store that is not
    in natural order, BudgetError if memory or disk are too small, StoreError; then, and after Ctrl-C, there is no
    target.
    """
    options, target = options or ConvertOptions(), Path(target)
    if add is None and remove is None:
        raise InputError("there is nothing to change", remedy="give --add FILE, --remove FILE, or both")
    options = replace(options, memory_bytes=budget_bytes(options.memory_bytes))
    with open_store(str(store), directed=None) as old:
        if not old.is_natural:
            raise InputError(f"edges are merged in the natural order, and this store is in the order"
                             f" {old.record.ordering}", path=old.path,
                             remedy="write it in that order first: emdiam reorder STORE NEW --order natural")
        _check_memory(old, (), options)
        watched = files_of_store(old)
        with watched.blamed(), ExitStack() as stack:
            place = stack.enter_context(place_beside(target, "changes", (_ADD, _REMOVE)))
            choices = {_ADD: _weights_of(old.record.weights, weights), _REMOVE: None}
            reports = [None if edges is None else convert(
                _with_ids(edges(choices[name])), place / name, options=_of_list(old, options, choices[name]))
                for name, edges in ((_ADD, add), (_REMOVE, remove))]
            lists = [report and stack.enter_context(open_store(str(place / name), directed=None))
                     for name, report in zip((_ADD, _REMOVE), reports, strict=True)]
            return_freed_memory()
            _check_kinds(old, lists)
            plan = _check_memory(old, [one for one in lists if one is not None], options)
            own = replace(options, codec=old.record.codec, chunk_ids=old.record.chunk_ids, directed=old.directed)
            meter = Meter(options.progress)
            with sort_context(plan, target, own, None, meter, old.weights is not None, False) as context:
                applying = _Applying([old, *lists], target, own, context, (strict, watched.check))
                return _with_lists(applying.write(SourceInfo()), reports)


def _weights_of(record: WeightRecord | None, column: str | None) -> WeightChoice | None:
    """The weights to read from a list. Raises InputError for a column if the store has no weights."""
    if record is None:
        if column is not None:
            raise InputError("this store has no weights", remedy="leave --weights out")
        return None
    return WeightChoice(record.name if column is None else column, record.least < 0)


def _with_ids(inputs: Inputs) -> Inputs:
    """The same inputs. Raises InputError for a graph in memory whose names of vertices can be no ids of a store."""
    if getattr(inputs, "renamed", ""):
        raise InputError("names of vertices of a graph in memory can be no ids of a store",
                         path=getattr(inputs, "name", None),
                         remedy="call its vertices by natural numbers alone or by strings alone, as the store does")
    return inputs


def _of_list(old: Store, options: ConvertOptions, weights: WeightChoice | None) -> ConvertOptions:
    """Options for the conversion of a list."""
    return replace(options, ids="string" if old.record.id_kind == "string" else "int", directed=old.directed,
                   weights=weights, force=False, chunk_ids=min(options.chunk_ids, old.record.chunk_ids))


def _check_kinds(old: Store, lists: list[Any]) -> None:
    kinds = ["strings" if store.record.id_kind == "string" else "integers"
             for store in (old, *lists) if store is not None]
    if len(set(kinds)) > 1:
        raise InputError(f"the ids of the store are {kinds[0]}, and those of a list are not", path=old.path,
                         remedy="write the list with the ids of the store")


def _check_memory(old: Store, lists: Any, options: ConvertOptions) -> SortPlan:
    """Raise BudgetError with the numbers if merging does not fit in memory. lists : stores of the changes."""
    assert options.memory_bytes is not None
    stores, weighted = (old, *lists), old.weights is not None
    reading = sum(scan_bytes(store, 1) // 3 + ARC_BYTES * store.record.chunk_ids for store in stores)
    ids = sum(id_bytes(store) + 4 * 8 * store.n_vertices for store in lists)
    need = (program_rss_bytes() + MARGIN_BYTES + BASE_JITTER + reading + ids
            + 2 * writer_bytes(options.threads, old.record.chunk_ids, weighted))
    if need > options.memory_bytes:
        raise too_small(options.memory_bytes, need + BASE_JITTER)
    return SortPlan(memory_bytes=options.memory_bytes, planned_bytes=need)


def _with_lists(report: ApplyReport, reports: list[ConvertReport | None]) -> ApplyReport:
    """The report, with the costs and notes of the conversions of the lists."""
    seconds: Counter[str] = Counter(report.seconds)
    notes = []
    for name, one in zip((_ADD, _REMOVE), reports, strict=True):
        if one is not None:
            seconds.update(one.seconds)
            notes += [f"edges to {name}: {note}" for note in _cleaned(one)]
    done = [one for one in reports if one is not None]
    return replace(
        report, seconds=dict(seconds), notes=(*notes, *report.notes),
        planned_rss_bytes=max(report.planned_rss_bytes, *(one.planned_rss_bytes for one in done)),
        peak_rss_bytes=max(report.peak_rss_bytes, *(one.peak_rss_bytes for one in done)),
        scratch_bytes=max(report.scratch_bytes, *(one.scratch_bytes for one in done)))


def _cleaned(report: ConvertReport) -> Iterator[str]:
    """Sentences about dropped pairs of a list."""
    record = report.record
    if record.loops_dropped:
        yield f"{format_count(record.loops_dropped, 'loop')} dropped"
    if record.duplicates_dropped:
        yield f"{format_count(record.duplicates_dropped, 'duplicate')} dropped"
    if record.weights is not None and record.weights.edges_with_several:
        yield f"{format_count(record.weights.edges_with_several, 'edge')} came with several weights; the least is used"


class _Applying(StoreWriting[ApplyReport]):
    """The writing of one new store. stores : the old one, and those of the edges to add and to remove, or None. checks
    : whether an edge to remove must exist, and a function that checks that the old store is unchanged."""

    def __init__(self, stores: list[Any], target: Path, options: ConvertOptions,
                 context: SortContext, checks: tuple[bool, Callable[[], None]]) -> None:
        super().__init__(target, options, context)
        self._old: Store = stores[0]
        self._add: Store | None = stores[1]
        self._remove: Store | None = stores[2]
        self._strict, self._check_old = checks

    def _planned_disk(self, info: SourceInfo) -> tuple[int, int]:
        arcs = self._old.n_arcs + (0 if self._add is None else self._add.n_arcs)
        arcs -= 0 if self._remove is None else self._remove.n_arcs
        return 0, int(max(0, arcs) * _STORE_BYTES_PER_ARC)

    def _work_state(self) -> State:
        return {}

    def _stop_sorting(self) -> None:
        """Does nothing, as nothing is sorted."""

    def run(self) -> ApplyReport:
        old, add = self._old, self._add
        self._context.meter.begin("ids", None, "ids")
        fresh, of_added = NewVertices.of(old, add)
        of_removed = np.empty(0, np.int64)
        if self._remove is not None:
            ranks, known = places_of(all_ids(self._remove), old)
            of_removed = np.where(known, fresh.numbers(ranks), -1)
        n = old.n_vertices + len(fresh.before)
        forms = [one.record.weights for one in (old, add) if one is not None and one.record.weights is not None]
        writer, _ = self._open_writer(n, None, _common_form(forms, n, old.path))
        numbering = fresh.write_ids(old, writer)
        tally = self._write_rows(writer, n, (fresh.numbers, of_added.__getitem__, of_removed.__getitem__))
        note = self._absent_note(tally, of_removed)
        each = 1 if old.directed else 2
        n_edges = writer.n_arcs // each
        writer.edges_with_several = min(n_edges, sum(form.edges_with_several for form in forms))
        self._check_old()
        record = self._finish_store(writer, self._record(numbering, n_edges, tally.known // each))
        return ApplyReport(
            record=record, added=tally.added // each, removed=tally.removed // each, present=tally.known // each,
            absent=tally.absent // each, new_vertices=len(fresh.before), notes=note, **self._figures())

    def _write_rows(self, writer: StoreWriter, n: int,
                    numbers_of: Sequence[Callable[[Numbers], Numbers]]) -> ChangeTally:
        """Merge and append all rows, and then the reverse ones. Returns the counts of the changes."""
        directed, meter = self._old.directed, self._context.meter
        rows, dtype = RowStream(writer, n, directed), id_dtype(n)
        meter.begin("merge", self._old.n_arcs * (1 + directed), "arcs")
        tallies, done = [ChangeTally() for _ in range(1 + directed)], 0
        for back, tally in enumerate(tallies):
            streams = [self._stream(store, numbers, writer.weight_form, bool(back))
                       for store, numbers in zip((self._old, self._add, self._remove), numbers_of, strict=True)]
            for arcs in changed(streams, n, tally):
                piece = _piece(arcs, dtype)
                rows.append(replace(_piece(arcs.of(slice(0)), dtype), reverse=piece) if back else piece)
                done += len(arcs.rows)
                meter.update(done)
            tally.absent += streams[2].n_strange
            tally.strange = streams[2].strange
        rows.finish()
        return tallies[0]

    def _stream(self, store: Store | None, numbers: Callable[[Numbers], Numbers], form: WeightForm | None,
                back: bool) -> ArcStream:
        """The arcs of one of the stores; back : of its reverse."""
        record = None if store is None or store is self._remove else store.record.weights
        recode = None if record is None or form is None else partial(_recoded, old=record.form, new=form)
        return ArcStream(store.reverse if store is not None and back else store, numbers, recode)

    def _absent_note(self, tally: ChangeTally, of_removed: Numbers) -> tuple[str, ...]:
        """A sentence about edges to remove that do not exist. With `strict`, raises InputError instead."""
        if not tally.absent:
            return ()
        assert self._remove is not None
        pair = tally.strange or tuple(int(np.flatnonzero(of_removed == end)[0]) for end in tally.an_absent or ())
        text = " ".join(map(str, self._remove.user_ids(np.array(pair))))
        count = format_count(tally.absent // (1 if self._old.directed else 2), "edge")
        if self._strict:
            raise InputError(f"{count} to remove not in the store, such as this", path=self._remove.record.source[0],
                             text=text, remedy="correct the list, or leave --strict out")
        return (f"{count} to remove not in the store, such as {text}",)

    def _record(self, numbering: VertexNumbering, n_edges: int, known: int) -> StoreRecord:
        """The record, without the fields that the writer fills in, with the pairs dropped from all inputs so far."""
        records = [one.record for one in (self._old, self._add) if one is not None]
        record = StoreRecord(
            directed_input=any(one.directed_input for one in records), id_kind=numbering.id_kind,
            first_id=numbering.first_id, loops_dropped=sum(one.loops_dropped for one in records),
            duplicates_dropped=sum(one.duplicates_dropped for one in records) + known, source_format="changes",
            source=[name for one in (self._old, self._add, self._remove) if one is not None
                    for name in one.record.source])
        if any(one.reverse_dropped is None for one in records):
            return record
        both = all(one.reverse_dropped == one.n_edges for one in records)
        record.reverse_dropped = n_edges if both else min(n_edges, sum(one.reverse_dropped or 0 for one in records))
        record.pairs_read = n_edges + record.loops_dropped + record.duplicates_dropped + record.reverse_dropped
        record.values_dropped = dict(sum((Counter(one.values_dropped) for one in records), Counter()))
        return record


def _piece(arcs: SortedArcs, dtype: np.dtype[Any]) -> ArcPiece:
    """The rows of these arcs."""
    starts = np.flatnonzero(np.diff(arcs.rows, prepend=-1))
    return ArcPiece(arcs.ids.astype(dtype), arcs.rows[starts].astype(np.uint64), np.diff(starts, append=len(arcs.rows)),
                    weights=arcs.weights)


def _common_form(records: Sequence[WeightRecord], n_vertices: int, path: str) -> WeightForm | None:
    """A form of weights that fits all these records, in a store of n_vertices vertices: the first one's, if it does.
    Raises InputError if there is none."""
    if not records:
        return None
    forms = [record.form for record in records]
    if all(form.dtype.kind == "f" for form in forms) or any(form.dtype.kind == "f" for form in forms[:1]):
        wide = len({form.dtype for form in forms}) > 1
        return forms[0]._replace(dtype=np.dtype(np.float64)) if wide else forms[0]
    if any(form.dtype.kind == "f" for form in forms):
        return WeightForm(np.dtype(np.float64), 0, forms[0].name)
    places = max(form.decimals for form in forms)
    ends = [int(end) * 10 ** (places - record.decimals) for record in records for end in (record.least, record.largest)]
    dtype = whole_dtype(min(ends), max(ends))
    if dtype is None and max(map(abs, ends)) * n_vertices < MOST_WIDE:
        dtype = WIDE
    if dtype is None:
        raise InputError(f"weights from {min(ends)} to {max(ends)} of 10^-{places} fit no dtype", path=path,
                         remedy="give the weights of the list fewer digits")
    return WeightForm(dtype, places, forms[0].name)


def _recoded(weights: Weights, old: WeightForm, new: WeightForm) -> Weights:
    """Weights converted to another form that can represent them."""
    if new.dtype.kind == "f":
        return (weights if old.dtype.kind == "f" else numbers(weights, old.decimals)).astype(new.dtype)
    if new.decimals == old.decimals:
        return weights.astype(new.dtype)
    return (weights.astype(np.int64) * 10 ** (new.decimals - old.decimals)).astype(new.dtype)
