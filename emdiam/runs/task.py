"""A task, what is to be run on a store, and its execution: the same from the command line, Python, batches, networkx.

`task_of` makes one of options by the names of the command line, by the table of options. `execute` looks at the files
that are to be written, opens the store, and has the module of the task's kind solve it in a `Session`, which has the
deadline, the budget of memory and the figures that every result tells. Importing this brings no kernels.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .._version import __version__
from ..checkpoint.options import CheckpointOptions, chosen_checkpoint
from ..dask.setting import OnCluster, chosen_cluster
from ..durable import check_file
from ..errors import InputError, NotWritten, StoppedEarly, without_frames
from ..gpu.setting import CPU, DEVICE_FAULTS, Selection
from ..methods.run import Limits, MethodRun, answering
from ..progress import Listener, TimeOver, timed, until
from ..store.place import check_target
from ..store.store import Store, check_directed, check_weighted, open_store
from ..units import available_cores, budget_bytes, peak_rss_bytes
from ..vertex_tables import check_table, writing_bytes
from .option import AUTO, RAM
from .options import CHECKPOINT, COMMANDS, SHARED, option_of, parsed
from .registry import (
    ARCS,
    BOTH,
    CHOOSING,
    HOPS,
    METRICS,
    WEIGHTS,
    Kind,
    MetricRow,
    entry_of,
    loaded,
    method_options,
    metric_of,
)

if TYPE_CHECKING:
    from ..engine.needs import Needs
    from ..stream.plan import Known, MemoryPlan, Phase

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Task:
    """What is to be run on a store; made by `task_of` or `make_task`, and passed down as it is.

    method : its name. options : the own ones of its kind; of exact methods, approximations and eccentricities with
    path_file and the limits. command, metric : which kind it is; the metric by its name in the registry.
    memory_bytes : peak RSS of the process; None: what machine and cgroup leave. arena_bytes : cache of decoded edges;
    None: what memory leaves. time_limit : wall seconds, compiling and loading included; then StoppedEarly, with the
    result so far. evict_page_cache : drop what was read from the page cache (for honest benchmarks of disk speed).
    device : what traversals run on, "cpu", "gpu", "gpu:N", "gpu:N,M,..." or "auto", or what select_device made of it.
    bfs, mapping : names of a BFS variant (gpu/variants/registry.py) and a load balancing (gpu/mappings.py), on a
    GPU only; None: as they are chosen from level to level. vram_bytes : memory of the GPU; None: all of it.
    checkpoint : keep one of the run; None: nothing is kept. On a CPU only.
    cluster : workers of dask.distributed that the run is shared out to; None: this process. memory_bytes and
    arena_bytes are of this process then. On CPUs only. certificate : file for the proof.
    reorder : whether the store is put into another order first where that saves reads (reordering.py): "auto",
    "never" or "always". keep_reordered : the store to write then; None: one that is removed at the end.
    vertex_state : where what belongs to vertices is: "ram", "disk" (external/), or "auto", on disk only where memory
    has no room for it. On a CPU of this process, without a checkpoint.
    direction : which way a dense level of a BFS goes, a rule of traverse/direction.py; None: the usual one. On a CPU of
    this process, with vertex state in RAM. from_proof : a certificate, whose sources come first.
    """

    method: str
    options: Any
    command: str = "exact"
    metric: str = HOPS
    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 2
    time_limit: float | None = None
    evict_page_cache: bool = False
    device: str | Selection = CPU
    bfs: str | None = None
    mapping: str | None = None
    vram_bytes: int | None = None
    checkpoint: CheckpointOptions | None = None
    cluster: OnCluster | None = None
    certificate: Path | None = None
    reorder: str = AUTO
    keep_reordered: Path | None = None
    vertex_state: str = AUTO
    direction: str | None = None
    from_proof: str | Path | None = None

    @property
    def kind(self) -> Kind:
        """What is its own of the command along the metric."""
        return METRICS[self.metric].kinds[self.command]

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that are to be written."""
        named = (self.certificate, getattr(self.options, "path_file", None), getattr(self.options, "out", None))
        return tuple(file for file in named if file is not None)

    @property
    def writing_bytes(self) -> int:
        """What a table that is asked for will take while it is written; see vertex_tables.writing_bytes."""
        return 0 if getattr(self.options, "out", None) is None else writing_bytes()


def make_task(
    method: str, switches: Mapping[str, Any] | None = None, *, family: str | None = None, gap: int | None = None,
    bounds_only: bool = False, require_connected: bool = False, **fields: Any,
) -> Task:
    """The task of a method of the registry with the options `switches`, by name, and these fields of Task.

    family : "exact", "approx" or "ecc", if it must be one of them. Raises InputError for an unknown method, or an
    option that it has not."""
    command = entry_of(method, family).family
    limits = Limits(gap, fields.get("time_limit"), bounds_only, require_connected)
    return Task(method, method_options(method, {**(switches or {}), "limits": limits}), command, **fields)


def task_of(command: str, options: Mapping[str, Any], method: str | None = None) -> Task:
    """The task of a command with the options by the names of the command line; None counts as not given. Sizes and
    times are numbers or texts. method : where it is another one than the options say.

    weighted, directed : along weights, along arcs. checkpoint : a folder, or CheckpointOptions. Raises InputError for a
    text that is no size, an unknown method, and an option that the task has not."""
    given = {name: value for name, value in options.items() if value is not None}
    row, directed = metric_of(command, given) or METRICS[HOPS], given.get("directed")
    for name in CHOOSING:
        if name in row.chosen or given.get(name) is False:
            del given[name]
    named = given.pop("method", None) or usual_method(command, row.name)
    if row.alike:
        given = taken(given, command, row)
    shared = shared_fields({name: value for name, value in given.items() if name in SHARED}, command)
    limits = Limits(shared.pop("gap", None), shared.get("time_limit"), shared.pop("bounds_only", False),
                    shared.pop("require_connected", False))
    task = Task(method or named, None, command, row.name, **shared)
    own = parsed({name: value for name, value in given.items() if name not in SHARED}, command)
    task = _from_proof(task, own.pop("from_proof", None))
    if directed and command == "ecc":
        own["direction"] = directed
    return replace(task, options=_module(task).options(task, own, limits))


def usual_method(command: str, metric: str) -> str:
    """What a command runs where no method is named."""
    if command == "approx":
        return "sweep" if metric in (ARCS, BOTH) else "clusters"
    if command == "ecc":
        return "eccentricities"
    usual = option_of(command, "method")
    return str(usual.default) if usual is not None and usual.of == command else command


# What errors do not name of what a run along weights has.
_UNNAMED = ("evict_page_cache", "seed", "what", "keep")


def _from_proof(task: Task, proof: Any) -> Task:
    """The task with an earlier proof. Raises InputError where its method takes none."""
    if proof is not None and task.method not in ("pivots", "eccentricities"):
        raise InputError(f"an earlier proof is of no use to the method {task.method}", text=str(proof),
                         remedy="use --method pivots, or leave --from out")
    return replace(task, from_proof=proof)


def taken(given: Mapping[str, Any], command: str, row: MetricRow) -> dict[str, Any]:
    """What was given to a command along a metric; None, False and values that say nothing there count as not given.
    Raises InputError for an option that such a run has not."""
    known = {}
    for name, value in given.items():
        option = option_of(command, name)
        text = str(getattr(value, "name", value))
        if value is None or value is False or text == AUTO or (option is not None and text in option.idle):
            continue
        if option is None or command not in getattr(option, row.alike):
            raise _refusal(name, text, command, row)
        known[name] = value
    return known


def _refusal(name: str, text: str, command: str, row: MetricRow) -> InputError:
    """Why an option is none of a run along a metric."""
    if name in ("certificate", "certificate_sources") and command == "distances":
        return InputError("a certificate of the mean is of distances in edges, along arcs and weights there is none",
                          text=f"--{name.replace('_', '-')}", remedy="leave it, or --directed and --weighted, out")
    if row.alike == ARCS:
        option = f"--{name.replace('_', '-')}"
        remedy = "leave it, or --directed, out"
        if name == "from_proof":
            return InputError("eccentricities along arcs are found from every vertex, whatever comes first", text=text,
                              remedy="leave --from out; along weights of arcs it helps")
        if name == "certificate":
            return InputError("eccentricities along arcs are found from every vertex, so a certificate would have all"
                              " of them", text=option, remedy="leave it out; along weights of arcs there is one")
        return InputError(f"{option} is not for graphs with directions", text=text, remedy=remedy)
    common = ("memory", "arena", "threads", "time_limit")
    own = [one for one in COMMANDS[command] if one not in (*common, *_UNNAMED)
           and command in getattr(option_of(command, one), row.alike)]
    has = ", ".join(f"--{one.replace('_', '-')}" for one in (*common, *own))
    kind = "weighted graph" if row.alike == WEIGHTS else "graph with directions and weights"
    return InputError(f"a run on a {kind} has no option", text=name, remedy=f"it has {has}")


def shared_fields(given: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Fields of Task, gap, bounds_only and require_connected by the options that all methods have. Raises
    InputError."""
    fields = parsed({name: value for name, value in given.items() if name not in CHECKPOINT}, command)
    cluster = chosen_cluster(*(fields.pop(name, None) for name in (
        "scheduler", "workers", "worker_memory_bytes", "worker_threads", "dashboard")))
    return {"threads": available_cores(), **fields, "cluster": cluster, "checkpoint": chosen_checkpoint(given)}


def _module(task: Task) -> Any:
    return import_module(f"...{task.kind.module}", __name__)


def execute(store: Store | str | Path, task: Task, progress: Listener | None = None) -> Any:
    """The result of the task on the store (opened, or a path), with every figure of it.

    Raises InputError (StoreError; BudgetError with the numbers; NotWritten with `result` where a file cannot be written
    in the end), DeviceError, OverflowError where distances may not fit 64 bits, and StoppedEarly on Ctrl-C and at the
    end of the time, with `result` if anything is proved by then."""
    kind, module, begin = task.kind, _module(task), time.perf_counter()
    deadline = None if task.time_limit is None else time.monotonic() + task.time_limit
    _check_files(task)
    with store_of(store, task) as place:
        if METRICS[task.metric].weighted:
            check_weighted(place)
        elif task.metric == HOPS and place.weights is not None:
            logging.getLogger("emdiam").info("the weights of the store are ignored: distances are numbers of edges"
                                             " without the option weighted")
        if kind.empty and not place.n_vertices:
            raise InputError(f"the graph has no vertices, so {kind.empty}", path=place.path)
        task = _with_sources(task)
        try:
            result = module.solve(Session(place, task, progress, deadline, begin))
        except TimeOver:
            raise StoppedEarly(kind.unfinished) from None
    if getattr(result, "not_written", None):
        raise NotWritten("; ".join(result.not_written), result)
    return result


def _with_sources(task: Task) -> Task:
    """The task with the sources of its earlier proof, if it has one, which is read now. Raises InputError."""
    if task.from_proof is None:
        return task
    from ..certificates.earlier import read_earlier

    earlier = read_earlier(task.from_proof, directed=task.metric in (ARCS, BOTH),
                           weighted=task.metric in (WEIGHTS, BOTH))
    return replace(task, options=replace(task.options, earlier=earlier))


def _check_files(task: Task) -> None:
    """Raises InputError for a file that cannot be written, and for a certificate of what is no whole proof."""
    for file in task.files:
        check_file(file)
    table = getattr(task.options, "out", None)
    if table is not None and task.command in ("ecc", "distances", "sssp"):
        check_table(table)
    if task.keep_reordered is not None and not (task.checkpoint is not None and task.checkpoint.resume):
        check_target(task.keep_reordered, force=False)
    if task.certificate is None or METRICS[task.metric].alike == WEIGHTS or task.command == "distances":
        return
    limits = task.options.limits
    if getattr(task.options, "what", "all") != "all":
        raise InputError("a certificate needs all eccentricities", text=str(task.certificate),
                         remedy="leave --radius and --center out")
    if task.method not in ("pivots", "eccentricities") or limits.gap is not None or limits.bounds_only:
        raise InputError("a certificate needs a whole proof by pivots", text=str(task.certificate),
                         remedy="use --method pivots, without --gap and --bounds-only")


@contextmanager
def store_of(store: Store | str | Path, task: Task) -> Iterator[Store]:
    """The store, opened (and closed again) if it is a path. Raises StoreError, InputError for one with directions, or
    without, against the task."""
    directed = task.kind.directed
    if isinstance(store, Store):
        check_directed(store, directed)
        yield store
        return
    with open_store(store, evict_page_cache=task.evict_page_cache, directed=directed) as place:
        yield place


@dataclass(frozen=True)
class Session:
    """One execution of a task on an opened store.

    progress : called with events; listener : the same, and ends a search once the time is over. deadline : of
    time.monotonic. begin : of time.perf_counter."""

    store: Store
    task: Task
    progress: Listener | None = None
    deadline: float | None = None
    begin: float = 0.0

    @property
    def listener(self) -> Listener | None:
        """See until."""
        return until(self.deadline, self.progress)

    @property
    def metric(self) -> Any:
        """The class of the task's metric."""
        return loaded(METRICS[self.task.metric].made)

    @property
    def elapsed(self) -> float:
        """Seconds since the begin."""
        return time.perf_counter() - self.begin

    @cached_property
    def memory_bytes(self) -> int:
        """Peak RSS of the process that the task may have."""
        return budget_bytes(self.task.memory_bytes)

    def attempted(self, attempt: Callable[[Task, Selection, Known | None], _Result]) -> _Result:
        """What attempt(task, selected, known) gives on the device that is asked for. It is called again, with what is
        known of the graph, where that takes more memory than was planned, and after a fault of the device."""
        from ..engine.attempts import attempted
        from .opening import recovered, selection

        def on(task: Task, selected: Selection) -> _Result:
            return attempted(lambda known: attempt(task, selected, known))

        selected = selection(self.task)
        try:
            return on(self.task, selected)
        except DEVICE_FAULTS as error:
            fault = without_frames(error)
        return recovered(fault, self.task, selected, on)

    def engine(self, task: Task, selected: Selection, needs: Needs, known: Known | None,
               listener: Listener | None) -> AbstractContextManager[Any]:
        """An engine with these needs of memory; see opening.open_for."""
        from ..stream.plan import program_bytes
        from .opening import open_for

        return open_for(self.store, task, selected, listener, program_bytes() + task.writing_bytes, needs, known)

    def engine_along_arcs(self, phases: tuple[Phase, ...], batches: bool = False) -> AbstractContextManager[Any]:
        """An engine along arcs; see arcs.opened."""
        from .arcs import opened

        return opened(self, phases, batches)

    def plan_along_arcs(self, phases: tuple[Phase, ...]) -> MemoryPlan:
        """The plan of such an engine. Raises BudgetError."""
        from .arcs import planned

        return planned(self, phases)

    def along_weights(self, vertex_bytes: int, **how: bool) -> AbstractContextManager[Any]:
        """What searches along weights, or along edges or arcs, and its plan; see weighted_arcs.opened."""
        from .weighted_arcs import opened

        return opened(self, vertex_bytes, **how)

    def plan(self, task: Task, needs: Needs) -> MemoryPlan:
        """The plan with vertex state in memory. Raises BudgetError."""
        from ..stream.plan import program_bytes
        from .opening import plan_here

        return plan_here(self.store, needs, RAM, memory_bytes=task.memory_bytes, arena_bytes=task.arena_bytes,
                         threads=task.threads, program=program_bytes() + task.writing_bytes)

    def in_time(self, options: Any, known: int = 0) -> Any:
        """Options of a method with the seconds that are left, and a lower bound that is known."""
        seconds = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        return replace(options, limits=replace(options.limits, seconds=seconds, known=known))

    @contextmanager
    def answered(self, run: MethodRun, complete: Callable[[Any], Any]) -> Iterator[None]:
        """A run is solved within the context, as with answering; its answer, and the result of one that is stopped, has
        all figures by `complete`. Writes the certificate."""
        def ended(result: Any) -> Any:
            result = complete(result)
            result.seconds["total"], result.peak_rss_bytes = self.elapsed, peak_rss_bytes()
            return result

        try:
            with answering(run):
                yield
        except StoppedEarly as stop:
            stop.result = ended(stop.result)
            raise
        run.answer = ended(run.answer)
        self.certify(run.answer, self.store, run)
        run.answer.seconds["total"], run.answer.peak_rss_bytes = self.elapsed, peak_rss_bytes()

    def complete(self, result: Any, engine: Any, selected: Selection | None = None) -> None:
        """`result` with what a method cannot know: budget and plan of memory, bytes that were read, of the whole run,
        the device, and the store. engine : it has `store`, `plan` and `reporter`, as engines have."""
        self.tell(result, engine.plan.memory_limit_bytes, engine.plan.planned_rss_bytes, engine.store)
        result.bytes_read = engine.reporter.stats().bytes_read  # loading belongs to it
        if selected is not None:
            result.device = getattr(engine, "device_name", selected.name)  # workers look for theirs

    def tell(
        self, result: Any, memory_bytes: int | None, planned_bytes: int | None, store: Store | None = None
    ) -> None:
        """`result` with budget, plan and peak of memory, the version, and the store; None: the one that was given."""
        store = store or self.store
        result.version, result.peak_rss_bytes = __version__, peak_rss_bytes()
        result.memory_limit_bytes, result.planned_rss_bytes = memory_bytes, planned_bytes
        result.store_digest, result.store_path, result.store_name = store.digest, store.path, store.name

    def certify(self, result: Any, solved: Store, search: Any = None, **reading: Any) -> None:
        """Write the certificate of `result`, if one is wanted; see certificates.writing.write_proof."""
        file = self.task.certificate
        if file is not None:
            from ..certificates.writing import write_proof

            self.write(result, "certificate", file, lambda: write_proof(file, result, solved, search, **reading),
                       "certificate")

    def write(self, result: Any, field: str, file: Path, write: Callable[[], object], stage: str = "write") -> None:
        """Write a file of `result`, which names it then in `field`; where that cannot be, it says so. The seconds are
        those of a stage."""
        try:
            with timed(result.seconds, stage):
                write()
            setattr(result, field, str(file))
        except InputError as error:
            result.not_written.append(str(error))
