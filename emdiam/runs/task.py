"""A task (command, metric, method and options) and its execution, for the command line, Python, batches and networkx.

`task_of` makes a task from options with the names of the command line. `execute` checks the files to be written, opens
the store, and calls the module of the task's kind with a `Session`, which has the deadline, the memory limit and the
figures that all results have. Importing this module loads no kernels.
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
from .option import AUTO, OFF, RAM
from .options import CHECKPOINT, SHARED, flag_of, option_of, parsed
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
    """A run on a store, immutable; made by `task_of` or `make_task`.

    method : its name. options : the options of its kind; exact methods, approximations and eccentricities also have
    path_file and the limits here. command, metric : they name the kind; the metric by its name in the registry.
    memory_bytes : limit of the peak RSS of the process; None: the free memory of machine and cgroup. arena_bytes :
    size of the cache of decoded edges; None: all memory that remains. time_limit : wall seconds, with compiling and
    loading; then StoppedEarly with the result so far. evict_page_cache : remove pages that were read from the page
    cache, so that a benchmark measures the disk. device : "cpu", "gpu", "gpu:N", "gpu:N,M,...", "auto", or the result
    of select_device. bfs, mapping : names of a BFS variant (gpu/variants/registry.py) and of a load balancing
    (gpu/mappings.py), for GPUs; None: chosen level by level. vram_bytes : memory of the GPU to use; None: all of it.
    checkpoint : None: the run saves none. For CPUs. cluster : the workers of dask.distributed that run it; None: this
    process. With workers, memory_bytes and arena_bytes limit this process. For CPUs. certificate : file for the proof.
    reorder : "auto" (if it saves reads, see reordering.py), "never" or "always" write the store in another order first.
    keep_reordered : path of that store; None: a temporary one. vertex_state : "ram", "disk" (external/), or "auto"
    (on disk if memory is too small). "disk" needs a CPU of this process and excludes checkpoints. direction : the rule
    of traverse/direction.py for dense levels of a BFS; None: the default. For a CPU of this process with vertex state
    in RAM. from_proof : an earlier certificate, whose sources come first.
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
        """The registry's entry for the command along the metric."""
        return METRICS[self.metric].kinds[self.command]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files to be written."""
        named = (self.certificate, getattr(self.options, "path_file", None), getattr(self.options, "out", None))
        return tuple(file for file in named if file is not None)

    @property
    def writing_bytes(self) -> int:
        """Memory that writing the table of --out takes; see vertex_tables.writing_bytes."""
        return 0 if getattr(self.options, "out", None) is None else writing_bytes()


def make_task(
    method: str, switches: Mapping[str, Any] | None = None, *, family: str | None = None, gap: int | None = None,
    bounds_only: bool = False, require_connected: bool = False, **fields: Any,
) -> Task:
    """The task of a method of the registry with its options `switches`, by name, and these fields of Task.

    family : require a method of "exact", "approx" or "ecc". Raises InputError for an unknown method, or an option that
    it does not have."""
    command = entry_of(method, family).family
    limits = Limits(gap, fields.get("time_limit"), bounds_only, require_connected)
    return Task(method, method_options(method, {**(switches or {}), "limits": limits}), command, **fields)


def task_of(command: str, options: Mapping[str, Any], method: str | None = None) -> Task:
    """The task of a command. options : by the names of the command line; None means unset. Sizes and times are numbers
    or texts. `weighted` and `directed` choose the metric; `checkpoint` is a folder or CheckpointOptions. method :
    replaces the method of the options. Raises InputError for a text that is no size, an unknown method, and an option
    that the task does not have."""
    values = {name: value for name, value in options.items() if value is not None}
    row, directed = metric_of(command, values) or METRICS[HOPS], values.get("directed")
    for name in CHOOSING:
        if name in row.chosen or values.get(name) is False:
            del values[name]
    named = values.pop("method", None) or usual_method(command, row.name)
    if row.alike:
        values = taken(values, command, row)
    shared = shared_fields({name: value for name, value in values.items() if name in SHARED}, command)
    limits = Limits(shared.pop("gap", None), shared.get("time_limit"), shared.pop("bounds_only", False),
                    shared.pop("require_connected", False))
    task = Task(method or named, None, command, row.name, **shared)
    own = parsed({name: value for name, value in values.items() if name not in SHARED}, command)
    task = _from_proof(task, own.pop("from_proof", None))
    if directed and command == "ecc":
        own["direction"] = directed
    return replace(task, options=_module(task).options(task, own, limits))


def usual_method(command: str, metric: str) -> str:
    """The default method of a command."""
    if command == "approx":
        return "sweep" if metric in (ARCS, BOTH) else "clusters"
    if command == "ecc":
        return "eccentricities"
    usual = option_of(command, "method")
    return str(usual.default) if usual is not None and usual.of == command else command


def _from_proof(task: Task, proof: Any) -> Task:
    """The task with an earlier proof. Raises InputError if its method cannot use one."""
    if proof is not None and task.method not in ("pivots", "eccentricities"):
        raise InputError(f"an earlier proof is of no use to the method {task.method}", text=str(proof),
                         remedy="use --method pivots, or leave --from out")
    return replace(task, from_proof=proof)


def taken(values: Mapping[str, Any], command: str, row: MetricRow) -> dict[str, Any]:
    """The options that are set; None, False and values without an effect along this metric count as unset. Raises
    InputError for an option that the command does not have along this metric."""
    known = {}
    for name, value in values.items():
        option = option_of(command, name)
        text = str(getattr(value, "name", value))
        allowed = option is not None and command in getattr(option, row.alike)
        usual = text == AUTO and not (allowed and name == "device")
        unset = value is None or (value is False and (option is None or option.kind != OFF))
        if unset or usual or (option is not None and text in option.idle):
            continue
        if not allowed:
            raise _refusal(name, None if isinstance(value, bool) else text, command, row)
        known[name] = value
    return known


def _refusal(name: str, text: str | None, command: str, row: MetricRow) -> InputError:
    """The error for an option that a run along this metric does not have."""
    flag = flag_of(command, name)
    if name in ("certificate", "certificate_sources") and command == "distances":
        return InputError("a certificate of the mean is of distances in edges, along arcs and weights there is none",
                          text=flag, remedy="leave it, or --directed and --weighted, out")
    if row.alike == ARCS:
        if name == "from_proof":
            return InputError("eccentricities along arcs are found from every vertex, whatever comes first", text=text,
                              remedy="leave --from out; along weights of arcs it helps")
        if name == "certificate":
            return InputError("eccentricities along arcs are found from every vertex, so a certificate would have all"
                              " of them", text=flag, remedy="leave it out; along weights of arcs there is one")
        return InputError(f"{flag} is not for graphs with directions", text=text, remedy="leave it, or --directed, out")
    if row.alike == WEIGHTS:
        return InputError(f"{flag} is not for weighted graphs", text=text, remedy="leave it, or --weighted, out")
    return InputError(f"{flag} is not for graphs with directions and weights", text=text,
                      remedy="leave it, or --directed and --weighted, out")


def shared_fields(values: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Fields of Task, with gap, bounds_only and require_connected, from the options that all methods share. Raises
    InputError."""
    fields = parsed({name: value for name, value in values.items() if name not in CHECKPOINT}, command)
    cluster = chosen_cluster(*(fields.pop(name, None) for name in (
        "scheduler", "workers", "worker_memory_bytes", "worker_threads", "dashboard")))
    return {"threads": available_cores(), **fields, "cluster": cluster, "checkpoint": chosen_checkpoint(values)}


def _module(task: Task) -> Any:
    return import_module(f"...{task.kind.module}", __name__)


def execute(store: Store | str | Path, task: Task, progress: Listener | None = None) -> Any:
    """The complete result of the task. store : open, or a path.

    Raises InputError (among them StoreError; BudgetError with the numbers; NotWritten with `result` if a file cannot be
    written at the end), DeviceError, OverflowError if distances may not fit 64 bits, and StoppedEarly on Ctrl-C and at
    the time limit, with `result` if bounds were proved by then."""
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
    """The task with the sources of its earlier proof, read now; without one, the same task. Raises InputError."""
    if task.from_proof is None:
        return task
    from ..certificates.earlier import read_earlier

    earlier = read_earlier(task.from_proof, directed=task.metric in (ARCS, BOTH),
                           weighted=task.metric in (WEIGHTS, BOTH))
    return replace(task, options=replace(task.options, earlier=earlier))


def _check_files(task: Task) -> None:
    """Raise InputError for a file that cannot be written, and for a certificate of a run that is no complete proof."""
    for file in task.files:
        check_file(file)
    table = getattr(task.options, "out", None)
    if table is not None and task.command in ("ecc", "distances", "sssp"):
        check_table(table)
    if task.keep_reordered is not None and not (task.checkpoint is not None and task.checkpoint.resume):
        check_target(task.keep_reordered, force=None)
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
    """The store; a path is opened, and closed at the end. Raises StoreError, and InputError if the task needs a store
    with directions and this one has none, or the reverse."""
    directed = task.kind.directed
    if isinstance(store, Store):
        check_directed(store, directed)
        yield store
        return
    with open_store(store, evict_page_cache=task.evict_page_cache, directed=directed) as place:
        yield place


@dataclass(frozen=True)
class Session:
    """One execution of a task on an open store.

    progress : called with events. deadline : a time.monotonic; begin : a time.perf_counter."""

    store: Store
    task: Task
    progress: Listener | None = None
    deadline: float | None = None
    begin: float = 0.0

    @property
    def listener(self) -> Listener | None:
        """`progress`, which also ends a search after the deadline; see progress.until."""
        return until(self.deadline, self.progress)

    @property
    def metric(self) -> Any:
        """The class of the task's metric."""
        return loaded(METRICS[self.task.metric].made)

    @property
    def elapsed(self) -> float:
        """Seconds since `begin`."""
        return time.perf_counter() - self.begin

    @cached_property
    def memory_bytes(self) -> int:
        """The limit of the peak RSS of the process."""
        return budget_bytes(self.task.memory_bytes)

    def attempted(self, attempt: Callable[[Task, Selection, Known | None], _Result]) -> _Result:
        """The result of attempt(task, selected, known) on the device of the task. It is called again, with facts that
        are known of the graph by then, if the graph needs more memory than was planned, and after a device fault."""
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
        """An engine for these memory needs; see opening.open_for."""
        from ..stream.plan import program_bytes
        from .opening import open_for

        return open_for(self.store, task, selected, listener, program_bytes() + task.writing_bytes, needs, known)

    def engine_along_arcs(self, phases: tuple[Phase, ...], batches: bool = False) -> AbstractContextManager[Any]:
        """An engine along arcs; see arcs.opened."""
        from .arcs import opened

        return opened(self, phases, batches)

    def plan_along_arcs(self, phases: tuple[Phase, ...]) -> MemoryPlan:
        """The memory plan of an engine along arcs. Raises BudgetError."""
        from .arcs import planned

        return planned(self, phases)

    def along_weights(self, vertex_bytes: int, **how: bool) -> AbstractContextManager[Any]:
        """A searcher along weights, edges or arcs, and its plan; see weighted_arcs.opened."""
        from .weighted_arcs import opened

        return opened(self, vertex_bytes, **how)

    def plan(self, task: Task, needs: Needs) -> MemoryPlan:
        """The memory plan with vertex state in RAM. Raises BudgetError."""
        from ..stream.plan import program_bytes
        from .opening import plan_here

        return plan_here(self.store, needs, RAM, memory_bytes=task.memory_bytes, arena_bytes=task.arena_bytes,
                         threads=task.threads, program=program_bytes() + task.writing_bytes)

    def in_time(self, options: Any, known: int = 0) -> Any:
        """Options of a method with the remaining seconds and a known lower bound."""
        seconds = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        return replace(options, limits=replace(options.limits, seconds=seconds, known=known))

    @contextmanager
    def answered(self, run: MethodRun, complete: Callable[[Any], Any]) -> Iterator[None]:
        """A context in which a run is solved, as with answering. `complete` adds the figures to its answer, and to the
        result of a stopped run. Writes the certificate."""
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
        """Add what a method cannot know to `result`: memory limit and plan, bytes read by the whole run, device and
        store. engine : has `store`, `plan` and `reporter`."""
        self.tell(result, engine.plan.memory_limit_bytes, engine.plan.planned_rss_bytes, engine.store)
        result.bytes_read = engine.reporter.stats().bytes_read  # with loading
        if selected is not None:
            result.device = getattr(engine, "device_name", selected.name)  # workers choose their devices

    def tell(
        self, result: Any, memory_bytes: int | None, planned_bytes: int | None, store: Store | None = None
    ) -> None:
        """Add memory limit, plan and peak, the version, and facts of the store to `result`. store : None: the
        session's."""
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
        """Write a file of `result` and put its path into `field`; an error goes to `result.not_written`. stage : the
        entry of `result.seconds` that the time is added to."""
        try:
            with timed(result.seconds, stage):
                write()
            setattr(result, field, str(file))
        except InputError as error:
            result.not_written.append(str(error))
