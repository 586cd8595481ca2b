"""Options that several commands share, each declared once, and the types of sizes and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import InputError, closest
from ..units import available_cores, parse_count, parse_duration, parse_length, parse_size
from .output import complain

if TYPE_CHECKING:
    from ..gpu.setting import Selection

F = TypeVar("F", bound=Callable[..., Any])

# Written out because the library's own modules import numpy; a test compares them.
CODECS = ("lz4", "pcodec", "none")
DIRECTIONS = ("work", "beamer", "paper")
ORDERS = ("natural", "degree", "bfs", "cluster")
REORDER = ("auto", "never", "always")
VERTEX_STATE = ("auto", "ram", "disk")
LONGEST_SHOWN_PATH = 10_000
# Options that say how a command prints.
_OF_PRINTING = ("as_json", "as_csv", "verbose", "quiet", "log_interval")
# Sections of the help of commands that run methods, with the names of their options; all others come first.
SECTIONS = {
    "Method": ("masters", "seed", "seeds", "euler", "levels", "iterations", "batches", "batch", "winnow", "eliminate",
               "chains", "start", "order", "first", "k", "direction"),
    "Memory, disk and threads": ("memory", "arena", "threads", "vertex_state", "scratch", "reorder",
                                 "keep_reordered", "evict_page_cache"),
    "GPU": ("device", "vram", "bfs", "mapping"),
    "Workers": ("workers", "scheduler", "worker_memory", "worker_threads", "dashboard"),
    "Checkpoint": ("checkpoint", "checkpoint_every", "resume", "keep_checkpoint", "retry"),
    "Output": ("as_json", "as_csv", "verbose", "quiet", "log_interval", "events", "no_plots"),
}
# Keys of a context's meta: the file of --events, and what writes to it.
EVENTS, EVENT_LOG = "emdiam.events", "emdiam.event_log"


class Parsed(click.ParamType):
    """A number that the library's own parser reads, so that every place takes the same texts."""

    def __init__(self, name: str, parse: Callable[[Any], int | float]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """The parsed value; a text that is none is a usage error."""
        try:
            return self._parse(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def suggesting(message: str, name: str, known: Iterable[str]) -> str:
    """What click says of a name that there is not, with the closest of those that there are, as click itself says it of
    options."""
    close = closest(name, known)
    return message if close is None else f"{message} (Did you mean {close!r}?)"


class Choice(click.Choice[str]):
    """One of some names; of another one, the error names the closest, as click does of options and commands."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it is one of the names."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(suggesting(error.message, str(value), self.choices), param, ctx)


SIZE = Parsed("size", parse_size)
COUNT = Parsed("count", parse_count)
DURATION = Parsed("duration", parse_duration)
LENGTH = Parsed("length", parse_length)
AT_LEAST_0, AT_LEAST_1 = click.IntRange(min=0), click.IntRange(min=1)
STORE = click.argument("store", type=click.Path(path_type=str))


class Written(click.Path):
    """A path that the command writes to. outcome.EmdiamCommand checks it before the command's body: parsing a
    command line (as `emdiam batch` does for jobs that come later) does not.

    check : the function of durable.py that does.
    """

    def __init__(self, check: str, **options: Any) -> None:
        super().__init__(**options)
        self._check = check

    def check(self, path: str | Path) -> None:
        """Raises InputError where it cannot be written."""
        from .. import durable

        getattr(durable, self._check)(path)


NEW_FILE = Written("check_file", dir_okay=False, path_type=Path)
NEW_STORE = Written("check_name", path_type=str)
NEW_FOLDER = Written("check_folder", file_okay=False, path_type=Path)
NEW_EITHER = Written("check_above", path_type=Path)  # the command's body, which knows what it is to be, checks it too
SCRATCH = Written("check_scratch", file_okay=False, path_type=Path)

def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator; they appear in the help in the order given."""
    def decorate(function: F) -> F:
        # click collects from a function from the last decorator up, and appends to a command.
        for option in options if isinstance(function, click.Command) else reversed(options):
            function = option(function)
        return function
    return decorate


memory = click.option(
    "--memory", type=SIZE, metavar="SIZE", help="Peak resident memory of this process, e.g. 4GiB. [default: nine tenths"
    " of what the machine or the cgroup has available]")
arena = click.option("--arena", type=SIZE, metavar="SIZE",
                     help="Cache of decoded edges. [default: what --memory leaves]")
threads = click.option(
    "--threads", type=AT_LEAST_1, metavar="N", default=available_cores,
    show_default="the cores this process may use", help="Threads that read, decode and compute.")
batch = click.option("--batch", type=AT_LEAST_1, metavar="K",
                     help="bounding, ifub, korf, apsp: sources of one multi-source BFS. [default: 1]")
device = click.option(
    "--device", default="cpu", show_default=True, metavar="DEVICE",
    help="What traversals run on: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there"
         " is one, else the CPU. Of workers, each has one of its machine.")
verbose = click.option("--verbose", "-v", is_flag=True,
                       help="Show in the answer what was planned and predicted, too.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
scratch = click.option("--scratch", type=SCRATCH, metavar="DIR",
                       help="Folder for temporary files of the sort. [default: beside the store]")
spill = click.option("--scratch", type=SCRATCH, metavar="DIR",
                     help="Folder for temporary files: what memory has no room for, a store that is reordered first."
                          " [default: $TMPDIR or /var/tmp]")
levels = click.option("--levels", type=AT_LEAST_1, metavar="K",
                      help="clusters: how often they condense the graph. [default: 1]")
time_limit = click.option("--time-limit", type=DURATION, metavar="TIME", help="Stop a run after TIME, e.g. 10s, 5min or"
                          " 8h; the answer is what is proved by then, with exit code 3.")
require_connected = click.option("--require-connected", is_flag=True,
                                 help="Leave with exit code 2 if the graph is disconnected.")
reorder = stacked(
    click.option("--reorder", type=Choice(REORDER), default="auto", show_default=True,
                 help="Put the vertices of a store that memory has no room for into an order in which neighbours lie"
                      " together first: auto, as soon as a BFS shows that this is faster. Answers stay in your ids."),
    click.option("--keep-reordered", type=NEW_STORE, metavar="NEW",
                 help="Keep the store in that order as NEW, if one is made. [default: a temporary one]"),
)
vertex_state = click.option(
    "--vertex-state", type=Choice(VERTEX_STATE), default="auto", show_default=True,
    help="Where distances and all else that belongs to vertices is: ram, disk (in --scratch), or auto, on disk where"
         " memory has no room for it.")
evict_page_cache = click.option("--evict-page-cache", is_flag=True,
                                help="Drop from the page cache what was read, so that every read is from disk: for"
                                     " benchmarks.")
force = click.option("--force", is_flag=True, help="Replace STORE if it exists.")


gpu = stacked(
    device,
    click.option("--vram", type=SIZE, metavar="SIZE",
                 help="Memory of the GPU to use; a graph that takes more is paged. [default: what is free]"),
    click.option("--bfs", metavar="NAME",
                 help="Variant of BFS on a GPU, by its name in docs/algorithms/gpu-bfs.md. [default: auto]"),
    click.option("--mapping", metavar="NAME",
                 help="Load balancing of a BFS on a GPU, by its name there. [default: the variant's]"),
)
workers = stacked(
    click.option("--workers", type=AT_LEAST_1, metavar="N",
                 help="Share the run out to N worker processes of dask.distributed, on this machine; with --scheduler"
                      " to N of its workers."),
    click.option("--scheduler", metavar="ADDRESS",
                 help="Share the run out to the workers of a running Dask scheduler, e.g. tcp://host:8786."),
    click.option("--worker-memory", type=SIZE, metavar="SIZE",
                 help="Peak resident memory of a worker process. [default: its share of nine tenths of what its"
                      " machine has available]"),
    click.option("--worker-threads", type=AT_LEAST_1, metavar="N",
                 help="Threads of a worker. [default: as Dask started it; on this machine, its share of --threads]"),
)
dashboard = click.option("--dashboard", is_flag=True, default=None,
                         help="With --workers: let every user of this machine look at the run in Dask's dashboard; a"
                              " line says where.")


def passed(given: Mapping[str, Any], *without: str) -> dict[str, Any]:
    """What a command was given for the library's function of its name: options that were given, but not those of
    printing, and not those named."""
    return {name: value for name, value in given.items() if value is not None and name not in (*without, *_OF_PRINTING)}


def of_run(given: dict[str, Any]) -> dict[str, Any]:
    """What a command was given for its run, as runs/run.py takes it; the device is looked for now, unless workers look
    for theirs. Raises InputError."""
    shared = given.get("workers") is not None or given.get("scheduler") is not None
    device = given["device"] if shared else chosen_device(given["device"])
    return {**passed(given, "store", "method", "masters"), "device": device}


def _keep_events(context: click.Context, _parameter: click.Parameter, file: Path | None) -> None:
    """The command's body does not see the file: outcome.EmdiamCommand opens it, and listener.listening
    hands events on to it."""
    context.meta[EVENTS] = file


progress = stacked(
    click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
    click.option("--log-interval", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
                 metavar="SECONDS", help="Seconds between progress lines where standard error is no terminal."),
    click.option("--events", type=NEW_FILE, metavar="FILE", expose_value=False, callback=_keep_events,
                 help="Append every event of the run to FILE, one JSON object a line."),
)


def chosen_device(text: str) -> Selection:
    """The device; where auto finds no GPU, a line on standard error says why. Raises InputError."""
    from ..gpu.setting import select_device

    selected = select_device(text)
    if selected.note:
        complain(f"emdiam: computing on the CPU: {selected.note}")
    return selected
